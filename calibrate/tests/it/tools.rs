//! Logs of further tools, and outputs that are none: what is read, and what to run instead.

use crate::common::{machine, machine_of};
use weir_calibrate::read::{Collective, LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Experiment, Log, MeasuredEnd};
use weir_scenario::Machine;

pub const SOCKETS: &str = "topologies/two-socket-8gpu.yaml";

pub fn read(machine: &Machine, text: &str, options: &ReadOptions) -> Result<(LogKind, Log), String> {
    read_log_text("log", text, machine, options).map_err(|error| error.to_string())
}

fn pair() -> ReadOptions {
    ReadOptions { pair: Some("gpu0,gpu1".to_owned()), ..ReadOptions::default() }
}

/// Ends of the first transfer, number of transfers, and GB/s of the measured ones together.
pub fn each<'m>(machine: &'m Machine, log: &Log) -> Vec<(&'m str, &'m str, usize, f64)> {
    let name = |node| machine.node_name(node);
    let one = |e: &Experiment| {
        let bytes: f64 = match e.rows[0].end {
            MeasuredEnd::Transfer(at) => e.transfers[at].bytes as f64,
            MeasuredEnd::Last => e.transfers.iter().map(|t| t.bytes as f64).sum(),
        };
        let rate = bytes * f64::from(e.messages) / e.rows[0].seconds;
        (name(e.transfers[0].from), name(e.transfers[0].to), e.transfers.len(), (rate / 1e7).round() / 100.0)
    };
    log.experiments.iter().map(one).collect()
}

#[test]
fn bandwidth_test_is_read_by_device_and_unit() {
    let machine = machine(SOCKETS, &[]);
    let log = |device: u32, unit: &str, memory: &str, count: u32| {
        format!(
            "[CUDA Bandwidth Test] - Starting...\nRunning on...\n\n Device {device}: NVIDIA X\n Quick Mode\n\n \
             Host to Device Bandwidth, {count} Device(s)\n {memory} Memory Transfers\n   Transfer Size (Bytes)\tBandwidth({unit})\n   \
             32000000\t\t\t12.5\n\n Device to Host Bandwidth, {count} Device(s)\n {memory} Memory Transfers\n   \
             Transfer Size (Bytes)\tBandwidth({unit})\n   32000000\t\t\t13.5\n\n Device to Device Bandwidth, {count} Device(s)\n \
             {memory} Memory Transfers\n   Transfer Size (Bytes)\tBandwidth({unit})\n   32000000\t\t\t700.5\n\nResult = PASS\n"
        )
    };
    let (kind, found) = read(&machine, &log(5, "GB/s", "PINNED", 1), &ReadOptions::default()).expect("a log");
    assert_eq!(kind, LogKind::BandwidthTest);
    assert_eq!(each(&machine, &found), [("cpu1", "gpu5", 1, 12.5), ("gpu5", "cpu1", 1, 13.5)]);
    assert!(found.skipped[0].why.contains("within one device"), "{:?}", found.skipped);
    let (_, old) = read(&machine, &log(0, "MB/s", "PINNED", 1).replace("12.5", "12500.0"), &ReadOptions::default())
        .expect("a log");
    assert_eq!(each(&machine, &old)[0].3, 12.8, "1,024,000 B/s");
    for (text, why) in [(log(0, "GB/s", "PAGEABLE", 1), "--memory=pinned"), (log(0, "GB/s", "PINNED", 4), "--device=0")]
    {
        let (_, none) = read(&machine, &text, &ReadOptions::default()).expect("a log");
        assert!(none.experiments.is_empty() && none.skipped[0].why.contains(why), "{:?}", none.skipped);
    }
    let csv =
        "bandwidthTest-H2D-Pinned, Bandwidth = 12.4 GB/s, Time = 0.00258 s, Size = 32000000 bytes, NumDevsUsed = 1\n";
    let (_, found) = read(&machine, csv, &ReadOptions::default()).expect("a log");
    assert_eq!(each(&machine, &found), [("cpu0", "gpu0", 1, 12.4)]);
}

