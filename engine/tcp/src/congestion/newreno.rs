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

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, window, MSS};
    use super::*;
    use crate::config::Config;

    /// Checks RFC 3465, 2.3: with L = 2, an ACK for four segments counts as two.
    #[test]
    fn slow_start_grows_by_what_is_acknowledged_at_most_two_segments_an_ack() {
        let mut window = Window { ssthresh: u64::MAX, ..window(10, &Config::default()) };
        grow(&mut window, &ack(0, MSS, 0));
        grow(&mut window, &ack(0, 2 * MSS, 0));
        grow(&mut window, &ack(0, 4 * MSS, 0));
        assert_eq!(window.cwnd, 15 * MSS);
        grow(&mut window, &super::Ack { slow_start_limit: 1, ..ack(0, 2 * MSS, 0) });
        assert_eq!(window.cwnd, 16 * MSS, "after a time-out L is 1");
    }

    /// Checks RFC 5681, 3.1: one SMSS per round-trip time.
    #[test]
    fn congestion_avoidance_grows_by_a_segment_a_window() {
        let mut window = window(10, &Config::default());
        for _ in 0..4 {
            grow(&mut window, &ack(0, 2 * MSS, 0));
        }
        assert_eq!(window.cwnd, 10 * MSS);
        grow(&mut window, &ack(0, 2 * MSS, 0));
        assert_eq!(window.cwnd, 11 * MSS);
    }

    #[test]
    fn what_goes_beyond_the_threshold_counts_for_congestion_avoidance() {
        let mut window = Window { ssthresh: 10 * MSS + 500, ..window(10, &Config::default()) };
        grow(&mut window, &ack(0, 2 * MSS, 0));
        assert_eq!((window.cwnd, window.credit), (10 * MSS + 500, 1_500));
    }

    #[test]
    fn a_mark_halves_down_to_the_floor_that_is_set() {
        for (min_window_segments, floor) in [(2, 2 * MSS), (1, MSS)] {
            let config = Config { min_window_segments, ..Config::default() };
            let mut window = window(5, &config);
            NewReno.on_mark(&mut window);
            assert_eq!((window.cwnd, window.ssthresh), (2_500, 2_500));
            NewReno.on_mark(&mut window);
            NewReno.on_mark(&mut window);
            assert_eq!((window.cwnd, window.ssthresh), (floor, 2 * MSS));
        }
    }

    /// Checks RFC 5681, equation 4.
    #[test]
    fn a_loss_sets_the_threshold_to_half_of_what_is_under_way_at_least_two_segments() {
        let mut window = window(10, &Config::default());
        NewReno.on_loss(&mut window, 8 * MSS);
        assert_eq!(window.ssthresh, 4 * MSS);
        NewReno.on_loss(&mut window, MSS);
        assert_eq!(window.ssthresh, 2 * MSS);
    }
}
