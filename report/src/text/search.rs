//! Results of searches for a person: what was found and how sure that is, all makespans as a histogram, the solution.

use std::cmp::Ordering;
use std::fmt::Write;

use ordered_float::OrderedFloat;
use weir_optimize::Distribution;
use weir_optimize::search::{Method, Objective, PERCENTILES, SearchResult, Vary};
use weir_plugin_api::{PS_PER_S, SimDuration};

use super::{Mark, ROWS, Sheet, clean, head, verbatim};
use crate::run::titled;
use crate::{SearchReport, Solution, StoppedCandidates, duration, rate};

/// Bars of a histogram.
const BARS: usize = 20;
/// Characters of the longest bar.
const WIDTH: u128 = 50;

/// What `weir optimize` prints of one search.
#[must_use]
pub fn search(report: &SearchReport) -> String {
    let subject = &report.subject;
    let under = titled(&subject.arbiter.name, &subject.arbiter.params);
    let mut out = head(&subject.scenario, &subject.file, &under) + "\n";
    out.push_str(&headline(report));
    let distribution = report.distribution.as_ref().filter(|_| !listed(report));
    for part in [statistics(report), grid(report), distribution.map_or_else(String::new, histogram)] {
        if !part.is_empty() {
            out.push('\n');
            out.push_str(&part);
        }
    }
    out.push('\n');
    match worst_seeds(report) {
        Some(seeds) => out.push_str(&verbatim(format!("the worst: {}", solution(&seeds)))),
        None => out.push_str(&verbatim(solution(&report.result.solution))),
    }
    out
}

/// The seeds with the worst value.
fn worst_seeds(report: &SearchReport) -> Option<Solution> {
    let worst = report.grid.as_ref().filter(|_| report.is_sample())?.table().worst(1).pop()?;
    let own = |(path, value): (&str, &str)| (path.to_owned(), value.to_owned());
    Some(Solution::of_parameters(worst.parameters.into_iter().map(own).collect()))
}

/// Whether all candidates are shown one by one, so that nothing else need be said of them.
fn listed(report: &SearchReport) -> bool {
    report.grid.as_ref().is_some_and(|grid| grid.evaluated() <= ROWS as u64)
}

/// A value of the objective.
fn value(report: &SearchReport, value: f64) -> String {
    match report.result.objective {
        objective if objective.is_time() => time(value),
        Objective::Throughput => rate(value),
        _ => number(value),
    }
}

fn time(ps: f64) -> String {
    duration(SimDuration(ps.round() as u64))
}

/// At most six decimals; where these would show fewer than four digits, six digits and an exponent.
fn number(value: f64) -> String {
    let small = value != 0.0 && value.abs() < 1e-3;
    let text = if small { format!("{value:.5e}") } else { format!("{value:.6}") };
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    digits.trim_end_matches('0').trim_end_matches('.').to_owned() + exponent
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 { format!("{percent:.1e} %") } else { format!("{percent:.1} %") }
}

/// How far the best is from the baseline.
fn gain(baseline: f64, best: f64) -> String {
    match OrderedFloat(best).cmp(&OrderedFloat(baseline)) {
        Ordering::Less => format!(", {} less", percent(1.0 - best / baseline)),
        Ordering::Equal => ", the same".to_owned(),
        Ordering::Greater => format!(", {} more", percent(best / baseline - 1.0)),
    }
}

fn what(vary: Vary) -> (&'static str, &'static str) {
    match vary {
        Vary::Order => ("order", "orders"),
        Vary::Placement => ("placement", "placements"),
        Vary::Parameters => ("parameters", "candidates"),
        Vary::Joint(_) => ("candidate", "candidates"),
    }
}

