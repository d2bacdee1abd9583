//! What real and hostile dumps have: each trap is told with its bus id, or refused with its line.

use crate::common::{check, read, sample, warnings};
use weir_import::{Format, Import, MOST_BYTES, Options, Refusal, import};

/// A system of one NUMA node with these elements.
fn system(inner: &str) -> String {
    let cpu = "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\">";
    format!("<system version=\"1\">\n{cpu}\n{inner}\n</cpu>\n</system>\n")
}

fn gpu(bus: &str, speed: &str, width: &str, inner: &str) -> String {
    format!("<pci busid=\"{bus}\" class=\"0x030200\" link_speed=\"{speed}\" link_width=\"{width}\">{inner}</pci>\n")
}

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

fn import_named(bytes: &[u8], name: &str) -> Import {
    import(bytes, name, &Options::default()).expect("is read")
}

fn refused(bytes: &[u8]) -> Refusal {
    let refusal = import(bytes, "x", &Options::default()).expect_err("is refused");
    assert!(refusal.help.is_some(), "{refusal}");
    refusal
}

#[test]
fn speeds_and_widths_that_are_none() {
    let text = system(&[gpu("0000:01:00.0", "", "16", ""), gpu("0000:02:00.0", "16 GT/s", "0", "")].concat());
    let import = good(&text);
    let warned = warnings(&import);
    assert!(warned.contains("no link speed of 0000:01:00.0 that is one: type `pcie3-x16-assumed`"), "{warned}");
    assert!(warned.contains("no link width of 0000:02:00.0 that is one: type `pcie4-x16-assumed`"), "{warned}");
    assert!(warned.contains("--set topology.link_types.pcie4-x16-assumed.width=8"), "{warned}");
    let idle = good(&system(&gpu("0000:01:00.0", "2.5 GT/s PCIe", "16", "")));
    assert!(warnings(&idle).contains("GPUs 0000:01:00.0 report type `pcie1-x16-doubtful`"));
    let narrow = good(&system(&gpu("0000:01:00.0", "16.0 GT/s PCIe", "4", "")));
    assert!(warnings(&narrow).contains("fewer than 8 lanes"));
    let fine = good(&system(&gpu("0000:01:00.0", "64.0 GT/s PCIe", "16", "")));
    assert_eq!(warnings(&fine), "");
    assert!(fine.yaml.contains("pcie6-x16: { bandwidth: 96GB/s }"));
}

#[test]
fn links_that_lead_nowhere() {
    let link = |target: &str, count: &str, class: &str| {
        let links = format!("<nvlink target=\"{target}\" count=\"{count}\" tclass=\"{class}\"/>");
        gpu("0000:01:00.0", "16 GT/s", "16", &format!("<gpu dev=\"0\" sm=\"80\">{links}</gpu>"))
    };
    let warned = |link: String| {
        let import = good(&system(&link));
        assert_eq!(import.counts.nvlinks, 0);
        warnings(&import)
    };
    assert!(
        warned(link("0000:01:00.0", "4", "0x030200"))
            .contains("0000:01:00.0, line 3: a link whose target is its own GPU")
    );
    assert!(warned(link("0000:09:00.0", "4", "0x030200")).contains("no GPU `0000:09:00.0`"));
    assert!(warned(link("0000:09:00.0", "0", "0x068000")).contains("count `0`"));
    assert!(warned(link("0000:09:00.0", "99999999999", "0x068000")).contains("count `99999999999`"));
    // Virtual machines hide the switches' bus ids.
    let hidden = good(&system(&link("fffffff:ffff:ff", "12", "0x068000")));
    assert_eq!((hidden.counts.nvlinks, warnings(&hidden)), (12, String::new()));
    assert!(hidden.yaml.contains("nvlink3-x12: { bandwidth: 274.32GB/s, kind: nvlink }"));
}

