//! Tables as CSV (RFC 4180): a line of names, empty fields for what is not known, numbers in full.

use std::io::Write;

use weir_optimize::text::csv_field;

use super::{ColumnValues, ExportTable};

/// Writes a table.
///
/// # Errors
/// What the writer says.
pub fn write_csv(table: &ExportTable, mut out: impl Write) -> std::io::Result<()> {
    let mut line = String::new();
    for (i, column) in table.columns.iter().enumerate() {
        line.push_str(if i > 0 { "," } else { "" });
        line.push_str(&csv_field(&column.name));
    }
    writeln!(out, "{line}")?;
    for row in 0..table.rows() {
        line.clear();
        for (i, column) in table.columns.iter().enumerate() {
            line.push_str(if i > 0 { "," } else { "" });
            write_field(&column.values, row, &mut line);
        }
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn write_field(values: &ColumnValues, row: usize, field: &mut String) {
    use std::fmt::Write as _;
    match values {
        ColumnValues::Text(values) => field.push_str(&csv_field(values.get(row).unwrap_or_default())),
        ColumnValues::Name(values) => field.push_str(&csv_field(values.get(row).unwrap_or_default())),
        ColumnValues::Whole(values) => {
            let _ = values.get(row).map(|value| write!(field, "{value}"));
        }
        ColumnValues::Flag(values) => {
            let _ = values.get(row).map(|value| write!(field, "{value}"));
        }
        // As in the JSON: the shortest text that is read back as the same number.
        ColumnValues::Real(values) => {
            field.push_str(&values.get(row).map(|v| serde_json::Value::from(v).to_string()).unwrap_or_default())
        }
    }
}
