//! Logs as people paste them, and the forms that older and newer versions of the tools have.

use crate::common::{machine, machine_of};
use weir_calibrate::read::{Collective, LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Log, MeasuredEnd};
use weir_scenario::Machine;

const SOCKETS: &str = "topologies/two-socket-8gpu.yaml";

fn read(machine: &Machine, text: &str, options: &ReadOptions) -> Result<(LogKind, Log), String> {
    read_log_text("log", text, machine, options).map_err(|error| error.to_string())
}

fn good(machine: &Machine, text: &str) -> (LogKind, Log) {
    read(machine, text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// One processor and two GPUs. A size of 4 000 000 B; at 4 GB/s a copy takes 1 ms, at 8 half of that.
const BENCH: &str = "Bytes Per Direction 4000000\n\
    Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)\n SRC+EXE\\DST    CPU 00    GPU 00    GPU 01\n \
    CPU 00  ->     90.00     4.00     8.00\n GPU 00  ->     8.00     90.00     4.00\n GPU 01  ->     4.00     8.00     90.00\n\
    Bidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)\n SRC\\DST    CPU 00    GPU 00    GPU 01\n \
    CPU 00  ->     N/A     4.00     N/A\n CPU 00 <-      N/A     8.00     N/A\n CPU 00 <->     N/A    12.00     N/A\n\n \
    GPU 00  ->     N/A     N/A     2.00\n GPU 00 <-      N/A     N/A     1.00\n GPU 00 <->     N/A     N/A     3.00\n\n \
    GPU 01  ->     N/A     2.00     N/A\n GPU 01 <-      N/A     1.00     N/A\n GPU 01 <->     N/A     3.00     N/A\n \
    CPU->CPU  CPU->GPU  GPU->CPU  GPU->GPU\n Averages (During  BiDir):     N/A     1.00     1.00     1.00\n";

#[test]
fn transfer_bench_gives_its_size_and_both_ways_apart() {
    let machine = machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 50GB/s } }\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
         cpu0: { kind: cpu, link: slot }\n      'gpu[0-1]': { kind: gpu, link: slot }\n",
    );
    let (kind, log) = good(&machine, BENCH);
    assert_eq!(kind, LogKind::Rocm);
    let name = |node| machine.node_name(node);
    let rows = log.experiments.iter().map(|e| {
        assert!(e.transfers.iter().all(|t| t.bytes == 4_000_000));
        let ends = format!("{} {}", name(e.transfers[0].from), name(e.transfers[0].to));
        (ends, e.transfers.len(), e.rows[0].end, (e.rows[0].seconds * 1e6).round() as u32)
    });
    let (last, own) = (MeasuredEnd::Last, MeasuredEnd::Transfer);
    let expected = [
        ("cpu0 gpu0", 1, last, 1000),
        ("cpu0 gpu1", 1, last, 500),
        ("gpu0 cpu0", 1, last, 500),
        ("gpu0 gpu1", 1, last, 1000),
        ("gpu1 cpu0", 1, last, 1000),
        ("gpu1 gpu0", 1, last, 500),
        ("cpu0 gpu0", 2, own(0), 1000),
        ("cpu0 gpu0", 2, own(1), 500),
        ("gpu0 gpu1", 2, own(0), 2000),
        ("gpu0 gpu1", 2, own(1), 4000),
        // Measured a second time, from the other end.
        ("gpu1 gpu0", 2, own(0), 2000),
        ("gpu1 gpu0", 2, own(1), 4000),
    ];
    let expected = expected.map(|(ends, count, end, us)| (ends.to_owned(), count, end, us));
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    assert!(log.notes.iter().any(|note| note.contains("copies of 4000000 B, as the log says")), "{:?}", log.notes);
    // Without the line of the size it is assumed.
    let (_, log) = good(&machine, BENCH.split_once('\n').expect("a line").1);
    assert!(log.notes.iter().any(|note| note.contains("copies of 512 MiB, assumed")), "{:?}", log.notes);
}

/// With `-s` and `-d` it prints a table of sizes, and no matrix.
#[test]
fn one_pair_of_rocm_bandwidth_test_is_told_from_its_matrices() {
    let text = "          RocmBandwidthTest Version: 2.6.0\n\n          Device: 0,  AMD EPYC\n          Device: 1,  AMD X,  GPU-1,  c1:0.0\n\n\
                ================    Unidirectional Benchmark Result    ================\n\
                Data Size      Avg Time(us)   Avg BW(GB/s)   Min Time(us)   Peak BW(GB/s)\n\n512 MB         20800.0        25.811\n";
    let error = read(&machine(SOCKETS, &[]), text, &ReadOptions::default()).unwrap_err();
    assert!(error.contains("the copies of one pair") && error.contains("rocm-bandwidth-test -a"), "{error}");
    assert!(error.contains("log:6:1"), "{error}");
}

