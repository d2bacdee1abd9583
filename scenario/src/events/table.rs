//! `file: events.csv`: a change of a link in each row.

use weir_plugin_api::SimTime;

use super::{Reader, state};
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::{Files, YAML_BYTES};
use crate::table::{LineReader, Rows};
use crate::units;
use crate::yaml::Value;

/// The columns, in any order.
const COLUMNS: [&str; 4] = ["at", "from", "to", "bandwidth"];

impl Reader<'_> {
    /// Reads a table of changes.
    pub(super) fn table(&mut self, context: &mut Context, files: &mut Files, value: &Value) -> Read<()> {
        let named = context.text(value, "`file` of an event")?;
        let (file, source) = files.open_table(context, value.span, named, YAML_BYTES, "split it into several")?;
        let mut rows = Rows::new(source, LineReader::new(file, files));
        let columns = header(context, &mut rows)?;
        while rows.next(context)? {
            self.row(context, &rows, columns)?;
        }
        Ok(())
    }

    fn row(&mut self, context: &mut Context, rows: &Rows<'_>, columns: [usize; 4]) -> Read<()> {
        let width = COLUMNS.len();
        if rows.record.len() != width {
            let message = format!("the row has {} fields, the first line has {width}", rows.record.len());
            return Err(context.error(rows.place(0), message, format!("write {}", COLUMNS.join(","))));
        }
        let field = |column: usize| {
            let at = columns[column];
            (String::from_utf8_lossy(rows.record.get(at).unwrap_or_default().trim_ascii()), rows.place(at))
        };
        let wrong = |context: &mut Context, column: usize, problem: Problem| {
            context.problem(field(column).1, &format!("`{}`", COLUMNS[column]), problem)
        };
        let at = units::duration(&field(0).0).map_err(|problem| wrong(context, 0, problem))?;
        let state = state(&field(3).0).map_err(|problem| wrong(context, 3, problem))?;
        let mut node = |column: usize| {
            let found = self.places.node(&field(column).0);
            found.map_err(|problem| wrong(context, column, problem))
        };
        let ends = (node(1)?, node(2)?);
        let pair =
            self.places.between(ends).map_err(|Problem { message, help }| context.error(field(1).1, message, help))?;
        self.list(context, field(0).1, pair, &[(SimTime(at.0), state)])
    }
}

/// Where each column is.
fn header(context: &mut Context, rows: &mut Rows<'_>) -> Read<[usize; 4]> {
    let help = format!("name the columns in the first line: {}", COLUMNS.join(","));
    if !rows.next(context)? {
        return Err(context.error(rows.place(0), "the table is empty", help));
    }
    let names: Vec<_> = rows.record.iter().map(|name| String::from_utf8_lossy(name.trim_ascii())).collect();
    let unknown = names
        .iter()
        .enumerate()
        .find(|(at, name)| !COLUMNS.contains(&&***name) || names.iter().take(*at).any(|before| before == *name));
    if let Some((at, name)) = unknown {
        return Err(context.error(rows.place(at), format!("unexpected column {}", quoted(name)), help));
    }
    let mut columns = [0; 4];
    for (column, place) in COLUMNS.iter().zip(&mut columns) {
        let found = names.iter().position(|name| name == column);
        *place = found.ok_or_else(|| context.error(rows.place(0), format!("no column `{column}`"), help.clone()))?;
    }
    Ok(columns)
}
