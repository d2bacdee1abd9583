//! `vary: order` with `parameters`: the best order for each point of a grid. Every point is the scenario with its values
//! set, read anew and searched.

use weir_optimize::parameters::Grid;
use weir_optimize::search::SearchResult;
use weir_optimize::sweep::Sweep;
use weir_report::{Solution, SweepReport};

use super::bench::{Bench, Found, too_soon};
use super::order;
use super::parameters::{at, axis};
use crate::failure::Failure;
use crate::input::read_with;
use crate::interrupt;

/// Searches every point.
pub(super) fn search(bench: &Bench<'_>) -> Result<Found, Failure> {
    let parameters = bench.scenario.optimize.as_ref().map_or(&[][..], |spec| &spec.parameters);
    let axes = parameters.iter().map(axis).collect::<Result<_, _>>()?;
    let grid = Grid::repeating(axes).map_err(|error| at(parameters, &error))?;
    let subject = bench.subject()?;
    let search = |values: &[(&str, &str)]| point(bench, values).map_err(|failure| failure.brief());
    let sweep = Sweep::run(grid, search, bench.stop.flag()).map_err(Failure::usage)?;
    interrupt::settling();
    if sweep.finished() == 0 {
        return Err(too_soon());
    }
    Ok(Found::sweep(SweepReport { subject, sweep, wall_s: bench.wall() }))
}

/// The best order with some values; none where the search was cut off.
fn point(bench: &Bench<'_>, values: &[(&str, &str)]) -> Result<Option<SearchResult<Solution>>, Failure> {
    let edits: Vec<_> = values.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let scenario = read_with(bench.file, &bench.args.scenario, &edits, bench.arbiters)?;
    if scenario.arbiters.len() <= bench.index {
        return Err(Failure::usage("the scenario has fewer arbiters with these values: vary something else"));
    }
    let found = order::best(&Bench { scenario: &scenario, ..*bench })?;
    Ok(Some(found).filter(|found| found.complete || !bench.stop.raised()))
}
