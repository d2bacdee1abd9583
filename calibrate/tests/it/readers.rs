//! Every kind of log: what is read, what is skipped and why, and what is wrong, with its place.

use crate::common::machine;
use proptest::prelude::*;
use weir_calibrate::read::{Collective, LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Log, MeasuredEnd};

const SOCKETS: &str = "topologies/two-socket-8gpu.yaml";

fn read(text: &str, options: &ReadOptions) -> Result<(LogKind, Log), String> {
    read_log_text("log", text, &machine(SOCKETS, &[]), options).map_err(|error| error.to_string())
}

fn fine(text: &str, options: &ReadOptions) -> (LogKind, Log) {
    read(text, options).unwrap_or_else(|error| panic!("{error}"))
}

fn with(change: impl FnOnce(&mut ReadOptions)) -> ReadOptions {
    let mut options = ReadOptions::default();
    change(&mut options);
    options
}

#[test]
fn csv_rows_are_grouped_and_notes_name_what_is_not_read() {
    let text = "# a comment\n\nfrom,to,bytes,seconds,group,start_s,stream\ngpu0,gpu1,1000,1e-3,g,0,1\ncpu0,gpu1,5,0.5,,0,1\n\
                gpu2,gpu1,2000,2e-3,g,0,2\n";
    let (kind, log) = fine(text, &ReadOptions::default());
    assert_eq!(kind, LogKind::Csv);
    let sizes: Vec<_> = log.experiments.iter().map(|e| (e.name.as_str(), e.transfers.len())).collect();
    assert_eq!(sizes, [("g", 2), ("line 5", 1)]);
    assert_eq!(log.experiments[0].rows[1].place.line, 6);
    assert_eq!((log.experiments[0].rows[1].seconds, log.experiments[0].rows[1].end), (2e-3, MeasuredEnd::Transfer(1)));
    assert_eq!(log.notes, ["log: not read: the column `start_s`, `stream`"]);
}

#[test]
fn wrong_rows_are_refused_at_their_place() {
    let rows = [
        ("gpu0,gpu1,1000,soon,g", "`seconds` `soon` is not a number", "log:2:16"),
        ("gpu0,gpu1,1000,1e999,g", "`seconds` `1e999` is not a number", "log:2:16"),
        ("gpu0,gpu1,1000,1e300,g", "not between 1 ps and 100 days", "log:2:16"),
        ("gpu0,gpu1,1.5,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu1,99999999999999999999,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu1,9007199254740993,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu1,0,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu1,+5,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu9,1000,1,g", "`to`: no node is named `gpu9`", "log:2:6"),
        ("gpu0,plx0,1000,1,g", "neither sends nor receives", "log:2:6"),
        ("gpu0,gpu0,1000,1,g", "source and destination", "log:2:1"),
        ("gpu0,gpu1,1000", "the row ends before the column", "log:2:1"),
    ];
    for (row, message, place) in rows {
        let error = read(&format!("from,to,bytes,seconds,group\n{row}\n"), &ReadOptions::default()).unwrap_err();
        assert!(error.contains(message) && error.contains(place) && error.contains("help: "), "{row}: {error}");
    }
    // Comments and blank lines count as lines.
    let text = "from,to,bytes,seconds\n# of one\ngpu0,gpu1,1000,1\n\n# of the other #\n  \ngpu0,gpu1,1000,soon\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert!(error.contains("log:7:16"), "{error}");
    let error = read("hello\n", &ReadOptions::default()).unwrap_err();
    assert!(error.contains("not recognised") && error.contains("--as"), "{error}");
}

