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
