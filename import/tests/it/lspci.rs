//! The two forms of lspci's output: the tree by its columns, the list by the buses behind its bridges.
//!
//! `data/lspci-vv.txt` is written by hand in the form of `lspci -Dvvnn`: the cards of the real tree beside it, below a switch.

use crate::common::{check, read, sample, warnings};
use weir_import::Import;

const LIST: &str = include_str!("../data/lspci-vv.txt");

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

/// The lines of the tree.
fn tree(import: &Import) -> Vec<&str> {
    import.tree.lines().collect()
}

#[test]
fn the_list_is_a_tree_by_its_buses() {
    let import = good(LIST);
    let expected = [
        "rc0  NUMA node 0",
        "├─ cpu0  memory",
        "└─ plx0  0000:01:00.0  pcie5-x16  Broadcom / LSI PEX890xx PCIe Gen 5 Switch",
        "   ├─ gpu0  0000:03:00.0  pcie4-x16  NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]",
        "   ├─ gpu1  0000:04:00.0  pcie4-x8  NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]",
        "   └─ nic0  0000:05:00.0  pcie5-x16  Mellanox Technologies MT2910 Family [ConnectX-7]",
        "rc1  NUMA node 1",
        "├─ cpu1  memory",
        "├─ gpu2  0000:41:00.0  pcie4-x16  NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]",
        "└─ nic1  0000:42:00.0  pcie3-x8  Intel Corporation Ethernet Controller X710 for 10GBASE-T",
        "1 link between NUMA nodes  socket",
    ];
    assert_eq!(tree(&import), expected);
    assert_eq!(warnings(&import), "");
}

#[test]
fn a_link_is_what_both_ends_can() {
    // The speed that both can, the width that was trained: an idle GPU at 2.5 GT/s keeps 16 GT/s, one on 8 lanes has 8.
    let import = good(LIST);
    assert!(import.findings.iter().any(|f| f.message.contains("functions run below their highest speed")));
    // The port of 8 GT/s above a card of 16 GT/s decides, and the port of 32 GT/s above GPUs of 16 GT/s does not.
    assert!(import.yaml.contains("nic1: { kind: nic, link: pcie3-x8, bus_id: \"0000:42:00.0\" }"));
    assert!(import.yaml.contains("gpu2: { kind: gpu, link: pcie4-x16, engines: 2, bus_id: \"0000:41:00.0\" }"));
    // A port that tells nothing leaves what its card tells.
    let silent = LIST.replace("Speed 8GT/s, Width x8", "Speed unknown, Width x0");
    assert!(good(&silent).yaml.contains("nic1: { kind: nic, link: pcie4-x8,"), "{}", good(&silent).yaml);
}

#[test]
fn spellings_of_the_list() {
    let usual = good(LIST).yaml;
    let without_domain = LIST.replace("\n0000:", "\n");
    let without_domain = without_domain.strip_prefix("0000:").expect("begins with a domain");
    assert_eq!(good(without_domain).yaml, usual);
    assert_eq!(good(&LIST.replace('\n', "\r\n")).yaml, usual);
    // Tabs that a terminal made blanks of, and the words in brackets of other versions.
    assert_eq!(good(&LIST.replace('\t', "        ")).yaml, usual);
    assert_eq!(good(&LIST.replace(" (downgraded)", "").replace(" (ok)", "")).yaml, usual);
    let other_domain = good(&LIST.replace("0000:41:00.0 VGA", "10000:41:00.0 VGA"));
    assert!(other_domain.yaml.contains("bus_id: \"10000:41:00.0\""));
    // Lines that a narrow terminal cut keep what is left of them: here no width, then no speed either.
    let cut: String = LIST.lines().map(|line| line.chars().take(30).collect::<String>() + "\n").collect();
    assert_eq!(good(&cut).counts.gpus, 0, "the names are cut before the cards' numbers, the class is not");
}

#[test]
fn without_rights_nothing_is_told_of_links() {
    let text: String = LIST
        .lines()
        .filter(|line| !line.starts_with("\t\t") && !line.contains("Express"))
        .map(|line| format!("{line}\n"))
        .collect();
    let text = text.replace("\tControl:", "\tCapabilities: <access denied>\n\tControl:");
    let import = good(&text);
    assert_eq!((import.counts.gpus, import.counts.nics, import.counts.switches), (3, 2, 1));
    assert!(warnings(&import).contains("no function reports its link"), "{}", warnings(&import));
    assert!(warnings(&import).contains("sudo lspci -Dvv"));
    assert!(import.yaml.contains("gpu0: { kind: gpu, link: pcie4-x16-chip-assumed"));
    assert!(import.yaml.contains("link: pcie4-x16-assumed"), "the switch above carries no less: {}", import.yaml);
    // Without NUMA nodes all hang on one root complex.
    let import = good(&LIST.lines().filter(|l| !l.contains("NUMA")).map(|l| format!("{l}\n")).collect::<String>());
    assert_eq!(import.counts.roots, 1);
    assert!(import.findings.iter().any(|f| f.message.contains("devices without a NUMA node")));
}

