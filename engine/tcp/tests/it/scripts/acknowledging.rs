//! When and what a receiver acknowledges: RFC 5681, 4.2; RFC 9293, 3.8.6.3; RFC 2018; RFC 7323.

use tcp::{Config, Segment};
use units::Duration;
use wire::tcp_options::{Options, Timestamps};
use wire::Ecn;

use crate::common::{config, ours, theirs, Script, DELAYED, MSS, PEER_ISN};

fn established(config: Config) -> Script {
    Script::established(config, Duration::from_ms(10))
}

/// RFC 5681, 4.2: at least every second segment.
#[test]
fn every_second_segment_is_acknowledged_at_once() {
    let mut script = established(Config { delayed_ack: DELAYED, ..config("newreno") });
    for pair in 0..3 {
        script.data(2 * pair * MSS, MSS, Ecn::NotEct);
        script.expect_nothing();
        script.data((2 * pair + 1) * MSS, MSS, Ecn::NotEct);
        assert_eq!(script.expect_one().acknowledgement, theirs(2 * (pair + 1) * MSS));
    }
}

/// RFC 5681, 4.2: within the configured time, here 40 ms.
#[test]
fn a_single_segment_is_acknowledged_when_the_timer_fires() {
    let mut script = established(Config { delayed_ack: DELAYED, ..config("newreno") });
    script.data(0, MSS, Ecn::NotEct);
    script.expect_nothing();
    let before = script.now;
    script.time_out();
    assert_eq!(script.now, before + Duration::from_ms(40));
    assert_eq!(script.expect_one().acknowledgement, theirs(MSS));
    assert_eq!(script.tcp.next_timeout(), None);
}

#[test]
fn an_ack_that_waits_goes_with_data() {
    let mut script = established(Config { delayed_ack: DELAYED, ..config("newreno") });
    script.data(0, MSS, Ecn::NotEct);
    script.tcp.send(10).unwrap();
    let segment = script.expect_one();
    assert_eq!((segment.payload_len, segment.acknowledgement), (10, theirs(MSS)));
    script.receive(script.peer_segment(theirs(MSS), ours(10)));
    assert_eq!(script.tcp.next_timeout(), None, "nothing waits any more");
}

/// RFC 5681, 4.2: at once for data out of order, and for data that fills a gap.
#[test]
fn what_is_out_of_order_and_what_fills_a_gap_is_acknowledged_at_once() {
    let mut script = established(Config { delayed_ack: DELAYED, sack: false, ..config("newreno") });
    script.data(MSS, MSS, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(0));
    script.data(3 * MSS, MSS, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(0));
    script.data(0, MSS, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(2 * MSS));
    script.data(2 * MSS, MSS, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(4 * MSS));
    assert_eq!(script.tcp.bytes_received(), u64::from(4 * MSS));
}

#[test]
fn a_segment_that_has_come_before_is_acknowledged_at_once() {
    let mut script = established(Config { delayed_ack: DELAYED, ..config("newreno") });
    script.data(0, MSS, Ecn::NotEct);
    script.data(0, MSS, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(MSS));
    assert_eq!(script.tcp.bytes_received(), u64::from(MSS));
}

#[test]
fn of_a_segment_that_overlaps_only_the_new_part_counts() {
    let mut script = established(config("newreno"));
    script.data(0, 1_000, Ecn::NotEct);
    script.data(600, 1_000, Ecn::NotEct);
    assert_eq!(script.tcp.bytes_received(), 1_600);
    script.data(2_000, 500, Ecn::NotEct);
    script.data(1_200, 1_000, Ecn::NotEct);
    assert_eq!(script.tcp.bytes_received(), 2_500);
}

fn blocks(segment: &Segment) -> Vec<(u32, u32)> {
    let blocks = segment.options.sack.as_slice().iter();
    blocks.map(|block| (block.left - theirs(0), block.right - theirs(0))).collect()
}

