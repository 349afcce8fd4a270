//! What must always hold of a queue that an EEE state machine holds, whatever the settings and the arrivals.
//!
//! The judge is the PHY, which knows nothing but the transmissions. Not seen here: the P4 program.

use netsim::eee::EeeState;
use netsim::nic::{Nic, NicEee};
use netsim::phy::{Phy, PhyType};
use netsim::HostFrame;
use proptest::prelude::*;
use units::{Bytes, DataRate, Duration, Time};

fn span(limit_ns: u64) -> impl Strategy<Value = Duration> {
    // Often nothing, often short, sometimes as long as can be.
    prop_oneof![Just(0), 0..=limit_ns / 20, 0..=limit_ns].prop_map(Duration::from_ns)
}

fn settings() -> impl Strategy<Value = NicEee> {
    (
        span(200_000),
        span(20_000),
        span(50_000),
        span(200_000),
        0..6_u32,
        prop_oneof![Just(0_u32), 1..6_000_u32],
    )
        .prop_map(|(sleep, wake, stall, hold, trigger_packets, trigger_bytes)| NicEee {
            sleep,
            wake,
            stall,
            hold,
            trigger_packets,
            trigger_bytes,
        })
}

proptest! {
    #[test]
    fn packets_leave_in_order_awake_and_in_time(
        eee in settings(),
        bps in prop_oneof![Just(1_000_000_000_u64), Just(10_000_000_000), Just(300_000_000), 1_000_000..40_000_000_000_u64],
        packets in prop::collection::vec((span(400_000), 60..1515_u32), 1..120),
    ) {
        let rate = DataRate::from_bps(bps);
        let overhead = Bytes::new(24);
        let wire = |bytes: u64| rate.transmit_time(Bytes::new(bytes) + overhead);
        let mut nic = Nic::new(rate, overhead, None, Some(eee));
        let kind = PhyType { watts: 1.0, lpi_fraction: 0.1, sleep: eee.sleep, wake: eee.wake };
        let mut phy = Phy::new(kind, Some(eee.stall), Duration::from_ps(2));
        // Latest departure of each packet, in order of arrival.
        let mut deadlines = std::collections::VecDeque::new();
        let mut arrivals = packets.iter().scan(Time::ZERO, |at, (gap, bytes)| {
            *at += *gap;
            Some((*at, *bytes))
        }).peekable();
        let (mut free_at, mut number, mut last_gate) = (Time::ZERO, 0, None);
        loop {
            let departure = nic.next_departure();
            match (departure, arrivals.peek().copied()) {
                (Some(now), next) if next.is_none_or(|(at, _)| now < at) => {
                    let (frame, wire_time) = nic.depart(now).unwrap();
                    let (expected, deadline) = deadlines.pop_front().unwrap();
                    prop_assert_eq!(frame.tag, expected, "first come, first served");
                    prop_assert!(now <= deadline, "left at {}, at the latest {}", now, deadline);
                    phy.transmit(now, wire_time);
                    free_at = now + wire_time;
                    last_gate = None;
                }
                (_, Some((now, bytes))) => {
                    arrivals.next();
                    let ahead: u64 = deadlines.iter().map(|(tag, _): &(u64, Time)| {
                        wire(u64::from(packets[*tag as usize].1)).as_ps()
                    }).sum();
                    let held = eee.hold + eee.sleep + eee.wake + Duration::from_ps(ahead);
                    deadlines.push_back((number, now.max(free_at) + held));
                    nic.enqueue(now, HostFrame { wire_len: bytes, tag: number, ..HostFrame::default() }).unwrap();
                    number += 1;
                    // The gate only ever moves earlier while packets wait.
                    let gate = nic.eee().unwrap().gate_open_at();
                    prop_assert!(last_gate.is_none_or(|last| gate <= last), "the gate moved later");
                    if nic.eee().unwrap().state() != EeeState::Active {
                        last_gate = Some(gate);
                    }
                }
                (_, None) => break,
            }
        }
        prop_assert_eq!(number as usize, packets.len());
        prop_assert_eq!(nic.queue_packets(), 0, "the gate always opens");
        prop_assert_eq!(phy.violations(), 0);
        let machine = nic.eee().unwrap();
        let lpi = phy.times(free_at).lpi.as_ps();
        prop_assert!(
            machine.lpi_ticks().abs_diff(lpi) <= 2 * machine.wakes(),
            "machine {} ps, phy {} ps in {} wakes", machine.lpi_ticks(), lpi, machine.wakes()
        );
        prop_assert_eq!(phy.times(free_at).total(), free_at.since(Time::ZERO));
    }
}
