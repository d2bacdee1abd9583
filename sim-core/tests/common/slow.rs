//! The rules of design "Time and numbers" written down once more, without any cleverness: at every instant everything is
//! looked at, and the arbiter is asked for all active transfers.

use weir_sim_core::api::{Binding, Grant, PhaseView, RateArbiter, SimDuration, SimTime, TransferId};
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

/// Times of all tasks.
pub fn run(world: &World, arbiter: &mut dyn RateArbiter) -> Vec<TaskTimes> {
    let tasks = world.tasks.tasks();
    let mut times = vec![TaskTimes::NEVER; tasks.len()];
    let mut flowing: Vec<Flowing> = Vec::new();
    let mut due: Vec<SimTime> = tasks.iter().map(|t| t.start).collect();
    due.sort();
    due.dedup();
    while !due.is_empty() || !flowing.is_empty() {
        let next_end = flowing.iter().map(|f| f.end).min().unwrap_or(SimTime::NEVER);
        let now = due.first().copied().unwrap_or(SimTime::NEVER).min(next_end);
        assert!(!now.is_never(), "the slow simulator is stuck");
        due.retain(|&t| t > now);
        let before: Vec<usize> = flowing.iter().map(|f| f.task).collect();
        for f in flowing.extract_if(.., |f| f.end == now) {
            times[f.task].sent = now;
            due.push(now.after(latency(world, f.task)));
        }
        arrive(world, &mut times, now, &mut due);
        make_ready(world, &mut times, now);
        start(world, &mut times, &mut flowing, now);
        due.retain(|&t| t > now);
        due.sort();
        due.dedup();
        if before != flowing.iter().map(|f| f.task).collect::<Vec<_>>() {
            rate(world, arbiter, &mut flowing, now);
        }
    }
    times
}

fn latency(world: &World, task: usize) -> SimDuration {
    world.routes.latency(world.tasks.classes().route(world.class_of(task)))
}

fn arrive(world: &World, times: &mut [TaskTimes], now: SimTime, due: &mut Vec<SimTime>) {
    for (task, t) in times.iter_mut().enumerate() {
        if !t.sent.is_never() && t.end.is_never() && t.sent.after(latency(world, task)) <= now {
            t.end = now;
            due.push(now);
        }
    }
}

fn make_ready(world: &World, times: &mut [TaskTimes], now: SimTime) {
    let ended: Vec<bool> = times.iter().map(|t| !t.end.is_never()).collect();
    let mut waits_left: Vec<u32> = (0..times.len()).map(|t| world.tasks.waits(TaskId(t as u32))).collect();
    for (task, _) in ended.iter().enumerate().filter(|&(_, &e)| e) {
        for next in world.tasks.successors(TaskId(task as u32)) {
            waits_left[next.index()] -= 1;
        }
    }
    for (task, t) in times.iter_mut().enumerate() {
        if t.ready.is_never() && waits_left[task] == 0 && world.tasks.tasks()[task].start <= now {
            t.ready = now;
        }
    }
}

fn start(world: &World, times: &mut [TaskTimes], flowing: &mut Vec<Flowing>, now: SimTime) {
    let mut waiting: Vec<usize> =
        (0..times.len()).filter(|&t| !times[t].ready.is_never() && times[t].start.is_never()).collect();
    waiting.sort_by_key(|&t| (times[t].ready, t));
    for task in waiting {
        let engine = world.tasks.tasks()[task].engine;
        let busy = (0..times.len())
            .filter(|&t| {
                world.tasks.tasks()[t].engine == engine && !times[t].start.is_never() && times[t].sent.is_never()
            })
            .count();
        if engine == EngineId::NONE || busy < world.tasks.engines()[engine.0 as usize].slots as usize {
            times[task].start = now;
            let Work::Carries { bytes, .. } = world.tasks.tasks()[task].work else { panic!("only transfers") };
            let end = SimTime::NEVER;
            flowing.push(Flowing { task, remaining: bytes as f64, since: now, rate: 0.0, end, arrival: now });
        }
    }
    flowing.sort_by_key(|f| f.task);
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
            f.end = now.after(time_to_send(f.remaining, rate));
        }
    }
}
