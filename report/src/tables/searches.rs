//! The tables of searches and sweeps.

use weir_optimize::parameters::GridRow;
use weir_optimize::search::{SearchResult, Vary};
use weir_optimize::sweep::gain;

use super::ExportTable;
use super::columns::{Columns, table};
use crate::run::titled;
use crate::search::{SearchReport, SearchSubject, Solution, seconds};
use crate::sweep::SweepReport;

/// What a search has found.
pub(super) fn of_search(search: &SearchReport) -> Vec<ExportTable> {
    let mut tables = vec![summary(search), solution(search)];
    if let Some(distribution) = search.distribution.as_ref().filter(|_| search.result.complete) {
        tables.push(makespans(search, distribution.pairs()));
    }
    if let Some(grid) = &search.grid {
        let (paths, rows): (Vec<&str>, Vec<_>) = (grid.table().paths().collect(), grid.table().rows().collect());
        tables.push(candidates(search, &paths, &rows));
    }
    tables
}

/// What a sweep has found.
pub(super) fn of_sweep(sweep: &SweepReport) -> Vec<ExportTable> {
    vec![points(sweep), totals(sweep)]
}

/// Whose the rows are.
fn of<T>(to: &mut Columns<'_, '_, T>, subject: &SearchSubject) {
    to.owner(&subject.scenario, &titled(&subject.arbiter.name, &subject.arbiter.params));
}

/// As [`of`], of rows that differ in values of these paths: where the arbiter is one of them, its column is that of the path.
fn of_varied<'p, T>(to: &mut Columns<'_, '_, T>, subject: &SearchSubject, mut paths: impl Iterator<Item = &'p str>) {
    match paths.any(|path| path == "arbiter") {
        true => to.scenario(&subject.scenario),
        false => of(to, subject),
    }
}

/// One row. Numbers of candidates may have more than 64 bits, and are texts.
fn summary(search: &SearchReport) -> ExportTable {
    let (result, rows, timed) = (&search.result, [()], search.timed());
    let own = |value: f64| search.own(value);
    let value = |value: Option<f64>| value.filter(|_| !timed).map(own);
    let time = |time: Option<f64>| time.filter(|_| timed).map(seconds);
    let (baseline, best) = search.makespans().map_or((None, None), |(baseline, best)| (baseline, Some(best)));
    let exact = |ps: Option<u64>| ps.map(|ps| seconds(ps as f64));
    table("searches", &rows, |to| {
        of(to, &search.subject);
        to.text("vary", |()| Some(result.vary.word()));
        to.text("method", |()| Some(result.method.word()));
        to.text("objective", |()| Some(result.objective.word()));
        to.text("candidates", |()| result.candidates.map(|count| count.to_string()));
        to.text("evaluated", |()| Some(result.evaluated.to_string()));
        to.flag("complete", |()| result.complete);
        to.flag("proved_optimal", |()| result.proved_optimal);
        to.real("baseline_s", |()| exact(baseline));
        to.whole("baseline_ps", |()| baseline);
        to.real("best_s", |()| exact(best));
        to.whole("best_ps", |()| best);
        to.real("bound_s", |()| time(result.bound));
        to.real("median_s", |()| time(result.median));
        to.real("mean_s", |()| time(result.mean));
        to.real("worst_s", |()| time(result.worst));
        to.real("baseline", |()| value(search.baseline()));
        to.real("best", |()| value(Some(result.best)));
        to.real("bound", |()| value(result.bound));
        to.real("median", |()| value(result.median));
        to.real("mean", |()| value(result.mean));
        to.real("worst", |()| value(result.worst));
    })
}

