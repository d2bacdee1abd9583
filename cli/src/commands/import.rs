//! `weir import`: a dump of a machine becomes a topology file; of a program it is said what it holds.

mod program;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use weir::Error;
use weir_import::Options;
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
    let given = if is_stdin(file) { "-".into() } else { file.display().to_string() };
    let imported = weir::import_topology(bytes, name, &given, &options)?;
    // `-` is stdout, as it is stdin for the dump.
    let output = args.output.as_deref().filter(|output| !is_stdin(output));
    let mut topology = Output::open_apart(output, &[file])?;
    topology.result(|writer| write!(writer, "{}", imported.yaml))?;
    topology.finish()?;
    imported.warnings.iter().for_each(|warning| message(warning));
    let mut summary = imported.summary;
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
