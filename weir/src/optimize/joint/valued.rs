//! Starts of a local search with good values: the best with orders and places as they are, so that the search is hardly worse
//! than one over the values alone where these decide.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use weir_optimize::joint::{Candidate, Evaluate, LocalSearch, Space};

use super::super::context::SearchContext;
use super::candidates::Candidates;
use super::simulated::{Kept, Simulated};
use crate::Error;

/// The part of the candidates, or of the time, that goes into the values alone; *assumed*.
const PART: u64 = 4;

/// The starts with the best values in front of the baseline, and how many candidates finding them may have taken: none
/// where values do not vary beside other things.
pub(super) fn starts(
    context: &SearchContext<'_>,
    candidates: &Candidates<'_>,
    simulated: &Simulated<'_>,
    limit: Option<u64>,
) -> Result<Option<(Vec<Candidate>, u64)>, Error> {
    let space = Space { axes: candidates.space.axes.clone(), ..Space::default() };
    if space.axes.is_empty() || space == candidates.space {
        return Ok(None);
    }
    let own = candidates.starts();
    let valued = Valued {
        context,
        simulated,
        own: &own[0],
        end: context.options.budget.filter(|_| limit.is_none()).map(|all| context.begin + all / PART as u32),
        over: AtomicBool::new(false),
    };
    let limit = limit.map(|all| all / PART);
    let start = Candidate { values: own[0].values.clone(), ..Candidate::default() };
    let search = LocalSearch {
        space: &space,
        evaluate: &valued,
        starts: &[start],
        bound: None,
        limit,
        seed: context.options.seed,
        cancel: &valued.over,
    };
    let Some(found) = search.run()? else { return Ok(Some((own, limit.unwrap_or(0)))) };
    let with = |start: &Candidate| Candidate { values: found.candidate.values.clone(), ..start.clone() };
    let mut starts = vec![with(&own[0]), own[0].clone()];
    starts.extend(own[1..].iter().map(with));
    starts.dedup();
    // Few values are soon all known: the rest of the part is left for the whole search.
    let taken = limit.map_or(0, |part| if found.all { found.evaluated.min(part) } else { part });
    Ok(Some((starts, taken)))
}

/// Candidates that differ in their values alone.
struct Valued<'a> {
    context: &'a SearchContext<'a>,
    simulated: &'a Simulated<'a>,
    own: &'a Candidate,
    /// When the rest of the search must begin.
    end: Option<Instant>,
    /// Whether that is so, or the whole search must end.
    over: AtomicBool,
}

impl Evaluate for Valued<'_> {
    type State = Option<Kept>;
    type Error = Error;

    fn start(&self) -> Option<Kept> {
        self.simulated.start()
    }

    fn value(&self, kept: &mut Option<Kept>, candidate: &Candidate) -> Result<Option<f64>, Error> {
        let whole = Candidate { values: candidate.values.clone(), ..self.own.clone() };
        let value = self.simulated.value(kept, &whole);
        if self.context.cancelled() || self.end.is_some_and(|end| Instant::now() >= end) {
            self.over.store(true, Ordering::Relaxed);
        }
        value
    }
}
