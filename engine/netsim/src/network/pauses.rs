//! Counts of pauses, and of the time for which they pause queues, at switches and at NICs.

use units::{Duration, Time};

use crate::network::nic_classes::{asked, is_mac_control, PRIORITIES};
use crate::network::wiring::Node;
use crate::network::Network;
use crate::report::PausedQueueReport;

/// One queue of a transmitter.
#[derive(Clone, Copy, Default)]
pub(super) struct Queue {
    /// Pauses received for it with a time above 0.
    received: u64,
    /// Start and end of the current pause without a gap; a pause that has ended stays until the next one arrives.
    now: Option<(Time, Time)>,
    paused: Duration,
    longest: Duration,
}

impl Queue {
    /// Notes at `now` that the queue opens at `opens`.
    fn set(&mut self, now: Time, opens: Time) {
        match self.now {
            Some((since, until)) if until >= now => {
                self.now = Some((since, opens.max(now)));
            }
            _ if opens > now => {
                self.close(now);
                self.now = Some((now, opens));
            }
            _ => {}
        }
    }

    /// Counts a pause up to its end, or up to `now`.
    fn close(&mut self, now: Time) {
        if let Some((since, until)) = self.now.take() {
            let span = until.min(now).saturating_since(since);
            self.paused += span;
            self.longest = self.longest.max(span);
        }
    }
}

/// The queues of each direction's transmitter.
pub(super) type Pauses = Vec<[Queue; PRIORITIES]>;

impl Network {
    /// Returns the priorities that a frame pauses, as a bit mask; `None` if it is not a pause, or if no queue has gates.
    #[inline]
    pub(super) fn pause_of(&self, frame: &[u8]) -> Option<u8> {
        if self.pauses.is_none() || !is_mac_control(frame) {
            return None;
        }
        asked(frame)
    }

    /// Notes a pause that has arrived at a node, which may have obeyed it or not.
    #[cold]
    pub(super) fn pause_came(&mut self, now: Time, (node, port): (Node, u16), priorities: u8) {
        let direction = match node {
            Node::Host(host) => host,
            Node::Switch(switch) => match self.switches[switch].wire_at(port) {
                Some(wire) => self.hosts.len() + wire,
                None => return,
            },
        };
        let Some(pauses) = &mut self.pauses else { return };
        for (priority, queue) in pauses[direction].iter_mut().enumerate() {
            queue.received += u64::from(priorities >> priority & 1);
            let opens = match node {
                Node::Host(host) => self.hosts[host].nic.queues.opens_at(priority),
                Node::Switch(switch) => self.switches[switch].switch.pause_ends(port, priority),
            };
            queue.set(now, opens);
        }
    }

    /// Returns the counts of pauses until `now`, by transmitter and priority, for queues that received any.
    pub(crate) fn pause_reports(&self, now: Time) -> Vec<PausedQueueReport> {
        let mut reports = Vec::new();
        let queues = self.pauses.iter().flatten();
        for (direction, queues) in self.directions.iter().zip(queues) {
            for (priority, queue) in queues.iter().enumerate().filter(|(_, queue)| queue.received > 0) {
                let mut queue = *queue;
                queue.close(now);
                reports.push(PausedQueueReport {
                    node: self.node_name(direction.from.0).to_owned(),
                    port: direction.from.1,
                    peer: self.node_name(direction.to.0).to_owned(),
                    peer_port: direction.to.1,
                    priority: priority as u8,
                    pauses: queue.received,
                    paused_ps: queue.paused.as_ps(),
                    longest_ps: queue.longest.as_ps(),
                });
            }
        }
        reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ps(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn pauses_that_follow_without_a_gap_are_one_and_an_early_end_counts() {
        let mut queue = Queue::default();
        queue.set(ps(100), ps(200));
        queue.set(ps(150), ps(260)); // Messages again.
        queue.set(ps(240), ps(0)); // Messages to go on.
        queue.set(ps(250), ps(0));
        queue.set(ps(300), ps(350)); // Runs out by itself.
        queue.set(ps(400), ps(500));
        queue.close(ps(420));
        assert_eq!((queue.paused.as_ps(), queue.longest.as_ps()), (140 + 50 + 20, 140));
    }
}
