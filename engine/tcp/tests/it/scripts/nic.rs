//! TCP small queues: a connection's data in its host's NIC is limited.

use tcp::Config;
use units::Duration;

use crate::common::{config, Script};

fn established(tsq: Option<Duration>) -> Script {
    let config = Config { tsq, initial_window_segments: 20, ..config("newreno") };
    let mut script = Script::established(config, Duration::from_ms(10));
    script.tcp.send(100_000).unwrap();
    script
}

#[test]
fn two_segments_wait_in_the_nic_and_a_third_leaves_when_one_has_left_it() {
    let mut script = established(Some(Duration::ZERO));
    assert_eq!(script.sent_data(), [0, 1_000]);
    assert!(script.tcp.left_nic(1_000));
    assert_eq!(script.sent_data(), [2_000]);
    assert!(!script.tcp.left_nic(0), "one segment is too little room for none that left");
    script.expect_nothing();
}

/// Twice the window per round-trip time in slow start: 40 segments in 10 ms, so 4 in 1 ms.
#[test]
fn the_bound_is_a_time_at_the_pacing_rate_where_that_is_more_than_two_segments() {
    let mut script = established(Some(Duration::from_ms(1)));
    assert_eq!(script.sent_data(), [0, 1_000, 2_000, 3_000]);
    let mut unbounded = established(None);
    assert_eq!(unbounded.sent_data().len(), 20);
    assert!(!unbounded.tcp.left_nic(1_000), "nothing waits for the NIC");
}

/// A retransmission for a loss found meanwhile also waits for the NIC; ACKs without data do not.
#[test]
fn a_full_nic_holds_retransmissions_back_and_no_acks() {
    let mut script = established(Some(Duration::ZERO));
    script.sent_data();
    while script.tcp.in_flight().get() < 8_000 {
        script.tcp.left_nic(1_000);
        script.sent();
    }
    script.sack(0, &[(1_000, 4_000)]);
    script.expect_nothing();
    script.data(0, 100, wire::Ecn::NotEct);
    assert!(script.expect_one().is_pure_ack());
    assert!(script.tcp.left_nic(1_000));
    assert_eq!(script.sent_data(), [0]);
}
