//! `put`: a transfer between devices of two machines in levels, in packets whose steps overlap.
//!
//! ```text
//! device ── read ──► cpu ── network ──► cpu ── write ──► device
//! r[i]: the source's send      n[i]: its cpu's nic       w[i]: the target's copy-in; of an FPGA its dma
//! ```
//!
//! **Definition.** The steps of a packet follow each other. The first step of a group of `overlap` also waits for the
//! last step of the group for the packet before. The last packet takes the times of its own size. [`formula`] is the
//! closed form.
//! **Ties.** Packets never overtake each other: an engine serves in the order in which tasks are ready, and a packet
//! is ready for a step no sooner than the one before.
//! **Source.** Aggarwal, Yoon, George, Lam, Stitt, *Performance Modeling for Multilevel Communication in SHMEM+*, PGAS
//! 2010, sections 3, 5 and 6.

mod formula;
mod packets;
mod params;
mod resolve;

use serde::Serialize;
use weir_plugin_api::{Alternative, CallError, Estimates, Plan, PlannedTask, Queue, Surroundings, Wait};

use crate::operation::{self, Name, Operation, Resolved, choose, estimate, parse, read, seconds};
use params::{PutParams, StepName};
pub(crate) use resolve::Put;

/// `details` of the results: `steps` in seconds of a full packet, `bandwidth` in B/s by the estimate.
#[derive(Serialize)]
struct Details {
    packets: u64,
    packet: Option<u64>,
    steps: serde_json::Map<String, serde_json::Value>,
    bandwidth: f64,
}

impl Resolved for Put {
    const NAME: &'static str = "put";
    type Params = PutParams;

    fn new(operation: Operation<PutParams>, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        Self::of(&operation.params, surroundings)
    }

    fn plan(&self, plan: &mut Plan) {
        add_tasks(self, plan);
    }

    fn estimates(&self, _: &Surroundings<'_>) -> Result<Estimates, CallError> {
        let departures = self.departures();
        let time = estimate("eq15", self.eq15(), departures.relation(), &departures.because())?;
        let details = Details {
            packets: self.packets(),
            packet: self.packet,
            steps: self.steps.iter().map(|s| (s.name.key().to_owned(), seconds(s.time).into())).collect(),
            bandwidth: if time.seconds > 0.0 { self.bytes as f64 / time.seconds } else { 0.0 },
        };
        Ok(Estimates { list: vec![time], details: operation::details(&details)? })
    }

    fn alternatives(
        operation: &str,
        surroundings: &Surroundings<'_>,
        out: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let choices = packets::choices(&parse::<Self>(operation)?.params)?;
        choose(operation, "packet", Some("packets"), choices.into_iter(), out)?;
        // What no level has measured, or is cut too small, cannot be tried. Where nothing can, planning the first says why.
        let known: Vec<bool> = out.iter().map(|way| read::<Self>(&way.operation, surroundings).is_ok()).collect();
        if known.contains(&true) {
            let mut known = known.into_iter();
            out.retain(|_| known.next().unwrap_or(false));
        }
        Ok(())
    }
}

/// The tasks, packet by packet: step s of packet i is task i · steps + s.
fn add_tasks(put: &Put, plan: &mut Plan) {
    let engines: Vec<u32> = put.steps.iter().map(|step| plan.engine(step.engine.0, 1, step.engine.1)).collect();
    let (count, packets) = (put.steps.len() as u64, put.packets());
    let mut name = Name::default();
    for i in 0..packets {
        let last = i + 1 == packets;
        let bytes = if last { put.last() } else { put.full() };
        for (s, step) in put.steps.iter().enumerate() {
            let at = i * count + s as u64;
            // The task before of this packet, and the end of the group for the packet before.
            let before = (s > 0).then(|| at - 1);
            let group = (step.opens && i > 0).then(|| at - count + step.group as u64 - 1);
            // The number of tasks is bounded.
            let waits = [before, group].map(|task| Wait::end(task.unwrap_or_default() as u32));
            let waits = match (before, group) {
                (Some(_), Some(_)) => &waits[..],
                (Some(_), None) => &waits[..1],
                (None, Some(_)) => &waits[1..],
                (None, None) => &[],
            };
            let time = if last { step.last_time } else { step.time };
            let work = step.level.work(bytes, time, step.ends);
            let task = PlannedTask::new(name.of(letter(step.name), i), waits, work).on(engines[s], Queue::Ready);
            plan.task(&task.paced(0, 0.0, step.level.gap()));
        }
    }
}

fn letter(step: StepName) -> &'static str {
    match step {
        StepName::Read => "r",
        StepName::Network => "n",
        StepName::Write => "w",
    }
}
