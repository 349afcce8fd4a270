//! The settings of an endpoint.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use units::{Bytes, Duration};
use wire::tcp_options::MAX_WINDOW_SCALE;

use crate::congestion::Controller;

/// Largest receive window that the window scale option can express (RFC 7323, 2.2): 1 GiB less 16 KiB.
pub const MAX_WINDOW: u64 = (u16::MAX as u64) << MAX_WINDOW_SCALE;

/// The congestion control algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// RFC 5681 with RFC 6582.
    #[default]
    #[serde(alias = "ecn")]
    NewReno,
    /// RFC 8257. Needs ECN, and DCTCP at the other end.
    Dctcp,
    /// RFC 9438.
    Cubic,
    /// Brakmo, O'Malley, Peterson 1994.
    Vegas,
}

/// Which packets of a DCTCP endpoint are ECN-capable, once ECN has been negotiated. RFC 8257, 3.6 leaves the choice open; stacks differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ect"))]
#[serde(rename_all = "snake_case")]
pub enum DctcpEct {
    /// New data only, as RFC 3168 specifies for TCP.
    DataOnly,
    /// Everything after the handshake, including pure ACKs, retransmissions, FIN and RST. DCTCP's patch for ns-2 does this.
    #[default]
    Ns2,
    /// Everything, including SYN and SYN-ACK, as in Linux.
    Linux,
}

/// When in-order data is acknowledged (RFC 9293, 3.8.6.3; RFC 5681, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DelayedAckSpec"))]
#[serde(deny_unknown_fields)]
pub struct DelayedAck {
    /// The number of segments that makes an ACK due at once; at least 1. The RFCs specify 2.
    pub segments: u32,
    /// The maximum delay of an ACK; at most 500 ms in the RFCs.
    #[serde(rename = "timer_ps")]
    pub timer: Duration,
}

/// The rise of the round-trip time between two rounds that HyStart++ takes for a queue: an eighth, within these bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "HyStartSpec"))]
#[serde(deny_unknown_fields)]
pub struct HyStart {
    /// MIN_RTT_THRESH; 4 ms in RFC 9406, 4.3, for Internet paths: where a round trip takes 100 us, no queue is so long.
    #[serde(rename = "min_rtt_thresh_ps")]
    pub min_rtt_thresh: Duration,
    /// MAX_RTT_THRESH; 16 ms in RFC 9406, 4.3.
    #[serde(rename = "max_rtt_thresh_ps")]
    pub max_rtt_thresh: Duration,
}

impl Default for HyStart {
    fn default() -> Self {
        Self { min_rtt_thresh: Duration::from_ms(4), max_rtt_thresh: Duration::from_ms(16) }
    }
}

