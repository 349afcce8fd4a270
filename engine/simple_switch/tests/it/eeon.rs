//! The E-EON program in a switch: what the random cases of `properties` and the small world of `hold_exhaustive` cannot
//! show.

use crate::support::eeon::{self, Eee, GIGABIT as COALESCE};
use crate::support::{run_to_idle, transmits};
use bm::State;
use simple_switch::{Switch, SwitchConfig};
use units::{Duration, Time};

const ECT_0: u8 = 2;
const CE: u8 = 3;
const GBPS: u64 = 1_000_000_000;
const LOOP_DELAY: Duration = Duration::from_ns(500);

/// Ticks of 1 ns; ports 1 to 4 at 1 Gbit/s; 10.0.2.0/24 is behind port 2.
fn switch(gate: bool) -> Switch {
    let config = SwitchConfig {
        gate_register: gate.then(|| eeon::GATE.to_owned()),
        recirculation_delay: LOOP_DELAY,
        recirculation_limit: 1 << 14, // Longer than any hold here; what would never leave is dropped.
        ..eeon::config(1..=4, GBPS)
    };
    let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
    eeon::route(&mut switch.state_mut(), 2, &[2]);
    switch
}

fn eee(state: &mut State, settings: Eee) {
    eeon::eee(state, 2, settings, eeon::ticks_per_byte_q24(GBPS));
}

fn ns(ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(ns)
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
            let checksum = wire::checksum::internet(&frame[14..34]);
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
            let sum = wire::checksum::internet(&header);
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
fn eee_switched_on_at_a_port_that_has_sent_counts_its_first_sleep_from_the_last_departure() {
    let mut switch = switch(true);
    let frame = eeon::tcp_frame(2, 9, ECT_0, 1000, 976);
    switch.handle_packet(ns(5_000_000), 1, &frame, 0);
    eee(&mut switch.state_mut(), Eee { stall: 50_000, ..COALESCE });
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
    eee(&mut state, Eee { sleep: 0, wake: 0, hold: 0, ..COALESCE });
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
