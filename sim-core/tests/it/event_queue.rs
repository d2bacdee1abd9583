//! The event queue against a plain sorted list, and its order among equals.

use proptest::prelude::*;
use weir_sim_core::api::SimTime;
use weir_sim_core::{Event, EventPhase, EventQueue};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Tick {
    id: u32,
    /// A second event of the same entity and phase: only the sequence tells them apart.
    copy: u8,
    phase: EventPhase,
}

impl Event for Tick {
    fn phase(&self) -> EventPhase {
        self.phase
    }

    fn entity(&self) -> u32 {
        self.id
    }
}

fn tick(n: u32) -> Tick {
    let phase = [EventPhase::Completion, EventPhase::Arrival, EventPhase::Timer][n as usize % 3];
    Tick { id: n / 6, copy: (n / 3 % 2) as u8, phase }
}

#[test]
fn one_instant_leaves_by_phase_entity_and_order_of_scheduling() {
    let mut queue = EventQueue::new();
    let event = |id, copy, phase| Tick { id, copy, phase };
    let order = [
        event(7, 0, EventPhase::Completion),
        event(2, 1, EventPhase::Arrival),
        event(2, 0, EventPhase::Arrival),
        event(3, 0, EventPhase::Arrival),
        event(0, 0, EventPhase::Timer),
    ];
    for i in [4, 1, 3, 0, 2] {
        queue.schedule(SimTime(5), order[i]);
    }
    queue.schedule(SimTime(4), event(9, 0, EventPhase::Timer));
    assert_eq!(queue.pop(), Some((SimTime(4), event(9, 0, EventPhase::Timer))));
    assert_eq!(queue.pop_due(SimTime(5), EventPhase::Arrival), None, "a completion comes first");
    let left: Vec<Tick> = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
    assert_eq!(left, order);
}

#[derive(Clone, Debug)]
enum Call {
    Schedule(u32, u64),
    Cancel(u32),
    Pop,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (0..60_u32, 0..20_u64).prop_map(|(n, t)| Call::Schedule(n, t)),
        1 => (0..60_u32).prop_map(Call::Cancel),
        2 => Just(Call::Pop),
    ]
}

proptest! {
    #[test]
    fn agrees_with_a_sorted_list(calls in prop::collection::vec(call(), 1..200)) {
        let mut queue = EventQueue::new();
        let mut list: Vec<((SimTime, EventPhase, u32, u64), Tick)> = Vec::new();
        for (sequence, call) in calls.into_iter().enumerate() {
            match call {
                Call::Schedule(n, t) => {
                    let (event, time) = (tick(n), SimTime(t));
                    queue.schedule(time, event);
                    list.retain(|(_, e)| *e != event);
                    list.push(((time, event.phase, event.id, sequence as u64), event));
                    list.sort_by_key(|(key, _)| *key);
                }
                Call::Cancel(n) => {
                    let expected = list.iter().position(|(_, e)| *e == tick(n)).map(|i| list.remove(i).0.0);
                    prop_assert_eq!(queue.cancel(tick(n)), expected);
                }
                Call::Pop => {
                    let expected = (!list.is_empty()).then(|| list.remove(0)).map(|(key, e)| (key.0, e));
                    prop_assert_eq!(queue.next_time(), expected.map_or(SimTime::NEVER, |(t, _)| t));
                    prop_assert_eq!(queue.pop(), expected);
                }
            }
            prop_assert_eq!(queue.len(), list.len());
            prop_assert_eq!(queue.is_empty(), list.is_empty());
        }
    }
}
