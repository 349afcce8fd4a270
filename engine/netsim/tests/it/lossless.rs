//! A lossless class on whole fabrics: with the headroom of `docs/models/pfc.md` no packet of it is dropped, whatever the load,
//! and with three quarters of it some are.

use crate::common::eeon::pause_frame;
use crate::common::greedy::star;
use crate::common::{
    classes, copies, eee_values, finish, lossless, pausable, register, send, us, with_dscp, LeafSpine,
    PortSettings, GIGABIT, LOOP_PS, PLAIN, TEN_GIGABIT,
};
use netsim::{Fabric, Report};
use proptest::prelude::*;
use units::Time;
use wire::tcp::ACK;
use wire::Ecn;

const DSCP: u8 = 26;
const PRIORITY: u8 = 3;
/// The longest frame, and what is added to one on the wire.
const LONGEST: u64 = 1514;
const OVERHEAD: u64 = 24;
const PAUSE_FRAME: u64 = 60;
const HOLD_PACKETS: u64 = 10;

#[derive(Clone, Debug)]
struct Case {
    size: LeafSpine,
    /// How long a sleeping port holds packets, unless ten wait; none where it does not sleep.
    hold_us: Option<u64>,
    /// What XOFF allows a group beside its headroom.
    xoff_bytes: u64,
    /// Packets of each host to the first one: gap before it in ns, payload.
    load: Vec<(u64, usize)>,
    /// Packets of the first host to the others, which pauses have to wait for: gap in ns.
    reverse: Vec<u64>,
}

/// Bytes that may still come after a group has passed XOFF, and those by which it may have passed it.
fn headroom(size: &LeafSpine, bps: u64) -> u64 {
    // A hold does not count: the pause ends it.
    let sleep_ns: u64 = if size.eee { eee_values(bps, 0, 0)[..2].iter().sum() } else { 0 };
    let away = u128::from(2 * size.delay_ps + LOOP_PS + sleep_ns * 1_000) * u128::from(bps);
    let away = u64::try_from(away.div_ceil(8_000_000_000_000)).unwrap();
    away + 2 * (LONGEST + OVERHEAD) + PAUSE_FRAME + OVERHEAD + LONGEST
}

/// Makes priority 3 lossless at every port of every switch; `group` gives XOFF and limit for the rate of a port.
fn fabric(
    size: &LeafSpine,
    hold_us: Option<u64>,
    others: &[(u8, u8)],
    group: impl Fn(u64) -> [u64; 2],
) -> Fabric {
    let mut spec = size.spec();
    pausable(&mut spec, DSCP, PRIORITY);
    let settings = |bps| {
        let eee = hold_us.map(|hold_us| eee_values(bps, hold_us, HOLD_PACKETS));
        PortSettings { eee, ..PLAIN }
    };
    let mut fabric = size.fabric(spec, settings);
    for switch in 0..size.switch_count() {
        classes(&mut fabric, switch, &[&[(DSCP, PRIORITY)], others].concat());
        copies(&mut fabric, switch);
    }
    for (switch, port, bps) in size.ports() {
        let [xoff, limit] = group(bps);
        let xon = xoff.saturating_sub(2 * LONGEST);
        lossless(&mut fabric, switch, port, bps, PRIORITY, [xoff, xon, limit]);
    }
    fabric
}

/// Returns the packets of the lossless class at a port in one of the program's counters.
fn packets(fabric: &Fabric, counter: &str, switch: usize, port: u16) -> u64 {
    let cell = u64::from(port << 3 | u16::from(PRIORITY));
    fabric.switch(switch).state().read_counters(counter, cell).unwrap().packets
}

/// Returns the same at all ports.
fn all_packets(size: &LeafSpine, fabric: &Fabric, counter: &str) -> u64 {
    size.ports().map(|(switch, port, _)| packets(fabric, counter, switch, port)).sum()
}

fn delivered(report: &Report) -> u64 {
    report.classes.values().map(|class| class.delivered.packets).sum()
}

/// What has been dropped of the class, and pauses sent, on all switches.
struct Outcome {
    report: Report,
    dropped: u64,
    pauses: u64,
}

fn run(case: &Case, share: u64) -> (Fabric, Outcome) {
    run_frames(case, share, incast(case))
}

