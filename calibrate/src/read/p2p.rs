//! Text of the CUDA sample `p2pBandwidthLatencyTest`: matrices of pairs of GPUs.
//!
//! MeasuredTime i, column j of a unidirectional matrix is a copy from i to j, of one by reads a copy from j to i; of a bidirectional
//! one, copies both ways at once, the bytes of both over the time of both. Sizes are the sample's defaults: 40 000 000 ints per copy, 16 bytes for latencies.
//! With P2P disabled copies go through host memory in pieces, which is no transfer over the route; such matrices are
//! skipped, and so are, with P2P enabled, pairs of GPUs that cannot reach each other (0 in the connectivity matrix), the
//! diagonal (copies within one GPU) and the latencies that the CPU saw (time to enqueue).

use std::collections::BTreeSet;

use weir_scenario::Diagnostic;

use super::bus;
use super::mapping::Used;
use super::number::{self, MOST_ROWS};
use super::source::{LogLine, Source, Span};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Bytes of a copy: `numElems` ints of 4 bytes.
const BYTES: u64 = 160_000_000;
/// Bytes of a copy whose latency is shown: one int4.
const LATENCY_BYTES: u64 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Matrix {
    Connected,
    OneWay,
    BothWays,
    Latency,
}

/// The matrix that a line belongs to.
#[derive(Clone, Copy)]
struct Title {
    matrix: Matrix,
    /// Copies by reads: from the column to the row.
    reads: bool,
}

/// A cell of a matrix, by the numbers of its GPUs.
#[derive(Clone, Copy)]
struct MatrixCell<'a> {
    row: usize,
    column: usize,
    text: &'a str,
}

/// What is known of the log so far.
#[derive(Default)]
struct State {
    title: Option<Title>,
    columns: Vec<usize>,
    /// The line of the columns.
    head: u32,
    /// The rows so far.
    rows: BTreeSet<usize>,
    /// Pairs that cannot reach each other.
    apart: BTreeSet<(usize, usize)>,
    used: Used,
    cells: usize,
}

/// The same with the devices at the PCI addresses of lines such as `Device: 0, NVIDIA X, pciBusID: 1a, pciDeviceID: 0, pciDomainID:0`,
/// whose numbers are hexadecimal; of busGrind, too.
pub(super) fn addressed<'a>(source: &Source<'a>) -> Result<Source<'a>, Box<Diagnostic>> {
    let address = |line: LogLine<'_>| {
        let text = untagged(line.text).0.trim();
        let (number, _) = text.strip_prefix("Device:")?.trim_start().split_once(',')?;
        let value = |key: &str| {
            let rest = text.split_once(key)?.1.trim_start();
            Some(rest.split([',', ' ']).next().unwrap_or(rest))
        };
        let parts = (value("pciDomainID:")?, value("pciBusID:")?, value("pciDeviceID:")?);
        Some((number.trim().parse().ok()?, format!("{}:{}:{}", parts.0, parts.1, parts.2)))
    };
    bus::addressed(source, &source.lines().filter_map(address).collect())
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let (mut log, mut state) = (Log::default(), State::default());
    for line in source.lines() {
        state.line(source, line, &mut log)?;
    }
    state.end(source)?;
    if state.cells == 0 && log.skipped.is_empty() {
        let help = "the log may have been cut off; matrices follow titles such as `Unidirectional P2P=Enabled …`";
        return Err(source.error(Span::line(1), "the log has no matrix", help));
    }
    let sizes = format!("sizes are the sample's defaults, {BYTES} B and {LATENCY_BYTES} B for latencies");
    log.notes.extend(state.used.note(source, "GPU"));
    log.notes.push(format!("{}: {sizes}", source.file));
    Ok(log)
}

