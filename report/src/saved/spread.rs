//! What a run says of how far its ends move: ranges that are none, or that cannot all be true.

use crate::json::RunJson;
use crate::spread::EndSpreadJson;

/// The first contradiction, with its place.
pub(super) fn contradiction(run: &RunJson<'_>) -> Option<String> {
    let transfers = run.transfers.at_hand().iter().enumerate();
    let transfers = transfers.map(|(i, row)| (format!("transfers[{i}]"), row.end_spread_s));
    let operations = run.operations.at_hand().iter().enumerate();
    let operations = operations.map(|(i, row)| (format!("operations[{i}]"), row.end_spread_s));
    let mut ends = transfers.chain(operations).filter_map(|(place, range)| Some((place, range?)));
    let Some(spread) = &run.spread else {
        return ends.next().map(|(place, _)| format!("{place}.end_spread_s: the run has no `spread`"));
    };
    if !run.complete || spread.jitter_s <= 0.0 || spread.seeds == 0 {
        let (jitter, seeds) = (spread.jitter_s, spread.seeds);
        return Some(format!(
            "spread: jitter_s {jitter} and {seeds} seeds of a run that is complete: {}",
            run.complete
        ));
    }
    if let Some(i) = run.transfers.at_hand().iter().position(|row| row.end_spread_s.is_none()) {
        return Some(format!("transfers[{i}]: `end_spread_s` is missing, though the run has `spread`"));
    }
    let makespan = spread.makespan_s;
    let disorder = disorder("spread.makespan_s", makespan);
    let disorder = disorder.or_else(|| ends.find_map(|(place, range)| of_ends(&place, range, makespan)));
    disorder.or_else(|| long_time(run))
}

/// A time that moves by more than its latest end.
fn long_time(run: &RunJson<'_>) -> Option<String> {
    let transfers = run.transfers.at_hand().iter().map(|row| (row.time_spread_s, row.end_spread_s));
    let operations = run.operations.at_hand().iter().map(|row| (row.time_spread_s, row.end_spread_s));
    let is_long = |(time, ends): (Option<f64>, Option<EndSpreadJson>)| time.zip(ends).is_some_and(|(t, e)| t > e.max);
    let text = "a `time_spread_s` is longer than its latest end in `end_spread_s`";
    transfers.chain(operations).any(is_long).then(|| text.to_owned())
}

/// Nothing ends after everything has.
fn of_ends(place: &str, range: EndSpreadJson, makespan: EndSpreadJson) -> Option<String> {
    let place = format!("{place}.end_spread_s");
    let parts =
        [("min", range.min, makespan.min), ("median", range.median, makespan.median), ("max", range.max, makespan.max)];
    let late = parts.into_iter().find(|(_, end, last)| end > last);
    disorder(&place, range).or_else(|| {
        late.map(|(part, end, last)| format!("{place}.{part}: {end} is after that of the makespan, {last}"))
    })
}

fn disorder(place: &str, EndSpreadJson { min, median, max }: EndSpreadJson) -> Option<String> {
    (min > median || median > max).then(|| format!("{place}: min {min}, median {median}, max {max} are not in order"))
}
