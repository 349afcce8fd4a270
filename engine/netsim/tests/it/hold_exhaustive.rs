//! The hold of host NICs in every case of a small world, compared with the plain reference that also judges the P4
//! program (`simple_switch/tests/it/hold_exhaustive.rs`). Every value of the machine is compared after every packet.

#[path = "../../../simple_switch/tests/support/hold_reference.rs"]
mod reference;

use netsim::eee::{Eee, EeeParams, EeeState};
use reference::{account, longest_wait, Packet, Port, Settings, State};

/// Frame bytes and ticks on the wire, with one tick per byte and no overhead.
const SIZES: [u64; 2] = [1, 2];

/// Packets leave as soon as they may; one that arrives at that very instant is admitted first.
fn run(settings: Settings, packets: &[Packet]) {
    let mut machine = Eee::new(EeeParams {
        sleep_ticks: settings.sleep,
        wake_ticks: settings.wake,
        stall_ticks: settings.stall,
        hold_ticks: settings.hold,
        trigger_packets: settings.trigger_packets as u32,
        trigger_bytes: settings.trigger_bytes as u32,
        ticks_per_byte_q24: 1 << 24,
        overhead_bytes: 0,
    });
    let mut port = Port::new(settings);
    let mut departures = Vec::new();
    let mut leave_before = |end: u64, port: &mut Port, machine: &mut Eee| {
        while let Some(at) = port.next_departure().filter(|at| *at < end) {
            // The first frame leaves neither earlier nor later than the machine says.
            let first = port.queue[0];
            assert_eq!(at, first.at.max(machine.busy_until()).max(machine.gate_open_at()));
            machine.depart(at, first.bytes as u32);
            port.depart(at);
            departures.push(at);
            compare(port, machine, settings, packets);
        }
    };
    for packet in packets {
        leave_before(packet.at, &mut port, &mut machine);
        machine.admit(packet.at, packet.bytes as u32, port.queue.is_empty());
        port.admit(*packet);
        compare(&port, &machine, settings, packets);
        leave_before(packet.at + 1, &mut port, &mut machine);
    }
    leave_before(u64::MAX, &mut port, &mut machine);
    assert_eq!(departures.len(), packets.len(), "the gate always opens");

    for (number, (packet, departure)) in packets.iter().zip(&departures).enumerate() {
        let longest = longest_wait(settings, packets, &departures, number);
        assert!(departure - packet.at <= longest, "packet {number} of {packets:?}, {settings:?}");
    }
    let seen = account(settings, packets, &departures);
    assert!(seen.low_power >= 0, "woken before asleep: {packets:?}, {settings:?}");
    assert_eq!(machine.wakes(), seen.sleeps, "{packets:?}, {settings:?}");
    let all = machine.lpi_ticks() as i64 + seen.transition + seen.active;
    assert_eq!(all, seen.elapsed, "{packets:?}, {settings:?}");
}

fn compare(port: &Port, machine: &Eee, settings: Settings, packets: &[Packet]) {
    let state = match machine.state() {
        EeeState::Active => State::Active,
        EeeState::Hold => State::Hold,
        EeeState::Wake => State::Wake,
    };
    let shown = (
        state,
        machine.gate_open_at(),
        machine.busy_until(),
        u64::from(machine.held_packets()),
        machine.lpi_ticks(),
        machine.wakes(),
    );
    let gate = port.gate().unwrap_or(0);
    let expected = (port.state, gate, port.busy_until, port.held_packets, port.lpi, port.wakes);
    assert_eq!(shown, expected, "{packets:?}, {settings:?}");
}

/// Returns all sequences of `count` packets with gaps and sizes from the lists.
fn patterns(count: usize, gaps: &[u64]) -> Vec<Vec<Packet>> {
    let mut patterns = vec![Vec::new()];
    for _ in 0..count {
        let longer = |pattern: &Vec<Packet>| {
            let last = pattern.last().map_or(0, |packet: &Packet| packet.at);
            let next = gaps.iter().flat_map(move |gap| SIZES.map(|size| (last + gap, size)));
            let longer = |(at, bytes)| [&pattern[..], &[Packet { at, bytes, wire: bytes }]].concat();
            next.map(longer).collect::<Vec<_>>()
        };
        patterns = patterns.iter().flat_map(longer).collect();
    }
    patterns
}

#[test]
fn in_every_small_case_the_nics_machine_does_what_the_rules_say() {
    let patterns = patterns(3, &[0, 1, 2, 4, 9]);
    let mut cases = 0;
    for sleep in [0, 1, 3] {
        for wake in [0, 2] {
            for stall in [0, 2] {
                for hold in [0, 1, 2, 5] {
                    for trigger_packets in [0, 1, 2, 3] {
                        for trigger_bytes in [0, 1, 2, 3, 4] {
                            let settings =
                                Settings { sleep, wake, stall, hold, trigger_packets, trigger_bytes };
                            patterns.iter().for_each(|packets| run(settings, packets));
                            cases += patterns.len();
                        }
                    }
                }
            }
        }
    }
    assert_eq!(cases, 960_000);
}

#[test]
#[should_panic(expected = "before the gate at 3")]
fn leaving_through_a_closed_gate_is_a_broken_invariant() {
    let mut machine = Eee::new(EeeParams { sleep_ticks: 1, wake_ticks: 2, ..EeeParams::default() });
    machine.admit(0, 1, true);
    machine.depart(2, 1);
}