/// In other letters, with other separators, with another name, below a comment: the help is the rule of the first line.
#[test]
fn a_first_line_that_is_nearly_that_of_csv_is_told_what_it_should_be() {
    let headers = [
        "From,To,Bytes,Seconds",
        "from;to;bytes;seconds",
        "src,to,bytes,time",
        "from,to,bytes,time",
        "\"from\"\t\"to\"\tsize\tseconds",
    ];
    for header in headers {
        let error = read(&format!("# mine\n{header}\ngpu0,gpu1,1000,1\n"), &ReadOptions::default()).unwrap_err();
        let help = "columns are separated by commas, and the first line names them: from,to,bytes,seconds";
        assert!(error.contains("log:2:1") && error.contains(help), "{header}: {error}");
    }
    for nothing in ["", " \n\n", "\u{feff}\n"] {
        let error = read(nothing, &ReadOptions::default()).unwrap_err();
        assert!(error.contains("the file is empty"), "{error}");
    }
}

/// Comments of a table may speak of other tools.
#[test]
fn words_of_other_logs_in_a_comment_make_no_other_kind() {
    let text = "# busbw of last week was higher\nfrom,to,bytes,seconds\ngpu0,gpu1,1000,1\n";
    let (kind, log) = fine(text, &ReadOptions::default());
    assert_eq!((kind, log.experiments.len()), (LogKind::Csv, 1));
}

/// Of copies between devices alone no host takes part.
#[test]
fn a_log_without_hosts_names_none() {
    let log = |name: &str| {
        let text = format!("nvbandwidth Version: v0.8\n\nRunning {name}.\n 0 1\n0 N/A 5\n1 5 N/A\n");
        fine(&text, &ReadOptions::default()).1
    };
    let notes = log("device_to_device_memcpy_read_ce").notes.join("\n");
    assert!(notes.contains("GPU 0 = rc0/plx0/gpu0") && !notes.contains("host memory"), "{notes}");
    let text = "nvbandwidth Version: v0.8\n\nRunning device_to_host_memcpy_ce.\n 0 1\n0 6 5\n";
    let notes = fine(text, &ReadOptions::default()).1.notes.join("\n");
    assert!(notes.contains("host memory = rc0/cpu0"), "{notes}");
}

#[test]
fn rows_that_measured_nothing_are_skipped_and_their_transfers_ran() {
    for (cell, why) in [
        ("", "`seconds` is empty"),
        ("nan", "`seconds` is `nan`"),
        ("-nan", "`seconds` is `-nan`"),
        ("inf", "`seconds` is `inf`"),
        ("-", "`seconds` is `-`"),
        ("N/A", "`seconds` is `N/A`"),
        ("0", "`seconds` is 0, not above 0"),
        ("-1", "`seconds` is -1, not above 0"),
    ] {
        let text = format!(
            "from,to,bytes,seconds,group\ngpu0,gpu1,1000,1e-3,g\ngpu2,gpu1,1000,{cell},g\ngpu2,gpu1,9,{cell},\n"
        );
        let log = fine(&text, &ReadOptions::default()).1;
        // What was not measured still ran beside what was; alone it is of no use.
        let sizes: Vec<_> = log.experiments.iter().map(|e| (e.transfers.len(), e.rows.len())).collect();
        assert_eq!(sizes, [(2, 1)], "{cell}");
        let skipped: Vec<_> = log.skipped.iter().map(|s| (s.place.to_string(), &*s.what, &*s.why)).collect();
        assert_eq!(
            skipped,
            [("log:3:16".to_owned(), "gpu2 → gpu1", why), ("log:4:13".to_owned(), "gpu2 → gpu1", why)],
            "{cell}"
        );
    }
}

const NVBANDWIDTH: &str = r#"{ "nvbandwidth": { "version": "v0.4", "testcases": [
  { "name": "host_to_device_memcpy_ce", "status": "Passed", "sum": 40.0,
    "bandwidth_description": "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)", "bandwidth_matrix": [["20", "10", "N/A"]] },
  { "name": "device_to_host_bidirectional_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["8.5"]] },
  { "name": "device_to_device_memcpy_read_ce", "status": "Passed",
    "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)", "bandwidth_matrix": [["0.00", "5"], ["6", "N/A"]] },
  { "name": "all_to_host_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["3"]] },
  { "name": "device_to_device_memcpy_write_ce", "status": "Waived" },
  { "name": "host_to_device_memcpy_sm", "status": "Passed", "bandwidth_matrix": [["1"]] } ] } }"#;

