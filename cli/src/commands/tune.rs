//! `weir tune`: the best packet of a put for each of several sizes.
//!
//! The scenario is read once per size, with the size, `packet: auto` and `under` set: the reader simulates every way, and
//! what it has chosen is the answer.

mod load;

use std::path::{Path, PathBuf};

use weir::{Error, ErrorKind};
use weir_report::{Tried, TunedOperation, TunedSize, TunedUnder, Tuning, binary_bytes, text};
use weir_scenario::{Choice, PlannedOperation, Scenario};
use weir_sim_core::TaskId;

use crate::args::{TuneArgs, Under};
use crate::failure::Exit;
use crate::input::{is_stdin, load, options, read_with};
use crate::output::{self, Output};
use crate::plugins::{Arbiters, arbiters};

/// The key of the operations that have packets.
const PUT: &str = "put";
/// The packet that the reader chooses.
const AUTO: &str = "auto";
/// The label of the way without packets.
const NONE: &str = "none";
/// Ids that an error names.
const NAMED: usize = 8;

/// Tunes the puts of a file.
pub(crate) fn run(args: &TuneArgs) -> Result<Exit, Error> {
    let [file] = &args.scenario.files[..] else {
        return Err(Error::input("`weir tune` takes one file: tune them one after the other"));
    };
    if is_stdin(file) {
        return Err(Error::input("`weir tune` reads the scenario once per size: name a file instead of `-`"));
    }
    if args.scenario.arbiters.len() > 1 {
        return Err(Error::input("`weir tune` tries packets under one arbiter: give `--arbiter` once"));
    }
    apart(args)?;
    let mut table = args.csv.as_deref().map(|target| open_table(target, args)).transpose()?;
    let mut output = Output::open_apart(args.output.as_deref(), &inputs(args))?;
    let arbiters = arbiters(&args.scenario.plugins)?;
    let tuner = Tuner { file, args, arbiters: &arbiters };
    let scenario = load(file, &args.scenario, &arbiters)?;
    if scenario.arbiters().first().is_some_and(|spec| spec.packets.is_some()) {
        // They would be tried by rates all the same, and the table would say otherwise.
        return Err(Error::input("`weir tune` tries packet sizes by rates, under an arbiter: give `--fidelity fluid`"));
    }
    let tuning = tuner.tuning(&scenario)?;
    if let (Some(table), [operation]) = (&mut table, &tuning.operations[..]) {
        table.result(|writer| operation.write_csv(writer))?;
    }
    output.result(|writer| match args.json {
        true => tuning.write(writer),
        false => write!(writer, "{}", text::tuned(&tuning)),
    })?;
    table.map_or(Ok(()), Output::finish)?;
    output.finish()?;
    Ok(Exit::Ok)
}

/// Refuses one file for both, and a table under the option for results: a scenario that reads it would find no table.
fn apart(args: &TuneArgs) -> Result<(), Error> {
    output::apart(&[("--csv", args.csv.as_deref()), ("--output", args.output.as_deref())])?;
    let table = args.output.as_deref().filter(|target| target.extension().is_some_and(|ending| ending == "csv"));
    table.map_or(Ok(()), |target| {
        let target = target.display();
        let message = format!("--output {target} takes the result as text, or with --json as JSON");
        Err(Error::input(format!("{message}: write the table of packets with --csv {target}")))
    })
}

/// What the command line names to be read.
fn inputs(args: &TuneArgs) -> Vec<&Path> {
    args.scenario.files.iter().chain(&args.scenario.plugins.plugins).map(PathBuf::as_path).collect()
}

/// The file for the tuned table. One that exists is replaced only by its like: a scenario may name curves beside it.
fn open_table(target: &Path, args: &TuneArgs) -> Result<Output, Error> {
    output::spare("--csv", target, &inputs(args))?;
    let output = Output::open(Some(target))?;
    let is_file = std::fs::metadata(target).is_ok_and(|found| found.is_file() && found.len() > 0);
    if is_file && !is_tuned(target) {
        let target = target.display();
        let message = format!("--csv {target} would overwrite a file that is not a tuned table: name another file");
        return Err(Error::input(message));
    }
    Ok(output)
}

/// Whether a file begins as a tuned table does: `bytes,packet`.
fn is_tuned(file: &Path) -> bool {
    use std::io::{BufRead, BufReader, Read};
    /// Bytes that are looked at; *assumed*, more than any such line has.
    const LINE: u64 = 256;
    let mut line = String::new();
    let read = std::fs::File::open(file).and_then(|file| BufReader::new(file.take(LINE)).read_line(&mut line));
    let mut columns: Vec<&str> = line.split(',').map(str::trim).collect();
    columns.sort_unstable();
    read.is_ok() && columns == ["bytes", "packet"]
}

/// Reads a scenario again and again.
struct Tuner<'a> {
    file: &'a Path,
    args: &'a TuneArgs,
    arbiters: &'a Arbiters,
}

