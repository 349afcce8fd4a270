//! A NIC's AQM compared with the P4 program's: the same frames at the same times get the same marks and drops.

use crate::common::{finish, red, send, LeafSpine, PortSettings, GIGABIT, PLAIN, TEN_GIGABIT};
use netsim::spec::NicSpec;
use netsim::{NicAqm, Protect, Report};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use units::{Bytes, DataRate, Time};
use wire::tcp::{ACK, ECE, SYN};
use wire::Ecn;

const BUFFER: u32 = 60_000;

fn size(nic: NicSpec) -> LeafSpine {
    LeafSpine { leaves: 1, hosts_per_leaf: 2, spines: 0, nic, ..LeafSpine::default() }
}

/// Frames of all kinds in waves that overload a gigabit: (when the queue is to see it in ps, frame).
fn arrivals(size: &LeafSpine) -> Vec<(u64, Vec<u8>)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut at = 100_000_000;
    (0..6_000)
        .map(|number| {
            let spread = if number % 400 < 250 { 6 } else { 40 };
            // Whole nanoseconds, the program's tick, and at least what 10 Gb/s take for the longest frame.
            at += 2_000_000 + random.next_u64() % (spread * 1_000) * 1_000;
            let frame = match random.next_u64() % 10 {
                0 => size.segment(0, 1, ACK, 0, Ecn::NotEct),
                1 => size.segment(0, 1, ACK | ECE, 0, Ecn::NotEct),
                2 => size.segment(0, 1, SYN | ECE, 0, Ecn::NotEct),
                3 => size.segment(0, 1, SYN | ACK, 0, Ecn::NotEct),
                4 => size.segment(0, 1, ACK, 1460, Ecn::NotEct),
                5 => size.segment(0, 1, ACK, 1460, Ecn::Ce),
                6 => size.segment(0, 1, ACK, 700, Ecn::Ect1),
                _ => size.segment(0, 1, ACK, 1460, Ecn::Ect0),
            };
            (at, frame)
        })
        .collect()
}

/// Returns the report with the AQM at the switch's port to the second host.
fn by_program(action: &'static str, values: &[u64]) -> Report {
    let size = size(NicSpec::default());
    let mut spec = size.spec();
    spec.links[0].rate_bps = TEN_GIGABIT;
    let settings = |rate| {
        let aqm = (rate == GIGABIT && !values.is_empty()).then(|| (action, values.to_vec()));
        PortSettings { buffer_bytes: Some(BUFFER), aqm, ..PLAIN }
    };
    let mut fabric = size.fabric(spec, settings);
    let way = DataRate::from_bps(TEN_GIGABIT);
    for (at, frame) in arrivals(&size) {
        let wire = way.transmit_time(Bytes::new(frame.len() as u64 + 24)).as_ps();
        send(&mut fabric, 0, Time::from_ps(at - wire), &frame);
    }
    finish(&mut fabric)
}

/// Returns the report with the AQM in the first host's NIC.
fn by_nic(aqm: Option<NicAqm>) -> Report {
    let size = size(NicSpec { buffer_bytes: Some(BUFFER.into()), aqm, ..NicSpec::default() });
    let mut fabric = size.plain();
    for (at, frame) in arrivals(&size) {
        send(&mut fabric, 0, Time::from_ps(at), &frame);
    }
    finish(&mut fabric)
}

/// By class: delivered, of these with CE.
fn outcome(report: &Report) -> Vec<(&'static str, u64, u64)> {
    let classes = report.classes.iter();
    classes.map(|(name, class)| (*name, class.delivered.packets, class.delivered_ce)).collect()
}

fn same(action: &'static str, values: &[u64], aqm: NicAqm) {
    let (program, nic) = (by_program(action, values), by_nic(Some(aqm)));
    assert_eq!(outcome(&program), outcome(&nic), "{aqm:?}");
    let plain = by_nic(None);
    assert_ne!(outcome(&plain), outcome(&nic), "{aqm:?} does something");
    let sum = |of: fn(&netsim::report::ClassCounts) -> u64| nic.nic_queues.values().map(of).sum::<u64>();
    let dropped = sum(|counts| counts.early_dropped + counts.tail_dropped);
    assert_eq!(dropped, nic.conservation.nic_drops);
    let ce = |report: &Report| report.classes.values().map(|class| class.delivered_ce).sum::<u64>();
    let came_with_ce = nic.classes.values().map(|class| class.sent.packets).sum::<u64>() - dropped;
    assert!(sum(|counts| counts.marked) <= ce(&nic) && ce(&nic) <= came_with_ce);
}

#[test]
fn a_full_nic_drops_what_a_full_port_drops() {
    assert_eq!(outcome(&by_program("drop_tail", &[])), outcome(&by_nic(None)));
}

