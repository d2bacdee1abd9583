//! The same tasks with transfers that begin to send later, as by noise.

use weir_plugin_api::SimDuration;

use crate::service::{Service, ServiceId};
use crate::tasks::{TaskGraph, TaskId};

impl TaskGraph {
    /// The same tasks, in which each transfer begins to send later than it would by then, by its time in `delays`: one for
    /// each of [`Self::transfers`], in their order; none where `delays` ends before. A transfer keeps its place in the queue
    /// of its engine and holds its slot while it is delayed, so nothing overtakes it there. What waits for a transfer follows.
    ///
    /// One that was held up by an unready task ahead of it in the queue has spent its delay meanwhile, as it does a lead.
    #[must_use]
    pub fn delayed(&self, delays: impl IntoIterator<Item = SimDuration>) -> Self {
        let mut graph = self.clone();
        let transfers: Vec<TaskId> = self.transfers().map(|(task, _)| task).collect();
        for (task, delay) in transfers.into_iter().zip(delays).filter(|&(_, delay)| delay > SimDuration::ZERO) {
            let Service { lead, gap, .. } = self.service(task);
            let later = |span: SimDuration| SimDuration(span.0.saturating_add(delay.0));
            graph.services.push(Service { lead: later(lead), gap: later(gap), ..self.service(task) });
            graph.tasks[task.index()].service = ServiceId(graph.services.len() as u32 - 1);
        }
        graph
    }
}
