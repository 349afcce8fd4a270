//! Counts the allocations of each thread, for tests that limit them. A test runs in a thread of its own.

#![allow(dead_code)] // Each test crate uses a part of it.
#![allow(unsafe_code)] // Counting requires a global allocator, whose trait is unsafe; this one only forwards.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LIVE_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of this thread's allocations so far.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// Returns the bytes that this thread has allocated less those that it has freed.
pub fn live_bytes() -> usize {
    LIVE_BYTES.get()
}

// SAFETY: every call is forwarded unchanged to the system's allocator, which fulfils the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE_BYTES.set(LIVE_BYTES.get().wrapping_add(layout.size()));
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE_BYTES.set(LIVE_BYTES.get().wrapping_sub(layout.size()));
        System.dealloc(place, layout);
    }
}
