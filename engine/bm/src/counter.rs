//! Counters: BMv2's count packets and bytes both.

/// A counter cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterValue {
    /// Bytes, of the packets as they were received.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl CounterValue {
    #[inline]
    pub(crate) fn count(&mut self, bytes: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(1);
    }
}