#[test]
fn a_marking_threshold_marks_the_same_packets() {
    for at_dequeue in [false, true] {
        let aqm = NicAqm::MarkThreshold { threshold_bytes: 15_000, l4s_threshold_bytes: 4_000, at_dequeue };
        same("mark_threshold", &[15_000, 4_000, at_dequeue.into()], aqm);
    }
}

#[test]
fn codel_signals_the_same_packets() {
    for (ecn, protect) in [(true, Protect::Ece), (false, Protect::Ect), (false, Protect::AckSyn)] {
        let (target_ps, interval_ps, mtu_bytes) = (100_000_000, 1_000_000_000, 1_514);
        let values = [target_ps / 1_000, interval_ps / 1_000, mtu_bytes.into(), ecn.into(), protect as u64];
        same("codel", &values, NicAqm::Codel { target_ps, interval_ps, mtu_bytes, ecn, protect });
    }
}

#[test]
fn red_without_chance_signals_the_same_packets() {
    for protect in ["ect", "ece", "ack_syn"] {
        for (ecn, in_packets, average_shift) in
            [(true, true, 0), (true, false, 3), (false, true, 0), (false, false, 5)]
        {
            let threshold = if in_packets { 12 } else { 14_000 };
            let (aqm, values) = red(
                &json!({"min_threshold": threshold, "max_threshold": threshold, "in_packets": in_packets,
                                            "average_shift": average_shift, "ecn": ecn, "protect": protect}),
            );
            same("red", &values, aqm);
        }
    }
}

#[test]
fn an_idle_average_ages_in_a_nic_as_in_a_port() {
    // It halves in 51.2 ticks of 1 ns: between two waves it is forgotten, and without a time it is not.
    let red = |half_life_ps| {
        red(
            &json!({"min_threshold": 6_000, "max_threshold": 6_000, "average_shift": 6, "half_life_ps": half_life_ps}),
        )
    };
    let (aqm, values) = red(51_200);
    let marks = |report: &Report| report.classes["data"].delivered_ce as f64;
    let (program, nic) = (marks(&by_program("red", &values)), marks(&by_nic(Some(aqm))));
    // The program does not know the time of a frame on the wire while EEE is off, so it ages the average a frame earlier.
    assert!((program / nic - 1.0).abs() < 0.01, "{program} {nic}");
    let kept = marks(&by_nic(Some(red(0).0)));
    assert!(kept > 1.05 * nic, "{kept} {nic}");
}

#[test]
fn a_small_frame_has_the_smaller_probability_in_a_nic_as_in_a_port() {
    // The line's probability is that of 2 KB: an ACK of 54 bytes has a fortieth of it, and full data three quarters.
    let slope = ((1_u64 << 48) / 200_000) * 256 / 2_048;
    let (aqm, values) =
        red(&json!({"max_threshold": 200_000, "probability_slope": slope, "ecn": false, "by_size": true}));
    let (program, nic) = (by_program("red", &values), by_nic(Some(aqm)));
    let early = |report: &Report, class: &str| {
        let queues = report.nic_queues.get(class).map_or(0, |counts| counts.early_dropped);
        let counts = &report.classes[class];
        (queues as f64, 1.0 - counts.delivered.packets as f64 / counts.sent.packets as f64)
    };
    let (data, ack) = (early(&nic, "data"), early(&nic, "ack"));
    assert!(data.0 > 100.0 && data.1 > 20.0 * ack.1 / 2.0, "{data:?} {ack:?}");
    assert!((data.1 - early(&program, "data").1).abs() < 0.03, "{data:?}");
    assert!((ack.1 - early(&program, "ack").1).abs() < 0.03, "{ack:?}");
}

#[test]
fn between_the_thresholds_red_marks_with_the_probability_of_the_line() {
    // Half the frames that find the middle of the line; what is measured is the share over the whole line.
    let slope = (1_u64 << 48) / 40_000;
    let (aqm, values) =
        red(&json!({"min_threshold": 10_000, "max_threshold": 50_000, "probability_slope": slope,
                                    "protect": "ack_syn"}));
    let (program, nic) = (by_program("red", &values), by_nic(Some(aqm)));
    for class in ["data", "ack"] {
        let ce = |report: &Report| report.classes[class].delivered_ce as f64;
        let (program, nic) = (ce(&program), ce(&nic));
        // Two draws of thousands of Bernoulli trials; different streams. Five standard deviations of the difference.
        assert!((program - nic).abs() <= 5.0 * (2.0 * program.max(1.0)).sqrt(), "{class}: {program} {nic}");
        assert!(class == "ack" || program > 300.0);
    }
}
