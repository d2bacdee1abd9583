//! Output of `nvbandwidth`, as JSON (`-j`) or as text: test cases with matrices in GB/s (10^9 bytes per second).
//!
//! Which way bytes go is told by the test's name: the device of a row reads from that of the column, or writes to it. The
//! arrow of a description points the other way in all versions up to 0.8 (`GPU(row) -> GPU(column)` of a read), and is not
//! used. The measured copy of a two-way write goes from the column to the row since version 0.6, which prints three
//! matrices, and from the row to the column before (testcases_ce.cpp, DeviceToDeviceBidirWriteCE).
//!
//! One-way tests measure one pair at a time. In two-way tests by the copy engine the measured copy is accompanied by one
//! the other way; in `all_to_host` and `host_to_all` all other devices copy, too, in their two-way forms both ways. What
//! accompanies a copy from or to a host has twice its bytes, so that it lasts as long (testcases_ce.cpp). In `all_to_one` and
//! `one_to_all` all other devices with peer access copy at once, and a cell is their sum. Copies by kernels (`_sm`) move the same bytes but
//! are skipped, as are all tests that are no copies over links. The buffer is 512 MiB unless the log says
//! otherwise (common.h, defaultBufferSize; older versions 64 MiB).

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::NodeId;
use weir_scenario::{Diagnostic, Position};

use super::bus;
use super::mapping::Used;
use super::number::{self, MOST_ROWS};
use super::nvbandwidth_peers::Peers;
use super::source::{Source, Span, Unmeasured};
use super::{nvbandwidth_json, nvbandwidth_text};
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Bytes of a copy, unless the log has `bufferSize`.
const BYTES: u64 = 512 << 20;

/// What a test copies beside the measured pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    TheOtherWay,
    /// The same of all other devices.
    AllOthers,
    /// The same of all other devices, and all the other way.
    AllBothWays,
}

/// Which devices a cell of a matrix stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    HostToDevice,
    DeviceToHost,
    /// The row's device writes to the column's.
    RowToColumn,
    /// The row's device reads from the column's.
    ColumnToRow,
    /// All other devices write to the column's device, or it reads from them.
    AllToColumn,
    ColumnToAll,
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

    /// Whether one device copies from or to all others.
    fn with_all(self) -> bool {
        matches!(self.between, Between::AllToColumn | Between::ColumnToAll)
    }
}

/// A value of a matrix.
pub(super) struct TestCell {
    pub(super) text: String,
    pub(super) at: Position,
}

/// A test with what it measured.
pub(super) struct TestCase {
    pub(super) name: String,
    pub(super) at: Position,
    /// Why it is not used, though its name may be known.
    pub(super) unusable: Option<String>,
    /// The rows of its matrix, empty where it has none.
    pub(super) rows: Vec<Vec<TestCell>>,
}

/// A cell of the matrix of a test.
struct MatrixCell<'a> {
    test: &'a str,
    row: usize,
    column: usize,
    /// The devices that took part beside that of the column.
    others: Vec<usize>,
    value: &'a TestCell,
}

/// What is known of the log so far.
struct State {
    /// Of each copy of the log.
    bytes: u64,
    /// Devices that the log lists, 0 where it lists none.
    listed: usize,
    peers: Peers,
    /// A sum was read as one over all other devices, of which the log does not say which took part.
    assumed_peers: bool,
    cells: usize,
    used: Used,
}

/// What stands in a log: the bytes of each copy, the tests, and the line about each GPU, such as `0: NVIDIA H100
/// (00000000:1b:00)`.
pub(super) struct Contents {
    pub(super) bytes: Option<u64>,
    pub(super) cases: Vec<TestCase>,
    pub(super) gpus: Vec<String>,
}

