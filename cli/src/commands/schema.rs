//! `weir schema`: the JSON Schemas of what users write and read.

use crate::args::{SchemaArgs, SchemaOf};
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// The schema of scenario files, for editors; `weir check` knows more.
const SCENARIO: &str = include_str!("../scenario.schema.json");

/// Prints a schema.
pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, Failure> {
    Output::open(None)?.result(|writer| match args.of {
        SchemaOf::Scenario => write!(writer, "{SCENARIO}"),
        SchemaOf::Results => writeln!(writer, "{:#}", weir_report::results_schema()),
        SchemaOf::Search => write!(writer, "{}", weir_report::SEARCH_SCHEMA),
    })?;
    Ok(Exit::Ok)
}
