//! The tables of searches and sweeps.

use weir_optimize::parameters::GridRow;
use weir_optimize::search::{SearchResult, Vary};
use weir_optimize::sweep::gain;

use super::{ExportTable, TableColumn, flag, owner, real, text, whole};
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

fn of<T>(subject: &SearchSubject, rows: &[T]) -> Vec<TableColumn> {
    owner(&subject.scenario, &titled(&subject.arbiter.name, &subject.arbiter.params), rows)
}

/// One row. Numbers of candidates may have more than 64 bits, and are texts.
fn summary(search: &SearchReport) -> ExportTable {
    let (result, rows, timed) = (&search.result, [()], search.timed());
    let own = |value: f64| search.own(value);
    let value = |name: &'static str, value: Option<f64>| real(name, &rows, |()| value.filter(|_| !timed).map(own));
    let time = |name: &'static str, value: Option<f64>| real(name, &rows, |()| value.filter(|_| timed).map(seconds));
    let (baseline, best) = search.makespans().map_or((None, None), |(baseline, best)| (baseline, Some(best)));
    let exact = |ps: Option<u64>| ps.map(|ps| seconds(ps as f64));
    let mut columns = of(&search.subject, &rows);
    columns.extend([
        text("vary", &rows, |()| Some(result.vary.word())),
        text("method", &rows, |()| Some(result.method.word())),
        text("objective", &rows, |()| Some(result.objective.word())),
        text("candidates", &rows, |()| result.candidates.map(|count| count.to_string())),
        text("evaluated", &rows, |()| Some(result.evaluated.to_string())),
        flag("complete", &rows, |()| result.complete),
        flag("proved_optimal", &rows, |()| result.proved_optimal),
        real("baseline_s", &rows, |()| exact(baseline)),
        whole("baseline_ps", &rows, |()| baseline),
        real("best_s", &rows, |()| exact(best)),
        whole("best_ps", &rows, |()| best),
        time("bound_s", result.bound),
        time("median_s", result.median),
        time("mean_s", result.mean),
        time("worst_s", result.worst),
        value("baseline", search.baseline()),
        value("best", Some(result.best)),
        value("bound", result.bound),
        value("median", result.median),
        value("mean", result.mean),
        value("worst", result.worst),
    ]);
    ExportTable { name: "searches", columns }
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
    let mut columns = of(&search.subject, &rows);
    columns.extend([
        text("vary", &rows, |row| Some(row.0.word())),
        text("of", &rows, |row| Some(&row.1)),
        whole("number", &rows, |row| row.2),
        text("is", &rows, |row| Some(row.3)),
    ]);
    ExportTable { name: "solutions", columns }
}

fn makespans(search: &SearchReport, pairs: &[(u64, u64)]) -> ExportTable {
    let mut columns = of(&search.subject, pairs);
    columns.extend([
        real("makespan_s", pairs, |pair| Some(seconds(pair.0 as f64))),
        whole("makespan_ps", pairs, |pair| Some(pair.0)),
        whole("count", pairs, |pair| Some(pair.1)),
    ]);
    ExportTable { name: "makespans", columns }
}

fn candidates(search: &SearchReport, paths: &[&str], rows: &[GridRow<'_>]) -> ExportTable {
    let mut columns = of(&search.subject, rows);
    columns.push(whole("candidate", rows, |row| Some(row.candidate)));
    columns.extend(paths.iter().enumerate().map(|(at, path)| {
        text((*path).to_owned(), rows, |row| row.parameters.get(at).map(|(_, value)| (*value).to_owned()))
    }));
    if rows.iter().any(|row| row.value.is_some()) {
        columns.push(real("value", rows, |row| row.value));
    }
    columns.extend([
        real("makespan_s", rows, |row| Some(row.seconds())),
        whole("makespan_ps", rows, |row| Some(row.makespan)),
        real("ratio", rows, |row| Some(row.ratio)),
        flag("best", rows, |row| row.best),
    ]);
    ExportTable { name: "candidates", columns }
}

fn points(sweep: &SweepReport) -> ExportTable {
    let (grid, rows): (_, Vec<(u64, &SearchResult<Solution>)>) = (sweep.sweep.grid(), sweep.sweep.points().collect());
    let mut columns = of(&sweep.subject, &rows);
    columns.push(whole("point", &rows, |row| Some(row.0)));
    columns.extend(grid.axes().iter().enumerate().map(|(at, axis)| {
        text(axis.path.clone(), &rows, |row| grid.values(row.0).get(at).map(|(_, value)| (*value).to_owned()))
    }));
    columns.extend([
        text("method", &rows, |row| Some(row.1.method.word())),
        real("baseline_s", &rows, |row| Some(seconds(row.1.baseline))),
        whole("baseline_ps", &rows, |row| Some(row.1.baseline as u64)),
        real("best_s", &rows, |row| Some(seconds(row.1.best))),
        whole("best_ps", &rows, |row| Some(row.1.best as u64)),
        real("bound_s", &rows, |row| row.1.bound.map(seconds)),
        flag("proved_optimal", &rows, |row| row.1.proved_optimal),
        real("gain_percent", &rows, |row| Some(100.0 * gain(row.1.baseline, row.1.best))),
    ]);
    ExportTable { name: "points", columns }
}

fn totals(sweep: &SweepReport) -> ExportTable {
    let rows: Vec<_> = sweep.sweep.totals().collect();
    let mut columns = of(&sweep.subject, &rows);
    columns.extend(sweep.sweep.grid().axes().iter().skip(1).enumerate().map(|(at, axis)| {
        let value = |combination| sweep.combination(combination).get(at).map(|(_, value)| (*value).to_owned());
        text(axis.path.clone(), &rows, |row| value(row.combination))
    }));
    columns.extend([
        whole("points", &rows, |row| Some(row.finished)),
        flag("complete", &rows, |row| row.complete),
        flag("proved_optimal", &rows, |row| row.complete && row.proved),
        real("baseline_s", &rows, |row| Some(seconds(row.baseline as f64))),
        whole("baseline_ps", &rows, |row| u64::try_from(row.baseline).ok()),
        real("best_s", &rows, |row| Some(seconds(row.best as f64))),
        whole("best_ps", &rows, |row| u64::try_from(row.best).ok()),
        real("gain_percent", &rows, |row| (row.finished > 0).then(|| 100.0 * row.gain())),
    ]);
    ExportTable { name: "totals", columns }
}
