//! GPUs of the generations Fermi and Kepler: their PCIe and their copy engines; and the copy engines of all others.

use crate::common::{check, read, warnings};
use weir_import::Import;

/// GPUs of one device id and link below one NUMA node, as NCCL writes them.
fn gpus(number: usize, device: &str, link: &str) -> Import {
    let gpu = |n: usize| {
        format!(
            "<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"{device}\" {link}/>\n",
            n + 1
        )
    };
    let all: String = (0..number).map(gpu).collect();
    let import = read(&format!("<system version=\"1\"><cpu numaid=\"0\">\n{all}</cpu></system>\n"));
    let import = import.unwrap_or_else(|refusal| panic!("{refusal}"));
    check(&import);
    import
}

fn speed(speed: &str) -> String {
    format!("link_speed=\"{speed}\" link_width=\"16\"")
}

#[test]
fn the_remedy_is_the_generation_of_the_chip() {
    // Tesla M2090, K20m, K40m, K80, where the dump says no speed: what is written is the chip's.
    for (device, generation) in [("0x1091", 2), ("0x1028", 2), ("0x1023", 3), ("0x102d", 3)] {
        let warned = warnings(&gpus(2, device, &speed("")));
        assert!(warned.contains(&format!("type `pcie{generation}-x16-chip-assumed`")), "{device}: {warned}");
        assert!(!warned.contains("--set"), "{device}: {warned}");
    }
    // An idle GPU goes back to what it can do.
    for (device, generation) in [("0x1091", 2), ("0x1028", 2), ("0x1023", 3)] {
        let warned = warnings(&gpus(2, device, &speed("2.5 GT/s")));
        let remedy = match generation {
            2 => "--set topology.link_types.pcie1-x16-doubtful.generation=2",
            _ => "--set 'topology.link_types.pcie1-x16-doubtful={ generation: 3, width: 16",
        };
        assert!(warned.contains(remedy), "{device}: {warned}");
    }
    // 5 GT/s is all that these can.
    assert_eq!(warnings(&gpus(2, "0x1028", &speed("5.0 GT/s PCIe"))), "");
    assert!(warnings(&gpus(2, "0x1023", &speed("5.0 GT/s PCIe"))).contains("generation: 3"));
}

#[test]
fn engines_are_those_of_the_chip_or_one_for_each_other_gpu() {
    let finding = |import: &Import, words: &str| import.findings.iter().any(|f| f.message.contains(words));
    let k80 = gpus(4, "0x102d", &speed("8.0 GT/s PCIe"));
    assert_eq!(k80.yaml.matches("engines: 1,").count(), 4, "{}", k80.yaml);
    assert!(finding(&k80, "Fermi and Kepler") && !finding(&k80, "a copy engine for"));
    let a100 = gpus(4, "0x20b2", &speed("16.0 GT/s PCIe"));
    assert_eq!(a100.yaml.matches("engines: 3,").count(), 4, "{}", a100.yaml);
    assert!(finding(&a100, "`engines: 3` of GPUs: a copy engine for each other GPU") && !finding(&a100, "Kepler"));
    // A number of no known chip.
    let unknown = gpus(4, "0x3001", &speed("16.0 GT/s PCIe"));
    assert!(!unknown.yaml.contains("engines:") && finding(&unknown, "send one copy at a time"), "{}", unknown.yaml);
    let alone = gpus(1, "0x20b2", &speed("16.0 GT/s PCIe"));
    assert!(!alone.yaml.contains("engines:") && !finding(&alone, "a copy engine for"));
}

#[test]
fn other_tools_of_amd_are_named() {
    let rocminfo = "ROCk module is loaded\n=====================    \nHSA System Attributes    \n=====================    \n\
                    Runtime Version:         1.13\n==========               \nHSA Agents               \n==========               \n";
    let amd_smi = "ACCESS TABLE:\n             0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 ENABLED      ENABLED\n0000:22:00.0 ENABLED      \
                   ENABLED\n\nWEIGHT TABLE:\n             0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 0            15\n\nLINK TYPE TABLE:\n";
    for (text, tool, line) in [(rocminfo, "`rocminfo`", 3), (amd_smi, "`amd-smi topology`", 6)] {
        let refusal = read(text).expect_err("is refused");
        assert!(refusal.message.contains(tool), "{refusal}");
        assert_eq!(refusal.line, Some(line), "{refusal}");
        assert!(refusal.help.is_some_and(|help| help.contains("rocm-smi --showtopo")));
    }
}

#[test]
fn other_tools_of_nvidia_are_named() {
    let table = "Mon Nov 30 19:05:40 2026\n+-----+\n| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15 |\n+-----+\n";
    let nvlink = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n";
    for (text, tool, line) in [(table, "`nvidia-smi`", 3), (nvlink, "`nvidia-smi nvlink`", 2)] {
        let refusal = read(text).expect_err("is refused");
        assert!(refusal.message.contains(tool), "{refusal}");
        assert_eq!(refusal.line, Some(line), "{refusal}");
        assert!(refusal.help.is_some_and(|help| help.contains("nvidia-smi topo -m")));
    }
}

#[test]
fn the_text_of_lstopo_is_named() {
    let lstopo = "Machine (252GB total)\n  Package L#0\n    NUMANode L#0 (P#0 126GB)\n  HostBridge\n    PCIBridge\n      PCI 01:00.0 (3D)\n";
    for (text, line) in
        [(lstopo.to_owned(), 1), (format!("$ lstopo\n{}", lstopo.split_once('\n').expect("has lines").1), 2)]
    {
        let refusal = read(&text).expect_err("is refused");
        assert_eq!(
            (refusal.message.as_str(), refusal.line),
            ("this is the output of hwloc's `lstopo` as text", Some(line))
        );
        assert!(refusal.help.is_some_and(|help| help.contains("`lstopo --of xml machine.xml`")));
    }
    // Before a matrix it is no hindrance.
    let matrix = "\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tPIX\t X \n";
    assert_eq!(read(&format!("{lstopo}{matrix}")).expect("is read").counts.gpus, 2);
}
