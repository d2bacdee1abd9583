//! The output of `rocm-smi --showtopo`, of several versions and with other options beside it.

use std::fmt::Write;

use crate::common::{check, read, warnings};
use weir_import::{Format, Import, Level, Options, Refusal, import};

/// All sections, and `lscpu` before them; four GPUs of which two pairs are not joined directly. Made up.
const ALL: &str = include_str!("../data/rocm-smi.txt");

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    assert_eq!(import.format, Format::RocmSmi);
    import
}

fn refused(text: &str) -> Refusal {
    let refusal = read(text).expect_err("is refused");
    assert!(
        refusal.help.as_ref().is_some_and(|help| help.contains("rocm-smi") || help.contains("one machine")),
        "{refusal}"
    );
    refusal
}

fn of_level(import: &Import, level: Level) -> String {
    let found = import.findings.iter().filter(|finding| finding.level == level);
    found.map(|finding| format!("{finding}\n")).collect()
}

/// A section with one word between all GPUs.
fn section(title: &str, gpus: usize, word: &str) -> String {
    let mut text = format!("=========== {title} ===========\n      ");
    (0..gpus).for_each(|gpu| write!(text, "GPU{gpu:<9}").expect("a text"));
    for row in 0..gpus {
        write!(text, "\nGPU{row:<3}").expect("a text");
        (0..gpus).for_each(|column| write!(text, "{:<12}", if row == column { "0" } else { word }).expect("a text"));
    }
    text + "\n\n"
}

fn kinds(gpus: usize, word: &str) -> String {
    section("Link Type between two GPUs", gpus, word)
}

fn nodes(nodes: &[&str]) -> String {
    let mut text = "================== Numa Nodes ==================\n".to_owned();
    for (gpu, node) in nodes.iter().enumerate() {
        writeln!(text, "GPU[{gpu}]\t\t: (Topology) Numa Node: {node}").expect("a text");
    }
    text
}

#[test]
fn all_sections() {
    let import = good(ALL);
    assert_eq!((import.counts.gpus, import.counts.roots, import.counts.sockets), (4, 2, Some(2)));
    // Two pairs of four links, two of one; the others have several hops.
    assert_eq!(import.counts.xgmi, 10);
    for line in [
        "xgmi-x4: { bandwidth: 144GB/s, kind: xgmi }",
        "xgmi-x1: { bandwidth: 36GB/s, kind: xgmi }",
        "socket: { bandwidth: 41GB/s, kind: xgmi }",
        "gpu2: { kind: gpu, link: pcie4-x16-chip-assumed, engines: 3, bus_id: \"0000:a9:00.0\" }",
    ] {
        assert!(import.yaml.contains(line), "{line}\n{}", import.yaml);
    }
    assert!(of_level(&import, Level::Note).contains("4 pairs have the links"), "{:?}", import.findings);
    let warned = warnings(&import);
    assert!(
        warned.contains("the tree is a guess")
            && warned.contains("xGMI joins gpu0 and gpu3, gpu1 and gpu2 only over other GPUs")
            && warned.lines().filter(|line| line.starts_with("warning")).count() == 2,
        "{warned}"
    );
}

#[test]
fn neighbours_without_bandwidths() {
    let without = ALL.split("======================================= Bandwidth").next().expect("a part");
    let weights = good(without);
    assert_eq!(weights.counts.xgmi, 4, "a weight of 30 are two hops");
    assert!(warnings(&weights).contains("several links to some and none to others"), "{}", warnings(&weights));
    // Bandwidths of 0-0 everywhere tell nothing.
    let zeros = ALL.replace("50000-200000", "0-0").replace("50000-50000", "0-0");
    assert_eq!(good(&zeros).counts.xgmi, 4);
    let alone = good(&kinds(3, "XGMI"));
    assert_eq!(alone.counts.xgmi, 3);
    assert!(warnings(&alone).contains("neither weights nor hops"));
    let far = kinds(3, "XGMI") + &section("Hops between two GPUs", 3, "2");
    assert_eq!(good(&far).counts.xgmi, 0);
}

#[test]
fn models_of_each_version() {
    let topology = kinds(8, "XGMI")
        + &section("Hops between two GPUs", 8, "1")
        + &nodes(&["0", "0", "0", "0", "1", "1", "1", "1"]);
    let nameless = good(&topology);
    assert!(warnings(&nameless).contains("carries 24 GB/s, RCCL's figure"), "{}", warnings(&nameless));
    assert!(nameless.tree.contains("rc1  NUMA node 1"), "{}", nameless.tree);
    let with = |line: fn(usize) -> String| good(&((0..8).map(line).collect::<String>() + &topology));
    let table = with(|gpu| format!("{gpu}       2     0x74a1,   1017   43.0°C      155.0W    NPS1, SPX, 0\n"));
    let old = with(|gpu| format!("GPU[{gpu}]\t\t: Card series: \t\tInstinct MI300X\n"));
    for import in [table, old] {
        assert!(import.yaml.contains("xgmi-x1: { bandwidth: 48GB/s, kind: xgmi }"), "{}", import.yaml);
        assert_eq!(import.counts.xgmi, 28);
        assert!(of_level(&import, Level::Assumed).contains("28 pairs get one link each"));
        assert!(!warnings(&import).contains("xGMI"), "{}", warnings(&import));
    }
}

