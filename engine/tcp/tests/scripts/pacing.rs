//! Pacing, and HyStart++ (RFC 9406) over a whole connection.

use tcp::{Config, HyStart};
use units::{Duration, Time};

use crate::common::{config, Script};

const RTT: Duration = Duration::from_ms(12);

fn paced(initial_window_segments: u32) -> Script {
    let config =
        Config { pacing: true, initial_window_segments, slow_start_limit: None, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(1_000_000).unwrap();
    script
}

/// Everything that leaves until `end` without an ACK: when, and the first byte.
fn departures(script: &mut Script, end: Time) -> Vec<(Time, u32)> {
    let mut left: Vec<_> = script.sent_data().into_iter().map(|start| (script.now, start)).collect();
    while script.tcp.next_timeout().is_some_and(|due| due <= end) {
        script.time_out();
        left.extend(script.sent_data().into_iter().map(|start| (script.now, start)));
    }
    left
}

/// Linux' `tcp_update_skb_after_send`: the first ten segments at once; then at twice the window of 20 segments a round trip of 12 ms, one
/// each 300 us.
#[test]
fn after_ten_segments_one_leaves_each_half_of_a_window_th_of_the_round_trip() {
    let mut script = paced(20);
    let start = script.now;
    let left = departures(&mut script, start + Duration::from_ms(11));
    assert_eq!(left.len(), 20);
    for (index, (at, first)) in left.into_iter().enumerate() {
        // Before a threshold is known the window is below half of it; the eleventh segment begins the spacing.
        let gaps = (index as u64).saturating_sub(10);
        assert_eq!(at, start + Duration::from_us(300 * gaps), "segment {index}");
        assert_eq!(first, 1_000 * index as u32);
    }
}

/// What pacing keeps back does not keep the window from growing: the largest flight of the round tells whether it is used.
#[test]
fn a_paced_window_that_is_used_grows_with_each_ack_of_a_burst() {
    let mut script = paced(20);
    let start = script.now;
    departures(&mut script, start + Duration::from_ms(11));
    script.now = start + RTT;
    for acked in 1..=20 {
        script.ack(acked * 1_000);
        script.sent();
    }
    assert_eq!(script.cwnd(), 40_000);
}

/// ACKs leave when they are due, and what was lost is paced as new data is.
#[test]
fn acks_are_not_paced_and_retransmissions_are() {
    let mut script = paced(20);
    let start = script.now;
    departures(&mut script, start + Duration::from_ms(11));
    script.now = start + RTT;
    script.sack(0, &[(2_000, 20_000)]);
    let again = script.expect_one();
    assert_eq!(again.sequence, crate::common::ours(0));
    script.data(0, 100, wire::Ecn::NotEct);
    assert!(script.expect_one().is_pure_ack());
    let until = script.now + Duration::from_ms(5);
    let left = departures(&mut script, until);
    assert_eq!(left[0].1, 1_000);
    assert!(left[0].0 > start + RTT, "{left:?}");
}

/// The timer is at rest when nothing waits for it.
#[test]
fn without_data_there_is_no_timer_of_pacing() {
    let config = Config { pacing: true, initial_window_segments: 20, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(20_000).unwrap();
    let until = script.now + Duration::from_ms(11);
    departures(&mut script, until);
    script.now = until;
    script.ack(20_000);
    script.expect_nothing();
    assert_eq!(script.tcp.next_timeout(), None);
}

/// Segmentation offload: bursts of four segments, a third of the window, and nothing for what a single ACK lets out, but what is left of
/// the stream.
#[test]
fn with_segmentation_offload_data_leaves_in_bursts() {
    let config = Config { tso_segments: Some(64), initial_window_segments: 12, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(18_500).unwrap();
    assert_eq!(script.sent_data().len(), 12);
    let mut leave = |acknowledged: u32| {
        script.ack(acknowledged);
        script.sent_data()
    };
    assert_eq!(leave(1_000), [], "two segments of a window of 13");
    assert_eq!(leave(2_000), [12_000, 13_000, 14_000, 15_000], "a third of a window of 14");
    assert_eq!(leave(3_000), [], "two of 15");
    assert_eq!(leave(4_000), [16_000, 17_000, 18_000], "all that is left");
    script.tcp.send(400).unwrap();
    assert_eq!(script.sent_data(), [18_500], "and what is written then");
}

/// With pacing a burst leaves at once, and the next one when its time is over: five segments each 1.5 ms.
#[test]
fn bursts_of_segmentation_offload_are_paced_whole() {
    let config = Config {
        pacing: true,
        tso_segments: Some(5),
        initial_window_segments: 20,
        slow_start_limit: None,
        ..config("newreno")
    };
    let mut script = Script::established(config, RTT);
    script.tcp.send(1_000_000).unwrap();
    let start = script.now;
    let left = departures(&mut script, start + Duration::from_ms(11));
    let times: Vec<_> = left.iter().map(|(at, _)| at.saturating_since(start)).collect();
    assert_eq!(times[..15], [Duration::ZERO; 15], "ten are not paced, and then a burst");
    assert_eq!(times[15..], [Duration::from_us(1_500); 5]);
}

/// One round trip in which every segment is acknowledged `rtt` after it left; nothing but the window limits.
fn round(script: &mut Script, under_way: &mut Vec<u32>, rtt: Duration) {
    script.wait(rtt);
    let mut sent = Vec::new();
    for start in std::mem::take(under_way) {
        script.ack(start + 1_000);
        sent.extend(script.sent_data());
    }
    *under_way = sent;
}

/// The round-trip time rises from 12 to 20 ms: slow start turns conservative after eight ACKs, and ends after five rounds.
#[test]
fn slow_start_ends_where_round_trip_times_rise() {
    for algorithm in ["newreno", "cubic", "dctcp"] {
        let hystart = Some(HyStart::default());
        let config = Config { hystart, slow_start_limit: Some(8), ..config(algorithm) };
        let mut script = Script::established(config, RTT);
        script.tcp.send(100_000_000).unwrap();
        let mut under_way = script.sent_data();
        round(&mut script, &mut under_way, RTT);
        assert_eq!(script.cwnd(), 20_000, "{algorithm}");
        // Eight whole segments, and a quarter of each of the other twelve.
        round(&mut script, &mut under_way, Duration::from_ms(20));
        assert!((30_000..=31_000).contains(&script.cwnd()), "{algorithm}: {}", script.cwnd());
        for _ in 0..3 {
            let before = script.cwnd();
            round(&mut script, &mut under_way, Duration::from_ms(20));
            let factor = script.cwnd() as f64 / before as f64;
            assert!((1.2..1.26).contains(&factor), "{algorithm}: {factor}");
            assert_eq!(script.tcp.ssthresh(), None, "{algorithm}");
        }
        round(&mut script, &mut under_way, Duration::from_ms(20));
        assert!(script.tcp.ssthresh().is_some(), "{algorithm}");
    }
}

/// RFC 9406, 4.3: only the first slow start.
#[test]
fn after_a_time_out_slow_start_is_as_without_it() {
    let config = Config { hystart: Some(HyStart::default()), slow_start_limit: None, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(100_000_000).unwrap();
    let mut under_way = script.sent_data();
    for _ in 0..4 {
        round(&mut script, &mut under_way, RTT);
    }
    script.time_out();
    under_way = script.sent_data();
    for rtt_ms in [12, 30, 60, 90] {
        let before = script.cwnd();
        round(&mut script, &mut under_way, Duration::from_ms(rtt_ms));
        assert_eq!(script.cwnd(), 2 * before, "{rtt_ms} ms");
    }
}
