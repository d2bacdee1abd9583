//! `weir completions`: a completion script.

use clap::CommandFactory;

use weir::Error;

use crate::args::{Args, CompletionsArgs};
use crate::failure::Exit;
use crate::output::Output;

/// Prints the script of a shell.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "weir", &mut script);
    Output::open(None)?.result(|writer| writer.write_all(&script))?;
    Ok(Exit::Ok)
}