/// Plain `lspci` has no lines of details.
#[test]
fn a_list_without_the_buses_behind_bridges_has_no_switches() {
    let plain: String =
        LIST.lines().filter(|l| !l.is_empty() && !l.starts_with('\t')).map(|l| format!("{l}\n")).collect();
    let import = good(&plain);
    assert_eq!((import.counts.gpus, import.counts.switches), (3, 0));
    let (bridges, warned) = (plain.matches("PCI bridge").count(), warnings(&import));
    assert!(warned.contains(&format!("the list has {bridges} bridges, but not which buses")), "{warned}");
    assert!(warned.contains("`sudo lspci -Dvvnn`") && warned.contains("`lspci -tv`"), "{warned}");
    assert!(!notes(&import).contains("are ports of switches"), "{}", notes(&import));
    // One bridge that tells its bus is enough.
    assert!(!warnings(&good(LIST)).contains("switches are missing"));
}

/// Firmware names the node of one device alone.
#[test]
fn the_only_numa_node_is_that_of_all() {
    let mut lines: Vec<&str> = LIST.lines().filter(|line| !line.contains("NUMA node:")).collect();
    let gpu = lines.iter().position(|line| line.starts_with("0000:03:00.0")).expect("is there");
    lines.insert(gpu + 1, "\tNUMA node: 4");
    let import = good(&lines.join("\n"));
    assert_eq!((import.counts.roots, import.counts.gpus), (1, 3));
    assert!(notes(&import).contains("are put on NUMA node 4, the only one in the list"), "{}", notes(&import));
    assert!(!notes(&good(LIST)).contains("the only one in the list"));
}

#[test]
fn displays_that_are_no_gpus() {
    // The ASPEED display of a management controller is none; Intel's graphics on bus 0 are none, its cards are.
    assert_eq!(good(LIST).counts.gpus, 3);
    let display = |id: &str, class: &str, name: &str| {
        format!("00:00.0 Host bridge [0600]: x [8086:1237]\n{id} {class}: {name}\n\tNUMA node: 0\n")
    };
    let gpus = |id: &str, class: &str, name: &str| good(&display(id, class, name)).counts.gpus;
    let (vga, other) = ("VGA compatible controller [0300]", "Display controller [0380]");
    assert_eq!(gpus("00:02.0", other, "Intel Corporation UHD Graphics 770 [8086:4680]"), 0);
    assert_eq!(gpus("00:02.0", vga, "Intel Corporation UHD Graphics 770 [8086:4680]"), 0);
    assert_eq!(gpus("29:00.0", other, "Intel Corporation Ponte Vecchio 1T [8086:0bda]"), 1);
    assert_eq!(gpus("03:00.0", vga, "ASPEED Technology, Inc. ASPEED Graphics Family [1a03:2000]"), 0);
    assert_eq!(gpus("03:00.0", vga, "Matrox Electronics Systems Ltd. G200eW3 [102b:0536]"), 0);
    // Without numbers the name tells, with `-n` the number alone.
    assert_eq!(gpus("03:00.0", "VGA compatible controller", "ASPEED Technology, Inc. ASPEED Graphics Family"), 0);
    assert_eq!(gpus("03:00.0", "VGA compatible controller", "NVIDIA Corporation AD102GL"), 1);
    assert_eq!(gpus("03:00.0", "0302", "10de:2330 (rev a1)"), 1);
    assert_eq!(gpus("03:00.0", "0300", "1a03:2000 (rev 41)"), 0);
    assert_eq!(gpus("c1:00.0", "Processing accelerators [1200]", "AMD Instinct MI300X [1002:74a1]"), 1);
}