impl State {
    fn line(&mut self, source: &Source<'_>, line: LogLine<'_>, log: &mut Log) -> Result<(), Box<Diagnostic>> {
        let text = untagged(line.text).0;
        if text.contains("Matrix") {
            self.end(source)?;
            self.begin(source, line, text.trim(), log);
            return Ok(());
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        match (words.first().copied(), self.title) {
            (Some("D\\D" | "GPU"), Some(_)) => {
                self.end(source)?;
                self.head = line.number;
                self.columns = words[1..].iter().filter_map(|w| w.parse().ok()).collect();
            }
            (Some("CPU"), Some(Title { matrix: Matrix::Latency, .. })) => {
                let why = "the time that the CPU needs to enqueue a copy, not the copy's";
                source.skip(log, source.place_of(line, text), "latencies under `CPU`", why);
                self.end(source)?;
                self.title = None;
            }
            (Some(first), Some(title)) if !self.columns.is_empty() && first.parse::<usize>().is_ok() => {
                self.row(source, line, title, &words, log)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The end of a matrix: it has a row for each column.
    fn end(&mut self, source: &Source<'_>) -> Result<(), Box<Diagnostic>> {
        let (columns, rows) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.rows));
        let missing: Vec<String> =
            columns.iter().filter(|column| !rows.contains(column)).map(usize::to_string).collect();
        source.all_rows(self.head, &missing)
    }

    /// A new matrix by its title.
    fn begin(&mut self, source: &Source<'_>, line: LogLine<'_>, title: &str, log: &mut Log) {
        (self.title, self.columns) = (None, Vec::new());
        let matrix = match () {
            () if title.contains("Conn") => Matrix::Connected,
            () if title.contains("Latency") => Matrix::Latency,
            () if title.contains("Bidirectional") => Matrix::BothWays,
            () if title.contains("Unidirectional") => Matrix::OneWay,
            () => return,
        };
        if matrix != Matrix::Connected && title.contains("P2P=Disabled") {
            let why = "with P2P disabled copies are staged in host memory, which is no transfer over the route";
            source.skip(log, source.place_of(line, line.text.trim_start()), title, why);
            return;
        }
        self.title = Some(Title { matrix, reads: title.contains("Reads") });
    }

    fn row(
        &mut self,
        source: &Source<'_>,
        line: LogLine<'_>,
        title: Title,
        words: &[&str],
        log: &mut Log,
    ) -> Result<(), Box<Diagnostic>> {
        if words.len() != self.columns.len() + 1 {
            let (cells, columns) = (words.len() - 1, self.columns.len());
            let message = format!("the row has {cells} cells, and the matrix {columns} columns");
            let help = "complete the row: the log may have been cut off";
            return Err(source.error(Span::line(line.number), message, help));
        }
        self.cells += words.len();
        if self.cells > MOST_ROWS {
            let message = format!("more than {MOST_ROWS} cells");
            return Err(source.error(Span::line(line.number), message, "give fewer"));
        }
        let Ok(i) = words[0].parse::<usize>() else { return Ok(()) };
        self.rows.insert(i);
        for (&text, column) in words[1..].iter().zip(self.columns.clone()) {
            self.cell(source, line, title, MatrixCell { row: i, column, text }, log);
        }
        Ok(())
    }

    /// What a cell measured; nothing on the diagonal.
    fn cell(&mut self, source: &Source<'_>, line: LogLine<'_>, title: Title, cell: MatrixCell<'_>, log: &mut Log) {
        let MatrixCell { row, column, text } = cell;
        if row == column {
            return;
        }
        if title.matrix == Matrix::Connected {
            self.apart.extend((text == "0").then_some((row, column)));
            return;
        }
        let place = source.place_of(line, text);
        match self.experiment(source, title, cell) {
            Ok((copies, seconds)) => {
                let rows = vec![MeasuredTime { place, seconds, end: MeasuredEnd::Last }];
                log.experiments.push(Experiment { rows, ..copies });
            }
            Err(why) => source.skip(log, place, format!("GPU {row}, GPU {column}"), why),
        }
    }

    /// The copies of a cell and their seconds, or why it is not used.
    fn experiment(
        &mut self,
        source: &Source<'_>,
        title: Title,
        cell: MatrixCell<'_>,
    ) -> Result<(Experiment, f64), String> {
        let (i, j) = (cell.row, cell.column);
        if self.apart.contains(&(i, j)) {
            return Err("the two cannot reach each other: the copy was staged in host memory".to_owned());
        }
        let (from, to) = if title.reads { (j, i) } else { (i, j) };
        let devices = (source.device(from), source.device(to));
        let (Some(first), Some(second)) = devices else {
            return Err(format!("there are only {} devices: name all by --devices", source.devices.len()));
        };
        let seconds = number::logged(cell.text, "the cell", |value| match title.matrix {
            Matrix::BothWays => 2.0 * BYTES as f64 / (value * 1e9),
            Matrix::Latency => value * 1e-6,
            _ => BYTES as f64 / (value * 1e9),
        })?;
        self.used.devices.extend([i, j]);
        let bytes = if title.matrix == Matrix::Latency { LATENCY_BYTES } else { BYTES };
        let mut transfers = vec![Transfer { from: first, to: second, bytes }];
        let both = title.matrix == Matrix::BothWays;
        if both {
            transfers.push(Transfer { from: second, to: first, bytes });
        }
        let name = format!("{from} to {to}{}", if both { ", both ways" } else { "" });
        Ok((Experiment { transfers, ..Experiment::plain(name) }, seconds))
    }
}
