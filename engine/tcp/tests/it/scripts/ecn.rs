//! RFC 3168: classic ECN.

use tcp::{Config, Segment};
use units::Duration;
use wire::tcp::{ACK, CWR, ECE, SYN};
use wire::Ecn;

use crate::common::{config, flags, ours, theirs, Script, MSS, PEER_ISN};

fn established() -> Script {
    Script::established(config("ecn"), Duration::from_ms(10))
}

/// RFC 3168, 6.1.1: an ECN-setup SYN has ECE and CWR, an ECN-setup SYN-ACK only ECE.
#[test]
fn ecn_is_agreed_on_with_ece_and_cwr_on_syn_and_ece_on_syn_ack() {
    let mut client = Script::connect(config("ecn"));
    let syn = client.expect_one();
    assert_eq!(flags(&syn), "SYN|ECE|CWR");
    let mut server = Script::listen(config("ecn"));
    server.receive(Segment { sequence: PEER_ISN, ..syn });
    assert_eq!(flags(&server.expect_one()), "SYN|ACK|ECE");
    assert!(server.tcp.uses_ecn());
    assert!(established().tcp.uses_ecn());
}

/// RFC 3168, 6.1.1: an endpoint's reaction to each answer to its SYN, and to each SYN.
#[test]
fn without_exactly_these_flags_ecn_is_not_used() {
    for (answered, agreed) in [(0, false), (ECE, true), (CWR, false), (ECE | CWR, false)] {
        let mut script = Script::connect(config("ecn"));
        let syn = script.expect_one();
        let flags = SYN | ACK | answered;
        script.syn_ack(&syn, flags);
        assert_eq!(script.tcp.uses_ecn(), agreed, "SYN-ACK with {answered:#04x}");
        script.tcp.send(100).unwrap();
        let ecn = script.sent().last().unwrap().ecn;
        assert_eq!(ecn == Ecn::Ect0, agreed);
    }
    for (asked, agreed) in [(0, false), (ECE, false), (CWR, false), (ECE | CWR, true)] {
        let mut script = Script::listen(config("ecn"));
        script.receive(Segment { flags: SYN | asked, ..script.peer_segment(PEER_ISN, 0) });
        assert_eq!(script.expect_one().has(ECE), agreed, "SYN with {asked:#04x}");
    }
    let mut script = Script::listen(config("newreno"));
    script.receive(Segment { flags: SYN | ECE | CWR, ..script.peer_segment(PEER_ISN, 0) });
    assert_eq!(flags(&script.expect_one()), "SYN|ACK", "it does not want ECN");
}

/// RFC 3168, 6.1.1 (SYN, SYN-ACK), 6.1.4 (pure ACK), 6.1.5 (retransmission), 6.1.6 (window probe).
#[test]
fn only_new_data_is_ect() {
    let mut script = Script::connect(config("ecn"));
    let syn = script.expect_one();
    assert_eq!(syn.ecn, Ecn::NotEct, "SYN");
    script.syn_ack(&syn, SYN | ACK | ECE);
    assert_eq!(script.expect_one().ecn, Ecn::NotEct, "pure ACK");
    script.tcp.send(1_000).unwrap();
    assert_eq!(script.expect_one().ecn, Ecn::Ect0, "data");
    script.time_out();
    let again = script.expect_one();
    assert_eq!((again.sequence, again.ecn), (ours(0), Ecn::NotEct), "retransmission");
    script.window = 0;
    script.ack(1_000);
    script.tcp.send(1_000).unwrap();
    script.expect_nothing();
    script.time_out();
    let probe = script.expect_one();
    assert_eq!((probe.payload_len, probe.ecn), (1, Ecn::NotEct), "window probe");
    script.window = u16::MAX;
    script.ack(1_001);
    script.sent();
    script.ack(2_000);
    script.tcp.close();
    assert_eq!(script.expect_one().ecn, Ecn::NotEct, "FIN without data");

    let mut server = Script::listen(config("ecn"));
    server.receive(Segment { flags: SYN | ECE | CWR, ..server.peer_segment(PEER_ISN, 0) });
    assert_eq!(server.expect_one().ecn, Ecn::NotEct, "SYN-ACK");
}

/// ns-2's FullTcp, contrary to RFC 3168, 6.1.5.
#[test]
fn data_sent_again_is_ect_if_it_is_set_so_and_what_has_no_data_is_not() {
    let config = Config { ect_retransmissions: true, ..config("ecn") };
    let mut script = Script::established(config, Duration::from_ms(10));
    script.tcp.send(1_000).unwrap();
    assert_eq!(script.expect_one().ecn, Ecn::Ect0);
    script.time_out();
    let again = script.expect_one();
    assert_eq!((again.sequence, again.ecn), (ours(0), Ecn::Ect0), "retransmission");
    script.ack(1_000);
    script.tcp.close();
    assert_eq!(script.expect_one().ecn, Ecn::NotEct, "FIN without data");
}

