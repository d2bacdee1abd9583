//! The columns of a table and the fields of a row.

use rustc_hash::FxHashMap;
use weir_plugin_api::{NodeId, SimTime};
use weir_sim_core::TaskId;

use super::TraceNames;
use crate::brackets::NAME_BYTES;
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::nearest::suggestion;
use crate::source::Span;
use crate::table::Rows;
use crate::units::{self, BYTES_MOST};
use crate::workload::item::integer;
use crate::workload::{Attributes, Expansion, not_an_end};

/// The columns, in no particular order; the first three must be given.
const COLUMNS: [&str; 9] = ["from", "to", "bytes", "start_s", "id", "weight", "priority", "limit_Bps", "after"];
const REQUIRED: usize = 3;

/// Where each of [`COLUMNS`] stands in a row.
pub(super) struct Columns {
    at: [Option<usize>; COLUMNS.len()],
    width: usize,
}

/// Devices by the text that names them.
pub(super) type Devices = FxHashMap<Box<[u8]>, NodeId>;

/// What is wrong with a field, by its place in the row.
type Wrong = (usize, Problem);

/// Reads the header.
pub(super) fn header(context: &mut Context, rows: &mut Rows<'_>) -> Read<Columns> {
    let help = || format!("the first line names the columns: {}", COLUMNS.join(","));
    if !rows.next(context)? {
        return Err(context.error(rows.place(0), "the table is empty", help()));
    }
    let mut columns = Columns { at: [None; COLUMNS.len()], width: rows.record.len() };
    for (field, bytes) in rows.record.iter().enumerate() {
        let name = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
        let Some(column) = COLUMNS.iter().position(|&c| c == name) else {
            let message = format!("no column of a trace is named {}", quoted(&name));
            return Err(context.error(rows.place(field), message, suggestion(&name, COLUMNS, "columns")));
        };
        if columns.at[column].replace(field).is_some() {
            let message = format!("the column {} is given twice", quoted(&name));
            return Err(context.error(rows.place(field), message, "keep one of the two"));
        }
    }
    let missing = (0..REQUIRED).find(|&column| columns.at[column].is_none());
    if let Some(column) = missing {
        let message = format!("the header lacks the column `{}`", COLUMNS[column]);
        return Err(context.error(rows.place(0), message, help()));
    }
    Ok(columns)
}

impl Expansion<'_> {
    /// Adds the transfer of the current row.
    pub(super) fn row(
        &mut self,
        rows: &Rows<'_>,
        columns: &Columns,
        devices: &mut Devices,
        names: &mut TraceNames,
    ) -> Result<(), Wrong> {
        let record = &rows.record;
        if record.len() != columns.width {
            let message = format!("the row has {} fields, the header {}", record.len(), columns.width);
            return Err((0, Problem::new(message, "give one field for each column")));
        }
        let field = |column: usize| columns.at[column].map(|at| (at, record[at].trim_ascii()));
        let given = |column: usize| field(column).filter(|(_, bytes)| !bytes.is_empty());
        let [Some(from), Some(to), Some(bytes)] = [field(0), field(1), field(2)] else { return Ok(()) };
        let ends = (self.named(devices, from)?, self.named(devices, to)?);
        let bytes = size(bytes)?;
        let usual = Attributes::USUAL;
        let attributes = Attributes {
            start: given(3).map_or(Ok(usual.start), |f| read(f, units::seconds).map(|d| SimTime(d.0)))?,
            weight: given(5).map_or(Ok(usual.weight), |f| read(f, units::weight))?,
            priority: given(6).map_or(Ok(usual.priority), |f| read(f, integer))?,
            limit: given(7).map_or(Ok(usual.limit), |f| read(f, units::bytes_per_second))?,
        };
        let task = self.carry(ends, bytes, attributes).map_err(|problem| (to.0, problem))?;
        if columns.at[4].is_some() {
            names.add_id(given(4).map_or(Ok(""), |f| read(f, id))?);
        }
        if let Some((at, list)) = given(8) {
            self.row_waits(task, (at, list), rows.place(at))?;
        }
        Ok(())
    }

    /// The device that a field names, looked up once for each text.
    fn named(&self, devices: &mut Devices, (at, bytes): (usize, &[u8])) -> Result<NodeId, Wrong> {
        if let Some(&node) = devices.get(bytes) {
            return Ok(node);
        }
        let node = read((at, bytes), |name| self.topology.names.resolve(name))?;
        match not_an_end(self.topology, node) {
            Some(problem) => Err((at, problem)),
            None => {
                devices.insert(bytes.into(), node);
                Ok(node)
            }
        }
    }

    /// `after`: ids separated by `;`.
    fn row_waits(&mut self, task: TaskId, field: (usize, &[u8]), span: Span) -> Result<(), Wrong> {
        let names = read(field, |list| {
            let ids = list.split(';').map(str::trim).filter(|id| !id.is_empty());
            Ok(ids.map(|id| (id.into(), span)).collect())
        })?;
        self.wait(task, 1, names);
        Ok(())
    }
}

/// A field read as text by one of the functions of [`units`].
fn read<'r, T>((at, bytes): (usize, &'r [u8]), read: impl FnOnce(&'r str) -> Result<T, Problem>) -> Result<T, Wrong> {
    let text = std::str::from_utf8(bytes).map_err(|_| (at, Problem::new("a byte that is not UTF-8", "write UTF-8")))?;
    read(text).map_err(|problem| (at, problem))
}

/// A number of bytes without unit.
fn size(field: (usize, &[u8])) -> Result<u64, Wrong> {
    let bytes = read(field, |text| units::whole_number(text, BYTES_MOST))?;
    if bytes == 0 {
        return Err((field.0, Problem::new("a transfer of zero bytes", "give at least 1, or remove the row")));
    }
    Ok(bytes)
}

fn id(text: &str) -> Result<&str, Problem> {
    if text.len() > NAME_BYTES {
        return Err(Problem::new(
            format!("the id {} is too long", quoted(text)),
            format!("use at most {NAME_BYTES} bytes"),
        ));
    }
    Ok(text)
}
