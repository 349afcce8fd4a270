//! Transfers over a channel that loses, duplicates, delays and marks: every byte arrives once and in order, and all connections end.

use crate::channel::{Channel, Fate, Net, Way};
use proptest::prelude::*;
use rand_core::RngCore;
use tcp::{Config, DelayedAck, End, Segment, State};
use units::{Bytes, Duration, Time};

/// One in this number of segments is affected; 0 means none.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub lost: u32,
    pub twice: u32,
    pub late: u32,
    pub marked: u32,
    pub seed: u64,
}

impl Faults {
    pub fn rule(self) -> crate::channel::Rule {
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

pub fn config() -> impl Strategy<Value = Config> {
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
