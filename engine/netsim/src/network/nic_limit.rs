//! The buffer limit of a NIC, and the frames that do not count towards it.

use units::{Bytes, Time};

use crate::network::frame::HostFrame;
use crate::network::nic_queues::Queues;
use crate::network::nic_transmitter::Transmitter;
use crate::network::tag;

/// The buffer limit of a NIC, with the modes of the P4 program (`p4src/include/control/buffer.p4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicLimit {
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of frames of any length.
    Frames(u64),
    /// A number of bytes, without those that arrived while the link was not awake.
    BytesBesideHeld(Bytes),
}

/// The buffer of a NIC, with or without a limit.
///
/// Held frames are outside the buffer. A link falls asleep only when nothing waits, so all frames that wait when the
/// first frame leaves were held, and none that arrive later.
pub(super) struct Buffer {
    limit: Option<NicLimit>,
    /// Bytes that wait outside the buffer.
    outside_bytes: u64,
    /// When the first frame after the last hold left.
    awake_since: Option<Time>,
}

impl Buffer {
    pub(super) fn new(limit: Option<NicLimit>) -> Self {
        Self { limit, outside_bytes: 0, awake_since: None }
    }

    /// Returns whether another frame has room; with it, `bytes` would wait.
    #[inline]
    pub(super) fn has_room(&self, now: Time, bytes: u64, queues: &Queues, transmitter: &Transmitter) -> bool {
        match self.limit {
            None => true,
            Some(NicLimit::Bytes(limit)) => bytes <= limit.get(),
            Some(NicLimit::Frames(limit)) => (queues.frames() as u64) < limit,
            Some(NicLimit::BytesBesideHeld(limit)) => {
                self.is_held(now, transmitter) || bytes - self.outside_bytes <= limit.get()
            }
        }
    }

    /// Returns whether a frame that arrives now is held: the link is not awake, or the first frame after a hold leaves at this very time.
    fn is_held(&self, now: Time, transmitter: &Transmitter) -> bool {
        !transmitter.is_awake() || self.awake_since == Some(now)
    }

    /// Notes an admitted frame, which counts outside the buffer if it is held.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, wire_len: u32, transmitter: &Transmitter) {
        if matches!(self.limit, Some(NicLimit::BytesBesideHeld(_))) && self.is_held(now, transmitter) {
            self.outside_bytes += u64::from(wire_len);
        }
    }

    /// Notes that a frame leaves, or is dropped at departure; it no longer counts outside the buffer, if it did.
    #[inline]
    pub(super) fn leave(&mut self, now: Time, frame: &HostFrame, transmitter: &Transmitter) {
        if self.outside_bytes > 0 {
            if self.is_held(now, transmitter) {
                self.awake_since = Some(now);
            }
            if self.awake_since.is_some_and(|since| tag::decode(frame.tag).0 <= since) {
                self.outside_bytes -= u64::from(frame.wire_len);
            }
        }
    }
}
