//! Text and JSON of nvbandwidth: which copies ran, and between which devices.

use crate::common::{machine, machine_of};
use crate::tools::{SOCKETS, addressed, each, read};
use weir_calibrate::read::{LogKind, ReadOptions};

const NVBANDWIDTH: &str = "nvbandwidth Version: v0.5\nBuilt from Git version: v0.5\n\nDevice 0: NVIDIA X\nDevice 1: NVIDIA X\n\n\
Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0     24.10     24.20\n\n\
SUM host_to_device_memcpy_ce 48.30\n\nRunning host_to_device_bidirectional_memcpy_ce.\n\
memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)\n           0         1\n 0     20.00     20.10\n\nWaived: \n\
Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n\
 0       N/A     23.00\n 1     23.50       N/A\n\nSUM device_to_device_memcpy_read_ce 46.50\n\n\
Running all_to_host_bidirectional_memcpy_ce.\nmemcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)\n           0         1\n\
 0     12.00     12.10\n\nRunning all_to_one_write_ce.\nmemcpy CE All Gpus -> GPU(column) total bandwidth (GB/s)\n           0         1\n\
 0     22.00     22.50\n\nRunning host_to_device_memcpy_sm.\nmemcpy SM CPU(row) -> GPU(column) bandwidth (GB/s)\n           0\n 0   9.0\n\n\
NOTE: The reported results may not reflect the full capabilities of the platform.\n";

