//! An allocator that counts; of each test program that says `mod counting`.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has taken memory.
pub fn taken() -> u64 {
    TAKEN.with(Cell::get)
}

fn count() {
    TAKEN.with(|taken| taken.set(taken.get() + 1));
}

/// Counts what each thread takes.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain cell of the thread and takes no
// memory itself (it is constant-initialised and has no destructor).
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;
