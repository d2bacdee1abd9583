//! The columns of a trace and the fields of a row.

use csv::ByteRecord;
use rustc_hash::FxHashMap;
use weir_plugin_api::{NodeId, SimTime};

use crate::brackets::NAME_BYTES;
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::nearest::suggestion;
use crate::table::Rows;
use crate::units::{self, BYTES_MOST};
use crate::workload::attributes::{Attributes, Ends};

/// The columns, in no particular order.
const COLUMNS: [&str; 9] = ["from", "to", "bytes", "start_s", "id", "weight", "priority", "limit_Bps", "after"];
/// How many of them must be given: the first ones.
const REQUIRED: usize = 3;

/// Where each of [`COLUMNS`] stands in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Columns {
    at: [Option<usize>; COLUMNS.len()],
    width: usize,
}

impl Columns {
    /// Whether rows may give ids.
    pub(crate) fn has_ids(&self) -> bool {
        self.at[4].is_some()
    }

    /// Where starts stand, from 0.
    pub(crate) fn start(&self) -> Option<usize> {
        self.at[3]
    }

    /// The id that a row of a table known to be right gives.
    pub(crate) fn id<'r>(&self, record: &'r ByteRecord) -> Option<&'r str> {
        let bytes = record.get(self.at[4]?)?.trim_ascii();
        std::str::from_utf8(bytes).ok().filter(|id| !id.is_empty())
    }
}

/// Devices by the text that names them.
pub(crate) type Devices = FxHashMap<Box<[u8]>, NodeId>;

/// A field of a row, with its place there.
pub(crate) type Field<'r> = (usize, &'r [u8]);

/// What is wrong with a field, by its place in the row.
pub(crate) type Wrong = (usize, Problem);

pub(crate) struct Row<'r> {
    pub(crate) ends: Ends,
    /// Where the destination stands.
    pub(crate) to: usize,
    pub(crate) bytes: u64,
    pub(crate) attributes: Attributes,
    /// Its id; empty where it gives none.
    pub(crate) id: &'r str,
    pub(crate) after: Option<Field<'r>>,
}

impl<'r> Row<'r> {
    /// Reads a row; `named` finds the device that a field names.
    pub(crate) fn read(
        record: &'r ByteRecord,
        columns: &Columns,
        mut named: impl FnMut(Field<'r>) -> Result<NodeId, Wrong>,
    ) -> Result<Self, Wrong> {
        if record.len() != columns.width {
            let message = format!("the row has {} fields, the header {}", record.len(), columns.width);
            return Err((0, Problem::new(message, "give one field for each column")));
        }
        let field = |column: usize| columns.at[column].map_or((0, &[][..]), |at| (at, record[at].trim_ascii()));
        let value = |column: usize| Some(field(column)).filter(|(_, bytes)| !bytes.is_empty());
        let ends = Ends { from: named(field(0))?, to: named(field(1))? };
        let bytes = size(field(2))?;
        let usual = Attributes::USUAL;
        let attributes = Attributes {
            start: value(3).map_or(Ok(usual.start), |f| read(f, units::seconds).map(|d| SimTime(d.0)))?,
            weight: value(5).map_or(Ok(usual.weight), |f| read(f, units::weight))?,
            priority: value(6).map_or(Ok(usual.priority), |f| read(f, units::integer))?,
            limit: value(7).map_or(Ok(usual.limit), |f| read(f, units::bytes_per_second))?,
            carriage: usual.carriage,
        };
        let id = value(4).map_or(Ok(""), |f| read(f, id))?;
        Ok(Self { ends, to: field(1).0, bytes, attributes, id, after: value(8) })
    }
}

pub(crate) fn header(context: &mut Context, rows: &mut Rows<'_>) -> Read<Columns> {
    let help = || format!("the first line names the columns: {}", COLUMNS.join(","));
    if !rows.next(context)? {
        return Err(context.error(rows.place(0), "the table is empty", help()));
    }
    let mut columns = Columns { at: [None; COLUMNS.len()], width: rows.record.len() };
    for (field, bytes) in rows.record.iter().enumerate() {
        let name = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
        let Some(column) = COLUMNS.iter().position(|&c| c == name) else {
            let message = format!("no column of a trace is named {}", quoted(&name));
            let known = suggestion(&name, COLUMNS, "columns");
            let help = format!("{known}; the first line names the columns, with commas between them");
            return Err(context.error(rows.place(field), message, help));
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

/// A field read as text by one of the functions of [`units`].
pub(crate) fn read<'r, T>(
    (at, bytes): Field<'r>,
    read: impl FnOnce(&'r str) -> Result<T, Problem>,
) -> Result<T, Wrong> {
    let text = std::str::from_utf8(bytes).map_err(|_| (at, Problem::new("a byte that is not UTF-8", "write UTF-8")))?;
    read(text).map_err(|problem| (at, problem))
}

/// A number of bytes without unit.
fn size(field: Field<'_>) -> Result<u64, Wrong> {
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
