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

#[cfg(test)]
mod tests {
    use crate::spec::hosts;
    use crate::{Outcome, Workload, WorkloadError};

    use super::*;

    const BELOW_PS: u64 = 12_304_000;

    fn workload(seed: u64, application: &str) -> Result<Workload, WorkloadError> {
        let json = format!(r#"{{"seed": {seed}, "applications": [{application}]}}"#);
        Workload::from_json(json.as_bytes(), &hosts(10)[1..])
    }

    fn incast(jitter: &str) -> String {
        format!(
            r#"{{"kind": "incast", "name": "it", "client": "h1", "servers": ["h2", "h3", "h4", "h5"],
                "bytes_per_server": 1000, "rounds": 2, "start_ps": 7{jitter}}}"#
        )
    }

    /// Runs a workload whose hosts answer at once. Returns the time and the host of each request, in order.
    fn begun(mut workload: Workload) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        workload.start(Time::ZERO);
        while let Some(at) = workload.next_timeout() {
            workload.handle_timeout(at);
            while let Some(action) = workload.poll_action() {
                if let Action::Transfer(transfer) = action {
                    found.push((at.as_ps(), transfer.to));
                    workload.handle_transfer(at, transfer.id, Outcome::Finished);
                }
            }
        }
        found
    }

    #[test]
    fn without_jitter_all_begin_at_once_in_the_order_of_the_description() {
        for absent in ["", r#", "start_jitter_ps": 0"#] {
            let found = begun(workload(1, &incast(absent)).unwrap());
            assert_eq!(found, [1, 2, 3, 4, 1, 2, 3, 4].map(|host| (7, host)));
        }
    }

    #[test]
    fn with_jitter_each_begins_at_a_time_of_its_own_below_the_bound() {
        let found = begun(workload(1, &incast(&format!(r#", "start_jitter_ps": {BELOW_PS}"#))).unwrap());
        assert_eq!(found.len(), 8);
        let (first, second) = found.split_at(4);
        let mut asked: Vec<_> = first.iter().map(|(_, host)| *host).collect();
        asked.sort_unstable();
        assert_eq!(asked, [1, 2, 3, 4]);
        assert!(first.iter().all(|(at, _)| (7..7 + BELOW_PS).contains(at)), "{first:?}");
        assert!(first.windows(2).all(|pair| pair[0].0 < pair[1].0), "{first:?}");
        // The second round begins after the last response of the first, and draws new delays.
        let began = first[3].0;
        assert!(second.iter().all(|(at, _)| (began..began + BELOW_PS).contains(at)), "{second:?}");
        let gaps =
            |round: &[(u64, u32)], began: u64| round.iter().map(|(at, _)| at - began).collect::<Vec<_>>();
        assert_ne!(gaps(first, 7), gaps(second, began));
    }

    #[test]
    fn the_seed_alone_decides_when_transfers_begin() {
        let of = |seed| begun(workload(seed, &incast(r#", "start_jitter_ps": 12304000"#)).unwrap());
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn transfers_of_one_coflow_between_the_same_hosts_begin_apart() {
        let coflow = r#"{"kind": "coflows", "name": "it", "start_jitter_ps": 12304000, "coflows": [{"name": "c",
            "transfers": [{"source": "h1", "destination": "h2", "bytes": 1},
                          {"source": "h1", "destination": "h2", "bytes": 1}]}]}"#;
        let found = begun(workload(1, coflow).unwrap());
        assert_ne!(found[0].0, found[1].0);
    }

    #[test]
    fn kinds_that_draw_their_starts_refuse_jitter() {
        let poisson = r#"{"kind": "poisson", "name": "it", "start_jitter_ps": 1, "duration_ps": 1, "flows":
            [{"source": "h1", "destination": "h2", "load": 0.1, "frame_bytes": 100}]}"#;
        let refused = workload(1, poisson).err().expect("it is refused").to_string();
        assert!(refused.contains("unknown field `start_jitter_ps`"), "{refused}");
    }
}
