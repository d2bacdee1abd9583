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
        "nVidia Corporation GF100GL [Tesla T20 Processor]",
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

/// What a chip can, by its name or that of the card: PCIe of its generation.
#[test]
fn names_of_chips_tell_their_pcie() {
    for (name, kind) in [
        ("NVIDIA Corporation AD102 [GeForce RTX 4090]", "pcie4-x16"),
        ("NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]", "pcie4-x16"),
        ("NVIDIA Corporation GB202GL [RTX PRO 6000 Blackwell Server Edition]", "pcie5-x16"),
        ("NVIDIA Corporation GA102 [GeForce RTX 3090]", "pcie4-x16"),
        ("NVIDIA Corporation TU102GL [Quadro RTX 6000/8000]", "pcie3-x16"),
        ("NVIDIA Corporation GP102GL [Tesla P40]", "pcie3-x16"),
        ("NVIDIA Corporation GH100", "pcie5-x16"),
    ] {
        let import = good(&format!("-[0000:00]---01.0-[01]----00.0  {name}\n"));
        assert!(import.yaml.contains(&format!("{kind}-chip-assumed:")), "{name}:\n{}", import.yaml);
    }
    // Ids of a chip that no table has, which read like the numbers of products: of no generation.
    for name in [
        "NVIDIA Corporation GR100 [10de:3060]",
        "NVIDIA Corporation Device [10de:3090]",
        "NVIDIA Corporation Device 3070",
    ] {
        let import = good(&format!("-[0000:00]---01.0-[01]----00.0  {name}\n"));
        assert!(!import.yaml.contains("-chip-assumed:"), "{name}:\n{}", import.yaml);
    }
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

/// What `lscpu` writes of so many sockets and NUMA nodes.
fn lscpu(sockets: u32, nodes: u32) -> String {
    let cpus: String =
        (0..nodes).map(|node| format!("NUMA node{node} CPU(s):  {}-{}\n", node * 8, node * 8 + 7)).collect();
    format!(
        "Architecture:  x86_64\nVendor ID:  AuthenticAMD\nCPU family:  25\nModel:  17\nSocket(s):  {sockets}\nNUMA node(s):  {nodes}\n{cpus}"
    )
}

/// A list with a GPU on each of these NUMA nodes.
fn gpus_on(nodes: &[u32]) -> String {
    let gpu = |&node: &u32| {
        format!(
            "0000:{:02x}:00.0 3D controller [0302]: NVIDIA Corporation AD102GL [L40S] [10de:26b9]\n\tNUMA node: {node}\n\
             \tLnkCap: Port #0, Speed 16GT/s, Width x16\n\tLnkSta: Speed 16GT/s, Width x16\n",
            16 * node + 1
        )
    };
    nodes.iter().map(gpu).collect()
}

#[test]
fn sockets_that_are_cut_into_numa_nodes() {
    // NPS4: two sockets of four nodes, GPUs on three of the eight.
    let import = good(&(lscpu(2, 8) + &gpus_on(&[0, 3, 5])));
    assert_eq!((import.counts.sockets, import.counts.roots, import.counts.gpus), (Some(2), 8, 3));
    assert!((0..8).all(|node| import.yaml.contains(&format!("    numa: {node}\n"))), "{}", import.yaml);
    // Pairs of nodes: 6 in each socket, 16 between the two.
    let pairs = |kind: &str| import.tree.contains(kind);
    assert!(
        pairs("12 links between NUMA nodes  package") && pairs("16 links between NUMA nodes  socket"),
        "{}",
        import.tree
    );
    let assumed = import.findings.iter().find(|finding| finding.message.contains("4 lie in each of the 2 sockets"));
    assert_eq!(assumed.map(|finding| finding.level), Some(Level::Assumed));
    // One socket of two nodes; two sockets of one each; interleaved memory; a node of memory alone.
    let of = |text: String| {
        let import = good(&text);
        (
            import.counts.sockets,
            import.counts.roots,
            import.yaml.contains("type: socket"),
            import.yaml.contains("type: package"),
        )
    };
    assert_eq!(of(lscpu(1, 2) + &gpus_on(&[0])), (Some(1), 2, false, true));
    assert_eq!(of(lscpu(2, 2) + &gpus_on(&[1])), (Some(2), 2, true, false));
    assert_eq!(of(lscpu(2, 1) + &gpus_on(&[0])), (Some(2), 1, false, false));
    assert_eq!(of(lscpu(1, 1) + "NUMA node1 CPU(s):\n" + &gpus_on(&[0])), (Some(1), 1, false, false));
    // Three nodes of two sockets: nothing says which socket has two.
    assert_eq!(of(lscpu(2, 3) + &gpus_on(&[0, 2])), (Some(2), 3, true, false));
    // A list without root has no NUMA nodes: its devices may hang on any.
    let unknown = gpus_on(&[0]).replace("\tNUMA node: 0\n", "");
    assert_eq!(of(lscpu(2, 8) + &unknown), (Some(2), 1, false, false));
    assert!(good(&(lscpu(1, 1) + &unknown)).yaml.contains("    numa: 0\n"));
}

#[test]
fn affinities_to_several_numa_nodes() {
    let matrix = |affinities: [&str; 2], way: &str| {
        format!(
            "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t{way}\tPIX\t0-31,64-95\t{}\t\tN/A\n\
             GPU1\t{way}\t X \t{way}\t32-63,96-127\t{}\t\tN/A\nNIC0\tPIX\t{way}\t X \t\t\t\t\n",
            affinities[0], affinities[1]
        )
    };
    let numa = |import: &Import| {
        let lines = import.yaml.lines().filter_map(|line| line.strip_prefix("    numa: "));
        lines.map(|number| number.parse().expect("a number")).collect::<Vec<u32>>()
    };
    let told =
        |import: &Import| import.findings.iter().any(|finding| finding.message.contains("near to several NUMA nodes"));
    // NPS4: each socket has four nodes.
    let nps4 = good(&matrix(["0-3", "4-7"], "SYS"));
    assert_eq!((numa(&nps4), told(&nps4)), (vec![0, 4], true));
    // A virtual machine that shows both nodes for all.
    let both = good(&matrix(["0-1", "0-1"], "SYS"));
    assert_eq!((numa(&both), told(&both)), (vec![0, 1], true));
    let near = good(&matrix(["0-1", "0-1"], "PHB"));
    assert_eq!((numa(&near), near.counts.roots), (vec![0], 1));
    // NVLink hides the way: equal affinities are one node, others two.
    assert_eq!(good(&matrix(["0-1", "0-1"], "NV12")).counts.roots, 1);
    assert_eq!(good(&matrix(["0,2", "1,3"], "NV12")).counts.roots, 2);
    let plain = good(&matrix(["0", "1"], "SYS"));
    assert_eq!((numa(&plain), told(&plain)), (vec![0, 1], false));
    assert!(numa(&good(&matrix(["N/A", "0-x"], "SYS"))).is_empty());
    // With `lscpu` the nodes between have their memory, and lie in the same socket.
    let whole = good(&(lscpu(2, 8) + &matrix(["0-3", "4-7"], "SYS")));
    assert_eq!((whole.counts.sockets, whole.counts.roots), (Some(2), 8));
    assert!(whole.tree.contains("12 links between NUMA nodes  package"), "{}", whole.tree);
}

#[test]
fn affinities_whose_columns_are_empty() {
    // A machine whose nodes have processors that alternate: nvidia-smi leaves the CPU affinity of the first out.
    let text = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tNV18\t\t0\t\tN/A\nGPU1\tNV18\t X \t1\t1\t\tN/A\n";
    let import = good(text);
    assert_eq!(import.counts.roots, 2);
    assert!(import.yaml.contains("numa: 0") && import.yaml.contains("numa: 1"), "{}", import.yaml);
    let lost = good(&text.replace("NV18\t\t0", "NV18\t0-7\t0").replace(" X \t1\t1", " X 8-15\t1"));
    assert_eq!(lost.counts.roots, 2);
    // Drivers of 2021 put two tabs between the affinities, and had no further column.
    let old = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-7\t\t0\nGPU1\tSYS\t X \t8-15\t\t1\n";
    assert!(good(old).yaml.contains("numa: 1"), "{}", good(old).yaml);
    // Where no column tells NUMA nodes, the processors do, unless all are the same.
    let cpus = |last: &str| {
        good(&format!(
            "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\t X \tSYS\tSYS\t0-7\nGPU1\tSYS\t X \tSYS\t0-7\nGPU2\tSYS\tSYS\t X \t{last}\n"
        ))
    };
    assert_eq!((cpus("8-15").counts.roots, cpus("0-7").counts.roots), (2, 3));
}

/// Where a device belongs matters only beside another.
#[test]
fn a_lone_device_without_affinity_is_no_doubt() {
    let doubt = "does not show where";
    assert!(!warnings(&good("\tGPU0\nGPU0\t X \n")).contains(doubt));
    let pair = good("\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n");
    assert!(warnings(&pair).contains("does not show where GPU0, GPU1 belong"), "{}", warnings(&pair));
}

/// Those of one machine are some tens; 512 are read, and more are refused before their rows are.
#[test]
fn a_matrix_has_at_most_512_devices() {
    let message = |devices: usize| {
        let head: String = (0..devices).map(|n| format!("\tGPU{n}")).collect();
        read(&format!("{head}\tCPU Affinity\nGPU0\t X \n")).expect_err("rows are missing").message
    };
    assert_eq!(message(513), "more than 512 devices");
    assert!(!message(512).contains("more than"), "{}", message(512));
}

#[test]
fn a_virtual_machine_with_a_bus_for_each_device() {
    let row = |own: usize, numa: usize| {
        let cells: Vec<&str> = (0..5)
            .map(|other| {
                if other == own {
                    " X "
                } else if own + other == 4 && own.is_multiple_of(4) {
                    "PIX"
                } else {
                    "SYS"
                }
            })
            .collect();
        let name = if own < 4 { format!("GPU{own}") } else { "NIC0".to_owned() };
        let affinity = if own < 4 { format!("\t0-7\t{numa}\t\tN/A") } else { String::new() };
        format!("{name}\t{}{affinity}\n", cells.join("\t"))
    };
    let rows: String = [0, 0, 1, 1, 0].into_iter().enumerate().map(|(own, numa)| row(own, numa)).collect();
    let import = good(&format!("\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n{rows}"));
    assert_eq!((import.counts.roots, import.counts.gpus, import.counts.nics), (2, 4, 1));
    assert!(!warnings(&import).contains("contradicts"), "{}", warnings(&import));
    let assumed = import.findings.iter().find(|finding| finding.message.contains("SYS to others of the same affinity"));
    assert!(assumed.is_some_and(|finding| finding.message.starts_with("GPU0, GPU1, GPU2, GPU3 are")));
}

#[test]
fn models_beside_a_matrix() {
    let matrix = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-7\t0\nGPU1\tNV18\t X \t0-7\t0\n";
    let list = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n";
    let named = good(&format!("{list}{matrix}"));
    assert!(named.yaml.contains("nvlink4-x18: { bandwidth: 383.4GB/s, kind: nvlink }"), "{}", named.yaml);
    assert!(named.yaml.contains("# NVIDIA H100 80GB HBM3"), "{}", named.yaml);
    assert!(
        named.yaml.contains("gpu0: { kind: gpu, link: pcie5-x16-chip-assumed"),
        "the chip tells what its slot can be"
    );
    let plain = good(matrix);
    // The slowest GPU with 18 links is H100, with 21.3 GB/s each.
    assert!(plain.yaml.contains("nvlink-x18: { bandwidth: 383.4GB/s, kind: nvlink }"), "{}", plain.yaml);
    assert!(plain.yaml.contains("the slowest generation"), "{}", plain.yaml);
    assert!(
        plain.findings.iter().any(|finding| finding.help.as_ref().is_some_and(|help| help.contains("nvidia-smi -L")))
    );
    let all = good(&format!("{}{list}{matrix}", lscpu(1, 1)));
    assert!(all.yaml.contains("nvlink4-x18"), "the list is no part of the output of lscpu: {}", all.yaml);
    // The matrix of PCIe alone: what it leaves out is missing.
    let pcie = list.to_owned() + &matrix.replace("NV18", "SYS");
    let warned = warnings(&good(&pcie));
    assert!(warned.contains("NVLink is missing: GPUs gpu0, gpu1 are H100 SXM5"), "{warned}");
    let table = "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |\n\
                 |   1  NVIDIA H100 80GB HBM3          On  |   00000000:2D:00.0 Off |                    0 |\n";
    assert!(good(&format!("{table}{matrix}")).yaml.contains("bus_id: \"0000:2d:00.0\""));
}