#[test]
fn links_told_by_one_end_only_and_in_two_numbers() {
    let with = |bus: &str, target: &str, count: u32| {
        let link = format!(
            "<gpu dev=\"0\" sm=\"70\"><nvlink target=\"{target}\" count=\"{count}\" tclass=\"0x030200\"/></gpu>"
        );
        gpu(bus, "8 GT/s", "16", &link)
    };
    let both = [with("0000:01:00.0", "0000:02:00.0", 2), with("0000:02:00.0", "0000:01:00.0", 2)].concat();
    let import = good(&system(&both));
    assert_eq!((import.counts.nvlinks, warnings(&import)), (2, String::new()));
    assert!(import.yaml.contains("between: [gpu0, gpu1], type: nvlink2-x2"));
    let other = [with("0000:01:00.0", "0000:02:00.0", 2), with("0000:02:00.0", "0000:01:00.0", 1)].concat();
    assert!(warnings(&good(&system(&other))).contains("reports 2 links to 0000:02:00.0, which reports 1"));
}

/// The A100 of a module has 12 NVLinks.
#[test]
fn a_line_of_nvlinks_that_stands_twice() {
    let with = |bus: &str, lines: usize| {
        let links = "<nvlink target=\"fffffff:ffff:ff\" count=\"12\" tclass=\"0x068000\"/>".repeat(lines);
        format!(
            "<pci busid=\"{bus}\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x20b0\" link_speed=\"16 GT/s\" link_width=\"16\">\
             <gpu dev=\"0\" sm=\"80\">{links}</gpu></pci>\n"
        )
    };
    let import = good(&system(&[with("0000:01:00.0", 2), with("0000:02:00.0", 1)].concat()));
    let warned = warnings(&import);
    assert!(
        warned.contains("GPUs 0000:01:00.0 have 24 NVLinks in the dump, and their model, A100 SXM4, has 12"),
        "{warned}"
    );
    let once = good(&system(&[with("0000:01:00.0", 1), with("0000:02:00.0", 1)].concat()));
    assert_eq!(warnings(&once), "");
    // One that has none to a switch may be joined with others directly; one that has some has lost the rest.
    let fewer = with("0000:02:00.0", 1).replace("count=\"12\"", "count=\"11\"");
    let warned = warnings(&good(&system(&[with("0000:01:00.0", 1), fewer].concat())));
    assert!(
        warned.contains("0000:02:00.0 have 11 NVLinks in the dump, and their model, A100 SXM4, has 12"),
        "{warned}"
    );
    assert!(warned.contains("look whether the others are down") && !warned.contains("0000:01:00.0 have"), "{warned}");
}

/// Chips whose cards have no NVLink, or fewer than the dump has.
#[test]
fn nvlinks_that_a_chip_cannot_have_are_warned_of() {
    let with = |bus: &str, (device, sm): (&str, u32), count: usize| {
        let links = format!("<nvlink target=\"fffffff:ffff:ff\" count=\"{count}\" tclass=\"0x068000\"/>");
        format!(
            "<pci busid=\"{bus}\" class=\"0x030200\" vendor=\"0x10de\" device=\"{device}\" link_speed=\"16 GT/s\" link_width=\"16\">\
             <gpu dev=\"0\" sm=\"{sm}\">{links}</gpu></pci>\n"
        )
    };
    let warned = |device: (&str, u32), count: usize| {
        let both = [with("0000:01:00.0", device, count), with("0000:02:00.0", device, count)].concat();
        warnings(&good(&system(&both)))
    };
    let ada = warned(("0x26b9", 89), 4);
    assert!(ada.contains("have 4 NVLinks in the dump, and GPUs of their chip have none"), "{ada}");
    let card = warned(("0x20f1", 80), 18);
    assert!(card.contains("have 18 NVLinks in the dump, and GPUs of their chip have 12 at most"), "{card}");
    assert!(!warned(("0x20f1", 80), 12).contains("in the dump, and GPUs"));
}

