//! HyStart++ (RFC 9406): slow start ends when the round-trip times of a round rise, before the queue is full.
//!
//! Only the first slow start uses it (RFC 9406, 4.3). The RFC measures a round-trip time with every ACK. Here some
//! segments of each round are timed, enough to give the required number of samples with delayed ACKs.

use units::{Duration, Time};

use crate::config::HyStart as Thresholds;

/// MIN_RTT_DIVISOR (RFC 9406, 4.3).
const RTT_DIVISOR: u64 = 8;
/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR.
const GROWTH_DIVISOR: u64 = 4;
/// CSS_ROUNDS.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// Maximum number of segments timed at once: with an ACK for every two segments, twice the required number of samples.
const TIMED: usize = 32;

/// The next step of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// An ACK enlarges the window by the acknowledged bytes divided by this.
    Divided(u64),
    /// Slow start is over: ssthresh = cwnd.
    Over,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt: a smaller round-trip time means that there was no queue.
    baseline: Duration,
    /// Rounds in this state, including the partial one.
    rounds: u32,
}

/// State of RFC 9406, 4.2.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    thresholds: Thresholds,
    /// windowEnd: the round ends when this offset is acknowledged.
    round_end: u64,
    /// Whether nothing was in flight when the round began: data sent before the first ACK belongs to this round.
    opening: bool,
    /// lastRoundMinRTT.
    last: Option<Duration>,
    /// currentRoundMinRTT.
    current: Option<Duration>,
    /// rttSampleCount.
    samples: u32,
    conservative: Option<Conservative>,
    /// Ends and departure times of timed segments in flight: a ring, indexed by the counts `timed_from` to `timed_to`.
    timed: [(u64, Time); TIMED],
    timed_from: usize,
    timed_to: usize,
}

impl HyStart {
    pub(crate) fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            round_end: 0,
            opening: true,
            last: None,
            current: None,
            samples: 0,
            conservative: None,
            timed: [(0, Time::ZERO); TIMED],
            timed_from: 0,
            timed_to: 0,
        }
    }

    /// Records that a segment up to `end` has left. Retransmissions, and segments sent before them, give no samples (Karn).
    pub(crate) fn note_sent(&mut self, now: Time, end: u64, again: bool) {
        if again {
            self.timed_from = self.timed_to;
            return;
        }
        if self.opening {
            self.round_end = end;
        }
        if self.timed_to - self.timed_from < TIMED {
            self.timed[self.timed_to % TIMED] = (end, now);
            self.timed_to += 1;
        }
    }

    /// Handles an ACK that has moved SND.UNA to `una`. `next` is SND.NXT; `rtt` is the round-trip time of its timestamp, if any.
    pub(crate) fn acknowledge(&mut self, now: Time, una: u64, next: u64, rtt: Option<Duration>) -> Growth {
        let timed = self.take_timed(una).map(|sent| now.saturating_since(sent));
        if let Some(rtt) = timed.or(rtt) {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            self.judge();
        }
        if una < self.round_end {
            self.opening = false;
        } else {
            self.round_end = next;
            self.opening = next == una;
            (self.last, self.current, self.samples) = (self.current, None, 0);
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                if conservative.rounds >= CONSERVATIVE_ROUNDS {
                    return Growth::Over;
                }
            }
        }
        Growth::Divided(if self.conservative.is_some() { GROWTH_DIVISOR } else { 1 })
    }

    /// Returns the departure time of the last timed segment that is now acknowledged.
    fn take_timed(&mut self, una: u64) -> Option<Time> {
        let mut sent = None;
        while self.timed_from < self.timed_to && self.timed[self.timed_from % TIMED].0 <= una {
            sent = Some(self.timed[self.timed_from % TIMED].1);
            self.timed_from += 1;
        }
        sent
    }

    /// Decides from this round's samples, once there are enough, whether there is a queue: enters or leaves
    /// conservative slow start.
    fn judge(&mut self) {
        let Some(current) = self.current else { return };
        match (self.conservative, self.last) {
            (None, Some(last)) => {
                let eighth = Duration::from_ps(last.as_ps() / RTT_DIVISOR);
                let Thresholds { min_rtt_thresh, max_rtt_thresh } = self.thresholds;
                let threshold = eighth.min(max_rtt_thresh).max(min_rtt_thresh);
                if current >= last.saturating_add(threshold) {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
            (Some(conservative), _) if current < conservative.baseline => self.conservative = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks Karn's algorithm: of ten segments, those sent before a retransmission are not measured.
    #[test]
    fn what_was_sent_again_does_not_measure() {
        let mut hystart = HyStart::new(Thresholds::default());
        for end in 1..=10 {
            hystart.note_sent(Time::ZERO, end, end == 3);
        }
        let late = Time::ZERO + Duration::from_secs(1);
        for una in 1..=9 {
            assert_eq!(hystart.acknowledge(late, una, 20, None), Growth::Divided(1));
        }
        assert_eq!(hystart.samples, 6);
    }
}