#[test]
fn nvbandwidth_is_read_with_what_ran_beside() {
    let (kind, log) = fine(NVBANDWIDTH, &ReadOptions::default());
    assert_eq!(kind, LogKind::Nvbandwidth);
    let machine = machine(SOCKETS, &[]);
    let name = |node| machine.node_name(node);
    let all: Vec<_> = log
        .experiments
        .iter()
        .map(|e| {
            let t = e.transfers[0];
            (name(t.from), name(t.to), e.transfers.len(), (t.bytes as f64 / e.rows[0].seconds / 1e7).round() / 100.0)
        })
        .collect();
    let expected = [
        ("cpu0", "gpu0", 1, 20.0),
        ("cpu0", "gpu1", 1, 10.0),
        ("gpu0", "cpu0", 2, 8.5),
        ("gpu1", "gpu0", 1, 5.0),
        ("gpu0", "gpu1", 1, 6.0),
        ("gpu0", "cpu0", 8, 3.0),
    ];
    assert_eq!(all, expected);
    let why: Vec<_> = log.skipped.iter().map(|s| (s.what.as_str(), s.place.line)).collect();
    let unmeasured = ("host_to_device_memcpy_ce, a cell", 3);
    assert_eq!(why, [unmeasured, ("device_to_device_memcpy_write_ce", 8), ("host_to_device_memcpy_sm", 9)]);
    assert!(log.skipped[1].why.contains("Waived"));
    let (_, behind_a_prompt) = fine(&format!("$ nvbandwidth -j\n{NVBANDWIDTH}\n$ "), &ReadOptions::default());
    assert_eq!(behind_a_prompt.experiments.len(), log.experiments.len());
    let two = read(&format!("{NVBANDWIDTH}\n{NVBANDWIDTH}\n"), &ReadOptions::default()).unwrap_err();
    assert!(two.contains("output of one run"), "{two}");
    for (cell, message) in [
        ("\"-3\"", "-3, not above 0"),
        ("\"0\"", "0, not above 0"),
        ("\"nan\"", "`nan`"),
        ("\"-\"", "`-`"),
        ("\"x\"", "not a number"),
        ("{}", "is empty"),
        ("null", "not a number"),
        ("1e999", "no JSON"),
    ] {
        match read(&NVBANDWIDTH.replace("\"20\"", cell), &ReadOptions::default()) {
            Ok((_, log)) => {
                assert_eq!(log.experiments.len(), 5, "{cell}");
                let first = &log.skipped[0];
                assert!(first.why.contains(message), "{cell}: {first:?}");
                assert_eq!((first.place.line, first.place.column), (3, 106), "{cell}");
                assert_eq!(first.what, "host_to_device_memcpy_ce [0][0]");
            }
            Err(error) => assert!(error.contains(message), "{error}"),
        }
    }
    let cut = read(&NVBANDWIDTH[..NVBANDWIDTH.len() / 2], &ReadOptions::default()).unwrap_err();
    assert!(cut.contains("no JSON") && cut.contains("cut off"), "{cut}");
}

const P2P: &str = "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\nP2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     1\n     1\t     1     1\n\
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n     0 700.00  10.00 \n     1  10.00 700.00 \n\
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1 \n     0 700.00  20.00 \n     1  16.00 700.00 \n\
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n     0 700.00  40.00 \n     1  32.00 700.00 \n\
P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1 \n     0   2.00   5.00 \n     1   6.00   2.00 \n\n   CPU     0      1 \n     0   2.00   2.00 \n";

