//! Logs with labels of ranks, lists of devices, titles of old versions, and rows that are missing.

use crate::common::{machine, machine_of};
use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Collective, Experiment, Log, MeasuredEnd};
use weir_scenario::Machine;

const SOCKETS: &str = "topologies/two-socket-8gpu.yaml";

fn read(machine: &Machine, text: &str) -> Result<(LogKind, Log), String> {
    read_log_text("log", text, machine, &ReadOptions::default()).map_err(|error| error.to_string())
}

fn good(machine: &Machine, text: &str) -> (LogKind, Log) {
    read(machine, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Ends of the first transfer, number of transfers, and GB/s of all together.
fn each<'m>(machine: &'m Machine, log: &Log) -> Vec<(&'m str, &'m str, usize, f64)> {
    let name = |node| machine.node_name(node);
    let one = |e: &Experiment| {
        let bytes: f64 = match e.rows[0].end {
            MeasuredEnd::Transfer(at) => e.transfers[at].bytes as f64,
            MeasuredEnd::Last => e.transfers.iter().map(|t| t.bytes as f64).sum(),
        };
        let rate = (bytes / e.rows[0].seconds / 1e7).round() / 100.0;
        (name(e.transfers[0].from), name(e.transfers[0].to), e.transfers.len(), rate)
    };
    log.experiments.iter().map(one).collect()
}

/// A line for each line of a text, with a label before it.
fn labelled(text: &str) -> String {
    text.lines().map(|line| format!("0: {line}\n")).collect()
}

const P2P: &str = "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n\
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1\n     0 700.00  24.00\n     1  25.00 700.00\n\
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 700.00  40.00\n     1  41.00 700.00\n";

/// PowerShell writes it: nvbandwidth's JSON, a table that begins with a comment, and a matrix.
#[test]
fn a_byte_order_mark_is_no_part_of_a_log() {
    let machine = machine(SOCKETS, &[]);
    let csv = "# copies\nfrom,to,bytes,seconds\ngpu0,gpu1,1000000,0.001\n";
    for text in [P2P, csv] {
        assert_eq!(
            good(&machine, &format!("\u{feff}{text}")).1.experiments.len(),
            good(&machine, text).1.experiments.len()
        );
    }
}

#[test]
fn labels_of_srun_are_no_part_of_a_log() {
    let machine = machine(SOCKETS, &[]);
    let json = "{ \"nvbandwidth\": { \"testcases\": [ { \"name\": \"device_to_device_memcpy_write_ce\",\n\
                \"bandwidth_matrix\": [[\"N/A\", \"40\"], [\"41\", \"N/A\"]] } ] } }\n";
    let nccl = "# Collective test starting: all_gather_perf\n#       size         count      type   redop    root     time   algbw   busbw #wrong \
                    time   algbw   busbw #wrong\n    8000000 250000 float none -1 400.0 20.0 17.5 0 500.0 16.0 14.0 0\n";
    for text in [P2P, json, nccl] {
        let (plain, with) = (good(&machine, text), good(&machine, &labelled(text)));
        assert_eq!((plain.0, each(&machine, &plain.1)), (with.0, each(&machine, &with.1)));
        assert!(!with.1.experiments.is_empty());
    }
}

#[test]
fn titles_of_rocm_bandwidth_test_2_3_are_known() {
    let machine = machine(SOCKETS, &[]);
    let text = "          RocmBandwidthTest Version: 2.3.11\n\n          Device: 0,  AMD EPYC 7402\n          \
                Device: 1,  Device 738c,  07:0.0\n          Device: 2,  Device 738c,  0c:0.0\n\n          \
                Unidirectional peak bandwidth GB/s\n\n          D/D       0           1           2\n\n          \
                0         N/A         27.100      27.200\n\n          1         28.100      N/A         45.500\n\n          \
                2         28.200      45.600      N/A\n\n          Bdirectional peak bandwidth GB/s\n\n          \
                D/D       0           1           2\n\n          0         N/A         40.000      40.000\n\n          \
                1         40.000      N/A         90.000\n\n          2         40.000      90.000      N/A\n";
    for text in [text, text.split_once("\n\n").expect("a title").1] {
        let (kind, log) = good(&machine, text);
        assert_eq!(kind, LogKind::Rocm);
        let all = each(&machine, &log);
        assert_eq!(all[0], ("cpu0", "gpu0", 1, 27.1));
        assert_eq!(all.iter().filter(|row| row.2 == 1).count(), 6);
        assert!(all.contains(&("gpu0", "gpu1", 2, 90.0)), "{all:?}");
    }
}

#[test]
fn a_matrix_without_some_rows_is_refused() {
    let machine = machine(SOCKETS, &[]);
    let without = |text: &str, row: &str| text.replacen(row, "", 1);
    let error = read(&machine, &without(P2P, "     1  25.00 700.00\n")).unwrap_err();
    assert!(error.contains("log:3:") && error.contains("a column 1 and no row 1"), "{error}");
    assert!(error.contains("complete the matrix"), "{error}");
    // The last matrix, and one without any row.
    let error = read(&machine, &without(P2P, "     1  41.00 700.00\n")).unwrap_err();
    assert!(error.contains("log:7:") && error.contains("no row 1"), "{error}");
    let end = P2P.find("     0 700.00  40").expect("a row");
    let error = read(&machine, &P2P[..end]).unwrap_err();
    assert!(error.contains("columns and no rows 0, 1"), "{error}");
    let rocm = "Unidirectional copy peak bandwidth GB/s\n SRC+EXE\\DST    CPU 00    GPU 00\n  CPU 00  ->     92.21     45.11\n";
    let error = read(&machine, rocm).unwrap_err();
    assert!(error.contains("a column GPU 0 and no row GPU 0"), "{error}");
    let nvbandwidth = "nvbandwidth Version: v0.8\n\nRunning device_to_device_memcpy_read_ce.\n\
        memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0       N/A     41.";
    let error = read(&machine, nvbandwidth).unwrap_err();
    assert!(error.contains("a column 1 and no row 1"), "{error}");
}

/// GPUs in another order than their PCI addresses.
fn addressed() -> Machine {
    machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 50GB/s } }\ntree:\n  rc0:\n    kind: root-complex\n    children:\n      \
         cpu0: { kind: cpu, link: slot }\n      gpu0: { kind: gpu, link: slot, bus_id: \"0000:1d:00.0\" }\n      \
         gpu1: { kind: gpu, link: slot, bus_id: \"0000:1c:00.0\" }\n",
    )
}

