//! The switch: what its users call.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bm::{Program, State};
use units::{Bytes, Duration, Time};

use crate::{
    ConfigError, Digest, Frame, MirroringSessions, PortConfig, PortStats, Pre, SwitchConfig, SwitchStats,
};

/// Longest frame, in bytes.
pub const MAX_FRAME_BYTES: usize = 65_535;

/// Most packets inside one switch at a time.
pub const MAX_PACKETS: usize = 1 << 20;

/// How often a packet may be resubmitted or cloned from clone to clone without time passing.
pub const INSTANT_LIMIT: u16 = 256;

/// A frame that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Port it leaves by.
    pub port: u16,
    /// When its first bit is on the wire: when it left the queue.
    pub at: Time,
    /// How long the port is busy with it, overhead included; zero on a port without a rate.
    pub wire_time: Duration,
    /// Its bytes. Hand the frame to the next switch with `handle_frame`, or back with `recycle`.
    pub frame: Frame,
    /// The tag it came in with.
    pub tag: u64,
}

/// One v1model switch.
pub struct Switch {
    state: State,
}

impl Switch {
    /// Makes a switch that runs `program`.
    pub fn new(program: Arc<Program>, config: SwitchConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { state: State::new(&program) })
    }

    /// A frame arrives on `port`. `tag` means nothing to the switch: it travels with the packet and its copies.
    /// The bytes are copied once, into a buffer that is used again.
    ///
    /// # Panics
    /// When `now` is earlier than in the last call; so do the other `handle_` calls.
    pub fn handle_packet(&mut self, now: Time, port: u16, frame: &[u8], tag: u64) {
        let _ = (now, port, frame, tag);
        todo!()
    }

    /// As [`Switch::handle_packet`] with a frame that another switch has sent, without copying it.
    pub fn handle_frame(&mut self, now: Time, port: u16, frame: Frame, tag: u64) {
        let _ = (now, port, frame, tag);
        todo!()
    }

    /// When the switch next has something to do by itself.
    pub fn next_wakeup(&self) -> Option<Time> {
        todo!()
    }

    /// Does everything due up to and including `now`, in order of time, then port (the recirculation loop last).
    pub fn handle_wakeup(&mut self, now: Time) {
        let _ = now;
        todo!()
    }

    /// The next frame to send, in order of `at`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        todo!()
    }

    /// Gives a frame's buffer back for reuse.
    pub fn recycle(&mut self, frame: Frame) {
        let _ = frame;
        todo!()
    }

    /// The next unread digest.
    pub fn poll_digest(&mut self) -> Option<Digest> {
        todo!()
    }

    /// The next unread message of `log_msg`.
    pub fn poll_log(&mut self) -> Option<String> {
        todo!()
    }

    /// Bytes waiting in all queues of a port.
    pub fn queue_bytes(&self, port: u16) -> Bytes {
        let _ = port;
        todo!()
    }

    /// Packets waiting in all queues of a port.
    pub fn queue_packets(&self, port: u16) -> usize {
        let _ = port;
        todo!()
    }

    /// Counts of one port.
    pub fn port_stats(&self, port: u16) -> PortStats {
        let _ = port;
        todo!()
    }

    /// Counts of the switch.
    pub fn stats(&self) -> SwitchStats {
        todo!()
    }

    /// Runs of parser and ingress so far: one per received, resubmitted or recirculated packet.
    pub fn p4_passes(&self) -> u64 {
        todo!()
    }

    /// Attaches a port, or changes the link of one that is attached.
    pub fn set_port(&mut self, port: PortConfig) -> Result<(), ConfigError> {
        let _ = port;
        todo!()
    }

    /// Detaches a port: what arrives from it or is sent to it is dropped and counted.
    pub fn remove_port(&mut self, port: u16) {
        let _ = port;
        todo!()
    }

    /// The settings the switch was made with.
    pub fn config(&self) -> &SwitchConfig {
        todo!()
    }

    /// Tables, counters, registers and so on, to read.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Tables, counters, registers and so on, to write. When the guard goes, the port gates are read again.
    pub fn state_mut(&mut self) -> StateGuard<'_> {
        StateGuard { switch: self }
    }

    /// Clone sessions.
    pub fn mirroring(&self) -> &MirroringSessions {
        todo!()
    }

    /// Clone sessions, to change.
    pub fn mirroring_mut(&mut self) -> &mut MirroringSessions {
        todo!()
    }

    /// Multicast groups.
    pub fn pre(&self) -> &Pre {
        todo!()
    }

    /// Multicast groups, to change.
    pub fn pre_mut(&mut self) -> &mut Pre {
        todo!()
    }
}

/// Access to a switch's state for writing; when it goes, the port gates are read again.
pub struct StateGuard<'a> {
    switch: &'a mut Switch,
}

impl Deref for StateGuard<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        &self.switch.state
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.switch.state
    }
}
