//! Classes of a NIC's frames, and the pauses of its switch (IEEE 802.1Q-2022 clause 36).
//!
//! A frame's queue is that of its DSCP. The highest queue that is not paused is served first. A pause stops the queues
//! that it names, after the frame on the wire; a later pause replaces the rest of it, and a time of 0 ends it. Only
//! queues that may be paused obey.

use units::{Bytes, DataRate, Duration};
use wire::Network;

use crate::network::frame::HostFrame;

/// Number of queues of a NIC.
pub(crate) const PRIORITIES: usize = 8;

/// IEEE 802.3 annex 31D: the address, the opcode, and the offsets of the class-enable vector and the times.
const MAC_CONTROL: [u8; 6] = [0x01, 0x80, 0xC2, 0, 0, 0x01];
const ETHERTYPE: [u8; 2] = [0x88, 0x08];
const OPCODE_PFC: [u8; 2] = [0x01, 0x01];
const ENABLED_AT: usize = 17;
const TIMES_AT: usize = 18;
const SHORTEST: usize = TIMES_AT + 2 * PRIORITIES;
/// Bytes of a quantum of 512 bit times.
const QUANTUM_BYTES: u64 = 64;

/// The queue of each frame, and the queues that may be paused: settings of the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicClasses {
    /// Priority by DSCP.
    pub priority: [u8; 64],
    /// The queue of frames other than IP.
    pub default_priority: u8,
    /// Bit n: priority n may be paused.
    pub pausable: u8,
}

/// Returns whether a frame is a MAC control frame, which ends at the NIC that receives it.
#[inline]
pub(super) fn is_mac_control(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ETHERTYPE)
}

impl NicClasses {
    /// Returns the queue of a frame.
    pub(super) fn priority_of(&self, frame: &HostFrame) -> usize {
        let dscp = Network::of(&frame.captured).and_then(|network| network.dscp());
        dscp.map_or(self.default_priority, |dscp| self.priority[usize::from(dscp)]).into()
    }

    /// Returns the queues that a MAC control frame pauses and that may be paused, each with the length of its pause.
    pub(super) fn pauses<'a>(
        &self,
        rate: DataRate,
        frame: &'a [u8],
    ) -> impl Iterator<Item = (usize, Duration)> + 'a {
        let obeyed = if is_pause(frame) { frame[ENABLED_AT] & self.pausable } else { 0 };
        let paused = (0..PRIORITIES).filter(move |priority| obeyed >> priority & 1 == 1);
        paused.map(move |priority| {
            (priority, rate.transmit_time(Bytes::new(quanta(frame, priority) * QUANTUM_BYTES)))
        })
    }
}

/// Returns whether a MAC control frame is a pause by priority.
fn is_pause(frame: &[u8]) -> bool {
    frame.len() >= SHORTEST && frame[..6] == MAC_CONTROL && frame[14..16] == OPCODE_PFC
}

/// Returns the time of a priority in a pause, in quanta.
fn quanta(pause: &[u8], priority: usize) -> u64 {
    let at = TIMES_AT + 2 * priority;
    u64::from(u16::from_be_bytes([pause[at], pause[at + 1]]))
}

/// Returns the priorities that a MAC control frame pauses, as a bit mask, without those whose pause it ends. `None` if
/// it is not a pause.
pub(super) fn asked(frame: &[u8]) -> Option<u8> {
    let is_asked = |priority: usize| frame[ENABLED_AT] >> priority & 1 == 1 && quanta(frame, priority) > 0;
    is_pause(frame).then(|| (0..PRIORITIES).map(|priority| u8::from(is_asked(priority)) << priority).sum())
}
