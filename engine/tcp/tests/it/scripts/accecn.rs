//! RFC 9768 (AccECN).

use tcp::{Config, Connection, Segment};
use units::Duration;
use wire::tcp::{ACK, CWR, ECE, SYN};
use wire::Ecn;

use crate::common::{answer, config, ms, ours, theirs, Script, DELAYED, OUR_ISN, PEER_ISN};

const RTT: Duration = Duration::from_ms(10);

fn accurate(name: &str) -> Config {
    Config { ecn: true, accecn: true, ..config(name) }
}

/// Sets the three flags AE, CWR and ECE, in RFC 9768's order.
fn with_ace(mut segment: Segment, ace: u8) -> Segment {
    segment.ae = ace & 4 != 0;
    segment.flags &= !(CWR | ECE);
    segment.flags |= if ace & 2 != 0 { CWR } else { 0 } | if ace & 1 != 0 { ECE } else { 0 };
    segment
}

/// Returns a connection that we opened to a peer with AccECN, whose SYN-ACK has `ace` and arrives with `ecn`; and our ACK of it.
fn opened(config: Config, ace: u8, ecn: Ecn) -> (Script, Segment) {
    let mut script = Script::connect(config);
    let syn = script.expect_one();
    assert_eq!(syn.ace(), 0b111);
    script.now += RTT;
    let base = script.peer_segment(PEER_ISN, OUR_ISN + 1);
    let syn_ack = Segment { flags: SYN | ACK, ecn, options: answer(&syn), ..base };
    script.receive(with_ace(syn_ack, ace));
    let ack = script.expect_one();
    (script, ack)
}

fn established(name: &str) -> Script {
    let (mut script, _) =
        opened(Config { initial_window_segments: 20, ..accurate(name) }, 0b010, Ecn::NotEct);
    ack(&mut script, 0, 5);
    script
}

/// Delivers an ACK up to `offset` from a peer with a counter of `count`; 5 means no marks.
fn ack(script: &mut Script, offset: u32, count: u8) {
    let segment = script.peer_segment(theirs(0), ours(offset));
    script.receive(with_ace(segment, count));
}

/// 3.1.1, table 2, and 3.1.2: a server's reaction to each SYN.
#[test]
fn every_syn_but_that_of_classic_ecn_and_of_none_asks_for_accecn() {
    for ace in 0..8 {
        let mut script = Script::listen(accurate("newreno"));
        script.receive(with_ace(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) }, ace));
        let expected = match ace {
            0b000 => 0b000,
            0b011 => 0b001,
            _ => 0b010,
        };
        assert_eq!(script.expect_one().ace(), expected, "SYN {ace:03b}");
        assert_eq!(script.tcp.uses_ecn(), ace != 0);
    }
    let mut classic = Script::listen(config("ecn"));
    classic.receive(with_ace(Segment { flags: SYN, ..classic.peer_segment(PEER_ISN, 0) }, 0b111));
    assert_eq!(classic.expect_one().ace(), 0b001, "a server without AccECN");
}

/// 3.1.1, table 2: the SYN-ACK reports the codepoint of the SYN, and the ACK that of the SYN-ACK (3.2.2.1, table 3).
#[test]
fn the_handshake_tells_codepoints_both_ways() {
    for (ecn, ace) in [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)] {
        let mut server = Script::listen(accurate("newreno"));
        let syn = Segment { flags: SYN, ecn, ..server.peer_segment(PEER_ISN, 0) };
        server.receive(with_ace(syn, 0b111));
        assert_eq!(server.expect_one().ace(), ace, "SYN with {ecn:?}");
        let (mut client, first) = opened(accurate("newreno"), 0b010, ecn);
        assert_eq!(first.ace(), ace, "SYN-ACK with {ecn:?}");
        client.data(0, 1_000, Ecn::NotEct);
        // 3.2.1: a marked SYN-ACK counts; the server learns of it from the ACK.
        assert_eq!(client.expect_one().ace(), if ecn == Ecn::Ce { 6 } else { 5 }, "and then the counter");
    }
}