#[test]
fn xgmi_c2c_and_cards_without_pcie() {
    let amd = |bus: &str, target: &str| {
        let link = format!(
            "<gpu dev=\"0\" sm=\"304\" gcn=\"942\"><xgmi target=\"{target}\" count=\"1\" tclass=\"0x120000\"/></gpu>"
        );
        gpu(bus, "32.0 GT/s PCIe", "16", &link)
    };
    let import = good(&system(&[amd("0000:01:00.0", "0000:02:00.0"), amd("0000:02:00.0", "0000:01:00.0")].concat()));
    assert_eq!(import.counts.xgmi, 1);
    assert!(import.yaml.contains("xgmi-x1: { bandwidth: 48GB/s, kind: xgmi }"));
    let c2c =
        gpu("0009:01:00.0", "64.0 GT/s PCIe", "16", "<gpu dev=\"0\" sm=\"90\"><c2c bw=\"44712\" count=\"10\"/></gpu>");
    let import = good(&system(&format!("{c2c}<nic><net name=\"eth0\" dev=\"0\" speed=\"-1\"/></nic>")));
    assert!(import.yaml.contains("c2c: { bandwidth: 447.12GB/s, kind: nvlink }"));
    assert!(import.yaml.contains("port0:"), "the way over the chip-to-chip link is the shorter one");
    assert!(import.yaml.contains("port-10000Mb: { bandwidth: 10000Mb/s }"));
    // Slingshot cards report 200 Tb/s.
    let fast = good(&system("<nic><net name=\"cxi0\" dev=\"0\" speed=\"200000000\"/></nic>"));
    assert!(fast.yaml.contains("port-10000Mb") && !fast.yaml.contains("200000"), "{}", fast.yaml);
}

#[test]
fn hosts_gpus_and_names_in_order() {
    let of = |dev: u32, bus: &str| gpu(bus, "16 GT/s", "16", &format!("<gpu dev=\"{dev}\" sm=\"80\"/>"));
    let import = good(&system(&[of(1, "0000:01:00.0"), of(0, "0000:02:00.0")].concat()));
    assert!(import.yaml.contains("gpu0: { kind: gpu, link: pcie4-x16, engines: 1, bus_id: \"0000:02:00.0\" }"));
    let cpu = |host: &str, numa: u32| format!("<cpu numaid=\"{numa}\" arch=\"arm64\" host_hash=\"{host}\"/>");
    let cpus = [cpu("0xa", 0), cpu("0xa", 1), cpu("0xb", 0), cpu("0xb", 1)].concat();
    let import = good(&format!("<system version=\"1\">{cpus}</system>"));
    assert_eq!(import.yaml.matches("between:").count(), 2, "no socket link leads to another machine");
    let negative = good("<system version=\"1\"><cpu numaid=\"-1\" arch=\"x86_64\"/></system>");
    assert!(!negative.yaml.contains("numa:"));
}

#[test]
fn texts_of_a_dump_do_no_harm() {
    let nic = "<pci busid=\"0000:01:00.0\" class=\"0x020000\" link_speed=\"16 GT/s\" link_width=\"16\"><nic><net \
               name=\"a&#10;tree: {}&#133;&#8232;&#155;2J\" dev=\"0\" speed=\"1\"/></nic></pci>";
    let import = good(&system(nic));
    let turned = nic
        .replace("tree: {}", "&#x202e;&#x200b;&#xfeff;")
        .replace("class=\"0x020000\"", "class=\"0x9&#x202e;&#x2028;\"");
    let other = good(&system(&turned.replace("<nic>", "<x>").replace("</nic>", "</x>")));
    let all = [good(&system(&turned)).tree, format!("{:?}", other.findings)].concat();
    assert!(!all.contains(['\u{202e}', '\u{2028}', '\u{200b}', '\u{feff}']), "{all}");
    assert!(!import.tree.contains('\u{9b}') && import.yaml.matches("tree:").count() == 2, "{}", import.yaml);
    let text = sample("nccl-aws-p4d-24xl-8xA100.xml");
    let name = "x\"\nweir: 2\u{1b} é";
    let named = import_named(text.as_bytes(), name);
    check(&named);
}

