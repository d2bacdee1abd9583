//! Measured times of a scenario's transfers beside simulated ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use weir_calibrate::cuts::{TimedTransfer, exceeded, place_name};
use weir_calibrate::picture::Panel;
use weir_calibrate::read::{MeasuredRow, MeasuredTable, measured_rows, read_text};
use weir_calibrate::validate::{
    Matched, Pair, Simulated, disagreeing, histogram, histogram_text, matched, summary, worst_first,
};
use weir_calibrate::{percent, size};
use weir_optimize::text::csv_field;
use weir_plugin_api::{PS_PER_S, SimDuration, SimTime};
use weir_report::text::{ROWS, Sheet, clean};
use weir_report::{
    NotExplained, ResultKind, Run, TransferCause, TunedUnder, ValidatedTransfer, cause_text, duration, place_text, rate,
};
use weir_scenario::Scenario;
use weir_sim_core::{TaskId, TaskTimes};

use crate::Error;

/// Rows whose bottleneck and cause are printed.
const WORST: usize = 5;

/// From when measured seconds count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Since {
    /// When everything that a transfer waits for has ended, except earlier transfers of its source.
    Ready,
    /// When its source begins to send it.
    Start,
    /// At the beginning of the run.
    Zero,
}

/// Reads the table of measured times, of one group where that is asked for, and what was noted or left out of it.
///
/// # Errors
/// It cannot be read, or has no row of the group.
pub fn measured(file: &Path, group: Option<&str>) -> Result<(Vec<MeasuredRow>, Vec<String>), Error> {
    let wrong = |error: Box<weir_scenario::Diagnostic>| Error::from(*error);
    let name = file.display().to_string();
    let text = read_text(file).map_err(wrong)?;
    let MeasuredTable { mut rows, skipped, notes } = measured_rows(&name, &text).map_err(wrong)?;
    let skipped = skipped.iter().map(|part| format!("note: not used: {}: {}: {}", part.place, part.what, part.why));
    let notes = notes.iter().map(|note| format!("note: {note}")).chain(skipped).collect();
    if let Some(group) = group {
        rows.retain(|row| row.group == *group);
        if rows.is_empty() {
            return Err(Error::input(format!("{name} has no row of the group `{group}`")));
        }
    }
    Ok((rows, notes))
}

/// Measured against simulated, with the run that explains it.
pub struct Validation<'a> {
    run: &'a Run<'a>,
    rows: &'a [MeasuredRow],
    simulated: Vec<Simulated>,
    /// The task of each simulated transfer; `None` for operations.
    tasks: Vec<Option<TaskId>>,
    matched: Matched,
    since: Since,
    histogram: bool,
    /// Rows that say something else of a transfer than the scenario.
    pub warnings: Vec<String>,
}

impl<'a> Validation<'a> {
    /// The columns of `weir validate --csv`.
    pub const CSV_HEADER: &'static str = "arbiter,id,from,to,bytes,measured_s,simulated_s,error,bottleneck,cause\n";

