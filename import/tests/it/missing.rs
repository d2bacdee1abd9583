//! SXM machines whose dump has no NVLink: what is missing is said, and `--add nvswitch` adds it.

use crate::common::{check, read, sample, warnings};
use weir_import::{Addition, Import, Options, Refusal, import};

/// A file for NCCL with GPUs on two NUMA nodes, without `<gpu>`.
fn preset(gpus: usize, attributes: &str) -> String {
    let gpu = |n: usize| {
        format!(
            "<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" {attributes} link_speed=\"16 GT/s\" link_width=\"16\"/>\n",
            n + 1
        )
    };
    let cpu = |numa: usize| {
        let own: String = (0..gpus).filter(|n| n * 2 / gpus == numa).map(gpu).collect();
        format!(
            "<cpu numaid=\"{numa}\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n{own}</cpu>\n"
        )
    };
    format!("<system version=\"1\">\n{}{}</system>\n", cpu(0), cpu(1))
}

fn of_device(device: &str) -> String {
    format!("vendor=\"0x10de\" device=\"{device}\"")
}

fn added(text: &str, add: &str) -> Result<Import, Refusal> {
    let add = Some(add.parse::<Addition>().expect("is one"));
    import(text.as_bytes(), "x", &Options { add, ..Options::default() })
}

fn good(import: Result<Import, Refusal>) -> Import {
    let import = import.unwrap_or_else(|refusal| panic!("{refusal}"));
    check(&import);
    import
}

#[test]
fn a_known_model_without_nvlink_is_a_warning() {
    let import = good(read(&preset(8, &of_device("0x20b2"))));
    let warned = warnings(&import);
    for words in [
        "NVLink is missing: GPUs 0000:01:00.0, ",
        "are A100 SXM4, by device id or name, and have 12 NVLinks each",
        // 16 pairs share the socket link: 10 GB/s / 16, to 7 others.
        "at 4.4 GB/s per GPU",
        "--add nvswitch",
    ] {
        assert!(warned.contains(words), "{words}: {warned}");
    }
    assert!(import.better_dump.contains("static preset") && !import.better_dump.contains("most exact"));
    // One GPU has nobody to talk to, a card has no NVLink.
    assert_eq!(warnings(&good(read(&preset(1, &of_device("0x20b2"))))), "");
    assert_eq!(warnings(&good(read(&preset(8, &of_device("0x20f1"))))), "");
}

#[test]
fn all_to_all_is_limited_by_a_shared_switch_too() {
    // Two GPUs below one x1 link, two beside it: four pairs each way share the 1.64 GB/s of PCIe 4.0 x1, to three others.
    let gpu = |n: u8| {
        format!(
            "<pci busid=\"0000:{n:02x}:00.0\" class=\"0x030200\" {} link_speed=\"16 GT/s\" link_width=\"16\"/>",
            of_device("0x2330")
        )
    };
    let narrow = "<pci busid=\"0000:20:00.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"1\">";
    let text = format!(
        "<system version=\"1\"><cpu numaid=\"0\">{narrow}{}{}</pci>{}{}</cpu></system>",
        gpu(1),
        gpu(2),
        gpu(3),
        gpu(4)
    );
    assert!(warnings(&good(read(&text))).contains("at 1.2 GB/s per GPU"), "{}", warnings(&good(read(&text))));
}

#[test]
fn a_switch_is_added() {
    let text = preset(8, &of_device("0x2330"));
    let import = good(added(&text, "nvswitch"));
    assert_eq!((import.counts.nvlinks, warnings(&import).as_str()), (8 * 18, ""));
    assert!(import.yaml.contains("  - { between: [gpu7, nvswitch], type: nvlink4-x18 }"), "{}", import.yaml);
    assert!(import.yaml.contains("# assumed: `--add nvswitch`: 8 GPUs have 18 NVLinks each"), "{}", import.yaml);
    assert_eq!(good(added(&text, "nvswitch=h100")).yaml, import.yaml);
    let switched = good(added(&sample("nccl-aws-p4d-24xl-8xA100.xml"), "nvswitch"));
    assert_eq!(switched.counts.nvlinks, 8 * 12);
    assert!(switched.yaml.contains("port0:"), "the way over the NVSwitch is the shorter one");
}