fn headline(report: &SearchReport) -> String {
    let result = &report.result;
    let (one, many) = what(result.vary);
    let mut out = sample(report).unwrap_or_else(|| best(report));
    let all = result.candidates.map_or_else(|| "more than 2^128".to_owned(), |all| all.to_string());
    let took = result.wall_s.map_or_else(String::new, |s| format!(", {}", time(s * 1e12)));
    let _ = match (result.vary, result.method, result.objective.is_cost()) {
        // Such a search weighs sets of ranks.
        (Vary::Placement, Method::Exhaustive, true) => writeln!(out, "exact search among {all} {many}{took}"),
        (_, method, _) => {
            let many = if result.candidates == Some(1) { one } else { many };
            writeln!(out, "{}: {} evaluated of {all} {many}{took}", method.word(), result.evaluated)
        }
    };
    if let Some(StoppedCandidates { candidates, first }) = &report.stopped {
        let one = if result.vary == Vary::Parameters { "candidate" } else { one };
        let (what, they) = if *candidates == 1 { (one, "does") } else { (many, "do") };
        let _ = writeln!(out, "{candidates} {what} {they} not run to the end: {}", clean(first));
    }
    if let Some(exchanges) = report.payback {
        let _ = writeln!(out, "this search pays for itself after {exchanges} runs");
    }
    out
}

/// What was found, and how sure that is.
fn best(report: &SearchReport) -> String {
    let result = &report.result;
    let (one, _) = what(result.vary);
    let best = value(report, result.best);
    let exact = if result.objective.is_time() { format!(" ({} ps)", result.best as u64) } else { String::new() };
    let objective = if report.timed() { String::new() } else { format!(" by {}", result.objective.word()) };
    let mut out = format!("best {one}{objective}: {best}{exact}; baseline: {}\n", baseline(report));
    if let Some((before, after)) = report.simulated.filter(|_| !report.timed()) {
        let after = after as f64;
        let before = before.map(|before| before as f64);
        let before = before.map_or_else(String::new, |ps| format!("; baseline: {}{}", time(ps), gain(ps, after)));
        let _ = writeln!(out, "simulated: {}{before}", time(after));
    }
    let loses = if result.objective == Objective::Throughput { Ordering::Less } else { Ordering::Greater };
    if report.baseline().is_some_and(|own| OrderedFloat(result.best).cmp(&OrderedFloat(own)) == loses) {
        out.push_str("note: the baseline, which is none of the candidates, is better than all that were tried\n");
    }
    out + &certainty(report)
}

/// What so many seeds come to; `None` of another search, and where the makespans of all are not known.
fn sample(report: &SearchReport) -> Option<String> {
    let result = report.is_sample().then_some(&report.result)?;
    let [.., p95, _] = result.percentiles?;
    let measure = if report.timed() { "makespan" } else { result.objective.word() };
    let cut = if result.complete { "" } else { "the search ended early; " };
    let [median, p95, worst] = [result.median?, p95, result.worst?].map(|known| value(report, known));
    Some(format!(
        "{cut}{measure} over {} seeds: median {median}, 95 % at most {p95}, worst {worst}\n",
        result.evaluated
    ))
}

/// The baseline, and how far the best is from it; or why it stops.
fn baseline(report: &SearchReport) -> String {
    match &report.baseline_stopped {
        Some(why) => format!("stopped: {}", clean(why)),
        None => {
            let SearchResult { baseline, best, .. } = report.result;
            format!("{}{}", value(report, baseline), gain(baseline, best))
        }
    }
}

/// Whether there can be better ones, and how much.
fn certainty(report: &SearchReport) -> String {
    let result = &report.result;
    let (one, _) = what(result.vary);
    let cut = if result.complete { "" } else { "the search ended early; " };
    let is = match (result.bound, result.proved_optimal) {
        (_, true) => match result.vary {
            Vary::Parameters => "no candidate is better".to_owned(),
            _ => {
                let by = report.bound_by.as_ref().filter(|_| result.method == Method::LocalSearch);
                let by = by.map_or_else(String::new, |by| format!(" (bound by {})", clean(by)));
                format!("proved: no {one} is better{by}")
            }
        },
        (Some(bound), false) if bound > 0.0 => {
            let by = report.bound_by.as_ref().map_or_else(String::new, |by| format!(" ({})", clean(by)));
            let most = value(report, bound);
            match result.objective {
                Objective::Throughput => {
                    let gap = percent(1.0 - result.best / bound);
                    format!("no {one} is above {most}{by}: the best is at most {gap} below the optimum")
                }
                _ => {
                    let gap = percent(result.best / bound - 1.0);
                    format!("no {one} is below {most}{by}: the best is at most {gap} above the optimum")
                }
            }
        }
        _ => {
            let why = report.no_bound.as_ref();
            let no_bound = why.map_or_else(String::new, |why| format!("; there is no lower bound: {}", clean(why)));
            format!("not proved: there may be better ones{no_bound}")
        }
    };
    format!("{cut}{is}\n")
}