/// Of busGrind.
fn host_matrix() -> &'static str {
    "Host/Device Bandwidth Matrix (GB/s), memory=Pinned\n   Dir\\D     0      1\n   D2H  12.10  12.20\n   H2D  11.50  11.60\n"
}

#[test]
fn lists_of_devices_say_which_gpus_are_meant() {
    let machine = addressed();
    let list = "Device: 0, NVIDIA X, pciBusID: 1c, pciDeviceID: 0, pciDomainID:0\n\
                Device: 1, NVIDIA X, pciBusID: 1d, pciDeviceID: 0, pciDomainID:0\n";
    let (kind, log) = good(&machine, &format!("{list}{P2P}"));
    assert_eq!(kind, LogKind::P2p);
    let expected = [("gpu1", "gpu0", 1, 24.0), ("gpu0", "gpu1", 1, 25.0), ("gpu1", "gpu0", 2, 40.0)];
    assert_eq!(each(&machine, &log)[..3], expected);
    // busGrind lists them before its matrix of the host, and goes on with matrices of pairs.
    let host = host_matrix();
    let pairs = P2P.split_once('\n').expect("a title").1;
    let (kind, log) = good(&machine, &format!("{list}{host}{pairs}"));
    assert_eq!(kind, LogKind::BusGrind);
    let host =
        [("gpu1", "cpu0", 1, 12.1), ("gpu0", "cpu0", 1, 12.2), ("cpu0", "gpu1", 1, 11.5), ("cpu0", "gpu0", 1, 11.6)];
    assert_eq!(each(&machine, &log)[..7], [&host[..], &expected[..]].concat());
    // Its matrix numbers GPUs, also where the list has no address of them.
    let names = "Device: 0, NVIDIA X\nDevice: 1, NVIDIA X\n";
    let (_, log) = good(&machine, &format!("{names}{}", host_matrix()));
    assert_eq!(each(&machine, &log)[0], ("gpu0", "cpu0", 1, 12.1));
    let other = read(&machine, &format!("{}{P2P}", list.replace("1c", "91"))).unwrap_err();
    assert!(other.contains("GPU 0 is the device at 0:91:0") && other.contains("--devices"), "{other}");
}

