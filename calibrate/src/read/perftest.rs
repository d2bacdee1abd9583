//! Tables of perftest: `ib_write_bw`, `ib_read_bw`, `ib_send_bw`, between the two devices of `--pair`; those of latencies are
//! skipped.
//!
//! `MB/sec` and `MiB/sec` are 2^20 bytes, `Gb/sec` 10^9 bits per second (perftest, `--report_gbits`). In a bidirectional test
//! the rates of both sides are added. A read moves the bytes from the second device to the first.
//!
//! perftest keeps its TX depth of messages in flight for thousands of iterations, so a row is that many messages back to back,
//! and the latency is hidden. What a network adapter does per message limits the rate of small ones, as the gap g of LogGP does:
//! rows of a table that are slower than larger messages say nothing of the links.

use weir_scenario::Diagnostic;

use super::devices::{DevicePair, pair};
use super::number::{self, MOST_ROWS};
use super::source::{LogLine, Source, Span};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Messages in flight where the log does not say it (perftest, `DEF_TX_BW`).
const DEPTH: u32 = 128;
/// Share of the fastest row of a table from which on the link limits a row, not the rate of messages; *assumed*: rows repeat to a few
/// percent.
const FULL: f64 = 0.95;

/// Whether a text is one of a bandwidth test of perftest, also where it ends before its table.
pub(super) fn is_text(head: &str) -> bool {
    let is_table = head.lines().any(|line| line.contains("#bytes") && line.contains("#iterations"));
    (is_table && head.contains("/sec]")) || head.lines().any(|line| line.trim_end().ends_with(" BW Test"))
}

/// What the lines above a row say.
struct Head {
    title: String,
    both_ways: bool,
    reads: bool,
    /// Messages in flight.
    depth: u32,
    /// Bytes per second that 1 of the table is; 0 for a table without rates.
    unit: f64,
    /// The place of its first row among the experiments.
    first: usize,
}

impl Head {
    fn new(title: &str, first: usize) -> Self {
        let (both_ways, reads) = (title.contains("Bidirectional"), title.contains("Read"));
        Self { title: title.to_owned(), both_ways, reads, depth: DEPTH, unit: 0.0, first }
    }
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let devices = pair(source.machine, source.options)?;
    let (mut log, mut head, mut rows) = (Log::default(), Head::new("", 0), 0);
    for line in source.lines() {
        let text = untagged(line.text).0.trim();
        let fields: Vec<&str> = text.split_whitespace().collect();
        if text.ends_with(" Test") {
            limited_by_messages(source, &head, &mut log);
            head = Head::new(text, log.experiments.len());
        } else if let Some((_, depth)) = text.split_once("TX depth") {
            head.depth = depth.trim_start_matches([' ', ':']).parse().ok().filter(|&depth| depth > 0).unwrap_or(DEPTH);
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
    limited_by_messages(source, &head, &mut log);
    if let (Some(DevicePair { first, second }), false) = (devices, log.experiments.is_empty()) {
        let path = |node| source.machine.path(node);
        let names = format!("client = {}, server = {}", path(first), path(second));
        log.notes.push(format!("{}: {names}: the output of the client is meant", source.file));
        if log.experiments.iter().any(|experiment| experiment.steps == 0) {
            log.notes.push(format!("{}: messages in flight hide the latency: its rows tell none", source.file));
        }
    }
    Ok(log)
}

/// Leaves out the rows of a table that the rate of messages limits, not the link.
fn limited_by_messages(source: &Source<'_>, head: &Head, log: &mut Log) {
    if head.depth == 1 {
        return;
    }
    let of_table = log.experiments.split_off(head.first);
    let rate = |e: &Experiment| {
        let bytes: f64 = e.transfers.iter().map(|t| t.bytes as f64).sum();
        bytes * f64::from(e.messages) / e.rows[0].seconds
    };
    let fastest = of_table.iter().map(|e| (rate(e), e.transfers[0].bytes)).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((most, bytes)) = fastest else { return };
    for experiment in of_table {
        let size = experiment.transfers[0].bytes;
        if size >= bytes || rate(&experiment) >= FULL * most {
            log.experiments.push(experiment);
            continue;
        }
        let why = format!(
            "{}, and {} with larger messages: the rate of messages limits it, not the link",
            weir_report::rate(rate(&experiment)),
            weir_report::rate(most)
        );
        source.skip(log, experiment.rows[0].place.clone(), format!("{}, {size} B", head.title), why);
    }
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
        let messages = head.depth.min(fields[1].parse().unwrap_or(u32::MAX)).max(1);
        let sent = if head.both_ways { 2.0 } else { 1.0 } * f64::from(messages) * bytes as f64;
        let seconds = number::logged(average, "the average", |value| sent / (value * head.unit))?;
        let (from, to) = if head.reads { (pair.second, pair.first) } else { (pair.first, pair.second) };
        let mut transfers = vec![Transfer { from, to, bytes }];
        if head.both_ways {
            transfers.push(Transfer { from: to, to: from, bytes });
        }
        let name = format!("line {}", line.number);
        // Unless messages go one by one, the latency is paid once in thousands of them.
        let steps = u32::from(messages == 1);
        Ok::<_, String>((Experiment { transfers, messages, steps, ..Experiment::plain(name) }, seconds))
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
