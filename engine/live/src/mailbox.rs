//! Items that one thread leaves for another: packets for the controller, messages for users.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Maximum number of packets that wait for the controller. BMv2's queue is unbounded; this one drops and counts further packets.
pub const PACKET_IN_LIMIT: usize = 4096;

/// Packets that left on the CPU port and that the controller has not fetched.
pub type PacketIns = Mailbox<Vec<u8>, PACKET_IN_LIMIT>;

/// Items that have not been fetched; beyond `LIMIT`, further ones are dropped and counted.
pub struct Mailbox<T, const LIMIT: usize> {
    waiting: Mutex<(VecDeque<T>, u64)>,
    arrived: Condvar,
}

impl<T, const LIMIT: usize> Default for Mailbox<T, LIMIT> {
    fn default() -> Self {
        Self { waiting: Mutex::new((VecDeque::new(), 0)), arrived: Condvar::new() }
    }
}

impl<T, const LIMIT: usize> Mailbox<T, LIMIT> {
    /// Adds an item, or counts it as lost.
    pub fn push(&self, item: T) {
        let mut waiting = self.waiting.lock();
        if waiting.0.len() < LIMIT {
            waiting.0.push_back(item);
            self.arrived.notify_one();
        } else {
            waiting.1 += 1;
        }
    }

    /// Returns all waiting items. If there are none, waits for one, up to `timeout`.
    pub fn take(&self, timeout: Duration) -> Vec<T> {
        let deadline = Instant::now() + timeout;
        let mut waiting = self.waiting.lock();
        while waiting.0.is_empty() && !self.arrived.wait_until(&mut waiting, deadline).timed_out() {}
        waiting.0.drain(..).collect()
    }

    /// Returns the number of items lost so far.
    pub fn lost(&self) -> u64 {
        self.waiting.lock().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_beyond_the_limit_are_counted_and_those_before_come_in_order() {
        let mailbox = Mailbox::<u8, 2>::default();
        (1..=4).for_each(|item| mailbox.push(item));
        assert_eq!((mailbox.take(Duration::ZERO), mailbox.lost()), (vec![1, 2], 2));
        mailbox.push(5);
        assert_eq!((mailbox.take(Duration::ZERO), mailbox.lost()), (vec![5], 2));
    }
}
