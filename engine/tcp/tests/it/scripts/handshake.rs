//! RFC 9293, 3.5 and 3.10.7: the opening of a connection.

use tcp::{Config, End, Segment, State};
use units::{Bytes, Duration};
use wire::tcp::{ACK, RST, SYN};
use wire::tcp_options::{Options, Timestamps};

use crate::common::{config, flags, ms, ours, theirs, Script, OUR_ISN, PEER_ISN};

/// RFC 9293, 3.5, figure 6, at the active side.
#[test]
fn an_active_open_sends_syn_and_answers_the_syn_ack() {
    let mut script = Script::connect(config("newreno"));
    let syn = script.expect_one();
    assert_eq!((flags(&syn).as_str(), syn.sequence, syn.payload_len), ("SYN", OUR_ISN, 0));
    script.expect_nothing();
    script.syn_ack(&syn, SYN | ACK);
    let ack = script.expect_one();
    assert_eq!(flags(&ack), "ACK");
    assert_eq!((ack.sequence, ack.acknowledgement), (OUR_ISN + 1, PEER_ISN + 1));
    assert_eq!(script.tcp.state(), State::Established);
}

/// RFC 9293, 3.5, figure 6, at the passive side.
#[test]
fn a_passive_open_answers_syn_with_syn_ack_and_is_established_by_the_ack() {
    let mut script = Script::listen(config("newreno"));
    script.expect_nothing();
    script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
    let syn_ack = script.expect_one();
    assert_eq!(flags(&syn_ack), "SYN|ACK");
    assert_eq!((syn_ack.sequence, syn_ack.acknowledgement), (OUR_ISN, PEER_ISN + 1));
    script.receive(script.peer_segment(theirs(0), ours(0)));
    assert_eq!(script.tcp.state(), State::Established);
    script.expect_nothing();
}

/// RFC 9293, 3.5, figure 7: both sides send a SYN at once.
#[test]
fn a_simultaneous_open_goes_through_syn_received() {
    let mut script = Script::connect(config("newreno"));
    script.expect_one();
    script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
    assert_eq!(script.tcp.state(), State::SynReceived);
    assert_eq!(flags(&script.expect_one()), "SYN|ACK");
    script.receive(Segment { flags: SYN | ACK, ..script.peer_segment(PEER_ISN, ours(0)) });
    assert_eq!(flags(&script.expect_one()), "ACK", "the SYN has come before");
    script.receive(script.peer_segment(theirs(0), ours(0)));
    assert_eq!(script.tcp.state(), State::Established);
}

/// RFC 9293, 3.10.7.3: an ACK of data never sent is answered with a reset, and the attempt continues.
#[test]
fn an_old_syn_ack_is_reset() {
    let mut script = Script::connect(config("newreno"));
    script.expect_one();
    script.receive(Segment { flags: SYN | ACK, ..script.peer_segment(PEER_ISN, OUR_ISN + 100) });
    let reset = script.expect_one();
    assert_eq!((reset.flags, reset.sequence), (RST, OUR_ISN + 100));
    assert_eq!(script.tcp.state(), State::SynSent);
}

/// RFC 9293, 3.10.7.3: only a reset that acknowledges the SYN refuses the connection.
#[test]
fn a_reset_refuses_the_connection_if_it_acknowledges_the_syn() {
    let mut script = Script::connect(config("newreno"));
    script.expect_one();
    script.receive(Segment { flags: RST, ..script.peer_segment(0, 0) });
    assert_eq!(script.tcp.state(), State::SynSent);
    script.receive(Segment { flags: RST | ACK, ..script.peer_segment(0, OUR_ISN + 1) });
    assert_eq!((script.tcp.state(), script.tcp.end()), (State::Closed, Some(End::Refused)));
    assert_eq!(script.tcp.next_timeout(), None);
}

/// RFC 9293, 3.10.7.4: a passive open returns to LISTEN.
#[test]
fn a_reset_in_syn_received_returns_to_listen() {
    let mut script = Script::listen(config("newreno"));
    script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
    script.expect_one();
    script.receive(Segment { flags: RST, ..script.peer_segment(theirs(0), 0) });
    assert_eq!((script.tcp.state(), script.tcp.next_timeout()), (State::Listen, None));
    script.receive(Segment { flags: SYN, ..script.peer_segment(9_000, 0) });
    assert_eq!(script.expect_one().acknowledgement, 9_001);
}

