//! hwloc XML: xGMI, packages with several NUMA nodes, virtual functions, twins.

use crate::common::{check, read, warnings};
use weir_import::{Import, Level};

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

fn has_finding(import: &Import, level: Level, words: &str) -> bool {
    import.findings.iter().any(|finding| finding.level == level && finding.message.contains(words))
}

fn device(index: usize, bus: &str, kind: &str, speed: &str) -> String {
    format!(
        "<object type=\"PCIDev\" gp_index=\"{index}\" pci_busid=\"{bus}\" pci_type=\"{kind} [1:1] 00\" pci_link_speed=\"{speed}\"/>\n"
    )
}

fn machine(packages: &str, devices: &str, matrices: &str) -> String {
    format!(
        "<topology version=\"2.0\">\n<object type=\"Machine\" gp_index=\"1\">\n{packages}<object type=\"Bridge\" gp_index=\"5\" \
         bridge_type=\"0-1\">\n{devices}</object>\n</object>\n{matrices}</topology>\n"
    )
}

fn matrix(name: &str, ends: &[usize], values: impl Fn(usize, usize) -> u64) -> String {
    let indexes: Vec<String> = ends.iter().map(ToString::to_string).collect();
    let cells = (0..ends.len()).flat_map(|i| (0..ends.len()).map(move |j| (i, j)));
    let values: Vec<String> = cells.map(|(i, j)| values(i, j).to_string()).collect();
    format!(
        "<distances2 type=\"PCIDev\" nbobjs=\"{}\" kind=\"5\" name=\"{name}\" indexing=\"gp\"><indexes>{}</indexes><u64values>{}\
         </u64values></distances2>\n",
        ends.len(),
        indexes.join(" "),
        values.join(" ")
    )
}

/// Three GPUs in a row: the outer ones are joined over the middle one.
fn row_of_three(ids: &str, value: u64, hops: bool) -> Import {
    let gpu = |n: usize| device(30 + n, &format!("0000:{n:02x}:00.0"), &format!("0380 [{ids}]"), "31.507692");
    let ends = [31, 32, 33];
    let bandwidth = matrix("XGMIBandwidth", &ends, |i, j| if i == j { 1_000_000 } else { value });
    let steps = matrix("XGMIHops", &ends, |i, j| i.abs_diff(j) as u64);
    let matrices = if hops { [steps, bandwidth].concat() } else { bandwidth };
    good(&machine("", &[gpu(1), gpu(2), gpu(3)].concat(), &matrices))
}

/// Without ids, as dumps of some clouds have it, the driver's name says what a GPU is.
#[test]
fn a_gpu_without_ids_is_known_by_its_name() {
    let gpu = |model: &str| {
        let info = format!(
            "<info name=\"GPUVendor\" value=\"NVIDIA Corporation\"/><info name=\"GPUModel\" value=\"{model}\"/>"
        );
        let of = |n: usize| {
            let device = device(30 + n, &format!("0000:{n:02x}:00.0"), "0302 [0000:0000]", "0");
            let inner = format!(
                "<object type=\"OSDev\" gp_index=\"{}\" name=\"nvml{n}\" osdev_type=\"5\">{info}</object>",
                40 + n
            );
            device.replace("/>", &format!(">{inner}</object>"))
        };
        good(&machine("", &[of(1), of(2)].concat(), ""))
    };
    let module = gpu("NVIDIA H100 80GB HBM3");
    assert!(warnings(&module).contains("are H100 SXM5, by device id or name"), "{}", warnings(&module));
    assert!(module.yaml.contains("pcie5-x16-chip-assumed:"), "{}", module.yaml);
    assert!(gpu("NVIDIA L40S").yaml.contains("pcie4-x16-chip-assumed:"));
}

#[test]
fn xgmi_of_rsmi_is_a_link_between_neighbours() {
    let import = row_of_three("1002:740f", 100_000, true);
    assert_eq!(import.counts.xgmi, 2);
    assert!(import.yaml.contains("xgmi-x1: { bandwidth: 36GB/s, kind: xgmi }"), "{}", import.yaml);
    for pair in ["[gpu0, gpu1]", "[gpu1, gpu2]"] {
        assert!(import.yaml.contains(&format!("between: {pair}, type: xgmi-x1")), "{}", import.yaml);
    }
    assert!(has_finding(&import, Level::Assumed, "2 pairs get one link each; 1 pairs that are several hops apart"));
    let import = row_of_three("1002:74a1", 100_000, false);
    assert_eq!(import.counts.xgmi, 3);
    assert!(import.yaml.contains("xgmi-x1: { bandwidth: 48GB/s, kind: xgmi }"), "{}", import.yaml);
    assert!(has_finding(&import, Level::Assumed, "there is no matrix `XGMIHops`"));
    // Another figure is a bandwidth, also where the chip is not known.
    let import = row_of_three("1002:1234", 123_456, true);
    assert!(import.yaml.contains("xgmi-123.456GB: { bandwidth: 123.456GB/s, kind: xgmi }"), "{}", import.yaml);
    assert_eq!(import.counts.xgmi, 3);
}

/// Of MI250X some pairs have several links and some none, whatever the hops say.
#[test]
fn one_xgmi_link_for_each_pair_is_a_warning_where_machines_differ() {
    let words = "3 pairs get one link each";
    let import = row_of_three("1002:7408", 100_000, false);
    assert!(has_finding(&import, Level::Warning, words), "{:?}", import.findings);
    assert!(warnings(&import).contains("several links to some and none to others"), "{}", warnings(&import));
    assert!(warnings(&import).contains("--showtopo --shownodesbw"));
    let import = row_of_three("1002:740f", 100_000, false);
    assert!(has_finding(&import, Level::Assumed, words), "{:?}", import.findings);
}

