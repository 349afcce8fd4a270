//! Congestion control: how the window reacts to ACKs, marks and losses. One file per algorithm.
//!
//! `repair.rs` detects losses and decides what is retransmitted, in the same way for all algorithms. The crate's own algorithms
//! are variants of one enum, so that processing a segment needs no allocation and no dynamic dispatch. Floating-point arithmetic
//! uses only operations whose result IEEE 754 specifies exactly, so that all machines give the same results.

mod cubic;
mod dctcp;
mod newreno;
mod vegas;

use std::fmt::Debug;

use units::{Duration, Time};

use crate::config::{Algorithm, Config, Settings, MAX_WINDOW};
use cubic::Cubic;
use dctcp::Dctcp;
pub use newreno::NewReno;
use vegas::Vegas;

/// The congestion window and the slow start threshold, in bytes (RFC 5681, 2).
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The congestion window.
    pub cwnd: u64,
    /// The slow start threshold; `u64::MAX` until the first loss or mark (RFC 5681, 3.1: arbitrarily high).
    pub ssthresh: u64,
    pub(crate) mss: u64,
    pub(crate) initial: u64,
    pub(crate) min_cwnd: u64,
    /// Acknowledged bytes that have not enlarged the window yet.
    credit: u64,
}

impl Window {
    pub(crate) fn new(config: &Config, mss: u64) -> Self {
        let initial = u64::from(config.initial_window_segments) * mss;
        Self {
            cwnd: initial,
            ssthresh: u64::MAX,
            mss,
            initial,
            min_cwnd: u64::from(config.min_window_segments) * mss,
            credit: 0,
        }
    }

    /// Returns SMSS: the maximum payload of a segment, in bytes.
    #[inline]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// Returns the initial window of the connection, in bytes.
    #[inline]
    pub fn initial(&self) -> u64 {
        self.initial
    }

    /// Returns the minimum window after an ECN mark, in bytes.
    #[inline]
    pub fn min_cwnd(&self) -> u64 {
        self.min_cwnd
    }

    /// Returns whether the window is below the slow start threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Sets the window to `cwnd` bytes, but at least [`Window::min_cwnd`]; from there it grows linearly.
    pub fn reduce_to(&mut self, cwnd: u64) {
        self.cwnd = cwnd.max(self.min_cwnd.min(self.cwnd));
        self.ssthresh = self.threshold(self.cwnd);
        self.credit = 0;
    }

    /// Sets the slow start threshold after a loss to `bytes`, but at least two segments (RFC 5681, equation 4).
    pub fn lose_to(&mut self, bytes: u64) {
        self.ssthresh = self.threshold(bytes);
        self.credit = 0;
    }

    fn threshold(&self, bytes: u64) -> u64 {
        bytes.max(2 * self.mss)
    }
}

/// The content of an ACK that moved SND.UNA. Offsets and byte counts start at the beginning of the stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ack {
    /// Arrival time.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// SND.UNA after this ACK.
    pub una: u64,
    /// Highest offset sent.
    pub sent: u64,
    /// SND.NXT: the next offset to send; less than `sent` only after a timeout.
    pub next: u64,
    /// Number of the acknowledged bytes that were marked; with classic ECN all or none.
    pub marked: u64,
    /// The round-trip time measured by this ACK, if any.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time (RFC 6298, 2).
    pub srtt: Option<Duration>,
    /// Maximum number of segments by which slow start may grow with one ACK (RFC 3465, 2.3).
    pub slow_start_limit: u64,
    /// Divisor of slow start's growth per ACK; at least 1 (RFC 9406, 4.2).
    pub slow_start_divisor: u64,
}

/// A congestion control algorithm: its reactions to the events of a connection. The default implementations behave like NewReno.
///
/// Connections use a custom controller through [`Settings::with_controller`].
pub trait Controller: Debug + Send + Sync {
    /// Observes every ACK that moves SND.UNA, before any reaction to it.
    #[inline]
    fn observe(&mut self, _ack: &Ack) {}

    /// Grows the window for an ACK. Called when the flow uses its window, is not in recovery, and the ACK reports no mark.
    #[inline]
    fn grow(&mut self, window: &mut Window, ack: &Ack) {
        newreno::grow(window, ack);
    }

    /// Reacts to a mark, at most once per window of data. By default like a single loss, but without a retransmission (RFC 3168, 6.1.2).
    fn on_mark(&mut self, window: &mut Window) {
        window.reduce_to(window.cwnd / 2);
    }