/// What a case's hosts send: time in ps, host, frame.
fn incast(case: &Case) -> Vec<(u64, usize, Vec<u8>)> {
    let size = &case.size;
    let mut frames = Vec::new();
    for host in 1..size.host_count() {
        let mut at = 1_000_000 * host as u64;
        for (gap, payload) in &case.load {
            at += gap * 1_000;
            let frame = size.segment(host, 0, ACK, *payload, Ecn::NotEct);
            frames.push((at, host, with_dscp(frame, DSCP)));
        }
    }
    let mut at = 0;
    for (number, gap) in case.reverse.iter().enumerate() {
        at += gap * 1_000;
        let to = 1 + number % (size.host_count() - 1);
        frames.push((at, 0, size.segment(0, to, ACK, 1460, Ecn::NotEct)));
    }
    frames
}

/// `share` of the headroom, in quarters.
fn run_frames(case: &Case, share: u64, mut frames: Vec<(u64, usize, Vec<u8>)>) -> (Fabric, Outcome) {
    let (size, xoff) = (&case.size, case.xoff_bytes);
    let group = |bps| [xoff, xoff + headroom(size, bps) * share / 4];
    let mut fabric = fabric(size, case.hold_us, &[], group);
    frames.sort_by_key(|(at, host, _)| (*at, *host));
    for (at, host, frame) in frames {
        send(&mut fabric, host, Time::from_ps(at), &frame);
    }
    let report = finish(&mut fabric);
    let [dropped, pauses] =
        ["lossless_dropped", "pauses_sent"].map(|counter| all_packets(size, &fabric, counter));
    (fabric, Outcome { report, dropped, pauses })
}

fn assert_at_rest(size: &LeafSpine, fabric: &Fabric) -> Result<(), TestCaseError> {
    for (switch, port, _) in size.ports() {
        let port = u64::from(port);
        prop_assert_eq!(register(fabric, switch, "occupancy_bytes", port), 0);
        for queue in port << 3..(port + 1) << 3 {
            for name in ["ingress_bytes", "pause_sent_at", "pause_timer", "queue_bytes", "class_gate_open_at"]
            {
                prop_assert_eq!(register(fabric, switch, name, queue), 0, "{}[{}]", name, queue);
            }
        }
    }
    Ok(())
}