    /// Matches the rows of a table, called `name`, with the transfers and operations of a run. `histogram` adds how the errors
    /// are spread to text and JSON.
    ///
    /// # Errors
    /// No row is of one of them.
    pub fn new(
        run: &'a Run<'a>,
        (name, rows): (&str, &'a [MeasuredRow]),
        since: Since,
        histogram: bool,
    ) -> Result<Self, Error> {
        let scenario = run.scenario;
        let (simulated, tasks) = simulated(since, scenario, run);
        let plain = |name: &str| scenario.node(name).map_or(name, |node| scenario.node_name(node)).to_owned();
        let matched = matched(rows, &simulated, plain);
        if matched.pairs.is_empty() {
            return Err(unmatched(name, rows, &matched, &scenario.file));
        }
        let mut found = Self { run, rows, simulated, tasks, matched, since, histogram, warnings: Vec::new() };
        for pair in disagreeing(rows, &found.simulated, &found.matched.pairs, plain) {
            let row = &rows[pair.row];
            let bytes = row.bytes.map_or_else(String::new, |bytes| format!(", {}", size(bytes)));
            let (id, is) = found.name(&pair);
            let said = format!("{} → {}{bytes}", row.from, row.to);
            let what = format!("`{id}` is {is} in the scenario, but the row says {said}");
            found.warnings.push(format!("warning: {}: {what}", row.place));
        }
        Ok(found)
    }

    fn name(&self, pair: &Pair) -> (String, String) {
        let simulated = &self.simulated[pair.simulated];
        let of = simulated.transfer.as_ref();
        let ends = of.map_or_else(String::new, |(from, to, bytes)| format!("{from} → {to}, {}", size(*bytes)));
        (simulated.id.clone(), ends)
    }

    /// What delayed a transfer, and why, as `weir run` says it.
    fn why(&self, pair: &Pair) -> (Option<String>, Option<String>) {
        let Some(task) = self.tasks[pair.simulated] else { return (None, None) };
        (place_text(self.run, task), cause_text(self.run, task))
    }

    /// The histogram of the errors under this arbiter.
    #[must_use]
    pub fn panel(&self) -> Panel {
        let title = format!("{}, {}", self.run.scenario.name, self.run.arbiter.title());
        Panel { title, histogram: histogram(&self.matched.pairs) }
    }

    /// What `weir validate` prints.
    #[must_use]
    pub fn text(&self) -> String {
        let run = self.run;
        let mut out = format!(
            "{}\n{}, {}\n\n",
            clean(&run.scenario.name),
            clean(&run.scenario.file),
            clean(&run.arbiter.title())
        );
        if let Some(sum) = summary(&self.matched.pairs) {
            let _ = writeln!(
                out,
                "{} measured {}: {:.1} % within ±15 %, mean error {:.3} %, from {} to {}\n",
                self.matched.pairs.len(),
                if self.matched.pairs.len() == 1 { "time" } else { "times" },
                sum.within * 100.0,
                sum.mean * 100.0,
                percent(sum.lowest),
                percent(sum.highest)
            );
        }
        if self.histogram {
            let _ = writeln!(out, "{}", histogram_text(&histogram(&self.matched.pairs)));
        }
        out.push_str(&self.table());
        out.push_str(&self.left());
        out.push_str(&self.above_cuts());
        out
    }

    fn table(&self) -> String {
        let all = worst_first(&self.matched.pairs);
        let mut sheet =
            Sheet::new(["transfer", "from → to", ">measured", ">simulated", ">error", "held back at", "because"])
                .spare(["held back at", "from → to", "measured"]);
        let time = |s: f64| duration(SimDuration((s * PS_PER_S as f64).round() as u64));
        for (at, pair) in all.iter().take(ROWS).enumerate() {
            let (id, ends) = self.name(pair);
            // Only the worst are explained: the others hold no news.
            let (link, why) = if at < WORST { self.why(pair) } else { (None, None) };
            let link = link.or_else(|| why.as_ref().map(|_| "–".to_owned())).unwrap_or_default();
            let (measured, simulated) = (pair.measured, self.simulated[pair.simulated].seconds);
            sheet.row([id, ends, time(measured), time(simulated), percent(pair.error), link, why.unwrap_or_default()]);
        }
        let cut = match all.len() > ROWS {
            true => format!("the {ROWS} worst of {}: --csv and --json list all\n", all.len()),
            false => String::new(),
        };
        format!("{}{cut}", sheet.finish())
    }

    fn left(&self) -> String {
        let (rows, transfers) = (&self.matched.rows_left, &self.matched.simulated_left);
        let mut out = String::new();
        if let Some(&first) = self.matched.rows_again.first() {
            let _ = writeln!(
                out,
                "rows of transfers that an earlier row measured: {}, the first at {}; --group takes the rows of one group",
                self.matched.rows_again.len(),
                self.rows[first].place
            );
        }
        if let Some(&first) = rows.first() {
            let _ = writeln!(
                out,
                "rows of no transfer of the scenario: {}, the first at {}",
                rows.len(),
                self.rows[first].place
            );
        }
        if let Some(&first) = transfers.first() {
            let _ = writeln!(
                out,
                "transfers that were not measured: {}, the first is {}",
                transfers.len(),
                clean(&self.simulated[first].id)
            );
        }
        out
    }

    /// Rows that no arbiter explains.
    fn above_cuts(&self) -> String {
        let mut out = String::new();
        for NotExplained { over, measured, carries, transfers } in self.not_explained() {
            let count = if transfers.len() > 1 { format!(" and {} more", transfers.len() - 1) } else { String::new() };
            let first = transfers.first().map_or("", |first| first);
            let (measured, carries) = (rate(measured), rate(carries));
            let _ = writeln!(
                out,
                "not explained by this topology: {}{count} over {over}: measured {measured}, it carries {carries}",
                clean(first)
            );
        }
        out
    }

    /// Of the rows of one group whose transfers begin together, where they are above what a link carries.
    fn not_explained(&self) -> Vec<NotExplained> {
        let mut groups: BTreeMap<(&str, SimTime), Vec<&Pair>> = BTreeMap::new();
        for pair in &self.matched.pairs {
            let Some(task) = self.tasks[pair.simulated] else { continue };
            let begin = begin(self.since, &self.run.outcome.tasks[task.index()]);
            groups.entry((&self.rows[pair.row].group, begin)).or_default().push(pair);
        }
        let scenario = self.run.scenario;
        let route = |pair: &Pair| {
            let task = self.tasks[pair.simulated]?;
            match scenario.tasks.tasks()[task.index()].work {
                weir_sim_core::Work::Carries { bytes, class } => {
                    let links = scenario.routes.links(scenario.tasks.classes().route(class)).to_vec();
                    Some(TimedTransfer { links, bytes: bytes as f64, seconds: pair.measured })
                }
                _ => None,
            }
        };
        // A spread transfer sends a part of its bytes over each way.
        let groups = groups.into_values().filter(|_| !scenario.routes.has_branches());
        let each = groups.filter_map(|pairs| {
            let timed: Vec<TimedTransfer> = pairs.iter().filter_map(|pair| route(pair)).collect();
            let found = exceeded(&scenario.fabric, scenario.fabric.bandwidths(), &timed)?;
            let over = place_name(&scenario.fabric, found.place, |node| scenario.node_name(node));
            let transfers = found.transfers.iter().map(|&at| self.simulated[pairs[at].simulated].id.clone()).collect();
            Some(NotExplained { over, measured: found.measured, carries: found.carries, transfers })
        });
        each.collect()
    }

    /// The same as data.
    #[must_use]
    pub fn result(&self) -> weir_report::Validation<'_> {
        let run = self.run;
        let each = |pair: &Pair| {
            let simulated = &self.simulated[pair.simulated];
            let (bottleneck, cause) = self.why(pair);
            let of = simulated.transfer.as_ref();
            ValidatedTransfer {
                id: (&*simulated.id).into(),
                from: of.map(|t| (&*t.0).into()),
                to: of.map(|t| (&*t.1).into()),
                bytes: of.map(|t| t.2),
                measured_s: pair.measured,
                simulated_s: simulated.seconds,
                error: pair.error,
                bottleneck,
                cause,
                cause_detail: self.tasks[pair.simulated].and_then(|task| TransferCause::of(run, task)),
            }
        };
        let sum = summary(&self.matched.pairs);
        weir_report::Validation {
            weir: 1,
            kind: ResultKind::Validation,
            scenario: (&*run.scenario.name).into(),
            file: (&*run.scenario.file).into(),
            arbiter: TunedUnder { name: run.arbiter.name.to_owned(), params: run.arbiter.params.clone() },
            within_15_percent: sum.as_ref().map(|s| s.within),
            mean_error: sum.as_ref().map(|s| s.mean),
            lowest_error: sum.as_ref().map(|s| s.lowest),
            highest_error: sum.as_ref().map(|s| s.highest),
            transfers: self.matched.pairs.iter().map(each).collect(),
            rows_left: self.places(&self.matched.rows_left),
            rows_again: self.places(&self.matched.rows_again),
            not_measured: self.matched.simulated_left.iter().map(|&s| (&*self.simulated[s].id).into()).collect(),
            not_explained: self.not_explained(),
            histogram: self.histogram.then(|| histogram(&self.matched.pairs)),
        }
    }

