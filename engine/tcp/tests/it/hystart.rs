//! HyStart++ (RFC 9406) in a whole connection.

use tcp::{Config, HyStart};
use units::Duration;

use crate::common::{config, Script};

const RTT: Duration = Duration::from_ms(12);

/// The round-trip time rises from 12 to 20 ms: slow start becomes conservative after eight ACKs, and ends after five rounds.
#[test]
fn slow_start_ends_where_round_trip_times_rise() {
    for algorithm in ["newreno", "cubic", "dctcp"] {
        let hystart = Some(HyStart::default());
        let config = Config { hystart, slow_start_limit: Some(8), ..config(algorithm) };
        let mut script = Script::established(config, RTT);
        script.tcp.send(100_000_000).unwrap();
        let mut under_way = script.sent_data();
        under_way = script.round(under_way, RTT);
        assert_eq!(script.cwnd(), 20_000, "{algorithm}");
        // Eight whole segments, and a quarter of each of the other twelve.
        under_way = script.round(under_way, Duration::from_ms(20));
        assert!((30_000..=31_000).contains(&script.cwnd()), "{algorithm}: {}", script.cwnd());
        for _ in 0..3 {
            let before = script.cwnd();
            under_way = script.round(under_way, Duration::from_ms(20));
            let factor = script.cwnd() as f64 / before as f64;
            assert!((1.2..1.26).contains(&factor), "{algorithm}: {factor}");
            assert_eq!(script.tcp.ssthresh(), None, "{algorithm}");
        }
        script.round(under_way, Duration::from_ms(20));
        assert!(script.tcp.ssthresh().is_some(), "{algorithm}");
    }
}

/// RFC 9406, 4.3: only in the first slow start.
#[test]
fn after_a_time_out_slow_start_is_as_without_it() {
    let config = Config { hystart: Some(HyStart::default()), slow_start_limit: None, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(100_000_000).unwrap();
    let mut under_way = script.sent_data();
    for _ in 0..4 {
        under_way = script.round(under_way, RTT);
    }
    script.time_out();
    under_way = script.sent_data();
    for rtt_ms in [12, 30, 60, 90] {
        let before = script.cwnd();
        under_way = script.round(under_way, Duration::from_ms(rtt_ms));
        assert_eq!(script.cwnd(), 2 * before, "{rtt_ms} ms");
    }
}
