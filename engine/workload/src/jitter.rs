//! Start jitter: transfers that an application begins at once are delayed individually and at random, so that equal
//! flows do not stay synchronised and seeds differ.

use std::collections::VecDeque;

use units::{Duration, Time};

use crate::application::Due;
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

    /// Removes the transfers from the application's latest actions, which start at index `begin`, and delays them.
    pub(crate) fn delay(
        &self,
        now: Time,
        delayed: &mut Due<Transfer>,
        actions: &mut VecDeque<Action>,
        begin: usize,
    ) {
        let asked: Vec<_> = actions.drain(begin..).collect();
        let mut nth = 0;
        for action in asked {
            match action {
                Action::Transfer(transfer) => {
                    delayed.push(now.saturating_add(self.of(&transfer, nth)), transfer);
                    nth += 1;
                }
                other => actions.push_back(other),
            }
        }
    }
}
