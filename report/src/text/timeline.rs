//! The plan of an operation for a person: a bar per engine over the time of the operation, and its tasks.
//!
//! ```text
//! engine        0 s                              5.000 ms     idle
//! gpu0/copy     hhhhhhhh........dddd                        40.0 %
//! gpu0/compute  ........kkkkkkkk                            60.0 %
//! ```

use std::fmt::Write;

use weir_plugin_api::SimTime;
use weir_sim_core::{EngineId, TaskId};

use super::{Layout, ROWS, Sheet, clean};
use crate::served::{Served, engine_name};
use crate::timeline::{Lane, Starts, by_start, lanes, takes_time, work_span, work_text};
use crate::{Run, duration, instant};
use weir_scenario::PlannedOperation;

/// Plans shown; `--json` lists all.
const PLANS: usize = 10;
/// Columns of a bar where the terminal has room for them.
const COLUMNS: usize = 64;
/// Columns of a bar at least, however narrow the terminal is.
const FEWEST: usize = 16;
/// Most columns of an engine's name: with the bar, two gaps and the idle share, a line has at most 100.
const NAME: usize = 24;
/// Columns of the idle share.
const IDLE_SHARE: usize = 7;
/// Engines shown for one operation.
const ENGINES: usize = 40;
/// Kinds of task that have a letter; all others share one.
const KINDS: usize = 20;
/// Nothing is at work.
const IDLE: char = '.';
/// Another operation's task is at work.
const OTHERS: char = '#';

/// The plans of the first operations; empty where no model planned any.
pub(super) fn plans(run: &Run<'_>) -> String {
    let (all, served) = (&run.scenario.operations, Served::new(run));
    let mut out: String = all.iter().take(PLANS).map(|operation| plan(run, &served, operation)).collect();
    if all.len() > PLANS {
        let _ = writeln!(out, "\n… {} more operations: --json lists all", all.len() - PLANS);
    }
    out
}

fn plan(run: &Run<'_>, served: &Served<'_>, operation: &PlannedOperation) -> String {
    let model = format!("{} {}", operation.model, operation.version);
    let (id, kind, model) = (clean(&operation.id), clean(&operation.kind), clean(&model));
    let (released, ended) = (run.released(operation), run.ended(operation));
    let mut out = format!("\n{kind} {id} (model {model})");
    let _ = match (released.is_never(), ended.is_never()) {
        (true, _) => return out + ": not released\n",
        (false, true) => writeln!(out, ": released at {}, not ended", instant(released)),
        (false, false) => writeln!(out, ": {} to {}", instant(released), instant(ended)),
    };
    let window = (released, ended.min(run.outcome.now));
    if window.1 > window.0 {
        out.push_str(&bars(run, served, operation, window));
    }
    out.push('\n');
    out + &tasks(run, served, operation)
}

/// The time that the bars stand for, and how wide they are.
#[derive(Clone, Copy)]
struct Window {
    start: SimTime,
    end: SimTime,
    columns: usize,
}

impl Window {
    /// The begin of a column, ps from the start of the window, rounded down.
    fn column(self, column: usize) -> u64 {
        (u128::from((self.end - self.start).0) * column as u128 / self.columns as u128) as u64
    }
}

