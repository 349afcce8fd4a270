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