#[test]
fn text_of_nvbandwidth_is_read_as_its_json() {
    let machine = machine(SOCKETS, &[]);
    for text in [NVBANDWIDTH.to_owned(), NVBANDWIDTH[NVBANDWIDTH.find("Running").unwrap()..].replace('\n', "\r\n")] {
        let (kind, log) = read(&machine, &text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(kind, LogKind::Nvbandwidth);
        let expected = [
            ("cpu0", "gpu0", 1, 24.1),
            ("cpu0", "gpu1", 1, 24.2),
            ("cpu0", "gpu0", 2, 20.0),
            ("cpu0", "gpu1", 2, 20.1),
            ("gpu1", "gpu0", 1, 23.0),
            ("gpu0", "gpu1", 1, 23.5),
            ("gpu0", "cpu0", 4, 12.0),
            ("gpu1", "cpu0", 4, 12.1),
            ("gpu1", "gpu0", 1, 22.0),
            ("gpu0", "gpu1", 1, 22.5),
        ];
        assert_eq!(each(&machine, &log), expected);
        // What accompanies a copy lasts as long as it.
        assert_eq!(log.experiments[2].transfers[1].bytes, 2 * log.experiments[2].transfers[0].bytes);
        let skipped: Vec<_> = log.skipped.iter().map(|part| &*part.what).collect();
        assert_eq!(skipped, ["host_to_device_memcpy_sm"]);
    }
    // A diagonal is no pair; of a pair that was not measured the log says so.
    let without = NVBANDWIDTH.replace("N/A     23.00", "N/A       N/A");
    let (_, log) = read(&machine, &without, &ReadOptions::default()).expect("a log");
    let skipped: Vec<_> = log.skipped.iter().map(|part| (&*part.what, part.why.split(':').next())).collect();
    assert_eq!(skipped[0], ("device_to_device_memcpy_read_ce, a cell", Some("N/A")), "{skipped:?}");
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    let cut = &NVBANDWIDTH[..NVBANDWIDTH.find("24.20").unwrap()];
    let error = read(&machine, cut, &ReadOptions::default()).unwrap_err();
    assert!(error.contains("log:10:") && error.contains("1 cells, and the matrix 2 columns"), "{error}");
}

/// A device reads from the one of the column, and writes to it, whatever the arrow of the title; the measured stream of a
/// two-way write turned around with version 0.6, which prints both streams and their sum.
#[test]
fn nvbandwidth_reads_go_from_the_column_to_the_row() {
    let machine = machine(SOCKETS, &[]);
    let matrix = |title: &str, values: [&str; 2]| {
        format!(
            "memcpy CE GPU(row) {title} bandwidth (GB/s)\n           0         1\n 0       N/A     {}\n 1     {}       N/A\n\n",
            values[0], values[1]
        )
    };
    let log = |test: &str, matrices: &[String]| format!("Running {test}.\n{}", matrices.concat());
    let one = |arrow: &str| vec![matrix(&format!("{arrow} GPU(column)"), ["20", "21"])];
    let streams = |word: &str| {
        let title = |end: &str| format!("<-> GPU(column) {end}");
        vec![
            matrix(&title(&format!("{word}1")), ["20", "21"]),
            matrix(&title(&format!("{word}2")), ["22", "23"]),
            matrix(&title("Total"), ["42", "44"]),
        ]
    };
    let (to_row, to_column) =
        ([("gpu1", "gpu0", 20.0), ("gpu0", "gpu1", 21.0)], [("gpu0", "gpu1", 20.0), ("gpu1", "gpu0", 21.0)]);
    for (test, matrices, expected) in [
        ("device_to_device_memcpy_read_ce", one("->"), to_row),
        ("device_to_device_memcpy_read_ce", one("<-"), to_row),
        ("device_to_device_memcpy_write_ce", one("<-"), to_column),
        ("device_to_device_memcpy_write_ce", one("->"), to_column),
        ("device_to_device_bidirectional_memcpy_read_ce", one("<->"), to_row),
        ("device_to_device_bidirectional_memcpy_read_ce", streams("Read"), to_row),
        ("device_to_device_bidirectional_memcpy_write_ce", one("<->"), to_column),
        ("device_to_device_bidirectional_memcpy_write_ce", streams("Write"), to_row),
    ] {
        let (_, found) =
            read(&machine, &log(test, &matrices), &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let all: Vec<_> = each(&machine, &found).into_iter().map(|(from, to, _, rate)| (from, to, rate)).collect();
        assert_eq!(all, expected, "{test}");
        // The other stream, and the sum, are named.
        let left_out: Vec<_> =
            found.skipped.iter().map(|skipped| skipped.what.split_once(", ").expect("two parts").1).collect();
        assert_eq!(left_out, vec!["from row 3 on"; usize::from(matrices.len() > 1)]);
    }
}

/// What all others read of a device, and what it writes to all, goes from it to them; the other way round for the other two tests.
#[test]
fn copies_of_one_device_and_all_others_have_their_directions() {
    let machine = machine(SOCKETS, &[]);
    for (test, outwards) in [
        ("all_to_one_read_ce", true),
        ("one_to_all_write_ce", true),
        ("all_to_one_write_ce", false),
        ("one_to_all_read_ce", false),
    ] {
        let log = format!("nvbandwidth Version: v0.8\n\nRunning {test}.\n 0 1 2\n0 20 21 22\n");
        let (_, found) = read(&machine, &log, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let all = each(&machine, &found);
        assert_eq!(all.iter().map(|one| one.2).collect::<Vec<_>>(), [2, 2, 2], "{test}");
        let of_column: Vec<&str> = all.iter().map(|one| if outwards { one.0 } else { one.1 }).collect();
        assert_eq!(of_column, ["gpu0", "gpu1", "gpu2"], "{test}");
    }
}

/// Numbers of tools are those of names, wherever the tree has them; names of two words are numbered as they stand.
#[test]
fn gpus_are_numbered_by_their_names() {
    let log = "nvbandwidth Version: v0.8\n\nRunning device_to_host_memcpy_ce.\n 0 1 2\n0 20 21 22\n";
    let ends = |names: [&str; 3]| {
        let gpu = |name| format!("{name}: {{ kind: gpu, link: slot }}");
        let machine = machine_of(&format!(
            "weir: 1\nlink_types: {{ slot: {{ bandwidth: 50GB/s }} }}\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
             cpu0: {{ kind: cpu, link: slot }}\n      {}\n",
            names.map(gpu).join("\n      ")
        ));
        let (_, found) = read(&machine, log, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        each(&machine, &found).iter().map(|one| one.0.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ends(["gpu2", "gpu10", "gpu0"]), ["gpu0", "gpu2", "gpu10"]);
    assert_eq!(ends(["gpu2", "fast1", "gpu0"]), ["gpu2", "fast1", "gpu0"]);
}

/// As text and as JSON; the machine's name in brackets is no address.
#[test]
fn gpus_of_nvbandwidth_are_the_devices_at_their_pci_addresses() {
    let machine = addressed(false);
    let text = |first: &str| {
        format!(
            "Device 0: NVIDIA H100 ({first})\nDevice 1: NVIDIA H100 (00000000:1c:00)\n\nRunning device_to_device_memcpy_write_ce.\n\
             memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n           0         1\n 0       N/A     40.0\n 1     41.0       N/A\n"
        )
    };
    let json = r#"{ "nvbandwidth": { "GPU Device list": ["0: NVIDIA H100 (00000000:1b:00): (node1)", "1: NVIDIA H100 (00000000:1c:00): (node1)"],
        "testcases": [ { "name": "device_to_device_memcpy_write_ce", "bandwidth_matrix": [["N/A", "40"], ["41", "N/A"]] } ] } }"#;
    for log in [text("00000000:1b:00"), json.to_owned()] {
        let (_, found) = read(&machine, &log, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(each(&machine, &found), [("gpu2", "gpu1", 1, 40.0), ("gpu1", "gpu2", 1, 41.0)]);
        assert!(
            found.notes[0].contains("GPU 0 = rc0/gpu2") && found.notes[0].contains("`bus_id`"),
            "{:?}",
            found.notes
        );
    }
    let error = read(&machine, &text("00000000:91:00"), &ReadOptions::default()).unwrap_err();
    assert!(error.contains("GPU 0 is the device at 00000000:91:00") && error.contains("--devices"), "{error}");
}