#[test]
fn the_peer_to_peer_sample_is_read_without_what_goes_through_the_host() {
    let (kind, log) = fine(P2P, &with(|o| o.devices = Some("gpu[4-5]".to_owned())));
    assert_eq!(kind, LogKind::P2p);
    let all: Vec<_> =
        log.experiments.iter().map(|e| (e.transfers.len(), e.transfers[0].bytes, e.rows[0].seconds)).collect();
    let expected = [(1, 0.008), (1, 0.01), (2, 0.008), (2, 0.01)].map(|(n, s)| (n, 160_000_000, s));
    assert_eq!(all[..4], expected);
    assert_eq!(all[4..], [(1, 16, 5.0 * 1e-6), (1, 16, 6.0 * 1e-6)]);
    assert_eq!(log.skipped.len(), 2, "{:#?}", log.skipped);
    let few = fine(P2P, &with(|o| o.devices = Some("gpu4".to_owned()))).1;
    assert!(few.experiments.is_empty() && few.skipped.iter().any(|s| s.why.contains("--devices")));
    let error = read(&P2P.replace("  20.00 ", "  "), &ReadOptions::default()).unwrap_err();
    assert!(error.contains("log:12:") && error.contains("1 cells, and the matrix 2 columns"), "{error}");
}

const NCCL: &str = "# nThread 1 nGpus 4 minBytes 8 maxBytes 134217728\n#  Rank  0 Group  0 Pid 1 on n device  0 [0x07] X\n\
#  Rank  1 Group  0 Pid 1 on n device  1 [0x0b] X\n#  Rank  2 Group  0 Pid 1 on n device  2 [0x48] X\n#  Rank  3 Group  0 Pid 1 on n device  3 [0x4c] X\n\
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
   0 0 float sum -1 0.1 0.00 0.00 0 0.1 0.00 0.00 0\n   1000000        250000     float     sum      -1    100.0   10.0    15.0      0    N/A   0 0 N/A\n";

#[test]
fn a_collective_is_a_ring_of_the_devices() {
    let options = with(|o| o.collective = Some(Collective::AllReduce));
    let (kind, log) = fine(NCCL, &options);
    assert_eq!(kind, LogKind::Nccl);
    assert_eq!(log.experiments.len(), 1);
    let ring = &log.experiments[0];
    // 2 · 3/4 of the bytes pass each rank, in 6 steps.
    assert_eq!((ring.transfers.len(), ring.transfers[0].bytes, ring.steps), (4, 1_500_000, 6));
    assert_eq!((ring.rows[0].seconds, ring.rows[0].end), (100.0 * 1e-6, MeasuredEnd::Last));
    let unnamed = fine(NCCL, &ReadOptions::default()).1;
    assert!(unnamed.experiments.is_empty() && unnamed.skipped[1].why.contains("--collective"));
    let named = format!("# Collective test starting: sendrecv_perf\n{NCCL}");
    assert_eq!(fine(&named, &ReadOptions::default()).1.experiments[0].transfers[0].bytes, 1_000_000);
    let error = read(&NCCL.replace("100.0   10.0    15.0      0    N/A   0 0 N/A", "100.0"), &options).unwrap_err();
    assert!(error.contains("log:8:") && error.contains("has 6 columns"), "{error}");
}

#[test]
fn windows_and_one_way_times_of_osu() {
    let table =
        "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n1 6.4\n1000 640.0\n";
    let pair = with(|o| o.pair = Some("gpu0,gpu1".to_owned()));
    let (kind, log) = fine(table, &pair);
    assert_eq!(kind, LogKind::Osu);
    let row = &log.experiments[1];
    // 64 messages of 1000 bytes at 640 MB/s: 100 µs.
    assert_eq!((row.messages, row.reply, row.rows[0].seconds), (64, Some(4), 1e-4));
    let both = fine(&table.replace("Bandwidth Test", "Bi-Directional Bandwidth Test"), &pair).1;
    assert_eq!((both.experiments[1].transfers.len(), both.experiments[1].rows[0].seconds), (2, 2e-4));
    let latency = fine("# OSU MPI Latency Test v7.3\n# Size  Latency (us)\n0 1.0\n8 2.5\n", &pair).1;
    assert_eq!((latency.experiments[0].messages, latency.experiments[0].rows[0].seconds), (1, 2.5 * 1e-6));
    assert_eq!(latency.skipped[0].why, "no bytes are moved");
    // What is no row of a table is left alone, and without a row nobody is named.
    let words = fine("# OSU MPI Latency Test v7.3\nWARNING: no GPU\n# Size  Latency (us)\n0 1.0\n", &pair).1;
    assert_eq!((words.experiments.len(), words.skipped.len(), words.notes), (0, 1, vec![]));
    let names = "log: rank 0 = ";
    assert!(
        matches!(&latency.notes[..], [one] if one.starts_with(names)),
        "one message at a time: {:?}",
        latency.notes
    );
    assert!(fine(table, &ReadOptions::default()).1.skipped[0].why.contains("--pair"));
    for (row, message) in
        [("8 nan", "`nan`"), ("8 -1", "-1, not above 0"), ("8 -nan", "`-nan`"), ("8 0", "0, not above 0")]
    {
        let log = fine(&format!("# OSU MPI Latency Test\n{row}\n16 2.0\n"), &pair).1;
        assert_eq!(log.experiments.len(), 1);
        assert!(log.skipped[0].why.contains(message) && log.skipped[0].place.to_string() == "log:2:3", "{log:?}");
    }
    let error = read("# OSU MPI Latency Test\n8\n", &pair).unwrap_err();
    assert!(error.contains("log:2:1") && error.contains("no value"), "{error}");
}