/// rocm-bandwidth-test counts GPUs behind the processors, and prints the address of each.
#[test]
fn rocm_bandwidth_test_says_which_gpus_are_meant() {
    let machine = addressed();
    let list = "          RocmBandwidthTest Version: 2.6.0\n\n          Device: 0,  AMD EPYC 9534\n          \
                Device: 1,  AMD Instinct,  GPU-aa,  1c:0.0\n          Device: 2,  AMD Instinct,  GPU-bb,  1d:0.0\n\n";
    let matrix = "          Unidirectional copy peak bandwidth GB/s\n\n          D/D       0           1           2\n\n          \
                  0         N/A         27.100      27.200\n\n          1         28.100      N/A         45.500\n\n          \
                  2         28.200      46.500      N/A\n";
    let (kind, log) = good(&machine, &format!("{list}{matrix}"));
    assert_eq!(kind, LogKind::Rocm);
    let expected = [
        ("cpu0", "gpu1", 1, 27.1),
        ("cpu0", "gpu0", 1, 27.2),
        ("gpu1", "cpu0", 1, 28.1),
        ("gpu1", "gpu0", 1, 45.5),
        ("gpu0", "cpu0", 1, 28.2),
        ("gpu0", "gpu1", 1, 46.5),
    ];
    assert_eq!(each(&machine, &log), expected);
    let names: Vec<&str> = log.experiments.iter().map(|e| &*e.name).collect();
    assert_eq!(names[..3], ["CPU 0 to GPU 0", "CPU 0 to GPU 1", "GPU 0 to CPU 0"]);
    assert!(log.notes[0].contains("GPU 0 = rc0/gpu1") && log.notes[0].contains("`bus_id`"), "{}", log.notes[0]);
    let other = read(&machine, &format!("{}{matrix}", list.replace("1d:0.0", "91:0.0"))).unwrap_err();
    assert!(other.contains("GPU 1 is the device at 91:0.0") && other.contains("--devices"), "{other}");
    // `--devices` comes before the addresses.
    let named = ReadOptions { devices: Some("gpu[0-1]".to_owned()), ..ReadOptions::default() };
    let (_, log) = read_log_text("log", &format!("{list}{matrix}"), &machine, &named).expect("a log");
    assert_eq!(each(&machine, &log)[0], ("cpu0", "gpu0", 1, 27.1));
}

/// A log of one GPU, on a machine of eight: copies of all GPUs are the copies of one.
#[test]
fn copies_of_all_devices_are_of_those_that_nvbandwidth_lists() {
    let machine = machine(SOCKETS, &[]);
    let text = |devices: &str| {
        format!(
            "nvbandwidth Version: v0.4\n\n{devices}\nRunning all_to_host_memcpy_ce.\n\
             memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)\n           0\n 0     26.30\n\n"
        )
    };
    let json = |devices: &str| {
        format!(
            "{{ \"nvbandwidth\": {{ \"GPU Device list\": [{devices}], \"testcases\": [\n{{ \"name\": \"all_to_host_memcpy_ce\", \
             \"bandwidth_matrix\": [[\"26.30\"]] }} ] }} }}\n"
        )
    };
    for (log, transfers) in [
        (text("Device 0: NVIDIA X\n"), 1),
        (text("Device 0: NVIDIA X\nDevice 1: NVIDIA X\n"), 2),
        (json("\"0: NVIDIA X (00000000:1b:00)\""), 1),
        (json("\"0: NVIDIA X (00000000:1b:00)\", \"1: NVIDIA X (00000000:1c:00)\""), 2),
        // Nothing says how many took part.
        (text(""), 8),
    ] {
        let (_, log) = good(&machine, &log);
        assert_eq!(log.experiments[0].transfers.len(), transfers);
    }
}

