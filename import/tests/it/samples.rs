//! The dumps of real machines: what is in them is counted once more by plain queries, and every import is a topology.

use std::collections::BTreeMap;

use crate::common::{check, read, sample, samples, warnings};
use roxmltree::{Document, Node, ParsingOptions};
use weir_import::{Counts, Figures, Options, import};

fn document(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).expect("is XML")
}

fn count(document: &Document<'_>, fits: impl Fn(Node<'_, '_>) -> bool) -> usize {
    document.descendants().filter(|node| fits(*node)).count()
}

fn counts(file: &str) -> Counts {
    read(&sample(file)).expect("is read").counts
}

#[test]
fn every_sample_is_a_topology_twice_the_same() {
    for (name, bytes) in samples() {
        for figures in [Figures::Effective, Figures::Raw] {
            let options = Options { figures, ..Options::default() };
            let first = import(&bytes, &name, &options).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            check(&first);
            assert_eq!(import(&bytes, &name, &options).expect("is read"), first, "{name}");
        }
    }
}

#[test]
fn the_topologies_of_the_library_are_what_is_imported() {
    for (name, bytes) in samples() {
        let file = crate::common::folder().join(format!("../{name}.yaml"));
        let written = std::fs::read_to_string(file).expect("each dump has its topology");
        let imported = import(&bytes, &name, &Options::default()).expect("is read");
        // The command puts the arbiters on top, of which this crate does not know the parameters.
        let (head, topology) = written.split_at(written.find("# Which links").expect("begins with its question"));
        assert!(head.starts_with("# For scenarios on this machine:\n#   arbiter: {default: "), "{name}: {head}");
        assert_eq!(topology, imported.yaml, "make it anew: `weir import` with the dump {name}");
    }
}

#[test]
fn nccl_samples_have_what_their_elements_say() {
    let files =
        ["nccl-aws-p4d-24xl-8xA100", "nccl-azure-nd96-a100-v4", "nccl-oci-bm-8xH100", "rccl-8gpu-pcie-switches"];
    let gpus_nics_switches = files.map(|name| {
        let text = sample(&format!("{name}.xml"));
        let document = document(&text);
        let class = |prefix: &str| {
            count(&document, |node| {
                node.has_tag_name("pci") && node.attribute("class").is_some_and(|c| c.starts_with(prefix))
            })
        };
        let found = counts(&format!("{name}.xml"));
        assert_eq!(found.gpus, class("0x03"), "{name}");
        assert_eq!(found.nics, class("0x02"), "{name}");
        assert_eq!((found.switches, found.bridges), (class("0x0604"), class("0x0604")), "{name}");
        assert_eq!(found.roots, count(&document, |node| node.has_tag_name("cpu")), "{name}");
        assert_eq!(found.sockets, None, "{name}: NCCL tells NUMA nodes only");
        let links = document.descendants().filter(|node| node.has_tag_name("nvlink"));
        let links: u64 =
            links.map(|node| node.attribute("count").expect("a count").parse::<u64>().expect("a number")).sum();
        assert_eq!(found.nvlinks, links, "{name}");
        let mut pcie = BTreeMap::new();
        for node in document.descendants().filter(|node| node.has_tag_name("pci")) {
            let speed = node.attribute("link_speed").expect("a speed").split([' ', '.']).next().expect("a number");
            let generation = match speed {
                "5" => 2,
                "8" => 3,
                "16" => 4,
                "32" => 5,
                other => panic!("{other}"),
            };
            let width = node.attribute("link_width").expect("a width").parse().expect("a number");
            *pcie.entry((generation, width)).or_insert(0) += 1;
        }
        assert_eq!(found.pcie, pcie, "{name}");
        (found.gpus, found.nics, found.switches)
    });
    // The same as the table of the dumps says.
    assert_eq!(gpus_nics_switches, [(8, 4, 4), (8, 8, 4), (8, 8, 24), (8, 1, 10)]);
}

