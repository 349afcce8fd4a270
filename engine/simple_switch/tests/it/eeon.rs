//! The E-EON program in a switch: forwarding, byte marking, and the two ways to hold packets.

use crate::support::eeon::{self, Eee, GIGABIT as COALESCE};
use crate::support::{run_to_idle, transmits};
use proptest::prelude::*;
use simple_switch::{Switch, SwitchConfig, Transmit};
use units::{Bytes, Duration, Time};

const ECT_0: u8 = 2;
const CE: u8 = 3;
const GBPS: u64 = 1_000_000_000;
/// 8 ns per byte at 1 Gbit/s.
const TICKS_PER_BYTE_Q24: u64 = 8 << 24;
const LOOP_DELAY: Duration = Duration::from_ns(500);

/// Ticks of 1 ns; ports 1 to 4 at 1 Gbit/s; 10.0.2.0/24 is behind port 2.
fn switch(gate: bool) -> Switch {
    switch_at(gate, 0)
}

/// The same with another start of its clock.
fn switch_at(gate: bool, clock_start: u64) -> Switch {
    let config = SwitchConfig {
        gate_register: gate.then(|| eeon::GATE.to_owned()),
        recirculation_delay: LOOP_DELAY,
        recirculation_limit: 1 << 14, // Longer than any hold here; what would never leave is dropped.
        clock_start,
        ..eeon::config(1..=4, GBPS)
    };
    let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
    eeon::route(&mut switch.state_mut(), 2, &[2]);
    switch
}

fn ns(ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(ns)
}

#[test]
fn a_packet_is_routed_with_new_macs_a_lower_ttl_and_a_right_checksum() {
    let mut switch = switch(true);
    let frame = eeon::tcp_frame(2, 9, ECT_0, 1000, 300);
    switch.handle_packet(ns(10), 1, &frame, 7);
    let sent = transmits(&mut switch);
    let [Transmit { port: 2, tag: 7, frame: out, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(out[..12], [2, 0, 0, 0, 1, 2, 2, 1, 0, 0, 0, 1]);
    assert_eq!(out[22], frame[22] - 1);
    assert_eq!(eeon::internet_checksum(&out[14..34]), 0);
    assert_eq!(out[26..], frame[26..]);
    assert_eq!(out.len(), frame.len());
}

#[test]
fn a_packet_without_a_route_is_dropped_in_ingress() {
    let mut switch = switch(true);
    switch.handle_packet(ns(0), 1, &eeon::tcp_frame(77, 1, 0, 1000, 100), 0);
    assert_eq!(switch.stats().drops.get(simple_switch::DropCause::Ingress), 1);
}

#[test]
fn a_packet_is_marked_when_it_finds_more_bytes_than_the_threshold() {
    let mut switch = switch(true);
    eeon::mark_above(&mut switch.state_mut(), 2, 3000);
    for tag in 0..8 {
        switch.handle_packet(ns(0), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, 1000), tag);
    }
    run_to_idle(&mut switch, Time::MAX);
    // The first goes to the wire at once; the second finds 0 bytes, the fifth 3000, the sixth 4000.
    let marked: Vec<_> = transmits(&mut switch).iter().map(|t| eeon::ecn_of(&t.frame) == CE).collect();
    assert_eq!(marked, [false, false, false, false, false, true, true, true]);
    assert_eq!(eeon::register(switch.state(), "occupancy_bytes", 2), 0);
}

#[test]
fn the_checksum_is_right_wherever_ones_complement_wraps() {
    for ecn in [1, ECT_0] {
        let mut switch = switch(true);
        eeon::mark_above(&mut switch.state_mut(), 2, 0);
        let mut frame = eeon::tcp_frame(2, 9, ecn, 1000, 60);
        let mut expected = Vec::new();
        for identification in 0..=u16::MAX {
            frame[18..20].copy_from_slice(&identification.to_be_bytes());
            frame[24..26].fill(0);
            let checksum = eeon::internet_checksum(&frame[14..34]);
            // A decremented TTL adds 0x0100; a mark subtracts 1 or 2.
            if (0x0004..0xfe00).contains(&checksum) {
                continue;
            }
            frame[24..26].copy_from_slice(&checksum.to_be_bytes());
            switch.handle_packet(ns(0), 1, &frame, 0);
            // The first leaves at once, and the second finds no queue.
            let mut header = frame[14..34].to_vec();
            header[1] |= if expected.len() < 2 { 0 } else { CE };
            header[8] -= 1;
            header[10..12].fill(0);
            let sum = eeon::internet_checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            expected.push(header);
        }
        run_to_idle(&mut switch, Time::MAX);
        let headers: Vec<_> = transmits(&mut switch).iter().map(|t| t.frame[14..34].to_vec()).collect();
        assert!(headers.len() > 500);
        assert_eq!(headers, expected, "ECN {ecn}");
    }
}

#[test]
fn red_marks_with_a_probability_that_rises_from_its_minimum_to_its_maximum() {
    let mut switch = switch(true);
    eeon::red_in_packets(&mut switch.state_mut(), 2, 200, 1000);
    let count = 1001;
    for tag in 0..count {
        switch.handle_packet(ns(0), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, 100), tag);
    }
    run_to_idle(&mut switch, Time::MAX);
    let marks: Vec<_> = transmits(&mut switch).iter().map(|t| eeon::ecn_of(&t.frame) == CE).collect();
    // The first goes to the wire at once; after it, packet n finds n - 1 others.
    let probability = |found: u64| (found.saturating_sub(200) as f64 / 800.0).min(1.0);
    for half in [1..601, 601..count] {
        let probabilities = half.clone().map(|number| probability(number - 1));
        let expected: f64 = probabilities.clone().sum();
        let deviation = probabilities.map(|p| p * (1.0 - p)).sum::<f64>().sqrt();
        let marked = marks[half.start as usize..half.end as usize].iter().filter(|marked| **marked).count();
        assert!((marked as f64 - expected).abs() < 4.0 * deviation, "{marked} marks, {expected} expected");
    }
    assert!(marks[..=200].iter().all(|marked| !marked));
}