/// 3.2.1 and 3.2.2.1 between two of our endpoints: the SYN-ACK's mark counts as one mark, and not for the data that follows.
#[test]
fn a_marked_syn_ack_does_not_shrink_the_servers_window() {
    let settings = accurate("newreno").check().unwrap();
    let (mut client, mut server) = (Connection::connect(&settings, 1), Connection::listen(&settings, 2));
    server.send(100_000).unwrap();
    for millisecond in 0..100 {
        let now = ms(millisecond);
        client.handle_timeout(now);
        server.handle_timeout(now);
        while let Some(segment) = client.poll_transmit(now) {
            server.handle_segment(now, &segment);
        }
        while let Some(mut segment) = server.poll_transmit(now) {
            if segment.has(SYN) {
                segment.ecn = Ecn::Ce;
            }
            client.handle_segment(now, &segment);
        }
    }
    assert_eq!(server.bytes_acknowledged(), 100_000);
    assert_eq!((server.stats().mark_reductions, server.ssthresh()), (0, None));
}

/// 3.1.3: the reserved answer selects AccECN, as if the SYN had arrived unchanged.
#[test]
fn the_reserved_answer_is_taken_for_accecn() {
    let (mut script, first) = opened(accurate("newreno"), 0b101, Ecn::NotEct);
    assert_eq!((script.tcp.uses_ecn(), first.ace()), (true, 0b010));
    script.data(0, 1_000, Ecn::Ce);
    assert_eq!(script.expect_one().ace(), 6);
}

/// 3.2.2.1: the answer to a repeated SYN-ACK reports its codepoint, and the next segment has the counter again.
#[test]
fn a_syn_ack_that_comes_again_is_answered_with_its_codepoint() {
    let (mut script, _) = opened(accurate("newreno"), 0b010, Ecn::NotEct);
    for (ecn, ace) in [(Ecn::Ect0, 0b100), (Ecn::NotEct, 0b010)] {
        let base = script.peer_segment(PEER_ISN, OUR_ISN + 1);
        script.receive(with_ace(Segment { flags: SYN | ACK, ecn, ..base }, 0b010));
        assert_eq!(script.expect_one().ace(), ace, "{ecn:?}");
    }
    script.data(0, 1_000, Ecn::NotEct);
    assert_eq!(script.expect_one().ace(), 5);
}

/// 3.1.5: the answer to a repeated SYN reports the codepoint of the latest one; a SYN without flags ends ECT, not the feedback.
#[test]
fn a_syn_that_comes_again_without_flags_ends_ect() {
    for (again, codepoint) in [(0b111, Ecn::Ect0), (0b000, Ecn::NotEct)] {
        let mut script = Script::listen(accurate("newreno"));
        let syn = Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) };
        script.receive(with_ace(Segment { ecn: Ecn::Ect0, ..syn }, 0b111));
        assert_eq!(script.expect_one().ace(), 0b100);
        script.wait(RTT);
        script.receive(with_ace(syn, again));
        assert_eq!(script.expect_one().ace(), 0b010, "{again:03b}");
        ack(&mut script, 0, 0b010);
        script.tcp.send(100).unwrap();
        let data = script.expect_one();
        assert_eq!((data.ace(), data.ecn), (5, codepoint), "{again:03b}");
    }
}

/// 3.1.4: one retransmission is unchanged, the next has no flags, in both directions; an answer with AccECN still counts.
#[test]
fn after_two_losses_a_syn_has_no_flags() {
    let mut client = Script::connect(accurate("newreno"));
    let syn = client.expect_one();
    for expected in [0b111, 0b000, 0b000] {
        client.time_out();
        assert_eq!(client.expect_one().ace(), expected);
    }
    let base = client.peer_segment(PEER_ISN, OUR_ISN + 1);
    client.receive(with_ace(Segment { flags: SYN | ACK, options: answer(&syn), ..base }, 0b010));
    assert_eq!((client.expect_one().ace(), client.tcp.uses_ecn()), (0b010, true));

    for (answer, ect) in [(0b010, Ecn::Ect0), (0b000, Ecn::NotEct)] {
        let mut server = Script::listen(accurate("newreno"));
        server.receive(with_ace(Segment { flags: SYN, ..server.peer_segment(PEER_ISN, 0) }, 0b111));
        assert_eq!(server.expect_one().ace(), 0b010);
        for expected in [0b010, 0b000] {
            server.time_out();
            assert_eq!(server.expect_one().ace(), expected);
        }
        ack(&mut server, 0, answer);
        server.tcp.send(100).unwrap();
        assert_eq!(server.expect_one().ecn, ect, "ACK {answer:03b}");
    }
}

