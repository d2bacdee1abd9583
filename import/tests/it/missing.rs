//! Machines with SXM or OAM modules whose dump has no NVLink or xGMI: what is missing is said, and `--add` adds it.

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
    // A model that is newer than weir may have it: of a chip with modules, or of an unknown one.
    for id in ["0x233d", "0x31ff", "0x9999"] {
        let warned = warnings(&good(read(&preset(8, &of_device(id)))));
        let words =
            "NVLink may be missing: the file is a static preset that has 8 GPUs whose device ids weir does not know";
        assert!(warned.contains(words) && warned.contains("runs over PCIe and sockets, at "), "{id}: {warned}");
    }
}

/// On POWER, V100 SXM2 have NVLinks to their processors, of which `nvidia-smi` shows nothing.
#[test]
fn nvlinks_to_processors_are_missing_on_power() {
    let power = preset(2, &of_device("0x1db1")).replace("arch=\"x86_64\"", "arch=\"ppc64\"");
    let words = "on POWER some of them lead to the processor";
    assert!(warnings(&good(read(&power))).contains(words), "{}", warnings(&good(read(&power))));
    assert!(!warnings(&good(read(&preset(2, &of_device("0x1db1"))))).contains(words));
    let smi = |architecture: &str| {
        let list = "GPU 0: Tesla V100-SXM2-16GB (UUID: GPU-1)\nGPU 1: Tesla V100-SXM2-16GB (UUID: GPU-2)\n";
        let matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV3\t0-63\nGPU1\tNV3\t X \t0-63\n";
        warnings(&good(read(&format!("Architecture: {architecture}\nCPU(s): 64\n{list}{matrix}"))))
    };
    assert!(
        smi("ppc64le").contains("NVLink between GPUs gpu0, gpu1 and their processors is missing"),
        "{}",
        smi("ppc64le")
    );
    assert!(!smi("x86_64").contains("processors is missing"));
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
    says(&preset(1, &of_device("0x20b2")), "nvswitch", "has 1 on 1 machines");
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

/// A preset with GPUs of these attributes on one NUMA node.
fn of_gpus(attributes: &[&str]) -> String {
    let gpu = |(n, attributes): (usize, &&str)| {
        let link = "link_speed=\"32 GT/s\" link_width=\"16\"";
        format!("<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" {attributes} {link}/>\n", n + 1)
    };
    let gpus: String = attributes.iter().enumerate().map(gpu).collect();
    format!("<system version=\"1\"><cpu numaid=\"0\" arch=\"arm64\">\n{gpus}</cpu></system>")
}

const H100: &str = "vendor=\"0x10de\" device=\"0x2330\"";
const A100: &str = "vendor=\"0x10de\" device=\"0x20b2\"";
const GH200: &str = "vendor=\"0x10de\" device=\"0x2342\"";
const GB200: &str = "vendor=\"0x10de\" device=\"0x2941\"";
const T4: &str = "vendor=\"0x10de\" device=\"0x1eb8\"";
const MI300X: &str = "vendor=\"0x1002\" device=\"0x74a1\"";

/// What a warning proposes is accepted, and what is refused is not proposed.
#[test]
fn what_is_proposed_is_what_is_accepted() {
    let mi250x = "vendor=\"0x1002\" device=\"0x7408\"";
    let v100 = "vendor=\"0x10de\" device=\"0x1db1\"";
    let cases: [(&[&str], &[&str]); 16] = [
        (&[H100; 8], &["nvswitch"]),
        (&[H100, H100, ""], &["nvswitch"]),
        (&[H100, H100, T4], &["nvswitch"]),
        (&[H100, H100, A100, A100], &[]),
        (&[H100, A100], &[]),
        (&[H100, T4], &[]),
        (&[v100; 8], &[]),
        (&[MI300X; 8], &["xgmi"]),
        (&[MI300X; 9], &[]),
        (&[MI300X, MI300X, H100, H100], &[]),
        (&[mi250x; 8], &[]),
        (&[GH200], &["c2c"]),
        (&[GH200, GH200], &["c2c"]),
        (&[GH200, T4, ""], &["c2c"]),
        (&[GB200; 4], &["nvswitch", "c2c"]),
        (&[GB200, GH200], &[]),
    ];
    for (gpus, expected) in cases {
        let text = of_gpus(gpus);
        let import = good(read(&text));
        for add in ["nvswitch", "xgmi", "c2c"] {
            let proposed = import.findings.iter().filter_map(|finding| finding.help.as_deref());
            let proposed = proposed.filter(|help| help.contains(&format!("with `--add {add}`"))).count() > 0;
            let accepted = added(&text, add);
            assert_eq!(
                (proposed, accepted.is_ok()),
                (expected.contains(&add), expected.contains(&add)),
                "{gpus:?} {add}"
            );
            accepted.into_iter().for_each(|import| check(&import));
        }
    }
}

#[test]
fn gpus_of_another_model_get_no_links() {
    // A third GPU that is a card, or of which the file says nothing.
    for other in [T4, ""] {
        let text = of_gpus(&[H100, H100, other]);
        // Two ways share nothing but the slots of 55.2 GB/s.
        assert!(warnings(&good(read(&text))).contains("at 55.2 GB/s per GPU"), "{}", warnings(&good(read(&text))));
        for add in ["nvswitch", "nvswitch=h100"] {
            let import = good(added(&text, add));
            assert_eq!(import.counts.nvlinks, 2 * 18);
            let warned = warnings(&import);
            assert!(warned.contains("GPUs 0000:03:00.0 get no links by `--add nvswitch`"), "{warned}");
        }
    }
    // Cards of the same chip: H100 PCIe.
    let cards = of_gpus(&[H100, H100]).replace("0x2330", "0x2331");
    let refusal = added(&cards, "nvswitch=h100").expect_err("is refused").to_string();
    assert!(refusal.contains("are or may be H100 SXM5 the dump has 0"), "{refusal}");
    // Of GPUs whose chip is another one none is taken for a named model.
    let refusal = added(&of_gpus(&[T4, T4]), "nvswitch=h100").expect_err("is refused").to_string();
    assert!(refusal.contains("are or may be H100 SXM5 the dump has 0"), "{refusal}");
}

#[test]
fn one_module_alone_has_nobody_to_be_joined_with() {
    for gpus in [&[H100][..], &[H100, T4]] {
        let import = good(read(&of_gpus(gpus)));
        assert!(!warnings(&import).contains("NVLink"), "{}", warnings(&import));
        let note = import.findings.iter().find(|finding| finding.message.contains("H100 SXM5")).expect("a note");
        assert!(note.message.contains("18 NVLinks are left out, as they lead to no GPU of the dump"), "{note}");
    }
}

#[test]
fn one_gpu_whose_links_are_down() {
    let gpu = |bus: u8, links: &str| {
        format!(
            "<pci busid=\"0000:{bus:02x}:00.0\" class=\"0x030200\" {H100} link_speed=\"32 GT/s\" link_width=\"16\"><gpu dev=\"{bus}\" \
             sm=\"90\">{links}</gpu></pci>"
        )
    };
    let switched = "<nvlink target=\"0000:90:00.0\" count=\"18\" tclass=\"0x068000\"/>";
    let text = [gpu(1, switched), gpu(2, switched), gpu(3, "")].concat();
    let warned = warnings(&good(read(&format!("<system version=\"1\"><cpu numaid=\"0\">{text}</cpu></system>"))));
    assert!(warned.contains("GPUs 0000:03:00.0 have no NVLink in the dump, others of their model"), "{warned}");
    assert!(!warned.contains("--add"), "{warned}");
}

#[test]
fn xgmi_that_is_missing() {
    let text = of_gpus(&[MI300X; 8]);
    let warned = warnings(&good(read(&text)));
    for words in [
        "xGMI is missing: GPUs 0000:01:00.0, ",
        "are MI300X, by device id or name, and have 7 xGMI links each, of which the dump has none: all-to-all",
        "carry 336 GB/s (7 x 48 GB/s each way",
        "--add xgmi",
        "RCCL",
    ] {
        assert!(warned.contains(words), "{words}: {warned}");
    }
    let import = good(added(&text, "xgmi"));
    assert_eq!((import.counts.xgmi, warnings(&import).as_str()), (8 * 7 / 2, ""));
    assert!(import.yaml.contains("  - { between: [gpu0, gpu7], type: xgmi-x1 }"), "{}", import.yaml);
    assert!(import.yaml.contains("xgmi-x1: { bandwidth: 48GB/s, kind: xgmi }"), "{}", import.yaml);
    let mi250x = warnings(&good(read(&of_gpus(&["vendor=\"0x1002\" device=\"0x7408\""; 8]))));
    assert!(mi250x.contains("are MI250X") && mi250x.contains("rocm-smi --showtopo"), "{mi250x}");
    let name = "Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X]";
    let tree = format!("-[0000:00]-+-01.0-[01]----00.0  {name}\n           \\-02.0-[02]----00.0  {name}\n");
    assert!(warnings(&good(read(&tree))).contains("are MI300X, by device id or name"));
    assert_eq!(good(added(&tree, "xgmi")).counts.xgmi, 1);
}

#[test]
fn a_file_with_generations_but_no_models() {
    // As AWS writes it for p5: `<gpu>` with a compute capability, no numbers of vendor and device.
    let gpu = |n: usize, sm: u16| {
        format!(
            "<pci busid=\"0000:{n:02x}:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"{n}\" \
             sm=\"{sm}\"/></pci>"
        )
    };
    let of = |sm: u16| format!("<system version=\"1\"><cpu numaid=\"0\">{}{}</cpu></system>", gpu(0, sm), gpu(1, sm));
    let warned = warnings(&good(read(&of(90))));
    assert!(warned.contains("NVLink may be missing: the file names no model of its 2 GPUs"), "{warned}");
    assert!(warned.contains("one of h100, h800, h20, h200)"), "what a chip of this generation can be: {warned}");
    assert_eq!(good(added(&of(90), "nvswitch=h100")).counts.nvlinks, 36);
    added(&of(90), "nvswitch=a100").expect_err("another generation");
    assert_eq!(warnings(&good(read(&of(89)))), "", "AD10x have no NVLink");
}

/// Lists of GPUs and ports of `lspci -Dvvnn`, two NUMA nodes with one board each.
fn superchips(gpus: &[(&str, u32, &str, &str)]) -> String {
    let one = |&(bus, numa, name, width): &(&str, u32, &str, &str)| {
        format!(
            "{bus}:01:00.0 3D controller [0302]: NVIDIA Corporation {name} (rev a1)\n\tNUMA node: {numa}\n\t\tLnkCap: Port #0, Speed \
             32GT/s, Width {width}\n\t\tLnkSta: Speed 32GT/s, Width {width}\n"
        )
    };
    gpus.iter().map(one).collect()
}

/// A GH200 has 10 links of 44.712 GB/s, a GPU of a GB200 half of them.
#[test]
fn chip_to_chip_links_that_are_missing() {
    let gh200 = "GH100 [GH200 120GB / 480GB] [10de:2342]";
    let list = superchips(&[("0009", 0, gh200, "x16"), ("0019", 1, gh200, "x16")]);
    let warned = warnings(&good(read(&list)));
    for words in [
        "NVLink-C2C is missing: GPUs 0009:01:00.0, 0019:01:00.0 are GH200",
        "have 10 chip-to-chip links each to their processor",
        "run over PCIe, at most at 55.2 GB/s; these links carry 447.12 GB/s (10 x 44.712 GB/s each way, as NCCL",
        "900 GB/s both ways",
        "--add c2c",
        "NVLink is missing: GPUs 0009:01:00.0, 0019:01:00.0 are GH200",
    ] {
        assert!(warned.contains(words), "{words}: {warned}");
    }
    let import = good(added(&list, "c2c"));
    assert!(!warnings(&import).contains("C2C"), "{}", warnings(&import));
    for line in [
        "  c2c: { bandwidth: 447.12GB/s, kind: nvlink }",
        "  - { between: [rc0, gpu0], type: c2c }",
        "  - { between: [rc1, gpu1], type: c2c }",
        "# assumed: `--add c2c`: 2 GPUs have 10 chip-to-chip links each to their processors",
    ] {
        assert!(import.yaml.contains(line), "{line}: {}", import.yaml);
    }
    assert!(import.yaml.contains("port0:"), "the way over the chip-to-chip link is the shorter one");
    // One lane is right beside such a link; a dump that has it lacks nothing.
    let narrow = warnings(&good(read(&superchips(&[("0009", 0, gh200, "x1")]))));
    assert!(narrow.contains("at most at 3.45 GB/s") && !narrow.contains("fewer than 8 lanes"), "{narrow}");
    let with = of_gpus(&[GH200])
        .replace("/>\n</cpu>", "><gpu dev=\"0\" sm=\"90\"><c2c bw=\"44712\" count=\"10\"/></gpu></pci></cpu>");
    assert_eq!(warnings(&good(read(&with))), "");
    let refusal = added(&with, "c2c").expect_err("is refused").to_string();
    assert!(refusal.contains("has chip-to-chip links already"), "{refusal}");
}

#[test]
fn chip_to_chip_links_beside_nvlink() {
    let gpus: String = (0..4).map(|n| format!("GPU {n}: NVIDIA GB200 (UUID: GPU-{n})\n")).collect();
    let row = |n: usize| {
        let cell = |m: usize| if n == m { "\tX" } else { "\tNV18" };
        format!("GPU{n}{}\t0-71\t{}\n", (0..4).map(cell).collect::<String>(), n / 2)
    };
    let matrix =
        format!("\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n{}", (0..4).map(row).collect::<String>());
    let smi = format!("{gpus}{matrix}");
    let warned = warnings(&good(read(&smi)));
    assert!(warned.contains("NVLink-C2C is missing: GPUs gpu0, gpu1, gpu2, gpu3 are GB200"), "{warned}");
    assert!(warned.contains("carry 223.56 GB/s (5 x 44.712") && !warned.contains("NVLink is missing"), "{warned}");
    let import = good(added(&smi, "c2c"));
    assert!(import.yaml.contains("c2c: { bandwidth: 223.56GB/s, kind: nvlink }"), "{}", import.yaml);
    assert_eq!((import.counts.nvlinks, import.yaml.matches("type: c2c }").count()), (4 * 18, 4));
    // Without names the user gives the model.
    let unnamed = good(added(&matrix, "c2c=gb200"));
    assert_eq!(unnamed.yaml.matches("type: c2c }").count(), 4, "{}", unnamed.yaml);
    added(&matrix, "c2c=h100").expect_err("has none");
    // A switch is added with all that the boards have.
    let import = good(added(&of_gpus(&[GB200; 4]), "nvswitch"));
    assert_eq!((import.counts.nvlinks, import.yaml.matches("type: c2c }").count()), (4 * 18, 4), "{}", import.yaml);
    assert_eq!(warnings(&import), "");
}
