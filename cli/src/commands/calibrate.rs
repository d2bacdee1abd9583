//! `weir calibrate`: the values of a topology that fit measured transfers best.

use std::path::{Path, PathBuf};

use weir::Error;
use weir_calibrate::fit::Choice;
use weir_calibrate::{Experiment, FitOptions, FitReport, Log, Made, ReadOptions};
use weir_report::text::clean;
use weir_scenario::Machine;

use crate::args::{CalibrateArgs, FitWhat, PerLink};
use crate::failure::{Exit, message};
use crate::input;
use crate::output::{self, Output, check_target, replace};
use crate::plugins::arbiters;

/// The topology file; refuses inputs that cannot be read as often as it takes, and an output that is one of them.
fn checked(args: &CalibrateArgs) -> Result<&PathBuf, Error> {
    let file = args.scenario.files.first().ok_or_else(|| Error::input("name a topology file"))?;
    if input::is_stdin(file) {
        return Err(Error::input("`weir calibrate` reads the topology twice: name a file instead of `-`"));
    }
    if args.from.iter().any(|log| input::is_stdin(log)) {
        return Err(Error::input("`--from -`: logs are not read from standard input: name a file"));
    }
    let inputs: Vec<&Path> = std::iter::once(file).chain(&args.from).map(PathBuf::as_path).collect();
    if let Some(target) = &args.write {
        check_target("--write", target, &inputs)?;
    }
    output::apart(&[("--write", args.write.as_deref()), ("--output", args.output.as_deref())])?;
    let is_yaml = |target: &&PathBuf| target.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    if let Some(target) = args.output.as_ref().filter(is_yaml) {
        let target = target.display();
        let message = format!("--output {target} takes the result as text, or with --json as JSON");
        return Err(Error::input(format!("{message}: write the topology with --write {target}")));
    }
    Ok(file)
}

/// Fits, prints, and writes the topology.
pub(crate) fn run(args: &CalibrateArgs) -> Result<Exit, Error> {
    let file = checked(args)?;
    let inputs: Vec<&Path> = std::iter::once(file).chain(&args.from).map(PathBuf::as_path).collect();
    let mut output = Output::open_apart(args.output.as_deref(), &inputs)?;
    let arbiters = arbiters(&args.scenario.plugins)?;
    let options = input::options(&args.scenario, &[]);
    let machine = Machine::load(file, &options, &arbiters.registry).map_err(|d| input::wrong(d, &arbiters))?;
    let logs = read_logs(args, &machine)?;
    let experiments: Vec<Experiment> = logs.iter().flat_map(|log| log.experiments.iter().cloned()).collect();
    let spec = machine.arbiters.first().ok_or_else(|| Error::input("there is no arbiter"))?;
    let fit = weir_calibrate::fit(&machine, spec, &experiments, &fit_options(args));
    let fit = fit.map_err(|error| weir::unfitted(&error, &machine, &arbiters.registry))?;
    let names: Vec<String> = arbiters.registry.iter().map(|entry| entry.name.clone()).collect();
    let made = Made { arbiter: &spec.name, arbiters: &names, per_link: args.per_link == PerLink::Auto };
    let warnings = weir_calibrate::warnings(&machine, &experiments, &fit, made);
    let (machine, warnings) = (&machine, &*warnings);
    let report = FitReport { machine, experiments: &experiments, logs: &logs, fit: &fit, warnings };
    show(args, &report, &mut output)?;
    if let Some(target) = &args.write {
        let names: Vec<String> = args.from.iter().map(|p| name(p)).collect();
        let text = weir_calibrate::write_topology(file, machine, &fit, &options, &names);
        let text = text.map_err(|diagnostics| input::wrong(diagnostics, &arbiters))?;
        replace(target, text.as_bytes())?;
        wrote(args, file, (target, &text), &mut output)?;
    }
    output.finish()?;
    Ok(Exit::Ok)
}

/// Says what was written, and where a file in another folder needs a look.
fn wrote(args: &CalibrateArgs, file: &Path, (target, text): (&Path, &str), output: &mut Output) -> Result<(), Error> {
    if !args.json {
        output.result(|writer| writeln!(writer, "wrote {}", clean(&target.display().to_string())))?;
    }
    if file.parent() != target.parent() && text.contains(" file:") {
        message(
            "note: a `file:` in a scenario is relative to its own folder: check the written file with `weir check`",
        );
    }
    Ok(())
}

/// The file's name without its folder, so that equal fits write equal bytes wherever the logs lie.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn read_logs(args: &CalibrateArgs, machine: &Machine) -> Result<Vec<Log>, Error> {
    let options = ReadOptions {
        kind: args.kind.map(|kind| kind.0),
        devices: args.devices.clone(),
        pair: args.pair.clone(),
        host: args.host.clone(),
        collective: args.collective.map(|collective| collective.0),
    };
    weir::measured_logs(&args.from, machine, &options)
}

fn fit_options(args: &CalibrateArgs) -> FitOptions {
    let asked = |what| args.fit.contains(&what);
    let keys =
        args.fit.iter().filter_map(|what| if let FitWhat::Arbiter(key) = what { Some(key.clone()) } else { None });
    let choice = |what| match (args.fit.is_empty(), asked(what)) {
        (true, _) => Choice::Auto,
        (false, true) => Choice::Yes,
        (false, false) => Choice::No,
    };
    FitOptions {
        bandwidth: args.fit.is_empty() || asked(FitWhat::Bandwidth),
        host_weight: asked(FitWhat::Weight),
        latency: choice(FitWhat::Latency),
        arbiter: (!args.fit.is_empty()).then(|| keys.collect()),
        engines: args.fit.is_empty() || asked(FitWhat::Engines),
        loggp: asked(FitWhat::Loggp),
        finer: if args.per_link == PerLink::Auto { Choice::Auto } else { Choice::No },
        hold_out: args.hold_out,
        seed: args.seed,
        cancel: None,
    }
}

fn show(args: &CalibrateArgs, report: &FitReport<'_>, output: &mut Output) -> Result<(), Error> {
    output.result(|writer| match args.json {
        true => writeln!(writer, "{}", weir_report::json_text(&weir_calibrate::json(report))),
        false => write!(writer, "{}", weir_calibrate::text(report)),
    })?;
    report.warnings.iter().for_each(|warning| message(&format!("warning: {warning}")));
    Ok(())
}
