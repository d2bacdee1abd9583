//! Whether the tasks of a plan can be done in some order.
//!
//! Every task has two moments, the start of its work and its end. Before its start come the moments that it waits for
//! and, for a task that is issued in advance, what nobody overtakes on its engine: with one slot the end of the issued
//! task before it, with more its start. A cycle of moments is a plan that never ends.

use weir_plugin_api::{Moment, Plan, Queue};

/// Nothing before it.
const NONE: u32 = u32::MAX;

/// The tasks of a cycle, in order, beginning with the first of the plan; `None` where there is none. `same` names for
/// each engine the first that is the same, and its slots.
pub(super) fn cycle(plan: &Plan, same: &[(u32, u32)]) -> Option<Vec<u32>> {
    // Where every wait is for an earlier task, the order of the plan will do; issued tasks are in that order, too.
    let ahead = |(i, task): (usize, weir_plugin_api::PlannedTask<'_>)| task.waits.iter().all(|w| (w.task as usize) < i);
    if plan.iter().enumerate().all(ahead) {
        return None;
    }
    Moments::new(plan, same).cycle()
}

/// Moments and what comes before what. Moment 2 t is the start of task t, 2 t + 1 its end.
struct Moments {
    /// What follows a moment, as compressed rows.
    offsets: Vec<u32>,
    after: Vec<u32>,
    /// How many come before a moment.
    before: Vec<u32>,
}

impl Moments {
    fn new(plan: &Plan, same: &[(u32, u32)]) -> Self {
        let edges = edges(plan, same);
        let mut offsets = vec![0; 2 * plan.len() + 1];
        let mut before = vec![0; 2 * plan.len()];
        for &(earlier, later) in &edges {
            offsets[earlier as usize + 1] += 1;
            before[later as usize] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let (mut next, mut after) = (offsets.clone(), vec![0; edges.len()]);
        for (earlier, later) in edges {
            after[next[earlier as usize] as usize] = later;
            next[earlier as usize] += 1;
        }
        Self { offsets, after, before }
    }

    fn after(&self, moment: u32) -> &[u32] {
        &self.after[self.offsets[moment as usize] as usize..self.offsets[moment as usize + 1] as usize]
    }

    /// Takes moments away that nothing comes before; where some are left, each has one before it that is left too.
    fn cycle(&self) -> Option<Vec<u32>> {
        let mut before = self.before.clone();
        let mut free: Vec<u32> = (0..before.len() as u32).filter(|&m| before[m as usize] == 0).collect();
        while let Some(moment) = free.pop() {
            for &later in self.after(moment) {
                before[later as usize] -= 1;
                if before[later as usize] == 0 {
                    free.push(later);
                }
            }
        }
        let left = |moment: u32| before[moment as usize] > 0;
        let start = (0..before.len() as u32).find(|&moment| left(moment))?;
        let mut earlier = vec![NONE; before.len()];
        for moment in (0..before.len() as u32).filter(|&moment| left(moment)) {
            self.after(moment).iter().for_each(|&later| earlier[later as usize] = moment);
        }
        let (mut seen, mut at) = (vec![false; before.len()], start);
        while !std::mem::replace(&mut seen[at as usize], true) {
            at = earlier[at as usize];
        }
        let (first, mut tasks) = (at, vec![at / 2]);
        at = earlier[at as usize];
        while at != first {
            tasks.push(at / 2);
            at = earlier[at as usize];
        }
        tasks.reverse();
        Some(tidy(tasks))
    }
}

/// Both moments of a task count once, and the first task of the plan begins.
fn tidy(mut tasks: Vec<u32>) -> Vec<u32> {
    tasks.dedup();
    if tasks.len() > 1 && tasks.first() == tasks.last() {
        tasks.pop();
    }
    let first = (0..tasks.len()).min_by_key(|&i| tasks[i]).unwrap_or(0);
    tasks.rotate_left(first);
    tasks
}

/// Pairs (earlier, later) of moments.
fn edges(plan: &Plan, same: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut edges = Vec::with_capacity(4 * plan.len());
    let mut issued = vec![NONE; same.len()];
    for (i, task) in plan.iter().enumerate() {
        let (start, end) = (2 * i as u32, 2 * i as u32 + 1);
        edges.push((start, end));
        for wait in task.waits {
            edges.push((2 * wait.task + u32::from(wait.moment == Moment::End), start));
        }
        let Some(engine) = task.engine.filter(|_| task.queue == Queue::Issued) else { continue };
        let (engine, slots) = same[engine as usize];
        let last = std::mem::replace(&mut issued[engine as usize], i as u32);
        if last != NONE {
            edges.push((2 * last + u32::from(slots == 1), start));
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_plugin_api::{EngineScope, PlannedTask, PlannedWork, Wait};

    use super::*;

    type Spec = (Vec<(u32, bool)>, Option<u32>);

    /// Tasks of these waits (for a start where true) and issued to these engines, whose slots are given.
    fn plan(tasks: &[Spec], slots: &[u32]) -> Plan {
        let mut plan = Plan::new();
        for (i, &slots) in slots.iter().enumerate() {
            plan.engine(format!("e{i}"), slots, EngineScope::Operation);
        }
        for (i, (waits, engine)) in tasks.iter().enumerate() {
            let waits: Vec<Wait> =
                waits.iter().map(|&(t, start)| if start { Wait::start(t) } else { Wait::end(t) }).collect();
            let name = format!("t{i}");
            let task = PlannedTask::new(&name, &waits, PlannedWork::Lasts(1.0));
            plan.task(&engine.map_or(task, |engine| task.on(engine, Queue::Issued)));
        }
        plan
    }

    /// The slow and obvious twin: as if one after the other were begun or ended that may be, until nothing more may.
    fn ends(tasks: &[Spec], slots: &[u32]) -> bool {
        let n = tasks.len();
        let (mut begun, mut ended) = (vec![false; n], vec![false; n]);
        loop {
            let mut moved = false;
            for i in 0..n {
                let waits =
                    tasks[i].0.iter().all(|&(t, start)| if start { begun[t as usize] } else { ended[t as usize] });
                let queue = (0..i).filter(|&j| tasks[i].1.is_some() && tasks[j].1 == tasks[i].1);
                let mut earlier = queue.clone();
                let running = queue.filter(|&j| begun[j] && !ended[j]).count() as u32;
                let turn = earlier.all(|j| begun[j]) && tasks[i].1.is_none_or(|e| running < slots[e as usize]);
                if !begun[i] && waits && turn {
                    begun[i] = true;
                    moved = true;
                }
                if begun[i] && !ended[i] {
                    ended[i] = true;
                    moved = true;
                }
            }
            if !moved {
                return ended.iter().all(|&e| e);
            }
        }
    }

    proptest! {
        #[test]
        fn finds_a_cycle_where_tasks_get_stuck(
            tasks in proptest::collection::vec(
                (proptest::collection::vec((0..8_u32, any::<bool>()), 0..3), proptest::option::of(0..2_u32)),
                8,
            ),
            slots in proptest::array::uniform2(1..3_u32),
        ) {
            let found = cycle(&plan(&tasks, &slots), &[(0, slots[0]), (1, slots[1])]);
            prop_assert_eq!(found.is_none(), ends(&tasks, &slots));
        }
    }

    #[test]
    fn names_the_tasks_of_the_cycle_in_order() {
        let waits = |t: u32| vec![(t, false)];
        // t1 after t3, t2 after t1, t3 after t2: t1 comes before t2 before t3.
        let tasks = [(vec![], None), (waits(3), None), (waits(1), None), (waits(2), None)];
        assert_eq!(cycle(&plan(&tasks, &[]), &[]), Some(vec![1, 2, 3]));
        // Waits for itself.
        assert_eq!(cycle(&plan(&[(waits(0), None)], &[]), &[]), Some(vec![0]));
        // t0 waits for the end of t1, which stands behind it in the queue. A second slot is of no use: t1 cannot take it
        // before t0 has taken the first.
        let queue = [(waits(1), Some(0)), (vec![], Some(0))];
        assert_eq!(cycle(&plan(&queue, &[1]), &[(0, 1)]), Some(vec![0, 1]));
        assert_eq!(cycle(&plan(&queue, &[2]), &[(0, 2)]), Some(vec![0, 1]));
        // On another engine t1 goes first.
        let other = [(waits(1), Some(0)), (vec![], Some(1))];
        assert_eq!(cycle(&plan(&other, &[1, 1]), &[(0, 1), (1, 1)]), None);
    }
}
