//! A run as a Gantt chart: a row per transfer, in each column its mean rate over the largest rate of all.

use weir_plugin_api::SimTime;
use weir_sim_core::TaskId;

use super::Canvas;
use crate::{Run, instant, text};

/// Columns of a name at most.
const NAME: usize = 20;
/// Columns of a chart at least.
const LEAST: usize = 16;

/// What a column shows, from nothing to the largest rate.
struct Marks {
    levels: &'static [char],
    /// It has been released and is not served yet; it is served and does not move.
    waiting: char,
    blocked: char,
}

const UNICODE: Marks =
    Marks { levels: &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], waiting: '·', blocked: '╌' };
const ASCII: Marks = Marks { levels: &['_', '-', '=', '#'], waiting: '.', blocked: 'x' };

/// The chart of a run with its phases; without phases a transfer has its mean rate from start to end.
#[must_use]
pub fn gantt(run: &Run<'_>, canvas: Canvas) -> String {
    let all: Vec<TaskId> = run.transfers().collect();
    let total = all.len();
    let (listed, end) = (text::listed(run, all), run.outcome.now.0);
    if listed.is_empty() || end == 0 {
        return "no transfers to draw; weir explain shows what engines do\n".to_owned();
    }
    let names: Vec<String> =
        listed.iter().map(|&t| canvas.fit(&canvas.plain(&run.scenario.task_name(t)), NAME)).collect();
    let name = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let columns = canvas.width.saturating_sub(name + 1).max(LEAST);
    let chart = Chart { run, end, columns, marks: if canvas.unicode { &UNICODE } else { &ASCII } };
    let rates: Vec<Vec<f64>> = listed.iter().map(|&task| chart.rates(task)).collect();
    let largest = rates.iter().flatten().copied().fold(0.0, f64::max);
    let mut lines = Vec::new();
    for ((&task, rates), text) in listed.iter().zip(&rates).zip(&names) {
        let pad = " ".repeat(name - text.chars().count());
        lines.push(format!("{text}{pad} {}", chart.row(task, rates, largest).trim_end()));
    }
    lines.push(format!("{} {}", " ".repeat(name), chart.axis(canvas)));
    lines.extend(legend(canvas, largest));
    if total > listed.len() {
        lines.push(format!("the {} of {total} {}", listed.len(), text::listed_words(run)));
    }
    let width = canvas.width.max(name + 1 + LEAST);
    text::verbatim(lines.iter().map(|line| format!("{}\n", canvas.fit(line, width))).collect())
}

struct Chart<'a> {
    run: &'a Run<'a>,
    /// ps.
    end: u64,
    columns: usize,
    marks: &'static Marks,
}

impl Chart<'_> {
    /// Where a column begins.
    fn at(&self, column: usize) -> u64 {
        (u128::from(self.end) * column as u128 / self.columns as u128) as u64
    }

    /// Mean rate per column, bytes per second, over the part of the column in which the transfer was being sent.
    fn rates(&self, task: TaskId) -> Vec<f64> {
        let (SimTime(start), SimTime(sent)) = self.run.carried_span(task);
        let mut spans: Vec<(u64, u64, f64)> = Vec::new();
        if let Some(phases) = &self.run.outcome.phases {
            for phase in phases {
                if let Ok(at) = phase.rates.binary_search_by_key(&task, |&(task, _)| task) {
                    spans.push((phase.start.0, phase.end.0, phase.rates[at].1));
                }
            }
        } else if sent > start {
            let seconds = SimTime(sent - start).seconds();
            spans.push((start, sent, self.run.outcome.sent_bytes[task.index()] as f64 / seconds));
        }
        let (mut rates, mut first) = (vec![0.0; self.columns], 0);
        for (column, mean) in rates.iter_mut().enumerate() {
            let (from, to) = (self.at(column).max(start), self.at(column + 1).min(sent));
            while spans.get(first).is_some_and(|span| span.1 <= from) {
                first += 1;
            }
            let within = spans[first.min(spans.len())..].iter().take_while(|span| span.0 < to);
            let carried: f64 = within.map(|&(a, b, rate)| rate * b.min(to).saturating_sub(a.max(from)) as f64).sum();
            *mean = if to > from { carried / (to - from) as f64 } else { 0.0 };
        }
        rates
    }

    fn row(&self, task: TaskId, rates: &[f64], largest: f64) -> String {
        let times = self.run.outcome.tasks[task.index()];
        let mark = |column: usize| {
            let (from, to) = (self.at(column), self.at(column + 1).max(self.at(column) + 1));
            if rates[column] > 0.0 {
                let count = self.marks.levels.len();
                let level = (rates[column] / largest * count as f64).ceil() as usize;
                return self.marks.levels[level.clamp(1, count) - 1];
            }
            if times.start.0 < to && times.sent.0 > from {
                return self.marks.blocked;
            }
            if times.ready.0 < to && times.start.0 > from && times.ready < times.start {
                self.marks.waiting
            } else {
                ' '
            }
        };
        (0..self.columns).map(mark).collect()
    }

    /// `0 s            66.502 ms`, the end below the last column.
    fn axis(&self, canvas: Canvas) -> String {
        let end = canvas.plain(&instant(SimTime(self.end)).replace('µ', if canvas.unicode { "µ" } else { "u" }));
        let gap = self.columns.saturating_sub(3 + end.chars().count()).max(1);
        format!("0 s{}{end}", " ".repeat(gap))
    }
}

/// What the marks mean, in as many lines as the width needs.
fn legend(canvas: Canvas, largest: f64) -> Vec<String> {
    let marks = if canvas.unicode { &UNICODE } else { &ASCII };
    let (low, high) = (marks.levels[0], marks.levels[marks.levels.len() - 1]);
    let parts = [
        format!("{low} to {high} rate up to {}", crate::rate(largest)),
        format!("{} waits for its engine", marks.waiting),
        format!("{} sends nothing", marks.blocked),
    ];
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + part.chars().count() <= canvas.width => {
                line.push_str("   ");
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}
