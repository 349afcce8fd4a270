//! Packets for the controller, between the loop that sends them and the server that fetches them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Maximum number of packets that wait for the controller. BMv2's queue is unbounded; this one drops and counts further packets.
pub const PACKET_IN_LIMIT: usize = 4096;

/// Packets that left on the CPU port and that the controller has not fetched.
#[derive(Default)]
pub struct PacketIns {
    waiting: Mutex<(VecDeque<Vec<u8>>, u64)>,
    arrived: Condvar,
}

impl PacketIns {
    /// Adds a packet, or counts it as lost.
    pub fn push(&self, packet: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        if waiting.0.len() < PACKET_IN_LIMIT {
            waiting.0.push_back(packet);
            self.arrived.notify_one();
        } else {
            waiting.1 += 1;
        }
    }

    /// Returns all waiting packets. If there are none, waits for one, up to `timeout`.
    pub fn take(&self, timeout: Duration) -> Vec<Vec<u8>> {
        let deadline = Instant::now() + timeout;
        let mut waiting = self.waiting.lock();
        while waiting.0.is_empty() && !self.arrived.wait_until(&mut waiting, deadline).timed_out() {}
        waiting.0.drain(..).collect()
    }

    /// Returns the number of packets lost so far.
    pub fn lost(&self) -> u64 {
        self.waiting.lock().1
    }
}