#[test]
fn the_programs_account_of_bytes_is_the_queues() {
    let mut switch = switch(true);
    eeon::buffer_limit(&mut switch.state_mut(), 2, 20_000);
    for step in 0..200u64 {
        let length = 60 + (step * 37 % 1400) as usize;
        switch.handle_packet(ns(step * 2000), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, length), step);
        assert_eq!(eeon::register(switch.state(), "occupancy_bytes", 2), switch.queue_bytes(2).get());
        assert_eq!(eeon::register(switch.state(), "occupancy_packets", 2), switch.queue_packets(2) as u64);
        assert!(switch.queue_bytes(2) <= Bytes::new(20_000));
    }
    run_to_idle(&mut switch, Time::MAX);
    assert_eq!(eeon::register(switch.state(), "occupancy_bytes", 2), 0);
    assert!(switch.stats().is_balanced());
    assert!(switch.stats().drops.total() > 0, "the limit was reached");
}

#[test]
fn a_sleeping_port_holds_packets_until_its_timer_and_its_wake_are_over() {
    let mut switch = switch(true);
    eeon::eee(&mut switch.state_mut(), 2, COALESCE);
    for (tag, at) in [1_000_000, 1_050_000, 1_119_999].into_iter().enumerate() {
        switch.handle_packet(ns(at), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, 976), tag as u64);
    }
    run_to_idle(&mut switch, Time::MAX);
    let left: Vec<_> = transmits(&mut switch).iter().map(|t| (t.tag, t.at)).collect();
    let opens = 1_000_000 + 120_000 + 16_500;
    assert_eq!(left, [(0, ns(opens)), (1, ns(opens + 8_000)), (2, ns(opens + 16_000))]);
    assert_eq!(switch.p4_passes(), 3, "no packet went round");
    assert_eq!(eeon::register(switch.state(), "wakes", 2), 1);
    assert_eq!(eeon::register(switch.state(), "lpi_ticks", 2), 1_120_000 - 182_000);
}

#[test]
fn a_trigger_opens_the_gate_earlier() {
    let mut switch = switch(true);
    eeon::eee(&mut switch.state_mut(), 2, COALESCE);
    for tag in 0..10 {
        switch.handle_packet(ns(1_000_000 + tag * 1000), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, 976), tag);
    }
    run_to_idle(&mut switch, Time::MAX);
    assert_eq!(transmits(&mut switch)[0].at, ns(1_009_000 + 16_500));
}