fn is_json(source: &Source<'_>) -> bool {
    source.text.trim_start().starts_with('{')
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let Contents { bytes, cases, gpus } = match is_json(source) {
        true => nvbandwidth_json::contents(source)?,
        false => nvbandwidth_text::contents(source)?,
    };
    let source = &bus::addressed(source, &addresses(&gpus))?;
    let bytes = bytes.unwrap_or(BYTES);
    let listed = gpus.iter().filter_map(|line| number_of(line)).collect::<BTreeSet<_>>().len();
    let peers = Peers::of(&cases);
    let mut state = State { bytes, listed, peers, assumed_peers: false, cells: 0, used: Used::default() };
    let mut log = Log::default();
    for case in &cases {
        state.test(source, case, &mut log)?;
    }
    log.notes.extend(state.used.note(source, "GPU"));
    if state.assumed_peers {
        let test = "`device_to_device_memcpy_read_ce`";
        log.notes.push(format!(
            "{}: all peers assumed in `all_to_one` and `one_to_all`, which leave out pairs without peer access; a log with {test} says them",
            source.file
        ));
    }
    if !log.experiments.is_empty() {
        log.notes.push(format!("{}: copies of {} MiB", source.file, bytes >> 20));
    }
    Ok(log)
}

/// The number of a GPU, which its line begins with.
fn number_of(line: &str) -> Option<usize> {
    line.split_once(':')?.0.trim().parse().ok()
}

/// The PCI address of each GPU: in brackets behind its name.
fn addresses(gpus: &[String]) -> BTreeMap<usize, String> {
    let address = |line: &String| {
        let (_, rest) = line.split_once(':')?;
        let parts = rest.split('(').skip(1).filter_map(|part| part.split_once(')'));
        // The machine may stand in brackets, too.
        let address = parts.map(|(text, _)| text).find(|text| text.contains(':'))?;
        Some((number_of(line)?, address.to_owned()))
    };
    gpus.iter().filter_map(address).collect()
}

/// What a test of this name measures, or why it is not used. `streams`: it has a matrix for each of two streams.
fn meaning(name: &str, streams: bool) -> Result<Copies, &'static str> {
    if !name.ends_with("_ce") {
        return Err("only copies by the copy engine (_ce) are used: kernels (_sm) and latencies are not transfers");
    }
    let two_way = name.contains("bidirectional");
    let all = if two_way { Beside::AllBothWays } else { Beside::AllOthers };
    let beside = if two_way { Beside::TheOtherWay } else { Beside::Nothing };
    let between = match name {
        _ if name.starts_with("multinode") || name.contains("local") => {
            return Err("not between two devices of this topology");
        }
        _ if name.starts_with("host_to_device") => Between::HostToDevice,
        _ if name.starts_with("device_to_host") => Between::DeviceToHost,
        _ if name.starts_with("all_to_host") => return Ok(Copies { between: Between::DeviceToHost, beside: all }),
        _ if name.starts_with("host_to_all") => return Ok(Copies { between: Between::HostToDevice, beside: all }),
        _ if name.starts_with("all_to_one_write") || name.starts_with("one_to_all_read") => Between::AllToColumn,
        _ if name.starts_with("all_to_one_read") || name.starts_with("one_to_all_write") => Between::ColumnToAll,
        _ if name.starts_with("device_to_device") && (name.contains("read") || streams && two_way) => {
            Between::ColumnToRow
        }
        _ if name.starts_with("device_to_device") => Between::RowToColumn,
        _ => return Err("the test is not one whose copies weir knows"),
    };
    Ok(Copies { between, beside })
}

impl State {
    fn test(&mut self, source: &Source<'_>, case: &TestCase, log: &mut Log) -> Result<(), Box<Diagnostic>> {
        let none = || "it has no bandwidth_matrix: run it again, with -j".to_owned();
        let usable = case.unusable.clone().map_or(Ok(()), Err).and_then(|()| {
            let streams = case.rows.first().is_some_and(|first| case.rows.len() > first.len());
            let copies = meaning(&case.name, streams).map_err(str::to_owned)?;
            if case.rows.is_empty() { Err(none()) } else { Ok(copies) }
        });
        match usable {
            Ok(copies) => self.matrix(source, case, copies, log),
            Err(why) => {
                source.skip(log, case.at.clone(), number::excerpt(&case.name), why);
                Ok(())
            }
        }
    }