#[test]
fn pcie_alone() {
    let topology = kinds(2, "PCIE") + &nodes(&["3", "1"]);
    let import = good(&topology);
    assert_eq!((import.counts.xgmi, import.counts.roots), (0, 2));
    assert!(!warnings(&import).contains("missing"), "{}", warnings(&import));
    let named = "GPU[0] : Card Model: 0x74a1\nGPU[1] : Card Model: 0x74a1\n".to_owned() + &topology;
    assert!(warnings(&good(&named)).contains("xGMI is missing"), "{}", warnings(&good(&named)));
    let options = Options { add: Some("xgmi".parse().expect("an addition")), ..Options::default() };
    assert_eq!(import_with(&named, options).counts.xgmi, 1);
}

fn import_with(text: &str, options: Options) -> Import {
    let import = import(text.as_bytes(), "x", &options).expect("is read");
    check(&import);
    import
}

#[test]
fn numa_nodes() {
    let roots = |list: &[&str]| good(&(kinds(3, "PCIE") + &nodes(list)));
    let lost = "GPU1, GPU2: they are put on the first root complex";
    // A node that is not known is -1, also as a number of 32 bits.
    let import = roots(&["2", "-1", "4294967295"]);
    assert_eq!(import.counts.roots, 1);
    assert!(warnings(&import).contains(lost), "{}", warnings(&import));
    assert!(warnings(&roots(&[])).contains("GPU0, GPU1, GPU2: they are put"));
    let affinity =
        kinds(1, "PCIE") + "GPU 0          : (Topology) Numa Node: -1\nGPU 0          : (Topology) Numa Affinity: 5\n";
    assert!(good(&affinity).tree.contains("NUMA node 5"));
    let both = kinds(1, "PCIE") + &nodes(&["1"]) + "GPU[0] : (Topology) Numa Affinity: 0\n";
    assert!(of_level(&good(&both), Level::Assumed).contains("GPU0 have another NUMA affinity"));
}

#[test]
fn odd_cells() {
    let unlike = kinds(2, "XGMI").replacen("XGMI", "PCIE", 1);
    let import = good(&unlike);
    assert_eq!(import.counts.xgmi, 1);
    assert!(warnings(&import).contains("differ: GPU0 and GPU1"), "{}", warnings(&import));
    for unknown in ["XXXX", "0"] {
        assert!(warnings(&good(&kinds(2, unknown))).contains("no link type between GPU0 and GPU1"));
    }
    let apart = kinds(2, "PCIE") + &section("Link accessibility between two GPUs", 2, "False");
    assert!(of_level(&good(&apart), Level::Note).contains("GPU0 and GPU1 do not reach"));
    let others = kinds(2, "XGMI") + &section("Hops between two GPUs", 3, "1");
    assert!(warnings(&good(&others)).contains("section of hops has other GPUs"));
    let errors = kinds(2, "XGMI").replace("\nGPU1", "\nERROR: GPU[0]\t: Cannot read Link Type\nGPU1");
    assert_eq!(good(&errors).counts.xgmi, 1);
    assert!(warnings(&good(&(kinds(2, "XGMI") + &kinds(3, "XGMI")))).contains("a second section of link types"));
    let parts = "GPU[0] : PCI Bus: 0000:05:00.0\nGPU[1] : PCI Bus: 0000:05:00.0\n".to_owned() + &kinds(2, "PCIE");
    assert!(warnings(&good(&parts)).contains("GPU1 have the bus id of another GPU"));
}

#[test]
fn what_is_refused() {
    let head = "===== ROCm System Management Interface =====\n";
    let weights =
        head.to_owned() + &section("Weight between two GPUs", 2, "15") + &section("Hops between two GPUs", 2, "1");
    let refusal = refused(&weights);
    assert!(
        refusal.message.ends_with("no section `Link Type between two GPUs`, only that of weights and of hops"),
        "{refusal}"
    );
    assert_eq!(refusal.line, Some(1));
    assert!(refused(head).message.ends_with("two GPUs`"));
    let json = r#"{"system": {"(Topology) Link type between DRM devices 0 and 1": "XGMI"}}"#;
    assert!(refused(json).message.contains("JSON"));
    let cut = kinds(3, "XGMI");
    let cut = &cut[..cut.len() - 14];
    assert_eq!(refused(cut).to_string(), "line 5: the row of GPU2 has 2 cells, the head of the matrix 3");
    let lines = |skip: usize| {
        let text = kinds(3, "XGMI");
        let kept: Vec<&str> = text.lines().enumerate().filter(|(at, _)| *at != skip).map(|(_, line)| line).collect();
        refused(&kept.join("\n")).to_string()
    };
    assert_eq!(lines(1), "line 2: a matrix without its head `GPU0 GPU1 …`");
    assert_eq!(lines(3), "line 2: the row of GPU1 is missing");
    let own = kinds(2, "XGMI").replacen("0           ", "XGMI        ", 1);
    assert!(refused(&own).to_string().contains("`XGMI` in the row of GPU0, the column of GPU0"), "{}", refused(&own));
    assert!(refused(&kinds(2, "NV12")).message.contains("`NV12`"));
    assert!(refused(&kinds(2, "XGMI").replacen("GPU1", "GPU0", 1)).message.contains("twice"));
    assert!(refused(&kinds(2, "XGMI").replace("\nGPU1", "\nGPU7")).message.contains("GPU7"));
    assert!(refused(&kinds(513, "XGMI")).message.contains("more than 512"));
    let options = Options { format: Some(Format::RocmSmi), ..Options::default() };
    let other = import(b"GPU0 GPU1\n", "x", &options).expect_err("is refused");
    assert_eq!(other.message, "no output of rocm-smi");
}
