//! Settings of TCP in the description of a workload.

use serde::{Deserialize, Deserializer};
use tcp::{Config, DctcpEct, DelayedAck, HyStart, Settings};
use units::{Bytes, Duration};
use workload::WorkloadError;

/// Settings of TCP. Every key is optional; `algorithm` determines the defaults of the others, which are those of the crate `tcp`.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TcpSpec {
    /// `newreno` (the default), `ecn` (NewReno that reacts to marks), `dctcp`, `cubic` or `vegas`.
    algorithm: Option<String>,
    /// Offer and accept ECN (RFC 3168).
    ecn: Option<bool>,
    /// Offer and accept AccECN (RFC 9768), with ECN.
    accecn: Option<bool>,
    /// Which packets of a DCTCP endpoint are ECN-capable.
    dctcp_ect: Option<DctcpEct>,
    /// A DCTCP endpoint sends ECT(1), so that switches apply their L4S threshold (RFC 9331).
    l4s: Option<bool>,
    /// DCTCP's estimation gain g, above 0 and at most 1.
    dctcp_gain: Option<f64>,
    /// DCTCP's alpha at the start, 0 to 1.
    dctcp_initial_alpha: Option<f64>,
    /// With ECN, retransmitted data is also ECN-capable (ns-2), against RFC 3168, 6.1.5.
    ect_retransmissions: Option<bool>,
    /// Closing sends a FIN; `false` ends a connection silently once everything is acknowledged.
    fin: Option<bool>,
    /// Maximum number of payload bytes in a segment without options.
    mss: Option<u16>,
    /// Initial window, in segments.
    initial_window_segments: Option<u32>,
    /// Maximum number of segments by which slow start grows with one ACK (RFC 3465, 2.3); `null` means no limit.
    #[serde(deserialize_with = "given")]
    slow_start_limit: Option<Option<u32>>,
    /// End the first slow start when round-trip times rise (HyStart++, RFC 9406); `null` is off.
    #[serde(deserialize_with = "given")]
    hystart: Option<Option<HyStart>>,
    /// Minimum window after a reduction for a mark, in segments.
    min_window_segments: Option<u32>,
    /// After a reduction for a mark, grow with the next ACK without ECE (ns-2), not only when all data that was in
    /// flight is acknowledged (Linux).
    cwr_growth: Option<bool>,
    /// The maximum window announced; `null` is unlimited.
    #[serde(rename = "receive_buffer_bytes", deserialize_with = "given")]
    receive_buffer: Option<Option<Bytes>>,
    /// Offer and accept SACK (RFC 2018).
    sack: Option<bool>,
    /// Offer and accept timestamps (RFC 7323), with a clock of this tick; `null` is off.
    #[serde(rename = "timestamps_ps", deserialize_with = "given")]
    timestamps: Option<Option<Duration>>,
    /// How ACKs are delayed; `null` acknowledges each segment.
    #[serde(deserialize_with = "given")]
    delayed_ack: Option<Option<DelayedAck>>,
    /// Number of segments that are acknowledged at once, at the start and after data that was lost or arrived twice.
    quick_acks: Option<u32>,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    limited_transmit: Option<bool>,
    /// With SACK, find losses by time and probe for a lost tail (RFC 8985).
    rack: Option<bool>,
    /// Maximum time for which the peer may delay the ACK of a single segment, for tail loss probes; the default is the minimum RTO.
    #[serde(rename = "max_ack_delay_ps")]
    max_ack_delay: Option<Duration>,
    /// In recovery with SACK, send in proportion to the delivered data (RFC 9937).
    prr: Option<bool>,
    /// Detect spurious time-outs, and after one continue with new data and the window restored (RFC 5682, RFC 4015).
    frto: Option<bool>,
    /// With SACK, report data that arrives twice (RFC 2883), undo a reduction that was not needed (RFC 3708), and with
    /// RACK adapt its reordering window.
    dsack: Option<bool>,
    /// After an idle time longer than the RTO, start from the initial window (RFC 5681, 4.1).
    restart_after_idle: Option<bool>,
    /// RTO before the first measurement.
    #[serde(rename = "initial_rto_ps")]
    initial_rto: Option<Duration>,
    /// RTO of data after a lost SYN, without a measurement (RFC 6298, 5.7).
    #[serde(rename = "syn_lost_rto_ps")]
    syn_lost_rto: Option<Duration>,
    /// Minimum RTO.
    #[serde(rename = "min_rto_ps")]
    min_rto: Option<Duration>,
    /// Maximum RTO.
    #[serde(rename = "max_rto_ps")]
    max_rto: Option<Duration>,
    /// Time added to every RTO (FreeBSD's `rexmit_slop`).
    #[serde(rename = "rto_slop_ps")]
    rto_slop: Option<Duration>,
    /// Granularity G of the clock (RFC 6298, 2.2).
    #[serde(rename = "clock_granularity_ps")]
    clock_granularity: Option<Duration>,
    /// Maximum number of retransmissions of a SYN or SYN-ACK.
    syn_retries: Option<u32>,
    /// Duration of TIME-WAIT.
    #[serde(rename = "time_wait_ps")]
    time_wait: Option<Duration>,
    /// Limit of a connection's data in its host's NIC: what leaves in this time at its pacing rate, and always two
    /// segments (TCP small queues); `null` is no limit.
    #[serde(rename = "tsq_ps", deserialize_with = "given")]
    tsq: Option<Option<Duration>>,
}

