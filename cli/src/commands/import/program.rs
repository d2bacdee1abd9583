//! Files of programs given to `weir import`: what they hold, and how a scenario names them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use weir::{Error, ProgramCounts, ProgramFile, Unmatched};
use weir_report::bytes;
use weir_report::text::clean;

use crate::commands::check::count;
use crate::failure::Exit;
use crate::output::Output;

/// Says what files hold; `None` where they are no program.
pub(super) fn survey(files: &[PathBuf], contents: &[Vec<u8>]) -> Option<Result<Exit, Error>> {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let all: Vec<(&str, &[u8])> =
        names.iter().zip(contents).map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let found = weir::program_file(&all)?;
    let text = found.map(|found| text(&names, &found)).map_err(|problem| {
        // Some formats name their file themselves.
        let is_named = names.iter().any(|name| problem.starts_with(name.as_str()));
        let name = if names.len() == 1 && !is_named { format!("{}: ", clean(&names[0])) } else { String::new() };
        Error::input(format!("{name}{}", clean(&problem)))
    });
    Some(text.and_then(|text| {
        Output::open(None)?.result(|writer| write!(writer, "{text}"))?;
        Ok(Exit::Ok)
    }))
}

fn text(names: &[String], found: &ProgramFile) -> String {
    let names: Vec<String> = beside(names).map(in_yaml).collect();
    let (file, they) = match &names[..] {
        [one] => (one.clone(), "it"),
        _ => (format!("[{}]", names.join(", ")), "them"),
    };
    match found {
        ProgramFile::Program(counts) => program(&file, they, counts, names.len()),
        ProgramFile::Graph { gpus, channels, others } => format!(
            "NCCL graph file: {}, a ring of {gpus} GPUs each\n{}\nin a scenario beside {they}:\n  - collective: {{ kind: all-reduce, size: …, \
             ranks: …, order: {{ graph: {file} }} }}\n",
            count(*channels as u64, "channel"),
            if others.is_empty() { String::new() } else { format!("not read: {}\n", clean(&others.join(", "))) }
        ),
        _ => format!("{file}\n"),
    }
}

/// The names of files as a scenario in their folder has them; whole paths where there are several folders.
fn beside(paths: &[String]) -> impl Iterator<Item = &str> {
    let folder = |path: &String| Path::new(path).parent().map(Path::to_owned);
    let is_one = paths.windows(2).all(|two| folder(&two[0]) == folder(&two[1]));
    paths.iter().map(move |path| match Path::new(path).file_name().and_then(|name| name.to_str()) {
        Some(name) if is_one => name,
        _ => path.as_str(),
    })
}

/// A name as a scenario has it; `FILE` for standard input, which has none.
fn in_yaml(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    match name {
        "-" => "FILE".to_owned(),
        _ if name.chars().all(is_plain) && !name.starts_with('-') => name.to_owned(),
        _ => serde_json::Value::from(clean(name)).to_string(),
    }
}

fn program(file: &str, they: &str, counts: &ProgramCounts, files: usize) -> String {
    let mut out = format!("{}: ", title(counts.format));
    out += &match (counts.format, files) {
        ("chakra", 1) => "one of its ranks, one file for each".to_owned(),
        _ => count(u64::from(counts.ranks), "rank"),
    };
    let total: u64 = counts.operations.iter().map(|(_, number)| number).sum();
    let words = counts.operations.iter().map(|(word, number)| format!("{number} {}", clean(word)));
    let words: Vec<String> = words.collect();
    let _ = writeln!(out, "\n{}: {}", count(total, "operation"), words.join(", "));
    let messages = count(counts.messages, "message");
    let _ = match counts.chunks {
        Some(chunks) => {
            writeln!(out, "{messages} of {} in all; {chunks} are the collective's size", count(counts.bytes, "chunk"))
        }
        None => writeln!(out, "{messages} of {} in all", bytes(counts.bytes)),
    };
    out += &unmatched(counts.unmatched.as_ref());
    let more = match counts.format {
        "msccl" => ", size: …",
        "simgrid-ti" if counts.operations.iter().any(|(word, _)| word == "compute") => ", flop_rate: …",
        _ => "",
    };
    let format = counts.format;
    let _ = writeln!(
        out,
        "\nin a scenario beside {they}, with the device of each rank:\n  - program: {{ file: {file}, format: {format}, ranks: …{more} }}"
    );
    out
}

/// Messages that lack an end; nothing where all have both.
fn unmatched(unmatched: Option<&Unmatched>) -> String {
    let Some(Unmatched { sends, receives, first, .. }) = unmatched else {
        return "whether all messages are received is known once the traces of all ranks are given\n".to_owned();
    };
    let open: Vec<String> = [(*sends, "send", "receive"), (*receives, "receive", "send")]
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, what, lacks)| format!("{} without a {lacks}", count(number, what)))
        .collect();
    match (&open[..], first) {
        ([], _) => String::new(),
        (open, None) => format!("not matched: {}\n", open.join(", ")),
        (open, Some(first)) => format!("not matched: {}; the first is {}\n", open.join(", "), clean(first)),
    }
}

fn title(format: &str) -> &'static str {
    match format {
        "goal" => "GOAL program (LogGOPSim)",
        "msccl" => "MSCCL algorithm",
        "chakra" => "Chakra execution trace",
        _ => "time-independent trace (SimGrid)",
    }
}
