//! Tables of the OSU micro-benchmarks `osu_bw`, `osu_bibw` and `osu_latency`; others, such as collectives or tests of
//! several pairs, are skipped.
//!
//! `osu_latency`: one-way µs of a message. `osu_bw`: a window of messages back to back, then a reply of 4 bytes; MB/s are
//! 10^6 bytes per second. `osu_bibw`: windows both ways at once, the rates added. (OSU Micro-Benchmarks, README,
//! point-to-point tests; the window is 64 messages unless `-W` says otherwise.)

use weir_plugin_api::NodeId;
use weir_scenario::Diagnostic;

use super::{MOST_ROWS, Source, number, pair, untagged};
use crate::measurement::{Experiment, Log, Row, Seen, Transfer};

/// Messages of a window (`WINDOW_SIZE_LARGE`, the default of `-W`).
const WINDOW: u32 = 64;
/// Bytes of the reply to a window.
const REPLY: u64 = 4;

#[derive(Clone, PartialEq, Eq)]
enum Test {
    Bandwidth,
    BothWays,
    Latency,
    /// One that is not used, by its title.
    Other(String),
}

/// Reads the tables of a log; rows are skipped unless `--pair` names the devices.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let devices = pair(source)?;
    let (mut log, mut test, mut rows, mut windows) = (Log::default(), None, 0, false);
    for (at, line) in source.text.lines().enumerate() {
        let (number, text) = (at as u32 + 1, untagged(line).0.trim());
        if let Some(comment) = text.strip_prefix('#') {
            if comment.contains("Send Buffer on") {
                log.notes.push(format!("{}: {}: see that --pair names these", source.file, shown(comment)));
            }
            test = of(comment, test.is_some()).or(test);
            continue;
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        if !fields.first().is_some_and(|f| f.starts_with(|c: char| c.is_ascii_digit() || c == '-')) {
            continue;
        }
        let Some(test) = &test else {
            let help = "keep the line `# OSU MPI … Test` and the header of the table in the log";
            return Err(source.error((number, 1, 1), "no header says what this table measured".to_owned(), help));
        };
        rows += 1;
        if rows > MOST_ROWS {
            return Err(source.error((number, 1, 1), format!("more than {MOST_ROWS} rows"), "give fewer rows"));
        }
        windows |= matches!(test, Test::Bandwidth | Test::BothWays);
        row(source, ((number, line), &fields), (test, devices), &mut log)?;
    }
    if rows == 0 {
        let help = "the log may have been cut off; a table follows its header `# Size`";
        return Err(source.error((1, 1, 1), "the log has no row of a table".to_owned(), help));
    }
    if let (Some((first, second)), false) = (devices, log.experiments.is_empty()) {
        let (first, second) = (source.machine.path(first), source.machine.path(second));
        log.notes.push(format!("{}: rank 0 = {first}, rank 1 = {second}", source.file));
        if windows {
            log.notes.push(format!("{}: windows of {WINDOW} messages, each with a reply of {REPLY} B", source.file));
        }
    }
    Ok(log)
}

/// A comment, for a message.
fn shown(comment: &str) -> String {
    weir_report::text::clean(comment.trim()).chars().take(80).collect()
}

/// The test of a comment: of a title `OSU MPI-CUDA Bandwidth Test v7.5`, or of the header of the columns where the title is
/// gone (`known` is false).
fn of(comment: &str, known: bool) -> Option<Test> {
    let text = comment.trim().to_ascii_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        // `MPI`, `MPI-CUDA`, `MPI_Put`: the last is one-sided.
        ["osu", api, ref name @ .., "test"] | ["osu", api, ref name @ .., "test", _] => Some(match (api, name) {
            ("mpi" | "mpi-cuda" | "mpi-rocm" | "mpi-openacc" | "mpi-sycl", ["latency"]) => Test::Latency,
            ("mpi" | "mpi-cuda" | "mpi-rocm" | "mpi-openacc" | "mpi-sycl", ["bandwidth"]) => Test::Bandwidth,
            ("mpi" | "mpi-cuda" | "mpi-rocm" | "mpi-openacc" | "mpi-sycl", ["bi-directional", "bandwidth"]) => {
                Test::BothWays
            }
            _ => Test::Other(shown(comment)),
        }),
        ["size", ..] if !known && text.contains("latency") => Some(Test::Latency),
        _ => None,
    }
}

fn row(
    source: &Source<'_>,
    (line, fields): ((u32, &str), &[&str]),
    (test, devices): (&Test, Option<(NodeId, NodeId)>),
    log: &mut Log,
) -> Result<(), Box<Diagnostic>> {
    let [size, value, ..] = fields else {
        let help = "complete the row: the log may have been cut off";
        return Err(source.wrong(line, fields[0], ("the row has a size and no value".to_owned(), help)));
    };
    let skip = |log: &mut Log, field: &str, why: &str| {
        source.skip(log, source.place_of(line, field), format!("{} B", number::shown(size)), why);
    };
    if let Test::Other(title) = test {
        skip(log, size, &format!("`{title}` is not a test of one pair whose messages weir knows"));
        return Ok(());
    }
    if *size == "0" {
        skip(log, size, "no bytes are moved");
        return Ok(());
    }
    let bytes = number::bytes(size, "the size").map_err(|problem| source.wrong(line, size, problem))?;
    let messages = if *test == Test::Latency { 1 } else { WINDOW };
    let total = bytes as f64 * f64::from(messages);
    let seconds = number::logged(value, "the value", |value| match test {
        Test::BothWays => 2.0 * total / (value * 1e6),
        Test::Bandwidth => total / (value * 1e6),
        _ => value * 1e-6,
    });
    match (seconds, devices) {
        (Err(why), _) => skip(log, value, &why),
        (_, None) => skip(log, size, "the log does not say which devices took part: add --pair gpu0,gpu1"),
        (Ok(seconds), Some(devices)) => {
            let rows = vec![Row { place: source.place_of(line, value), seconds, seen: Seen::Last }];
            log.experiments.push(Experiment { rows, ..messages_of(test, devices, (bytes, messages), line.0) });
        }
    }
    Ok(())
}

/// The messages of a row.
fn messages_of(test: &Test, (from, to): (NodeId, NodeId), (bytes, messages): (u64, u32), line: u32) -> Experiment {
    let mut transfers = vec![Transfer { from, to, bytes }];
    if *test == Test::BothWays {
        transfers.push(Transfer { from: to, to: from, bytes });
    }
    let reply = (*test != Test::Latency).then_some(REPLY);
    Experiment { transfers, messages, reply, ..Experiment::plain(format!("line {line}")) }
}
