//! JSON of `nvbandwidth -j`: test cases with matrices of texts in GB/s (10^9 bytes per second).
//!
//! One-way tests measure one pair at a time. In two-way tests by the copy engine the measured copy is accompanied by one
//! the other way; in `all_to_host` and `host_to_all` all other devices copy, too. Copies by kernels (`_sm`) move the same
//! bytes but are skipped, as are all tests that are no copies over links. The buffer is 512 MiB unless the log says
//! otherwise (common.h, defaultBufferSize; older versions 64 MiB).

use serde_json::Value;
use weir_plugin_api::NodeId;
use weir_scenarios::Diagnostic;

use super::{MOST_ROWS, Source, number};
use crate::measurement::{Experiment, Log, Row, Seen, Skipped, Transfer};

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

/// Reads all test cases.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let root: Value = serde_json::from_str(source.text).map_err(|error| {
        let help = "save the whole output of `nvbandwidth -j`: it may have been cut off";
        let place = (error.line().max(1) as u32, error.column().max(1) as u32, 1);
        source.error(place, format!("the log is no JSON: {error}"), help)
    })?;
    let cases = root.pointer("/nvbandwidth/testcases").and_then(Value::as_array).ok_or_else(|| {
        let why = root.pointer("/nvbandwidth/error").and_then(Value::as_str);
        let message = match why {
            Some(why) => format!("nvbandwidth stopped with an error: {}", number::shown(why)),
            None => "the log has no nvbandwidth.testcases".to_owned(),
        };
        source.error((1, 1, 1), message, "save the whole output of `nvbandwidth -j`")
    })?;
    let (mut log, mut cells, mut from) = (Log::default(), 0, 0);
    let bytes = buffer(&root);
    for case in cases {
        let name = case.get("name").and_then(Value::as_str).unwrap_or("a test without a name");
        // The place of the name, searched from the one before: the JSON reader keeps no places.
        let at = source.text[from..].find(&format!("\"{name}\"")).map_or(from, |at| from + at);
        from = at;
        let place =
            (source.text[..at].matches('\n').count() as u32 + 1, column(source.text, at), name.len() as u32 + 2);
        test(source, (case, name, place), (bytes, &mut cells), &mut log)?;
    }
    if !log.experiments.is_empty() {
        log.notes.push(format!("{}: copies of {} MiB", source.file, bytes >> 20));
    }
    Ok(log)
}

fn column(text: &str, at: usize) -> u32 {
    text[..at].rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32 + 1
}

/// The size of the copies.
fn buffer(root: &Value) -> u64 {
    let mib = root.pointer("/nvbandwidth/bufferSize").and_then(Value::as_u64);
    mib.filter(|mib| (1..=1 << 30).contains(mib)).map_or(BYTES, |mib| mib << 20)
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

fn test(
    source: &Source<'_>,
    (case, name, place): (&Value, &str, (u32, u32, u32)),
    (bytes, cells): (u64, &mut usize),
    log: &mut Log,
) -> Result<(), Box<Diagnostic>> {
    let skip = |log: &mut Log, why: String| {
        log.skipped.push(Skipped { place: source.place(place.0, place.1), what: number::shown(name), why });
    };
    let status = case.get("status").and_then(Value::as_str).unwrap_or("Passed");
    if status != "Passed" {
        skip(log, format!("its status is `{}`", number::shown(status)));
        return Ok(());
    }
    let description = case.get("bandwidth_description").and_then(Value::as_str).unwrap_or("");
    let (between, beside) = match meaning(name, description) {
        Ok(meaning) => meaning,
        Err(why) => {
            skip(log, why.to_owned());
            return Ok(());
        }
    };
    let rows = case.get("bandwidth_matrix").and_then(Value::as_array);
    let rows = rows.ok_or_else(|| {
        source.error(place, format!("the test `{name}` has no bandwidth_matrix"), "run it again, with -j")
    })?;
    for (i, row) in rows.iter().enumerate() {
        let width = row.as_array().map_or(0, Vec::len);
        // Two-way tests between devices append two more matrices below: the other stream, and the sum.
        if beside == Beside::TheOtherWay && name.starts_with("device_to_device") && i >= width {
            break;
        }
        for (j, cell) in row.as_array().map_or(&[][..], Vec::as_slice).iter().enumerate() {
            *cells += 1;
            if *cells > MOST_ROWS {
                return Err(source.error(place, format!("more than {MOST_ROWS} cells"), "give fewer tests"));
            }
            let Some(value) = value(source, place, (i, j), cell)? else { continue };
            let seconds = number::seconds(bytes as f64 / (value * 1e9), "the cell");
            let seconds = seconds.map_err(|(message, help)| source.error(place, cell_text((i, j), &message), help))?;
            match experiment(source, (between, beside), (i, j), bytes) {
                Ok(copies) => {
                    let row = Row { place: source.place(place.0, place.1), seconds, seen: Seen::End(0) };
                    let name = format!("{name} [{i}][{j}]");
                    log.experiments.push(Experiment { name, rows: vec![row], ..copies });
                }
                Err(why) => skip(log, cell_text((i, j), &why)),
            }
        }
    }
    Ok(())
}

fn cell_text((i, j): (usize, usize), what: &str) -> String {
    format!("row {i}, column {j}: {what}")
}

/// The number of a cell; `None` for `N/A` and for the 0 of a diagonal.
fn value(
    source: &Source<'_>,
    place: (u32, u32, u32),
    (i, j): (usize, usize),
    cell: &Value,
) -> Result<Option<f64>, Box<Diagnostic>> {
    let text = match cell {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        other => other.to_string(),
    };
    if text == "N/A" || (i == j && number::real(&text, "").is_ok_and(|v| v == 0.0)) {
        return Ok(None);
    }
    let read = number::positive(&text, "the cell");
    read.map(Some).map_err(|(message, help)| source.error(place, cell_text((i, j), &message), help))
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