/// Settings of TCP. Every one has a default; in JSON, `algorithm` determines that of `ecn`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TcpSpec"))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Congestion control algorithm: `newreno` (the default), `ecn` (NewReno that reacts to marks), `dctcp`, `cubic` or `vegas`.
    #[serde(deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub algorithm: Algorithm,
    /// Offer and accept ECN (RFC 3168). Default off, except with `ecn` and `dctcp`. DCTCP requires it.
    #[serde(deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>"))]
    pub ecn: bool,
    /// Offer and accept AccECN (RFC 9768), which counts marked packets in every ACK. Needs `ecn`; with a peer that
    /// lacks AccECN, classic ECN is used. Default off.
    pub accecn: bool,
    /// Which packets of a DCTCP endpoint are ECN-capable. Default: as in ns-2. Other algorithms follow RFC 3168.
    pub dctcp_ect: DctcpEct,
    /// With ECN, retransmitted data is also ECN-capable, as in ns-2's FullTcp and contrary to RFC 3168, 6.1.5. Default off.
    pub ect_retransmissions: bool,
    /// A DCTCP endpoint sends ECT(1), the identifier of L4S (RFC 9331, 2), so that switches apply their L4S threshold. Default off: ECT(0).
    pub l4s: bool,
    /// DCTCP's estimation gain g, in (0, 1]. Default 1/16 (RFC 8257, 4.2).
    pub dctcp_gain: f64,
    /// DCTCP's initial alpha, in [0, 1]. Default 1 (RFC 8257, 4.2).
    pub dctcp_initial_alpha: f64,
    /// Maximum number of payload bytes in a segment without options, 88 to 65 435. Default 1460: Ethernet and IPv4.
    pub mss: u16,
    /// Initial window in segments. Default 10 (RFC 6928); ns-2 starts with 2.
    pub initial_window_segments: u32,
    /// Maximum number of segments by which slow start grows with one ACK. Default 2 (RFC 3465, 2.3); `None` means no
    /// limit (Linux; RFC 9438, 4.10). If there is a limit, it is 1 after a timeout.
    pub slow_start_limit: Option<u32>,
    /// End the first slow start when round-trip times rise (HyStart++, RFC 9406). Not allowed with Vegas, whose slow
    /// start does that itself. Default off (`None`). RFC 9406, 4.2 uses it with a `slow_start_limit` of 8 segments.
    pub hystart: Option<HyStart>,
    /// An ECN mark never reduces the congestion window below this number of segments. Default 2, as for ssthresh (RFC 5681, equation 4)
    /// and in Linux; with 1, classic ECN can reach the case of RFC 3168, 6.1.2 in which only a timer sends, as in ns-2.
    pub min_window_segments: u32,
    /// After a reduction for a mark, the window may grow with the next ACK without ECE, as in ns-2. If false, it grows
    /// only after all data in flight at the reduction is acknowledged, as in Linux (its CWR state). Default true.
    pub cwr_growth: bool,
    /// Closing sends a FIN. Default true. If false, a closed connection ends without notice to its peer once all
    /// written data is acknowledged, like connections in simulations that are never closed.
    pub fin: bool,
    /// Receive buffer: the maximum window announced. Default unlimited (`None`): 1 GiB less 16 KiB. Above 65 535 bytes the
    /// window is scaled.
    #[serde(rename = "receive_buffer_bytes")]
    pub receive_buffer: Option<Bytes>,
    /// The application reads all data on arrival. Default true. If false, it calls `Connection::read`.
    #[serde(skip)]
    pub reads_at_once: bool,
    /// Offer and accept SACK (RFC 2018; recovery by RFC 6675). Default on; without it, recovery follows RFC 6582.
    pub sack: bool,
    /// Offer and accept timestamps (RFC 7323), with this clock tick. Default off, which saves 12 bytes per header.
    #[serde(rename = "timestamps_ps")]
    pub timestamps: Option<Duration>,
    /// Delay ACKs. Default every second segment or 40 ms, Linux's minimum; `None` acknowledges each segment at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Number of segments acknowledged at once, regardless of `delayed_ack`, at the start and after lost or duplicate
    /// data: at these times the sender waits for ACKs to open its window. Default 0; Linux 16.
    pub quick_acks: u32,
    /// Send new data on the first two duplicate ACKs (RFC 3042). Default on.
    pub limited_transmit: bool,
    /// With SACK, detect losses by time and probe for a lost tail (RACK-TLP, RFC 8985). Default off: detection by counting (RFC 6675).
    pub rack: bool,
    /// The peer's maximum delay for the ACK of a single segment, which a tail loss probe allows for (RFC 8985, 7.2).
    /// Default `min_rto`, as in Linux.
    #[serde(rename = "max_ack_delay_ps")]
    pub max_ack_delay: Option<Duration>,
    /// In recovery with SACK, send in proportion to the data delivered (RFC 9937). Default off: RFC 6675 halves the window at once.
    pub prr: bool,
    /// Detect spurious timeouts from the next ACKs. After one, sending continues with new data and the window is
    /// restored (F-RTO, RFC 5682, with RFC 4015). Default off.
    pub frto: bool,
    /// With SACK, report duplicate data (D-SACK, RFC 2883), and undo a reduction if duplicates are reported for all its
    /// retransmissions (RFC 3708, RFC 4015); with `rack`, such reports widen the reordering window (RFC 8985, 6.2). Default off.
    pub dsack: bool,
    /// Restart from the initial window after an idle time longer than the RTO (RFC 5681, 4.1). Default on.
    pub restart_after_idle: bool,
    /// RTO before the first measurement. Default 1 s (RFC 6298, 2.1).
    #[serde(rename = "initial_rto_ps")]
    pub initial_rto: Duration,
    /// Minimum initial RTO for data after a lost SYN without a measurement. Default 3 s (RFC 6298, 5.7).
    #[serde(rename = "syn_lost_rto_ps")]
    pub syn_lost_rto: Duration,
    /// Minimum RTO. Default 200 ms, as in ns-2 and Linux; RFC 6298, 2.4 specifies 1 s.
    #[serde(rename = "min_rto_ps")]
    pub min_rto: Duration,
    /// Maximum RTO. Default 60 s (RFC 6298, 2.5).
    #[serde(rename = "max_rto_ps")]
    pub max_rto: Duration,
    /// Time added to every RTO after the back-off (FreeBSD's `rexmit_slop`, `TCPT_RANGESET` of its tcp_timer.h). Default 0.
    #[serde(rename = "rto_slop_ps")]
    pub rto_slop: Duration,
    /// Granularity G of the clock in RFC 6298, 2.2. Default 1 us.
    #[serde(rename = "clock_granularity_ps")]
    pub clock_granularity: Duration,
    /// Maximum number of SYN or SYN-ACK retransmissions. Default 6, as in Linux.
    pub syn_retries: u32,
    /// Maximum number of retransmissions of one segment by timer (R2 of RFC 9293, 3.8.3). Default 15, as in Linux.
    #[serde(skip)]
    pub retries: u32,
    /// Duration of TIME-WAIT. Default 60 s, as in Linux; RFC 9293, 3.4.2 specifies 4 minutes.
    #[serde(rename = "time_wait_ps")]
    pub time_wait: Duration,
    /// Limits a connection's data in its host's NIC to the bytes that leave within this time at its pacing rate, but at
    /// least two segments: the rule of Linux's TCP small queues (1 ms there). Default off (`None`). If set, the caller
    /// reports departures with `Connection::left_nic`.
    #[serde(rename = "tsq_ps")]
    pub tsq: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::NewReno,
            ecn: false,
            accecn: false,
            dctcp_ect: DctcpEct::default(),
            l4s: false,
            dctcp_gain: 1.0 / 16.0,
            dctcp_initial_alpha: 1.0,
            ect_retransmissions: false,
            mss: 1460,
            initial_window_segments: 10,
            slow_start_limit: Some(2),
            hystart: None,
            min_window_segments: 2,
            cwr_growth: true,
            fin: true,
            receive_buffer: None,
            reads_at_once: true,
            sack: true,
            timestamps: None,
            delayed_ack: Some(DelayedAck { segments: 2, timer: Duration::from_ms(40) }),
            quick_acks: 0,
            limited_transmit: true,
            rack: false,
            max_ack_delay: None,
            prr: false,
            frto: false,
            dsack: false,
            restart_after_idle: true,
            initial_rto: Duration::from_secs(1),
            syn_lost_rto: Duration::from_secs(3),
            min_rto: Duration::from_ms(200),
            max_rto: Duration::from_secs(60),
            rto_slop: Duration::ZERO,
            clock_granularity: Duration::from_us(1),
            syn_retries: 6,
            retries: 15,
            time_wait: Duration::from_secs(60),
            tsq: None,
        }
    }
}