    fn places(&self, rows: &[usize]) -> Vec<String> {
        rows.iter().map(|&row| self.rows[row].place.to_string()).collect()
    }

    /// The lines of `weir validate --csv`, below [`Self::CSV_HEADER`].
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = String::new();
        for pair in &self.matched.pairs {
            let simulated = &self.simulated[pair.simulated];
            let (from, to, bytes) =
                simulated.transfer.as_ref().map_or(("", "", String::new()), |(f, t, b)| (f, t, b.to_string()));
            let (link, cause) = self.why(pair);
            let [link, cause] = [link, cause].map(Option::unwrap_or_default);
            let texts = [self.run.arbiter.name, &simulated.id, from, to, &bytes].map(csv_field).join(",");
            let (measured, seconds) = (pair.measured, simulated.seconds);
            let _ =
                writeln!(out, "{texts},{measured},{seconds},{},{},{}", pair.error, csv_field(&link), csv_field(&cause));
        }
        out
    }
}

/// Why no row of a table, called `name`, can be held against a scenario of a file.
fn unmatched(name: &str, rows: &[MeasuredRow], matched: &Matched, file: &str) -> Error {
    let Some(&first) = matched.rows_without.first() else {
        let text = format!("no row of {name} is of a transfer of {file}");
        return Error::input(text).noted("rows are matched by `id`, or by `from`, `to` and `bytes`");
    };
    let place = &rows[first].place;
    let note = format!("the row at {place} is of one, and measured nothing: `seconds` must be a number above 0");
    Error::input(format!("no row of {name} has a measured time of a transfer of {file}")).noted(note)
}

