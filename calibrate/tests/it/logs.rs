//! All that is read of a log of each kind, whole and with each line blank, held against what was accepted.

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

/// Each kind of log, without options and between two devices that are named; and with each line blank what is then new.
#[test]
fn logs_are_read_as_accepted() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("the corpus").map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 14, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
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
        let name = file.file_name().expect("a name").to_string_lossy().replace('.', "-");
        settings().bind(|| insta::assert_snapshot!(format!("log-{name}"), out));
    }
}
