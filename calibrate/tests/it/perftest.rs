//! Tables of perftest: messages in flight, and what limits them.

use crate::common::{bandwidth_of, built_in, group, machine_of};
use weir_calibrate::fit::Choice;
use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Fit, FitOptions, Log, fit};
use weir_scenario::Machine;

/// Two adapters with latencies that are a multiple of what a lone message of 64 KiB takes at 400 Gb/s.
fn pair() -> Machine {
    machine_of(
        "weir: 1\nlink_types: { ndr: { bandwidth: 49GB/s, latency: 3us } }\ntree:\n  sw:\n    kind: network\n    children: { 'nic[0-1]': \
         { kind: nic, link: ndr } }\n",
    )
}

/// A table of sizes and averages in Gb/s.
fn table(test: &str, rows: &[(u64, f64)]) -> String {
    let row =
        |(bytes, rate): &(u64, f64)| format!(" {bytes}      5000             0.00               {rate}		   0.1\n");
    let rows: String = rows.iter().map(row).collect();
    let head =
        " TX depth        : 64\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
    format!("                    RDMA_Write {test}\n{head}{rows}")
}

fn read(machine: &Machine, text: &str) -> Log {
    let options = ReadOptions { pair: Some("nic0,nic1".to_owned()), ..ReadOptions::default() };
    read_log_text("log", text, machine, &options).unwrap_or_else(|error| panic!("{error}")).1
}

fn fitted(machine: &Machine, log: &Log) -> Fit {
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    fit(machine, &built_in("max-min"), &log.experiments, &options).expect("a fit")
}

/// A table of latencies has no rates.
#[test]
fn tables_of_latencies_are_left_out() {
    let text = "                    RDMA_Write Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    \
                t_avg[usec]    t_stdev[usec]\n 2       1000          1.01           2.50         1.03               1.05         0.04\n";
    let options =
        ReadOptions { pair: Some("nic0,nic1".to_owned()), kind: Some(LogKind::Perftest), ..ReadOptions::default() };
    let (_, log) = read_log_text("log", text, &pair(), &options).expect("a log");
    assert!(log.experiments.is_empty() && log.skipped[0].why.contains("run ib_write_bw"), "{log:?}");
}

/// 394.6 Gb/s are 49.325 GB/s, whatever the latency of the topology.
#[test]
fn messages_in_flight_hide_the_latency() {
    let machine = pair();
    for (test, rate) in [("BW Test", 394.6), ("Bidirectional BW Test", 789.2)] {
        let log = read(&machine, &table(test, &[(65536, rate)]));
        assert_eq!(log.experiments[0].messages, 64);
        let seconds = 64.0 * 65536.0 / 49.325e9;
        assert!((log.experiments[0].rows[0].seconds / seconds - 1.0).abs() < 1e-9);
        let found = bandwidth_of(&machine, &fitted(&machine, &log).setting, "ndr");
        assert!((found / 49.325e9 - 1.0).abs() < 1e-6, "{test}: {found}");
    }
}

/// With a TX depth of 1 each message waits for the one before: it pays its latency, and no row is left out.
#[test]
fn messages_that_go_one_by_one_pay_the_latency() {
    let text = table("BW Test", &[(4096, 5.4), (65536, 70.9)]).replace(": 64", ": 1");
    let log = read(&pair(), &text);
    assert!(log.skipped.is_empty() && !log.notes.iter().any(|note| note.contains("in flight")), "{:?}", log.notes);
    assert!(log.experiments.iter().all(|experiment| (experiment.messages, experiment.steps) == (1, 1)));
}

