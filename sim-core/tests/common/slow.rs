//! The rules of design "Time and numbers" and of engines written down once more, without any cleverness: at every instant
//! everything is looked at, and the arbiter is asked for all active transfers.

use weir_sim_core::api::{Binding, Grant, PhaseView, Queue, RateArbiter, SimDuration, SimTime, TransferId};
use weir_sim_core::{EngineId, TaskId, TaskTimes, Work, remaining_after, time_to_send};

use super::World;

struct Flowing {
    task: usize,
    remaining: f64,
    since: SimTime,
    rate: f64,
    end: SimTime,
    arrival: SimTime,
}

struct Slow<'w> {
    world: &'w World,
    now: u64,
    times: Vec<TaskTimes>,
    /// When a task took its place on its engine.
    place: Vec<SimTime>,
    /// When the work of a task begins, once that is known.
    begin: Vec<SimTime>,
    /// Who took a slot: (engine, slot, task), in this order.
    taken: Vec<(EngineId, u32, usize)>,
    flowing: Vec<Flowing>,
    due: Vec<SimTime>,
}

/// Times of all tasks; or, when some can never start, those which wait for their engine.
pub fn run(world: &World, arbiter: &mut dyn RateArbiter) -> Result<Vec<TaskTimes>, Vec<TaskId>> {
    let count = world.tasks.tasks().len();
    let never = vec![SimTime::NEVER; count];
    let mut s = Slow {
        world,
        now: 0,
        times: vec![TaskTimes::NEVER; count],
        place: never.clone(),
        begin: never,
        taken: Vec::new(),
        flowing: Vec::new(),
        due: world.tasks.tasks().iter().map(|t| t.start).collect(),
    };
    while let Some(next) = s.due.iter().copied().chain(s.flowing.iter().map(|f| f.end)).min() {
        assert!(!next.is_never(), "the slow simulator is stuck");
        s.now = next.0;
        s.due.retain(|&t| t > next);
        let before: Vec<usize> = s.flowing.iter().map(|f| f.task).collect();
        s.instant();
        if before != s.flowing.iter().map(|f| f.task).collect::<Vec<_>>() {
            rate(world, arbiter, &mut s.flowing, next);
        }
    }
    if s.times.iter().all(|t| !t.end.is_never()) {
        return Ok(s.times);
    }
    let waits = |t: &usize| s.engine(*t) != EngineId::NONE && (s.is_ready(*t) || !s.place[*t].is_never());
    Err((0..count).filter(|&t| s.times[t].start.is_never()).filter(waits).map(|t| TaskId(t as u32)).collect())
}

