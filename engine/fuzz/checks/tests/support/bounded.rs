//! An allocator with a limit, so that an input that causes unbounded allocation in the engine fails its test, and not
//! the machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of bytes that all tests of the file may hold together.
const BOUND: usize = 1 << 30;

struct Bounded;

#[global_allocator]
static BOUNDED: Bounded = Bounded;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded unchanged to the system's allocator, which fulfils the contract, or answered with
// null, which the contract allows.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if LIVE.fetch_add(layout.size(), Ordering::Relaxed) > BOUND - layout.size().min(BOUND) {
            LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        System.dealloc(place, layout);
    }
}
