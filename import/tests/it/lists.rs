//! lspci without numbers of classes: what a name tells, NUMA nodes and virtual functions.

use crate::common::{check, read, warnings};
use weir_import::{Import, Level};

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

fn found(import: &Import) -> (usize, usize, usize) {
    (import.counts.gpus, import.counts.nics, import.counts.fpgas)
}

fn notes(import: &Import) -> String {
    let notes = import.findings.iter().filter(|finding| finding.level == Level::Note);
    notes.map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn names_of_a_tree() {
    let one = |name: &str| good(&format!("-[0000:00]---01.0-[01]----00.0  {name}\n"));
    let of = |name: &str| found(&one(name));
    for name in [
        "Intel Corporation I350 Gigabit Network Connection",
        "Amazon.com, Inc. Elastic Network Adapter (ENA)",
        "Red Hat, Inc. Virtio network device",
        "Amazon.com, Inc. Elastic Fabric Adapter (EFA)",
    ] {
        assert_eq!(of(name), (0, 1, 0), "{name}");
    }
    for name in [
        "Advanced Micro Devices, Inc. [AMD/ATI] Device 74a1",
        "NVIDIA Corporation Device 2330",
        "NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204]",
        "NVIDIA Corporation GK210GL [Tesla K80]",
    ] {
        assert_eq!(of(name), (1, 0, 0), "{name}");
    }
    // An H100's NVSwitch, an audio function and a chip that no table has: told by bus id.
    for name in [
        "NVIDIA Corporation Device 22a3",
        "NVIDIA Corporation Device 22e8",
        "Advanced Micro Devices, Inc. [AMD/ATI] Device ffff",
    ] {
        let import = one(name);
        assert_eq!(found(&import), (0, 0, 0), "{name}");
        assert!(notes(&import).contains("show neither a GPU nor a network card: 0000:01:00.0"), "{}", notes(&import));
    }
    assert_eq!(of("Xilinx Corporation Alveo U250"), (0, 0, 1));
    assert!(!notes(&one("NVIDIA Corporation GA102 High Definition Audio Controller")).contains("show neither"));
}

#[test]
fn a_tree_without_names_is_refused() {
    let tree = |gpu: &str, audio: &str| {
        format!("-[0000:00]---01.0-[01]--+-00.0{gpu}\n                        \\-00.1{audio}\n")
    };
    for (gpu, audio) in [(" [10de:2204]", " [10de:1aef]"), ("  10de:2204", "  10de:1aef"), ("", "")] {
        let refusal = read(&tree(gpu, audio)).expect_err("is refused");
        assert!(
            refusal.message.contains("no names") && refusal.help.is_some_and(|help| help.contains("sudo lspci -Dvvnn"))
        );
    }
    assert_eq!(
        good(&tree("  NVIDIA Corporation GA102 [10de:2204]", "  NVIDIA Corporation GA102 Audio [10de:1aef]"))
            .counts
            .gpus,
        1
    );
}

#[test]
fn names_of_a_list() {
    let of = |id: &str, line: &str| found(&good(&format!("00:00.0 Host bridge: x\n{id} {line}\n\tNUMA node: 0\n")));
    assert_eq!(of("00:02.0", "Display controller: Intel Corporation UHD Graphics 770 (rev 0c)"), (0, 0, 0));
    assert_eq!(of("29:00.0", "Display controller: Intel Corporation Ponte Vecchio 1T"), (1, 0, 0));
    assert_eq!(of("02:00.0", "Processing accelerators: Xilinx Corporation Alveo U250"), (0, 0, 1));
    assert_eq!(of("02:00.0", "Processing accelerators: Xilinx Corporation Device 500c"), (0, 0, 1));
    assert_eq!(of("02:00.0", "Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Device 74a1"), (1, 0, 0));
    assert_eq!(
        of("02:00.0", "Processing accelerators: Habana Labs Ltd. HL-2000 AI Training Accelerator [Gaudi]"),
        (1, 0, 0)
    );
}

const LINK: &str = "\tCapabilities: [60] Express (v2) Endpoint\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16\n";

/// A root port, and a GPU below it.
fn port_and_gpu(port: &str, gpu: &str) -> Import {
    good(&format!(
        "00:01.0 PCI bridge: Intel Corporation Root Port\n{port}\tBus: primary=00, secondary=01, subordinate=01\n01:00.0 3D \
         controller: NVIDIA Corporation GH100\n{gpu}{LINK}"
    ))
}

#[test]
fn the_numa_node_of_a_tree() {
    let (one, zero) = ("\tNUMA node: 1\n", "\tNUMA node: 0\n");
    for (port, gpu, numa) in [("", one, "numa: 1"), (one, "", "numa: 1"), (zero, zero, "numa: 0")] {
        let import = port_and_gpu(port, gpu);
        assert_eq!((import.counts.roots, warnings(&import).as_str()), (1, ""));
        assert!(import.yaml.contains(numa), "{}", import.yaml);
    }
    let import = port_and_gpu(zero, one);
    assert!(
        warnings(&import).contains("0000:01:00.0 report another NUMA node than the root port"),
        "{}",
        warnings(&import)
    );
    assert!(import.yaml.contains("numa: 0"));
    assert!(!port_and_gpu("", "").yaml.contains("numa:"));
}

#[test]
fn virtual_functions_of_a_list() {
    let port = "00:01.0 PCI bridge: Intel Corporation Root Port\n\tBus: primary=00, secondary=41, subordinate=42\n";
    let own = format!("41:00.0 Ethernet controller: Mellanox Technologies MT28908 Family [ConnectX-6]\n{LINK}");
    let part = |id: &str, maker: &str| {
        format!("{id} Ethernet controller: {maker} MT28908 Family [ConnectX-6 Virtual Function]\n")
    };
    let parts = [part("41:00.2", "Mellanox Technologies"), part("42:00.0", "Mellanox Technologies")].concat();
    let import = good(&[port, &own, &parts].concat());
    assert_eq!(import.counts.nics, 1);
    assert!(
        notes(&import).contains("virtual functions of cards, whose link they share: 0000:41:00.2"),
        "{}",
        notes(&import)
    );
    assert_eq!(good(&[port, &parts].concat()).counts.nics, 2, "a virtual machine has nothing else");
    assert_eq!(good(&[port, &own, &part("42:00.0", "Other")].concat()).counts.nics, 2, "another maker's");
    let card = "0000:00:05.0 Ethernet controller: Mellanox Technologies MT28908\n";
    let alone = part("0001:01:00.0", "Mellanox Technologies");
    assert_eq!(good(&[card, &alone].concat()).counts.nics, 2, "on another bus");
}