/// A bar per engine, and what the letters mean; as wide as the terminal.
fn bars(run: &Run<'_>, served: &Served<'_>, operation: &PlannedOperation, (start, end): (SimTime, SimTime)) -> String {
    let letters = Letters::new(run, operation);
    let lanes = lanes(run, operation);
    let name = |lane: &Lane| match lane.engine {
        EngineId::NONE => "–".to_owned(),
        engine => cut(&clean(&engine_name(run.scenario, engine))),
    };
    let names: Vec<String> = lanes.iter().take(ENGINES).map(name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("engine".len());
    let room = Layout::current().width.map_or(COLUMNS, |all| all.saturating_sub(width + 2 + 2 + IDLE_SHARE));
    let window = Window { start, end, columns: room.clamp(FEWEST, COLUMNS) };
    let rows: Vec<(&String, Bar)> = names
        .iter()
        .zip(&lanes)
        .map(|(name, lane)| (name, bar(run, served, operation, lane, &letters, window)))
        .collect();
    let (start, end) = (instant(start), instant(end));
    let axis = window.columns.saturating_sub(start.chars().count());
    let mut out = format!("{:width$}  {start}{end:>axis$}  {:>IDLE_SHARE$}\n", "engine", "idle");
    for (name, bar) in &rows {
        let _ = writeln!(out, "{name:width$}  {}  {:>IDLE_SHARE$}", bar.text, bar.idle);
    }
    if lanes.len() > ENGINES {
        let _ = writeln!(out, "… {} more engines: --json lists all", lanes.len() - ENGINES);
    }
    out + &legend(run, operation, &letters, rows.iter().any(|(_, bar)| bar.text.contains(OTHERS)))
}

/// A name of at most [`NAME`] columns.
fn cut(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

/// What an engine did in the window.
struct Bar {
    text: String,
    /// Its idle share; empty for what needs no engine.
    idle: String,
}

fn bar(
    run: &Run<'_>,
    served: &Served<'_>,
    operation: &PlannedOperation,
    lane: &Lane,
    letters: &Letters,
    window: Window,
) -> Bar {
    let mut shares = Shares::new(letters.kinds.len() + 1, window);
    for &task in &lane.tasks {
        shares.add(letters.position(&run.short_name(operation, task)), work_span(run, task));
    }
    if lane.engine == EngineId::NONE {
        return Bar { text: shares.text(letters), idle: String::new() };
    }
    for task in served.others(lane.engine, operation, (window.start, window.end)) {
        shares.add(letters.kinds.len(), work_span(run, task));
    }
    let slots = u64::from(run.scenario.tasks.engines()[lane.engine.0 as usize].slots.max(1));
    let span = (window.end - window.start).0 as f64 * slots as f64;
    let idle = format!("{:.1} %", (1.0 - shares.busy as f64 / span).max(0.0) * 100.0);
    Bar { text: shares.text(letters), idle }
}

/// Per column of a bar: how long tasks of each kind were at work in it, ps. The last kind is that of others.
struct Shares {
    window: Window,
    columns: Vec<Vec<u64>>,
    busy: u64,
}

impl Shares {
    fn new(kinds: usize, window: Window) -> Self {
        Self { window, columns: vec![vec![0; kinds]; window.columns], busy: 0 }
    }

    fn add(&mut self, kind: usize, (start, end): (SimTime, SimTime)) {
        let span = (self.window.end - self.window.start).0;
        let (from, to) = ((start - self.window.start).0, (end - self.window.start).0.min(span));
        if from >= to {
            return;
        }
        self.busy = self.busy.saturating_add(to - from);
        let first = (u128::from(from) * self.columns.len() as u128 / u128::from(span)) as usize;
        for column in first..self.columns.len() {
            let (begin, after) = (self.window.column(column), self.window.column(column + 1));
            if begin >= to {
                break;
            }
            let share = &mut self.columns[column][kind];
            *share = share.saturating_add(to.min(after).saturating_sub(from.max(begin)));
        }
    }

    /// In each column the kind that was at work for longest, the first of equals.
    fn text(&self, letters: &Letters) -> String {
        let letter = |shares: &Vec<u64>| {
            let longest = (0..shares.len()).rev().max_by_key(|&kind| shares[kind]).filter(|&kind| shares[kind] > 0);
            longest.map_or(IDLE, |kind| letters.kinds.get(kind).map_or(OTHERS, |kind| kind.letter))
        };
        self.columns.iter().map(letter).collect()
    }
}

/// Tasks whose names differ by numbers only.
struct TaskKind {
    letter: char,
    /// The name without numbers; empty for the kind of all that are left over.
    name: String,
    first: TaskId,
    last: TaskId,
}

/// A letter for each kind of task that takes time.
struct Letters {
    kinds: Vec<TaskKind>,
}

impl Letters {
    fn new(run: &Run<'_>, operation: &PlannedOperation) -> Self {
        let mut letters = Self { kinds: Vec::new() };
        for task in operation.tasks().filter(|&task| takes_time(run, task)) {
            let name = run.short_name(operation, task);
            let at = letters.position(&name);
            if let Some(known) = letters.kinds.get_mut(at) {
                known.last = task;
                continue;
            }
            let left_over = at + 1 == KINDS;
            let (letter, name) =
                if left_over { ('*', String::new()) } else { (letters.free(&name), kind(&name).into()) };
            letters.kinds.push(TaskKind { letter, name, first: task, last: task });
        }
        letters
    }

    /// The first letter or digit of the name that no other kind has, else any letter.
    fn free(&self, name: &str) -> char {
        let own = name.chars().filter(char::is_ascii_alphanumeric);
        let mut candidates = own.chain('a'..='z');
        candidates.find(|&letter| self.kinds.iter().all(|known| known.letter != letter)).unwrap_or('*')
    }

    /// The position of the kind of a task; of a new kind, that of the next one, but never past [`KINDS`].
    fn position(&self, name: &str) -> usize {
        let kind = kind(name);
        let known = self.kinds.iter().position(|known| known.name == kind && known.letter != '*');
        known.unwrap_or(self.kinds.len().min(KINDS - 1))
    }
}

/// The name of a task without its numbers: `h` of `h12`, `r` of `r3.4`.
fn kind(name: &str) -> &str {
    let end = name.find(|c: char| c.is_ascii_digit() || "[.".contains(c)).unwrap_or(name.len());
    &name[..end]
}

/// `h: h0 to h63, d: d0 to d63, .: idle`.
fn legend(run: &Run<'_>, operation: &PlannedOperation, letters: &Letters, others: bool) -> String {
    let name = |task| clean(&run.short_name(operation, task));
    let kinds = letters.kinds.iter().map(|kind| match kind {
        TaskKind { letter: '*', .. } => "*: other tasks".to_owned(),
        TaskKind { letter, first, last, .. } if first == last => format!("{letter}: {}", name(*first)),
        TaskKind { letter, first, last, .. } => format!("{letter}: {} to {}", name(*first), name(*last)),
    });
    let idle = std::iter::once(format!("{IDLE}: idle"));
    let others = others.then(|| format!("{OTHERS}: others"));
    format!("{}\n", kinds.chain(idle).chain(others).collect::<Vec<_>>().join(", "))
}

/// The tasks in the order of their starts.
fn tasks(run: &Run<'_>, served: &Served<'_>, operation: &PlannedOperation) -> String {
    let mut order: Vec<TaskId> = operation.tasks().collect();
    order.sort_by_key(|&task| by_start(run, task));
    let starts = Starts::new(run, served, operation);
    let mut sheet = Sheet::new(["task", "engine", ">ready", ">lead", ">start", ">end", ">work", "starts after"])
        .spare(["ready", "lead", "work", "engine"]);
    for &task in order.iter().take(ROWS) {
        let (times, graph) = (run.outcome.tasks[task.index()], &run.scenario.tasks);
        let (engine, lead) = (graph.tasks()[task.index()].engine, graph.service(task).lead);
        sheet.row([
            run.short_name(operation, task).into_owned(),
            if engine == EngineId::NONE { "–".to_owned() } else { engine_name(run.scenario, engine) },
            instant(times.ready),
            if lead.0 == 0 { "–".to_owned() } else { duration(lead) },
            instant(times.start),
            instant(times.end),
            work_text(run, task),
            starts.reason(task),
        ]);
    }
    let left = order.len().saturating_sub(ROWS);
    let more =
        if left > 0 { format!("… {left} more tasks: --json lists those that take time\n") } else { String::new() };
    sheet.finish() + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_task_is_its_name_without_numbers() {
        assert_eq!(["h12", "r3.4", "bar[0]", "write", "3"].map(kind), ["h", "r", "bar", "write", ""]);
    }

    /// Twenty kinds have a place each; of more, all that are left over share the last one.
    #[test]
    fn kinds_beyond_the_last_letter_share_one() {
        let kind = |name: String| TaskKind { letter: '?', name, first: TaskId(0), last: TaskId(0) };
        let position = |kinds: usize, name: &str| {
            let kinds = (0..kinds).map(|at| kind(char::from(b'a' + at as u8).to_string())).collect();
            Letters { kinds }.position(name)
        };
        assert_eq!([0, 1, 18, 19, 20].map(|kinds| position(kinds, "z1")), [0, 1, 18, 19, 19]);
        assert_eq!((position(20, "a7"), position(20, "s[3]"), position(3, "b")), (0, 18, 1));
    }

    #[test]
    fn a_long_name_ends_in_its_last_column() {
        let name = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!((cut(&name[..24]).as_str(), cut(name).as_str()), (&name[..24], "abcdefghijklmnopqrstuvw…"));
    }

    #[test]
    fn a_column_shows_what_was_at_work_in_it_for_longest() {
        let window = Window { start: SimTime(1000), end: SimTime(1000 + 64 * 10), columns: COLUMNS };
        let kind = |letter| TaskKind { letter, name: letter.to_string(), first: TaskId(0), last: TaskId(0) };
        let letters = Letters { kinds: vec![kind('a'), kind('b')] };
        let mut shares = Shares::new(3, window);
        // Columns of 10 ps: a for 10 + 4 ps, b for 6 + 1 ps, others for 10 ps at the end and before the window.
        for (kind, start, end) in [(0, 1000, 1014), (1, 1014, 1021), (2, 1630, 1640), (2, 900, 950)] {
            shares.add(kind, (SimTime(start), SimTime(end)));
        }
        assert_eq!(shares.text(&letters), format!("abb{}#", ".".repeat(60)));
        assert_eq!(shares.busy, 14 + 7 + 10);
    }
}
