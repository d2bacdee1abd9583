//! The slow twin: evaluates a plan of fixed times instant by instant, straight from the rule of the contract. Nothing
//! is kept between instants but the times of tasks; every queue is sorted anew.

use weir_plugin_api::{Moment, Plan, PlannedTask, PlannedWork, Queue, Wait};

use super::whole;

/// The times of a task, ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    pub ready: u64,
    pub start: u64,
    pub end: u64,
}

struct State<'a> {
    plan: &'a Plan,
    tasks: Vec<PlannedTask<'a>>,
    ready: Vec<Option<u64>>,
    served: Vec<Option<(u64, u64)>>,
    /// Per engine and slot: end and class of its last task.
    slots: Vec<Vec<Option<(u64, u32)>>>,
}

/// The times of all tasks.
pub fn evaluate(plan: &Plan) -> Vec<At> {
    let tasks: Vec<_> = plan.iter().collect();
    let slots = plan.engines().iter().map(|e| vec![None; e.slots as usize]).collect();
    let (ready, served) = (vec![None; tasks.len()], vec![None; tasks.len()]);
    let mut state = State { plan, tasks, ready, served, slots };
    let mut now = 0;
    loop {
        while state.step(now) {}
        let moments = state.served.iter().flatten().flat_map(|&(start, end)| [start, end]);
        let Some(next) = moments.filter(|&moment| moment > now).min() else { break };
        now = next;
    }
    let at = |i: usize| {
        let (start, end) = state.served[i].unwrap_or_else(|| panic!("{} never starts", state.tasks[i].name));
        At { ready: state.ready[i].unwrap(), start, end }
    };
    (0..state.tasks.len()).map(at).collect()
}

impl State<'_> {
    /// Does one thing that is due, readiness before engines; false when nothing is.
    fn step(&mut self, now: u64) -> bool {
        let due = (0..self.tasks.len()).find(|&i| self.ready[i].is_none() && self.waited(i, now));
        if let Some(i) = due {
            self.ready[i] = Some(now);
            if self.tasks[i].engine.is_none() {
                self.serve(i, None, now);
            }
            return true;
        }
        (0..self.plan.engines().len()).any(|engine| self.dispatch(engine, now))
    }

    fn waited(&self, i: usize, now: u64) -> bool {
        let happened = |wait: &Wait| match (self.served[wait.task as usize], wait.moment) {
            (Some((start, _)), Moment::Start) => start <= now,
            (Some((_, end)), Moment::End) => end <= now,
            (None, _) => false,
        };
        self.tasks[i].waits.iter().all(happened)
    }

    /// Gives a free slot to the head of the queue, if it is ready.
    fn dispatch(&mut self, engine: usize, now: u64) -> bool {
        let place = |i: usize| match self.tasks[i].queue {
            Queue::Issued => Some((0, i)),
            Queue::Ready => self.ready[i].map(|ready| (ready, i)),
        };
        let here = |&i: &usize| self.tasks[i].engine == Some(engine as u32) && self.served[i].is_none();
        let Some((_, head)) = (0..self.tasks.len()).filter(here).filter_map(place).min() else { return false };
        let free = |slot: &usize| self.slots[engine][*slot].is_none_or(|(end, _)| end <= now);
        let longest = |slot: &usize| (self.slots[engine][*slot].map_or(0, |(end, _)| end), *slot);
        let slot = (0..self.slots[engine].len()).filter(free).min_by_key(longest);
        match (self.ready[head], slot) {
            (Some(_), Some(slot)) => {
                self.serve(head, Some((engine, slot)), now);
                true
            }
            _ => false,
        }
    }

    /// start = same class before it: max(ready + lead, end of previous + gap); other class: max(ready, end of
    /// previous) + lead; nothing before it: ready + lead.
    fn serve(&mut self, i: usize, slot: Option<(usize, usize)>, now: u64) {
        let task = &self.tasks[i];
        let (lead, gap, ready) = (whole(task.lead_ps), whole(task.gap_ps), self.ready[i].expect("served when ready"));
        let start = match slot.and_then(|(engine, slot)| self.slots[engine][slot]) {
            None => ready + lead,
            Some((end, class)) if class == task.class => (ready + lead).max(end + gap),
            Some((end, _)) => ready.max(end) + lead,
        };
        assert!(start >= now || slot.is_some(), "nothing begins in the past");
        let end = match task.work {
            PlannedWork::Nothing => start,
            PlannedWork::Lasts(ps) => start + whole(ps),
            PlannedWork::Carries { .. } => panic!("{} has no fixed time", task.name),
        };
        self.served[i] = Some((start, end));
        if let Some((engine, slot)) = slot {
            self.slots[engine][slot] = Some((end, task.class));
        }
    }
}