    fn matrix(
        &mut self,
        source: &Source<'_>,
        case: &TestCase,
        copies: Copies,
        log: &mut Log,
    ) -> Result<(), Box<Diagnostic>> {
        let width = case.rows.first().map_or(0, Vec::len);
        if copies.between_devices() {
            // JSON that was cut off is none.
            let missing = if is_json(source) { 0..0 } else { case.rows.len()..width };
            source.all_rows(case.at.line, &missing.map(|row| row.to_string()).collect::<Vec<_>>())?;
        }
        rows_are_whole(source, case, copies, width)?;
        let mut unmeasured = Unmeasured::default();
        for (row, cells) in case.rows.iter().enumerate() {
            // Two-way tests between devices append two more matrices below: the other stream, and the sum.
            if copies.beside == Beside::TheOtherWay && copies.between_devices() && row >= width {
                let at = cells.first().map_or_else(|| case.at.clone(), |cell| cell.at.clone());
                let what = format!("{}, from row {} on", number::excerpt(&case.name), row + 1);
                source.skip(log, at, what, "the other stream of the same copies, and the sum of both");
                break;
            }
            self.cells += cells.len();
            if self.cells > MOST_ROWS {
                let span = Span { line: case.at.line, column: case.at.column, width: 1 };
                return Err(source.error(span, format!("more than {MOST_ROWS} cells"), "give fewer tests"));
            }
            for (column, value) in cells.iter().enumerate() {
                if copies.between_devices() && row == column {
                    continue;
                }
                if value.text == "N/A" {
                    unmeasured.add(value.at.clone());
                    continue;
                }
                // Where a log lists no devices, one column does not say how many took part.
                let devices = match width {
                    1 if self.listed > 0 => self.listed,
                    1 => source.devices.len(),
                    _ => width,
                };
                let others = self.others(copies, column, devices);
                self.cell(source, copies, &MatrixCell { test: &case.name, row, column, others, value }, log);
            }
        }
        unmeasured.note(source, log, &number::excerpt(&case.name));
        Ok(())
    }

    /// The devices that copy beside that of a column.
    fn others(&mut self, copies: Copies, column: usize, devices: usize) -> Vec<usize> {
        let peers = copies.with_all().then(|| self.peers.of_device(column, devices));
        let all = || (0..devices).filter(|&at| at != column).collect();
        // Of one other device the sum can be of no other.
        self.assumed_peers |= peers == Some(None) && devices > 2;
        peers.flatten().unwrap_or_else(all)
    }

    /// The copy of a cell.
    fn cell(&mut self, source: &Source<'_>, copies: Copies, cell: &MatrixCell<'_>, log: &mut Log) {
        let text = &cell.value.text;
        let devices = copies.between_devices();
        let (at, name) = (cell.value.at.clone(), format!("{} [{}][{}]", cell.test, cell.row, cell.column));
        // A sum is over all copies, which are of one size.
        let copies_summed = if copies.with_all() { cell.others.len().max(1) as f64 } else { 1.0 };
        let seconds = number::logged(text, "the cell", |value| copies_summed * self.bytes as f64 / (value * 1e9));
        match seconds.and_then(|s| Ok((s, transfers(source, copies, cell, self.bytes)?))) {
            Ok((seconds, transfers)) => {
                let all = matches!(copies.beside, Beside::AllOthers | Beside::AllBothWays);
                let own = match (devices, all || copies.with_all()) {
                    (true, _) => vec![cell.row, cell.column],
                    (false, true) => cell.others.iter().copied().chain([cell.column]).collect(),
                    (false, false) => vec![cell.column],
                };
                self.used.hosts.extend(own.iter().filter(|_| !devices && !copies.with_all()));
                self.used.devices.extend(own);
                let end = if copies.with_all() { MeasuredEnd::Last } else { MeasuredEnd::Transfer(0) };
                let rows = vec![MeasuredTime { place: at, seconds, end }];
                log.experiments.push(Experiment { rows, transfers, ..Experiment::plain(name) });
            }
            Err(why) => source.skip(log, at, number::excerpt(&name), why),
        }
    }
}

