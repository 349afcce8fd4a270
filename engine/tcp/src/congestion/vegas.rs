//! TCP Vegas (Brakmo, O'Malley, Peterson, SIGCOMM 1994, section 3.2; Brakmo and Peterson, JSAC 13(8), 1995): the window is held where
//! a few segments wait in the network, as the round-trip time tells.

use units::Duration;

use super::{newreno, Ack, Controller, Window};

/// Fewer segments waiting than this: one more (JSAC, section V: alpha = 2).
const ALPHA: f64 = 2.0;
/// More than this: one less (beta = 4).
const BETA: f64 = 4.0;
/// More than this ends slow start (gamma = 1).
const GAMMA: f64 = 1.0;

/// What has been measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vegas {
    /// Smallest round-trip time ever: that of the path without queues.
    base_rtt: Option<Duration>,
    /// Smallest of this round.
    rtt: Option<Duration>,
    /// A round ends when this is acknowledged.
    round_end: u64,
    /// The round that has just ended, until the window has been set by it.
    ended: Option<Duration>,
    /// Slow start doubles every other round, so that the rounds between measure.
    doubling: bool,
}

impl Vegas {
    #[inline]
    fn double(&self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() && self.doubling {
            newreno::grow(window, ack);
        }
    }
}

impl Controller for Vegas {
    #[inline]
    fn observe(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.rtt = Some(self.rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if ack.una > self.round_end {
            // SND.NXT and not the highest offset sent: after a time-out a round is what has been sent since.
            self.round_end = ack.next;
            self.ended = self.rtt.take();
            self.doubling = !self.doubling;
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, ack: &Ack) {
        let (Some(rtt), Some(base)) = (self.ended.take(), self.base_rtt) else {
            self.double(window, ack);
            return;
        };
        // (Expected - Actual) * BaseRTT, with Expected = cwnd / BaseRTT and Actual = cwnd / RTT.
        let waiting =
            window.cwnd as f64 / window.mss as f64 * (1.0 - base.as_ps() as f64 / rtt.as_ps() as f64);
        if window.in_slow_start() {
            if waiting > GAMMA {
                // As in the authors' code: an eighth less on leaving slow start.
                window.cwnd = (window.cwnd - window.cwnd / 8).max(2 * window.mss);
                window.ssthresh = window.cwnd;
            } else {
                // Below about two segments every ACK ends a round: it must grow the window, too, or nothing ever does.
                self.double(window, ack);
            }
        } else if waiting < ALPHA {
            window.cwnd += window.mss;
        } else if waiting > BETA {
            window.cwnd = (window.cwnd - window.mss).max(2 * window.mss);
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }

    /// Forgets what was measured before the timer fired, which says nothing of the rounds to come; the next ACK begins one that doubles.
    fn on_timeout(&mut self) {
        *self = Self { base_rtt: self.base_rtt, ..Self::default() };
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, window, MSS};
    use super::*;
    use crate::config::Config;

    /// Runs one round of `window` segments with the round-trip time `rtt_us`.
    fn round(vegas: &mut Vegas, window: &mut Window, rtt_us: u64) {
        let rtt = Some(Duration::from_us(rtt_us));
        let ack = Ack { rtt, ..ack(vegas.round_end + 1, 2 * MSS, window.cwnd) };
        vegas.observe(&ack);
        vegas.grow(window, &ack);
    }

    /// Starts each round with 20 segments, and 100 us without a queue. Then 20 (1 - 100/rtt) segments wait: 0.95 at 105 us, 3.05
    /// at 118 us, 4.6 at 130 us.
    #[test]
    fn the_window_is_held_between_two_and_four_waiting_segments() {
        let mut vegas = Vegas { base_rtt: Some(Duration::from_us(100)), ..Vegas::default() };
        for (rtt_us, after) in [(105, 21), (118, 20), (130, 19)] {
            let mut window = window(20, &Config::default());
            round(&mut vegas, &mut window, rtt_us);
            assert_eq!(window.cwnd, after * MSS, "{rtt_us} us");
        }
    }

    #[test]
    fn slow_start_ends_when_more_than_one_segment_waits() {
        let mut vegas = Vegas { base_rtt: Some(Duration::from_us(100)), ..Vegas::default() };
        let mut window = Window { ssthresh: u64::MAX, ..window(16, &Config::default()) };
        round(&mut vegas, &mut window, 106);
        assert!(window.in_slow_start(), "0.9 segments wait");
        assert_eq!(window.cwnd, 18 * MSS, "a round that doubles has begun");
        round(&mut vegas, &mut window, 110);
        let after = 18 * MSS * 7 / 8;
        assert_eq!((window.cwnd, window.ssthresh), (after, after), "1.6 segments wait");
    }
}