/// The table of what is known of all candidates.
fn statistics(report: &SearchReport) -> String {
    let result = &report.result;
    if listed(report) {
        return String::new();
    }
    let (Some(median), Some(mean), Some(worst), Some(percentiles)) =
        (result.median, result.mean, result.worst, result.percentiles)
    else {
        return String::new();
    };
    let mut rows = vec![("best".to_owned(), result.best)];
    let at = |i: usize| (format!("{} %", PERCENTILES[i]), percentiles[i]);
    rows.extend((0..3).map(at));
    rows.push(("median".to_owned(), median));
    rows.extend((3..6).map(at));
    rows.push(("worst".to_owned(), worst));
    rows.push(("mean".to_owned(), mean));
    rows.extend(report.baseline().map(|own| ("baseline".to_owned(), own)));
    let measure = if report.timed() { "makespan" } else { result.objective.word() };
    let mut sheet = Sheet::new(["".to_owned(), format!(">{measure}"), ">over best".to_owned()]);
    for (name, ps) in rows {
        sheet.row([name, value(report, ps), format!("{:.4}", ps / result.best)]);
    }
    let (_, many) = what(result.vary);
    let count = |n: u128| format!("{n} of {} {many} within 1e-9 of the best\n", result.evaluated);
    let count = result.best_count.map_or_else(String::new, count);
    sheet.finish() + &count
}

/// The candidates of a grid, or the best of many.
fn grid(report: &SearchReport) -> String {
    let Some(outcome) = &report.grid else { return String::new() };
    let table = outcome.table();
    let few = listed(report);
    let is_line = outcome.grid().axes().len() == 1;
    let step = outcome.evaluated().div_ceil(ROWS as u64) as usize;
    let spaced =
        || table.rows().enumerate().filter(|(at, row)| at % step == 0 || row.best).map(|(_, row)| row).collect();
    let (rows, which) = match (few, report.is_sample()) {
        (true, _) => (table.rows().collect(), String::new()),
        (false, true) => (table.worst(ROWS), format!("the worst {ROWS}")),
        (false, false) if is_line => (spaced(), format!("one in {step} and the best")),
        (false, false) => (table.ranked(ROWS), format!("the best {ROWS}")),
    };
    let header: Vec<String> = table.paths().map(|path| format!(">{}", clean(path))).collect();
    let own = (!report.timed()).then(|| format!(">{}", report.result.objective.word()));
    let header = header.into_iter().chain(own).chain([">makespan", ">over best", ""].map(str::to_owned));
    let mut sheet = Sheet::new(header).spare(["makespan", "over best"]);
    for row in rows {
        let best = if row.best { "best" } else { "" };
        let own =
            row.value.map(|own| if outcome.objective().is_time() { time(own * PS_PER_S as f64) } else { rate(own) });
        let last = [time(row.makespan as f64), format!("{:.4}", row.ratio), best.to_owned()];
        let cells = row.parameters.iter().map(|(_, value)| (*value).to_owned()).chain(own).chain(last);
        sheet.marked_row(row.best.then_some(Mark::Best), cells);
    }
    let count = outcome.evaluated();
    let more = if few { which } else { format!("{which} of {count} candidates: --csv and --json list all\n") };
    sheet.finish() + &more
}

/// All makespans, from the best to the worst, in bars of equal width in time.
fn histogram(distribution: &Distribution) -> String {
    let (Some(first), Some(last)) = (distribution.pairs().first(), distribution.pairs().last()) else {
        return String::new();
    };
    if first.0 == last.0 || distribution.count() < BARS as u128 {
        return String::new();
    }
    let counts = distribution.histogram(BARS);
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let span = u128::from(last.0 - first.0) + 1;
    let mut sheet = Sheet::new([">from", ">count", ""]);
    for (i, &count) in counts.iter().enumerate() {
        let from = u128::from(first.0) + (span * i as u128).div_ceil(BARS as u128);
        let length = (count * WIDTH + most / 2) / most;
        let bar = if count > 0 && length == 0 { "▏".to_owned() } else { "█".repeat(length as usize) };
        sheet.row([duration(SimDuration(from as u64)), count.to_string(), bar]);
    }
    sheet.finish()
}