/// RFC 9293, 3.10.7.1: a closed endpoint has no connection.
#[test]
fn a_closed_endpoint_answers_with_a_reset_but_never_to_one() {
    let mut script = Script::listen(config("newreno"));
    script.tcp.abort();
    script.receive(Segment { payload_len: 10, ..script.peer_segment(theirs(0), ours(7)) });
    assert_eq!(script.expect_one().sequence, ours(7));
    script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
    let reset = script.expect_one();
    assert_eq!(
        (flags(&reset).as_str(), reset.acknowledgement, reset.flags),
        ("ACK", PEER_ISN + 1, RST | ACK)
    );
    script.receive(Segment { flags: RST, ..script.peer_segment(PEER_ISN, 0) });
    script.expect_nothing();
}

/// RFC 6298, 2.1 and 5.5: 1 s, then doubled.
#[test]
fn a_lost_syn_is_sent_again_after_1_3_and_7_seconds_and_given_up_after_its_retries() {
    let mut script = Script::connect(Config { syn_retries: 3, ..config("newreno") });
    script.expect_one();
    for at in [1_000, 3_000, 7_000] {
        script.time_out();
        assert_eq!(script.now, ms(at));
        assert_eq!(flags(&script.expect_one()), "SYN");
    }
    script.time_out();
    assert_eq!((script.now, script.tcp.end()), (ms(15_000), Some(End::TimedOut)));
    script.expect_nothing();
}

/// RFC 5681, 3.1: one segment if the SYN was lost. RFC 6298, 5.7: and an RTO of 3 s.
#[test]
fn after_a_lost_syn_data_starts_with_one_segment_and_an_rto_of_three_seconds() {
    let mut script = Script::connect(config("newreno"));
    let syn = script.expect_one();
    script.time_out();
    script.expect_one();
    script.syn_ack(&syn, SYN | ACK);
    script.expect_one();
    assert_eq!((script.cwnd(), script.tcp.rto()), (1_000, Duration::from_secs(3)));
}

/// In a data centre 3 s are ten thousand round trips: users who set a small initial RTO also set this one.
#[test]
fn the_rto_after_a_lost_syn_is_what_is_set() {
    for (syn_lost_rto_ms, rto_ms) in [(20, 20), (1, 10)] {
        let config = Config {
            initial_rto: Duration::from_ms(10),
            min_rto: Duration::from_ms(5),
            syn_lost_rto: Duration::from_ms(syn_lost_rto_ms),
            ..config("newreno")
        };
        let mut script = Script::connect(config);
        let syn = script.expect_one();
        script.time_out();
        script.expect_one();
        script.syn_ack(&syn, SYN | ACK);
        script.expect_one();
        assert_eq!(script.tcp.rto(), Duration::from_ms(rto_ms));
    }
}

#[test]
fn a_syn_that_comes_again_is_answered_again() {
    let mut script = Script::listen(config("newreno"));
    for _ in 0..2 {
        script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
        assert_eq!(flags(&script.expect_one()), "SYN|ACK");
        script.wait(Duration::from_ms(1));
    }
}

/// Karn's rule (RFC 6298, 3) for a SYN-ACK: the ACK may be for either of the two.
#[test]
fn a_syn_ack_that_was_sent_twice_measures_nothing() {
    let mut script = Script::listen(config("newreno"));
    for _ in 0..2 {
        script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
        script.expect_one();
        script.wait(Duration::from_us(10));
    }
    script.receive(script.peer_segment(theirs(0), ours(0)));
    assert_eq!((script.tcp.srtt(), script.tcp.rto()), (None, Duration::from_secs(1)));
}

/// The client's SYN arrives again when the timer of the lost SYN-ACK has just fired, because both waited for 1 s.
#[test]
fn a_timer_and_a_syn_that_comes_again_in_one_instant_give_one_syn_ack() {
    let mut script = Script::listen(config("newreno"));
    let syn = Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) };
    script.receive(syn);
    script.expect_one();
    script.time_out();
    assert_eq!((script.now, flags(&script.expect_one()).as_str()), (ms(1_000), "SYN|ACK"));
    script.receive(syn);
    script.expect_nothing();
    script.wait(Duration::from_us(1));
    script.receive(syn);
    assert_eq!(flags(&script.expect_one()), "SYN|ACK");
}

