//! Where numbers end, what counts as one, and what is said of what a dump does not tell.

use crate::common::{check, read, warnings};
use weir_import::{Addition, Import, Level, Options, import};

const LIST: &str = include_str!("../data/lspci-vv.txt");

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

fn of_level(import: &Import, level: Level) -> String {
    let found = import.findings.iter().filter(|finding| finding.level == level);
    found.map(|finding| format!("{finding}\n")).collect()
}

/// NCCL's form: processors with what is below them.
fn system(cpus: &str) -> String {
    format!("<system version=\"1\">\n{cpus}</system>\n")
}

fn cpu(attributes: &str, inner: &str) -> String {
    format!("<cpu {attributes}>\n{inner}</cpu>\n")
}

fn gpu(bus: u8, speed: &str, width: u8) -> String {
    format!(
        "<pci busid=\"0000:{bus:02x}:00.0\" class=\"0x030200\" link_speed=\"{speed} GT/s PCIe\" link_width=\"{width}\"/>\n"
    )
}

fn hwloc(nodes: &str, devices: &str) -> String {
    format!(
        "<topology version=\"2.0\">\n<object type=\"Machine\" gp_index=\"1\">\n{nodes}<object type=\"Bridge\" gp_index=\"5\" \
         bridge_type=\"0-1\">\n{devices}</object>\n</object>\n</topology>\n"
    )
}

fn hwloc_gpu(speed: &str) -> String {
    format!(
        "<object type=\"PCIDev\" gp_index=\"9\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:2330] [1:1] 00\" \
         pci_link_speed=\"{speed}\"/>\n"
    )
}

/// A section of `rocm-smi` with these rows.
fn rocm(title: &str, rows: &[&str]) -> String {
    let head: String = (0..rows.len()).map(|gpu| format!("GPU{gpu}         ")).collect();
    let rows: String = rows.iter().enumerate().map(|(gpu, row)| format!("GPU{gpu}   {row}\n")).collect();
    format!("=========== {title} ===========\n      {head}\n{rows}\n")
}

/// `nvidia-smi topo -m` without a column of NUMA nodes where `numa` is empty.
fn smi(rows: &[&str], numa: &str) -> String {
    let head: Vec<String> = (0..rows.len()).map(|gpu| format!("GPU{gpu}")).collect();
    let rows: String = rows.iter().enumerate().map(|(gpu, row)| format!("GPU{gpu}\t{row}\n")).collect();
    format!("\t{}\tCPU Affinity{numa}\n{rows}", head.join("\t"))
}

#[test]
fn numa_nodes_end_at_1023_in_every_format() {
    let of_nccl = |node: u32| good(&system(&cpu(&format!("numaid=\"{node}\""), &gpu(1, "16.0", 16))));
    assert!(of_nccl(1023).tree.contains("NUMA node 1023"));
    let warned = warnings(&of_nccl(1024));
    assert!(warned.contains("the NUMA number `1024` is none from 0 to 1023"), "{warned}");
    let of_hwloc = |node: u32| {
        let node = format!("<object type=\"NUMANode\" gp_index=\"3\" os_index=\"{node}\"/>\n");
        good(&hwloc(&node, &hwloc_gpu("31.507692"))).tree
    };
    assert!(of_hwloc(1023).contains("NUMA node 1023"));
    assert!(of_hwloc(1024).contains("NUMA node unknown"), "{}", of_hwloc(1024));
    let of_rocm = |node: u32| {
        let kinds = rocm("Link Type between two GPUs", &["0"]);
        good(&format!("{kinds}GPU[0]\t\t: (Topology) Numa Node: {node}\n")).tree
    };
    assert!(of_rocm(1023).contains("NUMA node 1023"));
    assert!(!of_rocm(1024).contains("NUMA node 1024"), "{}", of_rocm(1024));
}

/// Two elements of one node are a doubt; of two machines they are two nodes.
#[test]
fn a_numa_node_is_told_twice() {
    let twice = |first: &str, second: &str| {
        let text = system(&[cpu(first, &gpu(1, "16.0", 16)), cpu(second, &gpu(2, "16.0", 16))].concat());
        warnings(&good(&text)).contains("a second `<cpu>` with the same `numaid`")
    };
    assert!(twice("numaid=\"0\"", "numaid=\"0\""));
    assert!(!twice("numaid=\"0\"", "numaid=\"1\""));
    assert!(!twice("numaid=\"-1\"", "numaid=\"-1\""), "nodes without a number");
    assert!(!twice("numaid=\"0\" host_hash=\"0x1\"", "numaid=\"0\" host_hash=\"0x2\""));
}