/// Whether a matrix has as many rows as its test prints: of hosts one, of devices one each, and of two-way tests between devices a
/// multiple of these.
fn rows_are_whole(source: &Source<'_>, case: &TestCase, copies: Copies, width: usize) -> Result<(), Box<Diagnostic>> {
    let (rows, devices) = (case.rows.len(), copies.between_devices());
    let several = devices && copies.beside == Beside::TheOtherWay && rows.is_multiple_of(width.max(1));
    if several || rows <= if devices { width } else { 1 } {
        return Ok(());
    }
    let message = format!("the matrix has {width} columns and {rows} rows");
    let help = "the log was changed: save the whole output of `nvbandwidth` again";
    Err(source.error(Span::line(case.at.line), message, help))
}

/// The copies of one cell, the measured one first.
fn transfers(source: &Source<'_>, copies: Copies, cell: &MatrixCell<'_>, bytes: u64) -> Result<Vec<Transfer>, String> {
    let (row, column) = (cell.row, cell.column);
    let (from, to) = match copies.between {
        Between::HostToDevice | Between::DeviceToHost => host_copy(source, copies.between, column)?,
        Between::RowToColumn => (device(source, row)?, device(source, column)?),
        Between::ColumnToRow => (device(source, column)?, device(source, row)?),
        Between::AllToColumn | Between::ColumnToAll => return with_all(source, copies.between, cell, bytes),
    };
    if from == to {
        return Err("a copy within one device".to_owned());
    }
    let mut transfers = vec![Transfer { from, to, bytes }];
    let longer = bytes.saturating_mul(2);
    if matches!(copies.beside, Beside::TheOtherWay | Beside::AllBothWays) {
        transfers.push(Transfer { from: to, to: from, bytes: if copies.between_devices() { bytes } else { longer } });
    }
    if matches!(copies.beside, Beside::AllOthers | Beside::AllBothWays) {
        for &at in &cell.others {
            let (from, to) = host_copy(source, copies.between, at)?;
            transfers.push(Transfer { from, to, bytes: longer });
            if copies.beside == Beside::AllBothWays {
                transfers.push(Transfer { from: to, to: from, bytes: longer });
            }
        }
    }
    Ok(transfers)
}

fn device(source: &Source<'_>, at: usize) -> Result<NodeId, String> {
    let few = || format!("there are only {} devices: name all by --devices", source.devices.len());
    source.device(at).ok_or_else(few)
}

/// From the host of a device to it, or back.
fn host_copy(source: &Source<'_>, between: Between, at: usize) -> Result<(NodeId, NodeId), String> {
    let device = device(source, at)?;
    let host = source.host_of(device).ok_or("the topology has no cpu: add one, or name it by --host")?;
    Ok(if between == Between::HostToDevice { (host, device) } else { (device, host) })
}

/// Copies between the device of a column and each other one.
fn with_all(source: &Source<'_>, between: Between, cell: &MatrixCell<'_>, bytes: u64) -> Result<Vec<Transfer>, String> {
    let pair = |&at: &usize| {
        let (one, other) = (device(source, cell.column)?, device(source, at)?);
        let (from, to) = if between == Between::AllToColumn { (other, one) } else { (one, other) };
        Ok(Transfer { from, to, bytes })
    };
    let all: Vec<Transfer> = cell.others.iter().map(pair).collect::<Result<_, String>>()?;
    if all.is_empty() { Err("it can reach no other device".to_owned()) } else { Ok(all) }
}
