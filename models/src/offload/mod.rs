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

use weir_plugin_api::{Alternative, Estimate, Estimates, Model, ModelError, ModelPlugin, Plan, Relation, Surroundings};

use crate::operation::{self, choose, estimate, read, refused, schema};
use params::{MOST_STREAMS, Method, OffloadParams, Streams};
use resolve::Offload as Resolved;

/// The model `offload`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offload;

impl Offload {
    fn read(operation: &str, surroundings: &Surroundings<'_>) -> Result<Resolved, ModelError> {
        Resolved::new(&read::<OffloadParams>(Self::NAME, operation)?.params, surroundings)
    }
}

impl Model for Offload {
    fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), ModelError> {
        plan::plan(&Self::read(operation, surroundings)?, plan);
        Ok(())
    }

    fn estimate(
        &mut self,
        operation: &str,
        surroundings: &Surroundings<'_>,
        estimates: &mut Estimates,
    ) -> Result<(), ModelError> {
        let offload = Self::read(operation, surroundings)?;
        estimates.list = list(&offload)?;
        estimates.details = operation::details(&details::details(&offload))?;
        Ok(())
    }

    fn alternatives(
        &mut self,
        operation: &str,
        surroundings: &Surroundings<'_>,
        out: &mut Vec<Alternative>,
    ) -> Result<(), ModelError> {
        let mut params = read::<OffloadParams>(Self::NAME, operation)?.params;
        let open = matches!(params.streams, Some(Streams::Auto(_)));
        if !open || !matches!(resolve::method(&params), Method::Streams | Method::Hybrid) {
            return Ok(());
        }
        // Beside the numbers that the text measures, the optimum of the formula, where that lies beyond.
        params.streams = Some(Streams::Number(1));
        let optimum = details::stream_optimum(&Resolved::new(&params, surroundings)?);
        let beyond = optimum.filter(|&n| (details::TRIED_STREAMS + 1..MOST_STREAMS).contains(&n));
        let tried = (1..=details::TRIED_STREAMS).chain(beyond);
        choose(operation, "streams", None, tried.map(|n| (n.to_string(), n.into())), out)
    }
}

/// The formulas of the operation's category, the one that stands for it last.
fn list(offload: &Resolved) -> Result<Vec<Estimate>, ModelError> {
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

impl ModelPlugin for Offload {
    const NAME: &'static str = "offload";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const OPERATIONS: &'static [&'static str] = &["offload"];

    fn schema() -> String {
        schema::<OffloadParams>("offload")
    }

    fn create() -> Result<Self, ModelError> {
        Ok(Self)
    }
}