/// The solution as a scenario and the command line say it.
fn solution(solution: &Solution) -> String {
    let Solution { order, placement, parameters } = solution;
    let order = order.as_ref().map_or_else(String::new, |order| {
        let lines = order.iter().map(|(device, ids)| format!("  {}: {}\n", clean(&word(device)), clean(&list(ids))));
        if order.is_empty() { "order: {}\n".to_owned() } else { format!("order:\n{}", lines.collect::<String>()) }
    });
    let ranks = placement.iter().map(|devices| format!("ranks: {}\n", clean(&list(devices)))).collect::<String>();
    let set = parameters.iter().flatten().map(|(path, value)| format!("--set {}\n", clean(&shell(path, value))));
    set.collect::<String>() + &ranks + &order
}

/// `path=value` as a shell takes it.
fn shell(path: &str, value: &str) -> String {
    let text = format!("{path}={value}");
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "._-=/%+:".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A list of texts, as YAML.
#[must_use]
pub fn list(texts: &[String]) -> String {
    let words: Vec<String> = texts.iter().map(|text| word(text)).collect();
    format!("[{}]", words.join(", "))
}

/// A text as YAML: without quotes where nothing can be misread.
#[must_use]
pub fn word(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = begins && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-/#".contains(c));
    let reserved = matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    // What JSON writes between quotes, YAML reads.
    if plain && !reserved { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_yaml_would_misread_them() {
        for plain in ["gpu0", "h.0-1#2", "rc/plx0/gpu1", "_x"] {
            assert_eq!(word(plain), plain);
        }
        for (text, quoted) in
            [("1", "\"1\""), ("no", "\"no\""), ("a, b", "\"a, b\""), ("", "\"\""), ("a\"b", "\"a\\\"b\"")]
        {
            assert_eq!(word(text), quoted);
        }
        for reserved in ["true", "false", "null", "yes", "no", "on", "off", "y", "n"] {
            assert_eq!(word(reserved), format!("\"{reserved}\""));
        }
        assert_eq!(list(&["a".to_owned(), "2".to_owned()]), "[a, \"2\"]");
    }

    /// 2.00999e-7 has its first digit in the seventh decimal, so six decimals would show 0; 0.001 has four digits left.
    #[test]
    fn small_costs_keep_their_digits() {
        for (value, shown) in [
            (0.0, "0"),
            (2.009_990_0e-7, "2.00999e-7"),
            (-2e-7, "-2e-7"),
            (9.994e-4, "9.994e-4"),
            (0.001, "0.001"),
            (0.189_999_96, "0.19"),
            (52.0, "52"),
            (1e-300, "1e-300"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    /// 0.05 % is the least that one decimal shows as more than 0.
    #[test]
    fn small_percentages_keep_two_digits() {
        for (share, shown) in
            [(0.0, "0.0 %"), (0.0004, "4.0e-2 %"), (0.0005, "0.1 %"), (0.00055, "0.1 %"), (0.123, "12.3 %")]
        {
            assert_eq!(percent(share), shown, "{share}");
        }
    }

    #[test]
    fn values_of_parameters_are_quoted_for_a_shell() {
        assert_eq!(shell("arbiter.tau", "0.1"), "arbiter.tau=0.1");
        assert_eq!(shell("workload[0].x", "it's"), "'workload[0].x=it'\\''s'");
    }

    #[test]
    fn a_bar_is_as_long_as_its_count() {
        // 10 of 1000 are half a character of 50, rounded up.
        let distribution: Distribution = (0..10).map(|_| 1000).chain((0..1000).map(|_| 3000)).collect();
        let text = histogram(&distribution);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows.len(), BARS);
        assert!(rows[0].contains("10") && rows[0].matches('█').count() == 1, "{text}");
        assert_eq!(rows[BARS - 1].matches('█').count(), 50);
        assert!(rows[1..BARS - 1].iter().all(|row| row.trim().ends_with('0')), "{text}");
        assert_eq!(histogram(&(0..20).collect()).lines().count(), 2 + BARS);
        for without in [vec![5; 3], vec![5; 30], vec![5, 6], (0..19).collect()] {
            assert_eq!(histogram(&without.into_iter().collect()), "");
        }
    }
}
