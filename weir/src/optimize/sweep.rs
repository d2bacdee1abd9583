//! `vary: order` with `parameters`: the best order for each point of a grid. Every point is the scenario with its values
//! set, read anew and searched.

use weir_optimize::parameters::Grid;
use weir_optimize::search::SearchResult;
use weir_optimize::sweep::Sweep;
use weir_report::{Solution, SweepReport};

use super::context::{SearchContext, too_soon};
use super::order;
use super::outcome::SearchOutcome;
use super::parameters::{at, axis};
use crate::Error;

pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let parameters = context.scenario.optimize.as_ref().map_or(&[][..], |spec| &spec.parameters);
    let axes: Vec<_> = parameters.iter().map(axis).collect();
    let grid = Grid::repeating(axes).map_err(|error| at(parameters, &error))?;
    let subject = context.subject()?;
    let span = tracing::Span::current();
    let search = |values: &[(&str, &str)]| {
        let point_span = tracing::info_span!(parent: &span, "point", ?values);
        point_span.in_scope(|| point(context, values)).map_err(|error| error.brief())
    };
    let sweep = Sweep::run(grid, search, context.cancel).map_err(Error::input)?;
    context.options.watch.finish();
    if sweep.finished() == 0 {
        return Err(too_soon());
    }
    Ok(SearchOutcome::sweep(SweepReport { subject, sweep, wall_s: context.wall() }))
}

/// The best order with some values; none where the search was cut off.
fn point(context: &SearchContext<'_>, values: &[(&str, &str)]) -> Result<Option<SearchResult<Solution>>, Error> {
    let edits: Vec<_> = values.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let (scenario, source) = (context.runs().read(&edits)?, context.source.with(&edits));
    let found = order::best(&SearchContext { scenario: &scenario, source: &source, ..*context })?;
    tracing::info!(best = found.best, baseline = found.baseline, proved = found.proved_optimal, "found the best");
    Ok(Some(found).filter(|found| found.complete || !context.cancelled()))
}
