//! What a scenario would save if links were wider, latencies shorter, or devices had one engine more: every change is run
//! again, and nothing is estimated.
//!
//! ```text
//! topology as written ─► resources ─┐ edits of the scenario, read again ┐
//! links that carried bytes ─────────┴ the same scenario on a wider fabric ┴─► makespan ─► ranked changes ─► WhatIf
//! ```

mod bound;
mod change;
mod cost;
mod enough;
mod runs;
mod target;

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ordered_float::OrderedFloat;
use rayon::prelude::*;
use weir_plugin_api::SimTime;
use weir_report::{Change, LeftOut, TunedUnder, WhatIf};
use weir_scenario::{ResourceKind, Scenario as Contents, resources};

use crate::optimize::Watch;
use crate::{Error, ErrorKind, Scenario};
use change::TriedAll;
use cost::Costs;
use runs::Runs;
use target::Target;

/// What to try, and what it costs.
#[derive(Clone, Copy)]
pub struct WhatIfOptions<'a> {
    /// Whether each single link that carries bytes is widened, too.
    pub links: bool,
    /// What changes cost: the names of what is changed, as results have them or the last part of a path, with weights above
    /// 0. Twice the bandwidth costs the weight, and another factor in proportion. A single link costs an equal part
    /// of its type; anything else has weight 1. Without any, changes are ranked by what they save.
    pub costs: &'a [(String, f64)],
    /// Ends it soon after it becomes true; the result is not complete then.
    pub cancel: Option<&'a Arc<AtomicBool>>,
    /// Hears of the progress.
    pub watch: &'a dyn Watch,
}

impl Default for WhatIfOptions<'_> {
    fn default() -> Self {
        Self { links: false, costs: &[], cancel: None, watch: &() }
    }
}

impl Scenario {
    /// Runs the scenario again with each link type and memory 1.1 times and twice as wide and without limit, with each latency
    /// and overhead halved, and with one engine more; under the arbiter at a place of [`Self::arbiters`], on the threads of
    /// the current rayon pool. The changes are ranked by what they save of the makespan, or by that over their cost. Among
    /// equals the smaller change comes first, then what stands first in the file.
    ///
    /// ```
    /// use weir::{Scenario, WhatIfOptions};
    ///
    /// let scenario = Scenario::open("../scenarios/pcie/remote-buffers.yaml")?;
    /// let found = scenario.what_if(0, &WhatIfOptions::default())?;
    /// assert_eq!(found.changes[0].of, "link_types.upi");
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// The scenario cannot run as it is, or a cost is of something unknown.
    pub fn what_if(&self, arbiter: usize, options: &WhatIfOptions<'_>) -> Result<WhatIf, Error> {
        let runs = Runs::new(self, arbiter, options)?;
        let base = runs.base()?.ok_or_else(|| Error::new(ErrorKind::Cancelled, "ended before the first result"))?;
        let (contents, spec) = (self.contents(), runs.spec());
        let resources = resources(runs.source.input(), &runs.source.options, spec.packets.is_some())
            .map_err(|findings| self.registry.error_of(findings))?;
        let links = if options.links { runs.links(&base, &resources) } else { Vec::new() };
        let targets = target::all(contents, &resources, links);
        let mut costs = Costs::new(options.costs, contents, &targets)?;
        options.watch.begin("targets", targets.len() as u64, 0);
        let tried: Vec<TriedAll> = targets.par_iter().map(|target| runs.try_all(target, &base)).collect();
        let under = TunedUnder { name: spec.name.clone(), params: spec.written.clone() };
        let mut result = WhatIf::new(&contents.name, &contents.file, &contents.input_sha256, under, base.makespan);
        bound::add(&mut result, &runs, &resources);
        options.watch.finish();
        targets.iter().zip(&tried).for_each(|(target, tried)| learn_links(&mut costs, target, tried));
        for (target, tried) in targets.iter().zip(tried) {
            add(&mut result, contents, target, tried, &costs);
        }
        if !contents.changes.is_empty() {
            let why = "they happen in every run; a bandwidth that one gives stays, however wide its link is";
            result.left_out.push(LeftOut { of: "events".to_owned(), why: why.to_owned() });
        }
        rank(&mut result.changes);
        Ok(result)
    }
}

/// Tells what costs by which links a type has.
fn learn_links<'a>(costs: &mut Costs<'a>, target: &Target<'a>, tried: &TriedAll) {
    if let (Target::Resource(resource), Some(first)) = (target, tried.changes.first())
        && resource.kind == ResourceKind::Bandwidth
    {
        costs.of_type(&resource.name, &first.links, first.of_all);
    }
}

/// Adds what was tried of a target.
fn add(result: &mut WhatIf, scenario: &Contents, target: &Target<'_>, tried: TriedAll, costs: &Costs<'_>) {
    let TriedAll { changes, left_out, unused, complete } = tried;
    let of = SimTime(result.makespan_ps);
    result.complete &= complete;
    result.left_out.extend(left_out);
    if unused && target.is_wide() {
        result.unused.push(target.name(scenario));
    }
    result.changes.extend(changes.iter().map(|tried| change::change(scenario, target, tried, costs, of)));
}

/// The best first: by what is saved over its cost where there are costs, and else by what is saved; among equals the smaller
/// change, then the order of the file.
fn rank(changes: &mut [Change]) {
    let factor = |change: &Change| OrderedFloat(change.factor.unwrap_or(f64::INFINITY));
    changes
        .sort_by_key(|change| (Reverse(change.saved_s_per_cost.map(OrderedFloat)), change.makespan_ps, factor(change)));
}
