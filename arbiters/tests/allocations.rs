//! `allocate` takes no memory once its tables have grown.
#![allow(unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Phase, Transfer, make, names, t2};
use weir_plugin_api::{Binding, Grant, SimTime};

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts what this thread takes.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain cell of the thread and takes no
// memory itself (it is constant-initialised and has no destructor).
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.with(|t| t.set(t.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TAKEN.with(|t| t.set(t.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Phases of 1 to 60 transfers: all pairs, twice, with priorities, limits and arrivals.
fn phases() -> (weir_sim_core::Fabric, Vec<Phase>) {
    let (fabric, gpus) = t2(11.6e9);
    let mut transfers = Vec::new();
    for step in 1..8 {
        for a in 0..8 {
            let mut t = Transfer::new(gpus[a], gpus[(a + step) % 8]);
            t.priority = (a % 3) as i64;
            t.arrival = (step * 31 + a * 7) as u64 % 5;
            t.limit = if a == 5 { 2e9 } else { f64::INFINITY };
            transfers.push(t);
        }
    }
    transfers.extend_from_within(..4);
    let all = Phase::new(&fabric, &transfers);
    let sizes = [1, 2, 8, 30, 60];
    let phases = sizes.iter().map(|&n| all.subset(&(0..n).collect::<Vec<_>>())).collect();
    (fabric, phases)
}

#[test]
fn nothing_is_taken_after_the_first_round() {
    let (fabric, phases) = phases();
    for name in names() {
        let mut arbiter = make(name, &fabric, "{}");
        let (mut rates, mut bindings) = (vec![0.0; 60], vec![Binding::NONE; 60]);
        let mut round = || {
            for phase in &phases {
                let n = phase.len();
                let (rates, bindings) = (&mut rates[..n], &mut bindings[..n]);
                let mut grant = Grant { rates, bindings, recheck: SimTime::NEVER };
                arbiter.allocate(&phase.view(), &mut grant).expect("rates");
            }
        };
        round();
        let before = TAKEN.with(Cell::get);
        assert!(before > 0, "the counter counts");
        for _ in 0..3 {
            round();
        }
        assert_eq!(TAKEN.with(Cell::get), before, "{name}");
    }
}
