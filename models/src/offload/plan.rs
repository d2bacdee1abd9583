//! The tasks of an offload.
//!
//! ```text
//! streams, hybrid:  h0 h1 …  (copy engine)     k0 k1 …  (compute)     d0 d1 …  (copy engine, or mapped-out)
//!                   h[i] ──► k[i] ──► d[i];  with implicit synchronisation k[n−1] ──► every d[i]
//! mapped:           in, kernel, out side by side ──► done
//! ```
//!
//! Equal chunks, issued breadth first: all copies in, all kernels, all copies out. An engine starts a copy at
//! max(ready + L, end of the previous + g), and at max(ready, end of the previous) + L where it turns round.

use weir_plugin_api::{EngineScope, NodeId, Plan, PlannedTask, PlannedWork, Queue, Wait};

use super::params::Method;
use super::resolve::{Offload, Way};
use crate::level::carries;
use crate::operation::{Ends, Name};

/// Direction of copies to the device.
const IN: u32 = 0;
/// Direction of copies from the device.
const OUT: u32 = 1;

/// Adds the tasks of an offload.
pub(super) fn plan(offload: &Offload, plan: &mut Plan) {
    if offload.method == Method::Mapped {
        mapped(offload, plan);
    } else {
        Pieces::new(offload, plan).add(plan);
    }
}

/// Equation (6): three parts side by side; the second latency at the end of all.
fn mapped(offload: &Offload, plan: &mut Plan) {
    let compute = plan.engine("compute", 1, EngineScope::Device(NodeId(offload.device)));
    let lead = offload.into.lead;
    let begin = |name, work| PlannedTask::new(name, &[], work).paced(0, lead, 0.0);
    let whole = |way: &Way, out| work(offload, way, out, way.bytes as f64, way.bytes);
    let waits = [
        plan.task(&begin("in", whole(&offload.into, false))),
        plan.task(&begin("kernel", PlannedWork::Lasts(offload.kernel)).on(compute, Queue::Issued)),
        plan.task(&begin("out", whole(&offload.out, true))),
    ]
    .map(Wait::end);
    plan.task(&PlannedTask::new("done", &waits, PlannedWork::Lasts(offload.out.lead)));
}

/// What a copy of one chunk does: `real` bytes by the parameters, `whole` ones over the fabric.
fn work(offload: &Offload, way: &Way, out: bool, real: f64, whole: u64) -> PlannedWork {
    match offload.fabric {
        Some(host) if whole > 0 => {
            let ends = if out { Ends::new(offload.device, host) } else { Ends::new(host, offload.device) };
            carries(ends, whole)
        }
        Some(_) => PlannedWork::Lasts(0.0),
        None => PlannedWork::Lasts(real * way.per_byte),
    }
}

/// The pieces of an offload in streams; their tasks stand by stream or by kind.
struct Pieces<'a> {
    offload: &'a Offload,
    n: u64,
    copy_in: u32,
    compute: u32,
    copy_out: u32,
    names: Name,
}

impl<'a> Pieces<'a> {
    fn new(offload: &'a Offload, plan: &mut Plan) -> Self {
        let device = EngineScope::Device(NodeId(offload.device));
        // A device has one number of copy engines: the host refuses `copy` with two. With one, it is `send`, too.
        let copy = plan.engine("copy", u32::from(offload.engines), device);
        let copy_in = if offload.engines == 1 { copy } else { plan.engine("copy-in", 1, device) };
        let compute = plan.engine("compute", 1, device);
        let copy_out = match offload.method {
            Method::Hybrid => plan.engine("mapped-out", 1, device),
            _ if offload.engines == 1 => copy_in,
            _ => plan.engine("send", 1, device),
        };
        Self { offload, n: offload.pieces(), copy_in, compute, copy_out, names: Name::default() }
    }

    fn add(mut self, plan: &mut Plan) {
        if self.offload.switches.depth_first {
            for i in 0..self.n {
                self.copy_to(i, plan);
                self.kernel(i, plan);
                self.copy_from(i, plan);
            }
            return;
        }
        (0..self.n).for_each(|i| self.copy_to(i, plan));
        (0..self.n).for_each(|i| self.kernel(i, plan));
        (0..self.n).for_each(|i| self.copy_from(i, plan));
    }

    /// Where a task of stream `i` stands: copies in are kind 0, kernels 1, copies out 2.
    fn at(&self, kind: u64, i: u64) -> u32 {
        let at = if self.offload.switches.depth_first { i * 3 + kind } else { kind * self.n + i };
        at as u32 // the number of tasks is bounded
    }

    fn copy_to(&mut self, i: u64, plan: &mut Plan) {
        let (way, engine) = (&self.offload.into, self.copy_in);
        let work = self.chunk(way, false, i);
        let task = PlannedTask::new(self.names.of("h", i), &[], work);
        plan.task(&issued(self.offload, task, engine, IN, way));
    }

    fn kernel(&mut self, i: u64, plan: &mut Plan) {
        let waits = [Wait::end(self.at(0, i))];
        let work = PlannedWork::Lasts(self.offload.kernel / self.n as f64);
        plan.task(&PlannedTask::new(self.names.of("k", i), &waits, work).on(self.compute, Queue::Issued));
    }

    fn copy_from(&mut self, i: u64, plan: &mut Plan) {
        let (way, engine) = (&self.offload.out, self.copy_out);
        let (own, last) = (self.at(1, i), self.at(1, self.n - 1));
        let released_at_start = self.offload.switches.sync_released_at_start;
        // Nothing is copied out before its own kernel has made it, whenever the synchronisation is released.
        let waits: &[Wait] = match self.offload.waits_for_last() {
            true if released_at_start => &[Wait::end(own), Wait::start(last)],
            true => &[Wait::end(last)],
            false => &[Wait::end(own)],
        };
        let work = self.chunk(way, true, i);
        let task = PlannedTask::new(self.names.of("d", i), waits, work);
        plan.task(&issued(self.offload, task, engine, OUT, way));
    }

    /// Chunk `i` of one direction; of whole ones the first (B mod n) are a byte longer.
    fn chunk(&self, way: &Way, out: bool, i: u64) -> PlannedWork {
        let whole = way.bytes / self.n + u64::from(i < way.bytes % self.n);
        let real = if self.offload.switches.whole_bytes { whole as f64 } else { way.bytes as f64 / self.n as f64 };
        work(self.offload, way, out, real, whole)
    }
}

/// A copy on its engine; one of nothing, which nobody issues, holds none.
fn issued<'t>(offload: &Offload, task: PlannedTask<'t>, engine: u32, class: u32, way: &Way) -> PlannedTask<'t> {
    if offload.issues(way) { paced(offload, task.on(engine, Queue::Issued), class, way) } else { task }
}

/// With the full latency the gap is one more latency: max(ready + L, end + L).
fn paced<'t>(offload: &Offload, task: PlannedTask<'t>, class: u32, way: &Way) -> PlannedTask<'t> {
    let gap = if offload.switches.full_latency { way.lead } else { way.gap };
    task.paced(class, way.lead, gap)
}
