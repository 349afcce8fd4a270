//! RFC 8257.

use tcp::{Config, DctcpEct, Segment};
use units::Duration;
use wire::tcp::{ACK, CWR, ECE, SYN};
use wire::Ecn;

use crate::common::{config, ours, theirs, Script, DELAYED, MSS, PEER_ISN};

/// RFC 8257, 3.6 leaves the choice open; these are the stacks' choices.
#[test]
fn what_is_ect_is_what_was_chosen() {
    use Ecn::{Ect0, NotEct};
    // SYN, pure ACK, data, retransmission, window probe, FIN without data, SYN-ACK.
    for (dctcp_ect, expected) in [
        (DctcpEct::DataOnly, [NotEct, NotEct, Ect0, NotEct, NotEct, NotEct, NotEct]),
        (DctcpEct::Ns2, [NotEct, Ect0, Ect0, Ect0, Ect0, Ect0, NotEct]),
        (DctcpEct::Linux, [Ect0; 7]),
    ] {
        let config = || Config { dctcp_ect, ..config("dctcp") };
        let mut script = Script::connect(config());
        let syn = script.expect_one();
        script.syn_ack(&syn, SYN | ACK | ECE);
        let mut seen = vec![syn.ecn, script.expect_one().ecn];
        script.tcp.send(1_000).unwrap();
        seen.push(script.expect_one().ecn);
        script.time_out();
        seen.push(script.expect_one().ecn);
        script.window = 0;
        script.ack(1_000);
        script.tcp.send(1).unwrap();
        script.expect_nothing();
        script.time_out();
        seen.push(script.expect_one().ecn);
        script.window = u16::MAX;
        script.ack(1_001);
        script.tcp.close();
        seen.push(script.expect_one().ecn);
        let mut server = Script::listen(config());
        server.receive(Segment { flags: SYN | ECE | CWR, ..server.peer_segment(PEER_ISN, 0) });
        seen.push(server.expect_one().ecn);
        assert_eq!(seen, expected, "{dctcp_ect:?}");
    }
}

/// Without ECN at the peer, TCP runs without ECN, whatever the setting.
#[test]
fn without_agreement_nothing_but_a_linux_syn_is_ect() {
    let mut script = Script::connect(Config { dctcp_ect: DctcpEct::Linux, ..config("dctcp") });
    let syn = script.expect_one();
    script.syn_ack(&syn, SYN | ACK);
    script.tcp.send(1_000).unwrap();
    assert!(script.sent().iter().all(|segment| segment.ecn == Ecn::NotEct));
}

/// RFC 8257, 3.2: at a change of CE, earlier data is acknowledged at once with its own mark; CWR plays no part.
#[test]
fn a_change_of_ce_is_acknowledged_at_once_with_delayed_acks() {
    let config = Config { delayed_ack: DELAYED, ..config("dctcp") };
    let mut script = Script::established(config, Duration::from_ms(10));
    let mut acks = |segment: u32, ecn| {
        script.data(segment * MSS, MSS, ecn);
        let acks = script.sent().into_iter();
        acks.map(|ack| ((ack.acknowledgement - theirs(0)) / MSS, ack.has(ECE))).collect::<Vec<_>>()
    };
    assert_eq!(acks(0, Ecn::Ect0), []);
    assert_eq!(acks(1, Ecn::Ect0), [(2, false)]);
    assert_eq!(acks(2, Ecn::Ect0), []);
    assert_eq!(acks(3, Ecn::Ce), [(3, false), (4, true)], "one waited: two ACKs");
    assert_eq!(acks(4, Ecn::Ce), []);
    assert_eq!(acks(5, Ecn::Ce), [(6, true)], "as delayed as ever while nothing changes");
    assert_eq!(acks(6, Ecn::Ect0), [(7, false)], "none waited: one ACK");
    assert_eq!(acks(7, Ecn::Ce), [(8, true)]);
}

/// RFC 8257, 3.3: cwnd (1 - alpha / 2), once per window of data, and CWR as in RFC 3168.
#[test]
fn the_window_shrinks_by_half_of_alpha_once_a_window() {
    let config = Config { dctcp_initial_alpha: 0.5, ..config("dctcp") };
    let mut script = Script::established(config, Duration::from_ms(10));
    script.tcp.send(1 << 20).unwrap();
    assert_eq!(script.sent().len(), 10);
    script.ack_ece(1_000);
    // The first ACK ends the first observation window, in which everything was marked.
    let alpha: f64 = 0.5 * 15.0 / 16.0 + 1.0 / 16.0;
    assert_eq!(script.tcp.dctcp_alpha(), Some(alpha));
    let reduced = (10_000.0 * (1.0 - alpha / 2.0)) as u64;
    assert_eq!(script.cwnd(), reduced);
    for acked in 2..=10 {
        script.ack_ece(acked * 1_000);
        assert_eq!(script.cwnd(), reduced, "segment {acked} of the same window");
    }
    let sent = script.sent();
    assert_eq!(sent.iter().filter(|segment| segment.has(CWR)).count(), 1);
    assert!(sent[0].has(CWR));
    script.ack_ece(11_000);
    assert!(script.cwnd() < reduced, "of the next");
    assert_eq!(script.tcp.stats().mark_reductions, 2);
}

/// RFC 8257, 3.5.
#[test]
fn a_loss_halves_the_window_whatever_alpha_is() {
    let config = Config { dctcp_initial_alpha: 0.0, ..config("dctcp") };
    let mut script = Script::sending(config, Duration::from_ms(10), 1 << 20);
    for end in [2_000, 3_000, 4_000] {
        script.sack(0, &[(1_000, end)]);
    }
    assert_eq!(script.cwnd(), 5_000);
    assert_eq!(script.sent().first().map(|segment| segment.sequence), Some(ours(0)));
}

/// RFC 9331, 2: ECN-capable packets carry ECT(1), which identifies an L4S sender; the handshake of RFC 3168 is unchanged.
#[test]
fn with_l4s_what_is_ecn_capable_is_ect1() {
    for (dctcp_ect, ack) in [(DctcpEct::DataOnly, Ecn::NotEct), (DctcpEct::Linux, Ecn::Ect1)] {
        let config = Config { l4s: true, dctcp_ect, ..config("dctcp") };
        let mut script = Script::established(config, Duration::from_ms(1));
        script.tcp.send(1_000).unwrap();
        assert_eq!(script.expect_one().ecn, Ecn::Ect1);
        script.data(0, 100, Ecn::Ce);
        let echo = script.expect_one();
        assert_eq!((echo.ecn, echo.has(wire::tcp::ECE)), (ack, true));
    }
}