/// Two pairs of GPUs without peer access to each other: nvbandwidth leaves out what it cannot copy, so that the sum of a column is that
/// of one copy. Without a matrix of pairs nothing says so.
#[test]
fn sums_of_nvbandwidth_are_over_the_peers_that_a_device_reaches() {
    let machine = machine(SOCKETS, &[]);
    let head = "           0         1         2         3\n";
    let pairs = |test: &str| {
        format!(
            "Running {test}.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n{head} 0 N/A 21 N/A N/A\n 1 22 N/A N/A N/A\n \
             2 N/A N/A N/A 23\n 3 N/A N/A 24 N/A\n\n"
        )
    };
    let sums = |test: &str| format!("Running {test}.\nmemcpy CE All Gpus (GB/s)\n{head} 0 20 20 20 20\n\n");
    let read = |text: &str| good(&machine, &format!("nvbandwidth Version: v0.5\n\n{text}")).1;
    let (into, out) = ("all_to_one_write_ce", "one_to_all_write_ce");
    for (test, from, to) in [(into, [1, 0, 3, 2], [0, 1, 2, 3]), (out, [0, 1, 2, 3], [1, 0, 3, 2])] {
        // Kernels need the same access, though their rates are not used.
        for pair in ["device_to_device_memcpy_read_ce", "device_to_device_memcpy_write_sm"] {
            // The sums may stand before the pairs.
            for log in [format!("{}{}", pairs(pair), sums(test)), format!("{}{}", sums(test), pairs(pair))] {
                let log = read(&log);
                let sums: Vec<&Experiment> = log.experiments.iter().filter(|e| e.name.starts_with(test)).collect();
                let expected = (0..4).map(|i| (format!("gpu{}", from[i]), format!("gpu{}", to[i])));
                for (sum, expected) in sums.iter().zip(expected) {
                    let one = sum.transfers[0];
                    let found = (machine.node_name(one.from).to_owned(), machine.node_name(one.to).to_owned());
                    assert_eq!((sum.transfers.len(), found), (1, expected));
                    assert!((one.bytes as f64 / sum.rows[0].seconds - 20e9).abs() < 1.0, "the rate of one copy");
                }
                assert!(sums.len() == 4 && !log.notes.concat().contains("assumed in"), "{:?}", log.notes);
            }
        }
    }
    let log = read(&sums(into));
    assert!(log.experiments.iter().all(|e| e.transfers.len() == 3), "{:?}", log.experiments);
    assert!(log.notes.concat().contains("all peers assumed in `all_to_one` and `one_to_all`"), "{:?}", log.notes);
    // A device without peers copies nothing.
    let alone = pairs("device_to_device_memcpy_read_ce").replace("21", "N/A").replace("22", "N/A");
    let log = read(&(alone + &sums(into)));
    let sums = log.experiments.iter().filter(|e| e.name.starts_with(into)).count();
    assert!(sums == 2 && log.skipped[1].why.contains("can reach no other device"), "{:?}", log.skipped);
    assert_eq!(log.skipped[0].what, "device_to_device_memcpy_read_ce, 10 cells");
}

/// Tests of one pair over NCCL and RCCL are named as what they are; collectives are tests of no pair.
#[test]
fn pairs_of_osu_over_nccl_are_refused_for_their_kernels() {
    let machine = machine(SOCKETS, &[]);
    let options = ReadOptions { pair: Some("gpu0,gpu1".to_owned()), ..ReadOptions::default() };
    let why = |title: &str| {
        let text =
            format!("# OSU {title} v7.4\n# Datatype: ncclChar.\n# Size      Bandwidth (MB/s)\n1048576   19000.1\n");
        let (kind, log) = read_log_text("log", &text, &machine, &options).expect("a log");
        assert_eq!((kind, log.experiments.len(), log.skipped.len()), (LogKind::Osu, 0, 1));
        log.skipped[0].why.clone()
    };
    for title in ["NCCL-CUDA Bandwidth Test", "NCCL-CUDA Latency Test", "RCCL-ROCM Bi-Directional Bandwidth Test"] {
        let why = why(title);
        let words = [title, "sends each message by a kernel of its own", "osu_bw D D", "sendrecv_perf"];
        assert!(words.iter().all(|words| why.contains(words)), "{why}");
    }
    assert!(why("NCCL-CUDA Allreduce Latency Test").contains("is not a test of one pair"));
}