/// Reads a value for which null stands for the default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The names of predefined configurations, which `FromStr` parses.
pub const NAMES: [&str; 5] = ["newreno", "ecn", "dctcp", "cubic", "vegas"];

/// Parses one of the [`NAMES`] into its predefined configuration: `newreno`, `ecn` (NewReno that reacts to marks), `dctcp`, `cubic`, `vegas`.
impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let (algorithm, ecn) = match name {
            "newreno" => (Algorithm::NewReno, false),
            "ecn" => (Algorithm::NewReno, true),
            "dctcp" => (Algorithm::Dctcp, true),
            "cubic" => (Algorithm::Cubic, false),
            "vegas" => (Algorithm::Vegas, false),
            _ => {
                let name = name.chars().take(40).collect();
                return Err(ConfigError::UnknownName { name });
            }
        };
        Ok(Self { algorithm, ecn, ..Self::default() })
    }
}

impl Config {
    /// Checks every value and returns shareable settings.
    pub fn check(self) -> Result<Settings, ConfigError> {
        let refuse = |field, value: String, expected| Err(ConfigError::Value { field, value, expected });
        if self.algorithm == Algorithm::Dctcp && !self.ecn {
            return refuse("ecn", "false".to_owned(), "true, because DCTCP needs it");
        }
        if self.accecn && !self.ecn {
            return refuse("accecn", "true".to_owned(), "false without ecn");
        }
        if self.l4s && self.algorithm != Algorithm::Dctcp {
            let expected = "false, because only DCTCP answers to marks as L4S asks";
            return refuse("l4s", "true".to_owned(), expected);
        }
        if !(self.dctcp_gain > 0.0 && self.dctcp_gain <= 1.0) {
            return refuse("dctcp_gain", self.dctcp_gain.to_string(), "more than 0, at most 1");
        }
        if !(0.0..=1.0).contains(&self.dctcp_initial_alpha) {
            return refuse("dctcp_initial_alpha", self.dctcp_initial_alpha.to_string(), "0 to 1");
        }
        if !(MIN_MSS..=MAX_MSS).contains(&self.mss) {
            return refuse("mss", self.mss.to_string(), "88 to 65435 bytes");
        }
        for (field, value) in [
            ("initial_window_segments", self.initial_window_segments),
            ("min_window_segments", self.min_window_segments),
        ] {
            if !(1..=65_535).contains(&value) {
                return refuse(field, value.to_string(), "1 to 65535 segments");
            }
        }
        if let Some(HyStart { min_rtt_thresh, max_rtt_thresh }) = self.hystart {
            if self.algorithm == Algorithm::Vegas {
                let value = format!("{min_rtt_thresh} to {max_rtt_thresh}");
                return refuse("hystart", value, "off, because Vegas ends slow start by delay itself");
            }
            if min_rtt_thresh.is_zero() || min_rtt_thresh > max_rtt_thresh {
                let value = format!("{min_rtt_thresh} to {max_rtt_thresh}");
                return refuse("hystart", value, "more than 0 s, with min_rtt_thresh at most max_rtt_thresh");
            }
        }
        if self.slow_start_limit == Some(0) {
            return refuse("slow_start_limit", "0".to_owned(), "at least 1 segment, or none");
        }
        if let Some(buffer) = self.receive_buffer.filter(|buffer| !(1..=MAX_WINDOW).contains(&buffer.get())) {
            return refuse("receive_buffer", buffer.to_string(), "1 B to 1073725440 B, or unlimited");
        }
        if let Some(DelayedAck { segments, timer }) = self.delayed_ack {
            if segments == 0 || timer.is_zero() {
                let value = format!("{segments} segments, {timer}");
                return refuse("delayed_ack", value, "at least 1 segment and more than 0 s, or none");
            }
        }
        for (field, value) in [
            ("initial_rto", self.initial_rto),
            ("syn_lost_rto", self.syn_lost_rto),
            ("min_rto", self.min_rto),
            ("max_rto", self.max_rto),
            ("timestamps", self.timestamps.unwrap_or(Duration::from_ms(1))),
        ] {
            if value.is_zero() {
                return refuse(field, value.to_string(), "more than 0 s");
            }
        }
        if self.max_rto < self.min_rto || self.max_rto < self.initial_rto {
            return refuse("max_rto", self.max_rto.to_string(), "at least min_rto and initial_rto");
        }
        Ok(Settings { config: Arc::new(self), controller: None })
    }
}