impl Tuner<'_> {
    fn tuning(&self, read: &weir::Scenario) -> Result<Tuning, Error> {
        let scenario = read.contents();
        let puts = self.puts(scenario)?;
        if self.args.csv.is_some() && puts.len() > 1 {
            let message = format!("--csv takes the table of one put: add --operation with one of {}", ids(&puts));
            return Err(Error::input(message));
        }
        let under = scenario.arbiters.first().map(|spec| (spec.name.clone(), spec.written.clone()));
        let (name, params) = under.unwrap_or_default();
        let under = TunedUnder { name, params };
        let mut tuning = Tuning::new(&scenario.name, &scenario.file, &scenario.input_sha256, under);
        tuning.under_load = self.args.under == Under::Load;
        if !tuning.under_load {
            self.warn_of_load(read, &puts)?;
        }
        for put in puts {
            let sizes = &self.args.sizes.0;
            let rows = sizes.iter().map(|&bytes| self.tuned(scenario, put, bytes)).collect::<Result<_, _>>()?;
            tuning.operations.push(TunedOperation { id: put.id.to_string(), sizes: rows });
        }
        Ok(tuning)
    }

    /// The put that was named, or all whose packet can be chosen.
    fn puts<'s>(&self, scenario: &'s Scenario) -> Result<Vec<&'s PlannedOperation>, Error> {
        let all: Vec<&PlannedOperation> = scenario.operations.iter().filter(|o| &*o.kind == PUT).collect();
        let file = &scenario.file;
        if all.is_empty() {
            return Err(Error::input(format!("{file} has no `put`: `weir tune` finds the packets of puts")));
        }
        if let Some(id) = &self.args.operation {
            let named = all.iter().find(|put| *put.id == **id);
            let missing = || Error::input(format!("{file} has no put `{id}`: name one of {}", ids(&all)));
            return Ok(vec![named.ok_or_else(missing)?]);
        }
        // Whether there is something to choose does not depend on the load, which would cost runs and may deadlock.
        let readable = |put: &PlannedOperation| self.read(scenario, put, Under::Alone, None).is_ok();
        let open = |put: &&PlannedOperation| put.choice.is_some() || readable(put);
        let open: Vec<_> = all.iter().copied().filter(open).collect();
        if open.is_empty() {
            let message = format!("no put of {file} lists packets to try: add `packets: [512KiB, 2MiB, …]` to one");
            return Err(Error::input(message));
        }
        Ok(open)
    }

    /// The scenario with the packet of a put left open, and with another size.
    fn read(
        &self,
        scenario: &Scenario,
        put: &PlannedOperation,
        under: Under,
        bytes: Option<u64>,
    ) -> Result<weir::Scenario, Error> {
        let item = scenario.item(TaskId(put.tasks.start)).unwrap_or_default();
        let edit = |key: &str, value: String| (format!("workload[{item}].{PUT}.{key}"), value);
        let size = bytes.map(|bytes| edit("size", format!("{bytes}B")));
        let under = match under {
            Under::Alone => "alone",
            Under::Load => "load",
        };
        let open = [edit("packet", AUTO.to_owned()), edit("under", under.to_owned())];
        let edits: Vec<_> = open.into_iter().chain(size).collect();
        read_with(self.file, options(&self.args.scenario, &edits), self.arbiters)
    }

    /// The best packet of a put for one size.
    fn tuned(&self, scenario: &Scenario, put: &PlannedOperation, bytes: u64) -> Result<TunedSize, Error> {
        let note = |failure: Error| failure.noted(format!("put `{}` was tuned for {}", put.id, binary_bytes(bytes)));
        let edited = self.read(scenario, put, self.args.under, Some(bytes)).map_err(note)?;
        let same = edited.contents().operations.iter().find(|operation| operation.id == put.id);
        let choice = same.and_then(|operation| operation.choice.as_ref());
        if let Some(way) = choice.and_then(|choice| choice.not_tried.first()) {
            return Err(note(Error::input(format!("packets of {} cannot be tried: {}", way.label, way.reason))));
        }
        row(choice, bytes, self.args.full).ok_or_else(|| {
            let message = format!("the model `{}` of put `{}` chose no packet by its size", put.model, put.id);
            Error::new(ErrorKind::Plugin, message)
        })
    }
}

/// What was chosen, and in full what it was chosen from; `None` where that is neither a size nor `none`.
fn row(choice: Option<&Choice>, bytes: u64, full: bool) -> Option<TunedSize> {
    let choice = choice?;
    let (label, time) = choice.alternatives.get(choice.chosen)?;
    let without = choice.alternatives.iter().find(|(label, _)| **label == *NONE).map(|&(_, time)| time);
    let tried = choice.alternatives.iter().map(|(label, time)| {
        let packet = packet(label)?;
        Some(Tried { packet, seconds: time.seconds() })
    });
    let tried = if full { Some(tried.collect::<Option<_>>()?) } else { None };
    Some(TunedSize { tried, ..TunedSize::new(bytes, packet(label)?, *time, without) })
}

/// The packet of a label, which may be none.
fn packet(label: &str) -> Option<Option<u64>> {
    if label == NONE { Some(None) } else { weir_scenario::parse_bytes(label).ok().map(Some) }
}

/// Ids for an error.
fn ids(puts: &[&PlannedOperation]) -> String {
    let ids: Vec<String> = puts.iter().take(NAMED).map(|put| format!("`{}`", text::clean(&put.id))).collect();
    let more = if puts.len() > NAMED { format!(" and {} more", puts.len() - NAMED) } else { String::new() };
    ids.join(", ") + &more
}