/// 3.2.2.4: zero in the first feedback after the handshake stops ECT, if the number of packets cannot explain it; later zeros are a count.
#[test]
fn zeros_in_the_first_feedback_stop_ect() {
    for (first, packets, ect) in [(0, 1, Ecn::NotEct), (0, 3, Ecn::Ect0), (5, 1, Ecn::Ect0)] {
        let (mut script, _) = opened(accurate("newreno"), 0b010, Ecn::NotEct);
        script.write(5 * 1_460);
        ack(&mut script, packets * 1_460, first);
        ack(&mut script, 5 * 1_460, 0);
        script.tcp.send(100).unwrap();
        assert_eq!(script.expect_one().ecn, ect, "{first} after {packets} packets");
    }
}

/// 3.1.1, table 2: the answers of servers without AccECN.
#[test]
fn a_client_falls_back_as_the_syn_ack_says() {
    for (ace, ecn) in [(0b000, false), (0b111, false), (0b001, true)] {
        let (mut script, first) = opened(accurate("newreno"), ace, Ecn::NotEct);
        assert_eq!((script.tcp.uses_ecn(), first.ace()), (ecn, 0), "SYN-ACK {ace:03b}");
        script.data(0, 1_000, Ecn::Ce);
        assert_eq!(script.expect_one().ace(), u8::from(ecn), "SYN-ACK {ace:03b}: the echo of RFC 3168");
    }
}

/// 3.2.2.1, table 4: zero in the ACK of the SYN-ACK means that the path clears the field, so nothing is sent ECN-capable.
#[test]
fn a_cleared_field_stops_ecn() {
    for (ace, ecn) in [(0b000, Ecn::NotEct), (0b010, Ecn::Ect0), (0b101, Ecn::Ect0)] {
        let mut script = Script::listen(accurate("newreno"));
        script.receive(with_ace(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) }, 0b111));
        script.expect_one();
        ack(&mut script, 0, ace);
        script.tcp.send(100).unwrap();
        assert_eq!(script.expect_one().ecn, ecn, "ACK {ace:03b}");
    }
}

/// 3.2.1 and 3.2.2: every marked packet counts, with or without data, and every segment has the field.
#[test]
fn every_segment_carries_the_counter() {
    let (mut script, _) = opened(accurate("newreno"), 0b010, Ecn::NotEct);
    for (index, expected) in [6, 7, 0, 1].into_iter().enumerate() {
        script.data(1_000 * index as u32, 1_000, Ecn::Ce);
        assert_eq!(script.expect_one().ace(), expected);
    }
    script.receive(Segment { ecn: Ecn::Ce, ..script.peer_segment(theirs(4_000), ours(0)) });
    script.tcp.send(1_000).unwrap();
    assert_eq!(script.expect_one().ace(), 2, "in data, after a marked ACK");
}

/// 3.2.2.5.1: an immediate ACK for the first of a series of marks, and for every second mark; otherwise ACKs are delayed as usual.
#[test]
fn marks_make_acks_due() {
    let config = Config {
        delayed_ack: Some(tcp::DelayedAck { segments: 8, ..DELAYED.unwrap() }),
        ..accurate("newreno")
    };
    let (mut script, _) = opened(config, 0b010, Ecn::NotEct);
    for (index, (ecn, acks)) in [
        (Ecn::Ect0, 0),
        (Ecn::Ce, 1),
        (Ecn::Ce, 0),
        (Ecn::Ce, 1),
        (Ecn::Ce, 0),
        (Ecn::Ect0, 0),
        (Ecn::Ce, 1),
        (Ecn::Ect0, 0),
    ]
    .into_iter()
    .enumerate()
    {
        script.data(1_000 * index as u32, 1_000, ecn);
        assert_eq!(script.sent().len(), acks, "packet {index}");
    }
}

/// An advanced count is reacted to once per window, without CWR, which is a bit of the count.
#[test]
fn marks_halve_newreno_once_a_window() {
    let mut script = established("newreno");
    script.tcp.send(100_000).unwrap();
    let first = script.sent();
    assert!(first.iter().all(|segment| segment.ace() == 5 && segment.ecn == Ecn::Ect0), "{first:?}");
    script.now = ms(20);
    ack(&mut script, 2_000, 6);
    assert_eq!(script.cwnd(), 10_000);
    ack(&mut script, 4_000, 0);
    ack(&mut script, 6_000, 0);
    assert_eq!(script.cwnd(), 10_000);
    ack(&mut script, 12_000, 0);
    assert!(script.sent().iter().all(|segment| segment.ace() == 5), "no CWR");
    assert_eq!(script.tcp.stats().mark_reductions, 1);
}
