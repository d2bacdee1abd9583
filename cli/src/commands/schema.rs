//! `weir schema`: the JSON Schemas of what users write and read.

use weir::Error;

use crate::args::{SchemaArgs, SchemaOf};
use crate::failure::Exit;
use crate::output::Output;
use crate::plugins;

pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, Error> {
    let arbiters = plugins::arbiters(&args.plugins)?;
    Output::open(None)?.result(|writer| match args.of {
        SchemaOf::Scenario => writeln!(writer, "{:#}", weir_scenario::scenario_schema(&arbiters.registry)),
        SchemaOf::Results => writeln!(writer, "{:#}", weir_report::results_schema()),
        SchemaOf::Search => writeln!(writer, "{:#}", weir_report::search_schema()),
    })?;
    Ok(Exit::Ok)
}
