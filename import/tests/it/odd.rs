//! What odd machines and pasted texts have: devices without a class, displays of servers, slow bridges, lines of a shell.

use crate::common::{check, read, warnings};
use weir_import::{Import, Level};

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

fn notes(import: &Import) -> String {
    let notes = import.findings.iter().filter(|finding| finding.level != Level::Warning);
    notes.map(|finding| format!("{finding}\n")).collect()
}

fn system(inner: &str) -> String {
    format!("<system version=\"1\">\n<cpu numaid=\"0\">\n{inner}</cpu>\n</system>\n")
}

fn pci(bus: u8, class: &str, ids: &str, speed: &str, width: u8, inner: &str) -> String {
    let link = format!("link_speed=\"{speed}\" link_width=\"{width}\"");
    format!("<pci busid=\"0000:{bus:02x}:00.0\" class=\"{class}\" {ids} {link}>{inner}</pci>\n")
}

#[test]
fn devices_of_no_class() {
    // A preset that names bus ids only shows no GPU: it is refused, with the line of the first.
    for class in ["", "class=\"\"", "class=\" \""] {
        let bare: String = (1..5).map(|bus| format!("<pci busid=\"0000:0{bus}:00.0\" {class}/>\n")).collect();
        let refusal = read(&system(&bare)).expect_err("shows no GPU");
        assert_eq!(refusal.line, Some(3));
        assert!(
            refusal.message.contains("no `class`")
                && refusal.help.is_some_and(|help| help.contains("NCCL_TOPO_DUMP_FILE"))
        );
    }
    let some = [pci(1, "0x030200", "", "16 GT/s", 16, ""), "<pci busid=\"0000:02:00.0\"/>\n".to_owned()].concat();
    let import = good(&system(&some));
    assert_eq!(import.counts.gpus, 1);
    assert!(warnings(&import).contains("without a class, which may be GPUs or network cards: 0000:02:00.0"));
    // What is known is no GPU: told with a remedy.
    let none = good(&system(&pci(1, "0x020000", "", "16 GT/s", 16, "")));
    assert!(warnings(&none).contains("no GPU in the dump\nhelp: "), "{}", warnings(&none));
}

#[test]
fn vendors_and_displays() {
    let gpus = |class: &str, vendor: &str, device: &str| {
        let ids = format!("vendor=\"{vendor}\" device=\"{device}\"");
        good(&system(&pci(1, class, &ids, "16 GT/s", 16, ""))).counts.gpus
    };
    assert_eq!(gpus("0x030200", "0x0000", "0x0000"), 1, "a virtual machine hides the vendor");
    assert_eq!(gpus("0x030000", "0x0000", "0x0000"), 1);
    assert_eq!(gpus("0x030000", "0x1002", "0x515e"), 0, "ES1000");
    assert_eq!(gpus("0x038000", "0x1a03", "0x2000"), 0, "ASPEED");
    assert_eq!(gpus("0x030000", "0x1002", "0x744c"), 1, "a Radeon");
}

/// Accelerators of other makers come behind all GPUs, and nothing is said of NVIDIA's numbers where there are none.
#[test]
fn makers_that_are_not_known_come_last() {
    let accelerator = |bus: u8, vendor: &str, device: &str| {
        pci(bus, "0x120000", &format!("vendor=\"{vendor}\" device=\"{device}\""), "16 GT/s", 16, "")
    };
    let (gaudi, mi300x) = (accelerator(1, "0x1da3", "0x1020"), accelerator(2, "0x1002", "0x74a1"));
    let trainium = accelerator(3, "0x1d0f", "0x7164");
    let h100 = pci(4, "0x030200", "vendor=\"0x10de\" device=\"0x2331\"", "32 GT/s", 16, "");
    let order = |import: &Import| -> Vec<u8> {
        let bus = |n: usize| {
            let line = import.yaml.lines().find(|line| line.trim_start().starts_with(&format!("gpu{n}:")));
            let (_, rest) = line.and_then(|line| line.split_once("0000:")).expect("a bus id");
            rest[..2].parse().expect("a bus")
        };
        (0..import.counts.gpus).map(bus).collect()
    };
    let others = good(&system(&[&*gaudi, &*mi300x, &*trainium].concat()));
    assert_eq!(order(&others), [2, 1, 3]);
    assert!(!notes(&others).contains("NVIDIA's come first"), "{}", notes(&others));
    let all = good(&system(&[gaudi, mi300x, trainium, h100].concat()));
    assert_eq!(order(&all), [4, 2, 1, 3]);
    assert!(notes(&all).contains("with the numbers of CUDA; gpu1, gpu2, gpu3 are the others'"), "{}", notes(&all));
}

