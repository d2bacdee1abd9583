//! JSON of `nvbandwidth -j`: test cases with matrices of texts in GB/s (10^9 bytes per second).
//!
//! One-way tests measure one pair at a time. In two-way tests by the copy engine the measured copy is accompanied by one
//! the other way; in `all_to_host` and `host_to_all` all other devices copy, too. Copies by kernels (`_sm`) move the same
//! bytes but are skipped, as are all tests that are no copies over links. The buffer is 512 MiB unless the log says
//! otherwise (common.h, defaultBufferSize; older versions 64 MiB).

use weir_plugin_api::NodeId;
use weir_scenario::{Diagnostic, Position};

use super::json::Placed;
use super::mapping::Used;
use super::number::{self, MOST_ROWS};
use super::source::{Source, Span};
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Bytes of a copy, unless the log has `bufferSize`.
const BYTES: u64 = 512 << 20;

/// What a test copies beside the measured pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    TheOtherWay,
    AllOthers,
}

/// Which devices a cell of a matrix stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    HostToDevice,
    DeviceToHost,
    /// The column's device reads from, or the row's writes to, the other: row to column.
    RowToColumn,
    ColumnToRow,
}

/// What a test copies for one cell.
#[derive(Clone, Copy)]
struct Copies {
    between: Between,
    beside: Beside,
}

impl Copies {
    /// Whether both ends are devices of the matrix.
    fn between_devices(self) -> bool {
        matches!(self.between, Between::RowToColumn | Between::ColumnToRow)
    }
}

/// A cell of the matrix of a test.
struct MatrixCell<'a> {
    test: &'a str,
    row: usize,
    column: usize,
    value: &'a Placed,
}

/// What is known of the log so far.
struct State {
    /// Of each copy of the log.
    bytes: u64,
    cells: usize,
    used: Used,
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let root = Placed::read(source.text).map_err(|error| {
        let help = "save the whole output of `nvbandwidth -j`: it may have been cut off";
        let span = Span { line: error.line().max(1) as u32, column: error.column().max(1) as u32, width: 1 };
        source.error(span, format!("the log is no JSON: {error}"), help)
    })?;
    let title = root.get("nvbandwidth");
    let within = |key: &str| title.and_then(|title| title.get(key));
    let cases = within("testcases").and_then(Placed::list).ok_or_else(|| {
        let (at, message) = match within("error") {
            Some(why) => (why, format!("nvbandwidth stopped with an error: {}", number::excerpt(&why.cell_text()))),
            None => (title.unwrap_or(&root), "the log has no nvbandwidth.testcases".to_owned()),
        };
        source.error(span(source, at), message, "save the whole output of `nvbandwidth -j`")
    })?;
    let mib = within("bufferSize").and_then(|size| size.cell_text().parse::<u64>().ok());
    let bytes = mib.filter(|mib| (1..=1 << 30).contains(mib)).map_or(BYTES, |mib| mib << 20);
    let (mut log, mut state) = (Log::default(), State { bytes, cells: 0, used: Used::default() });
    for case in cases {
        state.test(source, case, &mut log)?;
    }
    log.notes.extend(state.used.note(source, "GPU"));
    if !log.experiments.is_empty() {
        log.notes.push(format!("{}: copies of {} MiB", source.file, bytes >> 20));
    }
    Ok(log)
}

/// The line and column of a value.
fn place(source: &Source<'_>, value: &Placed) -> Position {
    let before = source.text.get(..value.at).unwrap_or("");
    let line = before.rsplit('\n').next().unwrap_or("");
    source.place(before.matches('\n').count() as u32 + 1, line.chars().count() as u32 + 1)
}

fn span(source: &Source<'_>, value: &Placed) -> Span {
    let Position { line, column, .. } = place(source, value);
    Span { line, column, width: 1 }
}

/// What a test of this name measures, or why it is not used.
fn meaning(name: &str, description: &str) -> Result<Copies, &'static str> {
    if !name.ends_with("_ce") {
        return Err("only copies by the copy engine (_ce) are used: kernels (_sm) and latencies are not transfers");
    }
    let beside = if name.contains("bidirectional") { Beside::TheOtherWay } else { Beside::Nothing };
    let between = match name {
        _ if name.starts_with("multinode") || name.contains("local") => {
            return Err("not between two devices of this topology");
        }
        _ if name.starts_with("host_to_device") => Between::HostToDevice,
        _ if name.starts_with("device_to_host") => Between::DeviceToHost,
        _ if name.starts_with("all_to_host_memcpy") => {
            return Ok(Copies { between: Between::DeviceToHost, beside: Beside::AllOthers });
        }
        _ if name.starts_with("host_to_all_memcpy") => {
            return Ok(Copies { between: Between::HostToDevice, beside: Beside::AllOthers });
        }
        _ if name.starts_with("device_to_device") && description.contains("->") && !description.contains("<->") => {
            Between::RowToColumn
        }
        _ if name.starts_with("device_to_device") && name.contains("read") => Between::ColumnToRow,
        _ if name.starts_with("device_to_device") => Between::RowToColumn,
        _ => return Err("the test is not one whose copies weir knows"),
    };
    if name.starts_with("all_to_host_bidirectional") || name.starts_with("host_to_all_bidirectional") {
        return Err("the test is not one whose copies weir knows");
    }
    Ok(Copies { between, beside })
}

fn name(case: &Placed) -> &str {
    case.get("name").and_then(Placed::text).unwrap_or("a test without a name")
}

