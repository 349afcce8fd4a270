//! Losses detected by duplicate ACKs: RFC 5681, 3.2; RFC 6582; RFC 6675; RFC 3042.

use tcp::Config;
use units::Duration;

use crate::common::{config, Script};

/// Returns a connection with ten segments of 1000 bytes in flight, of an endless stream.
fn ten_sent(sack: bool) -> Script {
    let mut script = Script::established(Config { sack, ..config("newreno") }, Duration::from_ms(10));
    script.tcp.send(1 << 30).unwrap();
    assert_eq!(script.sent_data(), (0..10).map(|segment| segment * 1_000).collect::<Vec<_>>());
    script
}

/// RFC 3042: each of the first two duplicate ACKs permits one new segment; RFC 5681, 3.2: the third retransmits the
/// first segment and halves the window, and each further one inflates it.
#[test]
fn three_duplicate_acks_send_the_first_segment_again() {
    let mut script = ten_sent(false);
    script.ack(0);
    assert_eq!(script.sent_data(), [10_000]);
    script.ack(0);
    assert_eq!(script.sent_data(), [11_000]);
    script.ack(0);
    assert_eq!(script.sent_data(), [0]);
    assert_eq!(script.cwnd(), 5_000);
    // 12 segments of flight, 3 duplicates: 9 in the network, 5 allowed. Four more duplicates have no effect; each further one permits a segment.
    for _ in 0..4 {
        script.ack(0);
        script.expect_nothing();
    }
    script.ack(0);
    assert_eq!(script.sent_data(), [12_000]);
    let stats = script.tcp.stats();
    assert_eq!((stats.fast_recoveries, stats.retransmitted_segments, stats.timeouts), (1, 1, 0));
}

#[test]
fn without_limited_transmit_the_first_two_duplicates_send_nothing() {
    let config = Config { sack: false, limited_transmit: false, ..config("newreno") };
    let mut script = Script::sending(config, Duration::from_ms(10), 1 << 30);
    for _ in 0..2 {
        script.ack(0);
        script.expect_nothing();
    }
    script.ack(0);
    assert_eq!(script.sent_data(), [0]);
}

/// RFC 6582, 3.2 step 3: a partial ACK retransmits the next lost segment; the full one ends the recovery.
#[test]
fn newreno_repairs_one_loss_a_round_trip() {
    let mut script = ten_sent(false);
    // Segments 0 and 4 are lost: eight duplicates.
    let mut sent = Vec::new();
    for _ in 0..8 {
        script.ack(0);
        sent.extend(script.sent_data());
    }
    // Two by limited transmit, then the first again; 12 - 8 = 4 in the network, so one more.
    assert_eq!(sent, [10_000, 11_000, 0, 12_000]);
    script.ack(4_000);
    // 9 of flight, inflated by 8 - 4 + 1: 4 in the network, so also a new segment.
    assert_eq!(script.sent_data(), [4_000, 13_000]);
    assert_eq!(script.cwnd(), 5_000);
    script.ack(13_000);
    assert_eq!(script.cwnd(), 2_000, "RFC 6582, 3.2: min (ssthresh, max (FlightSize, SMSS) + SMSS)");
    assert_eq!(script.sent_data(), [14_000]);
    assert_eq!(script.tcp.stats().fast_recoveries, 1);
}

/// RFC 6582, 3.2 step 2: duplicates for data sent before the last recovery start none.
#[test]
fn duplicates_after_a_time_out_begin_no_recovery() {
    for sack in [false, true] {
        let mut script = ten_sent(sack);
        script.time_out();
        assert_eq!(script.sent_data(), [0]);
        for _ in 0..5 {
            script.ack(0);
        }
        script.expect_nothing();
        assert_eq!((script.cwnd(), script.tcp.stats().fast_recoveries), (1_000, 0));
    }
}

