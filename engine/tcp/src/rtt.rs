//! The retransmission timeout (RFC 6298).

use units::Duration;

use crate::config::Config;

/// Smoothed round-trip time, its variation, and the RTO that follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    srtt: Option<Duration>,
    rttvar: Duration,
    rto: Duration,
    /// Times that the RTO has been doubled since the last measurement.
    backoff: u32,
}

impl RttEstimator {
    pub(crate) fn new(config: &Config) -> Self {
        Self { srtt: None, rttvar: Duration::ZERO, rto: config.initial_rto, backoff: 0 }
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Returns the timeout with its back-off.
    #[inline]
    pub(crate) fn rto(&self, config: &Config) -> Duration {
        let backed_off = self.rto.saturating_mul(1 << self.backoff.min(32));
        backed_off.saturating_add(config.rto_slop).min(config.max_rto)
    }

    /// Doubles the RTO because the timer has fired (RFC 6298, 5.5). The RTO stays doubled until there is a measurement (section 5, last
    /// note).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Raises the RTO for data after the timer fired for a SYN: to at least 3 s, or what is set instead, unless an earlier connection has
    /// measured (RFC 6298, 5.7).
    pub(crate) fn after_lost_syn(&mut self, config: &Config) {
        self.rto = match self.srtt {
            Some(srtt) => self.computed(srtt, config),
            None => self.rto.max(config.syn_lost_rto).min(config.max_rto),
        };
        self.backoff = 0;
    }

    #[inline]
    fn computed(&self, srtt: Duration, config: &Config) -> Duration {
        let spread = self.rttvar.saturating_mul(4).max(config.clock_granularity);
        srtt.saturating_add(spread).max(config.min_rto).min(config.max_rto)
    }

    /// Takes a measurement `r` of a segment that was sent once (Karn; RFC 6298, 2.2 to 2.5).
    #[inline]
    pub(crate) fn sample(&mut self, r: Duration, config: &Config) {
        let r = r.as_ps();
        let (srtt, rttvar) = match self.srtt {
            None => (r, r / 2),
            Some(srtt) => {
                let (srtt, rttvar) = (srtt.as_ps(), self.rttvar.as_ps());
                // RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|, before SRTT = 7/8 SRTT + 1/8 R.
                (srtt - srtt / 8 + r / 8, rttvar - rttvar / 4 + srtt.abs_diff(r) / 4)
            }
        };
        let srtt = Duration::from_ps(srtt);
        self.srtt = Some(srtt);
        self.rttvar = Duration::from_ps(rttvar);
        self.rto = self.computed(srtt, config);
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config { min_rto: Duration::from_us(1), ..Config::default() }
    }

    /// RFC 6298, 2.1 to 2.3, worked by hand: R = 100 ms, then 180 ms.
    #[test]
    fn the_first_and_the_second_measurement_give_what_the_rfc_says() {
        let config = config();
        let mut rtt = RttEstimator::new(&config);
        assert_eq!(rtt.rto(&config), Duration::from_secs(1));
        rtt.sample(Duration::from_ms(100), &config);
        assert_eq!(rtt.rto(&config), Duration::from_ms(300)); // 100 + 4 * 50
        rtt.sample(Duration::from_ms(180), &config);
        // RTTVAR = 37.5 + 20 = 57.5 ms, SRTT = 87.5 + 22.5 = 110 ms.
        assert_eq!(rtt.srtt(), Some(Duration::from_ms(110)));
        assert_eq!(rtt.rto(&config), Duration::from_ms(340));
    }

    #[test]
    fn the_rto_is_kept_between_its_bounds() {
        let config = Config::default();
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(Duration::from_us(100), &config);
        assert_eq!(rtt.rto(&config), Duration::from_ms(200));
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(&config), Duration::from_secs(60));
        rtt.sample(Duration::MAX, &config);
        assert_eq!(rtt.rto(&config), Duration::from_secs(60));
    }

    /// FreeBSD's `TCPT_RANGESET` adds it to what is backed off, and bounds the sum.
    #[test]
    fn slop_is_added_once_after_the_back_off_and_never_beyond_the_largest_rto() {
        let config = Config { rto_slop: Duration::from_ms(20), ..Config::default() };
        let mut rtt = RttEstimator::new(&config);
        assert_eq!(rtt.rto(&config), Duration::from_ms(1_020));
        rtt.sample(Duration::from_us(100), &config);
        assert_eq!(rtt.rto(&config), Duration::from_ms(220));
        rtt.back_off();
        assert_eq!(rtt.rto(&config), Duration::from_ms(420));
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(&config), Duration::from_secs(60));
    }

    /// RFC 6298, 5.5 and the note at the end of section 5.
    #[test]
    fn the_back_off_doubles_and_ends_with_a_measurement() {
        let config = Config::default();
        let mut rtt = RttEstimator::new(&config);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(&config), Duration::from_secs(4));
        rtt.sample(Duration::from_ms(100), &config);
        assert_eq!(rtt.rto(&config), Duration::from_ms(300));
    }
}