/// The numbers of its matrix mean nothing without the list of devices above.
#[test]
fn rocm_bandwidth_test_needs_its_list_of_devices() {
    let text = "Bidirectional copy peak bandwidth GB/s\n\n D/D  0  1\n\n 0  N/A  47.7\n\n 1  47.7  N/A\n";
    let error = read(&machine(SOCKETS, &[]), text, &ReadOptions::default()).unwrap_err();
    assert!(error.contains("log:5:") && error.contains("which device is number 0"), "{error}");
    assert!(error.contains("`Device: 0, …`") && error.contains("rocm-bandwidth-test -a"), "{error}");
}

/// A head with `redop` and no `root`, and rows that leave `redop` empty: 1 GB in 5 ms and 4 ms.
#[test]
fn old_tables_of_nccl_tests_have_no_root() {
    let options = ReadOptions { collective: Some(Collective::AllToAll), ..ReadOptions::default() };
    let head =
        "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n";
    let blank = "  1000000000  31250000   float    5000.0  200.00  175.00  0e+00  4000.0  250.00  218.75  0e+00\n";
    let full = "  1000000000  31250000   float  sum  5000.0  200.00  175.00  0e+00  4000.0  250.00  218.75  0e+00\n";
    let machine = machine(SOCKETS, &[]);
    for row in [blank, full] {
        let (_, log) = read(&machine, &format!("{head}{row}"), &options).unwrap_or_else(|error| panic!("{error}"));
        let seconds: Vec<f64> = log.experiments.iter().map(|e| e.rows[0].seconds).collect();
        assert_eq!(seconds, [5e-3, 4e-3], "{row}");
    }
    let cut = read(&machine, &format!("{head}{}", &blank[..60]), &options).unwrap_err();
    assert!(cut.contains("cut off"), "{cut}");
}

#[test]
fn a_matrix_of_p2p_without_what_stands_before_it() {
    let text = "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1\n     0 1500.00 270.00\n     1 271.00 1500.00\n";
    let (kind, log) = good(&machine(SOCKETS, &[]), text);
    assert_eq!((kind, log.experiments.len()), (LogKind::P2p, 2));
}

#[test]
fn outputs_of_two_tools_in_one_file_are_refused() {
    let machine = machine(SOCKETS, &[]);
    let nccl = "# Collective test starting: all_gather_perf\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n\
                8000000 250000 float none -1 400.0 20.0 17.5 0 500.0 16.0 14.0 0\n";
    let osu = "# OSU MPI-CUDA Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1048576  20000.0\n";
    let json = "{\n  \"nvbandwidth\": {}\n}\n";
    for (text, first, line, second) in [
        (format!("{nccl}{osu}"), "nccl-tests (line 2)", 4, "osu"),
        (format!("{osu}{nccl}"), "osu (line 1)", 5, "nccl-tests"),
        (format!("{json}{osu}"), "nvbandwidth (line 2)", 4, "osu"),
        (format!("{}{osu}", BENCH), "rocm-bandwidth-test (line 2)", 22, "osu"),
    ] {
        let error = read(&machine, &text, &ReadOptions::default()).expect_err("is refused");
        assert!(error.contains(&format!("the output of {first} and of {second} (line {line})")), "{error}");
        assert!(error.contains("a file of its own"), "{error}");
    }
    // Comments and columns of a table may name other tools.
    for mark in [
        "# OSU MPI-CUDA Bandwidth Test v7.3",
        "# Peer-to-Peer",
        "# made of nvbandwidth Version 0.8",
        "# measured with busGrind",
    ] {
        let table = format!(
            "{mark}\nfrom,to,bytes,seconds,group\nrc0/plx0/gpu0,rc0/plx0/gpu1,1000000,0.001,RDMA_Write BW Test\n"
        );
        let (kind, log) = good(&machine, &table);
        assert_eq!((kind, log.experiments.len()), (LogKind::Csv, 1), "{mark}");
    }
    // Tables of one tool one behind the other are one log.
    assert_eq!(good(&machine, &format!("{nccl}{nccl}")).1.experiments.len(), 4);
}

#[test]
fn host_memory_is_no_gpu_of_a_log() {
    let machine = machine(SOCKETS, &[]);
    let of = |names: &str| ReadOptions { devices: Some(names.to_owned()), ..ReadOptions::default() };
    let error = read(&machine, BENCH, &of("gpu0,cpu0")).expect_err("is refused");
    assert!(error.contains("--devices: `cpu0` is host memory") && error.contains("--host"), "{error}");
    read(&machine, BENCH, &of("gpu0,gpu1")).expect("is read");
}
