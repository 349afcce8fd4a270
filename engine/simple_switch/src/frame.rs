//! Frame buffers that are used again, with room in front for headers that grow.
//!
//! A frame's bytes stand at the end of their buffer, as in BMv2's packet buffer: a header that grows takes
//! room in front, and the payload never moves. Steady traffic allocates nothing: a buffer that leaves with a
//! [`Frame`] comes back through [`FramePool::give`], or with a frame that arrives.
//!
//! A frame whose payload is zeros may come without them ([`crate::Switch::handle_snapped`]): it knows how many there are.
//! A thousand waiting frames then take the room of their headers, in memory and in the processor's caches.

use std::fmt;
use std::ops::Deref;

/// Room in front of an arriving frame. More than any header stack of a real program adds in one pass; a frame
/// that needs more is moved once.
const HEADROOM: usize = 128;

/// Buffers kept for reuse. Enough for the frames of a busy switch, and a bound on what an idle one holds.
const POOL_LIMIT: usize = 4096;

/// The bytes of a frame, without FCS, in a buffer of their own.
///
/// As a slice it is the bytes that are there: all of them, but of a frame that came in through
/// [`crate::Switch::handle_snapped`] without the zeros at its end. [`Frame::len`] and [`Frame::to_vec`] count them.
#[derive(Clone, Default)]
pub struct Frame {
    buffer: Vec<u8>,
    /// Where the frame starts in `buffer`; it goes to the end.
    start: usize,
    /// Zeros behind what is in `buffer`.
    zeros: usize,
}

impl Frame {
    /// Creates a copy of `bytes`.
    pub fn from_slice(bytes: &[u8]) -> Self {
        let mut frame = Self::default();
        frame.fill(bytes, 0);
        frame
    }

    /// Returns the bytes of the frame, those that are not there included.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // A slice's, which would leave the zeros out.
    pub fn len(&self) -> usize {
        self.buffer.len() - self.start + self.zeros
    }

    /// Returns all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        bytes.extend_from_slice(self);
        bytes.resize(self.len(), 0);
        bytes
    }

    /// Returns whether bytes are not there.
    #[inline]
    pub(crate) fn is_snapped(&self) -> bool {
        self.zeros > 0
    }

    /// Puts the zeros there.
    pub(crate) fn make_whole(&mut self) {
        self.buffer.resize(self.buffer.len() + self.zeros, 0);
        self.zeros = 0;
    }

    /// Replaces the contents, keeping the buffer.
    fn fill(&mut self, bytes: &[u8], zeros: usize) {
        // What a used buffer has in front means nothing, so it stays.
        self.buffer.resize(HEADROOM, 0);
        self.buffer.extend_from_slice(bytes);
        self.start = HEADROOM;
        self.zeros = zeros;
    }

    /// Takes the first `count` bytes off and puts `front` in their place.
    ///
    /// # Panics
    /// When there are fewer than `count`.
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

    /// Keeps at most the first `length` bytes.
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

/// Buffers waiting to be used again.
#[derive(Default)]
pub(crate) struct FramePool {
    free: Vec<Frame>,
}

impl FramePool {
    /// Returns a frame with these bytes, in a used buffer if there is one.
    pub(crate) fn copy_of(&mut self, bytes: &[u8]) -> Frame {
        self.snapped(bytes, 0)
    }

    /// Returns the same followed by `zeros` zero bytes, which are not stored.
    pub(crate) fn snapped(&mut self, bytes: &[u8], zeros: usize) -> Frame {
        let mut frame = self.free.pop().unwrap_or_default();
        frame.fill(bytes, zeros);
        frame
    }

    /// Takes a buffer back.
    pub(crate) fn give(&mut self, frame: Frame) {
        // A frame whose buffer was taken out leaves nothing worth keeping.
        if self.free.len() < POOL_LIMIT && frame.buffer.capacity() > 0 {
            self.free.push(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_may_shrink_stay_or_grow_without_touching_the_payload() {
        let mut frame = Frame::from_slice(b"headpayload");
        frame.replace_front(4, b"h");
        assert_eq!(&*frame, b"hpayload");
        frame.replace_front(1, b"longer head ");
        assert_eq!(&*frame, b"longer head payload");
    }

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

    #[test]
    fn a_frame_is_cut_but_never_lengthened() {
        let mut frame = Frame::from_slice(b"abcdef");
        frame.truncate(100);
        assert_eq!(&*frame, b"abcdef");
        frame.truncate(2);
        assert_eq!(&*frame, b"ab");
        frame.truncate(usize::MAX);
        assert_eq!(&*frame, b"ab");
    }

    #[test]
    fn zeros_that_are_not_there_count_until_they_are_cut_off() {
        let mut pool = FramePool::default();
        let mut frame = pool.snapped(b"head", 6);
        assert_eq!((frame.len(), &*frame, frame.to_vec()), (10, &b"head"[..], b"head\0\0\0\0\0\0".to_vec()));
        assert_eq!(frame, Frame::from_slice(b"head\0\0\0\0\0\0"));
        assert_ne!(frame, Frame::from_slice(b"head"));
        frame.replace_front(4, b"h");
        frame.truncate(3);
        assert_eq!((frame.len(), frame.to_vec()), (3, b"h\0\0".to_vec()));
        frame.make_whole();
        assert_eq!((frame.is_snapped(), &*frame), (false, &b"h\0\0"[..]));
        frame = pool.snapped(b"head", 6);
        frame.truncate(2);
        assert_eq!((frame.len(), frame.is_snapped()), (2, false));
    }

    #[test]
    fn a_buffer_given_back_is_the_next_one_used() {
        let mut pool = FramePool::default();
        let frame = pool.copy_of(&[1; 1000]);
        let place = frame.buffer.as_ptr();
        pool.give(frame);
        let again = pool.copy_of(b"short");
        assert_eq!(again.buffer.as_ptr(), place);
        assert_eq!(&*again, b"short");
    }
}