#[test]
fn matrices_of_rocm_tools_number_processors_and_gpus() {
    let machine = machine(SOCKETS, &[]);
    let rbt = "          RocmBandwidthTest Version: 2.6.0\n\n          Device: 0,  AMD EPYC 9534\n          Device: 1,  AMD EPYC 9534\n          \
               Device: 2,  AMD Instinct,  GPU-aa,  07:0.0\n          Device: 3,  AMD Instinct,  GPU-bb,  c1:0.0\n\n          Inter-Device Access\n\n          \
               D/D       0         1         2         3\n\n          0         1         1         1         1\n\n          \
               Unidirectional copy peak bandwidth GB/s\n\n          D/D       0           1           2           3\n\n          \
               0         N/A         N/A         27.100      27.200\n\n          1         N/A         N/A         N/A         N/A\n\n          2         28.100      N/A         900.000     45.500\n\n          3         N/A         N/A         N/A         900.000\n\n          \
               Bidirectional copy peak bandwidth GB/s\n\n          D/D       0           1           2           3\n\n          \
               0         N/A         N/A         40.000      N/A\n\n          1         N/A         N/A         N/A         N/A\n\n          \
               2         40.000      N/A         N/A         90.000\n\n          3         N/A         N/A         90.000      N/A\n";
    let (kind, log) = read(&machine, rbt, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kind, LogKind::Rocm);
    let expected = [
        ("cpu0", "gpu0", 1, 27.1),
        ("cpu0", "gpu1", 1, 27.2),
        ("gpu0", "cpu0", 1, 28.1),
        ("gpu0", "gpu1", 1, 45.5),
        // One measurement of each pair, in the cells of both ends.
        ("cpu0", "gpu0", 2, 40.0),
        ("gpu0", "gpu1", 2, 90.0),
    ];
    assert_eq!(each(&machine, &log), expected);
    // With a third GPU each pair stands twice, and each is one measurement.
    let both = "          Device: 0,  AMD EPYC\n          Device: 1,  AMD,  GPU-aa,  07:0.0\n          Device: 2,  AMD,  GPU-bb,  c1:0.0\n          \
                Device: 3,  AMD,  GPU-cc,  d1:0.0\n\n          Bidirectional copy peak bandwidth GB/s\n\n          D/D  0  1  2  3\n\n          \
                0  N/A  10  11  12\n\n          1  10  N/A  13  14\n\n          2  11  13  N/A  15\n\n          3  12  14  15  N/A\n";
    let (_, log) = read(&machine, both, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<f64> = each(&machine, &log).iter().map(|one| one.3).collect();
    assert_eq!(found, [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
    let bench = "Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)\n SRC+EXE\\DST    CPU 00    CPU 01       \
                 GPU 00    GPU 01\n  CPU 00  ->     92.21    102.51        45.11     45.16\n\n  CPU 01  ->       N/A       N/A          N/A       N/A\n\n  \
                 GPU 00  ->       N/A       N/A          N/A       N/A\n\n  GPU 01  ->     55.47     55.54        57.39   2132.28\n";
    let (kind, log) = read(&machine, bench, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kind, LogKind::Rocm);
    let expected = [
        ("cpu0", "cpu1", 1, 102.51),
        ("cpu0", "gpu0", 1, 45.11),
        ("cpu0", "gpu1", 1, 45.16),
        ("gpu1", "cpu0", 1, 55.47),
        ("gpu1", "cpu1", 1, 55.54),
        ("gpu1", "gpu0", 1, 57.39),
    ];
    assert_eq!(each(&machine, &log), expected);
}

#[test]
fn the_host_matrix_of_bus_grind_is_read() {
    let machine = machine(SOCKETS, &[]);
    let text = "Host/Device Bandwidth Matrix (GB/s), memory=Pinned\n   Dir\\D     0      1\n   D2H  12.10  12.20\n   H2D  11.50  11.60\n   BiDir  20.00  20.10\n\
                Host/Device Bandwidth Matrix (GB/s), memory=Unpinned\n   Dir\\D     0      1\n   D2H  5.10  5.20\n\
                Host/Device Latency Matrix (us), memory=Pinned\n   Dir\\D     0      1\n   D2H  1.10  1.20\n";
    let (kind, log) = read(&machine, text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kind, LogKind::BusGrind);
    let expected = [
        ("gpu0", "cpu0", 1, 12.1),
        ("gpu1", "cpu0", 1, 12.2),
        ("cpu0", "gpu0", 1, 11.5),
        ("cpu0", "gpu1", 1, 11.6),
        ("gpu0", "cpu0", 2, 20.0),
        ("gpu1", "cpu0", 2, 20.1),
    ];
    assert_eq!(each(&machine, &log), expected);
    assert_eq!(log.skipped.len(), 2, "{:?}", log.skipped);
}

#[test]
fn tables_of_perftest_have_units_and_directions() {
    let machine = machine(SOCKETS, &[]);
    let log = |title: &str, unit: &str, value: f64| {
        format!(
            "---------\n                    {title}\n Dual-port       : OFF\t\tDevice         : mlx5_0\n---------\n \
             #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n 65536      5000             0.00            \
             {value}\t\t   0.17\n---------\n"
        )
    };
    for (title, unit, value, ends, count, rate) in [
        ("RDMA_Write BW Test", "MiB/sec", 11030.0, ("gpu0", "gpu1"), 1, 11.57),
        ("RDMA_Write BW Test", "MB/sec", 11030.0, ("gpu0", "gpu1"), 1, 11.57),
        ("RDMA_Read BW Test", "Gb/sec", 390.0, ("gpu1", "gpu0"), 1, 48.75),
        ("RDMA_Write Bidirectional BW Test", "Gb/sec", 760.0, ("gpu0", "gpu1"), 2, 95.0),
    ] {
        let (kind, found) = read(&machine, &log(title, unit, value), &pair()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(kind, LogKind::Perftest);
        assert_eq!(each(&machine, &found), [(ends.0, ends.1, count, rate)], "{title}");
    }
    let (_, none) = read(&machine, &log("RDMA_Write BW Test", "MiB/sec", 1.0), &ReadOptions::default()).expect("a log");
    assert!(none.skipped[0].why.contains("--pair"), "{:?}", none.skipped);
    let whole = log("Send BW Test", "MiB/sec", 1.0);
    let cut = read(&machine, &whole[..whole.find("#bytes").unwrap()], &pair()).unwrap_err();
    assert!(cut.contains("perftest has no row of a table") && cut.contains("cut off"), "{cut}");
}

/// Eight messages in flight of each of two pairs, added.
#[test]
fn several_pairs_of_osu_run_at_once() {
    let machine = machine(SOCKETS, &[]);
    let text = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.9\n# [ pairs: 2 ] [ window size: 8 ]\n# Size                  MB/s        Messages/s\n\
                1000000                 20000.0                  20000.0\n";
    let devices = ReadOptions { devices: Some("gpu[0-3]".to_owned()), ..ReadOptions::default() };
    let (kind, log) = read(&machine, text, &devices).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kind, LogKind::Osu);
    assert_eq!(each(&machine, &log), [("gpu0", "gpu2", 2, 20.0)]);
    assert_eq!((log.experiments[0].messages, log.experiments[0].transfers[1].to), (8, machine.device("gpu3").unwrap()));
    assert_eq!(
        log.notes,
        [
            "log: rank 0 = rc0/plx0/gpu0, 1 = rc0/plx0/gpu1, 2 = rc0/plx1/gpu2, 3 = rc0/plx1/gpu3",
            "log: windows of 8 messages, each with a reply of 4 B"
        ]
    );
    let few = ReadOptions { devices: Some("gpu[0-2]".to_owned()), ..ReadOptions::default() };
    let (_, none) = read(&machine, text, &few).expect("a log");
    assert!(none.experiments.is_empty() && none.skipped[0].why.contains("4 ranks"), "{:?}", none.skipped);
}

#[test]
fn tables_of_nccl_tests_need_no_hash_and_as_many_devices() {
    let machine = machine(SOCKETS, &[]);
    let options = ReadOptions { collective: Some(Collective::AllGather), ..ReadOptions::default() };
    let table = "       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
                 8000000 250000 float none -1 400.0 20.0 17.5 0 500.0 16.0 14.0 0\n";
    let (kind, log) = read(&machine, table, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((kind, log.experiments.len(), log.experiments[0].transfers.len()), (LogKind::Nccl, 2, 8));
    let titled = format!("# Collective test starting: all_reduce_perf\n#{table}");
    let (_, log) = read(&machine, &titled, &options).expect("a log");
    assert!(log.experiments.is_empty(), "the log says another collective");
    let why = &log.skipped[0].why;
    assert!(why.contains("of all-reduce, not of all-gather") && why.contains("leave out --collective"), "{why}");
    let other = titled.replace("all_reduce_perf", "broadcast_perf");
    let (_, log) = read(&machine, &other, &options).expect("a log");
    assert!(log.skipped[0].why.contains("`broadcast_perf` is no collective that weir knows"), "{:?}", log.skipped);
    let rank = |i: usize| format!("#  Rank {i:2} Group  0 Pid 7 on node{i} device  0 [0x1b] X\n");
    let ranks: String = (0..10).map(rank).collect();
    let (_, log) = read(&machine, &format!("{ranks}#{table}"), &options).expect("a log");
    let why = &log.skipped[0].why;
    assert!(why.contains("10 ranks") && why.contains("10 machines") && why.contains("--devices"), "{why}");
}

#[test]
fn outputs_of_known_tools_without_measurements_are_named() {
    let machine = machine(SOCKETS, &[]);
    for (text, tool, run) in [
        ("TransferBench v1.50\n===\nTest 1:\n Executor: GPU 00 | 48.1 GB/s |\n", "TransferBench", "TransferBench p2p"),
        ("| NVIDIA-SMI 550.54 Driver Version: 550.54 CUDA Version: 12.4 |\n", "`nvidia-smi`", "nvbandwidth -j"),
        ("NVIDIA-SMI has failed because it couldn't communicate\n", "which failed", "nvbandwidth -j"),
        ("GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n", "`nvidia-smi nvlink`", "nvbandwidth -j"),
        ("Couldn't connect to 10.0.0.2:18515\n", "did not reach its server", "on the other machine first"),
        ("# nThread 1 nGpus 8 minBytes 8\n# out of memory\n", "ended before its table", "run it again"),
        ("CA 'mlx5_0'\n\tCA type: MT4129\n", "`ibstat`", "ib_write_bw -a"),
        ("[ ID] Interval           Transfer     Bitrate\n", "iperf3", "osu_bw"),
        ("STREAM version $Revision: 5.10 $\nCopy: 312345.6\n", "the CPU's own memory", "nvbandwidth -j"),
    ] {
        let error = read(&machine, text, &ReadOptions::default()).unwrap_err();
        assert!(error.contains("this is the output of") && error.contains(tool) && error.contains(run), "{error}");
    }
}

#[test]
fn outputs_that_are_no_logs_are_named_with_what_to_run() {
    let machine = machine_of(
        "weir: 1\ntree: { rc: { kind: root-complex, children: { gpu: { kind: gpu, link: { bandwidth: 1GB/s } } } } }\n",
    );
    let showtopo = "========================= ROCm System Management Interface =========================\n\
                    ============================= Weight between two GPUs ==============================\n       GPU0         GPU1\n\
                    GPU0   0            15\nGPU1   15           0\n";
    for (text, tool, remedy) in [
        (showtopo, "rocm-smi --showtopo", "rocm-bandwidth-test -a"),
        ("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\n", "nvidia-smi topo -m", "nvbandwidth -j"),
        ("<system version=\"1\">\n</system>\n", "NCCL's dump", "weir import"),
        (
            "{ \"results\": [ { \"size\": 8, \"out_of_place\": { \"time\": 1.0 } } ] }\n",
            "nccl-tests as JSON",
            "text output",
        ),
        ("-[0000:00]-+-00.0  Intel\n", "lspci", "weir import"),
        ("-+-[0000:e0]-+-00.0  Intel\n", "lspci", "weir import"),
        ("0000:00:00.0 Host bridge [0600]: Intel Corporation [8086:1237]\n", "lspci", "weir import"),
        ("<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n</topology>\n", "hwloc", "weir import"),
        ("Machine (754GB total)\n  Package L#0\n    NUMANode L#0 (P#0 377GB)\n", "hwloc", "lstopo --of xml"),
        ("ROCk module is loaded\nHSA System Attributes\n", "rocminfo", "rocm-bandwidth-test -a"),
        (
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n 2       1000          1.10           2.05         1.11\n",
            "perftest",
            "ib_write_bw",
        ),
    ] {
        let error = read(&machine, text, &ReadOptions::default()).unwrap_err();
        assert!(error.contains(tool) && error.contains(remedy), "{error}");
    }
}

const RANKS: [&str; 2] = ["0000:1b:00", "0000:1c:00"];

/// A log of an all-reduce by ranks on machines, each with a device's number and PCI address.
fn nccl_log(ranks: &[(&str, usize, &str)], between: &str) -> String {
    let mut text =
        "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 1 maxBytes 2\n".to_owned();
    for (rank, (host, device, address)) in ranks.iter().enumerate() {
        text += &format!(
            "#  Rank  {rank} Group  0 Pid  12345 on      {host} device  {device} [{address}] NVIDIA H100 PCIe\n"
        );
    }
    text + "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
        + between
        + "   268435456      67108864     float     sum      -1  9400.00   28.56   28.56    N/A    N/A    N/A    N/A    N/A\n"
}

/// GPUs in another order than their PCI addresses, and one without an address where `gap`.
pub fn addressed(gap: bool) -> Machine {
    let last = if gap { "" } else { ", bus_id: \"0000:1b:00.0\"" };
    crate::common::machine_of(&format!(
        "weir: 1\nlink_types: {{ slot: {{ bandwidth: 50GB/s }} }}\ntree:\n  rc0:\n    kind: root-complex\n    children:\n      \
         gpu0: {{ kind: gpu, link: slot, bus_id: \"0000:1d:00.0\" }}\n      gpu1: {{ kind: gpu, link: slot, bus_id: \"0000:1c:00.0\" }}\n      \
         gpu2: {{ kind: gpu, link: slot{last} }}\n"
    ))
}

#[test]
fn ranks_of_nccl_tests_are_the_devices_at_their_pci_addresses() {
    let machine = addressed(false);
    let log = nccl_log(&[("node1", 0, RANKS[0]), ("node1", 1, RANKS[1])], "");
    let (_, found) = read(&machine, &log, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(each(&machine, &found)[0].0, "gpu2");
    assert!(found.notes[0].contains("rank 0 = rc0/gpu2, 1 = rc0/gpu1 (by the `bus_id`"), "{:?}", found.notes);
    // The bus alone, as older versions print it.
    let old = nccl_log(&[("node1", 0, "0x1d"), ("node1", 1, "0x1b")], "");
    let (_, found) = read(&machine, &old, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(each(&machine, &found)[0].0, "gpu0");
    // Device numbers count where there are no addresses.
    let plain = addressed(true);
    let turned = nccl_log(&[("node1", 2, "?"), ("node1", 1, "?")], "");
    let (_, found) = read(&plain, &turned, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(each(&plain, &found)[0].0, "gpu2");
    assert!(found.notes[0].contains("device numbers"), "{:?}", found.notes);
    // The command line comes first; addresses that are not known, or not of this machine.
    let named = ReadOptions { devices: Some("gpu0,gpu1".to_owned()), ..ReadOptions::default() };
    assert_eq!(each(&machine, &read(&machine, &log, &named).expect("a log").1)[0].0, "gpu0");
    let machine = addressed(true);
    assert_eq!(each(&machine, &read(&machine, &log, &ReadOptions::default()).expect("a log").1)[0].0, "gpu0");
    let machine = addressed(false);
    let other = nccl_log(&[("node1", 0, "0000:91:00"), ("node1", 1, RANKS[1])], "");
    let (_, found) = read(&machine, &other, &ReadOptions::default()).expect("a log");
    assert!(found.experiments.is_empty());
    let why = &found.skipped[0].why;
    assert!(why.contains("rank 0") && why.contains("0000:91:00") && why.contains("--devices"), "{why}");
}

#[test]
fn ranks_on_two_machines_are_no_ranks_of_one() {
    let machine = addressed(false);
    let log = nccl_log(&[("node1", 0, RANKS[0]), ("node2", 0, RANKS[0])], "");
    let (_, found) = read(&machine, &log, &ReadOptions::default()).expect("a log");
    assert!(found.experiments.is_empty());
    let why = &found.skipped[0].why;
    assert!(why.contains("2 machines (node1, node2)") && why.contains("topology of all of them"), "{why}");
    let named = ReadOptions { devices: Some("gpu[0-1]".to_owned()), ..ReadOptions::default() };
    assert_eq!(read(&machine, &log, &named).expect("a log").1.experiments.len(), 1);
}

#[test]
fn what_nccl_says_of_its_algorithm_is_used() {
    let machine = addressed(false);
    for (line, rows) in [
        ("n:1:1 [0] NCCL INFO 268435456 Bytes -> Algo 1 proto 2 time 54.7\n", 1),
        ("n:1:1 [0] NCCL INFO AllReduce: 268435456 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}\n", 0),
        ("n:1:1 [0] NCCL INFO 8 Bytes -> Algo 0 proto 1 time 54.7\n", 1),
    ] {
        let log = nccl_log(&[("node1", 0, RANKS[0]), ("node1", 1, RANKS[1])], line);
        let (_, found) = read(&machine, &log, &ReadOptions::default()).expect("a log");
        assert_eq!(found.experiments.len(), rows, "{line}");
        assert!(rows > 0 || found.skipped[0].why.contains("algorithm nvls"), "{:?}", found.skipped);
    }
}

#[test]
fn rows_of_nccl_tests_without_a_header_are_recognised() {
    let machine = addressed(false);
    let rows = "   268435456      67108864     float     sum      -1  9400.00   28.56   28.56    N/A    N/A    N/A    N/A    N/A\n";
    let options = ReadOptions { collective: Some(weir_calibrate::Collective::AllReduce), ..ReadOptions::default() };
    let (kind, found) = read(&machine, rows, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((kind, found.experiments.len()), (LogKind::Nccl, 1));
    let error = read(&machine, &rows.replace("28.56", "18.56"), &options).unwrap_err();
    assert!(error.contains("not recognised"), "{error}");
}