#[test]
fn what_is_no_dump_is_refused() {
    let says = |bytes: &[u8], line: Option<u32>, words: &str| {
        let refusal = refused(bytes);
        assert!(refusal.message.contains(words), "{refusal}");
        assert_eq!(refusal.line, line, "{refusal}");
    };
    says(b"", None, "empty");
    says(b"  \n \n", None, "empty");
    says(b"hello\n", Some(1), "no dump of a kind");
    says(b"\xff\xfe<\0s\0", Some(1), "UTF-16");
    says(b"<system>\n\0", Some(2), "binary");
    says(b"<system>\n\xc3\x28", Some(2), "not UTF-8");
    says(b"<html></html>", None, "root is `html`");
    says(b"<graphs version=\"1\"/>", None, "graphs");
    says(b"NCCL INFO\n<system version=\"1\"></system>", Some(1), "does not begin with it");
    says(b"<system version=\"1\"></system>", Some(1), "no `<cpu>`");
    says(b"<topology>\n<object type=\"Machine\"/></topology>", Some(1), "not the XML of hwloc 2 or 3");
    says(&vec![b' '; MOST_BYTES + 1], None, "MiB");
    let text = sample("nccl-oci-bm-8xH100.xml");
    says(
        &text.as_bytes()[..text.len() / 2],
        Some(1 + text[..text.len() / 2].matches('\n').count() as u32),
        "not well-formed",
    );
    let options = Options { format: Some(Format::Hwloc), ..Options::default() };
    assert!(import(text.as_bytes(), "x", &options).is_err());
}

#[test]
fn formats_that_are_taken_for_others() {
    let text = sample("nccl-oci-bm-8xH100.xml");
    let as_format = |text: &str, format: Format| {
        let options = Options { format: Some(format), ..Options::default() };
        import(text.as_bytes(), "x", &options).expect_err("is refused")
    };
    let refusal = as_format(&text, Format::Hwloc);
    assert!(refusal.message.contains("NCCL's XML") && refusal.help.is_some_and(|help| help.contains("--as nccl")));
    let refusal = as_format(&sample("hwloc2-nvidia-dgx2-16xV100.xml"), Format::Nccl);
    assert!(refusal.help.is_some_and(|help| help.contains("--as hwloc")));
    let rocm = "\n===== ROCm System Management Interface =====\n== Weight between two GPUs ==\n       GPU0  GPU1\nGPU0   0     15\nGPU1   15    0\n";
    for refusal in [refused(rocm.as_bytes()), as_format(rocm, Format::NvidiaSmi)] {
        let help = refusal.help.as_ref().is_some_and(|help| help.contains("rocm-smi"));
        assert!(refusal.message.contains("rocm-smi") && refusal.line == Some(2) && help, "{refusal}");
    }
    let latin = refused(b"<system version=\"1\"><cpu arch=\"\xe4\"/></system>");
    assert!(latin.help.is_some_and(|help| help.contains("iconv -f ISO-8859-1")));
}

#[test]
fn numbers_of_numa_nodes() {
    let one = |numa: &str| good(&format!("<system version=\"1\"><cpu {numa} arch=\"arm64\"/></system>"));
    let warned = |numa: &str| warnings(&one(numa)).contains("is none from 0 to 1023");
    assert_eq!(["numaid=\"99999\"", "numaid=\"x\"", "numaid=\"-7\""].map(warned), [true; 3]);
    assert_eq!(["numaid=\"-1\"", "", "numaid=\"1023\""].map(warned), [false; 3]);
    assert!(warnings(&one("numaid=\"99999\"")).contains("line 1: the NUMA number `99999`"));
}

#[test]
fn several_machines_and_instances_of_one_gpu() {
    let cpu = |host: &str, numa: u32| format!("<cpu numaid=\"{numa}\" arch=\"arm64\" host_hash=\"{host}\"/>");
    let cpus = [cpu("0xa", 0), cpu("0xa", 1), cpu("0xb", 0)].concat();
    let import = good(&format!("<system version=\"1\">{cpus}</system>"));
    let warned = warnings(&import);
    assert!(
        warned.contains("of 2 machines, by their `host_hash`: 0xa (rc0 rc1), 0xb (rc2); no link but NVLink"),
        "{warned}"
    );
    assert_eq!(import.counts.sockets, None);
    let two = gpu(
        "0000:07:00.0",
        "16 GT/s",
        "16",
        "<gpu dev=\"0\" sm=\"80\" mig=\"1\"/><gpu dev=\"1\" sm=\"80\" mig=\"1\"/>",
    );
    let import = good(&system(&two));
    assert_eq!((import.counts.gpus, warnings(&import).as_str()), (1, ""));
    assert!(
        import.findings.iter().any(|f| f.message.contains("0000:07:00.0, line 3: 2 `<gpu>`")),
        "{:?}",
        import.findings
    );
}

