//! A search as a page holds it: of many candidates the best rows, and the curve of all.

use serde::Deserialize;
use serde_json::value::RawValue;
use weir_optimize::Distribution;

use super::PageError;
use crate::object::Object;
use crate::pictures::{curve, histogram};

/// Rows of candidates that a page holds (*assumed*: it shows 300).
pub(super) const MOST_ROWS: usize = 300;

/// What of a row is read.
#[derive(Deserialize)]
struct CandidateRow {
    makespan_ps: u64,
}

/// A search for a page.
pub(super) struct Slim {
    pub(super) json: String,
    /// Rows that it had, where not all are kept.
    pub(super) left_out: Option<usize>,
}

/// Keeps the best rows of many, in their order; of a search that has seen all, `curve_s` and `histogram` are made of all.
pub(super) fn slim(object: &Object<'_>, text: &str) -> Result<Slim, PageError> {
    let rows = object.get("rows").map(|rows| serde_json::from_str::<Vec<&RawValue>>(rows.get())).transpose()?;
    let Some(rows) = rows.filter(|rows| rows.len() > MOST_ROWS) else {
        return Ok(Slim { json: text.to_owned(), left_out: None });
    };
    let makespan = |row: &&RawValue| serde_json::from_str::<CandidateRow>(row.get()).map(|row| row.makespan_ps);
    let makespans: Vec<u64> = rows.iter().map(makespan).collect::<Result<_, _>>()?;
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.select_nth_unstable_by_key(MOST_ROWS, |&place| (makespans[place], place));
    places.truncate(MOST_ROWS);
    places.sort_unstable();
    let mut slim: Object<'_> = object.clone();
    slim.set("rows", &places.iter().map(|&place| rows[place]).collect::<Vec<_>>())?;
    let complete = object.get("complete").is_some_and(|complete| complete.get() == "true");
    if complete && object.get("curve_s").is_none() {
        let distribution: Distribution = makespans.into_iter().collect();
        slim.set("curve_s", &curve(&distribution))?;
        slim.set("histogram", &histogram(&distribution))?;
    }
    Ok(Slim { json: serde_json::to_string(&slim)?, left_out: Some(rows.len()) })
}
