//! Transfers over a channel that loses, duplicates, delays and marks: every byte arrives once and in order, and all connections end.

use crate::channel::{Channel, Fate, Net, Way};
use proptest::prelude::*;
use rand_core::RngCore;
use tcp::{Config, Connection, DelayedAck, End, Segment, State};
use units::{Bytes, Duration, Time};

/// One in this number of segments is affected; 0 means none.
#[derive(Clone, Copy, Debug)]
struct Faults {
    lost: u32,
    twice: u32,
    late: u32,
    marked: u32,
    seed: u64,
}

impl Faults {
    fn rule(self) -> crate::channel::Rule {
        let mut rng = Channel::seeded(self.seed);
        Box::new(move |_: &Segment, _: Way, _: u64| {
            if Net::random(&mut rng, self.lost) {
                Fate::Lost
            } else if Net::random(&mut rng, self.twice) {
                Fate::Twice
            } else if Net::random(&mut rng, self.late) {
                Fate::Late(Duration::from_us(u64::from(rng.next_u32() % 3_000)))
            } else if Net::random(&mut rng, self.marked) {
                Fate::Marked
            } else {
                Fate::Arrives
            }
        })
    }
}

fn faults() -> impl Strategy<Value = Faults> {
    let rate = |min: u32| prop_oneof![Just(0), min..4 * min, min..100 * min];
    (rate(5), rate(10), rate(3), rate(5), any::<u64>()).prop_map(|(lost, twice, late, marked, seed)| Faults {
        lost,
        twice,
        late,
        marked,
        seed,
    })
}