fn hwloc(devices: &str, matrices: &str) -> String {
    format!(
        "<topology version=\"2.0\">\n<object type=\"Machine\" gp_index=\"1\">\n<object type=\"Bridge\" gp_index=\"5\" \
         bridge_type=\"0-1\">\n{devices}</object>\n</object>\n{matrices}</topology>\n"
    )
}

fn hwloc_device(bus: &str, kind: &str, speed: &str) -> String {
    format!(
        "<object type=\"PCIDev\" gp_index=\"9\" pci_busid=\"{bus}\" pci_type=\"{kind} [1:1] 00\" pci_link_speed=\"{speed}\"/>\n"
    )
}

#[test]
fn host_adapters_of_class_0c06() {
    let cards = [
        hwloc_device("0000:03:00.0", "0c06 [15b3:673c]", "4.0"),
        hwloc_device("0000:04:00.0", "0c06 [1077:7322]", "4.0"),
    ];
    let display = hwloc_device("0000:05:00.0", "0300 [1002:515e]", "0.0");
    let import = good(&hwloc(&[cards.concat(), display].concat(), ""));
    assert_eq!((import.counts.nics, import.counts.gpus), (2, 0), "{}", import.tree);
}

#[test]
fn matrices_that_are_not_used_are_named() {
    let gpu = hwloc_device("0000:03:00.0", "0302 [10de:1db4]", "15.753846");
    let matrix = |kind: &str, name: &str| {
        format!(
            "<distances2 type=\"{kind}\" nbobjs=\"2\" kind=\"5\" {name} indexing=\"os\"><indexes length=\"4\">0 1 </indexes><u64values length=\"12\">10 21 21 10 </u64values></distances2>\n"
        )
    };
    let import = good(&hwloc(&gpu, &matrix("NUMANode", "name=\"NUMALatency\"")));
    assert!(
        notes(&import).contains("line 7: the matrix of NUMA nodes (NUMALatency) is not used"),
        "{}",
        notes(&import)
    );
    let import = good(&hwloc(&gpu, &[matrix("NUMANode", ""), matrix("Core", "name=\"Other\"")].concat()));
    assert!(notes(&import).contains("(without a name)") && notes(&import).contains("line 8: the matrix (Other)"));
}

#[test]
fn bridges_far_below_their_devices() {
    let under = |speed: &str, width: u8, gpu: (&str, u8)| {
        let gpu = pci(2, "0x030200", "vendor=\"0x10de\" device=\"0x20b5\"", gpu.0, gpu.1, "<gpu dev=\"0\" sm=\"80\"/>");
        warnings(&good(&system(&pci(1, "0x060400", "", speed, width, &gpu))))
    };
    let narrow = under("8 GT/s", 4, ("16 GT/s", 16));
    assert!(
        narrow.contains("bridges 0000:01:00.0 report type `pcie3-x4-doubtful`, far below the PCIe 4.0 x16"),
        "{narrow}"
    );
    assert!(
        narrow.contains("pcie3-x4-doubtful={ generation: 4, width: 16, efficiency: 0.834716796875 }'`"),
        "{narrow}"
    );
    assert!(under("8 GT/s", 4, ("8 GT/s", 16)).contains("pcie3-x4-doubtful.width=16`"));
    assert_eq!(under("8 GT/s", 16, ("16 GT/s", 16)), "", "one generation is what boards have");
    assert_eq!(under("16 GT/s", 8, ("16 GT/s", 16)), "", "and half of the lanes");
    // A virtual machine reports 2.5 GT/s x1 of all: the GPU by its chip tells what the bridge lacks.
    let both = under("2.5 GT/s PCIe", 1, ("2.5 GT/s PCIe", 1));
    assert_eq!(
        both.matches("pcie1-x1-doubtful={ generation: 4, width: 16, efficiency: 0.834716796875 }'`").count(),
        2,
        "{both}"
    );
}

#[test]
fn links_inside_a_package() {
    // An MI250X, whose chip can PCIe 4.0, below the bridge inside its package, whose other side has 8 lanes.
    let gpu =
        pci(2, "0x038000", "vendor=\"0x1002\" device=\"0x7408\"", "32.0 GT/s PCIe", 16, "<gpu dev=\"0\" gcn=\"910\"/>");
    let import = good(&system(&pci(1, "0x060400", "vendor=\"0x1002\" device=\"0x14a0\"", "16.0 GT/s PCIe", 8, &gpu)));
    assert_eq!(warnings(&import), "", "its bridge is as fast as it should be");
    assert!(import.yaml.contains("gpu0: { kind: gpu, link: pcie4-x16"), "{}", import.yaml);
    assert!(import.findings.iter().any(|finding| finding.message.contains("0000:02:00.0 report a newer PCIe than")));
}

