//! `weir validate`: compares measured times of a scenario's transfers with simulated ones.

use std::path::{Path, PathBuf};

use weir::{Error, RunOptions, Validation};
use weir_calibrate::picture::histogram_svg;
use weir_report::write_json;

use crate::args::{Since, ValidateArgs};
use crate::failure::{Exit, message};
use crate::input::load;
use crate::output::{Output, apart, check_target, replace};
use crate::plugins::arbiters;
use crate::simulate::{self, warn_of};

/// Runs the scenario under each of its arbiters and compares.
pub(crate) fn run(args: &ValidateArgs) -> Result<Exit, Error> {
    let file = args.scenario.files.first().ok_or_else(|| Error::input("name a scenario file"))?;
    if let Some(target) = &args.csv {
        check_target("--csv", target, &[file, &args.measured])?;
    }
    if let Some(target) = &args.svg {
        let csv = args.csv.iter().map(PathBuf::as_path);
        let others: Vec<&Path> = [file.as_path(), &args.measured].into_iter().chain(csv).collect();
        check_target("--svg", target, &others)?;
    }
    let targets =
        [("--csv", args.csv.as_deref()), ("--svg", args.svg.as_deref()), ("--output", args.output.as_deref())];
    apart(&targets)?;
    let (rows, notes) = weir::measured(&args.measured, args.group.as_deref())?;
    notes.iter().for_each(|note| message(note));
    let (name, since) = (args.measured.display().to_string(), since(args.since));
    let all = arbiters(&args.scenario.plugins)?;
    let scenario = load(file, &args.scenario, &all)?;
    let mut output = Output::open_apart(args.output.as_deref(), &[file, &args.measured])?;
    let (mut csv, mut panels) = (Validation::CSV_HEADER.to_owned(), Vec::new());
    for (i, spec) in scenario.arbiters().iter().enumerate() {
        warn_of(&scenario, spec)?;
        simulate::report(&scenario, spec, &RunOptions::default(), |run| {
            let comparison = Validation::new(run, (&name, &rows), since, args.histogram)?;
            comparison.warnings.iter().for_each(|warning| message(warning));
            csv.push_str(&comparison.csv());
            panels.push(comparison.panel());
            output.result(|writer| match args.json {
                true => write_json(&comparison.result(), &mut *writer).and_then(|()| writeln!(writer)),
                false => write!(writer, "{}{}", if i > 0 { "\n" } else { "" }, comparison.text()),
            })
        })?;
    }
    if let Some(target) = &args.csv {
        replace(target, csv.as_bytes())?;
    }
    if let Some(target) = &args.svg {
        replace(target, histogram_svg(&panels).as_bytes())?;
    }
    output.finish()?;
    Ok(Exit::Ok)
}

fn since(since: Since) -> weir::Since {
    match since {
        Since::Ready => weir::Since::Ready,
        Since::Start => weir::Since::Start,
        Since::Zero => weir::Since::Zero,
    }
}
