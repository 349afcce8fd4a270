//! The lock between a run loop and control calls from any thread.
//!
//! The loop works in slices and hands the lock over in between, so that a control call waits for one slice at most; while
//! somebody has paused it, it does not start another slice.

use parking_lot::{Condvar, Mutex, MutexGuard};

/// A lock that a run loop and control calls share.
pub struct Gate<E> {
    engine: Mutex<E>,
    pauses: Mutex<usize>,
    resumed: Condvar,
}

impl<E> Gate<E> {
    /// A lock around `engine`, not paused.
    pub fn new(engine: E) -> Self {
        Self { engine: Mutex::new(engine), pauses: Mutex::new(0), resumed: Condvar::new() }
    }

    /// For a control call.
    pub fn lock(&self) -> MutexGuard<'_, E> {
        self.engine.lock()
    }

    /// For a run loop: calls `slice` until it says that it is done.
    pub fn run<R>(&self, mut slice: impl FnMut(&mut E) -> Option<R>) -> R {
        loop {
            if let Some(result) = self.slice(&mut slice) {
                return result;
            }
        }
    }

    /// For a run loop: one slice, as soon as nobody has paused it.
    pub fn slice<R>(&self, slice: impl FnOnce(&mut E) -> R) -> R {
        // Held across the slice, so that `pause` returns only when none is running.
        let mut pauses = self.pauses.lock();
        while *pauses > 0 {
            self.resumed.wait(&mut pauses);
        }
        let mut engine = self.engine.lock();
        let result = slice(&mut engine);
        MutexGuard::unlock_fair(engine);
        MutexGuard::unlock_fair(pauses);
        result
    }

    /// Keeps run loops out until as many calls of `resume`.
    pub fn pause(&self) {
        *self.pauses.lock() += 1;
    }

    /// Takes one `pause` back; without one it does nothing.
    pub fn resume(&self) {
        let mut pauses = self.pauses.lock();
        *pauses = pauses.saturating_sub(1);
        self.resumed.notify_all();
    }
}