#[test]
fn the_remedy_for_a_bridge_of_a_virtual_machine_works() {
    // As IBM's H100 machines report: bridges of 2.5 GT/s x1 above devices of 32 GT/s and width 0.
    let gpu =
        pci(2, "0x030200", "vendor=\"0x10de\" device=\"0x2330\"", "32.0 GT/s PCIe", 0, "<gpu dev=\"0\" sm=\"90\"/>");
    let text = system(&pci(1, "0x060400", "vendor=\"0x104c\" device=\"0x8232\"", "2.5 GT/s PCIe", 1, &gpu));
    let settings = crate::overrides::settings(&good(&text));
    let of_bridge: Vec<_> = settings.into_iter().filter(|(key, _)| key.contains("pcie1-x1-doubtful")).collect();
    let set: Vec<&str> = of_bridge.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(set, ["{ generation: 5, width: 16, efficiency: 0.8759765625 }"]);
    let scenario = crate::overrides::load(&good(&text).yaml, of_bridge);
    let slowest = scenario.fabric.bandwidths().iter().copied().fold(f64::INFINITY, f64::min);
    assert!(slowest > 4e10, "{slowest}");
}

fn matrix(
    gpus: usize,
    row: impl Fn(usize, usize) -> &'static str,
    affinity: impl Fn(usize) -> &'static str,
    cards: usize,
) -> String {
    let names: Vec<String> =
        (0..gpus).map(|n| format!("GPU{n}")).chain((0..cards).map(|n| format!("NIC{n}"))).collect();
    let line = |i: usize| {
        let cells: String = (0..names.len()).map(|j| format!("{}\t", if i == j { " X " } else { row(i, j) })).collect();
        format!("{}\t{cells}{}\n", names[i], if i < gpus { affinity(i) } else { "" })
    };
    let rows: String = (0..names.len()).map(line).collect();
    format!("\t{}\tCPU Affinity\tNUMA Affinity\n{rows}", names.join("\t"))
}

#[test]
fn cards_that_are_far_from_all_invent_no_numa_nodes() {
    let node = |i: usize, j: usize| if i < 4 && j < 4 && i / 2 == j / 2 { "NODE" } else { "SYS" };
    let affinity = |i: usize| ["0-31\t0", "32-63\t1"][i / 2];
    let import = good(&matrix(4, node, affinity, 2));
    assert_eq!((import.counts.roots, import.counts.nics), (2, 2), "{}", import.tree);
    assert!(warnings(&import).contains("NIC0, NIC1 are SYS to all GPUs"), "{}", warnings(&import));
    assert!(!warnings(&import).contains("contradicts itself"), "{}", warnings(&import));
    // All GPUs on one node: the cards are on another one, which is one for both.
    let import = good(&matrix(2, |i, j| if i < 2 && j < 2 { "NODE" } else { "SYS" }, |_| "0-31\t0", 2));
    assert_eq!(import.counts.roots, 2, "{}", import.tree);
    let near = good(&matrix(2, |_, _| "NODE", |_| "0-31\t0", 2));
    assert_eq!((near.counts.roots, notes(&near).contains("SYS to all")), (1, false));
}

const LIST: &str = include_str!("../data/lspci-vv.txt");

#[test]
fn lines_of_a_shell_around_a_list() {
    let usual = good(LIST);
    for before in [
        "root@node7:~# lspci -Dvvnn\n",
        "$ sudo lspci -Dvvnn\n[sudo] password for ann: \n",
        "12:30:45.1 a log: line\nInfo: x\n\n",
    ] {
        let import = good(&format!("{before}{LIST}"));
        assert_eq!(import.yaml, usual.yaml, "{before}");
        assert!(notes(&import).contains("lines before or after the output of lspci"), "{}", notes(&import));
    }
    assert_eq!(good(&format!("{LIST}\nroot@node7:~# \n")).yaml, usual.yaml);
    let tree = "-[0000:00]---01.0-[01]----00.0  NVIDIA Corporation GH100 [H100 PCIe]\n";
    assert_eq!(good(&format!("ann@node7:~$ lspci -tv\n{tree}ann@node7:~$\n")).yaml, good(tree).yaml);
    // Places of errors are those of the file.
    let refusal = read(&format!("$ lspci\n\n{}", LIST.replacen("NVIDIA Corporation ", "NVIDIA\nCorporation ", 1)))
        .expect_err("wrapped");
    let line = LIST[..LIST.find("NVIDIA").expect("is there")].matches('\n').count() as u32 + 2;
    assert_eq!(refusal.line, Some(line + 2));
    assert!(read("ann@node7:~$ lspci -tv\nnothing\n").is_err());
}

