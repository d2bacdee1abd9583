//! Tables as CSV (RFC 4180): a line of names, empty fields for what is not known, numbers in full.

use std::borrow::Cow;
use std::io::Write;

use super::{ColumnValues, ExportTable};

/// Writes a table.
///
/// # Errors
/// What the writer says.
pub fn write_csv(table: &ExportTable, out: impl Write) -> std::io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(table.columns.iter().map(|column| column.name.as_bytes()))?;
    let mut field = String::new();
    for row in 0..table.rows() {
        for column in &table.columns {
            field.clear();
            write_field(&column.values, row, &mut field);
            csv.write_field(&field)?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

/// A text that no spreadsheet takes for a formula: with an apostrophe before a sign that begins one (OWASP, *CSV Injection*).
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

fn write_field(values: &ColumnValues, row: usize, field: &mut String) {
    use std::fmt::Write as _;
    match values {
        ColumnValues::Text(values) => field.push_str(&inert(values[row].as_deref().unwrap_or_default())),
        ColumnValues::Whole(values) => {
            let _ = values[row].map(|value| write!(field, "{value}"));
        }
        ColumnValues::Flag(values) => {
            let _ = values[row].map(|value| write!(field, "{value}"));
        }
        // As in the JSON: the shortest text that is read back as the same number.
        ColumnValues::Real(values) => {
            field.push_str(&values[row].map(|v| serde_json::Value::from(v).to_string()).unwrap_or_default())
        }
    }
}