#[test]
fn a_gate_that_falls_on_tick_zero_of_the_clock_opens_a_tick_later() {
    let (arrives, opens) = (1_000_000, 1_136_500);
    for gate in [true, false] {
        // The clock shows 0 when the hold and the wake end.
        let start = (1 << 48) - opens;
        let mut switch = switch_at(gate, start);
        let mut state = switch.state_mut();
        state.register_write("busy_until", 2, &start.to_be_bytes()).unwrap();
        eeon::eee(&mut state, 2, COALESCE);
        drop(state);
        switch.handle_packet(ns(arrives), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, 976), 0);
        assert_eq!(eeon::register(switch.state(), "gate_open_at", 2), 1, "0 would be no gate");
        run_to_idle(&mut switch, Time::MAX);
        let left = transmits(&mut switch)[0].at;
        let late = if gate { Duration::ZERO } else { LOOP_DELAY };
        assert!((ns(opens + 1)..=ns(opens + 1) + late).contains(&left), "by gate {gate}: {left}");
        assert_eq!(eeon::register(switch.state(), "lpi_ticks", 2), arrives + COALESCE.hold - COALESCE.sleep);
    }
}

#[test]
fn eee_switched_on_at_a_port_that_has_sent_counts_its_first_sleep_from_the_last_departure() {
    let mut switch = switch(true);
    let frame = eeon::tcp_frame(2, 9, ECT_0, 1000, 976);
    switch.handle_packet(ns(5_000_000), 1, &frame, 0);
    eeon::eee(&mut switch.state_mut(), 2, Eee { stall: 50_000, ..COALESCE });
    // Within the stall the link is awake; long after it, it has slept since the second packet.
    for (tag, at) in [(1, 5_030_000), (2, 9_000_000)] {
        switch.handle_packet(ns(at), 1, &frame, tag);
    }
    run_to_idle(&mut switch, Time::MAX);
    let left: Vec<_> = transmits(&mut switch).iter().map(|t| t.at).collect();
    assert_eq!(left, [ns(5_000_000), ns(5_030_000), ns(9_000_000 + 120_000 + 16_500)]);
    assert_eq!(eeon::register(switch.state(), "wakes", 2), 1);
    let idle_since = 5_030_000 + 8_000;
    assert_eq!(eeon::register(switch.state(), "lpi_ticks", 2), 9_120_000 - (idle_since + 50_000 + 182_000));
}

