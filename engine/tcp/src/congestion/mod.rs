//! Congestion control: how the window answers to ACKs, marks and losses. One file an algorithm.
//!
//! When losses are found and what is sent again is decided elsewhere (`repair.rs`), the same for all.
//! The algorithms are variants of one enum, so that nothing on a segment's way is allocated or called through a table.
//! Arithmetic on floating point uses only operations whose result IEEE 754 fixes, so that every machine gives the same.

mod cubic;
mod dctcp;
mod newreno;
mod vegas;

use units::{Duration, Time};

use crate::config::{Algorithm, Config};
use cubic::Cubic;
use dctcp::Dctcp;
use vegas::Vegas;

/// The congestion window and the slow start threshold, in bytes (RFC 5681, 2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// SMSS: maximum payload of a segment, in bytes.
    pub(crate) mss: u64,
    /// The window that a connection begins with.
    pub(crate) initial: u64,
    /// An ECN mark leaves at least this.
    pub(crate) min_cwnd: u64,
    /// Acknowledged bytes that have not enlarged the window yet.
    credit: u64,
}

impl Window {
    pub(crate) fn new(config: &Config, mss: u64) -> Self {
        let initial = u64::from(config.initial_window_segments) * mss;
        Self {
            cwnd: initial,
            ssthresh: u64::MAX, // RFC 5681, 3.1: arbitrarily high.
            mss,
            initial,
            min_cwnd: u64::from(config.min_window_segments) * mss,
            credit: 0,
        }
    }

    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 5681, equation 4: no threshold is below two segments.
    fn threshold(&self, bytes: u64) -> u64 {
        bytes.max(2 * self.mss)
    }

    /// The window becomes `cwnd`, and growth goes on from there linearly.
    fn reduce_to(&mut self, cwnd: u64) {
        self.cwnd = cwnd.max(self.min_cwnd.min(self.cwnd));
        self.ssthresh = self.threshold(self.cwnd);
        self.credit = 0;
    }
}

/// What an ACK that moved SND.UNA says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) now: Time,
    /// Bytes newly acknowledged.
    pub(crate) acked: u64,
    /// SND.UNA with it.
    pub(crate) una: u64,
    /// Highest offset sent.
    pub(crate) sent: u64,
    /// SND.NXT: where sending goes on; behind `sent` after a time-out only.
    pub(crate) next: u64,
    /// Of these, bytes that were marked; with classic ECN all or none.
    pub(crate) marked: u64,
    /// A round-trip time, if this ACK gave one.
    pub(crate) rtt: Option<Duration>,
    pub(crate) srtt: Option<Duration>,
    /// Maximum number of segments by which slow start may grow with one ACK (RFC 3465, 2.3).
    pub(crate) slow_start_limit: u64,
    /// Slow start grows by this part of what an ACK acknowledges; at least 1 (RFC 9406, 4.2).
    pub(crate) slow_start_divisor: u64,
}

/// One of the algorithms with its state.
#[derive(Clone, Debug)]
pub(crate) enum Congestion {
    NewReno,
    Dctcp(Dctcp),
    Cubic(Cubic),
    Vegas(Vegas),
}

impl Congestion {
    pub(crate) fn new(config: &Config) -> Self {
        match config.algorithm {
            Algorithm::NewReno => Self::NewReno,
            Algorithm::Dctcp => Self::Dctcp(Dctcp::new(config)),
            Algorithm::Cubic => Self::Cubic(Cubic::default()),
            Algorithm::Vegas => Self::Vegas(Vegas::default()),
        }
    }

    /// Observes every ACK that moves SND.UNA, whatever else it means.
    #[inline]
    pub(crate) fn observe(&mut self, ack: &Ack) {
        match self {
            Self::Dctcp(dctcp) => dctcp.observe(ack),
            Self::Vegas(vegas) => vegas.observe(ack),
            Self::NewReno | Self::Cubic(_) => {}
        }
    }

    /// Lets the window grow with an ACK: the flow uses its window, is not recovering, and the ACK tells of no mark.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, ack: &Ack) {
        match self {
            Self::NewReno | Self::Dctcp(_) => newreno::grow(window, ack),
            Self::Cubic(cubic) => cubic.grow(window, ack),
            Self::Vegas(vegas) => vegas.grow(window, ack),
        }
    }

    /// Answers a mark, at most once a window of data.
    pub(crate) fn on_mark(&mut self, window: &mut Window) {
        match self {
            Self::NewReno | Self::Vegas(_) => newreno::on_mark(window),
            Self::Dctcp(dctcp) => dctcp.on_mark(window),
            Self::Cubic(cubic) => cubic.on_mark(window),
        }
    }

    /// Sets the threshold for a loss found by duplicate ACKs, with `flight` bytes under way. The window follows from it.
    pub(crate) fn on_loss(&mut self, window: &mut Window, flight: u64) {
        match self {
            // RFC 8257, 3.5: DCTCP answers to loss as every TCP does.
            Self::NewReno | Self::Dctcp(_) | Self::Vegas(_) => newreno::on_loss(window, flight),
            Self::Cubic(cubic) => cubic.on_loss(window, flight),
        }
    }

    /// Makes the window one segment because the retransmission timer has fired (RFC 5681, 3.1). The threshold is set when this is the first
    /// time for this segment.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, flight: u64, first: bool) {
        if first {
            self.on_loss(window, flight);
        }
        match self {
            Self::Cubic(cubic) => cubic.on_timeout(),
            Self::Vegas(vegas) => vegas.on_timeout(),
            Self::NewReno | Self::Dctcp(_) => {}
        }
        window.cwnd = window.mss;
        window.credit = 0;
    }

    /// Starts again after nothing has been sent for longer than an RTO.
    pub(crate) fn after_idle(&mut self) {
        if let Self::Cubic(cubic) = self {
            cubic.after_idle();
        }
    }

    /// Notes that until now the application, and not the window, has limited what was sent: since the last ACK, or since nothing was under
    /// way.
    #[inline]
    pub(crate) fn unused(&mut self, now: Time) {
        if let Self::Cubic(cubic) = self {
            cubic.unused(now);
        }
    }

    /// Returns DCTCP's estimate of the fraction of marked bytes.
    pub(crate) fn alpha(&self) -> Option<f64> {
        match self {
            Self::Dctcp(dctcp) => Some(dctcp.alpha()),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    pub(crate) const MSS: u64 = 1_000;

    pub(crate) fn window(segments: u64, config: &Config) -> Window {
        Window { cwnd: segments * MSS, ssthresh: segments * MSS, ..Window::new(config, MSS) }
    }

    /// Makes an ACK of `acked` bytes up to `una`; a window of `flight` bytes is sent beyond it.
    pub(crate) fn ack(una: u64, acked: u64, flight: u64) -> Ack {
        Ack {
            now: Time::ZERO,
            acked,
            una,
            sent: una + flight,
            next: una + flight,
            marked: 0,
            rtt: None,
            srtt: None,
            slow_start_limit: 2,
            slow_start_divisor: 1,
        }
    }
}
