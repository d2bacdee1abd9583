//! Simulates an experiment as LogGP messages, with the tasks that the model `loggp` plans.

use weir_models::LoggpMessage;
use weir_plugin_api::{CallError, Flags, Grant, HORIZON, PhaseView, Plan, PlannedWork, RateArbiter, SimTime};
use weir_scenario::{DeviceEngines, PlanTarget, Shares};
use weir_sim_core::{Fabric, Outcome, Routes, RunOptions, Simulation, TaskGraphBuilder, TaskId};

use super::error::FitError;
use super::parameter::Loggp;
use super::prepared::Prepared;
use super::runs::STRETCHED;

/// Messages of one experiment that are simulated one by one; *assumed*, windows of OSU have 64.
const MOST_MESSAGES: u32 = 10_000;

/// The times that were measured of an experiment, each of its transfers a row of messages.
pub(super) fn seconds(e: &Prepared, loggp: &Loggp) -> Result<Vec<f64>, FitError> {
    let bytes: f64 = e.transfers.iter().map(|t| t.bytes as f64).sum();
    let one = loggp.latency + 2.0 * loggp.overhead + loggp.gap;
    let messages = e.messages.min(MOST_MESSAGES);
    let total = f64::from(messages) * (one * e.transfers.len() as f64 + bytes * loggp.per_byte);
    let stretch = if total > 0.0 { (STRETCHED / total).clamp(1.0, 1e12) } else { 1.0 };
    let outcome = simulate(e, loggp, stretch)?;
    let reply = e.reply.as_ref().map_or(0.0, |(_, bytes)| {
        2.0 * loggp.overhead + loggp.latency + bytes.saturating_sub(1) as f64 * loggp.per_byte
    });
    // Per transfer its last arrival: after the release of the plan, tasks come in pairs, sent and arrival.
    let end = |at: usize| {
        let last = (at + 1) * messages as usize * 2;
        let alone = outcome.tasks[last].end.0 as f64 * 1e-12 / stretch;
        alone + (e.steps - 1.0) * (loggp.latency + 2.0 * loggp.overhead) + reply
    };
    Ok(e.of_ends(end))
}

/// Runs the messages with all times multiplied by `stretch`.
fn simulate(e: &Prepared, loggp: &Loggp, stretch: f64) -> Result<Outcome, FitError> {
    let ps = |seconds: f64| (seconds * stretch * 1e12).clamp(0.0, HORIZON.0 as f64);
    let mut plan = Plan::new();
    for transfer in &e.transfers {
        let message = LoggpMessage {
            from: transfer.from,
            slots: 1,
            overhead_ps: ps(loggp.overhead),
            gap_ps: ps(loggp.gap),
            sending: PlannedWork::Lasts(ps(transfer.bytes.saturating_sub(1) as f64 * loggp.per_byte)),
            arriving_ps: ps(loggp.latency + loggp.overhead),
        };
        for _ in 0..e.messages.min(MOST_MESSAGES) {
            message.plan(&mut plan);
        }
    }
    let (fabric, mut routes, mut builder) = (Fabric::default(), Routes::new(), TaskGraphBuilder::new());
    let engines = &DeviceEngines::default();
    let target = &mut PlanTarget { fabric: &fabric, engines, builder: &mut builder, routes: &mut routes };
    let added = target.add(&plan, SimTime::ZERO, Shares { weight: 1.0, priority: 0 });
    added.map_err(|_| FitError::Internal("one engine of messages has two numbers of slots"))?;
    let tasks = builder.build().map_err(|_: Vec<TaskId>| FitError::Internal("a cycle of messages"))?;
    let simulation = Simulation { fabric: &fabric, routes: &routes, tasks: &tasks };
    Ok(simulation.run(&mut NoLinks, Flags::PURE, RunOptions::default())?)
}

/// The arbiter of runs without links: it is never asked.
struct NoLinks;

impl RateArbiter for NoLinks {
    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        Err(CallError::Failed("there are no links".to_owned()))
    }
}