/// `bandwidth_matrix` stands before `name`, as the program writes its keys in alphabetical order; a test that failed, one
/// without its matrix, one of several nodes, and more devices than the topology has.
#[test]
fn tests_of_nvbandwidth_that_cannot_be_used_are_named() {
    let text = r#"{ "nvbandwidth": { "CUDA Runtime Version": 12080, "bufferSize": 64, "testcases": [
  { "bandwidth_description": "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
    "bandwidth_matrix": [ [ "25.1", "inf" ] ],
    "name": "device_to_host_memcpy_ce", "status": "Passed", "sum": 50.2 },
  { "error": "CUDA_ERROR_OUT_OF_MEMORY", "name": "host_to_device_memcpy_ce", "status": "Error" },
  { "name": "host_to_all_memcpy_ce" },
  { "bandwidth_matrix": [["1"]], "name": "multinode_device_to_device_memcpy_read_ce", "status": "Passed" },
  { "bandwidth_matrix": [["1"]], "name": "device_local_copy", "status": "Passed" },
  { "name": "no_such_test", "status": "Not Found" } ] } }"#;
    let log = fine(text, &ReadOptions::default()).1;
    assert_eq!((log.experiments.len(), log.experiments[0].transfers[0].bytes), (1, 64 << 20));
    assert_eq!(log.experiments[0].rows[0].place.to_string(), "log:3:29");
    let skipped: Vec<_> = log.skipped.iter().map(|s| (s.place.to_string(), &*s.why)).collect();
    let expected = [
        ("log:3:37", "the cell is `inf`"),
        ("log:5:50", "its status is `Error`: CUDA_ERROR_OUT_OF_MEMORY"),
        ("log:6:13", "it has no bandwidth_matrix: run it again, with -j"),
        ("log:7:42", "not between two devices of this topology"),
        ("log:8:42", "only copies by the copy engine (_ce) are used: kernels (_sm) and latencies are not transfers"),
        ("log:9:13", "its status is `Not Found`"),
    ];
    assert_eq!(skipped, expected.map(|(place, why)| (place.to_owned(), why)));
    assert_eq!(
        log.notes[0],
        "log: GPU 0 = rc0/plx0/gpu0; host memory = rc0/cpu0 (assumed; name others by --devices, --host)"
    );
    let ragged = r#"{ "nvbandwidth": { "testcases": [
  { "name": "device_to_device_memcpy_read_ce", "bandwidth_matrix": [ ["N/A", "5"], ["6"] ] } ] } }"#;
    let error = read(ragged, &ReadOptions::default()).unwrap_err();
    let message = "row 2 of `device_to_device_memcpy_read_ce` has 1 cells, the first has 2";
    assert!(error.contains("log:2:84") && error.contains(message), "{error}");
    let error = read(
        r#"{ "nvbandwidth": {
        "error": "No CUDA devices" } }"#,
        &ReadOptions::default(),
    )
    .unwrap_err();
    assert!(error.contains("log:2:18") && error.contains("No CUDA devices"), "{error}");
}