#[test]
fn lists_with_holes() {
    let without = |id: &str| {
        let parts = LIST.split("\n\n").filter(|part| !part.starts_with(id));
        parts.collect::<Vec<_>>().join("\n\n")
    };
    // Without its downstream port a GPU is still within the switch's range of buses.
    let import = good(&without("0000:02:00.0"));
    assert!(warnings(&import).contains("no bridge to the buses 0000:03 is in the list"), "{}", warnings(&import));
    assert_eq!(import.counts.gpus, 3);
    let twice = good(&format!("{LIST}\n{LIST}"));
    assert!(warnings(&twice).contains("twice in the list: 0000:00:00.0, 0000:00:01.1"));
    let wrapped = LIST.replacen("NVIDIA Corporation ", "NVIDIA\nCorporation ", 1);
    let refusal = read(&wrapped).expect_err("is refused");
    assert!(refusal.message.contains("begins with no bus id"), "{refusal}");
    assert_eq!(refusal.line, Some(1 + LIST[..LIST.find("NVIDIA").expect("is there")].matches('\n').count() as u32 + 1));
}

#[test]
fn a_tree_that_is_cut_anywhere_is_refused() {
    let text = sample("lspci-tv-asus-esc8000a-e12-4gpu.txt");
    let lines: Vec<&str> = text.lines().collect();
    for end in 1..lines.len() {
        let refusal = read(&lines[..end].join("\n")).expect_err("is refused");
        assert_eq!(refusal.line, Some(end as u32), "{refusal}");
        assert!(refusal.help.is_some_and(|help| help.contains("cut")));
    }
    for start in 1..lines.len() {
        assert!(read(&lines[start..].join("\n")).is_err(), "from line {}", start + 1);
    }
    // The last branch of a bus is missing in the middle.
    for gone in 1..lines.len() {
        let mut rest = lines.clone();
        let line = rest.remove(gone);
        let last = line.trim_start_matches([' ', '|']).starts_with('\\');
        assert_eq!(read(&rest.join("\n")).is_err(), last || line.contains("-+-"), "line {}: {line}", gone + 1);
    }
}

#[test]
fn small_trees() {
    let one = good("-[0000:00]---01.0-[01]----00.0  NVIDIA Corporation GH100 [H100]\n");
    assert_eq!((one.counts.gpus, one.counts.bridges), (1, 1));
    let two = "-+-[0000:40]---01.0-[41]----00.0  NVIDIA Corporation GH100\n \\-[0000:00]-+-00.0  Host bridge\n             \\-02.0-[03-05]--\n";
    assert_eq!(good(two).counts.gpus, 1);
    let place = |text: &str| {
        let refusal = read(text).expect_err("is refused");
        (refusal.line, refusal.column)
    };
    assert_eq!(place("-+-[0000:40]---01.0-[41]----00.0  NVIDIA\n |-[0000:00]---00.0  x\n"), (Some(2), Some(3)));
    assert_eq!(place("-[0000:00]-+-01.0-[zz]----00.0  x\n"), (Some(1), Some(14)));
    assert_eq!(place("-[0000:00]-+-01.0-[01]--wrong  x\n"), (Some(1), Some(25)));
}

/// The lines of the list without those that begin with a word.
fn without_lines(word: &str) -> String {
    LIST.lines().filter(|line| !line.trim_start().starts_with(word)).map(|line| format!("{line}\n")).collect()
}

fn notes(import: &Import) -> String {
    import.findings.iter().map(|finding| format!("{}\n", finding.message)).collect()
}

#[test]
fn lines_of_a_terminal_are_counted() {
    let pasted = format!("user@host:~$ sudo lspci -Dvvnn\n\n{LIST}\nuser@host:~$ exit\n");
    assert!(notes(&good(&pasted)).contains("2 lines before or after the output of lspci"), "{}", notes(&good(&pasted)));
    assert!(!notes(&good(LIST)).contains("before or after"));
}

#[test]
fn links_below_their_highest_speed_are_counted() {
    let slow = LIST.lines().filter(|line| line.contains("LnkSta:") && line.contains("(downgraded), Width")).count();
    assert!(notes(&good(LIST)).contains(&format!("{slow} functions run below their highest speed")));
    // Without the present speed nothing is known to be below, and the links are reported all the same.
    let import = good(&without_lines("LnkSta:"));
    assert!(!notes(&import).contains("run below"), "{}", notes(&import));
    assert_eq!(warnings(&import), "");
}

#[test]
fn numa_nodes_are_below_1024() {
    let of = |numa: &str| good(&LIST.replace("NUMA node: 1\n", &format!("NUMA node: {numa}\n")));
    assert!(of("1023").yaml.contains("numa: 1023"));
    let import = of("1024");
    assert!(!import.yaml.contains("1024") && notes(&import).contains("devices without a NUMA node"));
    // A function that is no device of interest may say what it wants.
    let (before, audio) = LIST.split_once("0000:03:00.1").expect("is there");
    let audio = audio.replacen("NUMA node: 0", "NUMA node: 1", 1);
    assert_eq!(warnings(&good(&format!("{before}0000:03:00.1{audio}"))), "");
}

