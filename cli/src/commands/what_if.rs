//! `weir whatif`: what wider links, shorter latencies and more engines would save, under each arbiter.

use std::path::{Path, PathBuf};

use weir::{Error, ErrorKind, Scenario, WhatIf, WhatIfOptions};
use weir_report::text;

use crate::args::WhatIfArgs;
use crate::failure::{Exit, message, writing};
use crate::input::{is_stdin, load, read_files};
use crate::interrupt::{self, Stage};
use crate::output::{self, Output};
use crate::plugins::arbiters;
use crate::progress::Terminal;
use crate::simulate::warn_of;

/// Tries the changes of one file, under each arbiter it asks for.
pub(crate) fn run(args: &WhatIfArgs) -> Result<Exit, Error> {
    let [file] = &args.scenario.files[..] else {
        return Err(Error::input("`weir whatif` takes one file: look at them one after the other"));
    };
    if is_stdin(file) {
        return Err(Error::input("`weir whatif` reads the scenario several times: name a file instead of `-`"));
    }
    let arbiters = arbiters(&args.scenario.plugins)?;
    let scenario = load(file, &args.scenario, &arbiters)?;
    let mut out = open(args, &scenario)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Error::input(format!("the threads of the runs cannot be started: {error}")))?;
    for at in 0..scenario.arbiters().len() {
        if interrupt::requested() {
            break;
        }
        let found = pool.install(|| tried(&scenario, at, args))?;
        let _writing = Stage::writing();
        if !found.complete {
            message("note: interrupted; the result lacks changes, and is marked as incomplete");
        }
        let space = if at > 0 { "\n" } else { "" };
        out.result(|writer| match args.json {
            true => found.write(writer),
            false => write!(writer, "{space}{}", text::what_if(&found)),
        })?;
        write_csv(args.csv.as_deref(), &found)?;
        warn_of(&scenario, &scenario.arbiters()[at])?;
    }
    out.finish()?;
    Ok(Exit::Ok)
}

/// Opens the output, and refuses targets that would not do before a long run.
fn open(args: &WhatIfArgs, scenario: &Scenario) -> Result<Output, Error> {
    let given = args.scenario.files.iter().chain(&args.scenario.plugins.plugins).map(PathBuf::as_path);
    let inputs: Vec<&Path> = given.chain(read_files(scenario)).collect();
    let count = scenario.arbiters().len();
    if let Some(csv) = args.csv.as_deref() {
        if count > 1 {
            let message = format!("--csv takes one arbiter, but there are {count}: choose one with --arbiter");
            return Err(Error::input(message));
        }
        output::check_target("--csv", csv, &inputs)?;
    }
    output::apart(&[("--csv", args.csv.as_deref()), ("--output", args.output.as_deref())])?;
    Output::open_apart(args.output.as_deref(), &inputs)
}

fn tried(scenario: &Scenario, arbiter: usize, args: &WhatIfArgs) -> Result<WhatIf, Error> {
    let _running = Stage::running();
    let watch = Terminal::default();
    let options =
        WhatIfOptions { links: args.links, costs: &args.cost, cancel: Some(interrupt::flag()), watch: &watch };
    scenario.what_if(arbiter, &options).map_err(|error| match error.kind() {
        ErrorKind::Cancelled => Error::new(ErrorKind::Cancelled, "interrupted before the first result"),
        _ => error,
    })
}

fn write_csv(target: Option<&Path>, found: &WhatIf) -> Result<(), Error> {
    let Some(target) = target else { return Ok(()) };
    let mut table = Vec::new();
    found.write_csv(&mut table).map_err(|error| writing("the table", &error))?;
    output::replace(target, &table)
}