    /// Sets the slow start threshold after a loss detected by duplicate ACKs or by time, with `flight` bytes in flight. The caller
    /// derives the window from it. By default half of `flight` (RFC 5681, equation 4; RFC 8257, 3.5: DCTCP reacts to loss like any TCP).
    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        window.lose_to(flight / 2);
    }

    /// Handles an expiry of the retransmission timer. The window becomes one segment; for the first timeout of a
    /// segment [`Controller::on_loss`] has been called before.
    fn on_timeout(&mut self) {}

    /// Handles a restart from the initial window, after an idle time longer than an RTO.
    fn after_idle(&mut self) {}

    /// Records that the application, not the window, has limited the flow since the last ACK, or since nothing was in
    /// flight.
    #[inline]
    fn unused(&mut self, _now: Time) {}

    /// Returns a copy, which is restored if a reduction turns out to be spurious (RFC 4015): `Box::new(self.clone())`.
    fn clone_box(&self) -> Box<dyn Controller>;
}

/// An algorithm with its state.
#[derive(Clone, Debug)]
pub(crate) enum Congestion {
    NewReno(NewReno),
    Dctcp(Dctcp),
    Cubic(Cubic),
    Vegas(Vegas),
    Own(Box<dyn Controller>),
}

/// Calls the selected algorithm.
macro_rules! each {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Congestion::NewReno($controller) => $call,
            Congestion::Dctcp($controller) => $call,
            Congestion::Cubic($controller) => $call,
            Congestion::Vegas($controller) => $call,
            Congestion::Own($controller) => $call,
        }
    };
}

impl Congestion {
    pub(crate) fn new(settings: &Settings) -> Self {
        if let Some(controller) = settings.new_controller() {
            return Self::Own(controller);
        }
        match settings.algorithm {
            Algorithm::NewReno => Self::NewReno(NewReno),
            Algorithm::Dctcp => Self::Dctcp(Dctcp::new(settings)),
            Algorithm::Cubic => Self::Cubic(Cubic::default()),
            Algorithm::Vegas => Self::Vegas(Vegas::default()),
        }
    }

    /// Calls [`Controller::observe`].
    #[inline]
    pub(crate) fn observe(&mut self, ack: &Ack) {
        each!(self, controller => controller.observe(ack));
    }

    /// Calls [`Controller::grow`], and clamps the values that a custom algorithm sets.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, ack: &Ack) {
        each!(self, controller => controller.grow(window, ack));
        self.bound(window, u64::MAX);
    }

    /// Calls [`Controller::on_mark`], and clamps the values that a custom algorithm sets.
    pub(crate) fn on_mark(&mut self, window: &mut Window) {
        each!(self, controller => controller.on_mark(window));
        self.bound(window, u64::MAX);
    }

    /// Calls [`Controller::on_loss`], and clamps the values that a custom algorithm sets.
    pub(crate) fn on_loss(&mut self, window: &mut Window, flight: u64) {
        each!(self, controller => controller.on_loss(window, flight));
        // The caller sets the window to the threshold.
        self.bound(window, MAX_WINDOW);
    }

    /// Sets the window to one segment after an expiry of the retransmission timer (RFC 5681, 3.1). Sets the threshold
    /// if this is the segment's first timeout.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, flight: u64, first: bool) {
        if first {
            self.on_loss(window, flight);
        }
        each!(self, controller => controller.on_timeout());
        window.cwnd = window.mss;
        window.credit = 0;
    }

    /// Calls [`Controller::after_idle`].
    pub(crate) fn after_idle(&mut self) {
        each!(self, controller => controller.after_idle());
    }

    /// Calls [`Controller::unused`].
    #[inline]
    pub(crate) fn unused(&mut self, now: Time) {
        each!(self, controller => controller.unused(now));
    }

    /// Returns DCTCP's estimate of the fraction of marked bytes.
    pub(crate) fn alpha(&self) -> Option<f64> {
        match self {
            Self::Dctcp(dctcp) => Some(dctcp.alpha()),
            _ => None,
        }
    }

    /// Clamps the values set by a custom algorithm to the range that the sender can handle: the window to between one
    /// segment and the maximum window that a peer can announce, the threshold to between two segments and `most`.
    #[inline]
    fn bound(&self, window: &mut Window, most: u64) {
        if let Self::Own(_) = self {
            window.cwnd = window.cwnd.clamp(window.mss, MAX_WINDOW);
            window.ssthresh = window.threshold(window.ssthresh.min(most));
        }
    }
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
