//! RFC 2883: duplicates are reported. RFC 3708, RFC 4015 and RFC 8985, 6.2: the sender's reaction.

use tcp::Config;
use units::Duration;
use wire::Ecn;

use crate::common::{config, theirs, Script};

const RTT: Duration = Duration::from_ms(100);

fn on() -> Config {
    Config { dsack: true, limited_transmit: false, ..config("newreno") }
}

fn receiver(config: Config) -> Script {
    Script::established(config, RTT)
}

/// Returns the number that the only ACK acknowledges, and its blocks as offsets of the peer's data.
fn reported(script: &mut Script) -> (u32, Vec<(u32, u32)>) {
    let ack = script.expect_one();
    let offset = |sequence: u32| sequence - theirs(0);
    let blocks = ack.options.sack.as_slice().iter();
    (offset(ack.acknowledgement), blocks.map(|block| (offset(block.left), offset(block.right))).collect())
}

/// 4.1.1: an acknowledged segment is repeated, and reported once.
#[test]
fn a_segment_that_comes_again_is_reported_once() {
    let mut script = receiver(on());
    script.data(0, 500, Ecn::NotEct);
    assert_eq!(reported(&mut script), (500, vec![]));
    script.data(0, 500, Ecn::NotEct);
    assert_eq!(reported(&mut script), (500, vec![(0, 500)]));
    script.data(500, 500, Ecn::NotEct);
    assert_eq!(reported(&mut script), (1_000, vec![]));
    let mut off = receiver(config("newreno"));
    off.data(0, 500, Ecn::NotEct);
    off.sent();
    off.data(0, 500, Ecn::NotEct);
    assert_eq!(reported(&mut off), (500, vec![]));
}

/// 4.1.2 and 4.1.3: a segment beyond a gap is repeated: first the duplicate is reported, then the block that contains it.
#[test]
fn a_segment_beyond_a_gap_that_comes_again_is_reported_before_its_block() {
    let mut script = receiver(on());
    script.data(1_000, 500, Ecn::NotEct);
    script.data(1_500, 500, Ecn::NotEct);
    assert_eq!(reported(&mut script), (0, vec![(1_000, 2_000)]));
    script.data(1_500, 500, Ecn::NotEct);
    assert_eq!(reported(&mut script), (0, vec![(1_500, 2_000), (1_000, 2_000)]));
}

/// 4.2: a segment that is only partly new.
#[test]
fn of_a_segment_that_is_new_in_part_the_rest_is_reported() {
    let mut script = receiver(on());
    script.data(0, 1_000, Ecn::NotEct);
    script.sent();
    script.data(500, 1_000, Ecn::NotEct);
    assert_eq!(reported(&mut script), (1_500, vec![(500, 1_000)]));
    script.data(2_000, 500, Ecn::NotEct);
    script.sent();
    script.data(1_800, 500, Ecn::NotEct);
    assert_eq!(reported(&mut script), (1_500, vec![(2_000, 2_300), (1_800, 2_500)]));
}

/// 4.2.2 and 4.3: for an in-order segment that covers blocks beyond it, the first duplicate range is reported.
#[test]
fn a_segment_in_order_over_blocks_reports_the_first_of_them() {
    let mut script = receiver(on());
    for start in [1_000, 3_000, 7_000] {
        script.data(start, 1_000, Ecn::NotEct);
        script.sent();
    }
    script.data(0, 6_000, Ecn::NotEct);
    assert_eq!(reported(&mut script), (6_000, vec![(1_000, 2_000), (7_000, 8_000)]));
    script.data(6_000, 1_000, Ecn::NotEct);
    assert_eq!(reported(&mut script), (8_000, vec![]), "it fills the gap and covers nothing");
}

/// Returns a connection with ten segments in flight. ACKs of three later ones arrive before that of the first, which is retransmitted.
fn reordered(config: Config) -> Script {
    let mut script = Script::sending(config, RTT, 30_000);
    script.sack(0, &[(1_000, 4_000)]);
    assert_eq!(script.sent_data()[0], 0);
    assert_eq!(script.tcp.ssthresh().unwrap().get(), 5_000);
    script
}

/// RFC 3708, 2: the only retransmission is reported as a duplicate: the window becomes the data in flight plus the data acknowledged.
#[test]
fn a_reduction_whose_every_retransmission_was_a_duplicate_is_taken_back() {
    let mut script = reordered(on());
    script.ack(10_000);
    script.sent();
    let flight = script.tcp.in_flight().get();
    script.sack(10_000, &[(0, 1_000)]);
    let stats = script.tcp.stats();
    assert_eq!((stats.duplicates_reported, stats.spurious_recoveries), (1, 1));
    assert_eq!((script.cwnd(), script.tcp.ssthresh()), (flight, None));
}

/// RFC 3708, 2: a retransmission without a report was needed.
#[test]
fn a_reduction_with_a_retransmission_that_was_needed_stays() {
    let mut script = Script::sending(on(), RTT, 30_000);
    script.sack(0, &[(1_000, 2_000), (3_000, 6_000)]);
    assert_eq!(script.sent_data(), [0]);
    script.sack(0, &[(1_000, 2_000), (3_000, 7_000)]);
    assert_eq!(script.sent_data(), [2_000]);
    script.ack(10_000);
    script.sack(10_000, &[(0, 1_000)]);
    assert_eq!((script.tcp.stats().spurious_recoveries, script.tcp.ssthresh().unwrap().get()), (0, 5_000));
}

/// RFC 3708, 2: a report counts for a round trip after the recovery; later, the network has made the duplicate.
#[test]
fn a_late_report_takes_nothing_back() {
    let mut script = reordered(on());
    script.ack(10_000);
    script.sent();
    script.ack(15_000);
    script.sent();
    script.ack(16_000);
    script.sack(16_000, &[(0, 1_000)]);
    assert_eq!(script.tcp.stats().spurious_recoveries, 0);
}

/// RFC 8985, 6.2 step 4: a duplicate widens the reordering window by a quarter of the round trip, once per round trip.
#[test]
fn a_duplicate_widens_the_reordering_window_of_rack() {
    for (duplicates, wait_ms) in [(0, 25), (1, 50), (2, 50)] {
        let mut script = Script::sending(Config { rack: true, ..on() }, RTT, 4_000);
        script.wait(RTT);
        script.ack(1_000);
        for _ in 0..duplicates {
            script.sack(1_000, &[(0, 1_000)]);
        }
        let arrived = script.now;
        script.sack(1_000, &[(2_000, 3_000)]);
        script.time_out();
        assert_eq!(script.now, arrived + Duration::from_ms(wait_ms), "{duplicates} duplicates");
        assert_eq!(script.sent_data(), [1_000]);
    }
}

/// RFC 8985, 7.4.2: a probe that repeats delivered data is reported as a duplicate: nothing was lost.
#[test]
fn a_tail_loss_probe_that_is_reported_as_a_duplicate_repairs_nothing() {
    let mut script = Script::sending(Config { rack: true, ..on() }, RTT, 4_000);
    script.time_out();
    assert_eq!(script.sent_data(), [3_000], "the probe");
    script.ack(4_000);
    script.sack(4_000, &[(3_000, 4_000)]);
    script.write(1_000);
    script.ack(5_000);
    assert_eq!(script.tcp.ssthresh(), None);
}
