//! Flow control: RFC 9293, 3.8.6; RFC 7323, 2.

use tcp::{Config, End};
use units::{Bytes, Duration};
use wire::Ecn;

use crate::common::{config, ours, theirs, Script};

fn established(config: Config) -> Script {
    Script::established(config, Duration::from_ms(100))
}

fn reader(buffer: u64) -> Config {
    Config { receive_buffer: Some(Bytes::new(buffer)), reads_at_once: false, ..config("newreno") }
}

#[test]
fn no_more_is_sent_than_the_peer_takes() {
    let config = Config { initial_window_segments: 20, ..config("newreno") };
    let mut script = Script::sending(config, Duration::from_ms(1), 100_000);
    // Peers that scale by 14 announce in units of 16 KiB; this one does, because it copied our offer.
    script.window = 1;
    script.ack(20_000);
    let sent: u32 = script.sent().iter().map(|segment| segment.payload_len).sum();
    assert_eq!(sent, 16_000, "whole segments of 16384 bytes");
}

/// RFC 9293, 3.8.6.1: a closed window is probed forever, with back-off; meanwhile retransmissions are not counted.
#[test]
fn a_closed_window_is_probed_with_back_off_and_never_given_up_while_the_peer_answers() {
    let mut script = established(Config { retries: 2, ..config("newreno") });
    script.window = 0;
    script.ack(0);
    script.tcp.send(5_000).unwrap();
    script.expect_nothing();
    let mut last = script.now;
    for wait_ms in [300, 600, 1_200, 2_400, 4_800] {
        script.time_out();
        assert_eq!(script.now.since(last), Duration::from_ms(wait_ms));
        last = script.now;
        let probe = script.expect_one();
        assert_eq!((probe.sequence, probe.payload_len), (ours(0), 1));
        script.ack(0);
        script.expect_nothing();
    }
    assert_eq!(script.tcp.stats().timeouts, 0);
    script.window = u16::MAX;
    script.ack(1);
    assert_eq!(script.sent_data(), [1, 1_001, 2_001, 3_001, 4_001]);
}

#[test]
fn a_closed_window_whose_owner_is_silent_is_given_up() {
    let mut script = established(Config { retries: 3, ..config("newreno") });
    script.window = 0;
    script.ack(0);
    script.tcp.send(5_000).unwrap();
    script.expect_nothing();
    for _ in 0..3 {
        script.time_out();
        script.expect_one();
    }
    script.time_out();
    assert_eq!(script.tcp.end(), Some(End::TimedOut));
}

/// RFC 9293, 3.8.6.2.1: small segments are avoided, but half of the largest window is sent.
#[test]
fn a_sliver_of_window_is_not_filled_but_half_of_a_small_one_is() {
    let config = Config { receive_buffer: Some(Bytes::new(60_000)), ..config("newreno") };
    let mut script = established(config);
    script.window = 1_200;
    script.ack(0);
    script.tcp.send(10_000).unwrap();
    let sent: Vec<_> = script.sent().iter().map(|segment| segment.payload_len).collect();
    assert_eq!(sent, [1_000], "200 bytes of window are left, of 65535 at most");
}

/// RFC 9293, 3.8.6.2.2: the receiver opens its window by at least a segment or half its buffer.
#[test]
fn a_reader_opens_the_window_when_there_is_enough() {
    let mut script = established(reader(4_000));
    for part in 0..4 {
        script.data(part * 1_000, 1_000, Ecn::NotEct);
    }
    let windows: Vec<_> = script.sent().iter().map(|ack| ack.window).collect();
    assert_eq!(windows.last(), Some(&0));
    assert_eq!(script.tcp.bytes_unread(), 4_000);
    assert_eq!(script.tcp.read(400), 400);
    script.expect_nothing();
    assert_eq!(script.tcp.read(10_000), 3_600);
    let update = script.expect_one();
    assert_eq!((update.window, update.acknowledgement), (4_000, theirs(4_000)));
    assert_eq!(script.tcp.read(1), 0);
}

/// RFC 9293, 3.8.6.1: a probe of our closed window is answered, and its byte is not accepted.
#[test]
fn a_probe_of_a_closed_window_is_answered() {
    let mut script = established(reader(1_000));
    script.data(0, 1_000, Ecn::NotEct);
    script.sent();
    script.data(1_000, 1, Ecn::NotEct);
    let answer = script.expect_one();
    assert_eq!((answer.window, answer.acknowledgement), (0, theirs(1_000)));
    assert_eq!(script.tcp.bytes_received(), 1_000);
}

#[test]
fn what_exceeds_the_window_is_cut_off() {
    let mut script = established(reader(1_000));
    script.data(600, 1_000, Ecn::NotEct);
    script.data(0, 600, Ecn::NotEct);
    assert_eq!(script.tcp.bytes_received(), 1_000);
}

/// RFC 7323, 2.2 and 2.3: 64 KB needs no scale, 1 MB needs 4 or 5; without the option, the window is limited to its field.
#[test]
fn the_window_limits_of_the_papers_are_announced() {
    for (buffer, scale, window) in [
        (Some(65_535), 0, 65_535),
        (Some(1_000_000), 4, 62_500),
        (Some(1 << 20), 5, 32_768),
        (None, 14, 65_535),
    ] {
        let buffer = buffer.map(Bytes::new);
        let mut script = Script::connect(Config { receive_buffer: buffer, ..config("newreno") });
        let syn = script.expect_one();
        assert_eq!(syn.options.window_scale, Some(scale));
        script.syn_ack(&syn, wire::tcp::SYN | wire::tcp::ACK);
        assert_eq!(script.expect_one().window, window);
    }
}
