//! Tables of the OSU micro-benchmarks `osu_bw`, `osu_bibw` and `osu_latency`.
//!
//! `osu_latency`: one-way µs of a message. `osu_bw`: a window of messages back to back, then a reply of 4 bytes; MB/s are
//! 10^6 bytes per second. `osu_bibw`: windows both ways at once, the rates added. (OSU Micro-Benchmarks, README,
//! point-to-point tests; the window is 64 messages unless `-W` says otherwise.)

use weir_plugin_api::NodeId;
use weir_scenarios::Diagnostic;

use super::{MOST_ROWS, Source, number, pair};
use crate::measurement::{Experiment, Log, Row, Seen, Skipped, Transfer};

/// Messages of a window (`WINDOW_SIZE_LARGE`, the default of `-W`).
const WINDOW: u32 = 64;
/// Bytes of the reply to a window.
const REPLY: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    Bandwidth,
    BothWays,
    Latency,
}

/// Reads the tables of a log; rows are skipped unless `--pair` names the devices.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let devices = pair(source)?;
    let (mut log, mut test, mut rows) = (Log::default(), None, 0);
    for (at, line) in source.text.lines().enumerate() {
        let number = at as u32 + 1;
        let trimmed = line.trim();
        if let Some(comment) = trimmed.strip_prefix('#') {
            test = of(comment).or(test);
            continue;
        }
        let fields: Vec<&str> = trimmed.split_whitespace().collect();
        if !fields.first().is_some_and(|f| f.starts_with(|c: char| c.is_ascii_digit() || c == '-')) {
            continue;
        }
        let Some(test) = test else {
            let help = "keep the line `# OSU MPI … Test` and the header of the table in the log";
            return Err(source.error((number, 1, 1), "no header says what this table measured".to_owned(), help));
        };
        rows += 1;
        if rows > MOST_ROWS {
            return Err(source.error((number, 1, 1), format!("more than {MOST_ROWS} rows"), "give fewer rows"));
        }
        row(source, (number, line, &fields), (test, devices), &mut log)?;
    }
    if rows == 0 {
        let help = "the log may have been cut off; a table follows its header `# Size`";
        return Err(source.error((1, 1, 1), "the log has no row of a table".to_owned(), help));
    }
    if devices.is_some() && test != Some(Test::Latency) {
        log.notes.push(format!("{}: windows of {WINDOW} messages, each with a reply of {REPLY} B", source.file));
    }
    Ok(log)
}

/// The test of a comment; headers of columns decide for logs whose first lines are gone.
fn of(comment: &str) -> Option<Test> {
    let text = comment.to_ascii_lowercase();
    let has = |word: &str| text.contains(word);
    match () {
        () if has("bi-directional") || has("bibw") => Some(Test::BothWays),
        () if has("osu") && has("bandwidth") => Some(Test::Bandwidth),
        () if has("latency") => Some(Test::Latency),
        () => None,
    }
}

fn row(
    source: &Source<'_>,
    (line, text, fields): (u32, &str, &[&str]),
    (test, devices): (Test, Option<(NodeId, NodeId)>),
    log: &mut Log,
) -> Result<(), Box<Diagnostic>> {
    let column = |field: &str| {
        let byte = field.as_ptr() as usize - text.as_ptr() as usize;
        (line, text[..byte].chars().count() as u32 + 1, field.chars().count() as u32)
    };
    let [size, value, ..] = fields else {
        let help = "complete the row: the log may have been cut off";
        return Err(source.error(column(fields[0]), "the row has a size and no value".to_owned(), help));
    };
    let wrong = |field: &str, (message, help): number::Wrong| source.error(column(field), message, help);
    let skip = |why: &str| Skipped { place: source.place(line, 1), what: format!("{size} B"), why: why.to_owned() };
    if *size == "0" {
        log.skipped.push(skip("no bytes are moved"));
        return Ok(());
    }
    let bytes = number::bytes(size, "the size").map_err(|problem| wrong(size, problem))?;
    let value_read = number::positive(value, "the value").map_err(|problem| wrong(value, problem))?;
    let messages = if test == Test::Latency { 1 } else { WINDOW };
    let total = bytes as f64 * f64::from(messages);
    let seconds = match test {
        Test::Latency => value_read * 1e-6,
        Test::Bandwidth => total / (value_read * 1e6),
        Test::BothWays => 2.0 * total / (value_read * 1e6),
    };
    let seconds = number::seconds(seconds, "the value").map_err(|problem| wrong(value, problem))?;
    let Some((from, to)) = devices else {
        log.skipped.push(skip("the log does not say which devices took part: add --pair gpu0,gpu1"));
        return Ok(());
    };
    let mut transfers = vec![Transfer { from, to, bytes }];
    if test == Test::BothWays {
        transfers.push(Transfer { from: to, to: from, bytes });
    }
    log.experiments.push(Experiment {
        transfers,
        rows: vec![Row { place: source.place(line, 1), seconds, seen: Seen::Last }],
        messages,
        reply: (test != Test::Latency).then_some(REPLY),
        ..Experiment::plain(format!("line {line}"))
    });
    Ok(())
}
