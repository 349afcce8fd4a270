//! RFC 5682 (F-RTO): spurious timeouts, with the response of RFC 4015.

use tcp::Config;
use units::{Bytes, Duration};

use crate::common::{config, Script};

const RTT: Duration = Duration::from_ms(100);

/// Returns a connection with ten segments in flight, whose timer has fired and whose first segment has been retransmitted. `more` bytes are unsent.
fn timed_out(with: Config, more: u64) -> Script {
    let mut script = Script::established(Config { frto: true, ..with }, RTT);
    script.tcp.send(10_000 + more).unwrap();
    assert_eq!(script.sent_data().len(), 10);
    script.time_out();
    assert_eq!(script.sent_data(), [0]);
    script
}

fn sack() -> Config {
    config("newreno")
}

fn basic() -> Config {
    Config { sack: false, ..config("newreno") }
}

/// 2.1 and 3.1, steps 2b and 3b: two ACKs advance, the second for data that was sent once. RFC 4015: the window becomes
/// the data in flight plus the data of this ACK, and the threshold is restored.
#[test]
fn two_acks_that_move_on_show_that_a_delay_and_no_loss_made_the_timer_fire() {
    for with in [sack(), basic(), Config { prr: true, ..sack() }] {
        let mut script = timed_out(with, 20_000);
        script.ack(1_000);
        assert_eq!(script.sent_data(), [10_000, 11_000], "two new segments, and nothing again");
        script.ack(2_000);
        assert_eq!(script.tcp.stats().spurious_timeouts, 1);
        assert_eq!((script.cwnd(), script.tcp.ssthresh()), (11_000, None));
        assert_eq!(script.sent_data(), [12_000], "new data goes on");
        assert_eq!(script.tcp.stats().retransmitted_segments, 1);
        script.ack(13_000);
        let sent = script.sent_data();
        assert!(sent[0] == 13_000 && sent.len() >= 11, "{sent:?}");
    }
}

/// With RACK, a tail loss probe of new data precedes the timer; segments that it considered lost no longer are.
#[test]
fn with_rack_nothing_stays_lost_after_a_spurious_time_out() {
    let config = Config { frto: true, rack: true, max_ack_delay: Some(RTT), ..sack() };
    let mut script = Script::sending(config, RTT, 30_000);
    script.time_out();
    assert_eq!(script.sent_data(), [10_000], "the probe");
    script.time_out();
    assert_eq!(script.sent_data(), [0]);
    script.ack(1_000);
    assert_eq!(script.sent_data(), [11_000, 12_000]);
    script.ack(2_000);
    assert_eq!(script.tcp.stats().spurious_timeouts, 1);
    assert_eq!((script.cwnd(), script.sent_data()), (12_000, vec![13_000]));
    script.ack(14_000);
    assert_eq!(script.tcp.stats().retransmitted_segments, 1);
}

/// 2.1, step 2a: the first ACK acknowledges all data in flight, so only its last part can have been lost.
#[test]
fn an_ack_of_everything_is_no_sign_of_a_spurious_time_out() {
    let mut script = timed_out(sack(), 20_000);
    script.ack(10_000);
    assert_eq!(script.tcp.stats().spurious_timeouts, 0);
    assert_eq!((script.cwnd(), script.tcp.ssthresh().unwrap().get()), (2_000, 5_000));
    assert_eq!(script.sent_data(), [10_000, 11_000]);
}

/// 2.1, step 2a: without SACK, a duplicate ACK as the first one means a loss.
#[test]
fn without_sack_a_duplicate_ack_first_is_followed_by_slow_start() {
    let mut script = timed_out(basic(), 20_000);
    script.ack(0);
    script.ack(1_000);
    assert_eq!(script.sent_data(), [1_000, 2_000]);
    assert_eq!(script.tcp.stats().spurious_timeouts, 0);
}

/// 3.1, step 2: with SACK, duplicate ACKs are only recorded, and the next ACK of new data continues.
#[test]
fn with_sack_a_duplicate_ack_first_only_fills_the_scoreboard() {
    let mut script = timed_out(sack(), 20_000);
    script.sack(0, &[(5_000, 6_000)]);
    script.expect_nothing();
    script.ack(1_000);
    assert_eq!(script.sent_data(), [10_000, 11_000]);
}

/// Step 2b: there is no new data to probe with, or the peer accepts none.
#[test]
fn without_new_data_slow_start_goes_on() {
    let mut script = timed_out(sack(), 0);
    script.ack(1_000);
    assert_eq!(script.sent_data(), [1_000, 2_000]);
    let not_scaled = Config { receive_buffer: Some(Bytes::new(65_535)), ..sack() };
    let mut script = timed_out(not_scaled, 20_000);
    script.window = 9_000;
    script.ack(1_000);
    assert_eq!(script.sent_data(), [1_000, 2_000]);
}

/// Step 3a: the second ACK is a duplicate: the data after the first segment was lost.
#[test]
fn a_duplicate_ack_after_the_new_data_means_a_loss() {
    let mut script = timed_out(basic(), 20_000);
    script.ack(1_000);
    script.sent();
    script.ack(1_000);
    assert_eq!((script.cwnd(), script.tcp.stats().spurious_timeouts), (2_000, 0));
    assert_eq!(script.sent_data(), [1_000, 2_000]);
}

/// 3.1, step 3a and b: a block of the new data means a loss; a block of data sent before the timeout does not.
#[test]
fn with_sack_it_matters_what_the_second_ack_reports() {
    let mut lost = timed_out(sack(), 20_000);
    lost.ack(1_000);
    lost.sent();
    lost.sack(1_000, &[(10_000, 11_000)]);
    assert_eq!((lost.tcp.stats().spurious_timeouts, lost.sent_data()), (0, vec![1_000, 2_000]));
    let mut late = timed_out(sack(), 20_000);
    late.ack(1_000);
    late.sent();
    late.sack(1_000, &[(2_000, 3_000)]);
    assert_eq!(late.tcp.stats().spurious_timeouts, 1);
}

/// Step 1: data retransmitted by an earlier recovery proves nothing about this timeout; and a second timeout is taken as genuine.
#[test]
fn a_second_time_out_in_a_row_and_one_in_recovery_are_not_doubted() {
    let mut script = timed_out(sack(), 20_000);
    script.time_out();
    assert_eq!(script.sent_data(), [0]);
    script.ack(1_000);
    assert_eq!(script.sent_data(), [1_000, 2_000]);
    let mut script = Script::sending(Config { frto: true, ..sack() }, RTT, 30_000);
    script.sack(0, &[(1_000, 4_000)]);
    script.sent();
    script.time_out();
    script.sent();
    script.ack(1_000);
    assert_eq!(script.tcp.stats().spurious_timeouts, 0);
    assert!(script.sent_data().contains(&4_000), "sent again, as without F-RTO");
}
