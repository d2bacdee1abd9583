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
use super::{MOST_ROWS, Source, number};
use crate::measurement::{Experiment, Log, Row, Seen, Transfer};

/// Bytes of a copy.
const BYTES: u64 = 512 << 20;

/// What a test copies beside the measured pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    TheOtherWay,
    AllOthers,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    HostToDevice,
    DeviceToHost,
    /// The column's device reads from, or the row's writes to, the other: row to column.
    RowToColumn,
    ColumnToRow,
}

/// What is known of the log so far.
struct State {
    /// Bytes of a copy.
    bytes: u64,
    cells: usize,
    used: Used,
}

/// Reads all test cases.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let root = Placed::read(source.text).map_err(|error| {
        let help = "save the whole output of `nvbandwidth -j`: it may have been cut off";
        let place = (error.line().max(1) as u32, error.column().max(1) as u32, 1);
        source.error(place, format!("the log is no JSON: {error}"), help)
    })?;
    let title = root.get("nvbandwidth");
    let within = |key: &str| title.and_then(|title| title.get(key));
    let cases = within("testcases").and_then(Placed::list).ok_or_else(|| {
        let (at, message) = match within("error") {
            Some(why) => (why, format!("nvbandwidth stopped with an error: {}", number::shown(&why.shown()))),
            None => (title.unwrap_or(&root), "the log has no nvbandwidth.testcases".to_owned()),
        };
        let place = place(source, at);
        source.error((place.line, place.column, 1), message, "save the whole output of `nvbandwidth -j`")
    })?;
    let mib = within("bufferSize").and_then(|size| size.shown().parse::<u64>().ok());
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

/// What a test of this name measures, or why it is not used.
fn meaning(name: &str, description: &str) -> Result<(Between, Beside), &'static str> {
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
        _ if name.starts_with("all_to_host_memcpy") => return Ok((Between::DeviceToHost, Beside::AllOthers)),
        _ if name.starts_with("host_to_all_memcpy") => return Ok((Between::HostToDevice, Beside::AllOthers)),
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
    Ok((between, beside))
}

impl State {
    fn test(&mut self, source: &Source<'_>, case: &Placed, log: &mut Log) -> Result<(), Box<Diagnostic>> {
        let text = |key: &str| case.get(key).and_then(Placed::text);
        let name = text("name").unwrap_or("a test without a name");
        let at = place(source, case.get("name").unwrap_or(case));
        let skip = |log: &mut Log, why: String| source.skip(log, at.clone(), number::shown(name), why);
        let status = text("status").unwrap_or("Passed");
        if status != "Passed" {
            let error = text("error").map_or_else(String::new, |error| format!(": {}", number::shown(error)));
            skip(log, format!("its status is `{}`{error}", number::shown(status)));
            return Ok(());
        }
        let (between, beside) = match meaning(name, text("bandwidth_description").unwrap_or("")) {
            Ok(meaning) => meaning,
            Err(why) => {
                skip(log, why.to_owned());
                return Ok(());
            }
        };
        let Some(rows) = case.get("bandwidth_matrix").and_then(Placed::list) else {
            skip(log, "it has no bandwidth_matrix: run it again, with -j".to_owned());
            return Ok(());
        };
        for (i, row) in rows.iter().enumerate() {
            let cells = row.list().unwrap_or(&[]);
            // Two-way tests between devices append two more matrices below: the other stream, and the sum.
            if beside == Beside::TheOtherWay && name.starts_with("device_to_device") && i >= cells.len() {
                break;
            }
            self.cells += cells.len();
            if self.cells > MOST_ROWS {
                let place = (at.line, at.column, 1);
                return Err(source.error(place, format!("more than {MOST_ROWS} cells"), "give fewer tests"));
            }
            for (j, cell) in cells.iter().enumerate() {
                self.cell(source, (name, between, beside), ((i, j), cell), log);
            }
        }
        Ok(())
    }

    /// The copy of a cell; nothing for `N/A` and for the 0 of a diagonal.
    fn cell(
        &mut self,
        source: &Source<'_>,
        (name, between, beside): (&str, Between, Beside),
        ((i, j), cell): ((usize, usize), &Placed),
        log: &mut Log,
    ) {
        let text = cell.shown();
        let devices = matches!(between, Between::RowToColumn | Between::ColumnToRow);
        if text == "N/A" || (devices && i == j) {
            return;
        }
        let (at, name) = (place(source, cell), format!("{name} [{i}][{j}]"));
        let seconds = number::logged(&text, "the cell", |value| self.bytes as f64 / (value * 1e9));
        let copies = seconds.and_then(|s| Ok((s, experiment(source, (between, beside), (i, j), self.bytes)?)));
        match copies {
            Ok((seconds, copies)) => {
                let all = if beside == Beside::AllOthers { 0..source.devices.len() } else { j..j + 1 };
                let own = if devices { vec![i, j] } else { all.collect() };
                self.used.hosts.extend(own.iter().filter(|_| !devices));
                self.used.devices.extend(own);
                let row = Row { place: at, seconds, seen: Seen::End(0) };
                log.experiments.push(Experiment { name, rows: vec![row], ..copies });
            }
            Err(why) => source.skip(log, at, number::shown(&name), why),
        }
    }
}

/// The copies of one cell, the measured one first.
fn experiment(
    source: &Source<'_>,
    (between, beside): (Between, Beside),
    (i, j): (usize, usize),
    bytes: u64,
) -> Result<Experiment, String> {
    let few = || format!("there are only {} devices: name all by --devices", source.devices.len());
    let device = |at: usize| source.device(at).ok_or_else(few);
    let host = |d: NodeId| source.host_of(d).ok_or("the topology has no cpu: add one, or name it by --host".to_owned());
    let (from, to) = match between {
        Between::HostToDevice => (host(device(j)?)?, device(j)?),
        Between::DeviceToHost => (device(j)?, host(device(j)?)?),
        Between::RowToColumn => (device(i)?, device(j)?),
        Between::ColumnToRow => (device(j)?, device(i)?),
    };
    if from == to {
        return Err("a copy within one device".to_owned());
    }
    let mut transfers = vec![Transfer { from, to, bytes }];
    match beside {
        Beside::Nothing => {}
        Beside::TheOtherWay => transfers.push(Transfer { from: to, to: from, bytes }),
        Beside::AllOthers => {
            for &other in source.devices.iter().filter(|&&d| d != device(j).unwrap_or(d)) {
                let (from, to) = match between {
                    Between::HostToDevice => (host(other)?, other),
                    _ => (other, host(other)?),
                };
                transfers.push(Transfer { from, to, bytes });
            }
        }
    }
    Ok(Experiment { transfers, ..Experiment::plain("") })
}
