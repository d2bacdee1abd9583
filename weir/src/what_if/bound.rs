//! What is left with every link and memory without limit: a run, and what its critical path consists of.

use weir_plugin_api::{SimDuration, SimTime};
use weir_report::{LeftOut, WhatIf, WhatIfBound, saved};
use weir_scenario::{Resource, ResourceKind, Scenario};
use weir_sim_core::{Outcome, Work};

use super::change::NO_LIMIT;
use super::runs::Runs;
use crate::Error;
use crate::critical_path::critical_path;

/// Adds the bound, where there is anything to widen.
pub(super) fn add(result: &mut WhatIf, runs: &Runs<'_>, resources: &[Resource]) {
    let wide = |resource: &&Resource| matches!(resource.kind, ResourceKind::Bandwidth | ResourceKind::Memory);
    if !resources.iter().any(|resource| wide(&resource)) {
        return;
    }
    let run = |no_limit| {
        let edits: Vec<_> = resources.iter().filter(wide).flat_map(|resource| resource.edits(no_limit)).collect();
        let scenario = runs.read(&edits)?;
        let outcome = runs.of(&scenario)?;
        Ok(outcome.map(|outcome| bound(&scenario, &outcome, SimTime(result.makespan_ps))))
    };
    let bound = run(NO_LIMIT[0]).or_else(|_: Error| run(NO_LIMIT[1]));
    match bound {
        Ok(bound) => {
            result.complete &= bound.is_some();
            result.bound = bound;
        }
        Err(error) => {
            let of = "every link and memory, no limit".to_owned();
            result.left_out.push(LeftOut { of, why: error.brief() });
        }
    }
}

fn bound(scenario: &Scenario, outcome: &Outcome, of: SimTime) -> WhatIfBound {
    let (saved_s, saved_percent) = saved(of, outcome.makespan);
    let [computing, limited, transfers, waiting] = parts(scenario, outcome);
    WhatIfBound {
        makespan_s: outcome.makespan.seconds(),
        makespan_ps: outcome.makespan.0,
        saved_s,
        saved_percent,
        computing_s: computing.seconds(),
        limited_s: limited.seconds(),
        transfers_s: transfers.seconds(),
        waiting_s: waiting.seconds(),
    }
}

/// The critical path in parts that add up to the makespan: fixed times, transfers with a limit, other transfers, waiting.
fn parts(scenario: &Scenario, outcome: &Outcome) -> [SimDuration; 4] {
    let (mut parts, mut now) = ([SimDuration::ZERO; 4], SimTime::ZERO);
    let limits = scenario.tasks.classes().table().limit;
    let path = critical_path(outcome, &scenario.tasks);
    for (at, &task) in path.iter().enumerate().rev() {
        let times = outcome.tasks[task.index()];
        let kind = match scenario.tasks.tasks()[task.index()].work {
            Work::Carries { class, .. } if limits[class.index()].is_finite() => 1,
            Work::Carries { .. } => 2,
            _ => 0,
        };
        if times.start > now {
            parts[3].0 += times.start.0 - now.0;
            now = times.start;
        }
        // An engine turns to the next one with the last byte sent; this is still on its way then.
        let next = at.checked_sub(1).map(|next| path[next]);
        let gives_way = next.is_some_and(|next| outcome.queued_behind[next.index()] == task);
        let until = if gives_way { times.sent } else { times.end };
        if until > now {
            parts[kind].0 += until.0 - now.0;
            now = until;
        }
    }
    parts
}