/// RFC 3168, 6.1.3: ECE in every ACK from a CE packet to a packet with CWR.
#[test]
fn a_mark_is_echoed_until_cwr() {
    let mut script = established();
    let mut echoed = |offset: u32, ecn, cwr| {
        let flags = if cwr { ACK | CWR } else { ACK };
        let data =
            Segment { flags, payload_len: MSS, ecn, ..script.peer_segment(theirs(offset * MSS), ours(0)) };
        script.receive(data);
        script.expect_one().has(ECE)
    };
    assert!(!echoed(0, Ecn::Ect0, false));
    assert!(echoed(1, Ecn::Ce, false));
    assert!(echoed(2, Ecn::Ect0, false));
    assert!(echoed(3, Ecn::Ect0, false));
    assert!(!echoed(4, Ecn::Ect0, true));
    assert!(!echoed(5, Ecn::Ect0, false));
    assert!(echoed(6, Ecn::Ce, true), "marked itself: the echo starts anew");
    assert!(echoed(7, Ecn::NotEct, false));
}

/// RFC 3168, 6.1.2: the window halves, and the next new data carries CWR, once.
#[test]
fn an_echo_halves_the_window_once_a_window_and_cwr_follows() {
    let mut script = established();
    script.tcp.send(1 << 20).unwrap();
    assert_eq!(script.sent().len(), 10);
    script.ack_ece(2_000);
    assert_eq!((script.cwnd(), script.tcp.ssthresh().unwrap().get()), (5_000, 5_000));
    script.expect_nothing();
    // The rest of this window of data reports the same congestion.
    for acked in [4_000, 5_000] {
        script.ack_ece(acked);
        script.expect_nothing();
    }
    script.ack_ece(6_000);
    let first = script.expect_one();
    assert_eq!((flags(&first).as_str(), first.sequence, first.ecn), ("ACK|CWR", ours(10_000), Ecn::Ect0));
    script.ack_ece(8_000);
    assert_eq!(script.sent().iter().map(flags).collect::<Vec<_>>(), ["ACK", "ACK"]);
    script.ack_ece(10_000);
    assert_eq!(script.cwnd(), 5_000, "the last byte of that window");
    assert_eq!(script.tcp.stats().mark_reductions, 1);
    script.sent();
    script.ack_ece(11_000);
    assert_eq!(script.cwnd(), 2_500, "what was sent after the reduction");
    assert_eq!(script.tcp.stats().mark_reductions, 2);
}

/// RFC 3168, 6.1.2: a mark in a window that was reduced for a loss has no further effect; the next new data still carries CWR.
#[test]
fn a_loss_and_a_mark_of_one_window_reduce_once() {
    let mut script = established();
    script.write(1 << 20);
    for end in [2_000, 3_000, 4_000] {
        script.sack(0, &[(1_000, end)]);
    }
    assert_eq!(script.cwnd(), 5_000);
    script.sent();
    script.ack_ece(10_000);
    assert_eq!((script.cwnd(), script.tcp.stats().mark_reductions), (5_000, 0));
    let sent = script.sent();
    let cwr: Vec<_> = sent.iter().map(|segment| segment.has(CWR)).collect();
    assert_eq!(cwr[..2], [true, false]);
}

/// RFC 3168, 6.1.2: with a window of one segment only the timer sends.
#[test]
fn a_mark_at_a_window_of_one_segment_waits_for_an_rto() {
    let config = Config { min_window_segments: 1, initial_window_segments: 2, ..config("ecn") };
    let mut script = Script::established(config, Duration::from_ms(10));
    script.tcp.send(1 << 20).unwrap();
    assert_eq!(script.sent_data(), [0, 1_000]);
    script.ack_ece(2_000);
    assert_eq!((script.cwnd(), script.sent_data()), (1_000, vec![2_000]));
    script.ack_ece(3_000);
    script.expect_nothing();
    let before = script.now;
    script.time_out();
    assert_eq!(script.now, before + script.tcp.rto());
    assert_eq!(script.sent_data(), [3_000]);
    assert_eq!(script.tcp.stats().timeouts, 0);
    script.ack(4_000);
    assert_eq!(script.sent_data(), [4_000, 5_000], "without a mark it grows again");
}

/// RFC 5681, equation 4, and Linux: the default floor is two segments.
#[test]
fn marks_never_shrink_the_window_below_its_floor() {
    let mut script = established();
    script.tcp.send(1 << 20).unwrap();
    let mut acked = 0;
    for _ in 0..8 {
        acked += script.sent_data().len() as u32 * MSS;
        script.ack_ece(acked);
    }
    assert_eq!(script.cwnd(), 2_000);
}

/// In the rest of the round after a mark, the window may grow in ns-2 but not in Linux; after that it may in both.
#[test]
fn the_window_grows_in_the_round_of_a_mark_if_it_is_set_so() {
    for (cwr_growth, in_the_round) in [(true, 6_000), (false, 5_000)] {
        let mut script = Script::established(Config { cwr_growth, ..config("ecn") }, Duration::from_ms(10));
        script.tcp.send(1 << 30).unwrap();
        assert_eq!(script.sent_data().len(), 10);
        script.ack_ece(1_000);
        assert_eq!(script.cwnd(), 5_000);
        for segment in 2..=10 {
            script.ack(segment * 1_000);
            script.sent();
        }
        assert_eq!(script.cwnd(), in_the_round, "{cwr_growth}");
        for segment in 11..=20 {
            script.ack(segment * 1_000);
            script.sent();
        }
        assert!(script.cwnd() > in_the_round, "{cwr_growth}");
    }
}
