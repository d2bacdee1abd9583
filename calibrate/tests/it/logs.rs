//! All that is read of a log of each kind, whole and with each line blank, held against what was accepted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::{machine, settings};
use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Log, MeasuredEnd};
use weir_scenario::Machine;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz-checks/corpus/log")
}

/// What was read, a line for each part.
fn printed(machine: &Machine, (kind, log): &(LogKind, Log)) -> String {
    let mut out = format!("{}\n", kind.word());
    for e in &log.experiments {
        let _ = write!(out, "{}: {} messages, {} steps", e.name, e.messages, e.steps);
        let _ = write!(out, "{}", if e.kernels { ", kernels" } else { "" });
        e.reply.iter().for_each(|reply| write!(out, ", reply {reply}").expect("a text"));
        for (at, t) in e.transfers.iter().enumerate() {
            let of = |end: &MeasuredEnd| *end == MeasuredEnd::Transfer(at) || *end == MeasuredEnd::Last && at == 0;
            let times = e.rows.iter().filter(|row| of(&row.end)).map(|row| {
                let last = if row.end == MeasuredEnd::Last { "all in " } else { "" };
                format!(" {last}{:.6e} s at {}", row.seconds, row.place)
            });
            let [from, to] = [t.from, t.to].map(|node| machine.node_name(node));
            let _ = write!(out, "; {from} to {to} {} B{}", t.bytes, times.collect::<String>());
        }
        out.push('\n');
    }
    log.skipped.iter().for_each(|s| writeln!(out, "skipped {}: {}: {}", s.place, s.what, s.why).expect("a text"));
    log.notes.iter().for_each(|note| writeln!(out, "note: {note}").expect("a text"));
    out
}

/// What comes of a log, or why nothing does.
fn outcome(machine: &Machine, text: &str, options: &ReadOptions) -> String {
    match read_log_text("log", text, machine, options) {
        Ok(read) => printed(machine, &read),
        Err(error) => format!("{error}\n"),
    }
}

/// The logs with their names.
fn logs() -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("the corpus").map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 14, "{files:?}");
    let name = |file: &Path| file.file_name().expect("a name").to_string_lossy().replace('.', "-");
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).expect("a text"))).collect()
}

/// Each kind of log, without options and between two devices that are named; and with each line blank what is then new.
#[test]
fn logs_are_read_as_accepted() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    for (name, text) in logs() {
        let pair = ReadOptions { pair: Some("gpu0,gpu3".to_owned()), ..ReadOptions::default() };
        let mut out = format!("== without options\n{}", outcome(&machine, &text, &ReadOptions::default()));
        let _ = write!(out, "\n== between gpu0 and gpu3\n{}", outcome(&machine, &text, &pair));
        let whole = outcome(&machine, &text, &pair);
        for (blank, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let lines = text.lines().enumerate().map(|(at, line)| if at == blank { "" } else { line });
            let other = outcome(&machine, &(lines.collect::<Vec<_>>().join("\n") + "\n"), &pair);
            let _ = writeln!(out, "\n== without {}", line.trim());
            other.lines().filter(|line| !whole.lines().any(|of| of == *line)).for_each(|line| {
                let _ = writeln!(out, "{line}");
            });
        }
        settings().bind(|| insta::assert_snapshot!(format!("log-{name}"), out));
    }
}

/// How much was read and for how long it ran, or what is wrong and where.
fn summary(machine: &Machine, text: &str, options: &ReadOptions) -> String {
    match read_log_text("log", text, machine, options) {
        Ok((kind, log)) => {
            let seconds: f64 = log.experiments.iter().flat_map(|e| &e.rows).map(|row| row.seconds).sum();
            let (read, skipped, notes) = (log.experiments.len(), log.skipped.len(), log.notes.len());
            format!("{}: {read} read, {seconds:.6e} s, {skipped} skipped, {notes} notes", kind.word())
        }
        Err(error) => error.to_string().lines().take(2).map(str::trim).collect::<Vec<_>>().join(" "),
    }
}

/// The words of a text, and the numbers: where they are.
fn words(line: &str) -> Vec<std::ops::Range<usize>> {
    let part = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let mut all: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, c) in line.char_indices().filter(|&(_, c)| part(c)) {
        match all.last_mut() {
            Some(word) if word.end == at => word.end = at + c.len_utf8(),
            _ => all.push(at..at + c.len_utf8()),
        }
    }
    all
}

/// With each word of each line made another: what then comes of the log, where it is not what comes of the whole.
#[test]
fn logs_with_one_word_changed_are_read_or_refused_as_accepted() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let pair = ReadOptions { pair: Some("gpu0,gpu3".to_owned()), ..ReadOptions::default() };
    for (name, text) in logs() {
        let (mut out, mut start) = (String::new(), 0);
        let whole = summary(&machine, &text, &pair);
        for line in text.split_inclusive('\n') {
            let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
            for word in words(line) {
                let mut changed = text.clone();
                changed.replace_range(start + word.start..start + word.end, "x");
                found.entry(summary(&machine, &changed, &pair)).or_default().push(&line[word]);
            }
            start += line.len();
            found.remove(&whole);
            let _ = writeln!(out, "{}", line.trim());
            found.iter().for_each(|(what, words)| writeln!(out, "    {}: {what}", words.join(" ")).expect("a text"));
        }
        settings().bind(|| insta::assert_snapshot!(format!("words-{name}"), format!("{whole}\n\n{out}")));
    }
}
