//! Starts of a local search with good orders: at the placements that are best by costs, the fast search for orders finds them in
//! a fraction of the time that as many simulations take.

use weir_optimize::joint::Candidate;
use weir_optimize::order::Order;
use weir_optimize::search::{Method, Objective};
use weir_scenario::Scenario;

use super::super::context::SearchContext;
use super::super::order::annealed;
use super::candidates::Candidates;
use crate::Error;

/// The starts with orders and placements that vary, in front of those as they are. None where the number of candidates or the
/// method is given, or the fast search does not cover the scenario at that placement.
pub(super) fn starts(context: &SearchContext<'_>, candidates: &Candidates<'_>) -> Result<Vec<Candidate>, Error> {
    let own = candidates.starts();
    let settings = &context.settings;
    let both = candidates.ranks.is_some() && settings.vary.kinds().order && candidates.axes.is_empty();
    let asked = context.options.candidates.is_some() || settings.method != Method::Auto;
    if !both || asked || settings.objective != Objective::Makespan {
        return Ok(own);
    }
    // The baseline where no placement is better by costs.
    let placed = if own.len() > 1 { &own[1..] } else { &own[..] };
    let budget =
        context.options.budget.map(|all| all.saturating_sub(context.begin.elapsed()) / 4 / placed.len() as u32);
    let mut found = Vec::new();
    for start in placed {
        let Ok(scenario) = context.runs().read(&candidates.edits(start)) else { continue };
        let order = annealed(&SearchContext { scenario: &scenario, ..*context }, budget)?;
        found.extend(order.and_then(|order| with_order(candidates, &scenario, start, &order)));
    }
    Ok(found.into_iter().chain(own).collect())
}

/// A candidate with an order of its tasks; none where that is not one of everything its sources send.
fn with_order(candidates: &Candidates<'_>, scenario: &Scenario, start: &Candidate, order: &Order) -> Option<Candidate> {
    let mut places = vec![Vec::new(); start.order.len()];
    for (source, place) in order.iter().flatten().filter_map(|&task| candidates.place(scenario, task)) {
        if places[source].last() != Some(&place) {
            places[source].push(place);
        }
    }
    let is_whole = |(found, own): (&Vec<usize>, &Vec<usize>)| {
        let (mut found, mut own) = (found.clone(), own.clone());
        found.sort_unstable();
        own.sort_unstable();
        found == own
    };
    let whole = places.iter().zip(&start.order).all(is_whole);
    whole.then(|| Candidate { order: places, ..start.clone() })
}