#[test]
fn machines_of_ranks_are_named_up_to_four() {
    let machine = machine(SOCKETS, &[]);
    let named = |machines: usize| {
        let rank = |i: usize| format!("#  Rank {i:2} Group  0 Pid 7 on node{i} device  0 [0x1b] X\n");
        let ranks: String = (0..machines).map(rank).collect();
        let table = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
                     8000000 250000 float none -1 400.0 20.0 17.5 0 500.0 16.0 14.0 0\n";
        let options = ReadOptions { collective: Some(Collective::AllGather), ..ReadOptions::default() };
        let (_, log) = read_log_text("log", &(ranks + table), &machine, &options).expect("a log");
        log.skipped[0].why.clone()
    };
    assert!(named(4).contains("4 machines (node0, node1, node2, node3):"), "{}", named(4));
    assert!(named(5).contains("5 machines (node0, node1, node2, node3, …):"), "{}", named(5));
}

/// Rows and columns are numbered from 0 on: a log in which they are not was changed.
#[test]
fn a_matrix_of_nvbandwidth_has_each_row_and_column_in_its_place() {
    let machine = machine(SOCKETS, &[]);
    let log = |rows: &str| format!("nvbandwidth Version: v0.8\n\nRunning device_to_device_memcpy_read_ce.\n{rows}\n");
    let refused = |rows: &str| read(&machine, &log(rows)).unwrap_err();
    for (rows, expected) in [
        (" 0 2 1\n0 N/A 5 6\n1 5 N/A 6\n2 5 6 N/A", "a column `2` stands where column 1 belongs\n --> log:4"),
        (" 0 1 2\n0 N/A 5 6\n0 5 N/A 6\n2 5 6 N/A", "a row `0` stands where row 1 belongs\n --> log:6"),
        (" 0 1 2\n0 N/A 5 6\n1 5 N/A 6\n2 5 6 N/A\n3 5 6 7", "the matrix has 3 columns and 4 rows"),
        (" 0 1 2\n0 N/A 5 6\n1 5 N/A 6", "the matrix has a column 2 and no row 2"),
    ] {
        assert!(refused(rows).contains(expected), "{}", refused(rows));
    }
    let json = r#"{ "nvbandwidth": { "testcases": [
  { "name": "device_to_device_memcpy_read_ce", "bandwidth_matrix": [ ["N/A", "5"], ["6", "N/A"], ["6", "6"] ] } ] } }"#;
    let error = read(&machine, json).unwrap_err();
    assert!(error.contains("the matrix has 2 columns and 3 rows"), "{error}");
    // Two-way tests have a matrix for each way, and one of the sums: a multiple of the columns.
    for (rows, fine) in [(2, true), (3, false), (4, true), (5, false), (6, true)] {
        let all = vec![r#"["5", "6"]"#; rows].join(", ");
        let json = format!(
            r#"{{ "nvbandwidth": {{ "testcases": [ {{ "name": "device_to_device_bidirectional_memcpy_write_ce", "bandwidth_matrix": [ {all} ] }} ] }} }}"#
        );
        assert_eq!(read(&machine, &json).is_ok(), fine, "{rows} rows");
    }
    // The line with the name of the next test is missing: its row is none of this one.
    for name in ["host_to_device_memcpy_ce", "all_to_host_bidirectional_memcpy_ce", "one_to_all_read_ce"] {
        let rows = " 0 1\n0 5 6\n\nmemcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)\n 0 1\n0 3 4";
        let error = read(&machine, &log(rows).replace("device_to_device_memcpy_read_ce", name)).unwrap_err();
        assert!(error.contains("the matrix has 2 columns and 2 rows\n --> log:3"), "{name}: {error}");
    }
}