fn config() -> impl Strategy<Value = Config> {
    (
        prop::sample::select(vec!["newreno", "ecn", "dctcp", "cubic", "vegas"]),
        any::<[bool; 8]>(),
        prop::option::of(prop_oneof![2_000..10_000_u64, 10_000..200_000_u64]),
        prop::sample::select(vec![1_u32, 2, 10]),
        prop::sample::select(vec![1_u32, 2]),
        prop::option::of(1..4_u32),
        prop::sample::select(vec![536_u16, 1460, 8960]),
    )
        .prop_map(
            |(
                name,
                [sack, timestamps, limited, restart, rack, prr, frto, dsack],
                buffer,
                initial,
                least,
                delayed,
                mss,
            )| Config {
                sack,
                timestamps: timestamps.then_some(Duration::from_us(10)),
                limited_transmit: limited,
                restart_after_idle: restart,
                rack,
                prr,
                frto,
                dsack,
                receive_buffer: buffer.map(Bytes::new),
                initial_window_segments: initial,
                min_window_segments: least,
                delayed_ack: delayed.map(|segments| DelayedAck { segments, timer: Duration::from_ms(1) }),
                mss,
                min_rto: Duration::from_ms(1),
                // Many attempts within TIME-WAIT: a FIN after it would be answered with RST, as RFC 9293, 3.6.1 requires.
                max_rto: Duration::from_secs(1),
                syn_retries: 30,
                retries: 30,
                ..name.parse().unwrap()
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_both_ends_finish(
        config in config(),
        faults in faults(),
        there in prop_oneof![1 => Just(0), 8 => 0..150_000_u64],
        back in prop_oneof![Just(0), 0..50_000_u64],
        buffer_packets in prop_oneof![Just(1_000_u64), 6..20_u64],
        isn in any::<u32>(),
    ) {
        let mss = u64::from(config.mss);
        let channel = Channel {
            buffer: buffer_packets * (mss + 150),
            threshold: Some(5),
            rule: faults.rule(),
            ..Channel::new(1, Duration::from_us(200))
        };
        let mut net = Net::new(channel, &config.check().unwrap(), &[(Time::ZERO, there)], isn);
        net.judge_all(200_000);
        net.close_in_turn = true;
        net.ends[0].close();
        net.ends[1].send(back).unwrap();
        let hour = Time::ZERO + Duration::from_secs(3_600);
        prop_assert!(!net.run_until(hour), "still going after an hour");
        for (end, sent, arrived) in [(0, there, back), (1, back, there)] {
            let tcp = &net.ends[end];
            prop_assert_eq!((tcp.state(), tcp.end()), (State::Closed, Some(End::Finished)), "end {}", end);
            prop_assert_eq!((tcp.bytes_acknowledged(), tcp.bytes_received()), (sent, arrived));
        }
        // No end sends or wakes much more often than data and losses require.
        let segments: u64 = net.ends.iter().map(|end| end.stats().segments).sum();
        let needed = (there + back) / mss + 10;
        prop_assert!(segments < 40 * needed, "{} segments for {}", segments, needed);
        prop_assert!(net.timer_events < 20 * needed, "{} timers for {}", net.timer_events, needed);
    }
}

/// Every second ACK or more is late or lost, and the initial window is one segment: Vegas must still double it.
#[test]
fn vegas_leaves_a_window_of_one_segment_in_a_bad_network() {
    let config = Config {
        mss: 536,
        sack: false,
        timestamps: Some(Duration::from_us(10)),
        initial_window_segments: 1,
        min_window_segments: 1,
        limited_transmit: false,
        restart_after_idle: false,
        delayed_ack: None,
        min_rto: Duration::from_ms(1),
        syn_retries: 30,
        retries: 30,
        .."vegas".parse().unwrap()
    };
    let faults = Faults { lost: 5, twice: 14, late: 3, marked: 5, seed: 2_381_182_004_868_878_031 };
    let channel = Channel {
        buffer: 1_000 * (536 + 150),
        threshold: Some(5),
        rule: faults.rule(),
        ..Channel::new(1, Duration::from_us(200))
    };
    let mut net = Net::new(channel, &config.check().unwrap(), &[(Time::ZERO, 59_737)], 0);
    net.judge_all(200_000);
    net.close_in_turn = true;
    net.ends[0].close();
    net.ends[1].send(0).unwrap();
    assert!(!net.run_until(Time::ZERO + Duration::from_secs(3_600)), "still going after an hour");
}

/// A megabyte at 10 Gb/s over 50 us takes about a millisecond once the window is open, and opening it takes some twenty round trips.
#[test]
fn vegas_opens_every_initial_window_within_some_round_trips() {
    for initial_window_segments in [1, 2, 3, 10] {
        for delayed in [None, Some(2)] {
            let delayed_ack = delayed.map(|segments| DelayedAck { segments, timer: Duration::from_us(500) });
            let config = Config { initial_window_segments, delayed_ack, .."vegas".parse().unwrap() };
            let channel = Channel::new(10, Duration::from_us(50));
            let mut net = Net::new(channel, &config.check().unwrap(), &[(Time::ZERO, 1_000_000)], 7);
            net.close_in_turn = true;
            net.ends[0].close();
            let end = Time::ZERO + Duration::from_ms(6);
            net.run_until(end);
            let acknowledged = net.ends[0].bytes_acknowledged();
            assert_eq!(
                acknowledged, 1_000_000,
                "from {initial_window_segments} segments, delayed ACKs {delayed:?}"
            );
        }
    }
}

fn run(config: Config, bytes: u64, rule: crate::channel::Rule) -> Net {
    let channel = Channel { rule, ..Channel::new(10, Duration::from_us(100)) };
    let mut net = Net::new(channel, &config.check().unwrap(), &[(Time::ZERO, bytes)], 7);
    net.close_in_turn = true;
    net.judge_all(bytes as usize);
    net.ends[0].close();
    assert!(!net.run_until(Time::ZERO + Duration::from_secs(3_600)), "the transfer ends");
    net
}

/// Loses the segments with these numbers in the forward direction.
fn lose(numbers: &'static [u64]) -> crate::channel::Rule {
    Box::new(
        |_: &Segment, way, number| {
            if way == Way::There && numbers.contains(&number) {
                Fate::Lost
            } else {
                Fate::Arrives
            }
        },
    )
}

/// Number 0 is the SYN, and the data follows at once: number 12 is the twelfth data segment.
#[test]
fn a_single_loss_in_a_long_transfer_costs_one_retransmission_and_no_time_out() {
    for name in ["newreno", "ecn", "dctcp", "cubic", "vegas"] {
        for sack in [true, false] {
            let net = run(Config { sack, ..name.parse().unwrap() }, 1_000_000, lose(&[12]));
            let stats = net.ends[0].stats();
            let counts = (stats.retransmitted_segments, stats.fast_recoveries, stats.timeouts);
            assert_eq!(counts, (1, 1, 0), "{name}, SACK {sack}");
        }
    }
}

/// RFC 6675: all losses of a window in one recovery. RFC 6582 needs a round trip for each.
#[test]
fn several_losses_in_a_window_are_repaired_without_a_time_out() {
    for sack in [true, false] {
        let net = run(Config { sack, ..Config::default() }, 1_000_000, lose(&[40, 42, 43, 47, 55, 56]));
        let stats = net.ends[0].stats();
        let counts = (stats.retransmitted_segments, stats.fast_recoveries, stats.timeouts);
        assert_eq!(counts, (6, 1, 0), "SACK {sack}");
    }
}

/// RFC 6298: no segment follows the last one, so only the timer reveals its loss.
#[test]
fn a_lost_last_segment_costs_a_time_out() {
    let net = run(Config::default(), 10 * 1460, lose(&[10]));
    assert_eq!(net.ends[0].stats().timeouts, 1);
}

/// RFC 8985, 7: a probe does so after two round-trip times.
#[test]
fn with_rack_a_lost_last_segment_costs_a_probe() {
    for prr in [true, false] {
        let net = run(Config { rack: true, prr, ..Config::default() }, 10 * 1460, lose(&[10]));
        let stats = net.ends[0].stats();
        let counts = (stats.timeouts, stats.tail_probes, stats.retransmitted_segments);
        assert_eq!(counts, (0, 1, 1));
    }
}

/// Loses a segment in the middle, and its first retransmission.
fn lose_twice() -> crate::channel::Rule {
    let mut seen = 0;
    Box::new(move |segment: &Segment, way, _| {
        let first = way == Way::There && segment.payload_len > 0 && segment.sequence == 8 + 20 * 1460;
        seen += u32::from(first);
        if first && seen <= 2 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    })
}

#[test]
fn a_lost_retransmission_costs_a_time_out() {
    let net = run(Config::default(), 1_000_000, lose_twice());
    assert_eq!(net.ends[0].stats().timeouts, 1);
}

/// RFC 8985, 1: data sent after the retransmission reveals its loss.
#[test]
fn with_rack_a_lost_retransmission_is_sent_again_at_once() {
    for name in ["newreno", "ecn", "dctcp", "cubic", "vegas"] {
        for prr in [true, false] {
            let net = run(Config { rack: true, prr, ..name.parse().unwrap() }, 1_000_000, lose_twice());
            let stats = net.ends[0].stats();
            assert_eq!((stats.timeouts, stats.retransmitted_segments), (0, 2), "{name}, PRR {prr}");
        }
    }
}

/// ACKs are cumulative: losing half of them has no cost.
#[test]
fn lost_acks_cause_no_retransmission() {
    let rule = |segment: &Segment, way, number: u64| {
        if way == Way::Back && segment.is_pure_ack() && number % 2 == 0 && number < 300 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    };
    let net = run(Config::default(), 1_000_000, Box::new(rule));
    assert_eq!(net.ends[0].stats().retransmitted_segments, 0);
}

#[test]
fn a_connection_that_carries_nothing_is_opened_and_closed() {
    let net = run(Config::default(), 0, lose(&[]));
    assert!(net.ends.iter().all(|end| end.end() == Some(End::Finished)));
    assert_eq!(net.ends[0].stats().segments, 3, "SYN, FIN with the ACK, the last ACK");
}

#[test]
fn the_same_run_gives_the_same_counts() {
    let once = || {
        let faults = Faults { lost: 30, twice: 50, late: 20, marked: 10, seed: 5 };
        let net = run("dctcp".parse().unwrap(), 500_000, faults.rule());
        (net.now, net.ends.iter().map(Connection::stats).collect::<Vec<_>>())
    };
    assert_eq!(once(), once());
}
