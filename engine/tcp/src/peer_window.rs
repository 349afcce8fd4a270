//! The window that the peer announces (RFC 9293, 3.8.6), and the persist timer, which probes it while it keeps data from being sent.

use units::{Duration, Time};

use crate::config::Config;
use crate::space::SendSpace;

/// The peer's window and how it is probed.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerWindow {
    /// SND.WND: the number of bytes from SND.UNA that the peer accepts.
    pub(crate) bytes: u64,
    /// MAX.SND.WND.
    pub(crate) max: u64,
    /// SND.WL1 and SND.WL2.
    set_by: (u64, u64),
    /// When the persist timer fires.
    pub(crate) probe_at: Time,
    /// Whether a probe is due.
    probe_due: bool,
    /// Probes since the last progress.
    probes: u32,
    /// Probes since the last segment from the peer.
    unanswered: u32,
}

impl PeerWindow {
    pub(crate) fn new() -> Self {
        Self { probe_at: Time::MAX, ..Self::default() }
    }

    /// Takes the first window, from a segment whose sequence number has this offset and which acknowledges our SYN.
    pub(crate) fn open(&mut self, sequence: u64, window: u64) {
        (self.bytes, self.max, self.set_by) = (window, window, (sequence, 1));
    }

    /// Takes the window of a segment, unless the segment is older than the one that set the window last (RFC 9293, 3.10.7.4).
    #[inline]
    pub(crate) fn take(&mut self, sequence: u64, offset: u64, window: u64, una: u64) {
        self.unanswered = 0;
        if (sequence, offset) >= self.set_by || offset > una {
            self.set_by = (sequence, offset);
            self.bytes = window;
            self.max = self.max.max(window);
        }
    }

    /// Returns how many of `len` offsets from SND.NXT may be sent. Less than `len` may be sent only if it is large for
    /// this peer's window, or leaves only the FIN unsent (RFC 9293, 3.8.6.2.1).
    #[inline]
    pub(crate) fn fit(&self, len: u64, space: &SendSpace) -> Option<u64> {
        let room = (space.una + self.bytes).saturating_sub(space.next);
        if len <= room {
            return Some(len);
        }
        let unsent = space.unsent();
        let whole = room >= unsent && unsent > 0;
        (room > 0 && (whole || 2 * room >= self.max)).then_some(room)
    }

    /// Returns the size of a probe if one is due: the window, but at least one byte. Starts the timer if it is stopped.
    pub(crate) fn poll_probe(&mut self, now: Time, rto: Duration, config: &Config) -> Option<u64> {
        if self.probe_at == Time::MAX {
            self.schedule(now, rto, config);
        }
        std::mem::take(&mut self.probe_due).then(|| self.bytes.max(1))
    }

    /// Handles an expiry of the timer. Returns `false` when the peer has left more than the permitted number of probes unanswered.
    pub(crate) fn time_out(&mut self, now: Time, rto: Duration, config: &Config) -> bool {
        self.probe_due = true;
        (self.probes, self.unanswered) = (self.probes + 1, self.unanswered + 1);
        self.schedule(now, rto, config);
        self.unanswered <= config.retries
    }

    fn schedule(&mut self, now: Time, rto: Duration, config: &Config) {
        let wait = rto.saturating_mul(1 << self.probes.min(16)).min(config.max_rto);
        self.probe_at = now.saturating_add(wait);
    }

    /// Records that SND.UNA has moved.
    #[inline]
    pub(crate) fn note_progress(&mut self) {
        self.probes = 0;
    }

    /// Stops the timer, because data can be sent, or because there is nothing to send.
    #[inline]
    pub(crate) fn stop_probing(&mut self) {
        (self.probe_at, self.probe_due) = (Time::MAX, false);
    }
}
