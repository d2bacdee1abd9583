//! Transfers as lines, one by one while a run goes on: CSV, or JSON.

use std::io::{self, Write};
use weir_scenario::Scenario;

use serde::Serialize;
use weir_optimize::text::csv_field;
use weir_sim_core::Departure;

use crate::json::{TransferRow, transfer_row, write_json};
use crate::{Alone, ArbiterInfo, Run, write_streamed};

/// Where the transfers of a run went, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streamed<'a> {
    /// The file, as given by the user.
    pub target: &'a str,
    /// Transfers of the scenario.
    pub transfers: usize,
    /// Those that have ended.
    pub ended: usize,
}

/// The form of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lines {
    /// A header, then a row for each transfer; what is null in JSON is empty.
    Csv,
    /// An object for each transfer, as in the result of a run; the last line is that result, without transfers.
    Json,
}

/// The columns of CSV: those of JSON, with the two ends of the bottleneck apart.
const HEADER: &str =
    "id,from,to,bytes,ready_s,start_s,end_s,end_ps,mean_Bps,sent_bytes,alone_s,bottleneck_from,bottleneck_to,cause\n";

impl Lines {
    /// Writes what stands before the first transfer.
    ///
    /// # Errors
    /// What the writer says.
    pub fn begin(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv => out.write_all(HEADER.as_bytes()),
            Self::Json => Ok(()),
        }
    }

    /// Writes the line of a transfer.
    ///
    /// # Errors
    /// What the writer says.
    pub fn transfer(
        self,
        scenario: &Scenario,
        alone: &Alone<'_>,
        arbiter: &ArbiterInfo<'_>,
        transfer: &Departure,
        mut out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(row) = transfer_row(scenario, alone, arbiter, transfer) else { return Ok(()) };
        match self {
            Self::Csv => csv(&row, out),
            Self::Json => {
                write_json(&row, &mut out)?;
                out.write_all(b"\n")
            }
        }
    }

    /// Writes what stands after the last transfer.
    ///
    /// # Errors
    /// What the writer says.
    pub fn end(self, run: &Run<'_>, streamed: &Streamed<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv => Ok(()),
            Self::Json => write_streamed(run, streamed, out),
        }
    }
}

fn csv(row: &TransferRow<'_>, out: &mut dyn Write) -> io::Result<()> {
    for text in [&row.id, &row.from, &row.to] {
        write!(out, "{},", csv_field(text))?;
    }
    number(Some(row.bytes), out)?;
    for value in [row.ready_s, row.start_s, row.end_s] {
        number(value, out)?;
    }
    number(row.end_ps, out)?;
    number(row.mean_bps, out)?;
    number(Some(row.sent()), out)?;
    number(row.alone_s, out)?;
    let (from, to) = row.bottleneck.as_ref().map_or(("", ""), |link| (&*link.from, &*link.to));
    let cause = row.cause.as_deref().unwrap_or_default();
    writeln!(out, "{},{},{}", csv_field(from), csv_field(to), csv_field(cause))
}

/// A number as JSON has it, or nothing, and a comma.
fn number(value: Option<impl Serialize>, mut out: &mut dyn Write) -> io::Result<()> {
    if let Some(value) = value {
        serde_json::to_writer(&mut out, &value)?;
    }
    out.write_all(b",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Ends;

    fn row<'a>() -> TransferRow<'a> {
        TransferRow {
            id: "a \"b\", c".into(),
            from: "gpu0".into(),
            to: "x/y".into(),
            bytes: 300,
            ready_s: Some(0.0),
            start_s: Some(1e-7),
            end_s: None,
            end_ps: None,
            end_spread_s: None,
            time_spread_s: None,
            mean_bps: Some(1.5e9),
            packets: None,
            sent_s: None,
            held: None,
            sent_bytes: Some(7),
            alone_s: None,
            delay: None,
            bottleneck: Some(Ends { from: "gpu0".into(), to: "s".into() }),
            cause: Some("link shared with d,e".into()),
            cause_detail: None,
            route: None,
            shares: None,
            reroutes: Vec::new(),
        }
    }

    #[test]
    fn rows_have_the_fields_of_the_header_and_quote_what_would_break_them() {
        let mut out = Vec::new();
        csv(&row(), &mut out).expect("memory can be written");
        let text = String::from_utf8(out).expect("is UTF-8");
        let expected = "\"a \"\"b\"\", c\",gpu0,x/y,300,0.0,1e-7,,,1500000000.0,7,,gpu0,s,\"link shared with d,e\"\n";
        assert_eq!(text, expected);
        // The id and the cause have a comma each.
        assert_eq!(text.matches(',').count() - 2, HEADER.matches(',').count());
    }

    #[test]
    fn no_name_is_a_formula_of_a_spreadsheet() {
        let mut out = Vec::new();
        let row = TransferRow { id: "=HYPERLINK(\"x\")".into(), from: "@a".into(), to: "-1+2".into(), ..row() };
        csv(&row, &mut out).expect("memory can be written");
        let text = String::from_utf8(out).expect("is UTF-8");
        assert!(text.starts_with("\"'=HYPERLINK(\"\"x\"\")\",'@a,'-1+2,300,"), "{text}");
    }

    #[test]
    fn what_is_not_known_is_empty() {
        let mut out = Vec::new();
        let row = TransferRow { id: "a".into(), bottleneck: None, cause: None, sent_bytes: None, ..row() };
        csv(&row, &mut out).expect("memory can be written");
        assert_eq!(String::from_utf8(out).expect("is UTF-8"), "a,gpu0,x/y,300,0.0,1e-7,,,1500000000.0,300,,,,\n");
    }
}