/// A device of a PCI bus has functions 0 to 7: a time of a log with more is no bus id.
#[test]
fn functions_end_at_7() {
    let id =
        |function: u8| format!("01:00.{function} 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n");
    assert_eq!(good(&id(7)).counts.gpus, 1);
    assert!(read(&id(8)).is_err());
}

#[test]
fn affinities_of_one_side_alone_join_nobody() {
    // A virtual machine: every device SYS to every other one.
    let rows = ["X\tSYS\tSYS\t0-15\t0", "SYS\tX\tSYS\t0-15\tN/A", "SYS\tSYS\tX\t16-31\tN/A"];
    assert_eq!(good(&smi(&rows, "\tNUMA Affinity")).counts.roots, 3);
    // Where no node is known, processors decide.
    let rows = rows.map(|row| row.trim_end_matches("\tN/A").trim_end_matches("\t0"));
    assert_eq!(good(&smi(&rows, "")).counts.roots, 2);
}

/// NVLinks hide what is between two GPUs.
#[test]
fn processors_tell_the_node_of_gpus_with_nvlinks() {
    let roots = |second: &str| good(&smi(&["X\tNV4\t0-15", &format!("NV4\tX\t{second}")], "")).counts.roots;
    assert_eq!((roots("0-15"), roots("16-31")), (1, 2));
}

#[test]
fn the_nearer_of_two_cells_counts() {
    let kinds = rocm("Link Type between two GPUs", &["0  XGMI", "XGMI  0"]);
    let hops = |one: &str, other: &str| {
        let text = kinds.clone() + &rocm("Hops between two GPUs", &[&format!("0  {one}"), &format!("{other}  0")]);
        good(&text).counts.xgmi
    };
    assert_eq!([hops("1", "1"), hops("1", "2"), hops("2", "1"), hops("2", "2")], [1, 1, 1, 0]);
}

/// 236 of 256 bytes are payload in generation 6, and hwloc counts 242: 2.5 %, and 3 % are taken for one.
#[test]
fn a_bandwidth_is_one_of_generation_6_within_3_percent() {
    let exact = 64.0 * 16.0 / 8.0 * 236.0 / 256.0;
    let of = |off: f64| good(&hwloc("", &hwloc_gpu(&format!("{:.4}", exact / off)))).yaml;
    assert!(of(1.028).contains("pcie6-x16: {"), "{}", of(1.028));
    assert!(!of(1.034).contains("pcie6-x16: {"), "{}", of(1.034));
}

/// A GPU of 8 lanes is no doubt; with fewer it may have 16.
#[test]
fn lanes_are_in_doubt_below_8() {
    let warned = |width: u8| warnings(&good(&system(&cpu("numaid=\"0\"", &gpu(1, "2.5", width)))));
    assert!(warned(4).contains("width: 16"), "{}", warned(4));
    assert!(warned(8).contains("width: 8,"), "{}", warned(8));
}

/// A card without a speed may be as new as the newest of the machine; where it is taken for that, of generation 5.
#[test]
fn another_generation_is_proposed() {
    let warned = |speed: &str| {
        let devices = [gpu(1, "", 16).replace(" GT/s PCIe", ""), gpu(2, speed, 16)].concat();
        warnings(&good(&system(&cpu("numaid=\"0\"", &devices))))
    };
    assert!(warned("16.0").contains("generation: 4"), "{}", warned("16.0"));
    assert!(warned("8.0").contains("generation: 5"), "{}", warned("8.0"));
}

