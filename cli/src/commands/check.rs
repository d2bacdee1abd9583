//! `weir check`: what is wrong with a scenario or a topology, or looks wrong, without a run.

mod nodes;

use std::fmt::Display;
use std::path::Path;

use weir::{Diagnostic, Error, Opened, TopologyAlone};
use weir_plugin_api::NodeId;
use weir_report::draw::{Drawn, dot, tree};
use weir_report::text;
use weir_scenario::Scenario;
use weir_sim_core::{Fabric, Work};

use crate::args::CheckArgs;
use crate::failure::{Exit, message, print};
use crate::input::{self, read_any, read_files};
use crate::output::{self, Output};
use crate::plugins::{Arbiters, arbiters};
use crate::terminal;

/// Checks all files; the exit code is the largest.
pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Error> {
    if args.expand {
        return expand(args);
    }
    if let Some(target) = &args.dot {
        draw(target, args)?;
        if !(args.plot || args.nodes) {
            return Ok(Exit::Ok);
        }
    }
    let mut output = Output::open(None)?;
    let arbiters = arbiters(&args.scenario.plugins)?;
    let mut exit = Exit::Ok;
    for file in &args.scenario.files {
        match check(file, args, &arbiters) {
            Ok((summary, file_exit)) => {
                output.result(|writer| write!(writer, "{summary}"))?;
                exit = exit.max(file_exit);
            }
            Err(failure) => exit = exit.max(print(failure)),
        }
    }
    Ok(exit)
}

/// Prints one scenario with the groups of its workload written out.
fn expand(args: &CheckArgs) -> Result<Exit, Error> {
    let [file] = &args.scenario.files[..] else {
        return Err(Error::input("--expand takes one file: expand each of the others by itself"));
    };
    let text = input::expand(file, &args.scenario, &arbiters(&args.scenario.plugins)?)?;
    let mut output = Output::open(None)?;
    output.result(|writer| write!(writer, "{text}"))?;
    Ok(Exit::Ok)
}

/// Writes the topology of one file for Graphviz.
fn draw(target: &Path, args: &CheckArgs) -> Result<(), Error> {
    let [file] = &args.scenario.files[..] else {
        return Err(Error::input("--dot takes one file: draw each of the others into its own OUT"));
    };
    let target = (target != Path::new("-")).then_some(target);
    if target.is_none() && (args.plot || args.nodes) {
        return Err(Error::input("--dot - takes stdout for itself: name a file, or leave --plot and --nodes out"));
    }
    if let Some(target) = target {
        output::check_target("--dot", target, &[file])?;
    }
    let (text, warnings) = match read_any(file, &args.scenario, &arbiters(&args.scenario.plugins)?)? {
        Opened::Scenario(s) => {
            target.map_or(Ok(()), |target| output::spare("--dot", target, &read_files(&s)))?;
            let s = s.contents();
            (dot(&s.name, &drawn(&s.fabric, &|n| s.node_name(n))), warn_all(s.warnings.iter()))
        }
        Opened::Topology(t) => (dot(&t.file, &drawn(&t.fabric, &|n| t.node_name(n))), warn_all(t.warnings.iter())),
    };
    strict(&file.display().to_string(), warnings, args)?;
    let mut output = Output::open(target)?;
    output.result(|writer| write!(writer, "{text}"))?;
    output.finish()
}

fn drawn<'a>(fabric: &'a Fabric, name: &'a dyn Fn(NodeId) -> &'a str) -> Drawn<'a> {
    Drawn { fabric, name }
}

/// The tree of a topology, where it is asked for.
fn plot<'a>(args: &CheckArgs, fabric: &'a Fabric, name: &'a dyn Fn(NodeId) -> &'a str) -> String {
    if args.plot { tree(&drawn(fabric, name), terminal::canvas()) } else { String::new() }
}

/// The summary of a file that can run, or of a topology.
fn check(file: &Path, args: &CheckArgs, all: &Arbiters) -> Result<(String, Exit), Error> {
    match read_any(file, &args.scenario, all)? {
        Opened::Scenario(scenario) => check_scenario(&scenario, args),
        Opened::Topology(topology) => check_topology(&topology, args),
    }
}

fn check_scenario(scenario: &weir::Scenario, args: &CheckArgs) -> Result<(String, Exit), Error> {
    let mut warnings = 0;
    scenario.check_each(&mut |warning| {
        message(&warning);
        warnings += 1;
    })?;
    let scenario = scenario.contents();
    strict(&scenario.file, warnings, args)?;
    let nodes = args.nodes.then(|| nodes::list(&scenario.fabric, &scenario.places, |node| scenario.node_name(node)));
    let plot = plot(args, &scenario.fabric, &|node| scenario.node_name(node));
    Ok((summary(scenario) + &plot + &nodes.unwrap_or_default(), Exit::Ok))
}

