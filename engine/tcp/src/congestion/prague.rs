//! Prague (draft-briscoe-iccrg-prague-congestion-control-04): the window shrinks as DCTCP's does, and grows beside that.
//!
//! Without its independence of the round-trip time (2.4.3), which is for paths of the Internet: it makes every flow grow as if its round
//! trip took 25 ms. What answers to a bottleneck with classic ECN (RFC 9331, 4.3) is not there either.

use super::{newreno, Ack, Window};

/// 2.4.3: only what is not marked lets the window grow, but also in the round after a reduction, so that growth and reductions balance where
/// each round has marks.
#[inline]
pub(super) fn grow(window: &mut Window, ack: &Ack) {
    newreno::grow(window, &Ack { acked: ack.acked - ack.marked, ..*ack });
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, window, MSS};
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_window_of_which_half_is_marked_grows_by_half_a_segment() {
        let mut window = window(10, &Config::default());
        for _ in 0..10 {
            grow(&mut window, &Ack { marked: MSS, ..ack(0, 2 * MSS, 0) });
        }
        assert_eq!((window.cwnd, window.credit), (11 * MSS, 0));
        grow(&mut window, &Ack { marked: 2 * MSS, ..ack(0, 2 * MSS, 0) });
        assert_eq!((window.cwnd, window.credit), (11 * MSS, 0));
    }
}