fn cases() -> impl Strategy<Value = Case> {
    let size = (1..4_usize, 1..3_usize, 2..5_usize, prop_oneof![Just(GIGABIT), Just(TEN_GIGABIT)]);
    let load = prop::collection::vec((prop_oneof![3 => Just(0), 1 => 0..40_000_u64], 0..1_461_usize), 1..80);
    let reverse = prop::collection::vec(0..13_000_u64, 0..200);
    // A pause of 65,535 quanta lasts 3.4 ms at 10 Gbit/s; a hold is to be below half of it.
    let hold_us = prop_oneof![Just(None), Just(Some(0)), (1..1_600_u64).prop_map(Some)];
    let other = (0..5_000_000_u64, hold_us, 0..20_000_u64);
    (size, other, load, reverse).prop_map(
        |((leaves, spines, hosts_per_leaf, uplink_bps), (delay_ps, hold_us, xoff_bytes), load, reverse)| {
            let eee = hold_us.is_some();
            let size = LeafSpine {
                leaves,
                spines,
                hosts_per_leaf,
                uplink_bps,
                delay_ps,
                eee,
                ..LeafSpine::default()
            };
            Case { size, hold_us, xoff_bytes, load, reverse }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    /// Nothing of the class is lost, and in the end every account is empty and nobody is paused.
    #[test]
    fn with_its_headroom_no_packet_of_a_lossless_class_is_dropped(case in cases()) {
        let (fabric, outcome) = run(&case, 4);
        prop_assert_eq!(outcome.dropped, 0, "{} pauses", outcome.pauses);
        let sent = (case.size.host_count() - 1) * case.load.len() + case.reverse.len();
        prop_assert_eq!(delivered(&outcome.report), sent as u64);
        assert_at_rest(&case.size, &fabric)?;
    }
}

/// Senders at line rate, and a reverse direction that is never idle.
fn adversarial() -> Case {
    Case {
        size: LeafSpine {
            leaves: 1,
            spines: 1,
            hosts_per_leaf: 4,
            uplink_bps: GIGABIT,
            ..LeafSpine::default()
        },
        hold_us: None,
        xoff_bytes: 3 * LONGEST,
        load: vec![(0, 1460); 400],
        reverse: (0..3_000).map(|number| 12_304 + number % 7).collect(),
    }
}

#[test]
fn three_quarters_of_the_headroom_are_too_little() {
    let (_, whole) = run(&adversarial(), 4);
    assert!(whole.pauses > 100, "{} pauses", whole.pauses);
    assert_eq!(whole.dropped, 0);
    let (_, less) = run(&adversarial(), 3);
    assert!(less.dropped > 0);
}

/// All hosts but the twelve receivers send full frames without a gap, to one receiver after the other: twelve at once send to
/// each, and the leaves' uplinks are offered more than they carry.
fn shuffle_at_line_rate(size: &LeafSpine) -> Vec<(u64, usize, Vec<u8>)> {
    const RECEIVERS: usize = 12;
    const FRAMES_EACH: usize = 3;
    let hosts = size.host_count();
    let receiver = |number: usize| number % RECEIVERS * hosts / RECEIVERS;
    let senders = (0..hosts).filter(|host| (0..RECEIVERS).all(|number| receiver(number) != *host));
    let rounds = senders.flat_map(|host| (0..RECEIVERS).map(move |round| (host, receiver(host + round))));
    let frames = rounds.flat_map(|(from, to)| {
        let frame = with_dscp(size.segment(from, to, ACK, 1460, Ecn::NotEct), DSCP);
        std::iter::repeat_n((0, from, frame), FRAMES_EACH)
    });
    frames.collect()
}

#[test]
fn a_shuffle_of_160_hosts_at_line_rate_loses_nothing_with_its_headroom_and_something_with_three_quarters_of_it(
) {
    let size = LeafSpine { leaves: 4, hosts_per_leaf: 40, ..LeafSpine::default() };
    let case = Case { size, ..adversarial() };
    let frames = shuffle_at_line_rate(&size);
    let sent = frames.len() as u64;
    let (fabric, whole) = run_frames(&case, 4, frames.clone());
    assert!(whole.pauses > 1_000, "{} pauses", whole.pauses);
    assert_eq!(whole.dropped, 0);
    assert_eq!(delivered(&whole.report), sent);
    assert_at_rest(&size, &fabric).unwrap();
    let (_, less) = run_frames(&case, 3, frames);
    assert!(less.dropped > 0);
}

/// A fabric whose priority 3 is lossless, with all of its headroom below `limit` bytes of each group.
fn limited(size: &LeafSpine, limit: u64, others: &[(u8, u8)]) -> Fabric {
    fabric(size, None, others, |bps| [limit - headroom(size, bps), limit])
}

/// Hosts send full frames of a DSCP to the first one, at 10 Gb/s without a gap between them.
fn at_line_rate(size: &LeafSpine, fabric: &mut Fabric, senders: &[(usize, u8)], count: u64) {
    for number in 0..count {
        for (from, dscp) in senders {
            let frame = with_dscp(size.segment(*from, 0, ACK, 1460, Ecn::NotEct), *dscp);
            send(fabric, *from, Time::from_ps(1_230_400 * number), &frame);
        }
    }
}

#[test]
fn a_class_above_at_line_rate_makes_no_pause_run_out() {
    let size = star(2);
    const VOICE: u8 = 46;
    let mut fabric = limited(&size, 100_000, &[(VOICE, 5)]);
    // 12 ms; a pause is 3.4 ms.
    at_line_rate(&size, &mut fabric, &[(1, DSCP), (2, VOICE)], 9_750);
    fabric.run_until(us(11_900));
    // One when it was too much, and one each half of a pause.
    assert_eq!(packets(&fabric, "pauses_sent", 0, 2), 1 + 11_900 / 1_678);
    finish(&mut fabric);
    assert_eq!(packets(&fabric, "lossless_dropped", 0, 2), 0);
}

#[test]
fn a_class_of_priority_7_at_line_rate_holds_no_pause_back() {
    let size = star(6);
    const CONTROL: u8 = 48;
    let mut fabric = limited(&size, 100_000, &[(CONTROL, 7)]);
    // Three hosts send to the first one, and three others to the first of those.
    for number in 0..4_000 {
        for (from, to, dscp) in
            [1, 2, 3].map(|from| (from, 0, DSCP)).into_iter().chain([4, 5, 6].map(|from| (from, 1, CONTROL)))
        {
            let frame = with_dscp(size.segment(from, to, ACK, 1460, Ecn::NotEct), dscp);
            send(&mut fabric, from, Time::from_ps(1_230_400 * number), &frame);
        }
    }
    finish(&mut fabric);
    assert_eq!(all_packets(&size, &fabric, "lossless_dropped"), 0);
}

#[test]
fn groups_that_wait_longer_than_a_pause_in_one_queue_lose_nothing() {
    let size = LeafSpine {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 10,
        host_bps: TEN_GIGABIT,
        uplink_bps: 4 * TEN_GIGABIT,
        delay_ps: 10_000_000,
        ..LeafSpine::default()
    };
    let mut fabric = limited(&size, 200_000, &[]);
    let senders = [1, 2, 3, 4, 5, 6, 10, 11, 12, 13].map(|host| (host, DSCP));
    at_line_rate(&size, &mut fabric, &senders, 1_000);
    assert_eq!(delivered(&finish(&mut fabric)), 10_000);
}

#[test]
fn a_port_whose_packets_a_pause_holds_is_awake_for_the_program_and_for_its_phy() {
    // The second leaf's uplink is paused by the spine, and its port by the first leaf.
    let size = LeafSpine { leaves: 2, eee: true, ..adversarial().size };
    let case = Case { size, hold_us: Some(0), reverse: Vec::new(), ..adversarial() };
    let (fabric, outcome) = run(&case, 4);
    assert!(outcome.pauses > 10, "{} pauses", outcome.pauses);
    let end_ticks = outcome.report.elapsed_ps / 1_000;
    let mut held = 0;
    for switch in 0..3 {
        let name = &outcome.report.switches[switch].name;
        for one in outcome.report.energy.transmitters.iter().filter(|one| one.node == *name) {
            let of = |register_name: &str| register(&fabric, switch, register_name, one.port.into());
            let sleep = eee_values(GIGABIT, 0, 0)[0];
            // The program counts a sleep when it has ended.
            let last = (end_ticks - of("busy_until")).saturating_sub(sleep);
            let (counted, seen) = (of("lpi_ticks") + last, one.lpi_ps / 1_000);
            assert_eq!(of("wakes"), one.wakes, "{name}:{}", one.port);
            assert!(counted.abs_diff(seen) <= 2 * (one.wakes + 1), "{name}:{}: {counted}, {seen}", one.port);
            held += u64::from(one.wakes > 0);
        }
    }
    assert!(held > 2);
    assert_eq!(outcome.report.energy.total.violations, 0);
}

#[test]
fn the_report_says_how_often_and_for_how_long_a_queue_was_paused() {
    let size = LeafSpine { hosts_per_leaf: 2, ..adversarial().size };
    let case = Case { size, ..adversarial() };
    // 1000 quanta at 1 Gbit/s are 512 us: once alone, and twice without a gap, which an end cuts short.
    let frames = [(0, 1000), (2_000, 1000), (2_256, 1000), (2_356, 0)];
    let frames = frames.map(|(at_us, quanta)| (at_us * 1_000_000, 0, pause_frame(&[(PRIORITY, quanta)])));
    let (_, outcome) = run_frames(&case, 4, frames.to_vec());
    let [queue] = &outcome.report.pauses[..] else { panic!("{:?}", outcome.report.pauses) };
    let ends = (queue.node.as_str(), queue.port, queue.peer.as_str(), queue.peer_port, queue.priority);
    assert_eq!(ends, ("leaf1", 1, "h1", 0, PRIORITY));
    assert_eq!(queue.pauses, 3);
    // To the tick of the switch.
    let us = |ps: u64| (ps + 500_000) / 1_000_000;
    assert_eq!((us(queue.paused_ps), us(queue.longest_ps)), (356 + 512, 512));
}

#[test]
fn pauses_of_the_report_are_those_that_the_program_has_counted() {
    let case = adversarial();
    let (fabric, outcome) = run(&case, 4);
    let (mut at_switches, mut at_hosts) = (0, 0);
    for queue in &outcome.report.pauses {
        assert!(0 < queue.longest_ps && queue.longest_ps <= queue.paused_ps);
        assert!(queue.paused_ps < outcome.report.elapsed_ps);
        assert_eq!(queue.priority, PRIORITY);
        *if queue.node.starts_with('h') { &mut at_hosts } else { &mut at_switches } += queue.pauses;
    }
    assert_eq!(at_switches, all_packets(&case.size, &fabric, "pauses_received"));
    // Those that end a pause are obeyed, too.
    let obeyed: u64 = outcome.report.hosts.iter().filter_map(|host| host.pauses).map(|one| one.obeyed).sum();
    assert!(0 < at_hosts && at_hosts < obeyed, "{at_hosts} of {obeyed}");
}
