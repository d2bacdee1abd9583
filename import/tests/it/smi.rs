//! Matrices of `nvidia-smi topo -m`: where NVLinks lead, which GPUs are modules, and what the memory of GPUs tells.

use crate::common::{check, read, warnings};
use weir_import::{Import, Options, import};

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

/// All findings in one text.
fn all(import: &Import) -> String {
    import.findings.iter().map(|finding| format!("{finding}\n")).collect()
}

/// A matrix of GPUs that all have so many NVLinks to each other, with a name for each where there is one.
fn joined(gpus: usize, links: u32, name: &str) -> String {
    let list = |n: usize| format!("GPU {n}: {name} (UUID: GPU-{n})\n");
    let names = || (0..gpus).map(|n| format!("\tGPU{n}")).collect::<String>();
    let row = |n: usize| {
        let cells = (0..gpus).map(|m| if n == m { "\t X ".to_owned() } else { format!("\tNV{links}") });
        format!("GPU{n}{}\t0-31\t0\t\tN/A\n", cells.collect::<String>())
    };
    let list: String = if name.is_empty() { String::new() } else { (0..gpus).map(list).collect() };
    let rows: String = (0..gpus).map(row).collect();
    format!("{list}{}\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n{rows}", names())
}

/// A row with more NVLinks than the model has tells an NVSwitch, to which each GPU has those of one cell: a V100 has 6 (20 GB/s each), an
/// A800 8 (22.86), an H800 8 (21.3), an A100 12, an H100 18.
#[test]
fn nvlinks_of_a_row_above_those_of_the_model_lead_to_a_switch() {
    for (gpus, links, name, switched) in [
        (4, 6, "Tesla V100-SXM3-32GB", Some(("nvlink2-x6: { bandwidth: 120GB/s", 6))),
        (3, 8, "NVIDIA A800-SXM4-80GB", Some(("nvlink3-x8: { bandwidth: 182.88GB/s", 8))),
        (3, 8, "NVIDIA H800", Some(("nvlink4-x8: { bandwidth: 170.4GB/s", 8))),
        (4, 6, "NVIDIA A100-SXM4-80GB", Some(("nvlink3-x6: { bandwidth: 137.16GB/s", 12))),
        (4, 4, "NVIDIA A100-SXM4-80GB", None),
        (4, 6, "NVIDIA H100 80GB HBM3", None),
        (4, 6, "", None),
        (3, 12, "", Some(("nvlink-x12: { bandwidth: 274.32GB/s", 18))),
    ] {
        let import = good(&joined(gpus, links, name));
        let pairs = import.yaml.matches("type: nvlink").count();
        match switched {
            Some((line, most)) => {
                assert!(import.yaml.contains(line), "{name}: {}", import.yaml);
                assert_eq!((pairs, import.yaml.contains("nvswitch")), (gpus, true), "{name}: {}", import.yaml);
                assert!(all(&import).contains(&format!("as there are more than {most} in a row")), "{}", all(&import));
            }
            None => assert_eq!((pairs, import.yaml.contains("nvswitch")), (gpus * (gpus - 1) / 2, false), "{name}"),
        }
    }
}

/// `nvidia-smi` names modules without the form of their board, and cards with it.
#[test]
fn names_of_modules_without_the_form_of_their_board() {
    let pcie = |name: &str| joined(2, 1, name).replace("NV1", "SYS");
    for (name, model) in [
        ("NVIDIA H200", "H200 SXM5"),
        ("NVIDIA H800", "H800 SXM5"),
        ("NVIDIA H20", "H20"),
        ("NVIDIA H20-3e", "H20"),
        ("NVIDIA B100", "B100"),
        ("NVIDIA H100 96GB HBM3", "H100 SXM5"),
    ] {
        let warned = warnings(&good(&pcie(name)));
        assert!(warned.contains(&format!("NVLink is missing: GPUs gpu0, gpu1 are {model}, by")), "{warned}");
        assert!(warned.contains("--add nvswitch"), "{warned}");
    }
    for card in ["NVIDIA H200 NVL", "NVIDIA H800 PCIe", "NVIDIA H100 NVL", "NVIDIA H100 PCIe"] {
        let warned = warnings(&good(&pcie(card)));
        assert!(!warned.contains("NVLink"), "{card}: {warned}");
    }
}

/// The memory of a GPU is a NUMA node where chip-to-chip links join it with its processor.
#[test]
fn memory_of_gpus_in_the_matrix_tells_superchips() {
    let matrix = joined(4, 18, "");
    let with = |text: &str, id: &str| text.replace("\t\tN/A", &format!("\t\t{id}"));
    assert!(!warnings(&good(&matrix)).contains("C2C"));
    for text in [with(&matrix, "2"), with(&matrix, "2").replace('\t', "   ")] {
        let warned = warnings(&good(&text));
        for words in [
            "NVLink-C2C is missing: the memory of GPUs gpu0, gpu1, gpu2, gpu3 is a NUMA node",
            "copies from and to host memory run over PCIe, at most at 12 GB/s",
            "`--add c2c=MODEL`, one of gh200, gb200, gb300",
        ] {
            assert!(warned.contains(words), "{words}: {warned}");
        }
        let options = Options { add: Some("c2c=gb300".parse().expect("an addition")), ..Options::default() };
        let added = import(text.as_bytes(), "sample", &options).expect("a matrix");
        assert_eq!(added.yaml.matches("type: c2c }").count(), 4, "{}", added.yaml);
        assert!(!warnings(&added).contains("C2C"), "{}", warnings(&added));
    }
    // The names say more, once.
    let named = warnings(&good(&with(&joined(4, 18, "NVIDIA GB200"), "2")));
    assert_eq!(named.matches("NVLink-C2C is missing").count(), 1, "{named}");
    assert!(named.contains("are GB200, by device id or name"), "{named}");
    // Old drivers have no such column, and two tabs before the NUMA affinity.
    let old = matrix.replace("\tGPU NUMA ID", "").replace("\t0\t\tN/A", "\t\t0");
    assert!(!warnings(&good(&old)).contains("C2C"), "{}", warnings(&good(&old)));
}
