//! A queue of a NIC: one FIFO, or one queue per flow, served in turn by bytes.
//!
//! Turns follow deficit round robin (Shreedhar and Varghese, IEEE/ACM Transactions on Networking 4(3), 1996) with a quantum of
//! one full frame. A flow is a 5-tuple; frames without one share a queue. A flow that returns after its queue was empty waits for
//! one turn of each flow present. Linux's `fq` serves such a flow first and sends two frames in a turn.

use std::collections::{BTreeMap, VecDeque};

use wire::FiveTuple;

use crate::network::frame::HostFrame;

/// Bytes of frames that a flow may send in a turn: an Ethernet frame with 1500 bytes of IP, without FCS.
const QUANTUM: u32 = 1_514;

/// Frames that wait.
pub(super) enum Queue {
    /// In order of arrival.
    Fifo(VecDeque<HostFrame>),
    /// By flow.
    Fair(Box<Fair>),
}

impl Queue {
    /// Creates an empty queue, which serves flows in turn or is a FIFO.
    pub(super) fn new(is_fair: bool) -> Self {
        if is_fair {
            Self::Fair(Box::default())
        } else {
            Self::Fifo(VecDeque::new())
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fifo(frames) => frames.len(),
            Self::Fair(fair) => fair.waiting,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn push(&mut self, frame: HostFrame) {
        match self {
            Self::Fifo(frames) => frames.push_back(frame),
            Self::Fair(fair) => fair.push(frame),
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<HostFrame> {
        match self {
            Self::Fifo(frames) => frames.pop_front(),
            Self::Fair(fair) => fair.pop(),
        }
    }

    /// Removes the frames that satisfy `is_wanted`; those of a flow stay in order.
    pub(super) fn take(&mut self, is_wanted: impl Fn(&HostFrame) -> bool) -> VecDeque<HostFrame> {
        let held: VecDeque<_> = std::iter::from_fn(|| self.pop()).collect();
        let (wanted, kept): (VecDeque<_>, VecDeque<_>) = held.into_iter().partition(is_wanted);
        kept.into_iter().for_each(|frame| self.push(frame));
        wanted
    }
}

/// Queues of flows.
#[derive(Default)]
pub(super) struct Fair {
    /// Flows with waiting frames; the key is `None` for frames without a flow.
    flows: BTreeMap<Option<FiveTuple>, Flow>,
    /// The same in the order of their turns.
    turns: VecDeque<Option<FiveTuple>>,
    waiting: usize,
}

struct Flow {
    frames: VecDeque<HostFrame>,
    /// Bytes that it may still send in its turn.
    deficit: u32,
}

impl Fair {
    fn push(&mut self, frame: HostFrame) {
        let key = FiveTuple::of_beginning(&frame.captured);
        let flow = self.flows.entry(key).or_insert_with(|| {
            self.turns.push_back(key);
            Flow { frames: VecDeque::new(), deficit: QUANTUM }
        });
        flow.frames.push_back(frame);
        self.waiting += 1;
    }

    fn pop(&mut self) -> Option<HostFrame> {
        loop {
            let key = *self.turns.front()?;
            let flow = self.flows.get_mut(&key)?;
            let fits = |frame: &HostFrame| frame.wire_len <= flow.deficit;
            if !flow.frames.front().is_some_and(fits) {
                flow.deficit = flow.deficit.saturating_add(QUANTUM);
                self.turns.rotate_left(1);
                continue;
            }
            let frame = flow.frames.pop_front()?;
            flow.deficit -= frame.wire_len;
            if flow.frames.is_empty() {
                self.flows.remove(&key);
                self.turns.pop_front();
            }
            self.waiting -= 1;
            return Some(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the beginning of a datagram from this port, or without a port a frame that is not IP.
    fn frame(port: Option<u16>, wire_len: u32, number: u32) -> HostFrame {
        let mut captured = vec![0; 12];
        if let Some(port) = port {
            captured.extend([8, 0, 0x45, 0, 5, 0xDC, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            captured.extend(port.to_be_bytes());
            captured.extend([0, 9, 5, 0xC8, 0, 0]);
        }
        HostFrame { captured, wire_len, number, ..HostFrame::default() }
    }

    fn numbers(queue: &mut Queue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|frame| frame.number).collect()
    }

    #[test]
    fn one_small_flow_behind_a_long_one_waits_for_one_turn_and_not_for_the_whole_queue() {
        for (mut queue, order) in
            [(Queue::new(false), [1, 2, 3, 4, 5, 6]), (Queue::new(true), [1, 4, 5, 2, 6, 3])]
        {
            for number in 1..4 {
                queue.push(frame(Some(7), 1_514, number));
            }
            for number in 4..7 {
                queue.push(frame(Some(8), 700, number));
            }
            assert_eq!(numbers(&mut queue), order);
            assert!(queue.is_empty());
        }
    }

    #[test]
    fn a_frame_longer_than_a_turn_waits_until_its_flow_has_saved_enough_and_frames_without_a_flow_are_one() {
        let mut queue = Queue::new(true);
        for (port, wire_len, number) in
            [(Some(7), 9_014, 1), (Some(7), 60, 2), (None, 1_514, 3), (None, 1_514, 4)]
        {
            queue.push(frame(port, wire_len, number));
        }
        assert_eq!(numbers(&mut queue), [3, 4, 1, 2]);
    }

    #[test]
    fn a_flow_that_was_away_has_saved_nothing() {
        let mut queue = Queue::new(true);
        queue.push(frame(Some(7), 60, 0));
        assert_eq!(numbers(&mut queue), [0]);
        for number in 1..3 {
            queue.push(frame(Some(7), 1_500, number));
        }
        queue.push(frame(Some(8), 1_500, 3));
        assert_eq!(numbers(&mut queue), [1, 3, 2]);
    }

    #[test]
    fn what_is_taken_out_leaves_the_others_in_order() {
        let mut queue = Queue::new(true);
        for number in 0..6 {
            queue.push(frame(Some(7 + number as u16 % 2), 1_514, number));
        }
        let taken = queue.take(|frame| frame.number % 2 == 1);
        assert_eq!(taken.iter().map(|frame| frame.number).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!((queue.len(), numbers(&mut queue)), (3, vec![0, 2, 4]));
    }

    proptest::proptest! {
        /// Checks the bound of Shreedhar and Varghese: of two flows that wait all the time, neither gets more than a turn and a
        /// frame ahead.
        #[test]
        fn flows_that_wait_all_the_time_have_equal_bytes_whatever_their_frames_are(
            lengths in proptest::collection::vec((60_u32..1_515, 60_u32..1_515, 60_u32..1_515), 20..60),
        ) {
            let mut queue = Queue::new(true);
            let mut left = [0_usize; 3];
            for (a, b, c) in &lengths {
                for (port, length) in [(0, *a), (1, *b), (2, *c)] {
                    queue.push(frame(Some(port), length, u32::from(port)));
                    left[usize::from(port)] += 1;
                }
            }
            let mut sent = [0_u32; 3];
            let mut frames = 3 * lengths.len();
            while left.iter().all(|count| *count > 0) {
                let frame = queue.pop().unwrap();
                sent[frame.number as usize] += frame.wire_len;
                left[frame.number as usize] -= 1;
                frames -= 1;
                let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
                proptest::prop_assert!(most - least <= 2 * QUANTUM + 1_514, "{:?}", sent);
                proptest::prop_assert_eq!(queue.len(), frames);
            }
        }
    }
}
