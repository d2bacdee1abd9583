//! Text of the CUDA sample `p2pBandwidthLatencyTest`: matrices of pairs of GPUs.
//!
//! Row i, column j of a unidirectional matrix is a copy from i to j; of a bidirectional one, copies both ways at once, the
//! bytes of both over the time of both. Sizes are the sample's defaults: 40 000 000 ints per copy, 16 bytes for latencies.
//! With P2P disabled copies go through host memory in pieces, which is no transfer over the route; such matrices are
//! skipped, as the diagonal is (copies within one GPU) and the latencies that the CPU saw (time to enqueue).

use weir_scenarios::Diagnostic;

use super::{MOST_ROWS, Source, number};
use crate::measurement::{Experiment, Log, Row, Seen, Skipped, Transfer};

/// Bytes of a copy: `numElems` ints of 4 bytes.
const BYTES: u64 = 160_000_000;
/// Bytes of a copy whose latency is shown: one int4.
const LATENCY_BYTES: u64 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Matrix {
    OneWay,
    BothWays,
    Latency,
}

/// Reads all matrices.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let mut log = Log::default();
    let (mut matrix, mut use_it, mut columns): (Option<Matrix>, Result<(), String>, Vec<usize>) =
        (None, Ok(()), Vec::new());
    let mut rows = 0;
    for (at, line) in source.text.lines().enumerate() {
        let number = at as u32 + 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some((kind, usable)) = title(line) {
            (matrix, use_it, columns) = (Some(kind), usable, Vec::new());
            if let Err(why) = &use_it {
                let what = line.trim().to_owned();
                log.skipped.push(Skipped { place: source.place(number, 1), what, why: why.clone() });
            }
            continue;
        }
        match (words.first().copied(), matrix) {
            (Some("D\\D" | "GPU"), Some(_)) => columns = words[1..].iter().filter_map(|w| w.parse().ok()).collect(),
            (Some("CPU"), Some(Matrix::Latency)) => {
                let why = "the time that the CPU needs to enqueue a copy, not the copy's".to_owned();
                let what = "latencies under `CPU`".to_owned();
                log.skipped.push(Skipped { place: source.place(number, 1), what, why });
                matrix = None;
            }
            (Some(first), Some(kind)) if use_it.is_ok() && !columns.is_empty() && first.parse::<usize>().is_ok() => {
                rows += words.len();
                if rows > MOST_ROWS {
                    return Err(source.error((number, 1, 1), format!("more than {MOST_ROWS} cells"), "give fewer"));
                }
                row(source, (number, line, &words), (kind, &columns), &mut log)?;
            }
            _ => {}
        }
    }
    if log.experiments.is_empty() && log.skipped.is_empty() {
        let help = "the log may have been cut off; matrices follow titles such as `Unidirectional P2P=Enabled …`";
        return Err(source.error((1, 1, 1), "the log has no matrix".to_owned(), help));
    }
    log.notes.push(format!(
        "{}: sizes are the sample's defaults, {BYTES} B and {LATENCY_BYTES} B for latencies",
        source.file
    ));
    Ok(log)
}

/// The matrix of a title, and why it is not used.
fn title(line: &str) -> Option<(Matrix, Result<(), String>)> {
    let kind = match () {
        () if !line.contains("Matrix") => return None,
        () if line.contains("Connectivity") => {
            return Some((Matrix::OneWay, Err("says who can reach whom, no times".to_owned())));
        }
        () if line.contains("Latency") => Matrix::Latency,
        () if line.contains("Bidirectional") => Matrix::BothWays,
        () if line.contains("Unidirectional") => Matrix::OneWay,
        () => return None,
    };
    let why = "with P2P disabled copies are staged in host memory, which is no transfer over the route";
    Some((kind, if line.contains("P2P=Disabled") { Err(why.to_owned()) } else { Ok(()) }))
}

fn row(
    source: &Source<'_>,
    (line, text, words): (u32, &str, &[&str]),
    (kind, columns): (Matrix, &[usize]),
    log: &mut Log,
) -> Result<(), Box<Diagnostic>> {
    let column = |field: &str| {
        let byte = field.as_ptr() as usize - text.as_ptr() as usize;
        (line, text[..byte].chars().count() as u32 + 1, field.chars().count() as u32)
    };
    if words.len() != columns.len() + 1 {
        let message = format!("the row has {} cells, and the matrix {} columns", words.len() - 1, columns.len());
        return Err(source.error((line, 1, 1), message, "complete the row: the log may have been cut off"));
    }
    let Ok(i) = words[0].parse::<usize>() else { return Ok(()) };
    for (cell, &j) in words[1..].iter().zip(columns) {
        let value =
            number::positive(cell, "the cell").map_err(|(message, help)| source.error(column(cell), message, help))?;
        if i == j {
            continue;
        }
        let (Some(from), Some(to)) = (source.device(i), source.device(j)) else {
            let what = format!("GPU {i} to GPU {j}");
            let why = format!("there are only {} devices: name all by --devices", source.devices.len());
            log.skipped.push(Skipped { place: source.place(line, column(cell).1), what, why });
            continue;
        };
        let (bytes, seconds) = match kind {
            Matrix::OneWay => (BYTES, BYTES as f64 / (value * 1e9)),
            Matrix::BothWays => (BYTES, 2.0 * BYTES as f64 / (value * 1e9)),
            Matrix::Latency => (LATENCY_BYTES, value * 1e-6),
        };
        let seconds = number::seconds(seconds, "the cell").map_err(|(m, help)| source.error(column(cell), m, help))?;
        let mut transfers = vec![Transfer { from, to, bytes }];
        if kind == Matrix::BothWays {
            transfers.push(Transfer { from: to, to: from, bytes });
        }
        let rows = vec![Row { place: source.place(line, column(cell).1), seconds, seen: Seen::Last }];
        let name = format!("{i} to {j}{}", if kind == Matrix::BothWays { ", both ways" } else { "" });
        log.experiments.push(Experiment { transfers, rows, ..Experiment::plain(name) });
    }
    Ok(())
}
