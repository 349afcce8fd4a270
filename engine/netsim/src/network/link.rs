//! One direction of a full-duplex link: frames under way, in the order sent.
//!
//! A frame whose first bit is sent at `t` arrives at `t` + wire time + propagation delay, where the wire time
//! covers the frame and its overhead (preamble, FCS, inter-frame gap). A receiver thus sees a frame one
//! inter-frame gap (12 bytes) after its last bit: what is attributed to this hop is what the hop costs a
//! stream of frames. Frames are stored and forwarded whole; links lose nothing.

use std::collections::VecDeque;

use units::{Duration, Time};

/// Frames of type `F` on their way.
pub struct Link<F> {
    delay: Duration,
    under_way: VecDeque<(Time, F)>,
}

impl<F> Link<F> {
    /// Creates an empty link with this propagation delay.
    pub fn new(delay: Duration) -> Self {
        Self { delay, under_way: VecDeque::new() }
    }

    /// Sends a frame whose first bit leaves at `start` and whose last has left `wire_time` later. Returns when the first frame on the link
    /// arrives, if that is this one.
    ///
    /// # Panics
    /// When the frame would overtake the one before, which a transmitter of one rate cannot make happen.
    #[inline]
    pub fn send(&mut self, start: Time, wire_time: Duration, frame: F) -> Option<Time> {
        let arrival = start + wire_time + self.delay;
        if let Some((last, _)) = self.under_way.back() {
            assert!(*last <= arrival, "a frame overtakes another on a link");
        }
        self.under_way.push_back((arrival, frame));
        (self.under_way.len() == 1).then_some(arrival)
    }

    /// Returns when the next frame arrives.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.under_way.front().map(|(arrival, _)| *arrival)
    }

    /// Takes the frame that has arrived.
    #[inline]
    pub fn receive(&mut self) -> Option<F> {
        self.under_way.pop_front().map(|(_, frame)| frame)
    }

    /// Returns the number of frames under way.
    pub fn len(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, DataRate};

    use super::*;

    #[test]
    fn a_frame_arrives_after_wire_time_and_delay_to_the_picosecond() {
        let rate = DataRate::from_bps(10_000_000_000);
        let wire = rate.transmit_time(Bytes::new(1514 + 24));
        assert_eq!(wire, Duration::from_ps(1_230_400));
        let mut link = Link::new(Duration::from_ns(500));
        assert_eq!(link.send(Time::from_ps(7), wire, 'a'), Some(Time::from_ps(1_730_407)));
        assert_eq!(link.send(Time::from_ps(1_230_407), wire, 'b'), None);
        assert_eq!(link.receive(), Some('a'));
        assert_eq!(link.next_arrival(), Some(Time::from_ps(2_960_807)));
        assert_eq!((link.len(), link.receive(), link.len()), (1, Some('b'), 0));
    }

    #[test]
    #[should_panic(expected = "overtakes")]
    fn overtaking_is_a_broken_invariant() {
        let mut link = Link::new(Duration::ZERO);
        link.send(Time::from_ps(10), Duration::from_ps(5), ());
        link.send(Time::from_ps(10), Duration::from_ps(4), ());
    }
}
