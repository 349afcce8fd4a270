//! The retransmission timeout (RFC 6298): its computation, and its timer.

use units::{Duration, Time};

use crate::config::Config;

/// The retransmission timer: the smoothed round-trip time, its variation, and the resulting RTO.
#[derive(Clone, Debug)]
pub(crate) struct RetransmissionTimer {
    pub(crate) srtt: Option<Duration>,
    rttvar: Duration,
    rto: Duration,
    /// Number of doublings of the RTO since the last measurement (RFC 6298, 5.5 and section 5, last note).
    backoff: u32,
    /// An offset whose acknowledgement yields a round-trip time, and its departure time.
    timed: Option<(u64, Time)>,
    /// The time at which the timer fires.
    pub(crate) due: Time,
    /// Number of expirations since the last progress.
    pub(crate) timeouts: u32,
}

impl RetransmissionTimer {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            srtt: None,
            rttvar: Duration::ZERO,
            rto: config.initial_rto,
            backoff: 0,
            timed: None,
            due: Time::MAX,
            timeouts: 0,
        }
    }

    /// Returns the timeout with its back-off.
    #[inline]
    pub(crate) fn rto(&self, config: &Config) -> Duration {
        let backed_off = self.rto.saturating_mul(1 << self.backoff.min(32));
        backed_off.saturating_add(config.rto_slop).min(config.max_rto)
    }

    /// Raises the RTO for data after a timeout of a SYN to at least 3 s, or the configured value, unless a round-trip
    /// time has been measured (RFC 6298, 5.7).
    fn after_lost_syn(&mut self, config: &Config) {
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

    /// Updates the estimate with a measurement `r` of a segment that was sent once (Karn; RFC 6298, 2.2 to 2.5).
    #[inline]
    fn sample(&mut self, r: Duration, config: &Config) {
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

    #[inline]
    pub(crate) fn start(&mut self, now: Time, config: &Config) {
        self.due = now.saturating_add(self.rto(config));
    }

    pub(crate) fn stop(&mut self) {
        self.due = Time::MAX;
    }

    /// Starts the timer if it is stopped (RFC 6298, 5.1).
    #[inline]
    pub(crate) fn start_if_stopped(&mut self, now: Time, config: &Config) {
        if self.due == Time::MAX {
            self.start(now, config);
        }
    }

    /// Records the departure of a SYN or SYN-ACK. A retransmission does not measure (Karn), whether our timer or the
    /// peer's repeated SYN caused it.
    pub(crate) fn syn_sent(&mut self, now: Time, again: bool, config: &Config) {
        self.timed = (!again).then_some((1, now));
        self.start(now, config);
    }

    /// Stops the timer because our SYN is acknowledged. Returns whether a SYN was lost.
    pub(crate) fn syn_acknowledged(
        &mut self,
        now: Time,
        timestamp_rtt: Option<Duration>,
        config: &Config,
    ) -> bool {
        let timed = self.timed.take().map(|(_, sent)| now.saturating_since(sent));
        // RFC 7323, 4.1: the echoed timestamp identifies which of several SYNs is acknowledged.
        let rtt = timed.or(timestamp_rtt);
        if let Some(rtt) = rtt {
            self.sample(rtt, config);
        }
        let was_lost = self.timeouts > 0;
        if was_lost && rtt.is_none() {
            self.after_lost_syn(config);
        }
        (self.timeouts, self.due) = (0, Time::MAX);
        was_lost
    }

    /// Records that the offsets up to `end` are sent for the first time. They measure unless a measurement is under way.
    #[inline]
    pub(crate) fn measure(&mut self, now: Time, end: u64) {
        if self.timed.is_none() {
            self.timed = Some((end, now));
        }
    }

    /// Records that the offsets `[start, end)` are retransmitted. Data sent twice does not measure (Karn).
    #[inline]
    pub(crate) fn note_sent_again(&mut self, start: u64, end: u64) {
        if self.timed.is_some_and(|(offset, _)| offset > start && offset <= end) {
            self.timed = None;
        }
    }

    /// Discards the measurement under way.
    pub(crate) fn forget_measurement(&mut self) {
        self.timed = None;
    }

    /// Records that SND.UNA has moved to `una`. Returns the round-trip time that this yields, if any.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        now: Time,
        una: u64,
        timestamp_rtt: Option<Duration>,
        config: &Config,
    ) -> Option<Duration> {
        self.timeouts = 0;
        let rtt = match self.timed {
            Some((offset, sent)) if offset <= una => {
                self.timed = None;
                Some(now.saturating_since(sent))
            }
            Some(_) => None,
            // RFC 7323, 4.1: timestamps permit measurements that Karn's rule would exclude.
            None => timestamp_rtt,
        };
        if let Some(rtt) = rtt {
            self.sample(rtt, config);
        }
        rtt
    }

    /// Handles an expiry of the timer (RFC 6298, 5.5 and 5.6). Returns `false` after more than `limit` expirations in a row.
    pub(crate) fn time_out(&mut self, now: Time, limit: u32, config: &Config) -> bool {
        self.timeouts += 1;
        if self.timeouts > limit {
            self.stop();
            return false;
        }
        self.backoff += 1;
        self.timed = None;
        self.start(now, config);
        true
    }
}