/// A switch with one device below it is one all the same: a port that leads up is none that leads down.
#[test]
fn a_switch_with_one_device_is_a_switch() {
    let mut is_kept = true;
    let few: String = LIST
        .lines()
        .filter(|line| {
            if line.starts_with("0000:") {
                let left_out = ["0000:02:01", "0000:02:02", "0000:04", "0000:05"];
                is_kept = !left_out.iter().any(|id| line.starts_with(id));
            }
            is_kept
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let import = good(&few);
    assert_eq!((import.counts.gpus, import.counts.switches), (2, 1), "{}", import.tree);
}

/// What no device of a list tells is no warning for each of them.
#[test]
fn links_that_a_list_lacks_are_assumed() {
    let kept = |line: &&str| !line.starts_with("\t\t") && !line.contains("Express");
    let import = good(&LIST.lines().filter(kept).map(|line| format!("{line}\n")).collect::<String>());
    assert!(import.yaml.contains("link: pcie4-x16-assumed"), "{}", import.yaml);
    assert!(!warnings(&import).contains("pcie4-x16-assumed"), "{}", warnings(&import));
    assert!(of_level(&import, Level::Assumed).contains("pcie4-x16-assumed"));
}

#[test]
fn devices_that_have_a_node_are_not_moved() {
    // One node, and every device has it.
    let import = good(&LIST.replace("NUMA node: 1", "NUMA node: 0"));
    assert_eq!(import.counts.roots, 1);
    assert!(!of_level(&import, Level::Assumed).contains("without a NUMA node"), "{:?}", import.findings);
}

/// Of a list without buses behind bridges these are counted, and nothing else.
#[test]
fn bridges_are_counted() {
    let bridge = |n: u8| format!("00:{n:02x}.0 PCI bridge: Intel Corporation Device 0000\n");
    let cards = "10:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB]\n";
    let import = good(&((1..4).map(bridge).collect::<String>() + cards));
    assert!(warnings(&import).contains("the list has 3 bridges,"), "{}", warnings(&import));
}

/// A processor without a name is named by the newest link of the tree.
#[test]
fn the_newest_link_names_the_processor() {
    let of = |first: &str, second: &str| {
        let devices = [gpu(1, first, 16), gpu(2, second, 16)].concat();
        good(&system(&[cpu("numaid=\"0\"", &devices), cpu("numaid=\"1\"", "")].concat())).yaml
    };
    let socket = |yaml: &str| yaml.lines().find(|line| line.contains("socket:")).map(str::to_owned);
    let (old, new) = (socket(&of("8.0", "8.0")), socket(&of("32.0", "32.0")));
    assert!(old.is_some() && old != new, "{old:?} {new:?}");
    assert_eq!([socket(&of("8.0", "32.0")), socket(&of("32.0", "8.0"))], [new.clone(), new]);
}

/// What is added says how many links each pair gets.
#[test]
fn xgmi_is_added_by_the_pair() {
    let pci = |bus: u8| {
        format!(
            "<pci busid=\"0000:{bus:02x}:00.0\" class=\"0x120000\" vendor=\"0x1002\" device=\"0x74a1\" link_speed=\"32.0 GT/s PCIe\" \
             link_width=\"16\"/>\n"
        )
    };
    let text = system(&cpu("numaid=\"0\"", &(1..9).map(pci).collect::<String>()));
    let options = Options { add: Some("xgmi".parse::<Addition>().expect("is one")), ..Options::default() };
    let import = import(text.as_bytes(), "x", &options).expect("is read");
    let assumed = of_level(&import, Level::Assumed);
    assert!(assumed.contains("8 GPUs have 1 xGMI link each to every other one, as a board of 8 MI300X"), "{assumed}");
}

/// Up to 50 findings of a kind are shown, and what is more is counted.
#[test]
fn findings_of_a_kind_are_shown_up_to_50() {
    let of = |links: usize| {
        let links = "<nvlink target=\"0000:02:00.0\" count=\"0\"/>\n".repeat(links);
        let gpu =
            format!("<pci busid=\"0000:01:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\">\n{links}</gpu></pci>\n");
        warnings(&read(&system(&cpu("numaid=\"0\"", &gpu))).expect("is read"))
    };
    let told = |warned: &str| warned.matches("count `0`").count();
    let others = of(50).lines().filter(|line| line.starts_with("warning")).count() - told(&of(50));
    assert!(told(&of(50)) + others >= 50 && !of(50 - others).contains("are not shown"), "{}", of(50 - others));
    assert!(of(51 - others).contains("1 more of this kind are not shown"), "{}", of(51 - others));
}