fn check_topology(topology: &TopologyAlone, args: &CheckArgs) -> Result<(String, Exit), Error> {
    strict(&topology.file, warn_all(topology.warnings.iter()), args)?;
    let roots = topology.fabric.nodes().iter().filter(|node| node.parent.is_none()).count();
    let ids = topology.places.iter().filter(|(_, place)| place.bus_id.is_some()).count();
    let mut parts = vec![
        count(topology.fabric.nodes().len(), "node"),
        count(topology.fabric.links().len(), "link"),
        count(roots, "root"),
    ];
    parts.extend((ids > 0).then(|| count(ids, "bus id")));
    let summary = format!("{}: ok: a topology: {}\n", text::clean(&topology.file), parts.join(", "));
    let nodes = args.nodes.then(|| nodes::list(&topology.fabric, &topology.places, |node| topology.node_name(node)));
    let plot = plot(args, &topology.fabric, &|node| topology.node_name(node));
    Ok((summary + &plot + &nodes.unwrap_or_default(), Exit::Ok))
}

/// Shows warnings; returns how many there are.
fn warn_all<'d>(findings: impl Iterator<Item = &'d Diagnostic>) -> usize {
    findings.map(|finding| message(&finding.to_string())).count()
}

fn strict(file: &str, warnings: usize, args: &CheckArgs) -> Result<(), Error> {
    if args.strict && warnings > 0 {
        let warnings = count(warnings, "warning");
        return Err(Error::input(format!("{file}: {warnings}; --strict treats warnings as errors")));
    }
    Ok(())
}

fn summary(scenario: &Scenario) -> String {
    let (transfers, computes, barriers) = counts(scenario);
    let arbiters: Vec<_> = scenario.arbiters.iter().map(|spec| spec.name.as_str()).collect();
    let mut parts = vec![
        count(scenario.fabric.nodes().len(), "node"),
        count(scenario.fabric.links().len(), "link"),
        format!("{} on {}", count(transfers, "transfer"), count(scenario.routes.len(), "route")),
    ];
    parts.extend(operations(scenario));
    parts.extend((computes > 0).then(|| count(computes, "computation")));
    parts.extend((barriers > 0).then(|| count(barriers, "barrier")));
    format!("{}: ok: {}; {}\n", text::clean(&scenario.file), parts.join(", "), arbiters.join(", "))
}

/// Transfers over the fabric, computations and barriers. What models planned counts as transfers only.
fn counts(scenario: &Scenario) -> (usize, usize, usize) {
    let (mut transfers, mut computes, mut barriers) = (0, 0, 0);
    let mut planned = scenario.operations.iter().peekable();
    for (i, task) in scenario.tasks.tasks().iter().enumerate() {
        while planned.next_if(|operation| operation.tasks.end as usize <= i).is_some() {}
        let own = planned.peek().is_none_or(|operation| (operation.tasks.start as usize) > i);
        match task.work {
            Work::Carries { .. } => transfers += 1,
            Work::Lasts(_) if own => computes += 1,
            Work::Nothing { counted: true } if own => barriers += 1,
            Work::Lasts(_) | Work::Nothing { .. } => {}
        }
    }
    (transfers, computes, barriers)
}

/// `2 put, 1 gather (52 tasks)`, by kind in the order of first appearance; none for a scenario without operations of
/// models.
fn operations(scenario: &Scenario) -> Option<String> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for operation in &scenario.operations {
        match kinds.iter_mut().find(|(kind, _)| *kind == &*operation.kind) {
            Some((_, number)) => *number += 1,
            None => kinds.push((&operation.kind, 1)),
        }
    }
    let tasks: usize = scenario.operations.iter().map(|operation| operation.tasks.len()).sum();
    let kinds: Vec<String> = kinds.iter().map(|(kind, number)| format!("{number} {}", text::clean(kind))).collect();
    (!kinds.is_empty()).then(|| {
        let operations = count(scenario.operations.len(), "operation");
        format!("{operations} of models ({}; {})", kinds.join(", "), count(tasks, "task"))
    })
}

/// `1 node`, `2 nodes`.
pub(super) fn count(number: impl Display + PartialEq + From<u8>, what: &str) -> String {
    let plural = if number == 1.into() { "" } else { "s" };
    format!("{number} {what}{plural}")
}
