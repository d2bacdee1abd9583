//! What tuning a put alone leaves out: the scenario's other traffic.

use weir::{Error, RunOptions};
use weir_plugin_api::SimDuration;
use weir_scenario::PlannedOperation;

use super::Tuner;
use crate::failure::message;
use crate::simulate;

/// Time under load over the time alone from which tuning alone is doubtful; *assumed*, what a table shows.
const SLOWED: f64 = 1.0005;

impl Tuner<'_> {
    /// Warns of puts that the rest of the scenario slows down where they are tuned alone.
    pub(super) fn warn_of_load(&self, scenario: &weir::Scenario, puts: &[&PlannedOperation]) -> Result<(), Error> {
        if scenario.contents().operations.len() < 2 && scenario.contents().tasks.transfers().count() < 2 {
            return Ok(());
        }
        for (put, times) in puts.iter().zip(times_of(scenario, puts)?) {
            let Some((loaded, alone)) = times else { continue };
            if loaded.0 as f64 <= alone.0 as f64 * SLOWED {
                continue;
            }
            let (id, alone) = (weir_report::text::clean(&put.id), weir_report::duration(alone));
            let loaded = weir_report::duration(loaded);
            message(&format!(
                "warning: put `{id}` takes {alone} alone, but {loaded} under the scenario's other traffic, which tuning \
                 leaves out; --under load tunes under it"
            ));
        }
        Ok(())
    }
}

/// From release to end of each put in a run of the scenario, and alone.
fn times_of(
    scenario: &weir::Scenario,
    puts: &[&PlannedOperation],
) -> Result<Vec<Option<(SimDuration, SimDuration)>>, Error> {
    let Some(spec) = scenario.arbiters().first() else { return Ok(vec![None; puts.len()]) };
    simulate::report(scenario, spec, &RunOptions::default(), |run| {
        let of = |put: &&PlannedOperation| {
            let same = run.scenario.operations.iter().find(|operation| operation.id == put.id)?;
            let loaded = run.simulated(same)?;
            // Where nothing else runs, it is alone.
            Some((loaded, run.operation_alone(same).unwrap_or(loaded)))
        };
        Ok(puts.iter().map(of).collect())
    })
}