/// The outer ones of three in a row: each hangs on the root complex by PCIe 4.0 x16, 26.3 GB/s.
#[test]
fn pairs_that_xgmi_joins_over_others_take_pcie() {
    let import = row_of_three("1002:740f", 100_000, true);
    let warned = warnings(&import);
    assert!(warned.contains("xGMI joins gpu0 and gpu2 only over other GPUs"), "{warned}");
    assert!(warned.contains("take PCIe, at 26.3 GB/s alone"), "{warned}");
    assert!(!warnings(&row_of_three("1002:740f", 100_000, false)).contains("over other GPUs, and"), "all are joined");
}

#[test]
fn packages_are_sockets() {
    let package = |nodes: &[usize]| {
        let node = |n: &usize| format!("<object type=\"NUMANode\" os_index=\"{n}\" cpuset=\"0x{}\"/>", 1 << n);
        let nodes: String = nodes.iter().map(node).collect();
        format!("<object type=\"Package\"><info name=\"CPUVendor\" value=\"GenuineIntel\"/>{nodes}</object>\n")
    };
    let sockets = |packages: &[&[usize]]| {
        let packages: String = packages.iter().map(|nodes| package(nodes)).collect();
        let import = good(&machine(&packages, &device(9, "0000:01:00.0", "0302 [10de:1db1]", "15.753846"), ""));
        assert_eq!(import.counts.sockets, Some(packages.matches("<object type=\"Package\"").count()));
        import
    };
    let two = sockets(&[&[0, 1], &[2, 3]]);
    assert_eq!(two.counts.roots, 4);
    assert_eq!(two.yaml.matches("type: package").count(), 2, "{}", two.yaml);
    assert!(
        two.yaml
            .contains("  - { between: [rc0, rc1], type: package }\n  - { between: [rc0, \"rc[2-3]\"], type: socket }")
    );
    assert!(
        two.tree.contains("2 links between NUMA nodes  package\n4 links between NUMA nodes  socket"),
        "{}",
        two.tree
    );
    assert!(has_finding(&two, Level::Assumed, "NUMA nodes of one package"));
    let plain = sockets(&[&[0], &[1]]);
    assert!(!plain.yaml.contains("package") && plain.yaml.contains("[rc0, rc1], type: socket"));
    // One node for two packages, as where memory is interleaved.
    let one = good(&machine(
        "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\"/><object type=\"Package\"/><object type=\"Package\"/>",
        &device(9, "0000:01:00.0", "0302 [10de:1db1]", "15.753846"),
        "",
    ));
    assert_eq!((one.counts.sockets, one.counts.roots), (Some(2), 1));
    assert_eq!(
        good(&machine("", &device(9, "0000:01:00.0", "0302 [10de:1db1]", "15.753846"), "")).counts.sockets,
        None
    );
}

#[test]
fn virtual_functions_share_the_link_of_their_card() {
    let port = |inner: &str| {
        format!(
            "<object type=\"Bridge\" gp_index=\"6\" bridge_type=\"1-1\" pci_busid=\"0000:00:01.0\" pci_type=\"0604 [8086:1] [1:1] 00\" \
             pci_link_speed=\"31.507692\">{inner}</object>"
        )
    };
    let own = device(10, "0000:41:00.0", "0200 [15b3:101d]", "31.507692");
    let parts: String =
        (1..4).map(|n| device(10 + n, &format!("0000:41:{n:02x}.2"), "0200 [15b3:101e]", "0.000000")).collect();
    let import = good(&machine("", &port(&[own.as_str(), &parts].concat()), ""));
    assert_eq!((import.counts.nics, import.counts.switches), (1, 0), "{}", import.tree);
    assert!(import.yaml.contains("nic0: { kind: nic, link: pcie4-x16, bus_id: \"0000:41:00.0\" }"), "{}", import.yaml);
    assert!(has_finding(
        &import,
        Level::Note,
        "virtual functions of cards, whose link they share: 0000:41:01.2, 0000:41:02.2, 0000:41:03.2"
    ));
    // A virtual machine has nothing else.
    assert_eq!(good(&machine("", &port(&parts), "")).counts.nics, 3);
    // On the bus of a root complex each number is a device.
    let flat = [device(10, "0000:00:00.0", "0200 [1af4:1]", "4.0"), device(11, "0000:00:03.0", "0200 [1af4:1]", "0.0")];
    assert_eq!(good(&machine("", &flat.concat(), "")).counts.nics, 2);
}

#[test]
fn two_gpus_of_one_bus_id() {
    let gpu = |n: usize| device(n, "0000:01:00.0", "0302 [10de:1db1]", "15.753846");
    let import = good(&machine("", &[gpu(10), gpu(11)].concat(), ""));
    assert!(warnings(&import).contains("two devices have the bus id 0000:01:00.0"), "{}", warnings(&import));
    assert_eq!(import.counts.gpus, 2);
}

#[test]
fn graphics_inside_a_processor_are_no_gpu() {
    let gpus = |bus: &str| {
        good(&machine("", &device(31, bus, "0380 [8086:0bda]", "31.507692").replace(" [1:1] 00", ""), "")).counts.gpus
    };
    assert_eq!((gpus("0000:00:02.0"), gpus("0000:29:00.0")), (0, 1));
}