/// 5.26 million messages a second at most: 8 KiB reach 43.1 GB/s, 16 KiB the 49.3 GB/s of the link. No latency is fitted.
#[test]
fn rows_that_the_rate_of_messages_limits_say_nothing_of_the_link() {
    let machine = pair();
    let row = |power: u32| (1 << power, (f64::from(1_u32 << power) * 5.263158e6 * 8e-9).min(394.4));
    let rows: Vec<(u64, f64)> = (1..24).map(row).collect();
    let log = read(&machine, &table("BW Test", &rows));
    let sizes: Vec<u64> = log.experiments.iter().map(|e| e.transfers[0].bytes).collect();
    assert_eq!(sizes, (14..24).map(|power| 1 << power).collect::<Vec<u64>>());
    assert_eq!(log.skipped.len(), 13);
    assert!(log.skipped[12].what.ends_with("8192 B") && log.skipped[12].why.contains("rate of messages"));
    let found = fitted(&machine, &log);
    assert!((bandwidth_of(&machine, &found.setting, "ndr") / 49.3e9 - 1.0).abs() < 1e-6);
    assert!(found.parameters.iter().all(|fitted| fitted.parameter.name != "latency of ndr"));
    assert!(log.notes.iter().any(|note| note.contains("its rows tell none")), "{:?}", log.notes);
}

/// Beside copies of one size, which tell no latency either, all latencies stay, however far their size is from those of messages.
#[test]
fn messages_in_flight_beside_long_copies_tell_no_latency() {
    let machine = pair();
    let row = |power: u32| (1 << power, 394.0 + f64::from(power % 3));
    let mut log = read(&machine, &table("BW Test", &(15..24).map(row).collect::<Vec<_>>()));
    let copies = [("nic0", "nic1", 49.4), ("nic1", "nic0", 49.2)].map(|(from, to, rate)| {
        let mut copy = group(&machine, "copy", &[(from, to, 512 << 20)]);
        copy.rows[0].seconds = f64::from(512_u32 << 20) / (rate * 1e9);
        copy
    });
    log.experiments.extend(copies);
    let found = fitted(&machine, &log);
    assert!(found.parameters.iter().all(|fitted| !fitted.parameter.name.contains("latency")), "{:?}", found.parameters);
    assert!((bandwidth_of(&machine, &found.setting, "ndr") / 49.3e9 - 1.0).abs() < 0.01);
}

/// Larger messages that are slower, and a table of small ones alone, are no matter of their rate.
#[test]
fn other_slow_rows_are_kept() {
    let machine = pair();
    let log = read(&machine, &table("BW Test", &[(65536, 390.0), (1 << 20, 300.0)]));
    assert_eq!((log.experiments.len(), log.skipped.len()), (2, 0));
    let two = format!("{}{}", table("BW Test", &[(64, 2.0)]), table("BW Test", &[(1 << 20, 390.0)]));
    assert_eq!(read(&machine, &two).experiments.len(), 2);
}

/// A table without rates tells nothing, nor do rows above which no header stands.
#[test]
fn rows_without_rates_are_skipped() {
    let machine = pair();
    let row = " 65536      5000             4.00               5.00           4.10        0.1\n";
    let head = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";
    for text in [
        format!("   RDMA_Write BW Test\n{head}{row}   RDMA_Write Latency Test\n{row}"),
        format!("   RDMA_Write BW Test\n{row}{head}{row}"),
    ] {
        let log = read(&machine, &text);
        assert_eq!((log.experiments.len(), log.skipped.len()), (1, 1), "{text}");
        assert!(log.skipped[0].why.starts_with("latencies of messages"), "{:?}", log.skipped);
    }
}

/// Lone messages of one size tell the latency where messages in flight tell the bandwidth: 2 B in 5 µs over two links.
#[test]
fn with_lone_messages_the_latency_is_told() {
    let machine = pair();
    let mut log = read(&machine, &table("BW Test", &[(1 << 20, 400.0)]));
    let options = ReadOptions { pair: Some("nic0,nic1".to_owned()), ..ReadOptions::default() };
    let lone = "# OSU MPI Latency Test v7.0\n# Size          Latency (us)\n2                       5.00\n";
    let (_, lone) = read_log_text("osu", lone, &machine, &options).expect("a log");
    log.experiments.extend(lone.experiments);
    for latency in [Choice::Auto, Choice::Yes] {
        let options = FitOptions { hold_out: 0.0, latency, ..FitOptions::default() };
        let found = fit(&machine, &built_in("max-min"), &log.experiments, &options).expect("a fit");
        let told = found.parameters.iter().find(|fitted| fitted.parameter.name == "latency of ndr").expect("fitted");
        assert!((told.value - 2.5e-6).abs() < 1e-9, "{}", told.value);
    }
}
