//! The P4 program's EEE hold: against the plain state machine and the PHY, by gate and by recirculation.
//!
//! The plain state machine and the PHY were written from the design, not from the program.

mod common;

use common::{
    eee_values, finish, random_traffic, register, send, LeafSpine, PortSettings, PLAIN, TEN_GIGABIT,
};
use netsim::eee::{Eee, EeeParams};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Bytes, DataRate, Time};
use wire::tcp::ACK;
use wire::Ecn;

/// Departures of a queue that the plain state machine holds, with ticks of 1 ns: latencies of `arrivals` (ps, in
/// order) of frames of `frame_bytes`, until the last bit is on the wire, and the machine.
fn plain_reference(arrivals: &[u64], frame_bytes: u32, rate_bps: u64, values: [u64; 8]) -> (Vec<u64>, Eee) {
    let [sleep_ticks, wake_ticks, stall_ticks, hold_ticks, trigger, _, ticks_per_byte_q24, overhead] = values;
    let mut eee = Eee::new(EeeParams {
        sleep_ticks,
        wake_ticks,
        stall_ticks,
        hold_ticks,
        trigger_packets: trigger as u32,
        trigger_bytes: 0,
        ticks_per_byte_q24,
        overhead_bytes: overhead as u16,
    });
    let wire =
        DataRate::from_bps(rate_bps).transmit_time(Bytes::new(u64::from(frame_bytes) + overhead)).as_ps();
    let (mut sent, mut admitted, mut free_at) = (Vec::new(), 0, 0);
    while sent.len() < arrivals.len() {
        let departure = (admitted > sent.len())
            .then(|| free_at.max(eee.gate_open_at() * 1_000).max(arrivals[sent.len()]));
        match (departure, arrivals.get(admitted)) {
            (Some(now), arrival) if arrival.is_none_or(|arrival| now < *arrival) => {
                eee.depart(now / 1_000, frame_bytes);
                free_at = now + wire;
                sent.push(free_at - arrivals[sent.len()]);
            }
            (_, Some(arrival)) => {
                eee.admit(arrival / 1_000, frame_bytes, admitted == sent.len());
                admitted += 1;
            }
            (_, None) => unreachable!("a packet waits, so it departs"),
        }
    }
    (sent, eee)
}

#[test]
fn the_p4_program_holds_packets_exactly_as_the_plain_state_machine_and_the_phy_agrees() {
    for (hold_us, trigger) in [(0, 0), (12, 10), (120, 3), (120, 100)] {
        let size = LeafSpine {
            leaves: 1,
            hosts_per_leaf: 2,
            spines: 0,
            host_bps: TEN_GIGABIT,
            eee: true,
            ..LeafSpine::default()
        };
        let values = eee_values(TEN_GIGABIT, hold_us, trigger);
        let mut fabric = size.fabric(size.spec(), |_| PortSettings { eee: Some(values), ..PLAIN });
        let frame = size.segment(0, 1, ACK, 1460, Ecn::NotEct);
        let wire_ps = 1_230_400;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(hold_us + 7);
        let mut sent_at = 0;
        let mut arrivals = Vec::new();
        for packet in 0..3_000_u64 {
            // Bursts and pauses, never closer than the wire allows, so that the NIC adds no wait of its own.
            let spread = if packet % 20 < 12 { 2_000_000 } else { 60_000_000 };
            sent_at += wire_ps + random.next_u64() % spread;
            arrivals.push(sent_at + wire_ps + 500_000);
            send(&mut fabric, 0, Time::from_ps(sent_at), &frame);
        }
        let report = finish(&mut fabric);
        let (expected, eee) = plain_reference(&arrivals, frame.len() as u32, TEN_GIGABIT, values);
        // From the switch's reception to the host's: the wait, the wire, the propagation delay.
        let fixed = wire_ps + 2 * 500_000;
        let latency = report.classes["data"].latency.unwrap();
        let mean = expected.iter().sum::<u64>() / expected.len() as u64;
        assert_eq!(latency.min_ps - fixed, *expected.iter().min().unwrap(), "{hold_us}us{trigger}");
        assert_eq!(latency.max_ps - fixed, *expected.iter().max().unwrap(), "{hold_us}us{trigger}");
        assert_eq!(latency.mean_ps - fixed, mean, "{hold_us}us{trigger}");
        assert_eq!(register(&fabric, 0, "lpi_ticks", 2), eee.lpi_ticks(), "{hold_us}us{trigger}");
        assert_eq!(register(&fabric, 0, "wakes", 2), eee.wakes(), "{hold_us}us{trigger}");
        // The PHY, which knows nothing but the transmissions: less than two ticks a sleep apart, and the time
        // asleep after the last departure, which the program has not filed yet.
        let phy = report.energy.transmitters.iter().find(|t| t.node == "leaf1" && t.port == 2).unwrap();
        assert_eq!((phy.violations, phy.wakes), (0, eee.wakes()), "{hold_us}us{trigger}");
        assert!(phy.lpi_ps.abs_diff(eee.lpi_ticks() * 1_000) <= 2_000 * phy.wakes, "{hold_us}us{trigger}");
        assert_eq!(phy.active_ps + phy.sleep_ps + phy.lpi_ps + phy.wake_ps, report.elapsed_ps);
        assert_eq!(report.switches[0].recirculated, 0, "the gate holds, nothing goes round");
        assert_eq!(report.switches[0].ports[1].reordered, 0);
    }
}

#[test]
fn holding_by_recirculation_gives_the_departures_of_the_gate_up_to_the_time_of_a_round() {
    const ROUND_PS: u64 = 100_000;
    let size = LeafSpine { leaves: 1, hosts_per_leaf: 2, spines: 0, eee: true, ..LeafSpine::default() };
    let settings = |rate_bps| PortSettings {
        eee: Some(eee_values(rate_bps, 300, 4)),
        buffer_bytes: Some(100_000),
        ..PLAIN
    };
    let run = |gate_register: Option<&str>| {
        let mut spec = size.spec();
        spec.gate_register = gate_register.map(str::to_owned);
        spec.recirculation_delay_ps = ROUND_PS;
        let mut fabric = size.fabric(spec, settings);
        for (from, at, frame) in random_traffic(&size, 200, 60_000_000, 3) {
            send(&mut fabric, from, at, &frame);
        }
        finish(&mut fabric)
    };
    let (gate, rounds) = (run(Some("gate_open_at")), run(None));
    assert_eq!(gate.switches[0].recirculated, 0);
    assert!(rounds.switches[0].recirculated > 1_000);
    for (class, by_gate) in &gate.classes {
        let by_rounds = &rounds.classes[class];
        assert_eq!(by_gate.delivered, by_rounds.delivered, "{class}");
        let (Some(by_gate), Some(by_rounds)) = (by_gate.latency, by_rounds.latency) else { continue };
        // Later by a round at most, and what waits behind is later with it.
        assert!(by_rounds.mean_ps >= by_gate.mean_ps, "{class}");
        assert!(by_rounds.mean_ps <= by_gate.mean_ps + 2 * ROUND_PS, "{class}: {by_gate:?} {by_rounds:?}");
        assert!(by_rounds.max_ps <= by_gate.max_ps + 2 * ROUND_PS, "{class}: {by_gate:?} {by_rounds:?}");
    }
    assert_eq!(rounds.energy.total.violations, 0);
    assert_eq!(rounds.switches[0].ports.iter().map(|port| port.reordered).sum::<u64>(), 0);
}
