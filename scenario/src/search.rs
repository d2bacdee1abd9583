//! What searches for better scenarios ask: who sends what in which order, and what goes from rank to rank.

use std::borrow::Cow;

use weir_plugin_api::NodeId;
use weir_sim_core::TaskId;

use crate::diagnostic::Position;
use crate::scenario::Scenario;
use crate::workload::{Senders, contradiction, stages};

/// A device that sends one transfer after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The node whose engine `send` the transfers wait for.
    pub device: NodeId,
    /// Transfers that it sends at once.
    pub slots: u32,
    /// The tasks that hold its `send` engine, in the order in which it sends those that are ready at the same instant:
    /// that of `order` where it is given, else file order.
    pub tasks: Vec<TaskId>,
}

/// What a workload sends between the scenario's ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankTraffic {
    /// Every transfer from rank to rank, in file order: from rank, to rank, bytes.
    pub messages: Vec<(u32, u32, u64)>,
    /// The smallest `size` or `unit` of what made them, in bytes; `None` without any.
    pub unit: Option<u64>,
    /// The first part of the workload that sends between named devices, wherever the ranks are: a transfer, a trace, a
    /// pattern with `ranks` of its own, an operation of a model. `None` when every transfer goes from rank to rank.
    pub fixed: Option<Position>,
    /// Whether something runs on a rank, or goes from or to one.
    pub uses_ranks: bool,
}

impl Scenario {
    /// The devices that send one transfer after another, in the order of the first of each in the file.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        let senders = Senders::of(&self.tasks, &self.groups);
        let with_first = senders.iter().filter_map(|(device, engine, sent)| {
            let (_, first) = *sent.first()?;
            let own = self.orders.iter().find(|(other, _)| *other == device);
            let tasks = own.map_or_else(|| sent.iter().map(|&(_, task)| task).collect(), |(_, order)| order.clone());
            Some((first, Source { device, slots: self.tasks.engines()[engine.0 as usize].slots, tasks }))
        });
        let mut sources: Vec<(TaskId, Source)> = with_first.collect();
        sources.sort_unstable_by_key(|(first, _)| *first);
        sources.into_iter().map(|(_, source)| source).collect()
    }

    /// What each source sends, split where waits put all that comes before ahead of all that follows, as a barrier does.
    /// Any other order than one stage after the other contradicts a wait.
    #[must_use]
    pub fn stages(&self, sources: &[Source]) -> Vec<Vec<Vec<TaskId>>> {
        let sent: Vec<&[TaskId]> = sources.iter().map(|source| &*source.tasks).collect();
        stages(&self.tasks, &self.groups, &sent)
    }

    /// The id of a task as `order` takes it: of a task of an operation of a model the operation's.
    #[must_use]
    pub fn order_name(&self, task: TaskId) -> Cow<'_, str> {
        self.groups.name(self.groups.whole(task))
    }

    /// Lets devices send in other orders, each of all that [`Self::sources`] says it sends, in place of those set before.
    /// False, and nothing is changed, where these orders contradict what waits for what.
    pub fn reorder(&mut self, orders: Vec<(NodeId, Vec<TaskId>)>) -> bool {
        if contradiction(&self.tasks, orders.iter().map(|(_, order)| &**order)).is_some() {
            return false;
        }
        orders.iter().for_each(|(_, order)| self.tasks.set_order(order));
        self.orders = orders;
        true
    }

    /// What the workload sends between ranks.
    #[must_use]
    pub fn rank_traffic(&self) -> RankTraffic {
        RankTraffic {
            messages: self.traffic.messages(&self.groups, &self.tasks),
            unit: self.traffic.unit(),
            fixed: self.traffic.first_fixed().map(|span| self.sources.position(span)),
            uses_ranks: self.traffic.uses_ranks,
        }
    }
}
