//! What a connection has learned of the way to its peer, for the next one (FreeBSD's tcp_hostcache.c; RFC 9040).

use units::{Bytes, Duration};

use crate::connection::Connection;

/// What is known of the way to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Its variation.
    pub rttvar: Duration,
    /// Slow start threshold, if a loss or a mark has set it.
    pub ssthresh: Option<Bytes>,
}

impl Metrics {
    /// With what a later connection has learned: the mean of both, as `tcp_hc_update` does; a threshold that only one of them knows
    /// is that one.
    #[must_use]
    pub fn updated(self, later: Self) -> Self {
        let half = |a: u64, b: u64| a / 2 + b / 2 + (a & b & 1);
        let ssthresh = match (self.ssthresh, later.ssthresh) {
            (Some(known), Some(new)) => Some(Bytes::new(half(known.get(), new.get()))),
            (known, new) => new.or(known),
        };
        Self {
            srtt: Duration::from_ps(half(self.srtt.as_ps(), later.srtt.as_ps())),
            rttvar: Duration::from_ps(half(self.rttvar.as_ps(), later.rttvar.as_ps())),
            ssthresh,
        }
    }
}

impl Connection {
    /// What it has learned so far; `None` before it has measured a round-trip time, or recalled one.
    pub fn metrics(&self) -> Option<Metrics> {
        let srtt = self.srtt()?;
        Some(Metrics { srtt, rttvar: self.sender.rttvar(), ssthresh: self.ssthresh() })
    }

    /// Begins with what earlier connections to the peer have learned: round-trip time and slow start threshold. To be called before its
    /// first segment; the initial window and the SYN's RTO stay what they are.
    pub fn recall(&mut self, metrics: Metrics) {
        self.sender.recall(metrics);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_becomes_the_mean_of_it_and_what_is_new() {
        let of = |us, ssthresh: Option<u64>| Metrics {
            srtt: Duration::from_us(us),
            rttvar: Duration::from_us(us / 2),
            ssthresh: ssthresh.map(Bytes::new),
        };
        assert_eq!(of(100, Some(10_000)).updated(of(300, Some(20_000))), of(200, Some(15_000)));
        assert_eq!(of(100, None).updated(of(300, Some(20_000))), of(200, Some(20_000)));
        assert_eq!(of(100, Some(10_000)).updated(of(300, None)), of(200, Some(10_000)));
        let largest = Metrics { srtt: Duration::MAX, rttvar: Duration::MAX, ssthresh: None };
        assert_eq!(largest.updated(largest), largest);
    }
}
