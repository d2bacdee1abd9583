//! What changes would save, for a person.

use weir_plugin_api::{PS_PER_S, SimDuration, SimTime};

use super::{ROWS, Sheet, clean, head, more};
use crate::run::titled;
use crate::{Change, ChangedLink, SAME_MAKESPAN, WhatIf, WhatIfBound, duration, instant};

/// Settings of one change that a row lists.
const SETTINGS: usize = 2;

/// The whole text: the changes that save something, the rest in a line each, and the bound.
#[must_use]
pub fn what_if(result: &WhatIf) -> String {
    let under = titled(&result.arbiter.name, &result.arbiter.params);
    let (makespan, ps) = (instant(SimTime(result.makespan_ps)), result.makespan_ps);
    let mut out = head(&result.scenario, &result.file, &under);
    out.push_str(&format!("\nmakespan {makespan} ({ps} ps)\n\n"));
    let changed: Vec<&Change> = result.changes.iter().filter(|change| !saves_nothing(result, change)).collect();
    if !changed.is_empty() {
        out.push_str(&table(&changed));
        out.push_str(&more(changed.len(), "changes"));
        out.push('\n');
    }
    if result.changes.is_empty() && result.left_out.is_empty() && result.complete {
        out.push_str("nothing to change: no link, memory or engine of the topology takes part\n");
    }
    out.push_str(&nothing_saved(result));
    out.push_str(&bound(result));
    out.push_str(&without_setting(result));
    for left in &result.left_out {
        out.push_str(&format!("left out: {}: {}\n", clean(&left.of), clean(&left.why)));
    }
    if !result.complete {
        out.push_str("not complete: some changes were not tried\n");
    }
    out
}

fn saves_nothing(result: &WhatIf, change: &Change) -> bool {
    change.saved_s.abs() * PS_PER_S as f64 <= result.makespan_ps as f64 * SAME_MAKESPAN
}

fn table(changes: &[&Change]) -> String {
    let priced = changes.iter().any(|change| change.saved_s_per_cost.is_some());
    let mut header = vec!["what if", ">makespan", ">saved", ">of makespan"];
    header.extend(priced.then_some([">cost", ">saved per cost"]).into_iter().flatten());
    header.extend(["then held at", "set"]);
    let mut sheet = Sheet::new(header).spare(["set", "then held at"]);
    for change in changes.iter().take(ROWS) {
        let mark = if change.enough { " (no more needed)" } else { "" };
        let mut cells = vec![
            format!("{}{mark}", change.title()),
            instant(SimTime(change.makespan_ps)),
            span(change.saved_s),
            percent(change.saved_percent),
        ];
        if priced {
            let dash = || "–".to_owned();
            cells.push(change.cost.map_or_else(dash, cost));
            cells.push(change.saved_s_per_cost.map_or_else(dash, span));
        }
        cells.push(change.held_at.as_ref().map_or_else(|| "–".to_owned(), ChangedLink::title));
        cells.push(settings(change));
        sheet.row(cells);
    }
    sheet.finish()
}

/// Says of changes that save something and have no value to set why that is so.
fn without_setting(result: &WhatIf) -> String {
    let mut names: Vec<&str> = Vec::new();
    for change in result.changes.iter().filter(|change| change.set.is_empty() && !saves_nothing(result, change)) {
        if !names.contains(&&*change.of) {
            names.push(&change.of);
        }
    }
    listed("no `--set` changes it alone, as the topology writes it together with others: ", &names)
}

/// What to set, if it is short.
fn settings(change: &Change) -> String {
    match change.set.len() {
        0 => "–".to_owned(),
        1..=SETTINGS => change.setting(),
        many => format!("{many} values: --json lists them"),
    }
}

/// Seconds, which may be below 0.
fn span(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "−" } else { "" };
    format!("{sign}{}", duration(SimDuration((seconds.abs() * PS_PER_S as f64).round() as u64)))
}

/// A cost without zeros at its end.
fn cost(cost: f64) -> String {
    format!("{cost:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn percent(percent: f64) -> String {
    let sign = if percent < 0.0 { "−" } else { "" };
    format!("{sign}{:.2} %", percent.abs())
}

/// What was tried and saves nothing, and what carries no bytes.
fn nothing_saved(result: &WhatIf) -> String {
    let mut names: Vec<&str> = Vec::new();
    for change in result.changes.iter().filter(|change| saves_nothing(result, change)) {
        let others = result.changes.iter().filter(|other| other.of == change.of);
        if !names.contains(&&*change.of) && others.into_iter().all(|other| saves_nothing(result, other)) {
            names.push(&change.of);
        }
    }
    let unused: Vec<&str> = result.unused.iter().map(String::as_str).collect();
    listed("saves nothing: ", &names) + &listed("carries nothing: ", &unused)
}

fn listed(head: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(ROWS).map(|name| clean(name)).collect();
    let rest = if names.len() > ROWS { format!(" and {} more", names.len() - ROWS) } else { String::new() };
    format!("{head}{}{rest}\n", shown.join(", "))
}

/// What is left when every link and memory is without limit.
fn bound(result: &WhatIf) -> String {
    let Some(bound) = &result.bound else { return String::new() };
    let parts = parts(bound);
    let nothing = bound.saved_s * PS_PER_S as f64 <= result.makespan_ps as f64 * SAME_MAKESPAN;
    if nothing {
        return format!("nothing more can be saved by links and memories: what holds the makespan is {parts}\n");
    }
    let (makespan, saved, percent) = (instant(SimTime(bound.makespan_ps)), span(bound.saved_s), bound.saved_percent);
    format!(
        "with no limit on any link and memory: {makespan}, {saved} ({percent:.2} %) saved; what is left is {parts}\n"
    )
}

/// What the critical path consists of, the largest part first.
fn parts(bound: &WhatIfBound) -> String {
    let mut parts = [
        (bound.computing_s, "of computations and fixed times"),
        (bound.limited_s, "of transfers with a limit of their own"),
        (bound.transfers_s, "of transfers"),
        (bound.waiting_s, "of waiting for starts and overheads"),
    ];
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let some = parts.iter().filter(|(seconds, _)| *seconds > 0.0);
    let some: Vec<String> = some.map(|(seconds, what)| format!("{} {what}", span(*seconds))).collect();
    if some.is_empty() { "nothing".to_owned() } else { some.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to 40 names are listed; what is lost has a sign, and what is neither lost nor saved has none.
    #[test]
    fn names_are_cut_and_losses_have_a_sign() {
        let told = |count: usize| listed("x: ", &vec!["a"; count]);
        assert_eq!((told(0).as_str(), told(2).as_str()), ("", "x: a, a\n"));
        assert!(told(40).ends_with(", a, a\n") && told(41).ends_with(", a and 1 more\n"));
        assert_eq!([0.0, 0.001, -0.001].map(span), ["0 s", "1.000 ms", "−1.000 ms"]);
        assert_eq!([0.0, 0.5, -0.5].map(percent), ["0.00 %", "0.50 %", "−0.50 %"]);
        assert_eq!([2.0, 0.25, 10.0].map(cost), ["2", "0.25", "10"]);
    }
}
