//! The parts of a split search as the result of the whole.

use weir_optimize::order::Part;
use weir_optimize::parameters;
use weir_optimize::search::{Method, SearchResult, Vary};
use weir_report::{SearchReport, SearchSubject, Solution};

use super::outcome::report;
use super::parameters::whole_report;
use super::part::{OrderNames, PartFile, PartOf};
use crate::Error;

/// The whole of all parts of one search, in any order.
///
/// # Errors
/// Parts that are missing, unfinished or of different searches.
pub fn merge(mut parts: Vec<PartFile>) -> Result<SearchReport, Error> {
    // The result names one file; the order in which the parts are given must not decide which.
    parts.sort_by(|a, b| a.file().cmp(b.file()));
    let (mut orders, mut grids, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let (subject, part) = part.contents();
        subjects.push(subject);
        match part {
            PartOf::Order { names, makespans } => orders.push((names, makespans)),
            PartOf::Parameters(part) => grids.push(part),
        }
    }
    if subjects.is_empty() {
        return Err(Error::input("there are no parts to merge: give all parts of one search"));
    }
    let subject = subjects.swap_remove(0);
    let kinds = (!orders.is_empty() && !grids.is_empty()).then_some("kind: some over orders, some over parameters");
    if let Some(what) = subjects.iter().find_map(|other| subject.differs(other)).or(kinds) {
        let message =
            format!("the parts belong to different searches, with another {what}: give all parts of one search");
        return Err(Error::input(message));
    }
    if orders.is_empty() {
        let whole = parameters::merge(&grids).map_err(Error::input)?;
        return whole_report(subject, whole);
    }
    orders_merged(subject, orders)
}

/// The whole of all shards.
fn orders_merged(subject: SearchSubject, parts: Vec<(OrderNames, Part)>) -> Result<SearchReport, Error> {
    let (names, parts): (Vec<OrderNames>, Vec<Part>) = parts.into_iter().unzip();
    let whole = Part::merge(&parts).map_err(Error::input)?;
    let at = parts.iter().position(|part| part.best == whole.best).zip(whole.best);
    let Some((at, best)) = at else { return Err(Error::input("the parts hold no order: run them again")) };
    let distribution = whole.distribution;
    let makespan = best.makespan as f64;
    let (baseline, solution) = (names[at].baseline as f64, Solution::of_order(names[at].best.clone()));
    let result = SearchResult {
        candidates: Some(whole.candidates),
        evaluated: distribution.count(),
        proved_optimal: true,
        bound: Some(makespan),
        ..SearchResult::new(Vary::Order, Method::Exhaustive, baseline, makespan, solution)
    };
    let result = result.with_statistics(&distribution);
    Ok(SearchReport { distribution: Some(distribution), ..report(subject, result) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_parts_are_an_error() {
        let error = merge(Vec::new()).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Input);
    }
}
