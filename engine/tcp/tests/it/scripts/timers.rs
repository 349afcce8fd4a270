//! RFC 6298: the retransmission timer. RFC 5681, 3.1 and 4.1: its effect on the window.

use tcp::{Config, End, Segment};
use units::Duration;
use wire::tcp_options::{Options, Timestamps};

use crate::common::{config, ours, theirs, Script};

fn established(config: Config) -> Script {
    Script::established(config, Duration::from_ms(100))
}

/// RFC 6298, 2.2: after one measurement of R the RTO is R + 4 R / 2.
#[test]
fn the_handshake_gives_the_first_measurement() {
    let script = established(config("newreno"));
    assert_eq!(script.tcp.srtt(), Some(Duration::from_ms(100)));
    assert_eq!(script.tcp.rto(), Duration::from_ms(300));
}

/// RFC 6298, 5.4 to 5.6; RFC 5681, 3.1: the window becomes one segment; ssthresh becomes half of the flight, once.
#[test]
fn a_time_out_sends_the_first_segment_again_and_backs_off() {
    let mut script = established(config("newreno"));
    script.write(10_000);
    let mut at = script.now;
    for wait_ms in [300, 600, 1_200, 2_400] {
        script.time_out();
        at += Duration::from_ms(wait_ms);
        assert_eq!(script.now, at);
        assert_eq!(script.sent_data(), [0]);
        assert_eq!((script.cwnd(), script.tcp.ssthresh().unwrap().get()), (1_000, 5_000));
    }
    assert_eq!(script.tcp.stats().timeouts, 4);
}

/// RFC 5681, 3.1: slow start up to ssthresh, and everything is retransmitted from the first byte.
#[test]
fn after_a_time_out_slow_start_sends_all_again() {
    let mut script = established(config("newreno"));
    script.write(10_000);
    script.time_out();
    assert_eq!(script.sent_data(), [0]);
    script.ack(1_000);
    assert_eq!(script.sent_data(), [1_000, 2_000]);
    script.ack(2_000);
    assert_eq!(script.sent_data(), [3_000, 4_000]);
    script.ack(3_000);
    assert_eq!(script.sent_data(), [5_000, 6_000]);
    script.ack(10_000);
    assert_eq!(script.tcp.next_timeout(), None, "RFC 6298, 5.2");
}

/// Karn's rule (RFC 6298, 3): data sent twice does not measure, so the back-off stays.
#[test]
fn an_ack_of_what_was_sent_twice_measures_nothing() {
    let mut script = established(config("newreno"));
    script.write(2_000);
    script.time_out();
    script.sent();
    script.wait(Duration::from_ms(1));
    script.ack(2_000);
    assert_eq!((script.tcp.srtt(), script.tcp.rto()), (Some(Duration::from_ms(100)), Duration::from_ms(600)));
    script.write(1_000);
    script.wait(Duration::from_ms(100));
    script.ack(3_000);
    assert!(script.tcp.rto() < Duration::from_ms(300), "a measurement ends the back-off");
}

/// RFC 7323, 4.1: with timestamps it does.
#[test]
fn with_timestamps_what_was_sent_twice_measures() {
    let mut script = established(Config { timestamps: Some(Duration::from_ms(1)), ..config("newreno") });
    script.write(1_000);
    script.time_out();
    let again = script.expect_one();
    script.wait(Duration::from_ms(100));
    let echo_reply = again.options.timestamps.unwrap().value;
    let options = Options { timestamps: Some(Timestamps { value: 80, echo_reply }), ..Options::default() };
    script.receive(Segment { options, ..script.peer_segment(theirs(0), ours(1_000)) });
    assert!(script.tcp.rto() < Duration::from_ms(300), "{}", script.tcp.rto());
}

/// RFC 6298, 5.3: the timer counts from the last ACK of new data.
#[test]
fn an_ack_of_new_data_restarts_the_timer() {
    let mut script = established(config("newreno"));
    script.write(3_000);
    script.wait(Duration::from_ms(100));
    script.ack(1_000);
    let rto = script.tcp.rto();
    assert_eq!(script.tcp.next_timeout(), Some(script.now + rto));
    script.wait(Duration::from_ms(10));
    script.ack(1_000);
    assert_eq!(
        script.tcp.next_timeout(),
        Some(script.now + rto - Duration::from_ms(10)),
        "a duplicate does not"
    );
}

/// RFC 9293, 3.8.3: R2.
#[test]
fn a_peer_that_never_answers_is_given_up() {
    let mut script = established(Config { retries: 3, ..config("newreno") });
    script.write(1_000);
    for _ in 0..3 {
        script.time_out();
        assert_eq!(script.sent_data(), [0]);
    }
    script.time_out();
    assert_eq!(script.tcp.end(), Some(End::TimedOut));
    script.expect_nothing();
    assert_eq!(script.tcp.next_timeout(), None);
}

/// RFC 5681, 4.1.
#[test]
fn after_an_idle_time_longer_than_the_rto_sending_starts_from_the_initial_window() {
    for (restart_after_idle, burst) in [(true, 10), (false, 14)] {
        let mut script = established(Config { restart_after_idle, ..config("newreno") });
        script.write(10_000);
        for acked in 1..=10 {
            script.ack(acked * 1_000);
        }
        assert_eq!(script.cwnd(), 14_000, "grown as long as it was used");
        script.wait(Duration::from_ms(500));
        script.tcp.send(100_000).unwrap();
        assert_eq!(script.sent().len(), burst);
    }
}

/// RFC 6928, and ns-2's choice.
#[test]
fn the_initial_window_is_what_is_set() {
    for initial_window_segments in [1, 2, 10] {
        let mut script = established(Config { initial_window_segments, ..config("newreno") });
        script.tcp.send(1 << 20).unwrap();
        assert_eq!(script.sent().len(), initial_window_segments as usize);
    }
}

/// RFC 3465, 2.3, or no limit, as in Linux: an ACK for ten segments opens the window by ten.
#[test]
fn an_ack_opens_the_window_in_slow_start_by_what_is_set() {
    for (slow_start_limit, after) in [(Some(1), 11_000), (Some(2), 12_000), (None, 20_000)] {
        let mut script = established(Config { slow_start_limit, ..config("newreno") });
        script.tcp.send(1 << 20).unwrap();
        assert_eq!(script.sent().len(), 10);
        script.ack(10_000);
        assert_eq!(script.cwnd(), after, "{slow_start_limit:?}");
    }
}

/// RFC 9438, 5.8's aim: an unused window does not grow.
#[test]
fn a_flow_that_sends_little_does_not_grow_its_window() {
    let mut script = established(config("newreno"));
    for part in 1..=50 {
        script.write(1_000);
        script.ack(part * 1_000);
    }
    assert_eq!(script.cwnd(), 10_000);
}
