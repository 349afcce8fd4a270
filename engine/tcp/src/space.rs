//! The send sequence space (RFC 9293, 3.3.1): a sender's position in its stream, and the pieces of the stream that it sends.
//!
//! Offsets count the stream from 0 at our SYN: data starts at 1, and the FIN follows the last byte. They have 64 bits and never
//! wrap; they are converted to sequence numbers when a segment is sent.

/// Maximum number of bytes of a stream. Offsets beyond it would not fit in 63 bits.
const MAX_STREAM: u64 = 1 << 62;

/// A piece of the stream to be sent: a range of offsets. It ends with the FIN if `fin` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) start: u64,
    pub(crate) payload_len: u32,
    pub(crate) fin: bool,
    /// Whether it has been sent before, at least in part.
    pub(crate) again: bool,
    /// Whether it is a window probe, sent regardless of the window.
    pub(crate) probe: bool,
    /// Whether it contains the last byte that the application has written so far.
    pub(crate) push: bool,
}

impl Chunk {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.payload_len) + u64::from(self.fin)
    }

    #[inline]
    pub(crate) fn is_new_data(&self) -> bool {
        !self.again && !self.probe && self.payload_len > 0
    }
}

/// A sender's position in its stream.
#[derive(Clone, Debug)]
pub(crate) struct SendSpace {
    isn: u32,
    /// SND.UNA: everything below it is acknowledged.
    pub(crate) una: u64,
    /// SND.NXT: the next offset to send. Less than `max` only after a timeout, and while a small window is probed.
    pub(crate) next: u64,
    /// The offset after the highest offset sent.
    pub(crate) max: u64,
    /// The offset after the last byte written.
    end: u64,
    /// Whether a FIN follows the last byte.
    closing: bool,
}

impl SendSpace {
    pub(crate) fn new(isn: u32) -> Self {
        Self { isn, una: 0, next: 0, max: 0, end: 1, closing: false }
    }

    /// Returns the sequence number at an offset.
    #[inline]
    pub(crate) fn sequence(&self, offset: u64) -> u32 {
        self.isn.wrapping_add(offset as u32)
    }

    /// Returns the offset of a sequence number near SND.UNA; negative if it is before the SYN.
    #[inline]
    pub(crate) fn offset(&self, sequence: u32) -> i64 {
        self.una as i64 + i64::from(sequence.wrapping_sub(self.sequence(self.una)) as i32)
    }

    /// Returns the number of bytes written and not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.end.saturating_sub(self.una.max(1))
    }

    /// Returns the number of acknowledged bytes, excluding SYN and FIN.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una.clamp(1, self.end) - 1
    }

    /// Returns FlightSize (RFC 5681, 2); after a timeout, the data sent since.
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        self.next - self.una
    }

    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.closing && self.una > self.end
    }

    /// Returns the number of bytes that can still be written before the offsets are exhausted.
    pub(crate) fn room(&self) -> u64 {
        MAX_STREAM - self.end
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.end += bytes;
    }

    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// Discards the data that has not been sent.
    pub(crate) fn stop(&mut self) {
        self.end = self.next.min(self.end).max(1);
    }

    /// Returns the offset after the last one that can be sent: that of the last byte written, or of the FIN.
    #[inline]
    pub(crate) fn stream_end(&self) -> u64 {
        self.end + self.fin()
    }

    /// Returns the number of offsets that the FIN occupies: 0 while the stream is open.
    #[inline]
    pub(crate) fn fin(&self) -> u64 {
        u64::from(self.closing)
    }

    /// Returns the number of bytes written after SND.NXT.
    #[inline]
    pub(crate) fn unsent(&self) -> u64 {
        self.end - self.next.min(self.end)
    }

    /// Returns whether there is unsent data, and a peer that accepts `window` bytes accepts a segment of it.
    pub(crate) fn can_send_new_data(&self, window: u64, mss: u64) -> bool {
        self.max < self.stream_end() && self.una + window >= self.max + mss.min(self.end - self.max)
    }

    /// Returns the chunk for the offsets `[start, end)`, which lie in the stream or are its FIN.
    pub(crate) fn chunk(&self, start: u64, end: u64) -> Chunk {
        let data_end = end.min(self.end);
        let payload_len = data_end.saturating_sub(start) as u32;
        let fin = end > self.end;
        let push = payload_len > 0 && data_end == self.end;
        Chunk { start, payload_len, fin, again: start < self.max, probe: false, push }
    }

    /// Records the departure of a probe up to `end`. A probe is not part of the flight until it is acknowledged.
    #[inline]
    pub(crate) fn note_probe(&mut self, end: u64) {
        self.max = self.max.max(end);
    }

    /// Records that the offsets `[start, end)` have been sent.
    #[inline]
    pub(crate) fn note_sent(&mut self, start: u64, end: u64) {
        self.max = self.max.max(end);
        if start <= self.next {
            self.next = self.next.max(end);
        }
    }

    /// Moves SND.UNA forward to `offset`. Returns the number of offsets newly acknowledged.
    #[inline]
    pub(crate) fn acknowledge(&mut self, offset: u64) -> u64 {
        let acked = offset - self.una;
        self.una = offset;
        self.next = self.next.max(offset);
        acked
    }
}
