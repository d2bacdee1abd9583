//! `loggp`: a plain transfer as one LogGP message.
//!
//! ```text
//! send (the source's engine): o, then (k − 1)·G, or the fabric ──► arrival: L + o
//! ```
//!
//! **Definition.** o + (k − 1)·G + L + o for k bytes ([`LogGp`](crate::level)); a message of the same source leaves
//! no sooner than g after the last byte of the one before, and its o overlaps that one. Over the fabric the bytes
//! leave at the arbiter's rate instead, and the latencies of the route come on top. A `limit` bounds the rate: G is
//! at least 1 / limit.
//! **Ties.** Messages of one source leave in the order in which they are ready.
//! **Source.** Alexandrov, Ionescu, Schauser, Scheiman, *LogGP: Incorporating Long Messages into the LogP Model for
//! Parallel Computation*, Journal of Parallel and Distributed Computing 44(1), 1997, section 2.

use schemars::JsonSchema;
use serde::Deserialize;
use weir_plugin_api::{
    CallError, EngineScope, Estimates, NodeId, PS_PER_S, Plan, PlannedTask, PlannedWork, Queue, Surroundings, Wait,
};

use crate::effect::{Departures, Effect};
use crate::level::after_first;
use crate::operation::{Ends, Operation, Over, PlainTransfer, Resolved, estimate, per_byte, refused, route};
use crate::quantities::{PerByte, Time};

/// The map under `model`, but for `name`.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoggpParams {
    /// L: time on the way.
    #[serde(default)]
    latency: Time,
    /// o: time of the sender before, and of the receiver after a message.
    #[serde(default)]
    overhead: Time,
    /// g: least time between two messages of one sender.
    #[serde(default)]
    gap: Time,
    /// G: time per byte after the first; needed unless over the fabric.
    #[serde(default)]
    #[schemars(with = "PerByte")]
    per_byte: Option<PerByte>,
    /// `fabric`: the bytes travel the topology instead of taking a time per byte.
    #[serde(default)]
    #[schemars(with = "Over")]
    over: Option<Over>,
}

/// A transfer with every value resolved.
pub(crate) struct LoggpTransfer {
    params: LoggpParams,
    transfer: PlainTransfer,
    /// G, ps; `None` over the fabric.
    per_byte: Option<f64>,
}

impl LoggpTransfer {
    fn sending(&self) -> PlannedWork {
        let t = &self.transfer;
        match self.per_byte {
            Some(per_byte) => PlannedWork::Lasts(after_first(t.bytes) * per_byte),
            None if t.bytes == 0 => PlannedWork::Lasts(0.0),
            None => PlannedWork::Carries {
                from: NodeId(t.from),
                to: NodeId(t.to),
                bytes: t.bytes,
                limit: t.limit.unwrap_or(f64::INFINITY),
            },
        }
    }

    /// The closed form, ps.
    fn time(&self, surroundings: &Surroundings<'_>) -> Result<f64, CallError> {
        let (t, params) = (&self.transfer, &self.params);
        let sending = match self.per_byte {
            Some(per_byte) => after_first(t.bytes) * per_byte,
            None if t.bytes == 0 => 0.0,
            None => {
                let route = route(surroundings, Ends::new(t.from, t.to), "over", "from source to target")?;
                let slowest = t.limit.map_or(0.0, |limit| PS_PER_S as f64 / limit);
                t.bytes as f64 * per_byte(&route).max(slowest) + route.latency_ps
            }
        };
        Ok(params.overhead.0 + sending + params.latency.0 + params.overhead.0)
    }
}

/// One LogGP message; times in ps, finite and ≥ 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoggpMessage {
    /// Its source, on whose engine `send` it is served.
    pub from: NodeId,
    /// Slots of that engine.
    pub slots: u32,
    /// o of the sender, which overlaps the message before.
    pub overhead_ps: f64,
    /// g: after the last byte of the message before.
    pub gap_ps: f64,
    /// (k − 1)·G, or the bytes over the fabric.
    pub sending: PlannedWork,
    /// L + o, from the last byte sent to the end.
    pub arriving_ps: f64,
}

impl LoggpMessage {
    /// Adds the two tasks of the message; returns the position of the second, at whose end it has arrived.
    pub fn plan(&self, plan: &mut Plan) -> u32 {
        let send = plan.engine("send", self.slots, EngineScope::Device(self.from));
        let sending = PlannedTask::new("send", &[], self.sending).on(send, Queue::Ready);
        let sent = [Wait::end(plan.task(&sending.paced(0, self.overhead_ps, self.gap_ps)))];
        plan.task(&PlannedTask::new("arrival", &sent, PlannedWork::Lasts(self.arriving_ps)))
    }
}

impl Resolved for LoggpTransfer {
    const NAME: &'static str = "loggp";
    const KEY: &'static str = "transfer";
    type Params = LoggpParams;

    fn new(operation: Operation<LoggpParams>, _: &Surroundings<'_>) -> Result<Self, CallError> {
        let Operation { params, transfer } = operation;
        let Some(transfer) = transfer else {
            return Err(refused("`loggp` models plain transfers; write `transfer: { …, model: { name: loggp, … } }`"));
        };
        if transfer.limit.is_some_and(|limit| !(limit.is_finite() && limit > 0.0)) || transfer.slots == Some(0) {
            return Err(refused("the transfer's limit and slots must be above 0"));
        }
        let slowest = transfer.limit.map_or(0.0, |limit| PS_PER_S as f64 / limit);
        let per_byte = match (params.over, params.per_byte) {
            (None, Some(per_byte)) => Some(per_byte.0.max(slowest)),
            (Some(Over::Fabric), None) => None,
            (None, None) => return Err(refused("per_byte: it is missing; give a time per byte, or `over: fabric`")),
            (Some(Over::Fabric), Some(_)) => {
                return Err(refused("per_byte: with `over: fabric` the links set it; remove one of the two"));
            }
        };
        Ok(Self { params, transfer, per_byte })
    }

    fn plan(&self, plan: &mut Plan) {
        let (params, t) = (&self.params, &self.transfer);
        let message = LoggpMessage {
            from: NodeId(t.from),
            slots: t.slots.unwrap_or(1),
            overhead_ps: params.overhead.0,
            gap_ps: params.gap.0,
            sending: self.sending(),
            arriving_ps: params.latency.0 + params.overhead.0,
        };
        message.plan(plan);
    }

    fn estimates(&self, surroundings: &Surroundings<'_>) -> Result<Estimates, CallError> {
        let mut departures = Departures::default();
        if self.per_byte.is_none() {
            departures.add(Effect::More, "over: fabric: the formula assumes that the links are the transfer's own");
        }
        let time = self.time(surroundings)?;
        let list = vec![estimate("loggp", time, departures.relation(), &departures.because())?];
        Ok(Estimates { list, details: String::new() })
    }
}