/// RFC 2018, 4: the first block contains the segment that has just arrived, the others are those reported before, at
/// most four.
#[test]
fn sack_blocks_report_the_latest_first() {
    let mut script = established(config("newreno"));
    for (at, expected) in [
        (2, vec![(2, 3)]),
        (4, vec![(4, 5), (2, 3)]),
        (6, vec![(6, 7), (4, 5), (2, 3)]),
        (3, vec![(2, 5), (6, 7)]),
        (8, vec![(8, 9), (2, 5), (6, 7)]),
        (10, vec![(10, 11), (8, 9), (2, 5), (6, 7)]),
        (12, vec![(12, 13), (10, 11), (8, 9), (2, 5)]),
    ] {
        script.data(at * MSS, MSS, Ecn::NotEct);
        let expected: Vec<_> = expected.iter().map(|(left, right)| (left * MSS, right * MSS)).collect();
        let ack = script.expect_one();
        assert_eq!((ack.acknowledgement, blocks(&ack)), (theirs(0), expected), "after segment {at}");
    }
    script.data(0, 2 * MSS, Ecn::NotEct);
    let ack = script.expect_one();
    assert_eq!(ack.acknowledgement, theirs(5 * MSS));
    assert_eq!(blocks(&ack)[..2], [(12 * MSS, 13 * MSS), (10 * MSS, 11 * MSS)]);
}

/// RFC 2018, 3: 8 bytes per block and 4 bytes in front; RFC 7323, appendix A: timestamps take 12.
#[test]
fn the_acks_length_is_that_of_its_options() {
    for (timestamps, lengths) in [(None, [20, 32, 40]), (Some(Duration::from_ms(1)), [32, 44, 52])] {
        let mut script = established(Config { timestamps, ..config("newreno") });
        let peer = |script: &Script, offset| Segment {
            payload_len: MSS,
            options: Options {
                timestamps: timestamps.map(|_| Timestamps { value: 100, echo_reply: 0 }),
                ..Options::default()
            },
            ..script.peer_segment(theirs(offset), ours(0))
        };
        for (offset, len) in [0, 2 * MSS, 4 * MSS].into_iter().zip(lengths) {
            script.receive(peer(&script, offset));
            assert_eq!(script.expect_one().header_len(), len);
        }
    }
}

/// RFC 7323, 4.3: the echoed timestamp is that of the segment that the ACK waits for, not of one out of order.
#[test]
fn the_echoed_timestamp_is_of_the_last_segment_in_order() {
    let mut script = established(Config { timestamps: Some(Duration::from_ms(1)), ..config("newreno") });
    let mut data = |offset, value| {
        let options = Options { timestamps: Some(Timestamps { value, echo_reply: 0 }), ..Options::default() };
        script.receive(Segment { payload_len: MSS, options, ..script.peer_segment(theirs(offset), ours(0)) });
        script.expect_one().options.timestamps.unwrap().echo_reply
    };
    assert_eq!(data(0, 100), 100);
    assert_eq!(data(2 * MSS, 102), 100, "a gap");
    assert_eq!(data(MSS, 103), 103, "fills it");
    assert_eq!(data(3 * MSS, 50), 103, "older: PAWS (RFC 7323, 5.3)");
    assert_eq!(script.tcp.bytes_received(), u64::from(3 * MSS));
}

#[test]
fn sequence_numbers_wrap() {
    let mut script = Script::connect(config("newreno"));
    script.expect_one();
    let irs = u32::MAX - 500;
    script.receive(Segment { flags: wire::tcp::SYN | wire::tcp::ACK, ..script.peer_segment(irs, ours(0)) });
    script.expect_one();
    for part in 0..3_u32 {
        let sequence = irs.wrapping_add(1 + part * MSS);
        script.receive(Segment { payload_len: MSS, ..script.peer_segment(sequence, ours(0)) });
        assert_eq!(script.expect_one().acknowledgement, sequence.wrapping_add(MSS));
    }
    assert_eq!(script.tcp.bytes_received(), u64::from(3 * MSS));
    assert_ne!(irs, PEER_ISN);
}

/// Linux's quick ACKs: a sender with a small window waits for ACKs, at the start and after a loss.
#[test]
fn quick_acks_answer_the_first_segments_and_those_after_a_repair_at_once() {
    let quick = Config { delayed_ack: DELAYED, quick_acks: 3, ..config("newreno") };
    let mut script = established(quick);
    let answers = |script: &mut Script, segments: std::ops::Range<u32>| -> Vec<usize> {
        let one = |segment| {
            script.data(segment * MSS, MSS, Ecn::NotEct);
            script.sent().len()
        };
        segments.map(one).collect()
    };
    assert_eq!(answers(&mut script, 0..6), [1, 1, 1, 0, 1, 0]);
    // The last segment is repeated: the sender's timer has fired.
    assert_eq!(answers(&mut script, 5..10), [1, 1, 1, 1, 0]);
    // One segment is missing and then repaired: it and two more are acknowledged at once.
    assert_eq!(answers(&mut script, 11..12), [1]);
    assert_eq!(answers(&mut script, 10..11), [1]);
    assert_eq!(answers(&mut script, 12..17), [1, 1, 0, 1, 0]);
}