/// What `mpirun --tag-output` writes, older columns, `-nan`, and one table after the other.
#[test]
fn tables_of_nccl_tests_follow_each_other() {
    let header = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
                  #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";
    let ranks = |n: u32| -> String {
        (0..n).map(|i| format!("#  Rank {i:2} Group  0 Pid 7 on n device {i:2} [0x07] X\n")).collect()
    };
    let end =
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.5\n#\n# Collective test concluded: x_perf\n#\n";
    let text = format!(
        "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 4 minBytes 8\n{}{header}\
         1000000 250000 float sum -1 100.0 10.0 15.0 0 -nan 0.00 0.00 N/A\n{end}\
         # Collective test starting: alltoall_perf\n# nThread 1 nGpus 2 minBytes 8\n{}{header}\
         1000000 250000 float none -1 50.0 10.0 15.0 0 60.0 1.0 1.0 N/A\n\
         2000000 250000 float none -1 70.0 10.0 15.0 0\n{end}\
         # Collective test starting: broadcast_perf\n{header}1000000 250000 float none 0 50.0 1.0 1.0 0 60.0 1.0 1.0 0\n\
         ./build/all_gather_perf -g 2\n\
         #       size  count  type  redop  root  time  algbw  busbw  error  time  algbw  busbw  error\n\
         1000000 250000 float 80.0 1.0 1.0 0e+00 90.0 1.0 1.0 0e+00\n",
        ranks(4),
        ranks(2),
    );
    for text in [text.clone(), text.lines().map(|line| format!("[1,0]<stdout>:{line}\n")).collect()] {
        let log = fine(&text, &ReadOptions::default()).1;
        let all: Vec<_> = log
            .experiments
            .iter()
            .map(|e| (&*e.name, e.transfers.len(), (e.rows[0].seconds * 1e7).round() / 10.0))
            .collect();
        let expected = [
            ("all-reduce of 1000000 B", 4, 100.0),
            ("all-to-all of 1000000 B", 2, 50.0),
            ("all-to-all of 1000000 B", 2, 60.0),
            ("all-to-all of 2000000 B", 2, 70.0),
            ("all-gather of 1000000 B", 2, 80.0),
            ("all-gather of 1000000 B", 2, 90.0),
        ];
        assert_eq!(all, expected);
        assert_eq!(log.skipped.len(), 2, "{:?}", log.skipped);
        assert!(
            log.skipped[0].why.contains("`-nan`") && log.skipped[1].why.contains("`broadcast_perf` is no collective")
        );
        assert!(log.notes[0].starts_with("log: rank 0 = rc0/plx0/gpu0, 1 = rc0/plx0/gpu1"), "{:?}", log.notes);
    }
}

/// Titles of version 5 and 7, buffers on devices, a column of validation, and tests that are not of one pair.
#[test]
fn titles_of_osu_decide() {
    let pair = with(|o| o.pair = Some("gpu0,gpu1".to_owned()));
    let read = |title: &str, columns: &str, rest: &str| {
        fine(&format!("# {title}\n# Datatype: MPI_CHAR.\n# Size {columns}\n1000 640.0{rest}\n"), &pair).1
    };
    let validated =
        read("OSU MPI-CUDA Bandwidth Test v7.5", "Bandwidth (MB/s)        Validation", "              Pass");
    assert_eq!((validated.experiments[0].messages, validated.experiments[0].rows[0].seconds), (64, 1e-4));
    assert_eq!(
        read("OSU MPI-CUDA Latency Test v7.5", "Avg Latency(us)", "").experiments[0].rows[0].seconds,
        640.0 * 1e-6
    );
    assert_eq!(
        read("OSU MPI-CUDA Bi-Directional Bandwidth Test v5.9", "Bandwidth (MB/s)", "").experiments[0].transfers.len(),
        2
    );
    for title in
        ["OSU MPI Multi Latency Test v7.4", "OSU MPI Allreduce Latency Test v7.4", "OSU MPI_Put Latency Test v7.4"]
    {
        let log = read(title, "Avg Latency(us)   Min Latency(us)", "   1.0");
        assert!(log.experiments.is_empty() && log.skipped[0].why.contains(title), "{:?}", log.skipped);
    }
    let text = "# OSU MPI-CUDA Latency Test v5.9\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n# Size Latency (us)\n8 2.0\n";
    let notes = fine(text, &pair).1.notes;
    assert!(notes[0].contains("on DEVICE (D) and Receive"), "{notes:?}");
}

