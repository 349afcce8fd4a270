//! RFC 9293, 3.6: the end of a connection.

use tcp::{Config, End, Segment, SendError, State};
use units::Duration;
use wire::tcp::{ACK, FIN, RST};
use wire::tcp_options::Timestamps;
use wire::Ecn;

use crate::common::{config, flags, ms, ours, theirs, Script};

fn established() -> Script {
    Script::established(config("newreno"), Duration::from_ms(10))
}

fn fin(script: &mut Script, offset: u32, acknowledges: u32) {
    script.receive(Segment { flags: FIN | ACK, ..script.peer_segment(theirs(offset), ours(acknowledges)) });
}

/// RFC 9293, 3.6, figure 12, TCP peer A.
#[test]
fn closing_first_ends_in_time_wait() {
    let mut script = established();
    script.tcp.close();
    let segment = script.expect_one();
    assert_eq!((flags(&segment).as_str(), segment.sequence), ("FIN|ACK", ours(0)));
    assert_eq!(script.tcp.state(), State::FinWait1);
    script.ack(1);
    assert_eq!(script.tcp.state(), State::FinWait2);
    script.data(0, 100, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(100), "the other direction goes on");
    fin(&mut script, 100, 1);
    assert_eq!(script.expect_one().acknowledgement, theirs(101));
    assert_eq!(script.tcp.state(), State::TimeWait);
    script.time_out();
    assert_eq!((script.tcp.state(), script.tcp.end()), (State::Closed, Some(End::Finished)));
    assert_eq!(script.now, ms(10) + Duration::from_secs(60));
    assert_eq!(script.tcp.next_timeout(), None);
}

/// RFC 9293, 3.6, figure 12, TCP peer B.
#[test]
fn closing_second_ends_with_the_last_ack() {
    let mut script = established();
    fin(&mut script, 0, 0);
    assert_eq!(script.expect_one().acknowledgement, theirs(1));
    assert_eq!(script.tcp.state(), State::CloseWait);
    script.tcp.send(10).unwrap();
    script.tcp.close();
    assert_eq!(flags(&script.expect_one()), "FIN|ACK|PSH");
    assert_eq!(script.tcp.state(), State::LastAck);
    script.receive(script.peer_segment(theirs(1), ours(11)));
    assert_eq!((script.tcp.state(), script.tcp.end()), (State::Closed, Some(End::Finished)));
    assert_eq!(script.tcp.bytes_acknowledged(), 10);
}

/// RFC 9293, 3.6, figure 13.
#[test]
fn a_simultaneous_close_goes_through_closing() {
    let mut script = established();
    script.tcp.close();
    script.expect_one();
    fin(&mut script, 0, 0);
    assert_eq!(script.tcp.state(), State::Closing);
    assert_eq!(script.expect_one().acknowledgement, theirs(1));
    script.receive(script.peer_segment(theirs(1), ours(1)));
    assert_eq!(script.tcp.state(), State::TimeWait);
}

/// RFC 9293, 3.10.7.4: a FIN that also acknowledges ours.
#[test]
fn a_fin_that_acknowledges_our_fin_leads_straight_to_time_wait() {
    let mut script = established();
    script.tcp.close();
    script.expect_one();
    fin(&mut script, 0, 1);
    assert_eq!(script.tcp.state(), State::TimeWait);
}

/// RFC 9293, 3.10.7.4, TIME-WAIT: the peer has not received the last ACK.
#[test]
fn a_fin_that_comes_again_in_time_wait_is_acknowledged_and_the_wait_begins_again() {
    let mut script = established();
    script.tcp.close();
    script.expect_one();
    fin(&mut script, 0, 1);
    script.expect_one();
    script.wait(Duration::from_secs(30));
    fin(&mut script, 0, 1);
    assert_eq!(script.expect_one().acknowledgement, theirs(1));
    assert_eq!(script.tcp.next_timeout(), Some(script.now + Duration::from_secs(60)));
}

/// RFC 6298, 5.1: the FIN also has a timer.
#[test]
fn a_lost_fin_is_sent_again() {
    let mut script = established();
    script.tcp.close();
    script.expect_one();
    script.time_out();
    assert_eq!(flags(&script.expect_one()), "FIN|ACK");
}