#[test]
fn matrices_that_contradict_themselves() {
    let matrix = |rows: &[&str]| {
        let head: Vec<String> = (0..rows.len()).map(|n| format!("GPU{n}")).collect();
        let rows: String = rows.iter().enumerate().map(|(n, row)| format!("GPU{n}\t{row}\n")).collect();
        format!("\t{}\tCPU Affinity\tNUMA Affinity\n{rows}", head.join("\t"))
    };
    let unlike = good(&matrix(&["X\tNV4\t0-7\t0", "SYS\tX\t0-7\t0"]));
    assert_eq!(unlike.counts.nvlinks, 4);
    assert!(warnings(&unlike).contains("the two cells of a pair differ: GPU0 and GPU1"));
    let three =
        |last: &str| good(&matrix(&["X\tPIX\tSYS\t0-7\t0", "PIX\tX\tPIX\t0-7\t0", &format!("SYS\tPIX\tX\t{last}")]));
    let warned = warnings(&three("8-15\t1"));
    assert!(warned.contains("contradicts itself") && warned.contains("GPU0 and GPU2, GPU1 and GPU2"), "{warned}");
    assert!(warnings(&three("0-7\t0")).contains("put GPU0 and GPU2 nearer"));
    let fine = good(&matrix(&["X\tPIX\tSYS\t0-7\t0", "PIX\tX\tSYS\t0-7\t0", "SYS\tSYS\tX\t8-15\t1"]));
    assert!(!warnings(&fine).contains("contradicts"));
    let once = matrix(&["X\tPIX\t0-7\t0", "PIX\tX\t0-7\t0"]);
    let twice = good(&format!("{once}{once}"));
    assert!(warnings(&twice).contains("line 4: GPU0 is there a second time"), "{}", warnings(&twice));
    let refusal = refused(b"GPU0 GPU1 GPU0\nGPU0 X PIX X\nGPU1 PIX X PIX\n");
    assert!(refusal.message.contains("GPU0 appears twice in the header") && refusal.line == Some(1), "{refusal}");
}

#[test]
fn bombs_and_depths_are_refused() {
    let mut entities = String::from("<!DOCTYPE system [<!ENTITY a \"aaaaaaaaaa\">");
    for (next, before) in ('b'..='k').zip('a'..='j') {
        entities.push_str(&format!("<!ENTITY {next} \"{}\">", format!("&{before};").repeat(10)));
    }
    refused(format!("{entities}]><system version=\"1\"><cpu>&k;</cpu></system>").as_bytes());
    let depth = 100_000;
    let nested =
        format!("{}{}", "<pci busid=\"0000:01:00.0\" class=\"0x060400\">".repeat(depth), "</pci>".repeat(depth));
    assert!(refused(system(&nested).as_bytes()).message.contains("nest more than"));
    let deep = format!("{}{}", "<pci busid=\"0000:01:00.0\" class=\"0x060400\">".repeat(40), "</pci>".repeat(40));
    assert!(refused(system(&deep).as_bytes()).message.contains("bridges nest more than 24 deep at 0000:01:00.0"));
    let wide: String = (0..100_000).map(|i| gpu(&format!("{i:04x}:01:00.0"), "16 GT/s", "16", "")).collect();
    assert!(refused(system(&wide).as_bytes()).message.contains("more than 50000 devices"));
    let cpus = "<cpu numaid=\"0\"/>".repeat(100_000);
    assert!(
        refused(format!("<system version=\"1\">{cpus}</system>").as_bytes()).message.contains("more than 256 NUMA")
    );
    let many: String = (0..40_000).map(|i| gpu(&format!("{i:04x}:01:00.0"), "", "0", "<gpu sm=\"x\"/>")).collect();
    let import = read(&system(&many)).expect("is read");
    assert_eq!(import.counts.gpus, 40_000);
    assert!(import.findings.len() < 20, "they are told together");
}