/// Matrices of 1, 2, 8 and 16 GPUs, copies by reads, and pairs that cannot reach each other.
#[test]
fn matrices_of_any_number_of_gpus() {
    let matrix = |title: &str, corner: &str, n: usize, cell: &dyn Fn(usize, usize) -> String| {
        let head: String = (0..n).map(|j| format!("{j:7}")).collect();
        let row = |i: usize| format!("{i:6} {}\n", (0..n).map(|j| format!("{:>7}", cell(i, j))).collect::<String>());
        format!("{title}\n{corner:>6} {head}\n{}", (0..n).map(row).collect::<String>())
    };
    for n in [1, 2, 8, 16] {
        let text = matrix("P2P Connectivity Matrix", "D\\D", n, &|i, j| u8::from(i.abs_diff(j) != 7).to_string())
            + &matrix("Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "D\\D", n, &|_, _| "9.0".to_owned())
            + &matrix("Unidirectional P2P=Enabled Bandwidth (P2P Reads) Matrix (GB/s)", "D\\D", n, &|i, j| {
                format!("{}.0", 1 + i + 2 * j)
            })
            + &matrix("P2P=Enabled Latency (P2P Writes) Matrix (us)", "GPU", n, &|_, _| "2.5".to_owned())
            + "\n"
            + &matrix("", "CPU", n, &|_, _| "1.5".to_owned());
        let log = fine(&text, &ReadOptions::default()).1;
        let apart =
            (0..n.min(8)).flat_map(|i| (0..n.min(8)).map(move |j| (i, j))).filter(|(i, j)| i.abs_diff(*j) == 7).count();
        let pairs = n.min(8) * (n.min(8) - 1) - apart;
        assert_eq!(log.experiments.len(), 2 * pairs, "{n}");
        if let Some(first) = log.experiments.first() {
            // Row 0, column 1 of a matrix by reads: from 1 to 0, at 3 GB/s.
            assert_eq!((&*first.name, first.rows[0].seconds), ("1 to 0", 160e6 / 3e9));
        }
        assert!(
            log.skipped.iter().any(|s| s.what.contains("P2P=Disabled"))
                && log.skipped.iter().any(|s| s.what.contains("CPU"))
        );
        let staged = log.skipped.iter().filter(|s| s.why.contains("cannot reach")).count();
        assert_eq!(
            staged,
            2 * (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i.abs_diff(*j) == 7).count()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Logs cut off anywhere, or with a byte changed, are read or refused, never more.
    #[test]
    fn damaged_logs_do_no_harm(which in 0_usize..4, cut in 0_usize..2000, byte in 0_u8..128, at in 0_usize..2000) {
        let csv = "from,to,bytes,seconds,group\ngpu0,gpu1,1000,1e-3,\"g\nh\"\n";
        let mut text = [NVBANDWIDTH, P2P, NCCL, csv][which].as_bytes().to_vec();
        let length = text.len();
        text[at % length] = byte;
        text.truncate(cut % (length + 1));
        let Ok(text) = String::from_utf8(text) else { return Ok(()) };
        for kind in LogKind::ALL {
            let options = ReadOptions { kind: Some(kind), pair: Some("gpu0,gpu1".to_owned()), ..ReadOptions::default() };
            if let Ok((_, log)) = read(&text, &options) {
                for row in log.experiments.iter().flat_map(|e| &e.rows) {
                    prop_assert!(row.seconds > 0.0 && row.seconds.is_finite());
                }
            }
        }
    }
}
