//! `weir import`: a dump of a machine becomes a topology file; of a program it is said what it holds.

mod program;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use weir::{Error, MachineArbiters, Registry};
use weir_import::{Counts, Import, Level, Options, Refusal};
use weir_report::text::clean;

use crate::args::ImportArgs;
use crate::failure::{Exit, message};
use crate::input::is_stdin;
use crate::output::Output;

/// Reads the dump; writes the topology to a file and what was found to stdout, or the topology to stdout and the rest to stderr.
pub(crate) fn run(args: &ImportArgs) -> Result<Exit, Error> {
    let contents = args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    if let (None, Some(told)) = (args.format, program::survey(&args.files, &contents)) {
        let unused = if args.output.is_some() { Some("--output") } else { args.add.as_ref().map(|_| "--add") };
        return match unused {
            Some(option) => Err(Error::input(format!("a scenario names programs as they are: leave {option} out"))),
            None => told,
        };
    }
    let ([file], [bytes]) = (&args.files[..], &contents[..]) else {
        return Err(Error::input("several files, of which the first is no program: give one dump of a machine"));
    };
    let options = Options { format: args.format, figures: args.bandwidth, add: args.add };
    let name = file.file_stem().map_or_else(|| "machine".into(), |stem| stem.to_string_lossy());
    let name = if is_stdin(file) { "machine" } else { &*name };
    let import = weir_import::import(bytes, name, &options).map_err(|refusal| refused(file, &refusal))?;
    // `-` is stdout, as it is stdin for the dump.
    let output = args.output.as_deref().filter(|output| !is_stdin(output));
    let registry = Registry::built_in()?;
    let (kinds, generation) = (&import.kinds_beside_pcie, import.pcie_generation);
    let (arbiters, others) = (registry.map_for(kinds, generation), registry.others_for(kinds, generation));
    let mut topology = Output::open_apart(output, &[file])?;
    topology.result(|writer| write!(writer, "{}", with_arbiters(&import.yaml, arbiters.as_ref())))?;
    topology.finish()?;
    for finding in import.findings.iter().filter(|finding| finding.level == Level::Warning) {
        message(&finding.to_string());
    }
    let mut summary = summary(&import);
    if let Some(arbiters) = &arbiters {
        for source in &arbiters.sources {
            let _ = writeln!(summary, "{}: {source}", Level::Assumed.word());
        }
        let _ = writeln!(summary, "in a scenario: `arbiter: {}`", arbiters.map);
    }
    for other in &others {
        let _ = writeln!(summary, "or `arbiter: {}`; {}", other.map, other.sources.join("; "));
    }
    match output {
        Some(file) => {
            let _ =
                writeln!(summary, "wrote {}: name it by `topology:` in a scenario", clean(&file.display().to_string()));
            Output::open(None)?.result(|writer| write!(writer, "{summary}"))?;
        }
        None => message(summary.trim_end()),
    }
    Ok(Exit::Ok)
}

/// The topology with the arbiters for its links, which a scenario names, as a comment on top.
fn with_arbiters(yaml: &str, arbiters: Option<&MachineArbiters>) -> String {
    let comment = |arbiters: &MachineArbiters| {
        let sources: String = arbiters.sources.iter().map(|source| folded(source)).collect();
        format!("# For scenarios on this machine:\n#   arbiter: {}\n{sources}#\n", arbiters.map)
    };
    format!("{}{yaml}", arbiters.map(comment).unwrap_or_default())
}

/// A text as lines of a comment, below others.
fn folded(text: &str) -> String {
    /// Characters of a line; *assumed*, as in the topology below.
    const WIDTH: usize = 100;
    let mut lines = vec!["#  ".to_owned()];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.chars().count() + 1 + word.chars().count() > WIDTH) {
            lines.push("#    ".to_owned());
        }
        lines.last_mut().into_iter().for_each(|line| line.extend([" ", word]));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Bytes of a file at most: programs, as a scenario takes them, may be larger than dumps.
const MOST: u64 = 256 << 20;

/// The bytes of a file; of a dump more than may be, so that the reader can refuse.
fn read(file: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let most = MOST + 1;
    let read = if is_stdin(file) {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|open| open.take(most).read_to_end(&mut bytes))
    };
    let name = clean(&file.display().to_string());
    read.map_err(|error| Error::input(format!("{name} cannot be read: {error}; give the file of a dump")))?;
    if bytes.len() as u64 > MOST {
        return Err(Error::input(format!("{name} is larger than {} MiB; give a part of it", MOST >> 20)));
    }
    Ok(bytes)
}

fn refused(file: &Path, refusal: &Refusal) -> Error {
    let place = [refusal.line, refusal.column].into_iter().map_while(|number| number);
    let line: String = place.map(|number| format!(":{number}")).collect();
    let name = file.display().to_string();
    let help = refusal.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {}", clean(help)));
    Error::input(format!("{}{line}: {}{help}", clean(&name), clean(&refusal.message)))
}

/// What was found, what was assumed, and the command that makes a better dump.
fn summary(import: &Import) -> String {
    let mut out = format!("{}: {}\n\n{}\n{}\n", import.format, counts(&import.counts), import.tree, import.bandwidths);
    for finding in import.findings.iter().filter(|finding| finding.level != Level::Warning) {
        let help = finding.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        let _ = writeln!(out, "{}: {}{help}", finding.level.word(), finding.message);
    }
    let _ = writeln!(out, "better dump: {}", import.better_dump);
    out
}

fn counts(counts: &Counts) -> String {
    let of = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let always =
        [of(counts.gpus as u64, "GPU"), of(counts.nics as u64, "network card"), of(counts.roots as u64, "NUMA node")];
    let mut parts: Vec<String> = always.into();
    parts.extend(counts.sockets.map(|sockets| of(sockets as u64, "socket")));
    let more = [
        (counts.switches as u64, "switch"),
        (counts.fpgas as u64, "FPGA"),
        (counts.nvlinks, "NVLink"),
        (counts.xgmi, "xGMI link"),
    ];
    parts.extend(more.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| match (number, what) {
        (2.., "switch") => format!("{number} switches"),
        _ => of(number, what),
    }));
    parts.join(", ")
}
