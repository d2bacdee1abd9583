//! Forms of the matrices of TransferBench, and matrices that are not read.

use crate::common::machine_of;
use weir_calibrate::Log;
use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_scenario::Machine;

fn machine() -> Machine {
    machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 50GB/s } }\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
         cpu0: { kind: cpu, link: slot }\n      'gpu[0-1]': { kind: gpu, link: slot }\n",
    )
}

fn read(text: &str) -> Log {
    let (kind, log) = read_log_text("log", text, &machine(), &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(kind, LogKind::Rocm);
    log
}

/// The ends of each copy that was measured, and its microseconds.
fn each(log: &Log) -> Vec<(String, u32)> {
    let machine = machine();
    let one = |e: &weir_calibrate::Experiment| {
        let name = |node| machine.node_name(node);
        let ends = format!("{} {}", name(e.transfers[0].from), name(e.transfers[0].to));
        (ends, (e.rows[0].seconds * 1e6).round() as u32)
    };
    log.experiments.iter().map(one).collect()
}

/// A size of 4 000 000 B, so that 4 GB/s take 1 ms: down 4, up 8, between GPUs 5 and 10.
const ONE_WAY: &str = "Bytes Per Direction 4000000\n\
    Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)\n SRC+EXE\\DST    CPU 00       GPU 00    GPU 01\n  \
    CPU 00  ->     90.00         4.00      4.00\n\n  GPU 00  ->      8.00        90.00      5.00\n  \
    GPU 01  ->      8.00        10.00     90.00\n";

fn one_way() -> Vec<(String, u32)> {
    [
        ("cpu0 gpu0", 1000),
        ("cpu0 gpu1", 1000),
        ("gpu0 cpu0", 500),
        ("gpu0 gpu1", 800),
        ("gpu1 cpu0", 500),
        ("gpu1 gpu0", 400),
    ]
    .map(|(ends, us)| (ends.to_owned(), us))
    .to_vec()
}

/// With USE_REMOTE_READ the destination executes, and the row still sends.
#[test]
fn remote_reads_of_transfer_bench_are_read() {
    let log = read(&ONE_WAY.replace("SRC+EXE\\DST", "SRC\\EXE+DST"));
    assert_eq!((each(&log), log.skipped.len()), (one_way(), 0));
}

/// Where rocm-bandwidth-test prints means, only its titles differ.
#[test]
fn means_of_rocm_bandwidth_test_are_read() {
    let means = ONE_WAY.replace("copy peak", "copy average");
    assert_eq!((each(&read(&means)), read(&means).skipped.len()), (one_way(), 0));
    let both = read(&means.replace("Unidirectional", "Bidirectional"));
    assert!(!both.experiments.is_empty() && both.experiments.iter().all(|e| e.transfers.len() == 2));
}

#[test]
fn a_matrix_with_columns_that_are_not_known_is_listed() {
    let unread = ONE_WAY.replace("SRC+EXE\\DST", "FROM\\TO");
    let log = read(&format!("{ONE_WAY}\n{unread}"));
    assert_eq!(each(&log), one_way());
    let [skipped] = &log.skipped[..] else { panic!("{:?}", log.skipped) };
    assert_eq!(skipped.place.line, 10);
    assert!(skipped.what.starts_with("Unidirectional") && skipped.why.contains("SRC\\EXE+DST"), "{skipped:?}");
    // At the end of a log, too.
    assert_eq!(read(&unread).skipped.len(), 1);
}

#[test]
fn spreads_and_commas_of_transfer_bench_are_no_obstacle() {
    let rows = |line: &str| match line.split_once("->") {
        Some((end, cells)) => {
            let of = |word: &str| format!("{end}{word}{cells}\n");
            [of(" ->"), of("min"), of("max"), of(" sd")].concat()
        }
        None => format!("{line}\n"),
    };
    let iterations: String = ONE_WAY.lines().map(rows).collect();
    let behind = |line: &str| match line.trim_start().split_once(' ') {
        Some(("Bytes", _)) => line.replace("Direction ", "Direction,"),
        Some(("CPU" | "GPU" | "SRC+EXE\\DST", _)) => {
            let cells = ["->", "DST", "min", "max", " sd", "0 ", "00"].iter();
            cells.fold(format!("{line} "), |line, end| line.replace(&format!("{end} "), &format!("{end}, ")))
        }
        _ => line.to_owned(),
    };
    let commas = |text: &str| text.lines().map(|line| behind(line) + "\n").collect::<String>();
    for text in [iterations.clone(), commas(ONE_WAY), commas(&iterations)] {
        let log = read(&text);
        assert_eq!((each(&log), log.skipped.len()), (one_way(), 0), "{text}");
        assert!(log.notes.iter().any(|note| note.contains("copies of 4000000 B")), "{:?}", log.notes);
    }
}