/// Why a test is not used, though its name may be known.
fn unusable(case: &Placed) -> Option<String> {
    let text = |key: &str| case.get(key).and_then(Placed::text);
    let status = text("status").unwrap_or("Passed");
    if status != "Passed" {
        let error = text("error").map_or_else(String::new, |error| format!(": {}", number::excerpt(error)));
        return Some(format!("its status is `{}`{error}", number::excerpt(status)));
    }
    None
}

impl State {
    fn test(&mut self, source: &Source<'_>, case: &Placed, log: &mut Log) -> Result<(), Box<Diagnostic>> {
        let text = |key: &str| case.get(key).and_then(Placed::text);
        let name = name(case);
        let meaning = || meaning(name, text("bandwidth_description").unwrap_or("")).map_err(str::to_owned);
        let matrix = || {
            let rows = case.get("bandwidth_matrix").and_then(Placed::list);
            rows.ok_or_else(|| "it has no bandwidth_matrix: run it again, with -j".to_owned())
        };
        let usable = unusable(case).map_or(Ok(()), Err).and_then(|()| Ok((meaning()?, matrix()?)));
        match usable {
            Ok((copies, rows)) => self.matrix(source, case, copies, rows, log),
            Err(why) => {
                let at = place(source, case.get("name").unwrap_or(case));
                source.skip(log, at, number::excerpt(name), why);
                Ok(())
            }
        }
    }

    fn matrix(
        &mut self,
        source: &Source<'_>,
        case: &Placed,
        copies: Copies,
        rows: &[Placed],
        log: &mut Log,
    ) -> Result<(), Box<Diagnostic>> {
        let test = name(case);
        let width = rows.first().and_then(Placed::list).map_or(0, <[Placed]>::len);
        for (row, cells) in rows.iter().enumerate() {
            let values = cells.list().unwrap_or(&[]);
            if values.len() != width || width == 0 {
                let message = format!(
                    "row {} of `{}` has {} cells, the first has {width}",
                    row + 1,
                    number::excerpt(test),
                    values.len()
                );
                let help = "the log was changed or cut off: save the whole output of `nvbandwidth -j` again";
                return Err(source.error(span(source, cells), message, help));
            }
            // Two-way tests between devices append two more matrices below: the other stream, and the sum.
            if copies.beside == Beside::TheOtherWay && test.starts_with("device_to_device") && row >= values.len() {
                break;
            }
            self.cells += values.len();
            if self.cells > MOST_ROWS {
                let message = format!("more than {MOST_ROWS} cells");
                return Err(source.error(span(source, case.get("name").unwrap_or(case)), message, "give fewer tests"));
            }
            for (column, value) in values.iter().enumerate() {
                self.cell(source, copies, &MatrixCell { test, row, column, value }, log);
            }
        }
        Ok(())
    }

    /// The copy of a cell; nothing for `N/A` and for the 0 of a diagonal.
    fn cell(&mut self, source: &Source<'_>, copies: Copies, cell: &MatrixCell<'_>, log: &mut Log) {
        let text = cell.value.cell_text();
        let devices = copies.between_devices();
        if text == "N/A" || (devices && cell.row == cell.column) {
            return;
        }
        let (at, name) = (place(source, cell.value), format!("{} [{}][{}]", cell.test, cell.row, cell.column));
        let seconds = number::logged(&text, "the cell", |value| self.bytes as f64 / (value * 1e9));
        match seconds.and_then(|s| Ok((s, transfers(source, copies, cell, self.bytes)?))) {
            Ok((seconds, transfers)) => {
                let all = copies.beside == Beside::AllOthers;
                let own = match (devices, all) {
                    (true, _) => vec![cell.row, cell.column],
                    (false, true) => (0..source.devices.len()).collect(),
                    (false, false) => vec![cell.column],
                };
                self.used.hosts.extend(own.iter().filter(|_| !devices));
                self.used.devices.extend(own);
                let rows = vec![MeasuredTime { place: at, seconds, end: MeasuredEnd::Transfer(0) }];
                log.experiments.push(Experiment { rows, transfers, ..Experiment::plain(name) });
            }
            Err(why) => source.skip(log, at, number::excerpt(&name), why),
        }
    }
}

/// The copies of one cell, the measured one first.
fn transfers(source: &Source<'_>, copies: Copies, cell: &MatrixCell<'_>, bytes: u64) -> Result<Vec<Transfer>, String> {
    let few = || format!("there are only {} devices: name all by --devices", source.devices.len());
    let device = |at: usize| source.device(at).ok_or_else(few);
    let host = |d: NodeId| source.host_of(d).ok_or("the topology has no cpu: add one, or name it by --host".to_owned());
    let ends = |device: NodeId| match copies.between {
        Between::HostToDevice => Ok::<_, String>((host(device)?, device)),
        _ => Ok((device, host(device)?)),
    };
    let (row, column) = (cell.row, cell.column);
    let (from, to) = match copies.between {
        Between::HostToDevice | Between::DeviceToHost => ends(device(column)?)?,
        Between::RowToColumn => (device(row)?, device(column)?),
        Between::ColumnToRow => (device(column)?, device(row)?),
    };
    if from == to {
        return Err("a copy within one device".to_owned());
    }
    let mut transfers = vec![Transfer { from, to, bytes }];
    match copies.beside {
        Beside::Nothing => {}
        Beside::TheOtherWay => transfers.push(Transfer { from: to, to: from, bytes }),
        Beside::AllOthers => {
            for &other in source.devices.iter().filter(|&&d| source.device(column) != Some(d)) {
                let (from, to) = ends(other)?;
                transfers.push(Transfer { from, to, bytes });
            }
        }
    }
    Ok(transfers)
}
