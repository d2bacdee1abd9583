//! Tables of perftest: `ib_write_bw`, `ib_read_bw`, `ib_send_bw`, between the two devices of `--pair`; those of latencies are
//! skipped.
//!
//! `MB/sec` and `MiB/sec` are 2^20 bytes, `Gb/sec` 10^9 bits per second (perftest, `--report_gbits`). In a bidirectional test
//! the rates of both sides are added. A read moves the bytes from the second device to the first.

use weir_scenario::Diagnostic;

use super::devices::{DevicePair, pair};
use super::number::{self, MOST_ROWS};
use super::source::{LogLine, Source, Span};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Whether a text is one of perftest.
pub(super) fn is_text(head: &str) -> bool {
    head.lines().any(|line| line.contains("#bytes") && line.contains("#iterations"))
}

/// What the lines above a row say.
#[derive(Default)]
struct Head {
    title: String,
    both_ways: bool,
    reads: bool,
    /// Bytes per second that 1 of the table is; 0 for a table without rates.
    unit: f64,
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let devices = pair(source.machine, source.options)?;
    let (mut log, mut head, mut rows) = (Log::default(), Head::default(), 0);
    for line in source.lines() {
        let text = untagged(line.text).0.trim();
        let fields: Vec<&str> = text.split_whitespace().collect();
        if text.ends_with(" Test") {
            head = Head {
                title: text.to_owned(),
                both_ways: text.contains("Bidirectional"),
                reads: text.contains("Read"),
                unit: 0.0,
            };
        } else if text.contains("#bytes") {
            head.unit = unit(text);
        } else if fields.len() >= 4 && fields[..2].iter().all(|f| f.bytes().all(|b| b.is_ascii_digit())) {
            rows += 1;
            if rows > MOST_ROWS {
                return Err(source.error(Span::line(line.number), format!("more than {MOST_ROWS} rows"), "give fewer"));
            }
            row(source, line, &head, &fields, devices, &mut log);
        }
    }
    if rows == 0 {
        let help = "the log may have been cut off; rows follow the header `#bytes #iterations …`";
        return Err(source.error(Span::line(1), "the log of perftest has no row of a table", help));
    }
    if let (Some(DevicePair { first, second }), false) = (devices, log.experiments.is_empty()) {
        let path = |node| source.machine.path(node);
        let names = format!("client = {}, server = {}", path(first), path(second));
        log.notes.push(format!("{}: {names}: the output of the client is meant", source.file));
    }
    Ok(log)
}

fn unit(header: &str) -> f64 {
    match () {
        () if header.contains("Gb/sec") => 1e9 / 8.0,
        () if header.contains("MB/sec") || header.contains("MiB/sec") => f64::from(1 << 20),
        () => 0.0,
    }
}

fn row(
    source: &Source<'_>,
    line: LogLine<'_>,
    head: &Head,
    fields: &[&str],
    devices: Option<DevicePair>,
    log: &mut Log,
) {
    let (size, average) = (fields[0], fields[3]);
    let found = (|| {
        if head.unit == 0.0 {
            return Err("latencies of messages: run ib_write_bw for bandwidths".to_owned());
        }
        let pair = devices.ok_or("the log does not say which devices took part: add --pair nic0,nic1")?;
        let bytes = number::bytes(size, "the size").map_err(|error| error.message)?;
        let copies = if head.both_ways { 2.0 } else { 1.0 };
        let seconds = number::logged(average, "the average", |value| copies * bytes as f64 / (value * head.unit))?;
        let (from, to) = if head.reads { (pair.second, pair.first) } else { (pair.first, pair.second) };
        let mut transfers = vec![Transfer { from, to, bytes }];
        if head.both_ways {
            transfers.push(Transfer { from: to, to: from, bytes });
        }
        Ok::<_, String>((Experiment { transfers, ..Experiment::plain(format!("line {}", line.number)) }, seconds))
    })();
    let place = source.place_of(line, average);
    match found {
        Ok((experiment, seconds)) => {
            let rows = vec![MeasuredTime { place, seconds, end: MeasuredEnd::Last }];
            log.experiments.push(Experiment { rows, ..experiment });
        }
        Err(why) => source.skip(log, place, format!("{}, {size} B", head.title), why),
    }
}
