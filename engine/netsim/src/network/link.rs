//! One direction of a full-duplex link: the frames under way, in the order sent.
//!
//! A frame whose first bit is sent at `t` arrives at `t` + wire time + propagation delay, where the wire time covers
//! the frame and its overhead (preamble, FCS, inter-frame gap). A receiver thus gets a frame one inter-frame gap (12
//! bytes) after its last bit: the time of a hop is what the hop costs a stream of frames. Frames are stored and
//! forwarded whole. A link loses only the frames that are on it while it is down.

use std::collections::VecDeque;

use units::{Duration, Time};

/// Frames of type `F` on their way.
pub struct Link<F> {
    delay: Duration,
    under_way: VecDeque<(Time, F)>,
    /// Number of lost frames, from the first frame under way on. All are lost while the link is down.
    lost: usize,
}

impl<F> Link<F> {
    /// Creates an empty link with this propagation delay.
    pub fn new(delay: Duration) -> Self {
        Self { delay, under_way: VecDeque::new(), lost: 0 }
    }

    /// Sends a frame whose first bit leaves at `start` and whose last bit has left `wire_time` later. Returns its
    /// arrival time if it is the first frame on the link.
    ///
    /// # Panics
    /// If the frame would overtake the one before it, which is impossible for a transmitter of one rate.
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

    /// Takes the frame at the end of the link. Returns it, and whether it is lost.
    #[inline]
    pub fn receive(&mut self) -> Option<(F, bool)> {
        let (_, frame) = self.under_way.pop_front()?;
        Some((frame, self.lost > 0 && self.lose()))
    }

    #[cold]
    fn lose(&mut self) -> bool {
        if self.lost != usize::MAX {
            self.lost -= 1;
        }
        true
    }

    /// Sets the link state. Frames that are on the link at any time while it is down are lost.
    pub fn set_up(&mut self, is_up: bool) {
        self.lost = if is_up { self.under_way.len() } else { usize::MAX };
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
        assert_eq!(link.receive(), Some(('a', false)));
        assert_eq!(link.next_arrival(), Some(Time::from_ps(2_960_807)));
        assert_eq!((link.len(), link.receive(), link.len()), (1, Some(('b', false)), 0));
    }

    #[test]
    fn frames_that_were_on_the_link_while_it_was_down_are_lost_and_later_ones_are_not() {
        let mut link = Link::new(Duration::from_ps(100));
        let send = |link: &mut Link<char>, at, frame| link.send(Time::from_ps(at), Duration::ZERO, frame);
        send(&mut link, 0, 'a');
        assert_eq!(link.receive(), Some(('a', false)));
        send(&mut link, 1, 'b'); // Under way when it goes down, and gone before it is up again.
        send(&mut link, 2, 'c'); // Under way from before until after.
        link.set_up(false);
        send(&mut link, 3, 'd');
        assert_eq!(link.receive(), Some(('b', true)));
        link.set_up(true);
        send(&mut link, 4, 'e');
        let found: Vec<_> = std::iter::from_fn(|| link.receive()).collect();
        assert_eq!(found, [('c', true), ('d', true), ('e', false)]);
    }

    #[test]
    #[should_panic(expected = "overtakes")]
    fn overtaking_is_a_broken_invariant() {
        let mut link = Link::new(Duration::ZERO);
        link.send(Time::from_ps(10), Duration::from_ps(5), ());
        link.send(Time::from_ps(10), Duration::from_ps(4), ());
    }
}
