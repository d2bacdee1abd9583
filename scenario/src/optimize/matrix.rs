//! A measured matrix: what was measured between every two devices, as a CSV file.
//!
//! ```text
//! device,gpu0,gpu1,gpu2        a column for each device, in any order
//! gpu0,,9.8,6.2                a row for each device: from it to the column's; the diagonal is not read
//! gpu1,9.9,,6.1
//! gpu2,6.2,6.2,
//! ```

use rustc_hash::FxHashMap;
use weir_plugin_api::NodeId;

use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::{Files, YAML_BYTES};
use crate::source::Span;
use crate::table::{LineReader, Rows};
use crate::topology::Topology;
use crate::units;
use crate::yaml::Value;

/// Devices of a matrix at most: what a placement can be searched on.
const DEVICES: usize = 4096;
const HELP: &str = "leave out the devices that no rank may run on";

/// What was measured between devices.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredMatrix {
    /// The devices, in the order of the columns.
    pub devices: Vec<NodeId>,
    /// Per device a row of the values from it to each; 0 on the diagonal, above 0 elsewhere.
    pub rows: Vec<Vec<f64>>,
}

/// Reads the matrix that `optimize` names.
pub(super) fn read(
    context: &mut Context,
    files: &mut Files,
    topology: &Topology,
    value: &Value,
) -> Read<MeasuredMatrix> {
    let named = context.text(value, "`matrix`")?.to_owned();
    let (table, source) = files.open_table(context, value.span, &named, YAML_BYTES, HELP)?;
    let mut rows = Rows::new(source, LineReader::new(table, files));
    let devices = header(context, &mut rows, topology)?;
    let columns: FxHashMap<NodeId, usize> = devices.iter().enumerate().map(|(at, &device)| (device, at)).collect();
    let mut all: Vec<Option<Vec<f64>>> = vec![None; devices.len()];
    while rows.next(context)? {
        let device = device(context, &rows, 0, topology)?;
        let Some(&own) = columns.get(&device) else {
            let name = quoted(topology.names.unique_name(device));
            let message = format!("{name} has a row and no column");
            return Err(context.error(rows.place(0), message, "give every device both"));
        };
        let values = row(&rows, own, devices.len())
            .map_err(|(field, problem)| context.error(rows.place(field), problem.message, problem.help))?;
        if all[own].replace(values).is_some() {
            let message = format!("{} has two rows", quoted(topology.names.unique_name(device)));
            return Err(context.error(rows.place(0), message, "keep one of the two"));
        }
    }
    if let Some(missing) = all.iter().position(Option::is_none) {
        let name = quoted(topology.names.unique_name(devices[missing]));
        return Err(context.error(value.span, format!("the matrix has no row for {name}"), "give every device both"));
    }
    Ok(MeasuredMatrix { devices, rows: all.into_iter().flatten().collect() })
}

/// The devices of the columns.
fn header(context: &mut Context, rows: &mut Rows<'_>, topology: &Topology) -> Read<Vec<NodeId>> {
    let help = "the first line is `device` and the name of each device, as in `device,gpu0,gpu1`";
    if !rows.next(context)? || rows.record.get(0).map(<[u8]>::trim_ascii) != Some(b"device") {
        return Err(context.error(rows.place(0), "the matrix does not begin with `device`", help));
    }
    if rows.record.len() > DEVICES + 1 {
        return Err(context.error(rows.place(0), format!("more than {DEVICES} devices"), HELP));
    }
    let mut devices: Vec<NodeId> = Vec::with_capacity(rows.record.len() - 1);
    let mut known: FxHashMap<NodeId, ()> = FxHashMap::default();
    for field in 1..rows.record.len() {
        let device = device(context, rows, field, topology)?;
        if known.insert(device, ()).is_some() {
            let message = format!("{} has two columns", quoted(topology.names.unique_name(device)));
            return Err(context.error(rows.place(field), message, "keep one of the two"));
        }
        devices.push(device);
    }
    if devices.is_empty() { Err(context.error(rows.place(0), "the matrix has no columns", help)) } else { Ok(devices) }
}

/// The device that a field names.
fn device(context: &mut Context, rows: &Rows<'_>, field: usize, topology: &Topology) -> Read<NodeId> {
    let name = String::from_utf8_lossy(rows.record.get(field).unwrap_or_default().trim_ascii()).into_owned();
    topology.names.find(&name).map_err(|missing| {
        let problem = topology.names.problem(&name, missing);
        context.problem(rows.place(field), "a device of the matrix", problem)
    })
}

/// The values of a row, or what is wrong with a field.
fn row(rows: &Rows<'_>, own: usize, devices: usize) -> Result<Vec<f64>, (usize, Problem)> {
    if rows.record.len() != devices + 1 {
        let message = format!("the row has {} fields, the first line {}", rows.record.len(), devices + 1);
        return Err((0, Problem::new(message, "give one field for each device, an empty one for the device itself")));
    }
    let value = |at: usize| {
        if at == own {
            return Ok(0.0);
        }
        let bytes = rows.record.get(at + 1).unwrap_or_default().trim_ascii();
        let text = String::from_utf8_lossy(bytes);
        let decimal = units::decimal(&text).map_err(|problem| (at + 1, problem))?;
        let another_unit = "give all values in another unit";
        let (wrong, help) = match decimal.to_f64() {
            _ if decimal.is_zero() => ("is not a number above 0", "measure it, or leave the device out"),
            0.0 => ("is too small", another_unit),
            number if number.is_infinite() => ("is too large", another_unit),
            number => return Ok(number),
        };
        Err((at + 1, Problem::new(format!("{} {wrong}", quoted(&text)), help)))
    };
    (0..devices).map(value).collect()
}

/// Refuses a matrix that lacks a device that may be chosen.
pub(super) fn covers(
    context: &mut Context,
    span: Span,
    topology: &Topology,
    matrix: &MeasuredMatrix,
    chosen: &[NodeId],
) {
    let known: FxHashMap<NodeId, ()> = matrix.devices.iter().map(|&device| (device, ())).collect();
    if let Some(&missing) = chosen.iter().find(|device| !known.contains_key(device)) {
        let message = format!("{} is not in the matrix", quoted(topology.names.unique_name(missing)));
        let help = "add its row and column, or name other `devices`";
        let _ = context.error(span, message, help);
    }
}
