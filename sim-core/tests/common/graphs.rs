//! Random task graphs with engines, classes, leads, gaps, both kinds of queue and both kinds of waits.

use proptest::prelude::*;
use weir_sim_core::api::{EngineScope, Queue, SimDuration, SimTime};
use weir_sim_core::{Engine, EngineId, Routes, Service, ServiceId, Task, TaskGraphBuilder, TaskId, Work};

use super::{DrawTree, World, fabric, tree};

/// Times are multiples of this many ps, and so are those of transfers that are alone on links of 1 GB/s: much happens at
/// the same instant.
const UNIT: u64 = 1000;

#[derive(Clone, Debug)]
pub enum DrawWork {
    Join(bool),
    Lasts(u64),
    Carries { from: usize, to: usize, bytes: u64 },
}

/// A task as drawn; places are counted backwards, so that shrinking keeps them valid.
#[derive(Clone, Debug)]
pub struct DrawTask {
    pub start: u64,
    pub work: DrawWork,
    /// An engine, none where there are fewer.
    pub engine: usize,
    /// Class, lead, gap; `None` for a plain task.
    pub service: Option<(u32, u64, u64)>,
    /// Issued by the task this many places from the start, if that is earlier.
    pub issued_by: Option<usize>,
    /// Waits for the start (true) or end of the task this many places before.
    pub waits: Vec<(usize, bool)>,
}

#[derive(Clone, Debug)]
pub struct DrawGraph {
    pub tree: DrawTree,
    pub slots: Vec<u32>,
    pub tasks: Vec<DrawTask>,
}

fn work() -> impl Strategy<Value = DrawWork> {
    let carries = (0..100_usize, 0..100_usize, 1..6_u64);
    prop_oneof![
        1 => any::<bool>().prop_map(DrawWork::Join),
        4 => (0..6_u64).prop_map(DrawWork::Lasts),
        4 => carries.prop_map(|(from, to, bytes)| DrawWork::Carries { from, to, bytes }),
    ]
}

fn task() -> impl Strategy<Value = DrawTask> {
    let service = prop_oneof![1 => Just(None), 3 => (0..2_u32, 0..4_u64, 0..4_u64).prop_map(Some)];
    let start = prop_oneof![3 => Just(0), 1 => 0..8_u64];
    // Mostly by the first task: many different ones make most graphs block themselves.
    let issued = prop_oneof![6 => Just(None), 5 => Just(Some(0)), 1 => (0..4_usize).prop_map(Some)];
    let waits = prop::collection::vec((1..6_usize, prop::bool::weighted(0.3)), 0..3);
    (start, work(), 0..4_usize, service, issued, waits).prop_map(|(start, work, engine, service, issued_by, waits)| {
        DrawTask { start, work, engine, service, issued_by, waits }
    })
}

pub fn graph(tasks: std::ops::Range<usize>) -> impl Strategy<Value = DrawGraph> {
    let bandwidths = prop_oneof![3 => Just(Some(1e9)), 1 => Just(None)];
    let slots = prop::collection::vec(1..4_u32, 1..4);
    (tree(2..7), bandwidths, slots, prop::collection::vec(task(), tasks)).prop_map(
        |(mut tree, bandwidth, slots, tasks)| {
            if let Some(all) = bandwidth {
                tree.bandwidths.iter_mut().for_each(|b| *b = (all, all));
            }
            tree.latency = tree.latency / 700_000 * UNIT;
            DrawGraph { tree, slots, tasks }
        },
    )
}

impl DrawGraph {
    /// Fabric, routes and tasks; `None` when the tree has a single leaf.
    pub fn world(&self) -> Option<World> {
        let (fabric, leaves) = fabric(&self.tree, false);
        if leaves.len() < 2 {
            return None;
        }
        let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
        for &slots in &self.slots {
            graph.own_engine(Engine { scope: EngineScope::Operation, name: "e".into(), slots });
        }
        for (i, t) in self.tasks.iter().enumerate() {
            let work = match t.work {
                DrawWork::Join(counted) => Work::Nothing { counted },
                DrawWork::Lasts(units) => Work::Lasts(SimDuration(units * UNIT)),
                DrawWork::Carries { from, to, bytes } => {
                    let from = from % leaves.len();
                    let to = (from + 1 + to % (leaves.len() - 1)) % leaves.len();
                    let route = routes.between(&fabric, leaves[from], leaves[to]).expect("a tree connects");
                    Work::Carries { bytes, class: graph.classes().intern(route, f64::INFINITY, 1.0, 0) }
                }
            };
            let engine = if t.engine < self.slots.len() { EngineId(t.engine as u32) } else { EngineId::NONE };
            let issued_by = t.issued_by.filter(|&by| by < i && t.service.is_some());
            let service = t.service.map_or(ServiceId::PLAIN, |(class, lead, gap)| {
                let queue = if issued_by.is_some() { Queue::Issued } else { Queue::Ready };
                let (lead, gap) = (SimDuration(lead * UNIT), SimDuration(gap * UNIT));
                graph.service(Service { queue, class, lead, gap })
            });
            let task = graph.task(Task { start: SimTime(t.start * UNIT), engine, service, work });
            issued_by.inspect(|&by| graph.issue(task, TaskId(by as u32)));
            for &(back, start) in t.waits.iter().filter(|&&(back, _)| back <= i) {
                let earlier = TaskId((i - back) as u32);
                if start { graph.wait_start(task, earlier) } else { graph.wait(task, earlier) }
            }
        }
        Some(World { fabric, routes, tasks: graph.build().expect("waits point backwards") })
    }
}