/// Of an order: device, place in its queue, transfer. Of a placement: rank and device. Of parameters: path and value.
fn solution(search: &SearchReport) -> ExportTable {
    let place = |place: usize| Some(place as u64);
    let Solution { order, placement, parameters } = &search.result.solution;
    let sent = order.iter().flatten();
    let sent = sent.flat_map(|(device, sent)| sent.iter().enumerate().map(move |sent| (device, sent)));
    let sent = sent.map(|(device, (at, transfer))| (Vary::Order, device.clone(), place(at), transfer.as_str()));
    let ranks = placement.iter().flatten().enumerate();
    let ranks = ranks.map(|(rank, device)| (Vary::Placement, "rank".to_owned(), place(rank), device.as_str()));
    let values = parameters.iter().flatten();
    let values = values.map(|(path, value)| (Vary::Parameters, path.clone(), None, value.as_str()));
    let rows: Vec<(Vary, String, Option<u64>, &str)> = values.chain(ranks).chain(sent).collect();
    table("solutions", &rows, |to| {
        of(to, &search.subject);
        to.text("vary", |row| Some(row.0.word()));
        to.text("of", |row| Some(&row.1));
        to.whole("number", |row| row.2);
        to.text("is", |row| Some(row.3));
    })
}

fn makespans(search: &SearchReport, pairs: &[(u64, u64)]) -> ExportTable {
    table("makespans", pairs, |to| {
        of(to, &search.subject);
        to.real("makespan_s", |pair| Some(seconds(pair.0 as f64)));
        to.whole("makespan_ps", |pair| Some(pair.0));
        to.whole("count", |pair| Some(pair.1));
    })
}

fn candidates(search: &SearchReport, paths: &[&str], rows: &[GridRow<'_>]) -> ExportTable {
    table("candidates", rows, |to| {
        of_varied(to, &search.subject, paths.iter().copied());
        to.whole("candidate", |row| Some(row.candidate));
        for (at, path) in paths.iter().enumerate() {
            to.text((*path).to_owned(), |row| row.parameters.get(at).map(|(_, value)| (*value).to_owned()));
        }
        if rows.iter().any(|row| row.value.is_some()) {
            to.real("value", |row| row.value);
        }
        to.real("makespan_s", |row| Some(row.seconds()));
        to.whole("makespan_ps", |row| Some(row.makespan));
        to.real("ratio", |row| Some(row.ratio));
        to.flag("best", |row| row.best);
    })
}

fn points(sweep: &SweepReport) -> ExportTable {
    let (grid, rows): (_, Vec<(u64, &SearchResult<Solution>)>) = (sweep.sweep.grid(), sweep.sweep.points().collect());
    table("points", &rows, |to| {
        of_varied(to, &sweep.subject, grid.axes().iter().map(|axis| &*axis.path));
        to.whole("point", |row| Some(row.0));
        for (at, axis) in grid.axes().iter().enumerate() {
            to.text(axis.path.clone(), |row| grid.values(row.0).get(at).map(|(_, value)| (*value).to_owned()));
        }
        to.text("method", |row| Some(row.1.method.word()));
        to.real("baseline_s", |row| Some(seconds(row.1.baseline)));
        to.whole("baseline_ps", |row| Some(row.1.baseline as u64));
        to.real("best_s", |row| Some(seconds(row.1.best)));
        to.whole("best_ps", |row| Some(row.1.best as u64));
        to.real("bound_s", |row| row.1.bound.map(seconds));
        to.flag("proved_optimal", |row| row.1.proved_optimal);
        to.real("gain_percent", |row| Some(100.0 * gain(row.1.baseline, row.1.best)));
    })
}

fn totals(sweep: &SweepReport) -> ExportTable {
    let rows: Vec<_> = sweep.sweep.totals().collect();
    table("totals", &rows, |to| {
        let axes = || sweep.sweep.grid().axes().iter().skip(1);
        of_varied(to, &sweep.subject, axes().map(|axis| &*axis.path));
        for (at, axis) in axes().enumerate() {
            let value = |combination| sweep.combination(combination).get(at).map(|(_, value)| (*value).to_owned());
            to.text(axis.path.clone(), |row| value(row.combination));
        }
        to.whole("points", |row| Some(row.finished));
        to.flag("complete", |row| row.complete);
        to.flag("proved_optimal", |row| row.complete && row.proved);
        to.real("baseline_s", |row| Some(seconds(row.baseline as f64)));
        to.whole("baseline_ps", |row| u64::try_from(row.baseline).ok());
        to.real("best_s", |row| Some(seconds(row.best as f64)));
        to.whole("best_ps", |row| u64::try_from(row.best).ok());
        to.real("gain_percent", |row| (row.finished > 0).then(|| 100.0 * row.gain()));
    })
}
