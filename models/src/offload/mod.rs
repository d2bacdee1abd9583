//! `offload`: copy in, compute, copy out, with a CPU-GPU transfer model.
//!
//! **Definition.** [`plan`] says which tasks, [`formulas`] which closed forms; in equal real-valued chunks the two
//! are the same time for any gap.
//! **Ties.** Copies and kernels are served in order of issue. Among equally fast numbers of streams `auto` takes the
//! smallest.
//! **Source.** van Werkhoven, Maassen, Seinstra, Bal, *Performance models for CPU-GPU data transfers*, CCGrid 2014.

mod departures;
mod details;
mod formulas;
mod params;
mod plan;
mod presets;
mod resolve;

use weir_plugin_api::{Alternative, CallError, Estimate, Estimates, Plan, Relation, Surroundings};

use crate::operation::{self, Operation, Resolved, choose, estimate, parse, refused};
use params::{MOST_STREAMS, Method, OffloadParams, Streams};
pub(crate) use resolve::Offload;

impl Resolved for Offload {
    const NAME: &'static str = "offload";
    type Params = OffloadParams;

    fn new(operation: Operation<OffloadParams>, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        Self::of(&operation.params, surroundings)
    }

    fn plan(&self, plan: &mut Plan) {
        plan::plan(self, plan);
    }

    fn estimates(&self, _: &Surroundings<'_>) -> Result<Estimates, CallError> {
        Ok(Estimates { list: list(self)?, details: operation::details(&details::details(self))? })
    }

    fn alternatives(
        operation: &str,
        surroundings: &Surroundings<'_>,
        out: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let mut params = parse::<Self>(operation)?.params;
        let open = matches!(params.streams, Some(Streams::Auto(_)));
        if !open || !matches!(resolve::method(&params), Method::Streams | Method::Hybrid) {
            return Ok(());
        }
        // Beside the numbers that the text measures, the optimum of the formula, where that lies beyond.
        params.streams = Some(Streams::Number(1));
        let optimum = details::stream_optimum(&Self::of(&params, surroundings)?);
        let beyond = optimum.filter(|&n| (details::TRIED_STREAMS + 1..MOST_STREAMS).contains(&n));
        let tried = (1..=details::TRIED_STREAMS).chain(beyond);
        choose(operation, "streams", None, tried.map(|n| (n.to_string(), n.into())), out)
    }
}

/// The formulas of the operation's category, the one that stands for it last.
fn list(offload: &Offload) -> Result<Vec<Estimate>, CallError> {
    let n = offload.pieces() as f64;
    let branches: &[(&str, f64)] = match (offload.method, offload.engines, offload.sync) {
        (Method::Mapped, ..) => &[],
        (Method::Hybrid, ..) | (_, 2.., false) => &[("eq5", offload.eq5(n))],
        (_, 2.., true) => return Ok(Vec::new()),
        (.., true) => &[("eq1", offload.eq1(n)), ("eq2", offload.eq2(n))],
        (.., false) => &[("eq3", offload.eq3(n)), ("eq4", offload.eq4(n))],
    };
    let mut list = Vec::new();
    for &(formula, ps) in branches {
        list.push(estimate(formula, ps, Relation::Unstated, "")?);
    }
    let name = if offload.method == Method::Mapped { "eq6" } else { "category" };
    let time = details::formula(offload, n).ok_or_else(|| refused("the operation has no formula"))?;
    let departures = departures::departures(offload);
    list.push(estimate(name, time, departures.relation(), &departures.because())?);
    Ok(list)
}
