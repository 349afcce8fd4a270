//! RACK-TLP (RFC 8985): a segment is lost if a later one has been delivered, and a round-trip time plus an allowance for reordering has passed. A probe
//! asks for a lost tail before the retransmission timer fires.
//!
//! The reaction to a loss is the same as without RACK (`repair.rs`). This file keeps the departure times of segments, and derives losses from them.

use std::collections::VecDeque;

use units::{Duration, Time};

use crate::recovery::DUPLICATE_THRESHOLD;

/// Number of recoveries for which a wider reordering window persists (RFC 8985, 6.2 step 4).
const PERSIST: u32 = 16;

/// A segment that has been sent and not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    end: u64,
    /// The time of its last transmission.
    at: Time,
    /// Whether it was sent more than once.
    again: bool,
    /// Whether the peer holds it.
    held: bool,
    /// Whether it is lost and has not been retransmitted since.
    lost: bool,
}

impl Sent {
    fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// A tail loss probe in flight (RFC 8985, 7.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailProbe {
    /// TLP.end_seq.
    pub(crate) end: u64,
    /// TLP.is_retrans.
    pub(crate) again: bool,
}

/// State of RFC 8985, 5.3 and 7.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// In stream order.
    sent: VecDeque<Sent>,
    /// Bytes that are lost and have not been retransmitted.
    lost: u64,
    ever_lost: u64,
    /// No segment below this offset is lost.
    lost_from: u64,
    held_segments: u32,
    /// RACK.xmit_ts and RACK.end_seq: of the most recently sent segment among those delivered.
    newest: (Time, u64),
    /// RACK.rtt.
    rtt: Duration,
    /// RACK.min_RTT; `Duration::MAX` before there is one.
    min_rtt: Duration,
    /// RACK.fack.
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    widened: u32,
    /// RACK.reo_wnd_persist: recoveries until the reordering window returns to its initial width.
    persist: u32,
    /// RACK.dsack_round: further duplicates count once this offset is acknowledged.
    duplicate_round: u64,
    /// When to look for losses again: the end of the last pending reordering window; `Time::MAX` if there is none.
    pub(crate) reorder_at: Time,
    /// PTO: the time at which a probe is due; `Time::MAX` if none is scheduled.
    pub(crate) probe_at: Time,
    /// Whether a probe must be sent now.
    pub(crate) probe_due: bool,
    pub(crate) probe: Option<TailProbe>,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            min_rtt: Duration::MAX,
            widened: 1,
            persist: PERSIST,
            reorder_at: Time::MAX,
            probe_at: Time::MAX,
            ..Self::default()
        }
    }

    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost
    }

    /// Returns the total number of bytes found lost so far, including those since retransmitted.
    pub(crate) fn ever_lost(&self) -> u64 {
        self.ever_lost
    }

    /// Records that the offsets `[start, end)` are sent; everything below `max` has been sent before.
    #[inline]
    pub(crate) fn note_sent(&mut self, now: Time, start: u64, end: u64, max: u64) {
        if start < max {
            let first = self.sent.partition_point(|sent| sent.end <= start);
            for sent in self.sent.range_mut(first..).take_while(|sent| sent.start < end) {
                (sent.at, sent.again) = (now, true);
                if std::mem::take(&mut sent.lost) {
                    self.lost -= sent.len();
                }
            }
        }
        if end > max {
            let start = start.max(max);
            self.sent.push_back(Sent { start, end, at: now, again: false, held: false, lost: false });
        }
    }

    /// Records that everything below `una` is acknowledged.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, una: u64) {
        while let Some(sent) = self.sent.front().copied().filter(|sent| sent.end <= una) {
            self.sent.pop_front();
            if sent.lost {
                self.lost -= sent.len();
            }
            if sent.held {
                self.held_segments -= 1;
            } else {
                self.deliver(now, &sent);
            }
        }
        if let Some(sent) = self.sent.front_mut().filter(|sent| sent.start < una) {
            if sent.lost {
                self.lost -= una - sent.start;
            }
            sent.start = una;
        }
    }

    /// Records that the peer holds `[left, right)`.
    pub(crate) fn hold(&mut self, now: Time, left: u64, right: u64) {
        let first = self.sent.partition_point(|sent| sent.start < left);
        for index in first..self.sent.len() {
            let sent = &mut self.sent[index];
            if sent.end > right {
                break;
            }
            if sent.held {
                continue;
            }
            sent.held = true;
            self.held_segments += 1;
            if std::mem::take(&mut sent.lost) {
                self.lost -= sent.len();
            }
            let sent = *sent;
            self.deliver(now, &sent);
        }
    }

    /// Records that the peer has received one segment (RFC 8985, 6.2 steps 1 to 3).
    #[inline]
    fn deliver(&mut self, now: Time, sent: &Sent) {
        let rtt = now.saturating_since(sent.at);
        if !sent.again {
            self.min_rtt = self.min_rtt.min(rtt);
        } else if rtt < self.min_rtt {
            // The ACK is for the first transmission.
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max((sent.at, sent.end));
        if sent.end > self.fack {
            self.fack = sent.end;
        } else if !sent.again {
            self.reordering_seen = true;
        }
    }

    /// Widens the reordering window, at most once per round trip: the peer has reported a duplicate, so a segment was
    /// retransmitted too early (RFC 8985, 6.2 step 4).
    pub(crate) fn note_duplicate(&mut self, una: u64, next: u64) {
        if una >= self.duplicate_round {
            self.duplicate_round = next;
            self.widened = self.widened.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Records that a recovery has ended.
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.widened = 1;
        }
    }

    /// Returns RACK.reo_wnd (RFC 8985, 6.2 step 4).
    fn reordering_window(&self, recovering: bool, srtt: Option<Duration>) -> Duration {
        if !self.reordering_seen && (recovering || self.held_segments >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        if self.min_rtt == Duration::MAX {
            return Duration::ZERO;
        }
        let window = Duration::from_ps(self.min_rtt.as_ps() / 4).saturating_mul(self.widened.into());
        window.min(srtt.unwrap_or(Duration::MAX))
    }

    /// Marks the segments that are lost by now, and schedules the next check (RFC 8985, 6.2 step 5).
    pub(crate) fn detect(&mut self, now: Time, recovering: bool, srtt: Option<Duration>) {
        let wait = self.rtt.saturating_add(self.reordering_window(recovering, srtt));
        let mut again_at = None;
        for sent in &mut self.sent {
            if !sent.again && sent.at > self.newest.0 {
                // All later segments were sent later still.
                break;
            }
            if sent.held || sent.lost || (sent.at, sent.end) >= self.newest {
                continue;
            }
            let due = sent.at.saturating_add(wait);
            if due <= now {
                sent.lost = true;
                self.lost += sent.len();
                self.ever_lost += sent.len();
                self.lost_from = self.lost_from.min(sent.start);
            } else {
                again_at = again_at.max(Some(due));
            }
        }
        self.reorder_at = again_at.unwrap_or(Time::MAX);
    }

    /// Handles an expiry of the retransmission timer (RFC 8985, 6.3). `forget`: the peer may have discarded what it held (RFC 2018, 8).
    pub(crate) fn time_out(&mut self, now: Time, srtt: Option<Duration>, forget: bool) {
        let wait = self.rtt.saturating_add(self.reordering_window(false, srtt));
        for (index, sent) in self.sent.iter_mut().enumerate() {
            if forget && std::mem::take(&mut sent.held) {
                self.held_segments -= 1;
            }
            if !sent.held && !sent.lost && (index == 0 || sent.at.saturating_add(wait) <= now) {
                sent.lost = true;
                self.lost += sent.len();
            }
        }
        self.lost_from = 0;
        (self.reorder_at, self.probe_at) = (Time::MAX, Time::MAX);
        (self.probe_due, self.probe) = (false, None);
    }

    /// Clears losses that turned out to be spurious.
    pub(crate) fn forget_losses(&mut self) {
        self.sent.iter_mut().for_each(|sent| sent.lost = false);
        self.lost = 0;
        self.reorder_at = Time::MAX;
    }

    /// Returns the first segment that is lost and has not been retransmitted.
    pub(crate) fn first_lost(&mut self) -> Option<(u64, u64)> {
        if self.lost == 0 {
            return None;
        }
        let from = self.sent.partition_point(|sent| sent.end <= self.lost_from);
        let sent = self.sent.range(from..).find(|sent| sent.lost)?;
        self.lost_from = sent.start;
        Some((sent.start, sent.end))
    }

    /// Returns whether at most one segment is in flight. Its FIN is part of it.
    pub(crate) fn is_single(&self) -> bool {
        self.sent.len() <= 1
    }

    /// Returns the last segment in flight.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.sent.back().map(|sent| (sent.start, sent.end))
    }
}
