//! Orders by number, and numbers of orders.

use weir_sim_core::TaskId;

use super::plan::Plan;
use crate::order::problem::OrderProblem;
use crate::order::problem::sources::Source;

impl OrderProblem<'_> {
    /// The order of a number: per source its transfers in the order they are sent. None for a number that there is not.
    #[must_use]
    pub fn order(&self, number: u128) -> Option<Vec<Vec<TaskId>>> {
        let plan = Plan::new(self);
        plan.candidates.is_none_or(|all| number < all).then(|| self.named(&plan.order(number)))
    }

    /// The number of an order; none when it is no order of this problem, or there are more than 2^128.
    #[must_use]
    pub fn number(&self, order: &[Vec<TaskId>]) -> Option<u128> {
        let plan = Plan::new(self);
        plan.candidates?;
        Some(plan.number(&self.positions(order)?))
    }

    /// Names the messages of an order that is given as positions.
    pub(crate) fn named(&self, order: &[Vec<usize>]) -> Vec<Vec<TaskId>> {
        let task =
            |(s, sequence): (usize, &Vec<usize>)| sequence.iter().map(|&m| self.sources[s].messages[m].task).collect();
        order.iter().enumerate().map(task).collect()
    }

    /// The positions of an order's messages among their sources'; none when it is no order of this problem.
    pub(crate) fn positions(&self, order: &[Vec<TaskId>]) -> Option<Vec<Vec<usize>>> {
        let position = |source: &Source, task: TaskId| source.messages.iter().position(|m| m.task == task);
        let each = |(source, sequence): (&Source, &Vec<TaskId>)| -> Option<Vec<usize>> {
            let found: Vec<usize> = sequence.iter().map(|&t| position(source, t)).collect::<Option<_>>()?;
            let distinct: std::collections::BTreeSet<usize> = found.iter().copied().collect();
            (distinct.len() == source.messages.len() && found.len() == distinct.len()).then_some(found)
        };
        if order.len() != self.sources.len() {
            return None;
        }
        self.sources.iter().zip(order).map(each).collect()
    }
}
