//! Ids that rows give, of the transfers that may be named soon.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use weir_sim_core::TaskId;

/// Names kept of transfers that have left (*assumed*: what holds a transfer back is seldom older; then it is read again).
const KEPT: usize = 1 << 14;

/// The ids of active transfers, and of those that have left last.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// For look-up only.
    ids: FxHashMap<TaskId, Box<str>>,
    /// Those that have left, the first one first.
    left: VecDeque<TaskId>,
}

impl Names {
    pub(super) fn come(&mut self, task: TaskId, id: &str) {
        self.ids.insert(task, id.into());
    }

    pub(super) fn left(&mut self, task: TaskId) {
        if !self.ids.contains_key(&task) {
            return;
        }
        self.left.push_back(task);
        if self.left.len() > KEPT
            && let Some(oldest) = self.left.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }

    /// The id of a transfer, if it is kept.
    pub(super) fn get(&self, task: TaskId) -> Option<&str> {
        self.ids.get(&task).map(|id| &**id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_names_stay_and_old_ones_go() {
        let mut names = Names::default();
        for i in 0..2 * KEPT as u32 {
            names.come(TaskId(i), &format!("t{i}"));
            if i > 0 {
                names.left(TaskId(i));
            }
            names.left(TaskId(u32::MAX));
        }
        assert_eq!(names.get(TaskId(0)), Some("t0"), "has not left");
        assert_eq!(names.get(TaskId(KEPT as u32 - 1)), None);
        assert_eq!(names.get(TaskId(KEPT as u32)), Some("t16384"));
        assert_eq!(names.ids.len(), KEPT + 1);
    }
}