/// A log has 100 000 cells at most, over all of its tests.
#[test]
fn cells_of_nvbandwidth_have_an_end() {
    let machine = machine(SOCKETS, &[]);
    let log = |cells: usize| {
        let matrix = |cells: usize| {
            let row = vec![r#""20""#; cells].join(",");
            format!(r#"{{"name":"host_to_device_memcpy_ce","bandwidth_matrix":[[{row}]]}}"#)
        };
        let all: Vec<String> =
            (0..cells / 8).map(|_| matrix(8)).chain((!cells.is_multiple_of(8)).then(|| matrix(cells % 8))).collect();
        format!(r#"{{"nvbandwidth":{{"testcases":[{}]}}}}"#, all.join(","))
    };
    let (_, found) = read_log_text("log", &log(100_000), &machine, &ReadOptions::default()).expect("a log");
    assert_eq!(found.experiments.len(), 100_000);
    let error = read(&machine, &log(100_001)).unwrap_err();
    assert!(error.contains("more than 100000 cells"), "{error}");
}

/// Two ranks of an all-reduce on one machine, with these numbers of devices.
fn two_ranks(devices: [usize; 2]) -> String {
    let rank = |(rank, device): (usize, &usize)| {
        format!("#  Rank  {rank} Group  0 Pid 7 on node1 device  {device} [0000:1{rank}:00] X\n")
    };
    let ranks: String = devices.iter().enumerate().map(rank).collect();
    format!(
        "# Collective test starting: all_reduce_perf\n{ranks}# size count type redop root time algbw busbw #wrong time algbw busbw \
         #wrong\n 268435456 67108864 float sum -1 9400.0 28.56 28.56 0 9400.0 28.56 28.56 0\n"
    )
}

/// Ranks that each see their own device alone all call it 0: they are numbered as the ranks are. What has no GPU contradicts no address.
#[test]
fn ranks_that_all_call_their_device_0_are_numbered_by_rank() {
    let machine = machine(SOCKETS, &[]);
    let (_, log) = read_log_text("log", &two_ranks([0, 0]), &machine, &ReadOptions::default()).expect("a log");
    let ends = |log: &Log| -> Vec<String> {
        log.experiments[0].transfers.iter().map(|t| machine.node_name(t.from).to_owned()).collect()
    };
    assert_eq!(ends(&log), ["gpu0", "gpu1"]);
    let (_, log) = read_log_text("log", &two_ranks([4, 2]), &machine, &ReadOptions::default()).expect("a log");
    assert_eq!(ends(&log), ["gpu4", "gpu2"]);
    let cards = machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 10GB/s } }\ntree: { rc: { kind: root-complex, children: { 'nic[0-1]': { kind: nic, link: \
         slot } } } }\n",
    );
    let (_, log) = read_log_text("log", &two_ranks([0, 1]), &cards, &ReadOptions::default()).expect("a log");
    assert!(log.skipped.iter().all(|skipped| !skipped.why.contains("bus_id")), "{:?}", log.skipped);
}

/// A table of the columns that no row lacks, and the times: a row with a field less was cut off.
#[test]
fn a_row_without_its_type_was_cut_off() {
    let machine = machine(SOCKETS, &[]);
    let head = "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 2 minBytes 1 maxBytes 2\n# size count type time algbw busbw \
                #wrong\n";
    let whole = format!("{head} 268435456 67108864 float 9400.0 28.56 28.56 0\n");
    let (_, log) = read_log_text("log", &whole, &machine, &ReadOptions::default()).expect("a log");
    assert_eq!(log.experiments[0].rows[0].seconds, 9.4e-3);
    let cut = format!("{head} 268435456 67108864 float 9400.0 28.56 28.56\n");
    let error = read(&machine, &cut).unwrap_err();
    assert!(error.contains("cut off") && error.contains("log:4"), "{error}");
}
