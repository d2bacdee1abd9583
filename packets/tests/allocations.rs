//! Grants take no memory once tables have grown.
#![allow(unsafe_code)]

#[path = "it/net.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod net;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use net::{Tree, link, spec};
use weir_packets::WireRate;
use weir_packets::arbiter::built_in;

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

/// All eight devices of T2 send to all others, without end and without skipping ahead.
#[test]
fn grants_take_no_memory() {
    for entry in built_in() {
        let tree = Tree::t2(link(WireRate::wire(15.753846153e9).expect("a rate")));
        let mut engine = tree.engine_of(&entry).without_skipping();
        let pairs = (0..56).map(|pair| (pair / 7, (pair / 7 + pair % 7 + 1) % 8));
        for (id, (from, to)) in (0..).zip(pairs) {
            engine.admit(0, id, &spec(1 << 40, &tree.route(7 + from, 7 + to))).expect("an engine is free");
        }
        engine.step(0).expect("no arbiter fails");
        let warm = 1_000_000_000;
        engine.advance(warm, &|| false).expect("they never end");
        let (before, hops) = (TAKEN.with(Cell::get), engine.hops());
        assert!(before > 0, "the counter counts");
        engine.advance(warm + warm / 10, &|| false).expect("they never end");
        let (taken, hops) = (TAKEN.with(Cell::get) - before, engine.hops() - hops);
        // Lists of rare causes of waits may still grow; what a grant takes would come with each of them.
        assert!(hops > 50_000 && taken < hops / 10_000, "{}: {taken} in {hops} hops", entry.name);
    }
}
