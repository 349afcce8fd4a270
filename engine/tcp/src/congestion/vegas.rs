//! TCP Vegas (Brakmo, O'Malley, Peterson, SIGCOMM 1994, section 3.2; Brakmo and Peterson, JSAC 13(8), 1995): keeps the
//! window at a size at which a few segments wait in the network, as estimated from the round-trip time.

use units::Duration;

use super::{newreno, Ack, Controller, Window};

/// With fewer waiting segments, the window grows by one (JSAC, section V: alpha = 2).
const ALPHA: f64 = 2.0;
/// With more waiting segments, the window shrinks by one (beta = 4).
const BETA: f64 = 4.0;
/// With more waiting segments, slow start ends (gamma = 1).
const GAMMA: f64 = 1.0;

/// The measurements and the state of the rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vegas {
    /// Minimum round-trip time so far: an estimate of the path's without queues.
    base_rtt: Option<Duration>,
    /// Minimum of this round.
    rtt: Option<Duration>,
    /// The round ends when this offset is acknowledged.
    round_end: u64,
    /// Minimum of the round that has just ended, until the window has been adjusted to it.
    ended: Option<Duration>,
    /// Whether slow start grows in this round. It doubles every other round; the rounds between measure.
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
            // SND.NXT, not the highest offset sent: after a timeout, a round consists of the data sent since.
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
                // As in the authors' code: leaving slow start reduces the window by an eighth.
                window.cwnd = (window.cwnd - window.cwnd / 8).max(2 * window.mss);
                window.ssthresh = window.cwnd;
            } else {
                // Below about two segments every ACK ends a round, so this ACK must grow the window, or none ever would.
                self.double(window, ack);
            }
        } else if waiting < ALPHA {
            window.cwnd += window.mss;
        } else if waiting > BETA {
            window.cwnd = (window.cwnd - window.mss).max(2 * window.mss);
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }

    /// Discards the measurements from before the timeout, which do not apply to later rounds; the next ACK begins a round that doubles.
    fn on_timeout(&mut self) {
        *self = Self { base_rtt: self.base_rtt, ..Self::default() };
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
