//! RFC 8985: losses detected by time, and probes for a lost tail.

use tcp::Config;
use units::Duration;

use crate::common::{config, Script};

const RTT: Duration = Duration::from_ms(100);

/// Returns a connection with `segments` of 1000 bytes in flight, and no other data written.
fn sent(segments: u32) -> Script {
    let config = Config { rack: true, limited_transmit: false, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(u64::from(segments) * 1_000).unwrap();
    assert_eq!(script.sent_data().len(), segments as usize);
    script
}

/// 6.2: one later segment is enough, once a quarter of the round-trip time has passed; without RACK three are needed.
#[test]
fn a_segment_is_lost_a_quarter_of_a_round_trip_after_a_later_one_has_arrived() {
    let mut script = sent(4);
    script.wait(RTT);
    let arrived = script.now;
    script.sack(0, &[(3_000, 4_000)]);
    script.expect_nothing();
    script.time_out();
    assert_eq!(script.now, arrived + Duration::from_ms(25));
    assert_eq!(script.sent_data(), [0, 1_000], "ssthresh is two segments");
    assert_eq!(script.tcp.stats().fast_recoveries, 1);
}

/// 6.2 step 4: three held segments are enough, as long as no reordering has been seen.
#[test]
fn three_segments_held_beyond_a_gap_need_no_time() {
    let mut script = sent(10);
    script.wait(RTT);
    script.sack(0, &[(1_000, 3_000)]);
    script.expect_nothing();
    script.sack(0, &[(1_000, 4_000)]);
    assert_eq!(script.sent_data(), [0]);
}

/// 6.2 step 3 and 4: once reordering has been seen, three are no longer enough.
#[test]
fn once_reordering_has_been_seen_three_segments_held_wait_too() {
    let mut script = sent(10);
    script.wait(RTT);
    script.sack(0, &[(1_000, 2_000)]);
    script.ack(2_000);
    assert_eq!(script.sent(), [], "late, and not sent again");
    script.sack(2_000, &[(3_000, 8_000)]);
    script.expect_nothing();
    script.wait(Duration::from_ms(24));
    script.tcp.handle_timeout(script.now);
    script.expect_nothing();
    script.wait(Duration::from_ms(1));
    script.tcp.handle_timeout(script.now);
    assert_eq!(script.sent_data(), [2_000]);
}

/// 6.2 step 5: a retransmission is lost if a later segment has arrived, and its own round-trip time has passed.
#[test]
fn a_lost_retransmission_is_found() {
    let mut script = sent(10);
    script.wait(RTT);
    script.sack(0, &[(1_000, 10_000)]);
    assert_eq!(script.sent_data(), [0]);
    script.wait(Duration::from_ms(1));
    script.tcp.send(2_000).unwrap();
    assert_eq!(script.sent_data(), [10_000, 11_000]);
    script.wait(RTT);
    script.sack(0, &[(1_000, 11_000)]);
    assert_eq!(script.sent_data(), [0], "again");
    script.wait(RTT);
    script.ack(12_000);
    assert_eq!((script.tcp.stats().timeouts, script.tcp.in_flight().get()), (0, 0));
}

/// 6.2 step 2: an answer faster than any round trip is for the first transmission; it does not make earlier retransmissions lost.
#[test]
fn an_answer_to_the_first_transmission_makes_nothing_else_lost() {
    let config = Config { rack: true, prr: true, limited_transmit: false, ..config("newreno") };
    let mut script = Script::sending(config, RTT, 10_000);
    script.wait(RTT);
    // Segments 0 and 1 are late. PRR lets them be retransmitted one after the other.
    script.sack(0, &[(2_000, 5_000)]);
    assert_eq!(script.sent_data(), [0]);
    script.wait(Duration::from_ms(1));
    script.sack(0, &[(2_000, 6_000)]);
    script.sack(0, &[(2_000, 7_000)]);
    assert_eq!(script.sent_data(), [1_000]);
    script.wait(Duration::from_ms(1));
    script.sack(0, &[(1_000, 8_000)]);
    script.expect_nothing();
    script.ack(10_000);
    assert_eq!(script.tcp.stats().retransmitted_segments, 2);
}

/// 7.2 and 7.3: after two round-trip times the last segment is retransmitted, and the window is unchanged; 7.4: the
/// loss that the probe has repaired halves it.
#[test]
fn a_lost_tail_is_repaired_by_a_probe_and_answered_to() {
    let mut script = sent(5);
    let start = script.now;
    script.wait(RTT);
    script.ack(4_000);
    script.time_out();
    // A single segment: two round-trip times and the minimum RTO, but not after the RTO of 250 ms.
    assert_eq!(script.now, start + Duration::from_ms(100 + 250));
    assert_eq!(script.sent_data(), [4_000]);
    let before = script.cwnd();
    script.wait(RTT);
    script.ack(5_000);
    script.tcp.send(1_000).unwrap();
    assert_eq!((script.sent_data(), script.cwnd()), (vec![5_000], before), "not known yet");
    script.wait(RTT);
    script.ack(6_000);
    assert_eq!(script.cwnd(), 2_000, "the flight was one segment");
    let stats = script.tcp.stats();
    assert_eq!((stats.tail_probes, stats.timeouts, stats.fast_recoveries), (1, 0, 0));
}

/// 7.4.2: the segment and its probe have both arrived, so nothing was lost.
#[test]
fn a_probe_that_was_not_needed_leaves_the_window() {
    let mut script = sent(5);
    script.wait(Duration::from_ms(200));
    script.tcp.handle_timeout(script.now);
    assert_eq!(script.sent_data(), [4_000], "two round-trip times after the last was sent");
    script.wait(Duration::from_ms(1));
    script.ack(5_000);
    script.ack(5_000);
    let before = script.cwnd();
    script.write(1_000);
    script.wait(RTT);
    script.ack(6_000);
    assert!(script.cwnd() >= before);
}

/// 7.4.2: the same, reported by an ACK that also acknowledges newer data.
#[test]
fn an_ack_of_new_data_that_reports_the_probe_as_a_duplicate_leaves_the_window() {
    let mut script = sent(5);
    script.wait(Duration::from_ms(200));
    script.tcp.handle_timeout(script.now);
    assert_eq!(script.sent_data(), [4_000]);
    script.wait(Duration::from_ms(1));
    script.ack(5_000);
    let before = script.cwnd();
    script.write(1_000);
    script.wait(RTT);
    script.sack(6_000, &[(4_000, 5_000)]);
    assert!(script.cwnd() >= before, "{} of {before}", script.cwnd());
}

/// 7.3: new data is the better probe, even if the window is full.
#[test]
fn new_data_is_probed_with_beyond_the_window() {
    let config = Config { rack: true, initial_window_segments: 4, ..config("newreno") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(100_000).unwrap();
    assert_eq!(script.sent_data().len(), 4);
    script.time_out();
    assert_eq!(script.sent_data(), [4_000]);
    // The probe reveals that all four are lost; they are retransmitted as the window of two allows.
    script.wait(RTT);
    script.sack(0, &[(4_000, 5_000)]);
    assert_eq!(script.sent_data(), [0, 1_000]);
    assert_eq!(script.tcp.stats().timeouts, 0);
}

/// 7.3: one probe, and then the retransmission timer.
#[test]
fn after_a_probe_without_answer_the_timer_fires() {
    let mut script = sent(5);
    script.time_out();
    assert_eq!(script.sent_data(), [4_000]);
    let probed = script.now;
    script.time_out();
    assert_eq!(script.now, probed + Duration::from_ms(300), "the RTO starts again with the probe");
    assert_eq!((script.sent_data(), script.cwnd()), (vec![0], 1_000));
    // 6.3: all are lost, and retransmitted in slow start.
    script.wait(RTT);
    script.ack(1_000);
    assert_eq!(script.sent_data(), [1_000, 2_000]);
    script.wait(RTT);
    script.ack(3_000);
    assert_eq!(script.sent_data(), [3_000, 4_000]);
    assert_eq!(script.tcp.stats().timeouts, 1);
}

/// 7.2: a FIN sent with the last segment is not a second segment; the peer may delay the ACK, and the RTO of 300 ms comes first.
#[test]
fn a_single_segment_with_fin_waits_for_a_delayed_ack() {
    let mut script = Script::established(Config { rack: true, ..config("newreno") }, RTT);
    script.tcp.send(1_000).unwrap();
    script.tcp.close();
    script.expect_one();
    assert_eq!(script.tcp.next_timeout(), Some(script.now + Duration::from_ms(300)));
}