/// As on BMv2, whose input queue may lose a recirculated packet.
#[test]
fn a_turn_that_never_comes_is_waited_for_1024_times_and_then_passed_over() {
    const PATIENCE: u64 = 1024;
    let mut switch = switch(false);
    let mut state = switch.state_mut();
    eeon::eee(&mut state, 2, Eee { sleep: 0, wake: 0, hold: 0, ..COALESCE });
    state.register_write("ticket_next", 2 << 3, &[1]).unwrap();
    drop(state);
    let frame = eeon::tcp_frame(2, 9, ECT_0, 1000, 976);
    for tag in 0..3 {
        switch.handle_packet(ns(1_000_000 + tag), 1, &frame, tag);
    }
    run_to_idle(&mut switch, Time::MAX);
    let left: Vec<_> = transmits(&mut switch).iter().map(|t| (t.tag, t.at)).collect();
    let first = ns(1_000_000) + LOOP_DELAY * PATIENCE;
    let wire = Duration::from_us(8);
    assert_eq!(left.iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(left[0].1, first);
    assert!(left[2].1 <= first + wire * 2 + LOOP_DELAY * 2, "{left:?}");
    assert_eq!(eeon::register(switch.state(), "ticket_serving", 2 << 3), 4);

    // The packet that was thought lost does not decrease the count.
    switch.state_mut().register_write("ticket_next", 2 << 3, &[0]).unwrap();
    switch.handle_packet(ns(50_000_000), 1, &frame, 3);
    run_to_idle(&mut switch, Time::MAX);
    assert_eq!(transmits(&mut switch).len(), 1);
    assert_eq!(eeon::register(switch.state(), "ticket_serving", 2 << 3), 4);
}

/// Runs arrivals (time since the last in ns, frame bytes) and returns (tag, departure) and the switch.
fn run(gate: bool, eee: Eee, arrivals: &[(u64, usize)]) -> (Vec<(u64, Time)>, Switch) {
    let mut switch = switch(gate);
    eeon::eee(&mut switch.state_mut(), 2, eee);
    let mut now = 1_000_000;
    for (tag, (gap, length)) in arrivals.iter().enumerate() {
        now += gap;
        switch.handle_packet(ns(now), 1, &eeon::tcp_frame(2, 9, ECT_0, 1000, *length), tag as u64);
    }
    run_to_idle(&mut switch, Time::MAX);
    let left = transmits(&mut switch).iter().map(|t| (t.tag, t.at)).collect();
    (left, switch)
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, usize)>> {
    let gap = prop_oneof![4 => 0..20_000u64, 1 => 0..500_000u64];
    prop::collection::vec((gap, 64..1500usize), 1..40)
}

fn eees() -> impl Strategy<Value = Eee> {
    (1..200_000u64, 1..20_000u64, 0..50_000u64, prop_oneof![Just(0), 1..200_000u64], 0..20u64, 0..8000u64)
        .prop_map(|(sleep, wake, stall, hold, trigger_packets, trigger_bytes)| Eee {
            sleep,
            wake,
            stall,
            hold,
            trigger_packets,
            trigger_bytes,
            ticks_per_byte_q24: TICKS_PER_BYTE_Q24,
        })
}

/// Whether a packet arrives so close to the instant at which its link goes to sleep that departures up to `late`
/// later would change whether the link sleeps.
fn is_close_call(arrivals: &[(u64, usize)], left: &[(u64, Time)], stall: u64, late: Duration) -> bool {
    let mut now = 1_000_000;
    arrivals.iter().any(|(gap, _)| {
        now += gap;
        left.iter().any(|(tag, at)| {
            let wire = (arrivals[*tag as usize].1 as u64 + 24) * 8;
            let sleeps = at.as_ps() / 1000 + wire + stall;
            (sleeps.saturating_sub(2)..=sleeps + late.as_ps() / 1000 + 2).contains(&now)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn holding_by_gate_and_by_recirculation_departs_alike_up_to_the_loop_delay(arrivals in arrivals(), eee in eees()) {
        let (by_gate, gated) = run(true, eee, &arrivals);
        // Each hold ends up to a loop delay late, and a sleep that follows it begins as late.
        let wakes = eeon::register(gated.state(), "wakes", 2);
        let late = LOOP_DELAY * wakes;
        prop_assume!(!is_close_call(&arrivals, &by_gate, eee.stall, late));
        let (by_loop, looped) = run(false, eee, &arrivals);
        prop_assert_eq!(by_gate.len(), arrivals.len());
        prop_assert_eq!(by_loop.len(), arrivals.len());
        for (position, ((gate_tag, gate_at), (loop_tag, loop_at))) in by_gate.iter().zip(&by_loop).enumerate() {
            prop_assert_eq!(*gate_tag, position as u64, "the gate keeps the order");
            prop_assert_eq!(*loop_tag, position as u64, "the loop keeps the order");
            prop_assert!(
                *loop_at >= *gate_at && *loop_at <= *gate_at + late,
                "packet {position}: {gate_at} by gate, {loop_at} by loop"
            );
        }
        prop_assert_eq!(gated.stats().recirculated, 0);
        for switch in [&gated, &looped] {
            prop_assert_eq!(switch.port_stats(2).reordered, 0);
            for register in ["occupancy_bytes", "occupancy_packets", "gate_open_at", "eee_state"] {
                prop_assert_eq!(eeon::register(switch.state(), register, 2), 0, "{}", register);
            }
        }
        prop_assert_eq!(eeon::register(looped.state(), "wakes", 2), wakes);
    }

    #[test]
    fn equal_inputs_give_equal_bytes(arrivals in arrivals(), eee in eees()) {
        prop_assert_eq!(run(true, eee, &arrivals).0, run(true, eee, &arrivals).0);
    }

    #[test]
    fn any_bytes_on_any_port_are_taken_and_accounted_for(
        frames in prop::collection::vec((0..6u16, prop::collection::vec(any::<u8>(), 0..200)), 1..50),
        damage in prop::collection::vec((0..300usize, any::<u8>()), 0..20),
    ) {
        let mut switch = switch(true);
        eeon::eee(&mut switch.state_mut(), 2, COALESCE);
        let mut damaged = eeon::tcp_frame(2, 9, ECT_0, 1000, 300);
        damage.iter().for_each(|(at, value)| damaged[*at] = *value);
        for (step, (port, bytes)) in frames.iter().enumerate() {
            let now = ns(step as u64 * 1000);
            switch.handle_packet(now, if *port == 0 { eeon::CPU_PORT } else { *port }, bytes, 0);
            switch.handle_packet(now, 1, &damaged, 0);
        }
        run_to_idle(&mut switch, Time::MAX);
        prop_assert!(switch.stats().is_balanced(), "{:?}", switch.stats());
        prop_assert_eq!(switch.stats().in_flight, 0);
    }
}
