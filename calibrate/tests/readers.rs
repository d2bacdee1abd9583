//! Every kind of log: what is read, what is skipped and why, and what is wrong, with its place.

mod common;

use common::machine;
use proptest::prelude::*;
use weir_calibrate::read::{Collective, LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Log, Seen};

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
    assert_eq!((log.experiments[0].rows[1].seconds, log.experiments[0].rows[1].seen), (2e-3, Seen::End(1)));
    assert_eq!(log.notes, ["log: not read: the column `start_s`, `stream`"]);
}

#[test]
fn wrong_rows_are_refused_at_their_place() {
    let rows = [
        ("gpu0,gpu1,1000,nan,g", "`seconds` is `nan`", "log:2:16"),
        ("gpu0,gpu1,1000,-1,g", "`seconds` is -1, not above 0", "log:2:16"),
        ("gpu0,gpu1,1000,0,g", "`seconds` is 0, not above 0", "log:2:16"),
        ("gpu0,gpu1,1000,1e300,g", "not between 1 ps and 100 days", "log:2:16"),
        ("gpu0,gpu1,1.5,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu1,99999999999999999999,1,g", "not a whole number of bytes", "log:2:11"),
        ("gpu0,gpu9,1000,1,g", "`to`: no node is named `gpu9`", "log:2:6"),
        ("gpu0,plx0,1000,1,g", "neither sends nor receives", "log:2:6"),
        ("gpu0,gpu0,1000,1,g", "source and destination", "log:2:1"),
        ("gpu0,gpu1,1000", "the row ends before the column", "log:2:1"),
    ];
    for (row, message, place) in rows {
        let error = read(&format!("from,to,bytes,seconds,group\n{row}\n"), &ReadOptions::default()).unwrap_err();
        assert!(error.contains(message) && error.contains(place) && error.contains("help: "), "{row}: {error}");
    }
    let error = read("hello\n", &ReadOptions::default()).unwrap_err();
    assert!(error.contains("not recognised") && error.contains("--as"), "{error}");
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
        ("gpu0", "gpu1", 1, 5.0),
        ("gpu1", "gpu0", 1, 6.0),
        ("gpu0", "cpu0", 8, 3.0),
    ];
    assert_eq!(all, expected);
    let why: Vec<_> = log.skipped.iter().map(|s| (s.what.as_str(), s.place.line)).collect();
    assert_eq!(why, [("device_to_device_memcpy_write_ce", 8), ("host_to_device_memcpy_sm", 9)]);
    assert!(log.skipped[0].why.contains("Waived"));
    for (cell, message) in
        [("\"-3\"", "-3, not above 0"), ("\"nan\"", "`nan`"), ("\"x\"", "not a number"), ("{}", "not a number")]
    {
        let error = read(&NVBANDWIDTH.replace("\"20\"", cell), &ReadOptions::default()).unwrap_err();
        assert!(error.contains(message) && error.contains("log:2:"), "{error}");
    }
    let cut = read(&NVBANDWIDTH[..NVBANDWIDTH.len() / 2], &ReadOptions::default()).unwrap_err();
    assert!(cut.contains("no JSON") && cut.contains("cut off"), "{cut}");
}

const P2P: &str = "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\nP2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     1\n\
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
    assert_eq!(log.skipped.len(), 3, "{:#?}", log.skipped);
    let few = fine(P2P, &with(|o| o.devices = Some("gpu4".to_owned()))).1;
    assert!(few.experiments.is_empty() && few.skipped.iter().any(|s| s.why.contains("--devices")));
    let error = read(&P2P.replace("  20.00 ", "  "), &ReadOptions::default()).unwrap_err();
    assert!(error.contains("log:11:") && error.contains("1 cells, and the matrix 2 columns"), "{error}");
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
    assert_eq!((ring.rows[0].seconds, ring.rows[0].seen), (100.0 * 1e-6, Seen::Last));
    let unnamed = fine(NCCL, &ReadOptions::default()).1;
    assert!(unnamed.experiments.is_empty() && unnamed.skipped[1].why.contains("--collective"));
    let named = format!("# Collective test starting: sendrecv_perf\n{NCCL}");
    assert_eq!(fine(&named, &ReadOptions::default()).1.experiments[0].transfers[0].bytes, 1_000_000);
    let error = read(&NCCL.replace("100.0   10.0    15.0      0    N/A   0 0 N/A", "100.0"), &options).unwrap_err();
    assert!(error.contains("log:8:") && error.contains("6 columns"), "{error}");
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
    assert!(fine(table, &ReadOptions::default()).1.skipped[0].why.contains("--pair"));
    for (row, message) in
        [("8 nan", "`nan`"), ("8 -1", "-1, not above 0"), ("8", "no value"), ("8 0", "0, not above 0")]
    {
        let error = read(&format!("# OSU MPI Latency Test\n{row}\n"), &pair).unwrap_err();
        assert!(error.contains("log:2:") && error.contains(message), "{error}");
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
