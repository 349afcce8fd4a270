//! The window over many ACKs, two endpoints of ours, and what a call or a header says: what a script would say at length or not at all.

use tcp::{Config, Connection, Segment, SendError, State};
use units::Duration;
use wire::tcp::SYN;
use wire::tcp_options::{Options, Timestamps};
use wire::Ecn;

use crate::common::{config, ms, ours, theirs, Script, MSS};

fn established(config: Config) -> Script {
    Script::established(config, Duration::from_ms(10))
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

/// RFC 9768, 3.2.1 and 3.2.2.1 between two of our endpoints: the SYN-ACK's mark counts as one mark, and not for the data that follows.
#[test]
fn a_marked_syn_ack_does_not_shrink_the_servers_window() {
    let settings = Config { accecn: true, ..config("ecn") }.check().unwrap();
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

#[test]
fn after_closing_nothing_can_be_written() {
    let mut script = established(config("newreno"));
    script.tcp.close();
    let error = script.tcp.send(1).unwrap_err();
    assert_eq!(error, SendError::Closed { bytes: 1, state: State::FinWait1 });
}

#[test]
fn more_than_a_connection_carries_is_refused_with_what_is_left() {
    let mut script = established(config("newreno"));
    script.tcp.send(1 << 61).unwrap();
    let error = script.tcp.send(1 << 62).unwrap_err();
    assert_eq!(error, SendError::TooMany { bytes: 1 << 62, room: (1 << 61) - 1 });
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
