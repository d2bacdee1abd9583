//! Tables of models: measured times by size, packets tuned for sizes.

use std::rc::Rc;

use serde_json::{Number, Value as Json};

use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::{Files, YAML_BYTES};
use crate::nearest::suggestion;
use crate::source::Span;
use crate::table::{LineReader, Rows};
use crate::units::{self, BYTES_MOST};

/// Rows of a table at most; *assumed*, far more than anybody measures.
const ROWS: usize = 100_000;

/// Rows, and where each stands.
pub(super) type Table = (Json, Rc<[Span]>);

/// The rows of a CSV file with exactly these columns, in any order of its own: one list for each, in the order of
/// `columns`. `bytes` and `packet` are whole bytes (a `packet` is null for an empty cell and `none`), `seconds` arrive as ps.
pub(super) fn read(context: &mut Context, files: &mut Files, span: Span, named: &str, columns: &[&str]) -> Read<Table> {
    let help = "measure at fewer sizes";
    let (table, source) = files.open_table(context, span, named, YAML_BYTES, help)?;
    let mut rows = Rows::new(source, LineReader::new(table, files));
    let at = header(context, &mut rows, columns)?;
    let (mut all, mut places, mut fine) = (Vec::new(), Vec::new(), Ok(()));
    while rows.next(context)? {
        if all.len() == ROWS {
            return Err(context.error(rows.place(0), format!("more than {ROWS} rows"), help));
        }
        match row(&rows, columns, &at) {
            Ok(row) => {
                all.push(Json::Array(row));
                places.push(rows.place(0));
            }
            Err((field, problem)) => {
                fine = Err(context.error(rows.place(field), problem.message, problem.help));
                if context.full() {
                    break;
                }
            }
        }
    }
    fine?;
    if all.is_empty() {
        return Err(context.error(rows.place(0), format!("the table {} has no rows", quoted(named)), "add some"));
    }
    Ok((Json::Array(all), places.into()))
}

/// Where each column stands in a row.
fn header(context: &mut Context, rows: &mut Rows<'_>, columns: &[&str]) -> Read<Vec<usize>> {
    let help = format!("the first line names the columns: {}", columns.join(","));
    if !rows.next(context)? {
        return Err(context.error(rows.place(0), "the table is empty", help));
    }
    let mut at = vec![None; columns.len()];
    for (field, bytes) in rows.record.iter().enumerate() {
        let name = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
        let Some(column) = columns.iter().position(|&column| column == name) else {
            let message = format!("no column of this table is named {}", quoted(&name));
            let help = suggestion(&name, columns.iter().copied(), "columns");
            return Err(context.error(rows.place(field), message, help));
        };
        if at[column].replace(field).is_some() {
            let message = format!("the column {} is given twice", quoted(&name));
            return Err(context.error(rows.place(field), message, "keep one of the two"));
        }
    }
    let missing = at.iter().position(Option::is_none);
    match missing {
        Some(column) => {
            let message = format!("the header lacks the column `{}`", columns[column]);
            Err(context.error(rows.place(0), message, help))
        }
        None => Ok(at.into_iter().flatten().collect()),
    }
}

/// The cells of a row, or what is wrong with a field.
fn row(rows: &Rows<'_>, columns: &[&str], at: &[usize]) -> Result<Vec<Json>, (usize, Problem)> {
    if rows.record.len() != columns.len() {
        let message = format!("the row has {} fields, the header {}", rows.record.len(), columns.len());
        return Err((0, Problem::new(message, "give one field for each column")));
    }
    let cell = |(&column, &field): (&&str, &usize)| {
        let bytes = rows.record.get(field).unwrap_or_default().trim_ascii();
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| (field, Problem::new("a byte that is not UTF-8", "write UTF-8")))?;
        value(column, text).map_err(|problem| (field, problem))
    };
    columns.iter().zip(at).map(cell).collect()
}

fn value(column: &str, text: &str) -> Result<Json, Problem> {
    match column {
        "packet" if matches!(text, "" | "none") => Ok(Json::Null),
        _ if text.is_empty() => {
            let help = if column == "bytes" { "write a whole number" } else { "write a value" };
            Err(Problem::new(format!("the column `{column}` is empty"), help))
        }
        "bytes" | "packet" => units::whole_number(text, BYTES_MOST).map(Json::from),
        "seconds" => {
            let ps = Number::from_f64(units::real_seconds(text)?).map(Json::Number);
            ps.ok_or_else(|| Problem::new(format!("{} is not a finite number", quoted(text)), "give a finite number"))
        }
        _ => Ok(text.into()),
    }
}
