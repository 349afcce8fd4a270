//! Frame buffers that are used again, with room in front for headers that grow.
//!
//! A frame's bytes stand at the end of their buffer, as in BMv2's packet buffer: a header that grows takes
//! room in front, and the payload never moves. Steady traffic allocates nothing: a buffer that leaves with a
//! [`Frame`] comes back through [`FramePool::give`], or with a frame that arrives.

use std::fmt;
use std::ops::Deref;

/// Room in front of an arriving frame. More than any header stack of a real program adds in one pass; a frame
/// that needs more is moved once.
const HEADROOM: usize = 128;

/// Buffers kept for reuse. Enough for the frames of a busy switch, and a bound on what an idle one holds.
const POOL_LIMIT: usize = 4096;

/// The bytes of a frame, without FCS, in a buffer of their own.
#[derive(Clone, Default)]
pub struct Frame {
    buffer: Vec<u8>,
    /// Where the frame starts in `buffer`; it goes to the end.
    start: usize,
}

impl Frame {
    /// A copy of `bytes`.
    pub fn from_slice(bytes: &[u8]) -> Self {
        let mut frame = Self::default();
        frame.fill(bytes);
        frame
    }

    /// Replaces the contents, keeping the buffer.
    fn fill(&mut self, bytes: &[u8]) {
        // What a used buffer has in front means nothing, so it stays.
        self.buffer.resize(HEADROOM, 0);
        self.buffer.extend_from_slice(bytes);
        self.start = HEADROOM;
    }

    /// Takes the first `count` bytes off and puts `front` in their place.
    ///
    /// # Panics
    /// When the frame is shorter than `count`.
    pub(crate) fn replace_front(&mut self, count: usize, front: &[u8]) {
        assert!(count <= self.len(), "more bytes are taken off a frame than it has");
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
        **self == **other
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
    /// A frame with these bytes, in a used buffer if there is one.
    pub(crate) fn copy_of(&mut self, bytes: &[u8]) -> Frame {
        let mut frame = self.free.pop().unwrap_or_default();
        frame.fill(bytes);
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
