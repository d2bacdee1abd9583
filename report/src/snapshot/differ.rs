//! How the results of today differ from those of a snapshot, in words.
//!
//! Times and reasons are compared, whatever the input and the events are now. A time may move by the tolerance, a part of the
//! accepted end of the same transfer (of the makespan, of itself); a reason must be the same whatever the tolerance.

use std::collections::BTreeMap;

use weir_plugin_api::SimDuration;

use super::rows::{SnapshotRow, SnapshotRows};
use super::{RunSnapshot, Snapshot};
use crate::duration;

/// Differences of a run that are named (*assumed*: more are not read).
const NAMED: usize = 10;

/// By how many percent times may differ.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tolerance(pub f64);

impl Tolerance {
    fn admits(self, (was, now): (u64, u64), of: u64) -> bool {
        was == now || was.abs_diff(now) as f64 * 100.0 <= self.0 * of as f64
    }
}

/// How results differ from accepted ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SnapshotDifference {
    /// The runs that differ.
    pub runs: Vec<RunDifference>,
    /// The arbiters that have an accepted result, and under which nothing ran.
    pub idle: Vec<String>,
    /// What else is to be known, a sentence each.
    pub notes: Vec<String>,
}

/// How one run differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunDifference {
    /// The arbiter with its parameters.
    pub arbiter: String,
    /// What differs, the makespan first, then in the order of the scenario; never empty.
    pub lines: Vec<String>,
}

impl RunDifference {
    /// The arbiter, and the first differences below it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let named = self.lines.iter().take(NAMED).map(|line| format!("  {}\n", line.replace('\n', "\n  ")));
        let more = self.lines.len().saturating_sub(NAMED);
        let more = match more {
            0 => String::new(),
            1 => "  … 1 more difference\n".to_owned(),
            more => format!("  … {more} more differences\n"),
        };
        format!("under {}:\n{}{more}", self.arbiter, named.collect::<String>())
    }
}

impl Snapshot {
    /// How the results `now` differ from these, the accepted ones.
    #[must_use]
    pub fn difference(&self, now: &Self, tolerance: Tolerance) -> SnapshotDifference {
        let mut all = SnapshotDifference::default();
        let (mut moved, mut events) = (false, false);
        for run in &now.runs {
            let accepted = self.runs.iter().find(|accepted| accepted.arbiter == run.arbiter);
            let lines = match accepted {
                None => vec!["no accepted result yet; accept it with --accept".to_owned()],
                Some(accepted) => accepted.differences(run, tolerance, &mut moved),
            };
            events |= accepted.is_some_and(|accepted| accepted.fingerprint != run.fingerprint);
            if !lines.is_empty() {
                all.runs.push(RunDifference { arbiter: run.arbiter.clone(), lines });
            }
        }
        let idle = self.runs.iter().filter(|accepted| now.runs.iter().all(|run| run.arbiter != accepted.arbiter));
        all.idle.extend(idle.map(|run| run.arbiter.clone()));
        if all.runs.is_empty() {
            all.notes.extend(unjudged(self.input != now.input, events, moved).map(str::to_owned));
        }
        all
    }
}

/// What changed without a difference.
fn unjudged(input: bool, events: bool, moved: bool) -> Option<&'static str> {
    match (moved, input, events) {
        (true, ..) => Some("times moved within the tolerance"),
        (_, true, true) => Some("the input and the events changed, times and reasons did not"),
        (_, true, false) => Some("the input changed, the results did not"),
        (_, false, true) => Some("the events changed, times and reasons did not"),
        _ => None,
    }
}

impl RunSnapshot {
    /// What differs; `moved` becomes true where something moved within the tolerance.
    fn differences(&self, now: &Self, tolerance: Tolerance, moved: &mut bool) -> Vec<String> {
        let makespan = (self.makespan, now.makespan);
        let mut comparison = RowComparison { tolerance, moved, lines: Vec::new() };
        if let Some(change) = comparison.time("makespan", makespan, self.makespan) {
            comparison.lines.push(change);
        }
        comparison.add("transfer", "reason", (&self.transfers, &now.transfers));
        comparison.add("operation", "kind", (&self.operations, &now.operations));
        comparison.lines
    }
}

/// Compares rows one by one.
struct RowComparison<'a> {
    tolerance: Tolerance,
    moved: &'a mut bool,
    lines: Vec<String>,
}

impl RowComparison<'_> {
    /// Compares two tables; `now` has all rows.
    fn add(&mut self, what: &str, why: &str, (was, now): (&SnapshotRows, &SnapshotRows)) {
        let before = self.lines.len();
        if was.total != now.total {
            self.lines.push(format!("{what}s: {} → {}", was.total, now.total));
        }
        let by_id: BTreeMap<&str, &SnapshotRow> = now.rows.iter().map(|row| (&*row.id, row)).collect();
        for row in &was.rows {
            let change = match by_id.get(&*row.id) {
                None => Some("is gone".to_owned()),
                Some(now) => self.row(why, row, now),
            };
            self.lines.extend(change.map(|change| format!("{what} {}: {change}", row.id)));
        }
        let Some(digests) = was.digests else {
            let known: BTreeMap<&str, ()> = was.rows.iter().map(|row| (&*row.id, ())).collect();
            let new = now.rows.iter().filter(|row| !known.contains_key(&*row.id));
            self.lines.extend(new.map(|row| format!("{what} {}: is new, ends at {}", row.id, span(row.end))));
            return;
        };
        if self.lines.len() == before {
            self.unlisted((what, why), digests, now.digests.unwrap_or_default());
        }
    }

    /// Rows that the snapshot does not list.
    fn unlisted(&mut self, (what, why): (&str, &str), was: (u32, u32), now: (u32, u32)) {
        if was.0 != now.0 {
            // A digest does not say by how much.
            let unjudged = if self.tolerance.0 > 0.0 { ", by an amount that --tolerance cannot judge" } else { "" };
            self.lines.push(format!("times of {what}s changed that the snapshot does not list{unjudged}"));
        }
        if was.1 != now.1 {
            self.lines.push(format!("a {why} changed of {what}s that the snapshot does not list"));
        }
    }

    fn row(&mut self, why: &str, was: &SnapshotRow, now: &SnapshotRow) -> Option<String> {
        let times =
            [self.time("start", (was.start, now.start), was.end), self.time("end", (was.end, now.end), was.end)];
        let other = (was.reason != now.reason).then(|| format!("another {why}"));
        let changes: Vec<String> = times.into_iter().flatten().chain(other.clone()).collect();
        let both = other.map(|_| format!("\n  was: {}\n  now: {}", was.reason, now.reason)).unwrap_or_default();
        (!changes.is_empty()).then(|| changes.join(", ") + &both)
    }

    /// `end 12.300 ms → 12.900 ms (+600.000 µs, +4.878 %)`, where it differs by more than the tolerance of `of`.
    fn time(&mut self, what: &str, (was, now): (u64, u64), of: u64) -> Option<String> {
        if self.tolerance.admits((was, now), of) {
            *self.moved |= was != now;
            return None;
        }
        let sign = if now > was { '+' } else { '-' };
        let by = was.abs_diff(now);
        let percent = if was > 0 { format!(", {sign}{:.3} %", by as f64 / was as f64 * 100.0) } else { String::new() };
        Some(format!("{what} {} → {} ({sign}{}{percent})", span(was), span(now), span(by)))
    }
}

fn span(ps: u64) -> String {
    duration(SimDuration(ps))
}