/// RFC 6675, 5: the third duplicate with new information starts the recovery; lost data is retransmitted as the pipe allows.
#[test]
fn sack_recovery_sends_again_exactly_what_is_lost() {
    let mut script = ten_sent(true);
    // Segments 0, 2 and 5 are lost.
    script.sack(0, &[(1_000, 2_000)]);
    assert_eq!(script.sent_data(), [10_000], "RFC 3042");
    script.sack(0, &[(3_000, 4_000), (1_000, 2_000)]);
    assert_eq!(script.sent_data(), [11_000]);
    script.sack(0, &[(3_000, 5_000), (1_000, 2_000)]);
    assert_eq!(script.sent_data(), [0], "the third duplicate");
    assert_eq!((script.cwnd(), script.tcp.ssthresh().unwrap().get()), (5_000, 5_000));
    // Held: 1, 3, 4. Three segments above 2 make it lost. Pipe: 5 to 11 and the retransmission, minus the held segments.
    let mut sent = Vec::new();
    for held in 6..12 {
        script.sack(0, &[(6_000, (held + 1) * 1_000), (3_000, 5_000), (1_000, 2_000)]);
        sent.extend(script.sent_data());
    }
    assert_eq!(sent[..2], [2_000, 5_000], "the lost ones first");
    assert!(sent[2..].iter().all(|at| *at >= 12_000), "then new data: {sent:?}");
    script.ack(2_000);
    script.ack(5_000);
    script.ack(12_000);
    assert_eq!(script.cwnd(), 5_000, "the window stays at half");
    let stats = script.tcp.stats();
    assert_eq!((stats.fast_recoveries, stats.retransmitted_segments, stats.timeouts), (1, 3, 0));
}

/// RFC 6675, 5 step 2 and 4 "IsLost": more than two segments' worth above a segment are enough, even in one ACK.
#[test]
fn one_ack_that_reports_three_segments_begins_the_recovery() {
    let mut script = ten_sent(true);
    script.sack(0, &[(1_000, 4_000)]);
    assert_eq!(script.sent_data()[0], 0);
    assert_eq!(script.tcp.stats().fast_recoveries, 1);
}

/// RFC 6675, 4 "SetPipe": the network never contains more than the window allows, except for the first retransmission.
#[test]
fn in_recovery_the_pipe_stays_below_the_window() {
    let mut script = ten_sent(true);
    // Segments 0 to 4 are lost, 5 to 9 arrive.
    let mut sent = Vec::new();
    for held in 5..10 {
        script.sack(0, &[(5_000, (held + 1) * 1_000)]);
        sent.push(script.sent_data());
    }
    // Duplicates 1 and 2: limited transmit. 3: segment 0 again. Then five are in the network: 8 to 11 and 0. Each
    // further one makes room for one.
    let expected: [&[u32]; 5] = [&[10_000], &[11_000], &[0], &[1_000], &[2_000]];
    assert_eq!(sent, expected);
}

/// RFC 6675, 4 "NextSeg" rule 4: if nothing else may be sent, the end of the unknown data, once.
#[test]
fn a_lost_tail_is_rescued_once() {
    let mut script = Script::sending(config("newreno"), Duration::from_ms(10), 10_000);
    // Segments 0 and 9 are lost.
    for held in 1..9 {
        script.sack(0, &[(1_000, (held + 1) * 1_000)]);
    }
    assert_eq!(script.sent_data(), [0, 9_000]);
    script.ack(9_000);
    script.expect_nothing();
}

/// RFC 2018, 8: reported data is not retransmitted after the first timeout; after the second, the reports are discarded.
#[test]
fn after_a_time_out_what_the_peer_holds_is_skipped_until_the_second() {
    let mut script = ten_sent(true);
    script.sack(0, &[(1_000, 2_000)]);
    script.sack(0, &[(3_000, 4_000), (1_000, 2_000)]);
    script.sent();
    script.time_out();
    assert_eq!(script.sent_data(), [0]);
    script.ack(2_000);
    assert_eq!(script.sent_data(), [2_000, 4_000], "slow start, and 3000 is held");
    script.time_out();
    script.time_out();
    assert_eq!(script.sent_data(), [2_000]);
    script.ack(3_000);
    assert_eq!(script.sent_data(), [3_000, 4_000]);
}

