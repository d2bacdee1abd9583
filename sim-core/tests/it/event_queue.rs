//! The event queue against a plain sorted list, and its order within an instant.

use std::collections::BTreeMap;

use proptest::prelude::*;
use weir_sim_core::api::SimTime;
use weir_sim_core::{EventPhase, EventQueue, TaskEvent, TaskId};

const PHASES: [EventPhase; 3] = [EventPhase::Completion, EventPhase::Arrival, EventPhase::Timer];

fn event(n: u32) -> TaskEvent {
    let task = TaskId(n / 4);
    [TaskEvent::Over(task), TaskEvent::Arrives(task), TaskEvent::Starts(task), TaskEvent::Begins(task)][n as usize % 4]
}

/// Takes out the first event, whatever its phase.
fn pop(queue: &mut EventQueue) -> Option<TaskEvent> {
    PHASES.into_iter().find_map(|phase| queue.pop_due(queue.next_time(), phase))
}

#[test]
fn one_instant_leaves_by_phase_and_task() {
    let order = [
        TaskEvent::Over(TaskId(7)),
        TaskEvent::Arrives(TaskId(2)),
        TaskEvent::Arrives(TaskId(3)),
        TaskEvent::Starts(TaskId(0)),
        TaskEvent::Begins(TaskId(1)),
    ];
    let mut queue = EventQueue::default();
    for i in [4, 1, 3, 0, 2] {
        queue.schedule(SimTime(5), order[i]);
    }
    queue.schedule(SimTime(4), TaskEvent::Begins(TaskId(9)));
    assert_eq!(queue.pop_due(SimTime(4), EventPhase::Timer), Some(TaskEvent::Begins(TaskId(9))));
    assert_eq!(queue.pop_due(SimTime(5), EventPhase::Arrival), None, "a completion comes first");
    assert_eq!(queue.pop_due(SimTime(4), EventPhase::Completion), None, "none is due");
    let left: Vec<TaskEvent> = std::iter::from_fn(|| pop(&mut queue)).collect();
    assert_eq!(left, order);
    assert_eq!(queue.next_time(), SimTime::NEVER);
}

proptest! {
    #[test]
    fn agrees_with_a_sorted_list(calls in prop::collection::vec((0..60_u32, prop::option::of(0..20_u64)), 1..200)) {
        let mut queue = EventQueue::default();
        let mut list = BTreeMap::new();
        for (n, time) in calls {
            let event = event(n);
            match time.map(SimTime) {
                // Within a phase a task has one pending event.
                Some(time) => {
                    let pending = |known: &TaskEvent| (known.phase(), known.task()) == (event.phase(), event.task());
                    if !list.values().any(pending) {
                        queue.schedule(time, event);
                        list.insert((time, event.phase(), event.task()), event);
                    }
                }
                None => {
                    let first = list.pop_first();
                    prop_assert_eq!(queue.next_time(), first.map_or(SimTime::NEVER, |((time, ..), _)| time));
                    prop_assert_eq!(pop(&mut queue), first.map(|(_, event)| event));
                }
            }
        }
    }
}
