//! Dumps of machines of other sorts than the samples: small ones, in the form in which the tools write them.

use crate::common::{check, read, samples, warnings};
use weir_import::{Import, Options, import};

fn good(text: &str) -> Import {
    let import = read(text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    check(&import);
    import
}

fn cpu(numa: usize, attributes: &str, inner: &str) -> String {
    format!("<cpu host_hash=\"0x1\" numaid=\"{numa}\" affinity=\"ff\" {attributes}>\n{inner}</cpu>\n")
}

fn system(cpus: &str) -> String {
    format!("<system version=\"1\">\n{cpus}</system>\n")
}

fn gpu(bus: &str, class: &str, gpu: &str, links: &str) -> String {
    let link = "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"";
    format!("<pci busid=\"{bus}\" class=\"{class}\" {link}>\n<gpu {gpu}>\n{links}</gpu>\n</pci>\n")
}

const INTEL: &str = "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"";

#[test]
fn line_ends_and_marks_change_nothing() {
    for (name, bytes) in samples() {
        let of = |bytes: &[u8]| import(bytes, &name, &Options::default()).expect("is read").yaml;
        let text = String::from_utf8(bytes.clone()).expect("is text");
        let usual = of(&bytes);
        assert_eq!(of(text.replace('\n', "\r\n").as_bytes()), usual, "{name}");
        assert_eq!(of(&[b"\xef\xbb\xbf", bytes.as_slice()].concat()), usual, "{name}");
        assert_eq!(of(format!("\n\n{text}\n\n").as_bytes()), usual, "{name}");
    }
}

#[test]
fn a_grace_board() {
    // Two processors with two GPUs each, NVLink to switches that have no bus id, and a chip-to-chip link to the own processor.
    let board = |numa: usize| {
        let gpu = |n: usize| {
            let links = "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>\n<c2c bw=\"44712\" count=\"10\"/>\n";
            let bus = format!("{:04x}:01:00.0", 8 + 8 * numa + n);
            gpu(&bus, "0x030200", &format!("dev=\"{}\" sm=\"100\" rank=\"0\" gdr=\"1\"", 2 * numa + n), links)
        };
        cpu(numa, "arch=\"arm64\"", &[gpu(0), gpu(1)].concat())
    };
    let import = good(&system(&[board(0), board(1)].concat()));
    assert_eq!((import.counts.gpus, import.counts.nvlinks, warnings(&import).as_str()), (4, 4 * 18, ""));
    assert!(import.yaml.contains("nvlink5-x18: { bandwidth: 721.8GB/s, kind: nvlink }"), "{}", import.yaml);
    assert!(import.yaml.contains("c2c: { bandwidth: 447.12GB/s, kind: nvlink }"));
    assert!(import.yaml.contains("socket: { bandwidth: 6GB/s, kind: qpi }") && import.yaml.contains("ARM_BW"));
    for number in 0..4 {
        assert!(
            import.yaml.contains(&format!("between: [rc{}, gpu{number}], type: c2c", number / 2)),
            "{}",
            import.yaml
        );
        assert!(import.yaml.contains(&format!("between: [gpu{number}, nvswitch], type: nvlink5-x18")));
    }
}

#[test]
fn eight_amd_gpus_each_joined_with_each() {
    let bus = |n: usize| format!("0000:{:02x}:00.0", 5 + 0x10 * n);
    let one = |n: usize| {
        let others = (0..8).filter(|&other| other != n);
        let link = |o: usize| format!("<xgmi target=\"{}\" count=\"1\" tclass=\"0x120000\"/>\n", bus(o));
        let links: String = others.map(link).collect();
        gpu(
            &bus(n),
            "0x120000",
            &format!("dev=\"{n}\" sm=\"94\" gcn=\"gfx942:sramecc+:xnack-\" arch=\"37888\""),
            &links,
        )
    };
    let half = |from: usize| (from..from + 4).map(one).collect::<String>();
    let cpus = "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"17\"";
    let import = good(&system(&[cpu(0, cpus, &half(0)), cpu(1, cpus, &half(4))].concat()));
    assert_eq!((import.counts.gpus, import.counts.xgmi, warnings(&import).as_str()), (8, 28, ""));
    assert!(import.yaml.contains("xgmi-x1: { bandwidth: 48GB/s, kind: xgmi }"));
    assert!(import.yaml.contains("socket: { bandwidth: 41GB/s, kind: xgmi }"));
}

#[test]
fn links_to_processors_and_switches_by_their_class() {
    let with = |class: &str, processor: &str| {
        let link = format!("<nvlink target=\"0006:00:00.0\" count=\"3\" tclass=\"{class}\"/>\n");
        good(&system(&cpu(0, processor, &gpu("0004:04:00.0", "0x030200", "dev=\"0\" sm=\"70\"", &link))))
    };
    let power = "arch=\"ppc64\"";
    for (class, processor, expected) in [
        ("0x068000", INTEL, "between: [gpu0, nvswitch]"),
        ("0x068000", power, "between: [gpu0, nvswitch]"),
        ("0x068001", power, "between: [rc0, gpu0]"),
        ("0x068001", INTEL, "between: [rc0, gpu0]"),
        ("0x060400", power, "between: [rc0, gpu0]"),
        ("0x060100", power, "between: [rc0, gpu0]"),
        ("0x060400", INTEL, "between: [gpu0, nvswitch]"),
    ] {
        let import = with(class, processor);
        assert!(import.yaml.contains(expected), "{class} {processor}: {}", import.yaml);
        assert_eq!(import.counts.nvlinks, 3);
    }
    for class in ["", "0x", "0x030200", "0x02", "é"] {
        let import = with(class, INTEL);
        assert_eq!(import.counts.nvlinks, 0, "{class}");
        assert!(warnings(&import).contains("0004:04:00.0, line 5: no GPU `0006:00:00.0`"), "{}", warnings(&import));
    }
}

#[test]
fn network_cards_as_nccl_writes_them() {
    let nets = "<nic>\n<net name=\"mlx5_0\" dev=\"0\" latency=\"0.0\" speed=\"400000\" port=\"1\" guid=\"0x1\" maxconn=\"131072\" gdr=\"1\"/>\n\
                <net name=\"mlx5_1\" dev=\"1\" speed=\"400000\" gdr=\"1\" coll=\"1\"/>\n</nic>\n";
    let speed = "link_speed=\"16.0 GT/s PCIe\n\" link_width=\"16\n\"";
    let card = format!("<pci busid=\"0001:00:00.0\" class=\"0x020700\" {speed}>\n{nets}</pci>\n");
    let import = good(&system(&cpu(0, INTEL, &card)).replace("version=\"1\"", "version=\"2\""));
    assert_eq!(import.counts.nics, 1);
    let lines =
        "# mlx5_0 400 Gb/s, mlx5_1 400 Gb/s\n      nic0: { kind: nic, link: pcie4-x16, bus_id: \"0001:00:00.0\" }\n";
    assert!(import.yaml.contains(lines), "{}", import.yaml);
    let later = good(&system(&cpu(0, INTEL, &card)).replace("version=\"1\"", "version=\"9\""));
    assert!(later.findings.iter().any(|finding| finding.message.contains("version 9 of the format")));
}

#[test]
fn bus_ids_of_virtual_machines() {
    let one = |bus: &str, number: usize| gpu(bus, "0x030200", &format!("dev=\"{number}\" sm=\"90\""), "");
    let import = good(&system(&cpu(0, INTEL, &[one("0001:00:00.0", 0), one("ffffffff", 1), one("", 2)].concat())));
    assert_eq!(import.counts.gpus, 3);
    assert!(warnings(&import).contains("`ffffffff` is no bus id"));
    assert_eq!(import.yaml.matches("bus_id:").count(), 1);
    let same = good(&system(&cpu(0, INTEL, &[one("0001:00:00.0", 0), one("0001:00:00.0", 1)].concat())));
    assert!(warnings(&same).contains("two devices have the bus id 0001:00:00.0"));
    assert_eq!(same.counts.gpus, 2);
}

/// A hwloc file of one package with these objects.
fn hwloc(memory: &str, devices: &str, matrices: &str) -> String {
    format!(
        "<topology version=\"2.0\">\n<object type=\"Machine\" gp_index=\"1\">\n<info name=\"Architecture\" value=\"ppc64le\"/>\n{memory}\
         <object type=\"Bridge\" gp_index=\"5\" bridge_type=\"0-1\" bridge_pci=\"0000:[00-ff]\">\n{devices}</object>\n</object>\n{matrices}\
         </topology>\n"
    )
}

fn hwloc_gpu(bus: &str, ids: &str, index: usize, inner: &str) -> String {
    format!(
        "<object type=\"PCIDev\" gp_index=\"{index}\" pci_busid=\"{bus}\" pci_type=\"0302 [{ids}] [10de:1] a1\" \
         pci_link_speed=\"15.753846\">\n{inner}</object>\n"
    )
}

#[test]
fn memory_of_gpus_is_no_socket() {
    let node = |os: usize, cpuset: &str, subtype: &str| {
        format!(
            "<object type=\"NUMANode\" os_index=\"{os}\" gp_index=\"{}\" cpuset=\"{cpuset}\" {subtype}/>\n",
            10 + os
        )
    };
    let memory = [
        node(0, "0x0000ffff", ""),
        node(8, "0xffff0000", "subtype=\"DRAM\""),
        node(252, "0x0", ""),
        node(253, "0x0000ffff", "subtype=\"GPUMemory\""),
        node(254, "0x0000ffff", "subtype=\"HBM\""),
    ];
    let gpus = hwloc_gpu("0004:04:00.0", "10de:1db1", 30, "");
    let import = good(&hwloc(&memory.concat(), &gpus, ""));
    assert_eq!((import.counts.roots, import.counts.gpus), (2, 1));
    assert!(import.yaml.contains("numa: 8") && !import.yaml.contains("numa: 25"), "{}", import.yaml);
}

#[test]
fn hwloc_instances_and_xgmi() {
    let node = "<object type=\"NUMANode\" os_index=\"0\" gp_index=\"2\" cpuset=\"0xff\"/>\n";
    // Instances of one GPU (MIG) are objects inside of it, no GPUs of their own.
    let part = |n: usize| {
        let info = "<info name=\"GPUModel\" value=\"NVIDIA A100 MIG 1g.5gb\"/>";
        format!("<object type=\"OSDev\" gp_index=\"{}\" name=\"cuda{n}\" osdev_type=\"5\">{info}</object>\n", 40 + n)
    };
    let one = hwloc_gpu("0000:07:00.0", "10de:20b0", 30, &[part(0), part(1), part(2)].concat());
    let import = good(&hwloc(node, &one, ""));
    assert_eq!(import.counts.gpus, 1);
    assert!(import.yaml.contains("# NVIDIA A100 MIG 1g.5gb"));
    let amd = |n: usize| hwloc_gpu(&format!("0000:{n:02x}:00.0"), "1002:740f", 30 + n, "");
    let values = "0 150000 150000 0";
    let matrix = |values: &str| {
        format!(
            "<distances2 type=\"PCIDev\" nbobjs=\"2\" kind=\"5\" name=\"XGMIBandwidth\" indexing=\"gp\">\n\
             <indexes length=\"5\">31 32</indexes>\n<u64values length=\"17\">{values}</u64values>\n</distances2>\n"
        )
    };
    let import = good(&hwloc(node, &[amd(1), amd(2)].concat(), &matrix(values)));
    assert_eq!(import.counts.xgmi, 3);
    assert!(import.yaml.contains("xgmi-x3: { bandwidth: 108GB/s, kind: xgmi }"), "{}", import.yaml);
    let short = good(&hwloc(node, &[amd(1), amd(2)].concat(), &matrix("0 150000")));
    assert!(warnings(&short).contains("a matrix of 2 objects with 2 values is left out"));
}

#[test]
fn matrices_of_small_machines() {
    let one =
        "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-15\t0\t\tN/A\n\nLegend:\n\n  X    = Self\n";
    let import = good(one);
    assert_eq!((import.counts.gpus, import.counts.nics, import.counts.roots, import.counts.nvlinks), (1, 0, 1, 0));
    assert!(import.yaml.contains("numa: 0"));
    let four = |link: &str| {
        let head = "\t\u{1b}[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u{1b}[0m\n";
        let row = |n: usize| {
            let cells: String = (0..4).map(|j| format!("{}\t", if j == n { " X " } else { link })).collect();
            let near = if n < 2 { "NODE" } else { "SYS" };
            format!("GPU{n}\t{cells}{near}\t{}\t{}\t\tN/A\n", ["0-31,64-95", "32-63,96-127"][n / 2], n / 2)
        };
        let rows: String = (0..4).map(row).collect();
        format!("{head}{rows}NIC0\tNODE\tNODE\tSYS\tSYS\t X\n\nNIC Legend:\n\n  NIC0: mlx5_0\n")
    };
    // 18 links to each of three others are more than a GPU has: they lead to switches. 6 to each are not.
    let switched = good(&four("NV18"));
    assert_eq!((switched.counts.roots, switched.counts.nvlinks), (2, 4 * 18));
    assert!(switched.yaml.contains("between: [gpu3, nvswitch], type: nvlink-x18"));
    let direct = good(&four("NV6"));
    assert_eq!(direct.counts.nvlinks, 6 * 6);
    assert!(direct.yaml.contains("between: [gpu0, gpu3], type: nvlink-x6"));
    assert_eq!(good(&four("NV6").replace('\t', "    ")).yaml, direct.yaml);
    assert_eq!(good(&four("NV6").replace("\u{1b}[4m", "").replace("\u{1b}[0m", "")).yaml, direct.yaml);
    // Lines of a tool that lists the instances of GPUs (MIG) are no rows.
    assert_eq!(good(&four("NV6").replace("NIC0\tNODE", "  MIG 1g.10gb Device 0\nNIC0\tNODE")).yaml, direct.yaml);
}
