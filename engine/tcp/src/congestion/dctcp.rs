//! RFC 8257: the window shrinks in proportion to the fraction of bytes that were marked.

use super::{Ack, Controller, Window};
use crate::config::Config;

/// State of RFC 8257, 3.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dctcp {
    /// DCTCP.Alpha.
    alpha: f64,
    /// g.
    gain: f64,
    /// DCTCP.WindowEnd: the observation window ends when this offset is acknowledged.
    window_end: u64,
    /// DCTCP.BytesAcked.
    acked: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl Dctcp {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            alpha: config.dctcp_initial_alpha,
            gain: config.dctcp_gain,
            window_end: 0,
            acked: 0,
            marked: 0,
        }
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl Controller for Dctcp {
    /// Updates alpha (RFC 8257, 3.3, steps 1 to 8).
    #[inline]
    fn observe(&mut self, ack: &Ack) {
        self.acked += ack.acked;
        self.marked += ack.marked;
        if ack.una <= self.window_end {
            return;
        }
        let fraction = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * fraction;
        (self.acked, self.marked, self.window_end) = (0, 0, ack.sent);
    }

    /// Reduces the window to cwnd * (1 - alpha / 2), at most once per window of data (RFC 8257, 3.3, step 9).
    fn on_mark(&mut self, window: &mut Window) {
        window.reduce_to((window.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64);
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
