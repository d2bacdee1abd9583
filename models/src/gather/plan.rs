//! The tasks of a gather.
//!
//! ```text
//! r[j][k]: node j reads its device k (its engine io)
//! m[j][k]: a message of node j to the root (the root's nic, one at a time)
//!
//! approach 1   one chain: r m r m … in the order of nodes, then devices; the root's parts need no message
//! approach 2   r[j][k] ──► m[j][k]
//!              barrier: r[root][k], m[*][k] ──► bar[k] ──► r[*][k+1];  free: m[j][k] ──► r[j][k+1]
//! approach 3   r[j][0] ──► r[j][1] … ──► m[j]
//! ```

use weir_plugin_api::{EngineScope, NodeId, Plan, PlannedTask, PlannedWork, Queue, Wait};

use super::params::Rounds;
use super::resolve::Gather;
use crate::operation::{Ends, Name};

/// Adds the tasks of a gather.
pub(super) fn plan(gather: &Gather, plan: &mut Plan) {
    let device = |node: u32| EngineScope::Device(NodeId(node));
    let io = gather.nodes.iter().map(|&node| plan.engine("io", 1, device(node))).collect();
    let nic = plan.engine("nic", 1, device(gather.nodes[gather.root]));
    let mut tasks = Tasks { gather, plan, io, nic, name: Name::default() };
    match gather.approach {
        1 => tasks.one_after_the_other(),
        2 => tasks.rounds(),
        _ => tasks.collected(),
    }
}

struct Tasks<'a> {
    gather: &'a Gather,
    plan: &'a mut Plan,
    io: Vec<u32>,
    nic: u32,
    name: Name,
}

impl Tasks<'_> {
    fn read(&mut self, node: usize, device: usize, after: Option<u32>) -> u32 {
        let gather = self.gather;
        let time = gather.reads[node * gather.devices + device];
        let work = gather.read.work(gather.size, time, gather.read_ends(node, device));
        let waits = after.map(Wait::end);
        let name = self.name.pair("r", node as u64, device as u64);
        let task = PlannedTask::new(name, waits.as_slice(), work).on(self.io[node], Queue::Ready);
        self.plan.task(&task.paced(0, 0.0, gather.read.gap()))
    }

    fn message(&mut self, node: usize, device: usize, after: u32) -> u32 {
        let gather = self.gather;
        let ends = Ends::new(gather.nodes[node], gather.nodes[gather.root]);
        // A plan with messages has a network; without one they would take no time.
        let network = gather.network.as_ref();
        let work = network.map_or(PlannedWork::Nothing, |n| n.work(gather.message(), gather.messages[node], ends));
        let name = self.name.pair("m", node as u64, device as u64);
        let waits = [Wait::end(after)];
        let task = PlannedTask::new(name, &waits, work).on(self.nic, Queue::Ready);
        self.plan.task(&task.paced(0, 0.0, network.map_or(0.0, |n| n.gap())))
    }

    fn one_after_the_other(&mut self) {
        let mut last = None;
        for node in 0..self.gather.nodes.len() {
            for device in 0..self.gather.devices {
                let read = self.read(node, device, last);
                last = Some(if node == self.gather.root { read } else { self.message(node, device, read) });
            }
        }
    }

    fn rounds(&mut self) {
        let nodes = self.gather.nodes.len();
        // Per node: what its next read waits for.
        let mut before: Vec<Option<u32>> = vec![None; nodes];
        for device in 0..self.gather.devices {
            let reads: Vec<u32> = (0..nodes).map(|node| self.read(node, device, before[node])).collect();
            let ends = |(node, &read)| match node == self.gather.root {
                true => read,
                false => self.message(node, device, read),
            };
            let ends: Vec<u32> = reads.iter().enumerate().map(ends).collect();
            before = match self.gather.rounds {
                Rounds::Free => ends.into_iter().map(Some).collect(),
                Rounds::Barrier => vec![Some(self.barrier(device, &ends)); nodes],
            };
        }
    }

    fn barrier(&mut self, round: usize, ends: &[u32]) -> u32 {
        let waits: Vec<Wait> = ends.iter().copied().map(Wait::end).collect();
        self.plan.task(&PlannedTask::new(self.name.of("bar", round as u64), &waits, PlannedWork::Nothing))
    }

    fn collected(&mut self) {
        for node in 0..self.gather.nodes.len() {
            let first = self.read(node, 0, None);
            let last = (1..self.gather.devices).fold(first, |before, device| self.read(node, device, Some(before)));
            if node != self.gather.root {
                self.message(node, 0, last);
            }
        }
    }
}