/// RFC 2018, 5: blocks of data that was never sent, or that is acknowledged, are ignored.
#[test]
fn impossible_sack_blocks_are_ignored() {
    let mut script = ten_sent(true);
    script.ack(2_000);
    script.sent();
    for _ in 0..5 {
        script.sack(2_000, &[(0, 1_000), (50_000, 60_000), (5_000, 4_000), (7_000, 7_000)]);
    }
    assert_eq!(script.tcp.stats().fast_recoveries, 0);
}

/// RFC 5681, 2: with payload, or with another window, an ACK does not count as a duplicate.
#[test]
fn data_and_window_updates_are_no_duplicates() {
    let mut script = ten_sent(false);
    for step in 0..5_u16 {
        script.window = 60_000 + step;
        script.ack(0);
    }
    script.window = u16::MAX;
    for part in 0..5 {
        script.data(part * 100, 100, wire::Ecn::NotEct);
    }
    script.sent();
    assert_eq!(script.tcp.stats().fast_recoveries, 0);
}

/// RFC 9937, 6.2: twenty segments, one lost. ssthresh is ten: every second ACK permits one segment until ten are in the
/// network, then every ACK does. Without PRR, the first half of the ACKs permits nothing.
#[test]
fn with_prr_every_second_delivered_segment_lets_one_out() {
    let sent = |prr: bool| -> Vec<usize> {
        let config =
            Config { prr, limited_transmit: false, initial_window_segments: 20, ..config("newreno") };
        let mut script = Script::established(config, Duration::from_ms(10));
        script.tcp.send(1 << 30).unwrap();
        assert_eq!(script.sent_data().len(), 20);
        let ack = |held: u32| {
            script.sack(0, &[(1_000, held * 1_000)]);
            script.sent_data().len()
        };
        (2..=20).map(ack).collect()
    };
    assert_eq!(sent(true), [0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1], "in proportion");
    assert_eq!(sent(false), [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1], "RFC 6675");
}

/// RFC 9937, 6.2: if more is lost than the reduction requires, an ACK permits what it delivers, plus one segment if it
/// moves SND.UNA; after that the window is ssthresh.
#[test]
fn with_prr_a_window_that_has_lost_much_is_refilled_by_slow_start() {
    let config = Config { prr: true, limited_transmit: false, ..config("newreno") };
    let mut script = Script::sending(config, Duration::from_ms(10), 1 << 30);
    // Segments 0 to 6 are lost.
    script.sack(0, &[(7_000, 8_000)]);
    script.sack(0, &[(7_000, 9_000)]);
    script.expect_nothing();
    script.sack(0, &[(7_000, 10_000)]);
    assert_eq!(script.sent_data(), [0]);
    script.wait(Duration::from_ms(10));
    script.sack(1_000, &[(7_000, 10_000)]);
    assert_eq!(script.sent_data(), [1_000, 2_000], "one delivered, and one more");
    script.sack(3_000, &[(7_000, 10_000)]);
    assert_eq!(script.sent_data(), [3_000, 4_000, 5_000], "two delivered, and one more");
    script.ack(10_000);
    assert_eq!(script.cwnd(), 5_000, "ssthresh");
}

/// RFC 9937, 6: an ACK that moves SND.UNA but indicates further loss is not a SafeACK, and permits only what it delivers.
#[test]
fn with_prr_an_ack_that_indicates_further_loss_lets_no_segment_more_out() {
    let sent = |rack: bool, held: u32| {
        let config = Config {
            prr: true,
            rack,
            limited_transmit: false,
            initial_window_segments: 20,
            ..config("newreno")
        };
        let mut script = Script::sending(config, Duration::from_ms(10), 1 << 30);
        script.wait(Duration::from_ms(10));
        // Segments 0 to 11 are lost.
        script.sack(0, &[(12_000, 15_000)]);
        script.sent_data();
        // Whether segment 15 is lost as well depends on the data held beyond it.
        script.sack(1_000, &[(12_000, 15_000), (16_000, 16_000 + held * 1_000)]);
        script.sent_data().len()
    };
    // The scoreboard considers it lost with three segments beyond it, RACK with any.
    assert_eq!([0, 2, 3].map(|held| sent(false, held)), [1 + 1, 3 + 1, 4]);
    assert_eq!([0, 2, 3].map(|held| sent(true, held)), [1 + 1, 3, 4]);
}