#[test]
fn presets_without_a_model() {
    // Azure's files have neither vendor nor device.
    let text = sample("nccl-azure-nd96-a100-v4.xml");
    let import = good(read(&text));
    let warned = warnings(&import);
    assert!(warned.contains("names no model of its 8 GPUs") && warned.contains("--add nvswitch=MODEL"), "{warned}");
    let zeros = good(read(&preset(8, "vendor=\"0x0000\" device=\"0x0000\"")));
    assert!(warnings(&zeros).contains("names no model of its 8 GPUs"), "{}", warnings(&zeros));
    let refusal = added(&text, "nvswitch").expect_err("no model is known");
    assert!(refusal.help.is_some_and(|help| help.contains("a100") && help.contains("b200")), "{}", refusal.message);
    let import = good(added(&text, "nvswitch=a100"));
    assert_eq!((import.counts.nvlinks, warnings(&import).as_str()), (8 * 12, ""));
}

#[test]
fn where_no_switch_belongs() {
    let says = |text: &str, add: &str, words: &str| {
        let refusal = added(text, add).expect_err("is refused");
        let all = format!("{refusal} {}", refusal.help.as_deref().unwrap_or_default());
        assert!(all.contains(words), "{all}");
    };
    let v100 = preset(8, &of_device("0x1db5"));
    says(&v100, "nvswitch", "hybrid cube mesh");
    says(&preset(8, ""), "nvswitch=v100", "hybrid cube mesh");
    let warned = warnings(&good(read(&v100)));
    assert!(warned.contains("V100 SXM2") && warned.contains("hybrid cube mesh"), "{warned}");
    assert_eq!(good(added(&preset(8, &of_device("0x1db8")), "nvswitch")).counts.nvlinks, 8 * 6, "SXM3 has one");
    says(&preset(8, &of_device("0x20b2")), "nvswitch=h100", "are A100 SXM4, not H100 SXM5");
    says(&preset(8, &of_device("0x2237")), "nvswitch", "does not say");
    says(&preset(1, &of_device("0x20b2")), "nvswitch", "1 GPUs");
    says(&sample("nccl-oci-bm-8xH100.xml"), "nvswitch", "has links between GPUs already");
    let two = preset(4, &of_device("0x2330")).replace("numaid=\"1\"", "numaid=\"1\" host_hash=\"0x2\"");
    says(&two, "nvswitch", "on 2 machines");
}

#[test]
fn other_formats_know_models_too() {
    let gpu = |bus: &str, name: &str| {
        format!(
            "0000:{bus}:00.0 3D controller [0302]: NVIDIA Corporation {name} (rev a1)\n\tNUMA node: 0\n\tLnkCap: Port #0, Speed 32GT/s, Width x16\n"
        )
    };
    let list = |name: &str| {
        ["0000:00:00.0 Host bridge [0600]: x [8086:1]\n".to_owned(), gpu("01", name), gpu("02", name)].concat()
    };
    let named = good(read(&list("GH100 [H100 SXM5 80GB] [10de:2330]")));
    assert!(warnings(&named).contains("are H100 SXM5, by device id or name"), "{}", warnings(&named));
    assert!(!warnings(&good(read(&list("GH100 [H100 PCIe] [10de:2331]")))).contains("NVLink"));
    let tree = "-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation GA100 [A100 SXM4 40GB]\n           \\-02.0-[02]----00.0  NVIDIA Corporation GA100 [A100 SXM4 40GB]\n";
    assert!(warnings(&good(read(tree))).contains("A100 SXM4"), "{}", warnings(&good(read(tree))));
    assert_eq!(good(added(tree, "nvswitch")).counts.nvlinks, 24);
}