/// Minimum permitted MSS: Linux's `TCP_MIN_MSS`.
const MIN_MSS: u16 = 88;
/// Maximum permitted MSS: 65 535 minus the headers of IPv6 and TCP with all options.
const MAX_MSS: u16 = u16::MAX - 100;

/// Creates the controller of a new connection.
type MakeController = Arc<dyn Fn(&Config) -> Box<dyn Controller> + Send + Sync>;

/// A checked [`Config`], shared by the connections that use it.
#[derive(Clone)]
pub struct Settings {
    config: Arc<Config>,
    controller: Option<MakeController>,
}

impl Settings {
    /// Returns the same settings with custom congestion control: `make` is called for each connection.
    /// [`Config::algorithm`] still determines the echo of marks and which packets are ECN-capable; DCTCP's echo reports
    /// each mark.
    /// ```
    /// use tcp::congestion::{Controller, Window};
    /// use tcp::Config;
    ///
    /// /// NewReno that reduces its window by an eighth for a mark.
    /// #[derive(Clone, Debug)]
    /// struct Gentle;
    ///
    /// impl Controller for Gentle {
    ///     fn on_mark(&mut self, window: &mut Window) {
    ///         window.reduce_to(window.cwnd - window.cwnd / 8);
    ///     }
    ///
    ///     fn clone_box(&self) -> Box<dyn Controller> {
    ///         Box::new(self.clone())
    ///     }
    /// }
    ///
    /// let settings = "ecn".parse::<Config>()?.check()?.with_controller(|_| Box::new(Gentle));
    /// # Ok::<(), tcp::ConfigError>(())
    /// ```
    pub fn with_controller(
        self,
        make: impl Fn(&Config) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Self {
        Self { controller: Some(Arc::new(make)), ..self }
    }

    /// Returns a custom controller for a new connection, if one is set.
    pub(crate) fn new_controller(&self) -> Option<Box<dyn Controller>> {
        self.controller.as_ref().map(|make| make(&self.config))
    }
}

impl Debug for Settings {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let own = self.controller.is_some();
        out.debug_struct("Settings").field("config", &self.config).field("own_controller", &own).finish()
    }
}

impl Deref for Settings {
    type Target = Config;

    #[inline]
    fn deref(&self) -> &Config {
        &self.config
    }
}

/// An invalid configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value is out of range.
    #[error("tcp: {field} is {value}, it must be {expected}")]
    Value {
        /// The field of [`Config`].
        field: &'static str,
        /// Its value.
        value: String,
        /// The permitted values.
        expected: &'static str,
    },
    /// No predefined configuration has this name.
    #[error("tcp: {name:?} is not known; there are {}", NAMES.join(", "))]
    UnknownName {
        /// The name.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_known_and_check() {
        for name in NAMES {
            name.parse::<Config>().unwrap().check().unwrap();
        }
        let error = "reno".parse::<Config>().unwrap_err().to_string();
        assert!(error.contains("\"reno\"") && error.contains("newreno"), "{error}");
    }
}
