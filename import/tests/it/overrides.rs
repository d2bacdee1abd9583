//! What a finding says to write is taken: every `--set` that an import prints makes another topology without errors.

use crate::common::{check, read, registry};
use weir_import::{Figures, Import, Options, import};
use weir_scenario::{Input, LoadOptions, Scenario};

/// A scenario with a topology and edits.
pub fn load(yaml: &str, set: Vec<(String, String)>) -> Scenario {
    let inline: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!("weir: 1\ntopology:\n{inline}workload: [barrier: {{ id: b }}]\n");
    let options = LoadOptions { set: set.clone(), ..LoadOptions::default() };
    weir_scenario::load(Input::text(text, "-", None), &options, &registry())
        .unwrap_or_else(|found| panic!("{set:?}: {}\n{yaml}", found[0]))
}

/// The edits that the findings of an import name, by the text between backticks.
pub fn settings(import: &Import) -> Vec<(String, String)> {
    let help = import.findings.iter().filter_map(|finding| finding.help.as_deref());
    let quoted = help.flat_map(|help| help.split('`').skip(1).step_by(2));
    let words = quoted.filter_map(|text| text.strip_prefix("--set "));
    let pairs = words.map(|text| text.trim_matches('\'').split_once('=').expect("a key and a value"));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Imports, and tries each edit; returns the edits as `key=value`, without what all keys begin with.
fn tried(text: &str, figures: Figures) -> Vec<String> {
    let import = import(text.as_bytes(), "x", &Options { figures, ..Options::default() }).expect("is read");
    check(&import);
    let usual = load(&import.yaml, Vec::new());
    let settings = settings(&import);
    for setting in &settings {
        let edited = load(&import.yaml, vec![setting.clone()]);
        assert_ne!(usual.fabric.bandwidths(), edited.fabric.bandwidths(), "{setting:?} changes nothing");
    }
    settings.into_iter().map(|(key, value)| format!("{}={value}", key.replace("topology.link_types.", ""))).collect()
}

/// The edit that makes another link of a type.
fn whole(name: &str, generation: u8, width: u8) -> String {
    let efficiency = ["0.75", "0.75", "0.76171875", "0.834716796875", "0.8759765625"][usize::from(generation - 1)];
    format!("{name}={{ generation: {generation}, width: {width}, efficiency: {efficiency} }}")
}

fn system(devices: &str) -> String {
    format!("<system version=\"1\"><cpu numaid=\"0\" arch=\"arm64\">{devices}</cpu></system>")
}

/// A GPU of a compute capability.
fn gpu(bus: u8, speed: &str, width: &str, sm: u16) -> String {
    let link = format!("link_speed=\"{speed}\" link_width=\"{width}\"");
    format!("<pci busid=\"0000:{bus:02x}:00.0\" class=\"0x030200\" {link}><gpu dev=\"{bus}\" sm=\"{sm}\"/></pci>")
}

#[test]
fn each_doubt_has_its_own() {
    let one = |speed: &str, width: &str, sm: u16| tried(&system(&gpu(1, speed, width, sm)), Figures::Effective);
    assert_eq!(one("2.5 GT/s", "16", 60), [whole("pcie1-x16-doubtful", 3, 16)], "a P100 can no more");
    assert_eq!(one("2.5 GT/s", "16", 80), [whole("pcie1-x16-doubtful", 4, 16)]);
    assert_eq!(one("5 GT/s", "16", 90), [whole("pcie2-x16-doubtful", 5, 16)]);
    assert_eq!(one("16 GT/s", "4", 90), ["pcie4-x4-doubtful.width=16"]);
    assert!(one("", "8", 70).is_empty(), "3.0 is written, and a V100 can no more");
    assert!(one("", "8", 90).is_empty(), "5.0 is written, and an H100 can no more");
    assert_eq!(one("", "8", 110), [whole("pcie3-x8-assumed", 4, 8)], "a chip whose generation is not known here");
    assert_eq!(one("", "0", 70), ["pcie3-x16-chip-assumed.width=8"]);
    assert_eq!(one("16 GT/s", "0", 90), ["pcie4-x16-assumed.width=8"]);
    assert_eq!(one("", "0", 80), ["pcie4-x16-chip-assumed.width=8"]);
    let bridge = |inner: &str| {
        let link = "class=\"0x060400\" link_speed=\"2.5 GT/s\" link_width=\"16\"";
        system(&format!("<pci busid=\"0000:20:00.0\" {link}>{inner}</pci>"))
    };
    assert_eq!(tried(&bridge(&gpu(1, "32 GT/s", "16", 90)), Figures::Effective), [whole("pcie1-x16-doubtful", 5, 16)]);
}

#[test]
fn a_remedy_leads_to_the_figure_of_a_dump_that_says_it() {
    let imported = |speed: &str, width: &str, figures: Figures| {
        let text = system(&gpu(1, speed, width, 90));
        import(text.as_bytes(), "x", &Options { figures, ..Options::default() }).expect("is read")
    };
    for figures in [Figures::Effective, Figures::Raw] {
        for speed in ["2.5 GT/s", "5 GT/s"] {
            let guessed = imported(speed, "16", figures);
            let [edit] = &settings(&guessed)[..] else { panic!("one edit: {:?}", settings(&guessed)) };
            let edited = load(&guessed.yaml, vec![edit.clone()]);
            let known = load(&imported("32 GT/s", "16", figures).yaml, Vec::new());
            assert_eq!(edited.fabric.bandwidths(), known.fabric.bandwidths(), "{speed} {edit:?}");
        }
    }
}

#[test]
fn generation_6_has_no_short_factor() {
    let wide = system(&gpu(1, "64 GT/s", "0", 103));
    assert_eq!(tried(&wide, Figures::Effective), ["pcie6-x16-assumed.bandwidth=48GB/s"]);
    assert_eq!(tried(&wide, Figures::Raw), ["pcie6-x16-assumed.width=8"]);
    let narrow = system(&gpu(1, "64 GT/s", "4", 103));
    assert_eq!(tried(&narrow, Figures::Effective), ["pcie6-x4-doubtful.bandwidth=96GB/s"]);
    let idle = system(&gpu(1, "2.5 GT/s", "16", 103));
    assert_eq!(tried(&idle, Figures::Effective), ["pcie1-x16-doubtful={ bandwidth: 96GB/s }"]);
    assert_eq!(tried(&idle, Figures::Raw), ["pcie1-x16-doubtful.generation=6"]);
}

#[test]
fn few_lanes_beside_a_chip_to_chip_link_are_right() {
    let c2c = gpu(1, "32 GT/s", "1", 90).replace("/></pci>", "><c2c bw=\"44712\" count=\"10\"/></gpu></pci>");
    let import = read(&system(&c2c)).expect("is read");
    assert_eq!(crate::common::warnings(&import), "");
    assert!(import.yaml.contains("  pcie5-x1: {"), "{}", import.yaml);
}

#[test]
fn a_link_without_speed_and_width_is_a_warning_with_its_bus_id() {
    let nccl = system(&gpu(1, "", "0", 80));
    let hwloc = "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"PCIDev\" gp_index=\"2\" \
                 pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:20b5] [10de:1] a1\" pci_link_speed=\"0.000000\"/></object></topology>";
    for text in [nccl.as_str(), hwloc] {
        let import = read(text).expect("is read");
        let warned = crate::common::warnings(&import);
        assert!(warned.contains("no link speed and width of 0000:01:00.0"), "{warned}");
        assert!(
            warned.contains("type `pcie4-x16-chip-assumed`, the newest generation that these GPUs' chips can"),
            "{warned}"
        );
        assert_eq!(tried(text, Figures::Effective), ["pcie4-x16-chip-assumed.width=8"]);
    }
}

#[test]
fn the_two_ends_of_a_link_in_hwloc() {
    let hwloc = |port: &str, gpu: &str| {
        format!(
            "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"Bridge\" \
             bridge_type=\"1-1\" pci_busid=\"0000:00:01.0\" pci_type=\"0604 [8086:1] [1:1] 00\" pci_link_speed=\"{port}\"><object \
             type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:2330] [10de:1] a1\" pci_link_speed=\"{gpu}\"/></object>\
             </object></object></topology>"
        )
    };
    let settings = |port: &str, gpu: &str| tried(&hwloc(port, gpu), Figures::Effective);
    assert_eq!(settings("7.876923", "15.753846"), ["pcie3-x16-doubtful.width=8"]);
    assert_eq!(settings("63.015385", "15.753846"), [whole("pcie3-x16-doubtful", 5, 16)]);
    // NVML tells hwloc no speed above 8 GT/s.
    let both = hwloc("15.753846", "15.753846");
    assert_eq!(tried(&both, Figures::Effective), [whole("pcie3-x16-doubtful", 5, 16)]);
    let warned = crate::common::warnings(&read(&both).expect("is read"));
    assert!(warned.contains("0000:01:00.0 are faster than") && warned.contains("8 GT/s"), "{warned}");
    assert!(settings("63.015385", "63.015385").is_empty());
    // One lane of 8 GT/s, as some virtual machines have it: the remedy is a whole link for both ends.
    let one = tried(&hwloc("0.984615", "0.984615"), Figures::Effective);
    assert!(one.iter().all(|setting| !setting.contains("width=1\"") && !setting.ends_with("width=1")), "{one:?}");
    assert!(one.contains(&whole("pcie3-x1-doubtful", 5, 16)), "{one:?}");
    // RSMI cuts to whole GB/s; what fits nothing is quoted.
    let cut = read(&hwloc("63.015385", "63.0")).expect("is read");
    assert!(cut.yaml.contains("gpu0: { kind: gpu, link: pcie5-x16,"), "{}", cut.yaml);
    let cut = read(&hwloc("31.0", "31.0")).expect("is read");
    assert!(cut.yaml.contains("gpu0: { kind: gpu, link: pcie4-x16,"), "{}", cut.yaml);
    assert!(
        cut.findings
            .iter()
            .any(|f| f.message.contains("0000:00:01.0, 0000:01:00.0 report a speed of 31.0 GB/s: 31.51 GB/s cut"))
    );
    let odd = read(&hwloc("5.55", "5.55")).expect("is read");
    assert!(
        crate::common::warnings(&odd)
            .contains("0000:00:01.0, 0000:01:00.0 report a speed of 5.55 GB/s, which no PCIe link has")
    );
}

/// A MI50 at 8 GT/s below a port of 16 GT/s: 15.75 GB/s cut to 15. And 31.5 GB/s of a chip of PCIe 3.0, a link inside the package,
/// keep their product.
#[test]
fn the_product_of_generation_and_width_stays() {
    let hwloc = |port: &str, id: &str, gpu: &str| {
        format!(
            "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"Bridge\" \
             bridge_type=\"1-1\" pci_busid=\"0000:00:01.0\" pci_type=\"0604 [8086:1] [1:1] 00\" pci_link_speed=\"{port}\"><object \
             type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [{id}] [10de:1] a1\" pci_link_speed=\"{gpu}\"/></object>\
             </object></object></topology>"
        )
    };
    let widths = |port: &str, id: &str, gpu: &str| {
        let counts = read(&hwloc(port, id, gpu)).expect("is read").counts;
        counts.pcie.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(widths("31.507692", "1002:66a1", "15.000000"), [(3, 16)]);
    assert_eq!(widths("63.015385", "10de:1db1", "31.507692"), [(4, 16)]);
}

#[test]
fn the_file_names_all_bus_ids_the_terminal_some() {
    let gpus: String = (1..=30).map(|bus| gpu(bus, "16 GT/s", "4", 80)).collect();
    let import = read(&system(&gpus)).expect("is read");
    check(&import);
    let warned = crate::common::warnings(&import);
    assert!(warned.contains("0000:08:00.0 and 22 more") && !warned.contains("0000:09:00.0"), "{warned}");
    let comments: String = import.yaml.lines().filter(|line| line.starts_with('#')).collect();
    assert!((1..=30).all(|bus| comments.contains(&format!("0000:{bus:02x}:00.0"))), "{comments}");
    assert!(import.yaml.lines().all(|line| line.chars().count() <= 140), "{}", import.yaml);
    let notes = import.findings.iter().filter(|finding| finding.message.contains("goes behind `weir run`"));
    assert_eq!(notes.count(), 1);
}
