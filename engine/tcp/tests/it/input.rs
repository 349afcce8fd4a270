//! Untrusted input: any segments and calls. `scripts/input.pkt` has single segments.

use proptest::prelude::*;
use tcp::{Config, Connection, Segment, SendError, State};
use units::{Bytes, Duration, Time};
use wire::tcp::{ACK, SYN};
use wire::tcp_options::{Options, SackBlock, SackBlocks, Timestamps};
use wire::Ecn;

use crate::transfers::config;

/// The sequence numbers of both SYNs.
const OUR_ISN: u32 = 1000;
const PEER_ISN: u32 = 5000;

/// Returns the sequence number of byte `offset` of our data, from 0.
fn ours(offset: u32) -> u32 {
    (OUR_ISN + 1).wrapping_add(offset)
}

/// Returns the sequence number of byte `offset` of the peer's data.
fn theirs(offset: u32) -> u32 {
    (PEER_ISN + 1).wrapping_add(offset)
}

#[test]
fn an_impossible_setting_is_refused_with_its_name() {
    for row in include_str!("../refusals.txt").lines().filter(|line| line.starts_with('{')) {
        let (json, expected) = row.split_once(" -> ").unwrap();
        let config: Config = serde_json::from_str(json).unwrap();
        let error = config.check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("tcp: {expected}")), "{row}: {error}");
    }
}

#[test]
fn bytes_that_cannot_be_sent_are_refused_with_the_reason() {
    let settings = Config::default().check().unwrap();
    let mut tcp = Connection::connect(&settings, OUR_ISN);
    tcp.poll_transmit(Time::ZERO);
    tcp.send(1 << 61).unwrap();
    let room = (1 << 61) - 1;
    assert_eq!(tcp.send(1 << 62), Err(SendError::TooMany { bytes: 1 << 62, room }));
    tcp.close();
    assert_eq!(tcp.send(1), Err(SendError::Closed { bytes: 1, state: State::SynSent }));
}

/// A call, or a segment with numbers near the relevant ones, so that many are acceptable.
#[derive(Clone, Debug)]
enum Step {
    Segment(Segment),
    Wait(u64),
    TimeOut,
    Send(u64),
    Read(u64),
    Close,
    Abort,
}

fn near() -> impl Strategy<Value = u32> {
    prop_oneof![4 => -3_000..30_000_i32, 1 => any::<i32>(), 2 => Just(0)].prop_map(|number| number as u32)
}

fn segment() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![6 => Just(ACK), 2 => any::<u8>(), 1 => any::<u8>().prop_map(|flags| flags | ACK)];
    let window = prop_oneof![Just(0), Just(u16::MAX), any::<u16>()];
    let payload = prop_oneof![Just(0), 1..3_000_u32, any::<u32>()];
    let blocks = prop::collection::vec((near(), near()), 0..4);
    ([near(), near()], flags, window, 0..4_u8, payload, blocks, [near(), near()]).prop_map(
        |([sequence, acknowledgement], flags, window, ecn, payload_len, blocks, [value, echo_reply])| {
            let mut sack = SackBlocks::default();
            blocks
                .iter()
                .for_each(|(left, right)| sack.push(SackBlock { left: ours(*left), right: ours(*right) }));
            let timestamps = Some(Timestamps { value, echo_reply });
            Segment {
                sequence: theirs(sequence),
                acknowledgement: ours(acknowledgement),
                flags,
                ae: window & 1 != 0,
                window,
                ecn: Ecn::from_bits(ecn),
                payload_len,
                options: Options { sack, timestamps, ..Options::default() },
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => segment().prop_map(Step::Segment),
        2 => (0..2_000_000_u64).prop_map(Step::Wait),
        2 => Just(Step::TimeOut),
        1 => prop_oneof![0..100_000_u64, any::<u64>()].prop_map(Step::Send),
        1 => any::<u64>().prop_map(Step::Read),
        1 => Just(Step::Close),
        1 => prop::bool::weighted(0.1).prop_map(|abort| if abort { Step::Abort } else { Step::TimeOut }),
    ]
}

/// Returns the settings of transfers, with segments of 1000 bytes, a buffer of any size, and an application that reads at once or
/// when it is told.
fn any_config() -> impl Strategy<Value = Config> {
    let buffer = prop::option::of(1..200_000_u64);
    (config(), any::<bool>(), buffer, 1..12_u32).prop_map(
        |(config, reads_at_once, buffer, initial_window_segments)| Config {
            reads_at_once,
            receive_buffer: buffer.map(Bytes::new),
            initial_window_segments,
            mss: 1_000,
            ..config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// For any input: no panic, no endless output at one time, timers in the future once they have fired, and no more
    /// data received than the window allows.
    #[test]
    fn any_segments_and_calls_leave_an_endpoint_sound(
        config in any_config(),
        passive in any::<bool>(),
        handshake in any::<bool>(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let settings = config.check().unwrap();
        let mut now = Time::ZERO;
        let mut tcp = if passive { Connection::listen(&settings, OUR_ISN) } else { Connection::connect(&settings, OUR_ISN) };
        let segment = |sequence, acknowledgement, flags| Segment {
            sequence, acknowledgement, flags, ae: false, window: 60_000, ecn: Ecn::NotEct, payload_len: 0, options: Options {
                mss: Some(1_000), window_scale: Some(3), sack_permitted: true,
                timestamps: Some(Timestamps { value: 1, echo_reply: 0 }), ..Options::default()
            },
        };
        while tcp.poll_transmit(now).is_some() {}
        if handshake {
            tcp.handle_segment(now, &segment(PEER_ISN, ours(0), if passive { SYN | 0xc0 } else { SYN | ACK | 0x40 }));
            while tcp.poll_transmit(now).is_some() {}
            if passive {
                tcp.handle_segment(now, &segment(theirs(0), ours(0), ACK));
            }
        }
        for step in steps {
            match step {
                Step::Segment(segment) => tcp.handle_segment(now, &segment),
                Step::Wait(us) => {
                    now += Duration::from_us(us);
                    tcp.handle_timeout(now);
                }
                Step::TimeOut => if let Some(at) = tcp.next_timeout() {
                    now = now.max(at);
                    tcp.handle_timeout(now);
                },
                Step::Send(bytes) => { let _ = tcp.send(bytes); }
                Step::Read(limit) => { tcp.read(limit); }
                Step::Close => tcp.close(),
                Step::Abort => tcp.abort(),
            }
            let mut sent = 0;
            while let Some(segment) = tcp.poll_transmit(now) {
                sent += 1;
                prop_assert!(segment.payload_len <= 1_000);
                prop_assert!(segment.header_len() <= 60);
                // The peer's largest window in segments of the minimum size.
                prop_assert!(sent < 25_000_000 / 36, "sending without end");
            }
            if let Some(at) = tcp.next_timeout() {
                if at <= now {
                    tcp.handle_timeout(now);
                    while tcp.poll_transmit(now).is_some() {}
                    prop_assert!(tcp.next_timeout().is_none_or(|next| next > now), "a timer that does not move on");
                }
            }
        }
    }
}