#[test]
fn a_bridge_leads_to_later_buses_up_to_its_last() {
    // Firmware leaves bridges without devices at secondary=00: they lead nowhere, though the GPU is on bus 0, too.
    let bridge = "00:01.0 PCI bridge [0604]: x [8086:1901]\n\tBus: primary=00, secondary=00, subordinate=00\n\t\t\
                  LnkCap: Port #0, Speed 2.5GT/s, Width x1\n\t\tLnkSta: Speed 2.5GT/s, Width x1\n";
    let gpu = "00:02.0 3D controller [0302]: NVIDIA Corporation x [10de:2330]\n\t\tLnkCap: Port #0, Speed 32GT/s, Width x16\n\t\t\
               LnkSta: Speed 32GT/s, Width x16\n";
    assert!(good(&format!("{bridge}{gpu}")).yaml.contains("gpu0: { kind: gpu, link: pcie5-x16,"));
    // The last bus of a switch's range still is below it.
    let parts = LIST.split("\n\n").filter(|part| !part.starts_with("0000:02:02.0"));
    let import = good(&parts.collect::<Vec<_>>().join("\n\n"));
    assert!(warnings(&import).contains("no bridge to the buses 0000:05 is in the list"));
    assert!(tree(&import).iter().any(|line| line.starts_with("   └─ nic0")), "{}", import.tree);
}

/// A function of `lspci -Dvvnn` with its link: what it can, and the lanes that it has.
fn function(id: &str, text: &str, express: &str, can: (&str, u8), lanes: u8, more: &str) -> String {
    let (speed, most) = can;
    format!(
        "{id} {text}\n{more}\tCapabilities: [58] Express (v2) {express}, MSI 00\n\t\tLnkCap:\tPort #0, Speed {speed}GT/s, Width x{most}\n\t\t\
         LnkSta:\tSpeed {speed}GT/s, Width x{lanes}\n\n"
    )
}

const PORT: &str = "PCI bridge [0604]: Advanced Micro Devices, Inc. [AMD] Device [1022:14db]";

fn port(id: &str, express: &str, can: (&str, u8), lanes: u8, buses: (&str, &str)) -> String {
    let more = format!("\tBus: primary=00, secondary={}, subordinate={}\n", buses.0, buses.1);
    function(id, PORT, express, can, lanes, &more)
}