#[test]
fn a_fin_out_of_order_waits_for_what_is_missing() {
    let mut script = established();
    fin(&mut script, 100, 0);
    assert_eq!(script.tcp.state(), State::Established);
    assert_eq!(script.expect_one().acknowledgement, theirs(0));
    script.data(0, 100, Ecn::NotEct);
    assert_eq!(script.expect_one().acknowledgement, theirs(101));
    assert_eq!((script.tcp.state(), script.tcp.bytes_received()), (State::CloseWait, 100));
}

#[test]
fn closing_in_listen_ends_at_once() {
    let mut script = Script::listen(config("newreno"));
    script.tcp.close();
    assert_eq!((script.tcp.state(), script.tcp.end()), (State::Closed, Some(End::Aborted)));
}

/// RFC 9293, 3.10.5.
#[test]
fn an_abort_resets_the_peer() {
    let mut script = established();
    script.write(5_000);
    script.tcp.abort();
    let reset = script.expect_one();
    assert_eq!((reset.flags, reset.sequence), (RST | ACK, ours(5_000)));
    assert_eq!((script.tcp.end(), script.tcp.next_timeout()), (Some(End::Aborted), None));
}

/// RFC 5961, 3.2.
#[test]
fn a_reset_counts_only_where_it_is_expected() {
    let mut script = established();
    let reset = |script: &Script, offset| Segment { flags: RST, ..script.peer_segment(theirs(offset), 0) };
    script.receive(reset(&script, 1));
    assert_eq!(flags(&script.expect_one()), "ACK", "in the window: a challenge");
    script.receive(Segment { sequence: theirs(0).wrapping_sub(1), ..reset(&script, 0) });
    script.expect_nothing();
    assert_eq!(script.tcp.state(), State::Established);
    script.receive(reset(&script, 0));
    assert_eq!(script.tcp.end(), Some(End::Reset));
}

#[test]
fn after_closing_nothing_can_be_written() {
    let mut script = established();
    script.tcp.close();
    let error = script.tcp.send(1).unwrap_err();
    assert_eq!(error, SendError::Closed { bytes: 1, state: State::FinWait1 });
}

#[test]
fn more_than_a_connection_carries_is_refused_with_what_is_left() {
    let mut script = established();
    script.tcp.send(1 << 61).unwrap();
    let error = script.tcp.send(1 << 62).unwrap_err();
    assert_eq!(error, SendError::TooMany { bytes: 1 << 62, room: (1 << 61) - 1 });
}

/// RFC 7323, 3.2: a reset also carries timestamps, once they have been negotiated.
#[test]
fn a_reset_carries_timestamps() {
    let config = Config { timestamps: Some(Duration::from_ms(1)), ..config("newreno") };
    let mut script = Script::established(config, Duration::from_ms(10));
    script.wait(Duration::from_secs(1));
    script.tcp.abort();
    let timestamps = script.expect_one().options.timestamps;
    assert_eq!(timestamps, Some(Timestamps { value: 1_010, echo_reply: 77 }));
}

/// [`Config::fin`]: the connection ends with the last acknowledgement, without another segment.
#[test]
fn without_a_fin_a_closed_connection_ends_when_all_is_acknowledged() {
    let config = Config { fin: false, ..config("newreno") };
    let mut script = Script::established(config.clone(), Duration::from_ms(10));
    script.tcp.send(100).unwrap();
    script.tcp.close();
    assert!(script.tcp.send(1).is_err(), "it is closed");
    assert_eq!(flags(&script.expect_one()), "ACK|PSH");
    assert_eq!(script.tcp.end(), None, "not yet acknowledged");
    script.time_out();
    assert_eq!(flags(&script.expect_one()), "ACK|PSH", "what was written is still sent");
    script.ack(100);
    assert_eq!((script.tcp.state(), script.tcp.end()), (State::Closed, Some(End::Finished)));
    script.expect_nothing();
    assert_eq!(script.tcp.next_timeout(), None);
    let mut idle = Script::established(config, Duration::from_ms(10));
    idle.tcp.close();
    assert_eq!(idle.tcp.end(), Some(End::Finished), "nothing was under way");
    idle.expect_nothing();
}