/// RFC 7323, 4.1: the echo identifies the acknowledged SYN, so it measures, and RFC 6298, 5.7 does not require 3 s.
#[test]
fn with_timestamps_a_syn_that_was_sent_twice_measures() {
    let timestamps = || Config { timestamps: Some(Duration::from_ms(1)), ..config("newreno") };
    let mut script = Script::connect(timestamps());
    script.expect_one();
    script.time_out();
    let syn = script.expect_one();
    script.wait(Duration::from_ms(100));
    script.syn_ack(&syn, SYN | ACK);
    script.expect_one();
    let measured = (Some(Duration::from_ms(100)), Duration::from_ms(300));
    assert_eq!((script.tcp.srtt(), script.tcp.rto()), measured, "the side that opens");
    assert_eq!(script.cwnd(), 1_000 - 12, "RFC 5681, 3.1, whatever has been measured");

    let mut script = Script::listen(timestamps());
    let options = Options { timestamps: Some(Timestamps { value: 42, echo_reply: 0 }), ..Options::default() };
    script.receive(Segment { flags: SYN, options, ..script.peer_segment(PEER_ISN, 0) });
    script.expect_one();
    script.time_out();
    let echo_reply = script.expect_one().options.timestamps.unwrap().value;
    script.wait(Duration::from_ms(100));
    let options = Options { timestamps: Some(Timestamps { value: 43, echo_reply }), ..Options::default() };
    script.receive(Segment { options, ..script.peer_segment(theirs(0), ours(0)) });
    assert_eq!((script.tcp.srtt(), script.tcp.rto()), measured, "the side that waits");
}

/// Options are used if both ends offer them: RFC 7323, 2.2 and 3.2; RFC 2018, 2; RFC 9293, 3.7.1.
#[test]
fn a_syn_ack_answers_only_the_options_that_were_offered() {
    let all = || Config {
        timestamps: Some(Duration::from_ms(1)),
        receive_buffer: Some(Bytes::new(1 << 20)),
        ..config("newreno")
    };
    let mut script = Script::listen(all());
    script.receive(Segment { flags: SYN, ..script.peer_segment(PEER_ISN, 0) });
    let options = script.expect_one().options;
    assert_eq!(options, Options { mss: Some(1000), ..Options::default() });

    let mut script = Script::listen(all());
    script.now = ms(5);
    let offered = Options {
        mss: Some(500),
        window_scale: Some(3),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 42, echo_reply: 0 }),
        ..Options::default()
    };
    script.receive(Segment { flags: SYN, options: offered, ..script.peer_segment(PEER_ISN, 0) });
    let syn_ack = script.expect_one();
    let timestamps = Some(Timestamps { value: 5, echo_reply: 42 });
    // 1 MiB >> 5 fits in 16 bits; the window of a SYN-ACK itself is not scaled.
    let expected = Options { mss: Some(1000), window_scale: Some(5), timestamps, ..offered };
    assert_eq!((syn_ack.options, syn_ack.window), (expected, u16::MAX));
    assert_eq!(script.tcp.mss(), Bytes::new(1000));
    let options = Options { timestamps: Some(Timestamps { value: 43, echo_reply: 5 }), ..Options::default() };
    script.receive(Segment { options, ..script.peer_segment(theirs(0), ours(0)) });
    assert_eq!(script.tcp.mss(), Bytes::new(488), "the peer's 500 less 12 for timestamps");
}

#[test]
fn what_was_written_before_the_handshake_follows_it_with_the_fin() {
    let mut script = Script::connect(config("newreno"));
    script.tcp.send(300).unwrap();
    script.tcp.close();
    let syn = script.expect_one();
    script.syn_ack(&syn, SYN | ACK);
    let data = script.expect_one();
    assert_eq!((flags(&data).as_str(), data.payload_len), ("FIN|ACK|PSH", 300));
    assert_eq!(script.tcp.state(), State::FinWait1);
}
