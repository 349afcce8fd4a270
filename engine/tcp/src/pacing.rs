//! The limit on a sender's data in its host's NIC, and the pacing rate from which it follows: the rate at which the sender would spread its
//! window over a round-trip time.
//!
//! Linux's rule (`tcp_update_pacing_rate`): twice the window per round trip in the first half of slow start, 1.2 times the window after that.

use units::Duration;

use crate::congestion::Window;

/// A sender's data in its host's NIC, and its limit (Linux's `tcp_small_queue_check`).
#[derive(Clone, Debug)]
pub(crate) struct NicShare {
    /// The limit, as time at the pacing rate (`Config::tsq`).
    bound: Option<Duration>,
    /// Payload bytes in the NIC, if they are limited.
    bytes: u64,
    /// Whether the limit has held data back.
    waits: bool,
}

impl NicShare {
    pub(crate) fn new(bound: Option<Duration>) -> Self {
        Self { bound, bytes: 0, waits: false }
    }

    fn is_full(&self, window: &Window, srtt: Option<Duration>) -> bool {
        let Some(time) = self.bound else { return false };
        self.bytes >= 2 * window.mss && self.bytes >= bytes_in(window, srtt, time)
    }

    /// Returns whether data must wait for room in the NIC, and records it.
    #[inline(never)]
    pub(crate) fn holds_back(&mut self, window: &Window, srtt: Option<Duration>) -> bool {
        let full = self.is_full(window, srtt);
        self.waits |= full;
        full
    }

    /// Records that data has entered the NIC.
    #[inline]
    pub(crate) fn enter(&mut self, payload_bytes: u64) {
        if self.bound.is_some() {
            self.bytes += payload_bytes;
        }
    }

    /// Records that data has left the NIC. Returns whether more may now be sent.
    pub(crate) fn leave(&mut self, payload_bytes: u64, window: &Window, srtt: Option<Duration>) -> bool {
        self.bytes = self.bytes.saturating_sub(payload_bytes);
        self.waits && !self.is_full(window, srtt) && std::mem::take(&mut self.waits)
    }
}

/// Returns the bytes that leave in `time` at the pacing rate; unlimited before there is a round-trip time.
#[inline(never)]
fn bytes_in(window: &Window, srtt: Option<Duration>, time: Duration) -> u64 {
    let Some(srtt) = srtt.filter(|srtt| !srtt.is_zero()) else { return u64::MAX };
    let (numerator, denominator) = gain(window);
    let bytes = u128::from(window.cwnd) * u128::from(numerator) * u128::from(time.as_ps())
        / (u128::from(denominator) * u128::from(srtt.as_ps()));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Returns the gain as a fraction: 2 while the window is below half of the slow start threshold, 1.2 otherwise.
fn gain(window: &Window) -> (u32, u32) {
    if window.cwnd < window.ssthresh / 2 {
        (2, 1)
    } else {
        (6, 5)
    }
}
