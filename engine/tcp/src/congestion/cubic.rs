//! RFC 9438: the window follows a cubic function of the time since the last reduction.
//!
//! Window sizes in segments are floating point, as in the RFC's equations.

use units::Time;

use super::{newreno, Ack, Controller, Window};

/// C, in segments per second cubed (RFC 9438, 5.1).
const C: f64 = 0.4;
/// Multiplicative decrease (RFC 9438, 4.6).
const BETA: f64 = 0.7;
/// Growth of the Reno-friendly estimate, in segments per round-trip time (RFC 9438, 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The start, moved forward by all excluded time.
    start: Time,
    /// The time up to which the epoch has been accounted for: counted or excluded.
    accounted: Time,
    /// Seconds until the window returns to `w_max` (equation 2).
    k: f64,
    /// The window that Reno would have.
    w_est: f64,
}

/// State of RFC 9438, 4.1.2; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cubic {
    /// Window before the last reduction, or less with fast convergence.
    w_max: f64,
    /// Window before the last reduction.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// Fraction of a byte still to be added to the window.
    fraction: f64,
}

impl Cubic {
    /// Records the window before a reduction to BETA of it (RFC 9438, 4.6), with fast convergence (4.7), and ends the epoch.
    fn reduce(&mut self, window: &Window) {
        let cwnd = window.cwnd as f64 / window.mss as f64;
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        (self.epoch, self.fraction) = (None, 0.0);
    }
}

impl Controller for Cubic {
    #[inline]
    fn grow(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            return newreno::grow(window, ack);
        }
        let mss = window.mss as f64;
        let cwnd = window.cwnd as f64 / mss;
        let acked = ack.acked as f64 / mss;
        let epoch = self.epoch.get_or_insert_with(|| {
            // RFC 9438, 4.2 and 4.8: a stage that starts above W_max starts at its plateau.
            self.w_max = self.w_max.max(cwnd);
            let k = cube_root((self.w_max - cwnd) / C);
            Epoch { start: ack.now, accounted: ack.now, k, w_est: cwnd }
        });
        epoch.accounted = ack.now;
        // RFC 9438, 4.3, equation 4.
        let alpha = if epoch.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        let t = ack.now.saturating_since(epoch.start).as_secs_f64();
        let at = |t: f64| C * (t - epoch.k) * (t - epoch.k) * (t - epoch.k) + self.w_max;
        let grown = if at(t) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            // RFC 9438, 4.4 and 4.5: approaches the function's value one round-trip time ahead, at most 1.5 times the window.
            let rtt = ack.srtt.map_or(0.0, |srtt| srtt.as_secs_f64());
            let target = at(t + rtt).max(cwnd).min(1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * acked
        };
        let bytes = (grown - cwnd) * mss + self.fraction;
        window.cwnd += bytes as u64;
        self.fraction = bytes - (bytes as u64) as f64;
    }

    fn on_mark(&mut self, window: &mut Window) {
        self.reduce(window);
        window.reduce_to((window.cwnd as f64 * BETA) as u64);
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.reduce(window);
        window.lose_to((flight as f64 * BETA) as u64);
    }

    /// Prepares the first congestion avoidance after a timeout, which starts with K = 0 and W_max = cwnd (RFC 9438, 4.8).
    fn on_timeout(&mut self) {
        self.w_max = 0.0;
        self.after_idle();
    }

    /// Excludes the time in which the application limited the flow, so that its window did not grow (RFC 9438, 4.2 and 5.8).
    #[inline]
    fn unused(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.saturating_since(epoch.accounted);
            epoch.accounted = now;
        }
    }

    /// Ends the stage: the window restarts from the initial one.
    fn after_idle(&mut self) {
        self.epoch = None;
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

/// Returns the cube root of a non-negative number by Newton's method, accurate to the last bits.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // A third of the exponent gives a first estimate within a few percent.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2A9F_7893_0000_0000);
    for _ in 0..4 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}