/// Graphics inside AMD's processors have a bus of their own, in front of that of a card.
#[test]
fn graphics_inside_processors_are_no_gpus() {
    let card = "VGA compatible controller [0300]: NVIDIA Corporation GA102GL [A40] [10de:2235]";
    let list = |own: &str| {
        [
            port("0000:00:01.1", "Root Port (Slot+)", ("16", 16), 16, ("10", "10")),
            port("0000:00:08.1", "Root Port (Slot-)", ("16", 16), 16, ("0a", "0a")),
            function("0000:0a:00.0", own, "Legacy Endpoint", ("16", 16), 16, ""),
            function("0000:10:00.0", card, "Endpoint", ("16", 16), 16, ""),
        ]
        .concat()
    };
    let amd = "Advanced Micro Devices, Inc. [AMD/ATI]";
    for own in [
        format!(
            "VGA compatible controller [0300]: {amd} Cezanne [Radeon Vega Series / Radeon Vega Mobile Series] [1002:1638]"
        ),
        format!("VGA compatible controller [0300]: {amd} Device [1002:164e]"),
        format!("Display controller [0380]: {amd} Strix [Radeon 880M / 890M] [1002:150e]"),
        format!("VGA compatible controller: {amd} Raphael (rev c1)"),
        "0300: 1002:164e (rev c1)".to_owned(),
    ] {
        let import = good(&list(&own));
        assert_eq!(import.counts.gpus, 1, "{own}");
        assert!(
            tree(&import).contains(&"└─ gpu0  0000:10:00.0  pcie4-x16  NVIDIA Corporation GA102GL [A40]"),
            "{}",
            import.tree
        );
        assert!(
            notes(&import).contains("graphics inside processors, which do not count as GPUs: 0000:0a:00.0"),
            "{own}"
        );
    }
    // Cards of the same maker stay, also those of consoles' names.
    for own in [
        format!("VGA compatible controller [0300]: {amd} Navi 21 [Radeon RX 6800/6800 XT / 6900 XT] [1002:73bf]"),
        format!("Display controller [0380]: {amd} Vega 20 [Radeon Instinct MI50] [1002:66a1]"),
    ] {
        let import = good(&list(&own));
        assert_eq!(import.counts.gpus, 2, "{own}");
        assert!(
            import.yaml.contains("gpu0: { kind: gpu, link: pcie4-x16, engines: 1, bus_id: \"0000:10:00.0\" }"),
            "{}",
            import.yaml
        );
        assert!(
            notes(&import).contains("NVIDIA's come first, with the numbers of CUDA; gpu1 are the others'"),
            "{own}"
        );
    }
    let tree = format!(
        "-[0000:00]-+-01.1-[10]----00.0  NVIDIA Corporation GA102GL [A40]\n           \\-08.1-[0a]--+-00.0  {amd} Cezanne [Radeon Vega \
         Series]\n{:24}\\-00.1  {amd} Renoir Radeon High Definition Audio Controller\n",
        ""
    );
    let import = good(&tree);
    assert_eq!(import.counts.gpus, 1, "{}", import.tree);
    assert!(notes(&import).contains("do not count as GPUs: 0000:0a:00.0"), "{}", notes(&import));
    assert!(!notes(&import).contains("show neither a GPU"), "{}", notes(&import));
    let intel = "00:02.0 VGA compatible controller [0300]: Intel Corporation UHD Graphics 770 [8086:4680]\n";
    assert!(notes(&good(intel)).contains("do not count as GPUs: 0000:00:02.0"));
    // Other formats have the numbers alone; what RCCL lists itself is a GPU.
    let nccl = |inner: &str| {
        let own = format!(
            "<pci busid=\"0000:0a:00.0\" class=\"0x030000\" vendor=\"0x1002\" device=\"0x164e\" link_speed=\"16 GT/s\" link_width=\"16\">{inner}</pci>"
        );
        let text = format!("<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">{own}</cpu></system>");
        good(&text).counts.gpus
    };
    assert_eq!((nccl(""), nccl("<gpu dev=\"0\" sm=\"103\" gcn=\"gfx1036\"/>")), (0, 1));
}

/// A slot of four lanes: a GPU in it has four, and nothing is wrong.
#[test]
fn a_slot_of_few_lanes_is_no_doubt() {
    let gpu = |most: u8, lanes: u8| {
        let name = "VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204]";
        function("0000:04:00.0", name, "Legacy Endpoint", ("16", most), lanes, "")
    };
    let list = |root: u8, up: u8, down: u8, (most, lanes): (u8, u8)| {
        [
            port("0000:00:02.1", "Root Port (Slot+)", ("16", root), up.min(root), ("02", "04")),
            port("0000:02:00.0", "Upstream Port", ("16", up), up.min(root), ("03", "04")),
            port("0000:03:00.0", "Downstream Port (Slot+)", ("16", down), lanes, ("04", "04")),
            gpu(most, lanes),
        ]
        .concat()
    };
    let import = good(&list(4, 4, 4, (16, 4)));
    assert_eq!(warnings(&import), "");
    assert!(import.yaml.contains("pcie4-x4:") && !import.yaml.contains("doubtful"), "{}", import.yaml);
    // The slot has 16 lanes, of which four work.
    let warned = warnings(&good(&list(4, 4, 16, (16, 4))));
    assert!(warned.contains("GPUs 0000:04:00.0 report fewer than 8 lanes"), "{warned}");
    assert!(!warned.contains("management port"), "{warned}");
    // A card that has no more of its own.
    assert_eq!(warnings(&good(&list(4, 4, 16, (4, 4)))), "");
    // A switch on a slot of four lanes, with a GPU on 16 below it.
    assert_eq!(warnings(&good(&list(4, 4, 16, (16, 16)))), "");
    // A switch that says x4 of itself alone, in a slot of 16 lanes.
    let warned = warnings(&good(&list(16, 4, 16, (16, 16))));
    assert!(
        warned.contains("bridges 0000:02:00.0 report type `pcie4-x4-doubtful`") && warned.contains("width=16"),
        "{warned}"
    );
    // The port of a virtual machine says less than the card has.
    let virtual_port = [port("0000:00:02.1", "Root Port (Slot+)", ("2.5", 1), 1, ("04", "04")), gpu(16, 16)].concat();
    assert!(warnings(&good(&virtual_port)).contains("pcie1-x1-doubtful"), "{}", warnings(&good(&virtual_port)));
}
