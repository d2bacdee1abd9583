//! Text of the CUDA sample `p2pBandwidthLatencyTest`: matrices of pairs of GPUs.
//!
//! Row i, column j of a unidirectional matrix is a copy from i to j, of one by reads a copy from j to i; of a bidirectional
//! one, copies both ways at once, the bytes of both over the time of both. Sizes are the sample's defaults: 40 000 000 ints per copy, 16 bytes for latencies.
//! With P2P disabled copies go through host memory in pieces, which is no transfer over the route; such matrices are
//! skipped, and so are, with P2P enabled, pairs of GPUs that cannot reach each other (0 in the connectivity matrix), the
//! diagonal (copies within one GPU) and the latencies that the CPU saw (time to enqueue).

use std::collections::BTreeSet;

use weir_scenario::Diagnostic;

use super::mapping::Used;
use super::{MOST_ROWS, Source, number, untagged};
use crate::measurement::{Experiment, Log, Row, Seen, Transfer};

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

/// What is known of the log so far.
#[derive(Default)]
struct State {
    title: Option<Title>,
    columns: Vec<usize>,
    /// Pairs that cannot reach each other.
    apart: BTreeSet<(usize, usize)>,
    used: Used,
    cells: usize,
}

/// Reads all matrices.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let (mut log, mut state) = (Log::default(), State::default());
    for (at, line) in source.text.lines().enumerate() {
        let (number, text) = (at as u32 + 1, untagged(line).0);
        if text.contains("Matrix") {
            state.begin(source, (number, line), text.trim(), &mut log);
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        match (words.first().copied(), state.title) {
            (Some("D\\D" | "GPU"), Some(_)) => {
                state.columns = words[1..].iter().filter_map(|w| w.parse().ok()).collect();
            }
            (Some("CPU"), Some(Title { matrix: Matrix::Latency, .. })) => {
                let why = "the time that the CPU needs to enqueue a copy, not the copy's";
                source.skip(&mut log, source.place_of((number, line), text), "latencies under `CPU`", why);
                state.title = None;
            }
            (Some(first), Some(title)) if !state.columns.is_empty() && first.parse::<usize>().is_ok() => {
                state.row(source, (number, line), (title, &words), &mut log)?;
            }
            _ => {}
        }
    }
    if state.cells == 0 && log.skipped.is_empty() {
        let help = "the log may have been cut off; matrices follow titles such as `Unidirectional P2P=Enabled …`";
        return Err(source.error((1, 1, 1), "the log has no matrix".to_owned(), help));
    }
    let sizes = format!("sizes are the sample's defaults, {BYTES} B and {LATENCY_BYTES} B for latencies");
    log.notes.extend(state.used.note(source, "GPU"));
    log.notes.push(format!("{}: {sizes}", source.file));
    Ok(log)
}

impl State {
    /// A new matrix by its title.
    fn begin(&mut self, source: &Source<'_>, (line, text): (u32, &str), title: &str, log: &mut Log) {
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
            source.skip(log, source.place_of((line, text), text.trim_start()), title, why);
            return;
        }
        self.title = Some(Title { matrix, reads: title.contains("Reads") });
    }

    fn row(
        &mut self,
        source: &Source<'_>,
        line: (u32, &str),
        (title, words): (Title, &[&str]),
        log: &mut Log,
    ) -> Result<(), Box<Diagnostic>> {
        if words.len() != self.columns.len() + 1 {
            let (cells, columns) = (words.len() - 1, self.columns.len());
            let message = format!("the row has {cells} cells, and the matrix {columns} columns");
            let help = "complete the row: the log may have been cut off";
            return Err(source.error((line.0, 1, 1), message, help));
        }
        self.cells += words.len();
        if self.cells > MOST_ROWS {
            return Err(source.error((line.0, 1, 1), format!("more than {MOST_ROWS} cells"), "give fewer"));
        }
        let Ok(i) = words[0].parse::<usize>() else { return Ok(()) };
        for (cell, j) in words[1..].iter().zip(self.columns.clone()) {
            match title.matrix {
                _ if i == j => {}
                Matrix::Connected if *cell == "0" => {
                    self.apart.insert((i, j));
                }
                Matrix::Connected => {}
                _ => match self.experiment(source, title, (i, j), cell) {
                    Ok((copies, seconds)) => {
                        let rows = vec![Row { place: source.place_of(line, cell), seconds, seen: Seen::Last }];
                        log.experiments.push(Experiment { rows, ..copies });
                    }
                    Err(why) => source.skip(log, source.place_of(line, cell), format!("GPU {i}, GPU {j}"), why),
                },
            }
        }
        Ok(())
    }

    /// The copies of a cell and their seconds, or why it is not used.
    fn experiment(
        &mut self,
        source: &Source<'_>,
        title: Title,
        (i, j): (usize, usize),
        cell: &str,
    ) -> Result<(Experiment, f64), String> {
        if self.apart.contains(&(i, j)) {
            return Err("the two cannot reach each other: the copy was staged in host memory".to_owned());
        }
        let (from, to) = if title.reads { (j, i) } else { (i, j) };
        let devices = (source.device(from), source.device(to));
        let (Some(first), Some(second)) = devices else {
            return Err(format!("there are only {} devices: name all by --devices", source.devices.len()));
        };
        let seconds = number::logged(cell, "the cell", |value| match title.matrix {
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