/// Reads a value that is present, `null` included, as distinct from an absent one.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Parses and checks settings; `place` is their place, with a leading space.
pub(crate) fn settings(place: &str, json: Option<&str>) -> Result<Settings, WorkloadError> {
    let refuse = |reason: String| WorkloadError::Json { place: place.to_owned(), reason };
    let spec: TcpSpec = json
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| refuse(error.to_string()))?
        .unwrap_or_default();
    let name = spec.algorithm.as_deref().unwrap_or("newreno");
    let base: Config = name.parse().map_err(|error: tcp::ConfigError| refuse(error.to_string()))?;
    macro_rules! given_or_base {
        ($($field:ident)*) => { Config { $($field: spec.$field.unwrap_or(base.$field),)* ..base } };
    }
    let config = given_or_base! {
        ecn accecn dctcp_ect l4s dctcp_gain dctcp_initial_alpha ect_retransmissions fin mss
        initial_window_segments slow_start_limit hystart min_window_segments cwr_growth receive_buffer
        sack timestamps delayed_ack quick_acks limited_transmit rack prr frto dsack restart_after_idle
        initial_rto syn_lost_rto min_rto max_rto rto_slop clock_granularity syn_retries time_wait tsq
    };
    let config = Config { max_ack_delay: spec.max_ack_delay.or(base.max_ack_delay), ..config };
    config.check().map_err(|error| refuse(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every key of [`TcpSpec`] that crosses unchanged, with a value that is not its default.
    #[test]
    fn what_is_given_is_what_is_set() {
        let given = settings(
            "",
            Some(
                r#"{"algorithm": "cubic", "ecn": true, "initial_window_segments": 3, "slow_start_limit": null,
                    "timestamps_ps": 1000000, "quick_acks": 16, "prr": true, "frto": true, "dsack": true, "rack": true, "cwr_growth": false, "dctcp_initial_alpha": 0.25, "ect_retransmissions": true, "fin": false, "max_ack_delay_ps": 6, "syn_lost_rto_ps": 7, "initial_rto_ps": 8,
                    "min_rto_ps": 9, "max_rto_ps": 10, "rto_slop_ps": 14, "clock_granularity_ps": 11, "syn_retries": 12, "time_wait_ps": 13, "tsq_ps": 0}"#,
            ),
        )
        .unwrap();
        let expected = Config {
            ecn: true,
            initial_window_segments: 3,
            slow_start_limit: None,
            timestamps: Some(Duration::from_us(1)),
            quick_acks: 16,
            prr: true,
            frto: true,
            dsack: true,
            rack: true,
            cwr_growth: false,
            dctcp_initial_alpha: 0.25,
            ect_retransmissions: true,
            fin: false,
            max_ack_delay: Some(Duration::from_ps(6)),
            syn_lost_rto: Duration::from_ps(7),
            initial_rto: Duration::from_ps(8),
            min_rto: Duration::from_ps(9),
            max_rto: Duration::from_ps(10),
            rto_slop: Duration::from_ps(14),
            clock_granularity: Duration::from_ps(11),
            syn_retries: 12,
            time_wait: Duration::from_ps(13),
            tsq: Some(Duration::ZERO),
            .."cubic".parse().unwrap()
        };
        assert_eq!(*given, expected);
        let l4s = settings("", Some(r#"{"algorithm": "dctcp", "l4s": true}"#)).unwrap();
        assert_eq!(*l4s, Config { l4s: true, .."dctcp".parse().unwrap() });
        let hystart =
            settings("", Some(r#"{"hystart": {"min_rtt_thresh_ps": 5, "max_rtt_thresh_ps": 6}}"#)).unwrap();
        let thresholds =
            HyStart { min_rtt_thresh: Duration::from_ps(5), max_rtt_thresh: Duration::from_ps(6) };
        assert_eq!(*hystart, Config { hystart: Some(thresholds), ..Config::default() });
        let accecn = settings("", Some(r#"{"algorithm": "ecn", "accecn": true}"#)).unwrap();
        assert_eq!(*accecn, Config { accecn: true, .."ecn".parse().unwrap() });
        let off = settings("", Some(r#"{"timestamps_ps": null, "slow_start_limit": 1}"#)).unwrap();
        assert_eq!(*off, Config { slow_start_limit: Some(1), ..Config::default() });
    }
}