/// When the seconds of a transfer begin to count.
fn begin(since: Since, times: &TaskTimes) -> SimTime {
    match since {
        Since::Ready => times.ready,
        Since::Start => times.start,
        Since::Zero => SimTime::ZERO,
    }
}

/// Transfers and operations of a run that have ended, with their times.
fn simulated(since: Since, scenario: &Scenario, run: &Run<'_>) -> (Vec<Simulated>, Vec<Option<TaskId>>) {
    let (mut all, mut tasks) = (Vec::new(), Vec::new());
    for task in run.transfers() {
        let times = run.outcome.tasks[task.index()];
        let (Some((from, to)), false) = (scenario.ends(task), times.end.is_never()) else { continue };
        let weir_sim_core::Work::Carries { bytes, .. } = scenario.tasks.tasks()[task.index()].work else { continue };
        let name = |node| scenario.node_name(node).to_owned();
        let (id, seconds) = (scenario.task_name(task).into_owned(), (times.end - begin(since, &times)).seconds());
        all.push(Simulated { id, transfer: Some((name(from), name(to), bytes)), seconds });
        tasks.push(Some(task));
    }
    for operation in &scenario.operations {
        let release = run.outcome.tasks[operation.release.index()].end;
        let last = operation.tasks.clone().map(|t| run.outcome.tasks[t as usize].end).max().unwrap_or(release);
        if !last.is_never() && !release.is_never() {
            let begin = if since == Since::Zero { SimTime::ZERO } else { release };
            all.push(Simulated { id: operation.id.to_string(), transfer: None, seconds: (last - begin).seconds() });
            tasks.push(None);
        }
    }
    (all, tasks)
}
