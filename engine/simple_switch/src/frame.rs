//! Reusable frame buffers with headroom for headers that grow.
//!
//! A frame occupies the end of its buffer, as in BMv2's packet buffer: a header that grows uses the headroom, and the
//! payload never moves. Steady traffic allocates nothing: a buffer that leaves with a [`Frame`] returns through
//! [`FramePool::give`], or with an arriving frame.
//!
//! A frame whose payload is zeros may omit them ([`crate::Switch::handle_snapped`]) and store only their number. A
//! thousand waiting frames then occupy only the space of their headers, in memory and in the processor's caches.

use std::fmt;
use std::ops::Deref;

/// Headroom of an arriving frame: more than any header stack of a real program adds in one pass. A frame that needs
/// more is moved once.
const HEADROOM: usize = 128;

/// Maximum number of buffers kept for reuse: enough for a busy switch, and a bound on the memory of an idle one.
const POOL_LIMIT: usize = 4096;

/// The bytes of a frame, without FCS, in its own buffer.
///
/// As a slice it is the stored bytes: all bytes, except the omitted zeros at the end of a frame that arrived through
/// [`crate::Switch::handle_snapped`]. [`Frame::len`] and [`Frame::to_vec`] include these.
#[derive(Clone, Default)]
pub struct Frame {
    buffer: Vec<u8>,
    /// Start of the frame in `buffer`; it extends to the end.
    start: usize,
    /// Number of omitted zeros after the bytes in `buffer`.
    zeros: usize,
}

impl Frame {
    /// Creates a copy of `bytes`.
    pub fn from_slice(bytes: &[u8]) -> Self {
        let mut frame = Self::default();
        frame.fill(bytes, 0);
        frame
    }

    /// Returns the length of the frame in bytes, omitted zeros included.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // A slice's `is_empty` would ignore the omitted zeros.
    pub fn len(&self) -> usize {
        self.buffer.len() - self.start + self.zeros
    }

    /// Returns all bytes, omitted zeros included.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        bytes.extend_from_slice(self);
        bytes.resize(self.len(), 0);
        bytes
    }

    /// Returns whether zeros are omitted.
    #[inline]
    pub(crate) fn is_snapped(&self) -> bool {
        self.zeros > 0
    }

    /// Appends the omitted zeros.
    pub(crate) fn make_whole(&mut self) {
        self.buffer.resize(self.buffer.len() + self.zeros, 0);
        self.zeros = 0;
    }

    /// Replaces the contents and keeps the buffer.
    fn fill(&mut self, bytes: &[u8], zeros: usize) {
        // The bytes of the headroom have no meaning, so those of a used buffer stay.
        self.buffer.resize(HEADROOM, 0);
        self.buffer.extend_from_slice(bytes);
        self.start = HEADROOM;
        self.zeros = zeros;
    }

    /// Replaces the first `count` bytes with `front`.
    ///
    /// # Panics
    /// If fewer than `count` bytes are stored.
    pub(crate) fn replace_front(&mut self, count: usize, front: &[u8]) {
        assert!(count <= self.buffer.len() - self.start, "more bytes are taken off a frame than it has");
        let payload = self.start + count;
        if front.len() > payload {
            let missing = front.len() - payload + HEADROOM;
            self.buffer.splice(0..0, vec![0; missing]);
            self.start = payload + missing - front.len();
        } else {
            self.start = payload - front.len();
        }
        self.buffer[self.start..self.start + front.len()].copy_from_slice(front);
    }

    /// Truncates the frame to at most `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        let there = self.buffer.len() - self.start;
        self.zeros = self.zeros.min(length.saturating_sub(there));
        self.buffer.truncate(self.start.saturating_add(length));
    }
}

impl Deref for Frame {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        match (self.zeros, other.zeros) {
            (0, 0) => **self == **other,
            _ => self.to_vec() == other.to_vec(),
        }
    }
}

impl Eq for Frame {}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.len())
    }
}

/// Buffers for reuse.
#[derive(Default)]
pub(crate) struct FramePool {
    free: Vec<Frame>,
}

impl FramePool {
    /// Returns a frame with a copy of `bytes`, in a used buffer if there is one.
    pub(crate) fn copy_of(&mut self, bytes: &[u8]) -> Frame {
        self.snapped(bytes, 0)
    }

    /// Returns a frame of `bytes` followed by `zeros` zeros, which are not stored.
    pub(crate) fn snapped(&mut self, bytes: &[u8], zeros: usize) -> Frame {
        let mut frame = self.free.pop().unwrap_or_default();
        frame.fill(bytes, zeros);
        frame
    }

    /// Takes a buffer back for reuse.
    pub(crate) fn give(&mut self, frame: Frame) {
        // A frame whose buffer was taken out has nothing worth keeping.
        if self.free.len() < POOL_LIMIT && frame.buffer.capacity() > 0 {
            self.free.push(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_larger_than_the_room_in_front_move_the_frame_and_keep_it_whole() {
        let mut frame = Frame::from_slice(b"x-payload");
        let head = vec![7; 3 * HEADROOM];
        frame.replace_front(2, &head);
        assert_eq!(frame[..head.len()], head);
        assert_eq!(&frame[head.len()..], b"payload");
        frame.replace_front(head.len(), b"y-");
        assert_eq!(&*frame, b"y-payload");
    }
}
