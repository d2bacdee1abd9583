//! What `weir run` writes beside its results: a timeline, tables.

use std::path::Path;

use weir::{ArbiterSpec, Error, Replay, Scenario};
use weir_report::{Run, TraceFilter, write_trace};
use weir_sim_core::Listener;

use crate::args::RunArgs;
use crate::export::{Export, is_too_large};
use crate::input::{is_stdin, read_files};
use crate::{interrupt, output};

/// The files that were asked for.
pub(super) struct Files<'a> {
    args: &'a RunArgs,
    tables: Export<'a>,
}

impl<'a> Files<'a> {
    /// Refuses targets that would not do before any run.
    pub(super) fn new(args: &'a RunArgs, inputs: &[&Path]) -> Result<Self, Error> {
        if let Some(target) = &args.timeline {
            if args.scenario.files.len() > 1 {
                return Err(Error::input("--timeline takes one scenario: run each of the others with its own FILE"));
            }
            if is_stdin(target) {
                return Err(Error::input("--timeline - would mix with the results on stdout: name a file"));
            }
            output::check_target("--timeline", target, inputs)?;
            output::apart(&[("--timeline", Some(target)), ("--output", args.output.as_deref())])?;
        }
        let tables = Export::new(&args.export)?;
        tables.spare(inputs)?;
        Ok(Self { args, tables })
    }

    /// Refuses a scenario that cannot have what was asked for.
    pub(super) fn check(&self, scenario: &Scenario) -> Result<(), Error> {
        let named = read_files(scenario);
        for (option, target) in [("--timeline", &self.args.timeline), ("--output", &self.args.output)] {
            target.as_deref().map_or(Ok(()), |target| output::spare(option, target, &named))?;
        }
        self.tables.spare(&named)?;
        if let Some(pattern) = self.args.timeline_links.iter().find(|one| !one.is_known(scenario.contents())) {
            return Err(Error::input(format!(
                "--timeline-links {pattern}: {} has no such link: `weir check --nodes` lists them",
                scenario.contents().file
            )));
        }
        if self.args.timeline.is_some() && scenario.arbiters().len() > 1 {
            return Err(several(scenario));
        }
        Ok(())
    }

    pub(super) fn add(&mut self, run: &Run<'_>, scenario: &Scenario, spec: &ArbiterSpec) -> Result<(), Error> {
        if let Some(target) = &self.args.timeline {
            match is_too_large(run) {
                true => output::left_out(&target.display().to_string()),
                false => self.timeline(target, run, scenario, spec)?,
            }
        }
        self.tables.add_run(run);
        Ok(())
    }

    fn timeline(&self, target: &Path, run: &Run<'_>, scenario: &Scenario, spec: &ArbiterSpec) -> Result<(), Error> {
        let filter = TraceFilter { links: self.args.timeline_links.clone(), most: self.args.timeline_top };
        let replay = Replay::new(scenario, spec, run, &interrupt::is_overdue);
        let tell = |listener: Listener<'_>| replay.tell(listener);
        let written =
            output::replace_with(target, |file| write_trace(run, &filter, &tell, &interrupt::is_overdue, file));
        replay.failed()?;
        written
    }

    /// Writes the tables of all runs; without any, none.
    pub(super) fn finish(&self) -> Result<(), Error> {
        self.tables.write()
    }
}

/// Why a scenario with several runs has no timeline, and how to choose one of them.
fn several(scenario: &Scenario) -> Error {
    let (packets, fluid): (Vec<_>, Vec<_>) = scenario.arbiters().iter().partition(|spec| spec.packets.is_some());
    let names: Vec<_> = scenario.arbiters().iter().map(|spec| spec.name.as_str()).collect();
    let how = match (&packets[..], &fluid[..]) {
        ([], _) => format!("--arbiter {}", names[0]),
        (_, [_, _, ..]) => format!("--fidelity packet, or --fidelity fluid --arbiter {}", fluid[0].name),
        (_, [_]) => "--fidelity fluid or --fidelity packet".to_owned(),
        (_, []) => "--fidelity '{packet: {…}}'".to_owned(),
    };
    let what = if packets.is_empty() { "arbiter" } else { "run" };
    let (file, names) = (&scenario.contents().file, names.join(", "));
    Error::input(format!("--timeline takes one {what}, but {file} has {names}: choose one, such as {how}"))
}