#[test]
fn hwloc_samples_have_what_their_objects_say() {
    for (name, bandwidth) in [("hwloc2-nvidia-dgx2-16xV100", 25_000), ("hwloc3-power8-4xP100-nvlink", 20_000)] {
        let text = sample(&format!("{name}.xml"));
        let document = document(&text);
        let has =
            |node: Node<'_, '_>, key: &str, value: &str| node.attribute(key).is_some_and(|v| v.starts_with(value));
        let found = counts(&format!("{name}.xml"));
        let gpus = |node: Node<'_, '_>| has(node, "type", "PCIDev") && has(node, "pci_type", "0302");
        assert_eq!(found.gpus, count(&document, gpus), "{name}");
        assert_eq!(
            found.nics,
            count(&document, |node| has(node, "type", "PCIDev") && has(node, "pci_type", "02")),
            "{name}"
        );
        assert_eq!(found.bridges, count(&document, |node| has(node, "bridge_type", "1-1")), "{name}");
        assert_eq!(
            found.roots,
            count(&document, |node| node.has_tag_name("object") && has(node, "type", "NUMANode")),
            "{name}"
        );
        let packages = count(&document, |node| node.has_tag_name("object") && has(node, "type", "Package"));
        assert_eq!((found.sockets, packages), (Some(2), 2), "{name}");
        let values: Vec<u64> = document
            .descendants()
            .filter(|node| has(*node, "name", "NVLinkBandwidth"))
            .flat_map(|matrix| matrix.children().filter(|part| part.has_tag_name("u64values")))
            .flat_map(|part| part.text().expect("values").split_whitespace())
            .map(|value| value.parse().expect("a number"))
            .filter(|&value| value != 1_000_000)
            .collect();
        // Each link stands in the matrix once for each of its two ends.
        assert_eq!(found.nvlinks, values.iter().sum::<u64>() / bandwidth / 2, "{name}");
    }
    assert_eq!(counts("hwloc2-nvidia-dgx2-16xV100.xml").nvlinks, 16 * 6);
    // A DGX-2 has two levels of switches: one per four GPUs, and below it one per two.
    assert_eq!(counts("hwloc2-nvidia-dgx2-16xV100.xml").switches, 4 + 8);
    assert_eq!(counts("hwloc2-nvidia-dgx2-16xV100.xml").pcie, BTreeMap::from([((3, 16), 28)]));
    assert_eq!(counts("hwloc3-power8-4xP100-nvlink.xml").pcie, BTreeMap::from([((3, 16), 4)]));
}

#[test]
fn text_samples_have_what_their_lines_say() {
    let found = counts("lspci-tv-asus-esc8000a-e12-4gpu.txt");
    let text = sample("lspci-tv-asus-esc8000a-e12-4gpu.txt");
    assert_eq!(found.gpus, text.lines().filter(|line| line.contains("RTX 6000")).count());
    // Two dual-port cards and an Ethernet card with two ports: the functions .0 are counted.
    let cards = |line: &&str| line.contains("00.0") && (line.contains("ConnectX") || line.contains("Ethernet"));
    assert_eq!((found.nics, text.lines().filter(cards).count()), (3, 3));
    let brackets = text.matches("-[").count() - text.matches("-[0000:").count();
    assert_eq!(found.bridges, brackets);
    let found = counts("nvidia-smi-topo-m-asus-esc8000a-e12-4gpu.txt");
    // Four GPUs and four ports in two groups that SYS parts; each pair of ports has PIX.
    assert_eq!((found.gpus, found.nics, found.roots, found.switches), (4, 4, 2, 2));
}

#[test]
fn traps_of_the_samples_are_told() {
    let h100 = read(&sample("nccl-oci-bm-8xH100.xml")).expect("is read");
    let warned = warnings(&h100);
    for words in [
        "0000:08:00.0",
        "0000:d1:00.0",
        "--set 'topology.link_types.pcie2-x16-doubtful={ generation: 5, width: 16, efficiency: 0.8759765625 }'",
    ] {
        assert!(warned.contains(words), "{words}: {warned}");
    }
    assert!(h100.yaml.contains("  nvlink4-x18: { bandwidth: 383.4GB/s, kind: nvlink }"), "{}", h100.yaml);
    assert!(h100.yaml.contains("  pcie5-x16: { generation: 5, width: 16, efficiency: 0.8759765625 }"));
    assert!(h100.yaml.contains("  socket: { bandwidth: 56GB/s, kind: qpi }"));
    let rccl = read(&sample("rccl-8gpu-pcie-switches.xml")).expect("is read");
    assert_eq!(warnings(&rccl), "", "bridges one generation below their GPUs are what that machine has");
    let power = read(&sample("hwloc3-power8-4xP100-nvlink.xml")).expect("is read");
    assert!(warnings(&power).contains("0002:01:00.0"), "root ports of 7.88 GB/s above GPUs of 15.75 GB/s");
    assert!(power.yaml.contains("nvlink1-x2: { bandwidth: 36GB/s, kind: nvlink }"));
}
