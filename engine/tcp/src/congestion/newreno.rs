//! RFC 5681: slow start, congestion avoidance, halving; byte counting by RFC 3465.

use super::{Ack, Controller, Window};

/// NewReno: the default for every event. A custom controller that changes only some events may delegate the others to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno;

impl Controller for NewReno {
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

/// Grows the window by RFC 5681, 3.1, in bytes counted by RFC 3465, 2.1 and 2.3: in slow start by the acknowledged
/// bytes, at most L segments per ACK; then by one segment per window of acknowledged bytes.
#[inline]
pub(super) fn grow(window: &mut Window, ack: &Ack) {
    let mut acked = ack.acked;
    if window.in_slow_start() {
        let most = acked.min(ack.slow_start_limit * window.mss) / ack.slow_start_divisor;
        let step = most.min(window.ssthresh - window.cwnd);
        window.cwnd += step;
        if window.in_slow_start() {
            return;
        }
        acked -= step;
    }
    window.credit += acked;
    if window.credit >= window.cwnd {
        window.credit -= window.cwnd;
        window.cwnd += window.mss;
        // An ACK for several windows enlarges the window only once.
        window.credit = window.credit.min(window.cwnd);
    }
}
