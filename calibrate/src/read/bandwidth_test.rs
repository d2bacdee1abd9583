//! Text of the CUDA sample `bandwidthTest`: copies between pinned host memory and one device, alone.
//!
//! GB/s are 10^9 bytes per second; older versions print MB/s of 1,024,000: 2^10 times the bytes of a millisecond over 2^20
//! (bandwidthTest.cu). Copies of pageable memory are staged, and copies within the device take no link: both are skipped, and so
//! are sums over several devices.

use weir_scenario::Diagnostic;

use super::mapping::Used;
use super::number;
use super::source::{LogLine, Source, Span};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, Transfer};

/// Whether a text is one of bandwidthTest.
pub(super) fn is_text(head: &str) -> bool {
    head.contains("[CUDA Bandwidth Test]") || head.contains("bandwidthTest-") || head.contains("to Device Bandwidth, ")
}

/// What the lines above a row say.
#[derive(Default)]
struct Head {
    /// The number of the device; the last that the log names.
    device: usize,
    /// The title of the table, and whether copies go to the device; `None` for a table that is not used.
    way: Option<bool>,
    why_not: Option<&'static str>,
    title: String,
    pinned: bool,
    /// Bytes per second that 1 of the table is.
    unit: f64,
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let (mut log, mut head, mut used, mut rows) = (Log::default(), Head::default(), Used::default(), 0);
    for line in source.lines() {
        let text = untagged(line.text).0.trim();
        let fields: Vec<&str> = text.split_whitespace().collect();
        match fields[..] {
            [size, value] if size.bytes().all(|b| b.is_ascii_digit()) && head.unit > 0.0 => {
                rows += 1;
                row(source, line, &head, [size, value], &mut log, &mut used);
            }
            _ if text.starts_with("bandwidthTest-") => {
                rows += 1;
                csv_row(source, line, text, head.device, &mut log, &mut used);
            }
            _ => head.line(text),
        }
    }
    if rows == 0 {
        let help = "the log may have been cut off; rows follow `Transfer Size (Bytes)`";
        return Err(source.error(Span::line(1), "the log of bandwidthTest has no row of a table", help));
    }
    log.notes.extend(used.note(source, "Device"));
    Ok(log)
}

impl Head {
    fn line(&mut self, text: &str) {
        if let Some(number) = text.strip_prefix("Device ").and_then(|rest| rest.split(':').next()?.parse().ok()) {
            self.device = number;
        }
        if text.contains(" Bandwidth, ") {
            (self.way, self.why_not) = way(text);
            (self.title, self.unit) = (text.to_owned(), 0.0);
        }
        if text.contains("Memory Transfers") {
            self.pinned = text.starts_with("PINNED");
        }
        if text.starts_with("Transfer Size") {
            self.unit = unit(text);
        }
    }
}

/// Whether copies go to the device, or why a table is not used.
fn way(title: &str) -> (Option<bool>, Option<&'static str>) {
    let several = !title.contains(", 1 Device");
    match () {
        () if title.contains("Device to Device") || title.contains("D2D") => (None, Some("copies within one device")),
        () if several => (None, Some("the sum over several devices: run it with --device=0, then 1, …")),
        () if title.contains("Host to Device") => (Some(true), None),
        () if title.contains("Device to Host") => (Some(false), None),
        () => (None, Some("the test is not one whose copies weir knows")),
    }
}

/// Bytes per second of the unit that a text names.
fn unit(text: &str) -> f64 {
    if text.contains("GB/s") { 1e9 } else { 1_024_000.0 }
}

fn row(source: &Source<'_>, line: LogLine<'_>, head: &Head, [size, value]: [&str; 2], log: &mut Log, used: &mut Used) {
    let unusable = head.why_not.or((!head.pinned).then_some("pageable memory is staged: run it with --memory=pinned"));
    let place = source.place_of(line, value);
    let copy = match (unusable, head.way) {
        (None, Some(to_device)) => copy(source, head.device, to_device, size, value, head.unit),
        (why, _) => Err(why.unwrap_or("the test is not one whose copies weir knows").to_owned()),
    };
    match copy {
        Ok((transfer, seconds)) => {
            used.devices.insert(head.device);
            used.hosts.insert(head.device);
            log.experiments.push(Experiment::plain(head.title.clone()).with(transfer, seconds, place));
        }
        Err(why) => source.skip(log, place, format!("{}, {size} B", head.title), why),
    }
}

/// A row of `--csv`: `bandwidthTest-H2D-Pinned, Bandwidth = 12.4 GB/s, Time = …, Size = 32000000 bytes, NumDevsUsed = 1`.
fn csv_row(source: &Source<'_>, line: LogLine<'_>, text: &str, device: usize, log: &mut Log, used: &mut Used) {
    let field = |key: &str| {
        let part = text.split(',').find(|part| part.trim().starts_with(key))?;
        part.split('=').nth(1)?.split_whitespace().next()
    };
    let title = text.split(',').next().unwrap_or(text);
    let head = Head {
        device,
        way: if title.contains("-H2D-") { Some(true) } else { title.contains("-D2H-").then_some(false) },
        why_not: match (title.contains("-D2D"), field("NumDevsUsed")) {
            (true, _) => Some("copies within one device"),
            (_, Some(count)) if count != "1" => Some("the sum over several devices: run it with --device=0, then 1, …"),
            _ => None,
        },
        title: title.to_owned(),
        pinned: title.contains("Pinned"),
        unit: unit(text),
    };
    match (field("Size"), field("Bandwidth")) {
        (Some(size), Some(value)) => row(source, line, &head, [size, value], log, used),
        _ => source.skip(log, source.place(line.number, 1), title, "the row has no `Size` or no `Bandwidth`"),
    }
}

fn copy(
    source: &Source<'_>,
    number: usize,
    to_device: bool,
    size: &str,
    value: &str,
    unit: f64,
) -> Result<(Transfer, f64), String> {
    let device = source.device(number);
    let device =
        device.ok_or_else(|| format!("there are only {} devices: name all by --devices", source.devices.len()))?;
    let host = source.host_of(device).ok_or("the topology has no cpu: add one, or name it by --host")?;
    let bytes = number::bytes(size, "the size").map_err(|error| error.message)?;
    let seconds = number::logged(value, "the bandwidth", |value| bytes as f64 / (value * unit))?;
    let (from, to) = if to_device { (host, device) } else { (device, host) };
    Ok((Transfer { from, to, bytes }, seconds))
}
