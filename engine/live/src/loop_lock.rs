//! The lock between a run loop and control calls from any thread.
//!
//! The loop works in slices and releases the lock in between, so a control call waits for one slice at most. While the
//! loop is paused, it starts no slice.

use std::thread::{self, ThreadId};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// The right to go on: of a run loop, and of control calls.
pub trait Turns {
    /// Keeps run loops out until a matching `resume`, from when no slice runs any more. Calls nest.
    fn pause(&self);
    /// Undoes one `pause`; without one it has no effect.
    fn resume(&self);
    /// Takes the turn: control calls of other threads wait until a matching `end_turn`. Calls nest. The run loop does not wait: see `pause`.
    fn take_turn(&self);
    /// Undoes one `take_turn` of this thread; without one it has no effect.
    fn end_turn(&self);
}

/// A lock that a run loop and control calls share.
pub struct LoopLock<E> {
    engine: Mutex<E>,
    /// The thread that has the turn, and the depth of its `take_turn` calls. A thread takes the turn only while it holds `engine`.
    turn: Mutex<Option<(ThreadId, usize)>>,
    turn_ended: Condvar,
    pauses: Mutex<usize>,
    resumed: Condvar,
}

impl<E> LoopLock<E> {
    /// Returns a lock around `engine`. It is not paused.
    pub fn new(engine: E) -> Self {
        Self {
            engine: Mutex::new(engine),
            turn: Mutex::new(None),
            turn_ended: Condvar::new(),
            pauses: Mutex::new(0),
            resumed: Condvar::new(),
        }
    }

    /// Locks for a control call. Waits while another thread has the turn.
    pub fn lock(&self) -> MutexGuard<'_, E> {
        let me = thread::current().id();
        loop {
            let engine = self.engine.lock();
            if self.turn.lock().is_none_or(|(owner, _)| owner == me) {
                return engine;
            }
            drop(engine);
            let mut turn = self.turn.lock();
            if turn.is_some_and(|(owner, _)| owner != me) {
                self.turn_ended.wait(&mut turn);
            }
        }
    }

    /// Locks like [`LoopLock::lock`] if that is possible without waiting.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, E>> {
        let engine = self.engine.try_lock()?;
        let is_free = self.turn.lock().is_none_or(|(owner, _)| owner == thread::current().id());
        is_free.then_some(engine)
    }

    /// Calls `slice` for a run loop until it returns a result.
    pub fn run<R>(&self, mut slice: impl FnMut(&mut E) -> Option<R>) -> R {
        loop {
            if let Some(result) = self.slice(&mut slice) {
                return result;
            }
        }
    }

    /// Runs one slice of a run loop as soon as the loop is not paused.
    pub fn slice<R>(&self, slice: impl FnOnce(&mut E) -> R) -> R {
        // Held during the slice, so that `pause` returns only when no slice is running.
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
}

impl<E> Turns for LoopLock<E> {
    fn pause(&self) {
        *self.pauses.lock() += 1;
    }

    fn resume(&self) {
        let mut pauses = self.pauses.lock();
        *pauses = pauses.saturating_sub(1);
        self.resumed.notify_all();
    }

    fn take_turn(&self) {
        let _engine = self.lock();
        let mut turn = self.turn.lock();
        let depth = turn.map_or(0, |(_, depth)| depth);
        *turn = Some((thread::current().id(), depth + 1));
    }

    fn end_turn(&self) {
        let mut turn = self.turn.lock();
        let Some((owner, depth)) = *turn else { return };
        if owner == thread::current().id() {
            *turn = (depth > 1).then_some((owner, depth - 1));
            self.turn_ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn calls_of_other_threads_wait_until_the_turn_has_ended() {
        let lock = Arc::new(LoopLock::new(Vec::new()));
        lock.take_turn();
        lock.take_turn();
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || lock.lock().push("other"))
        };
        for call in ["first", "second"] {
            lock.lock().push(call);
            thread::yield_now();
            lock.end_turn();
        }
        other.join().unwrap();
        assert_eq!(*lock.lock(), ["first", "second", "other"]);
    }

    #[test]
    fn a_call_that_does_not_wait_gets_the_lock_only_while_nobody_else_has_it_or_the_turn() {
        let lock = LoopLock::new(0);
        let elsewhere =
            |lock: &LoopLock<i32>| thread::scope(|s| s.spawn(|| lock.try_lock().is_some()).join());
        assert!(elsewhere(&lock).unwrap());
        lock.take_turn();
        assert!(lock.try_lock().is_some());
        assert!(!elsewhere(&lock).unwrap());
        lock.end_turn();
        let guard = lock.lock();
        assert!(!elsewhere(&lock).unwrap());
        drop(guard);
        assert!(elsewhere(&lock).unwrap());
    }
}
