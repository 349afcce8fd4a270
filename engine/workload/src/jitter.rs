//! Start jitter: transfers that an application begins at once are delayed individually and at random, so that equal
//! flows do not stay synchronised and seeds differ.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use units::{Duration, Time};

use crate::random::{Purpose, Stream};
use crate::transfer::{Action, Transfer};

/// The random start delay of an application's transfers.
pub(crate) struct Jitter {
    seed: u64,
    application: u64,
    below_ps: u64,
}

impl Jitter {
    /// Creates the jitter of an application's transfers; `None` without delays.
    pub(crate) fn new(seed: u64, application: u64, below_ps: u64) -> Option<Self> {
        (below_ps > 0).then_some(Self { seed, application, below_ps })
    }

    /// Returns the delay of a transfer, the `nth` of those that its application began at the same time.
    fn of(&self, transfer: &Transfer, nth: u64) -> Duration {
        let place = [self.application, transfer.id.token, transfer.group.unwrap_or(u64::MAX), nth];
        Duration::from_ps(Stream::new(self.seed, Purpose::StartJitter, &place).below(self.below_ps))
    }
}

/// Transfers still to begin, in order of time; those for the same time are in the order in which they were added.
#[derive(Default)]
pub(crate) struct Delayed {
    heap: BinaryHeap<Reverse<(Time, u64)>>,
    transfers: VecDeque<Option<Transfer>>,
    /// The number of the first transfer in `transfers`.
    first: u64,
}

impl Delayed {
    /// Removes the transfers from an application's latest actions, which start at index `begin`, and delays them.
    pub(crate) fn take(&mut self, now: Time, jitter: &Jitter, actions: &mut VecDeque<Action>, begin: usize) {
        let asked: Vec<_> = actions.drain(begin..).collect();
        let mut nth = 0;
        for action in asked {
            match action {
                Action::Transfer(transfer) => {
                    let at = now.saturating_add(jitter.of(&transfer, nth));
                    self.heap.push(Reverse((at, self.first + self.transfers.len() as u64)));
                    self.transfers.push_back(Some(transfer));
                    nth += 1;
                }
                other => actions.push_back(other),
            }
        }
    }

    /// Returns the start of the next transfer.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Returns the next transfer that begins by `now`.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Transfer> {
        let Reverse((at, number)) = *self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        let due = self.transfers[(number - self.first) as usize].take();
        while let Some(None) = self.transfers.front() {
            self.transfers.pop_front();
            self.first += 1;
        }
        due
    }
}
