//! The command `weir` as a function, for its program and for the Python package: reads scenario files, fills the registry with built-in and loaded arbiters, runs, reports.
//!
//! ```text
//! arguments ─► registry (built-in, loaded) ─► scenarios ─► simulation per arbiter ─► results on stdout
//!                                                   └────────────────────────────► messages on stderr
//! ```

mod args;
mod beside;
mod bounded;
mod commands;
mod export;
mod failure;
mod input;
mod interrupt;
mod logging;
mod optimize;
mod output;
mod pending;
mod plugins;
mod progress;
mod search_flags;
mod simulate;
mod terminal;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Args, Command};
use crate::failure::{Exit, message, print};
use crate::output::Output;

pub use crate::output::save;

/// Tells what plugins did wrong after their last answer.
fn failed_plugins() -> Exit {
    let failures = weir_plugin_host::take_failures();
    failures.iter().for_each(|failure| message(&format!("error: {failure}; results are not touched by it")));
    if failures.is_empty() { Exit::Ok } else { Exit::Plugin }
}

/// Runs the command of these arguments, of which the first is the name of the program, and returns its exit code. It belongs
/// to a process of its own: it handles Ctrl-C, may change stdout for plugins, and may end the process.
///
/// `program` opens the libraries of plugins in child processes: it is started with arguments that it hands over to this
/// function as they are. Without one, it is the program that runs.
pub fn run(arguments: impl IntoIterator<Item = OsString>, program: Option<PathBuf>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(file) = plugins::child_argument(&arguments) {
        logging::start(0);
        return u8::from(weir_plugin_host::child_main(&file) != ExitCode::SUCCESS);
    }
    plugins::open_with(program);
    match parsed(arguments) {
        Ok(args) => command(args) as u8,
        Err(usage) => shown(&usage) as u8,
    }
}

/// The arguments; a negative number behind an option is its value, which is then refused as one.
fn parsed(arguments: Vec<OsString>) -> Result<Args, clap::Error> {
    let takes_number = |arg: clap::Arg| match arg.get_long().is_some() && arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let program = Args::command().mut_subcommands(|command| command.mut_args(takes_number));
    Args::from_arg_matches(&program.try_get_matches_from(arguments)?)
}

fn command(args: Args) -> Exit {
    let _own_end = weir_plugin_host::OwnEnd;
    terminal::follow(args.layout);
    logging::start(args.verbose);
    interrupt::install();
    let result = match args.command {
        Command::Run(command) => commands::run::run(&command),
        Command::Compare(command) => commands::compare::run(&command),
        Command::Test(command) => commands::test::run(&command),
        Command::Check(command) => commands::check::run(&command),
        Command::Explain(command) => commands::explain::run(&command),
        Command::Tune(command) => commands::tune::run(&command),
        Command::Optimize(command) => commands::optimize::run(&command),
        Command::WhatIf(command) => commands::what_if::run(&command),
        Command::Merge(command) => commands::merge::run(&command),
        Command::Import(command) => commands::import::run(&command),
        Command::Calibrate(command) => commands::calibrate::run(&command),
        Command::Validate(command) => commands::validate::run(&command),
        Command::Report(command) => commands::report::run(&command),
        Command::Plugin(command) => commands::plugin::run(&command),
        Command::Schema(command) => commands::schema::run(&command),
        Command::Completions(command) => commands::completions::run(&command),
        Command::Init(command) => commands::init::run(&command),
        Command::Man(command) => commands::man::run(&command),
    };
    let exit = result.unwrap_or_else(print).max(output::lost().map_or(Exit::Ok, print)).max(failed_plugins());
    if interrupt::requested() { Exit::Interrupted } else { exit }
}

/// Prints what is wrong with the command line; or the help or version that was asked for, which must get to stdout.
fn shown(usage: &clap::Error) -> Exit {
    if usage.use_stderr() {
        usage.exit();
    }
    let text = usage.render();
    let text = match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => text.to_string(),
        _ => text.ansi().to_string(),
    };
    let written = Output::open(None).and_then(|mut output| output.result(|writer| writer.write_all(text.as_bytes())));
    written.map_or_else(print, |()| Exit::Ok)
}
