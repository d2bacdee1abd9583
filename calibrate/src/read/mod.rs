//! Readers of logs: which kind a log is, and what it measured.

mod bandwidth_test;
mod bus;
mod csv;
mod devices;
mod json;
mod mapping;
mod matrix;
mod matrix_parts;
mod nccl;
mod nccl_head;
mod number;
mod nvbandwidth;
mod nvbandwidth_json;
mod nvbandwidth_peers;
mod nvbandwidth_text;
mod options;
mod osu;
mod other_tools;
mod p2p;
mod perftest;
mod source;
mod tag;

use std::path::Path;

use weir_scenario::{Diagnostic, Machine};

pub use csv::{MeasuredRow, MeasuredTable, measured_rows};
pub use options::{Collective, LogKind, ReadOptions};
use source::{Source, Span};

use crate::measurement::Log;

/// Bytes of a log at most; *assumed*, a hundred times what these programs write.
const MOST_BYTES: u64 = 64 << 20;
/// Reads a log file.
///
/// # Errors
/// What is wrong with it: file, line, column and remedy.
pub fn read_log(path: &Path, machine: &Machine, options: &ReadOptions) -> Result<(LogKind, Log), Box<Diagnostic>> {
    let text = read_text(path)?;
    read_log_text(&path.display().to_string(), &text, machine, options)
}

/// The text of a file, bounded.
///
/// # Errors
/// The file cannot be read, is too large, or is no text.
pub fn read_text(path: &Path) -> Result<String, Box<Diagnostic>> {
    use std::io::Read as _;
    let name = path.display();
    let failed = |message: String, help: &str| Box::new(Diagnostic::error(message).with_help(help));
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| failed(format!("`{name}` cannot be read: {error}"), "name a file with what was measured"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(format!("`{name}` has more than {} MiB", MOST_BYTES >> 20), "give fewer rows"));
    }
    if let Some((encoding, help)) = weir_scenario::wide_encoding(&bytes) {
        return Err(failed(format!("`{name}` is encoded as {encoding}, not as UTF-8"), help));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        failed(format!("`{name}` is no text: byte {at} is not UTF-8"), "save the log as UTF-8 text")
    })
}

/// [`read_log`] of a text.
///
/// # Errors
/// As [`read_log`].
pub fn read_log_text(
    file: &str,
    text: &str,
    machine: &Machine,
    options: &ReadOptions,
) -> Result<(LogKind, Log), Box<Diagnostic>> {
    let (devices, host) = (devices::numbered(machine, options)?, devices::host(machine, options)?);
    // PowerShell puts the mark before what it writes.
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
    let alone = tag::json_alone(whole);
    let text = alone.as_deref().unwrap_or(whole);
    let source = Source { file, text, machine, options, devices, known_by: None, host };
    let kind = options.kind.or_else(|| LogKind::of(text)).ok_or_else(|| unknown(&source))?;
    // Comments and columns of a table may say which tool its numbers are of.
    if options.kind.is_none() && kind != LogKind::Csv {
        of_one_tool(file, whole)?;
    }
    if kind.is_of_gpus() {
        devices::no_hosts(machine, options, &source.devices)?;
    }
    let log = match kind {
        LogKind::Csv => csv::read(&source),
        LogKind::Nvbandwidth => nvbandwidth::read(&source),
        LogKind::P2p => p2p::read(&p2p::addressed(&source)?),
        LogKind::Nccl => nccl::read(&source),
        LogKind::Osu => osu::read(&source),
        LogKind::BandwidthTest => bandwidth_test::read(&source),
        LogKind::Rocm => matrix::read(&matrix::addressed(&source)?),
        LogKind::BusGrind => bus_grind(&source),
        LogKind::Perftest => perftest::read(&source),
    }?;
    Ok((kind, log))
}

/// Refuses the outputs of several tools in one file: a reader would take rows of one for another's, or lose them.
fn of_one_tool(file: &str, text: &str) -> Result<(), Box<Diagnostic>> {
    let [(first, first_line), (second, line), ..] = LogKind::all_of(text)[..] else { return Ok(()) };
    let (first, second) = (first.word(), second.word());
    let message = format!("the file has the output of {first} (line {first_line}) and of {second} (line {line})");
    Err(source::error_at(file, text, Span::line(line), message, "give each a file of its own"))
}

/// busGrind prints a matrix of the hosts, and matrices of pairs as the peer-to-peer sample does.
fn bus_grind(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let source = &p2p::addressed(source)?;
    let mut log = matrix::read(source)?;
    if source.text.contains("P2P=Enabled Bandwidth") {
        let pairs = p2p::read(source)?;
        log.experiments.extend(pairs.experiments);
        log.skipped.extend(pairs.skipped);
        log.notes.extend(pairs.notes);
    }
    Ok(log)
}

fn unknown(source: &Source<'_>) -> Box<Diagnostic> {
    if let Some((tool, remedy)) = other_tools::known(source.text) {
        return source.error(Span::line(1), format!("this is the output of {tool}"), remedy);
    }
    if source.text.trim().is_empty() {
        return source.error(Span::line(1), "the file is empty", "give a log with measured times");
    }
    if let Some(line) = csv::near_header(source.text) {
        let help = "columns are separated by commas, and the first line names them: from,to,bytes,seconds";
        return source.error(Span::line(line), "this looks like CSV, but its first line is another", help);
    }
    let words: Vec<_> = LogKind::ALL.iter().map(|kind| kind.word()).collect();
    let help = format!(
        "weir reads nvbandwidth, p2pBandwidthLatencyTest, nccl-tests, OSU micro-benchmarks, bandwidthTest, \
         rocm-bandwidth-test, TransferBench p2p, busGrind, ib_write_bw, and CSV with the columns \
         from,to,bytes,seconds,group; name the kind by --as ({})",
        words.join(", ")
    );
    source.error(Span::line(1), "the kind of this log is not recognised", &help)
}