#[test]
fn lscpu_beside_names_the_processor() {
    let lscpu = "Architecture:             x86_64\n  CPU op-mode(s):         32-bit, 64-bit\nCPU(s):                   128\nVendor ID:                GenuineIntel\n  \
                 Model name:             Intel(R) Xeon(R) Platinum 8480C\n    CPU family:           6\n    Model:                143\nNUMA:\n  \
                 NUMA node(s):           2\n";
    let usual = good(LIST);
    assert!(usual.yaml.contains("does not name the processor"));
    let before = good(&format!("{lscpu}{LIST}"));
    assert!(
        before.yaml.contains("kind: qpi") && !before.yaml.contains("does not name the processor"),
        "{}",
        before.yaml
    );
    assert_eq!(good(&format!("{LIST}\n$ lscpu\n{lscpu}")).yaml, before.yaml);
    assert_eq!(good(&format!("$ lscpu\n{lscpu}$ lspci\n{LIST}")).yaml, before.yaml);
    let smi = matrix(2, |_, _| "SYS", |i| ["0-31\t0", "32-63\t1"][i], 0);
    assert!(good(&smi).yaml.contains("socket: { bandwidth: 16GB/s"));
    assert!(good(&format!("{lscpu}\n{smi}")).yaml.contains("socket: { bandwidth: 56GB/s"));
}

/// Its keys are other words there.
#[test]
fn lscpu_in_another_language_is_told() {
    assert!(!warnings(&good(LIST)).contains("lscpu"));
    for head in ["Architektur:                         x86_64\n", "架构：                              aarch64\n"] {
        for text in [
            format!("{LIST}{head}Anbieterkennung:   GenuineIntel\n"),
            format!("{head}Byte-Reihenfolge:  Little\n{LIST}"),
        ] {
            let import = good(&text);
            let warned = warnings(&import);
            assert!(warned.contains("`lscpu` in another language than English is not read"), "{warned}");
            assert!(import.yaml.contains("does not name the processor"), "{}", import.yaml);
        }
    }
}

#[test]
fn gpus_are_numbered_by_bus_id() {
    // A tree lists the last root complex first, and a preset has its own order.
    let tree = "-+-[0000:80]---01.0-[81]----00.0  NVIDIA Corporation GH100 [H100 PCIe]\n \\-[0000:00]---01.0-[01]----00.0  NVIDIA Corporation GH100 [H100 PCIe]\n";
    let import = good(tree);
    assert!(
        import.yaml.contains("gpu0: { kind: gpu, link: pcie5-x16-chip-assumed, engines: 1, bus_id: \"0000:01:00.0\" }"),
        "{}",
        import.yaml
    );
    let preset: String = [3, 1, 2].map(|bus| pci(bus, "0x030200", "", "16 GT/s", 16, "")).concat();
    assert!(good(&system(&preset)).yaml.contains("gpu2: { kind: gpu, link: pcie4-x16, bus_id: \"0000:03:00.0\" }"));
    let numbered: String =
        [3, 1].map(|bus| pci(bus, "0x030200", "", "16 GT/s", 16, &format!("<gpu dev=\"{}\"/>", 3 - bus))).concat();
    assert!(good(&system(&numbered)).yaml.contains("gpu0: { kind: gpu, link: pcie4-x16, bus_id: \"0000:03:00.0\" }"));
}

/// NCCL lists every interface that has an address.
#[test]
fn interfaces_of_software_are_no_cards() {
    let nic = |names: &[&str]| {
        let nets: String = names.iter().map(|name| format!("<net name=\"{name}\" speed=\"10000\"/>")).collect();
        good(&system(&format!("<nic>{nets}</nic>")))
    };
    let import = nic(&["br-0a1b", "veth12", "docker0", "virbr0"]);
    assert_eq!(import.counts.nics, 0);
    assert!(import.findings.iter().any(|f| f.message.contains("interfaces of containers")), "{:?}", import.findings);
    // A card of its own beside them is one; so is a name that only contains the word.
    assert_eq!((nic(&["br-0a1b", "eth0"]).counts.nics, nic(&["bridge0"]).counts.nics), (1, 1));
}

/// As `topo -p2p r` prints it: whether GPUs reach each other.
#[test]
fn capabilities_are_no_topology() {
    for cell in ["OK", "CNS", "NS"] {
        let text = format!(" \tGPU0\tGPU1\t\n GPU0\tX\t{cell}\t\n GPU1\t{cell}\tX\t\n\nLegend:\n  X    = Self\n");
        let refusal = read(&text).expect_err("is refused");
        assert!(refusal.message.contains("nvidia-smi topo -p2p"), "{refusal}");
        assert_eq!(refusal.line, Some(2));
        assert!(refusal.help.is_some_and(|help| help.contains("nvidia-smi topo -m")));
    }
}