impl Slow<'_> {
    fn engine(&self, task: usize) -> EngineId {
        self.world.tasks.tasks()[task].engine
    }

    fn is_ready(&self, task: usize) -> bool {
        !self.times[task].ready.is_never()
    }

    fn carries(&self, task: usize) -> bool {
        matches!(self.world.tasks.tasks()[task].work, Work::Carries { .. })
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.times.len()
    }

    /// All of one instant but the rates: in turns, until a turn starts nothing. Transfers get slots only in a turn in
    /// which nothing else starts.
    fn instant(&mut self) {
        let now = SimTime(self.now);
        for f in self.flowing.extract_if(.., |f| f.end == now) {
            self.times[f.task].sent = now;
        }
        for task in self.all() {
            if let Work::Lasts(span) = self.world.tasks.tasks()[task].work
                && self.times[task].start.0.checked_add(span.0) == Some(self.now)
            {
                self.times[task].sent = now;
            }
        }
        loop {
            self.arrive();
            self.make_ready();
            self.take_places();
            self.give_slots(false);
            if self.starting().is_empty() {
                self.give_slots(true);
            }
            let starting = self.starting();
            if starting.is_empty() {
                return;
            }
            starting.into_iter().for_each(|task| self.start(task));
        }
    }

    fn arrive(&mut self) {
        for task in self.all() {
            let t = self.times[task];
            if !t.sent.is_never() && t.end.is_never() {
                let arrival = t.sent.after(latency(self.world, task));
                if arrival.0 <= self.now {
                    self.times[task].end = SimTime(self.now);
                } else {
                    self.due.push(arrival);
                }
            }
        }
    }

    fn make_ready(&mut self) {
        let mut waits_left: Vec<u32> = self.all().map(|t| self.world.tasks.waits(TaskId(t as u32))).collect();
        for task in self.all() {
            let id = TaskId(task as u32);
            if !self.times[task].end.is_never() {
                self.world.tasks.successors(id).iter().for_each(|next| waits_left[next.index()] -= 1);
            }
            if !self.times[task].start.is_never() {
                self.world.tasks.start_successors(id).iter().for_each(|next| waits_left[next.index()] -= 1);
            }
        }
        for task in self.all() {
            if !self.is_ready(task) && waits_left[task] == 0 && self.world.tasks.tasks()[task].start.0 <= self.now {
                self.times[task].ready = SimTime(self.now);
                if self.engine(task) == EngineId::NONE {
                    let lead = self.world.tasks.service(TaskId(task as u32)).lead.0;
                    self.will_begin(task, self.now + lead);
                }
            }
        }
    }

    fn will_begin(&mut self, task: usize, begin: u64) {
        self.begin[task] = SimTime(begin);
        self.due.push(SimTime(begin));
    }

    fn take_places(&mut self) {
        for task in self.all() {
            let id = TaskId(task as u32);
            let takes = match self.world.tasks.service(id).queue {
                Queue::Ready => self.is_ready(task),
                Queue::Issued => self.all().any(|by| {
                    !self.times[by].end.is_never() && self.world.tasks.issued_at(TaskId(by as u32)).contains(&id)
                }),
            };
            if takes && self.engine(task) != EngineId::NONE && self.place[task].is_never() {
                self.place[task] = SimTime(self.now);
            }
        }
    }

    fn give_slots(&mut self, transfers_too: bool) {
        let mut queue: Vec<usize> =
            self.all().filter(|&t| !self.place[t].is_never() && self.begin[t].is_never()).collect();
        queue.sort_by_key(|&t| (self.place[t], t));
        let mut blocked = Vec::new();
        for task in queue {
            let engine = self.engine(task);
            if blocked.contains(&engine) {
                continue;
            }
            let allowed = self.is_ready(task) && (transfers_too || !self.carries(task));
            let slot = if allowed { self.free_slot(engine) } else { None };
            match slot {
                Some((slot, before)) => self.give(task, slot, before),
                None => blocked.push(engine),
            }
        }
    }

    /// The free slot of an engine whose last task left it first, and that task; one without a last task comes before.
    fn free_slot(&self, engine: EngineId) -> Option<(u32, Option<usize>)> {
        let mut best: Option<(u64, u32, Option<usize>)> = None;
        for slot in 0..self.world.tasks.engines()[engine.0 as usize].slots {
            let last = self.taken.iter().rev().find(|&&(e, s, _)| (e, s) == (engine, slot)).map(|&(_, _, task)| task);
            // One more than the time, so that 0 stands for a slot that was never used.
            let since = match last {
                Some(task) if self.times[task].sent.is_never() => continue,
                Some(task) => self.times[task].sent.0 + 1,
                None => 0,
            };
            if best.is_none_or(|(earliest, ..)| since < earliest) {
                best = Some((since, slot, last));
            }
        }
        best.map(|(_, slot, last)| (slot, last))
    }

    fn give(&mut self, task: usize, slot: u32, before: Option<usize>) {
        let service = |task: usize| self.world.tasks.service(TaskId(task as u32));
        let (own, ready) = (service(task), self.times[task].ready.0);
        let begin = match before {
            None => ready + own.lead.0,
            Some(before) => {
                let freed = self.times[before].sent.0;
                if service(before).class == own.class {
                    (ready + own.lead.0).max(freed + own.gap.0)
                } else {
                    ready.max(freed) + own.lead.0
                }
            }
        };
        self.taken.push((self.engine(task), slot, task));
        self.will_begin(task, begin.max(self.now));
    }

    fn starting(&self) -> Vec<usize> {
        self.all().filter(|&t| self.begin[t].0 == self.now && self.times[t].start.is_never()).collect()
    }

    fn start(&mut self, task: usize) {
        let now = SimTime(self.now);
        self.times[task].start = now;
        match self.world.tasks.tasks()[task].work {
            Work::Nothing { .. } | Work::Lasts(SimDuration::ZERO) => self.times[task].sent = now,
            Work::Lasts(span) => self.due.push(SimTime(self.now + span.0)),
            Work::Carries { bytes, .. } => {
                let (remaining, end) = (bytes as f64, SimTime::NEVER);
                self.flowing.push(Flowing { task, remaining, since: now, rate: 0.0, end, arrival: now });
                self.flowing.sort_by_key(|f| f.task);
            }
        }
    }
}

fn latency(world: &World, task: usize) -> SimDuration {
    match world.tasks.tasks()[task].work {
        Work::Carries { class, .. } => world.routes.latency(world.tasks.classes().route(class)),
        _ => SimDuration::ZERO,
    }
}

fn rate(world: &World, arbiter: &mut dyn RateArbiter, flowing: &mut [Flowing], now: SimTime) {
    if flowing.is_empty() {
        return;
    }
    let ids: Vec<TransferId> = flowing.iter().map(|f| TransferId(f.task as u32)).collect();
    let classes: Vec<_> = flowing.iter().map(|f| world.class_of(f.task)).collect();
    let arrivals: Vec<u64> = flowing.iter().map(|f| f.arrival.0).collect();
    let view = PhaseView {
        now,
        id: (&ids).into(),
        class: (&classes).into(),
        arrival: (&arrivals).into(),
        classes: world.tasks.classes().table(),
        routes: world.routes.table(),
    };
    let mut rates = vec![f64::NAN; flowing.len()];
    let mut bindings = vec![Binding::NONE; flowing.len()];
    let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
    arbiter.allocate(&view, &mut grant).expect("rates");
    for (f, rate) in flowing.iter_mut().zip(rates) {
        if f.rate.to_bits() != rate.to_bits() {
            f.remaining = remaining_after(f.remaining, f.rate, now - f.since);
            (f.since, f.rate) = (now, rate);
            f.end = now.after(time_to_send(f.remaining, rate, now - f.arrival));
        }
    }
}
