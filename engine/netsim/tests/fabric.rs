//! Whole fabrics that run the compiled P4 program: times computed by hand, books that balance, EEE against the
//! plain state machine, and the same bytes again.

mod common;

use common::{eee_values, register, LeafSpine, PortSettings, GIGABIT, PLAIN, TEN_GIGABIT};
use netsim::eee::{Eee, EeeParams};
use netsim::spec::{NicEeeSpec, NicSpec};
use netsim::{Fabric, Report, SendError};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Bytes, DataRate, Duration, Time};
use wire::tcp::{ACK, SYN};
use wire::Ecn;

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

const FOREVER: Time = Time::from_ps(1 << 60);

fn send(fabric: &mut Fabric, host: usize, at: Time, frame: &[u8]) {
    fabric.send(host, at, frame, frame.len()).unwrap();
}

fn finish(fabric: &mut Fabric) -> Report {
    assert!(fabric.run_to_idle(FOREVER), "the fabric comes to rest");
    fabric.report().unwrap()
}

/// Segments between random hosts at random times, most of a full 1514 bytes, in order of time.
fn random_traffic(
    size: &LeafSpine,
    count: usize,
    mean_gap_ps: u64,
    seed: u64,
) -> Vec<(usize, Time, Vec<u8>)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut at = Time::ZERO;
    let hosts = size.host_count() as u64;
    (0..count)
        .map(|_| {
            at += Duration::from_ps(below(2 * mean_gap_ps));
            let from = below(hosts) as usize;
            let to = (from + 1 + below(hosts - 1) as usize) % hosts as usize;
            let (flags, payload, ecn) = match below(10) {
                0 => (SYN, 0, Ecn::NotEct),
                1 | 2 => (ACK, 0, Ecn::NotEct),
                _ => (ACK, 1460, Ecn::Ect0),
            };
            (from, at, size.segment(from, to, flags, payload, ecn))
        })
        .collect()
}

#[test]
fn one_packet_over_two_leaves_and_a_spine_takes_the_time_computed_by_hand() {
    let size = LeafSpine::default();
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    let frame = size.segment(0, 2, ACK, 1460, Ecn::Ect0);
    assert_eq!(frame.len(), 1514);
    send(&mut fabric, 0, us(3), &frame);
    let report = finish(&mut fabric);
    // 1538 bytes on the wire: 12.304 us at 1 Gb/s (NIC and leaf), 1.2304 us at 10 Gb/s (leaf and spine); four
    // propagation delays of 0.5 us.
    let by_hand = 2 * 12_304_000 + 2 * 1_230_400 + 4 * 500_000;
    let latency = report.classes["data"].latency.unwrap();
    assert_eq!((latency.min_ps, latency.mean_ps, latency.max_ps), (by_hand, by_hand, by_hand));
    assert_eq!(report.elapsed_ps, 3_000_000 + by_hand);
    assert_eq!((report.p4_passes, report.conservation.delivered), (3, 1));
}

#[test]
fn a_snapped_frame_travels_with_its_true_length_and_class() {
    let size = LeafSpine::default();
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    let frame = size.segment(0, 1, ACK, 1460, Ecn::Ect0);
    fabric.send(0, us(0), &frame[..64], frame.len()).unwrap();
    let report = finish(&mut fabric);
    assert_eq!(report.classes["data"].delivered.bytes, 1514);
    assert_eq!(report.classes["data"].latency.unwrap().max_ps, 2 * (12_304_000 + 500_000));
}

#[test]
fn under_overload_every_packet_is_accounted_for_and_queues_come_back_to_zero() {
    let size = LeafSpine { leaves: 3, hosts_per_leaf: 4, ..LeafSpine::default() };
    let nic = NicSpec { buffer_bytes: Some(20_000), ..NicSpec::default() };
    let size = LeafSpine { nic, ..size };
    let settings = PortSettings { buffer_bytes: Some(30_000), ..PLAIN };
    let mut fabric = size.fabric(size.spec(), |_| settings.clone());
    // Everybody to host 0, at line rate and beyond.
    for burst in 0..200 {
        for from in 1..size.host_count() {
            let frame = size.segment(from, 0, ACK, 1460, Ecn::Ect0);
            send(&mut fabric, from, us(burst * 10), &frame);
        }
    }
    // In the middle of it the books balance, too.
    fabric.run_until(us(1_000));
    let middle = fabric.report().unwrap();
    assert!(!middle.idle && middle.conservation.queued > 0);
    let report = finish(&mut fabric);
    let books = report.conservation;
    assert_eq!(books.sent, 200 * 11);
    assert!(books.switch_drops > 500 && books.nic_drops > 100, "{books:?}");
    assert_eq!(books.sent, books.delivered + books.switch_drops + books.nic_drops);
    let port = &report.switches[0].ports[0];
    assert!(port.max_queue_bytes <= 30_000, "{}", port.max_queue_bytes);
    for switch in 0..5 {
        for port in 1..=6 {
            assert_eq!(register(&fabric, switch, "occupancy_bytes", port), 0, "switch {switch} port {port}");
        }
    }
    let depth = &report.queue_depth;
    let first = depth.queues.iter().find(|queue| queue.switch == "leaf1" && queue.port == 1).unwrap();
    // A packet that finds the port idle passes through the queue without waiting in it.
    assert!(*first.max_bytes.iter().max().unwrap() > 27_000, "{:?}", first.max_bytes);
}

#[test]
fn a_frame_offered_at_the_instant_at_which_another_leaves_finds_it_still_waiting() {
    let nic = NicSpec { buffer_bytes: Some(1514), ..NicSpec::default() };
    let size = LeafSpine { leaves: 1, spines: 0, nic, ..LeafSpine::default() };
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    let frame = size.segment(0, 1, ACK, 1460, Ecn::NotEct);
    let wire_ps = 12_304_000;
    // The second waits until the first has left the wire; the third comes just then, or a picosecond later.
    for (at, drops) in [(wire_ps, 1), (wire_ps + 1, 0)] {
        let start = fabric.now() + Duration::from_ms(1);
        let before = fabric.conservation().nic_drops;
        for offset in [0, 1, at] {
            send(&mut fabric, 0, start + Duration::from_ps(offset), &frame);
        }
        assert!(fabric.run_to_idle(FOREVER));
        assert_eq!(fabric.conservation().nic_drops - before, drops, "{at} ps");
    }
}

#[test]
fn marks_are_seen_where_packets_arrive_and_nothing_is_dropped() {
    let size = LeafSpine { leaves: 1, hosts_per_leaf: 3, spines: 0, ..LeafSpine::default() };
    let settings = PortSettings { aqm: Some(("mark_threshold", vec![15_000, 0xffff_ffff, 0])), ..PLAIN };
    let mut fabric = size.fabric(size.spec(), |_| settings.clone());
    for round in 0..40 {
        for from in [1, 2] {
            let frame = size.segment(from, 0, ACK, 1460, Ecn::Ect0);
            send(&mut fabric, from, us(round * 13), &frame);
        }
    }
    let report = finish(&mut fabric);
    let data = &report.classes["data"];
    assert_eq!(data.delivered.packets, 80);
    // Counter `verdicts`: port 1, class data, verdict marked.
    let marked = fabric.switch(0).state().read_counters("verdicts", 1 << 6 | 1).unwrap().packets;
    assert!(marked > 10, "{marked}");
    assert_eq!(data.delivered_ce, marked);
}

#[test]
fn what_no_route_leads_to_is_dropped_and_what_arrives_at_the_wrong_host_is_told() {
    let size = LeafSpine { leaves: 1, hosts_per_leaf: 2, spines: 0, ..LeafSpine::default() };
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    // The switch believes that 10.0.1.200 is host 2.
    common::add_route(&mut fabric, 0, [10, 0, 1, 200].into(), 32, &[(2, size.mac(1))]);
    let mut frame = size.segment(0, 1, ACK, 100, Ecn::NotEct);
    for last in [200, 201] {
        frame[33] = last;
        frame[24..26].fill(0);
        let sum = wire::checksum::internet(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        send(&mut fabric, 0, us(last.into()), &frame);
    }
    let report = finish(&mut fabric);
    assert_eq!((report.conservation.misdelivered, report.conservation.switch_drops), (1, 1));
    assert_eq!(report.hosts[1].misdelivered, 1);
    assert_eq!(report.switches[0].drops["ingress"], 1);
    assert_eq!(report.classes["data"].delivered.packets, 0);
}

#[test]
fn the_controller_gives_packets_to_a_switch_and_takes_them_from_it() {
    let size = LeafSpine { leaves: 1, hosts_per_leaf: 2, spines: 0, ..LeafSpine::default() };
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    {
        let mut state = fabric.switch_mut(0).state_mut();
        let profile = "eeon_ingress.route.ecmp_selector";
        let member = state.mt_act_prof_add_member(profile, "eeon_ingress.route.to_cpu", &[]).unwrap();
        let key = [bm::MatchKeyParam::Lpm(vec![10, 0, 1, 254], 32)];
        state.mt_indirect_add_entry("eeon_ingress.route.ipv4_route", &key, member, 0).unwrap();
    }
    let mut to_switch = size.segment(0, 1, ACK, 100, Ecn::NotEct);
    to_switch[33] = 254;
    to_switch[24..26].fill(0);
    let sum = wire::checksum::internet(&to_switch[14..34]);
    to_switch[24..26].copy_from_slice(&sum.to_be_bytes());
    send(&mut fabric, 0, us(1), &to_switch);
    assert!(fabric.run_to_idle(FOREVER));
    let packet_in = fabric.poll_packet_in(0).expect("the packet comes to the controller");
    assert_eq!(packet_in[..2], [0, 0b1000_0000], "ingress port 1 in nine bits, seven of padding");
    assert_eq!(packet_in[2..], to_switch);
    assert_eq!(fabric.poll_packet_in(0), None);

    let mut packet_out = (2_u16 << 7).to_be_bytes().to_vec(); // Egress port 2 in nine bits, seven of padding.
    let mut to_host = size.segment(0, 1, ACK, 100, Ecn::NotEct);
    to_host[..6].copy_from_slice(&size.mac(1));
    packet_out.extend_from_slice(&to_host);
    fabric.packet_out(0, &packet_out).unwrap();
    let report = finish(&mut fabric);
    let books = report.conservation;
    assert_eq!((books.packet_ins, books.packet_outs, books.delivered), (1, 1, 1), "{books:?}");
}

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
            (Some(now), arrival) if arrival.map_or(true, |arrival| now < *arrival) => {
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

/// A busy fabric with everything on.
fn busy(batch: Duration, seed: u64) -> Report {
    let size = LeafSpine {
        leaves: 3,
        hosts_per_leaf: 4,
        eee: true,
        nic: NicSpec {
            eee: Some(NicEeeSpec { hold_ps: 12_000_000, trigger_packets: 10, ..NicEeeSpec::default() }),
            buffer_bytes: Some(100_000),
        },
        ..LeafSpine::default()
    };
    let settings = |rate_bps| PortSettings {
        buffer_bytes: Some(40_000),
        // Marks with a probability that grows from 0 at 5 kB to 1/2 at 20 kB, not averaged.
        aqm: Some(("red", vec![5_000, 20_000, (1 << 47) / 15_000, 0, 0, 1, 2])),
        eee: Some(eee_values(rate_bps, if rate_bps == GIGABIT { 12 } else { 120 }, 10)),
    };
    let mut spec = size.spec();
    spec.seed = seed;
    let mut fabric = size.fabric(spec, settings);
    let mut end = Time::ZERO;
    for (from, at, frame) in random_traffic(&size, 4_000, 1_500_000, 5) {
        while at >= end {
            fabric.run_until(end);
            end += batch;
        }
        send(&mut fabric, from, at, &frame);
    }
    finish(&mut fabric)
}

fn bytes(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

#[test]
fn every_phy_of_a_busy_fabric_sleeps_without_a_violation() {
    let report = busy(Duration::from_us(100), 1);
    assert_eq!(report.energy.total.violations, 0);
    assert!(report.energy.total.wakes > 100);
    let layers: Vec<_> = report.energy.layers.keys().copied().collect();
    assert_eq!(layers, ["host_nic", "leaf_to_host", "leaf_to_spine", "spine_to_leaf"]);
    for (name, layer) in &report.energy.layers {
        assert!(layer.ideal_joules < layer.used_joules && layer.used_joules < layer.legacy_joules, "{name}");
        let shares = layer.active_share + layer.sleep_share + layer.lpi_share + layer.wake_share;
        assert!((shares - 1.0).abs() < 1e-9, "{name}");
    }
    let marks: u64 = report.classes.values().map(|class| class.delivered_ce).sum();
    assert!(marks > 0 && report.conservation.delivered > 3_000);
}

#[test]
fn the_same_frames_in_other_batches_give_the_same_report() {
    assert_eq!(bytes(&busy(Duration::from_us(10), 1)), bytes(&busy(Duration::from_ms(50), 1)));
}

#[test]
fn another_seed_draws_other_marks() {
    assert_ne!(bytes(&busy(Duration::from_us(100), 1)), bytes(&busy(Duration::from_us(100), 2)));
}

#[test]
fn another_process_gives_the_same_report() {
    const TO: &str = "NETSIM_TEST_REPORT_TO";
    let report = bytes(&busy(Duration::from_us(100), 1));
    if let Some(path) = std::env::var_os(TO) {
        std::fs::write(path, report).unwrap();
        return;
    }
    let path = std::env::temp_dir().join(format!("netsim-report-{}.json", std::process::id()));
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process_gives_the_same_report"])
        .env(TO, &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let other = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(report, other);
}

#[test]
fn frames_that_cannot_be_are_refused_with_their_numbers() {
    let size = LeafSpine { leaves: 1, spines: 0, ..LeafSpine::default() };
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    let frame = size.segment(0, 1, ACK, 0, Ecn::NotEct);
    send(&mut fabric, 0, us(5), &frame);
    let late = fabric.send(0, us(4), &frame, frame.len()).unwrap_err().to_string();
    assert!(late.contains("4us") && late.contains("5us"), "{late}");
    assert!(matches!(
        fabric.send(9, us(5), &frame, 60),
        Err(SendError::NoSuchNode { index: 9, count: 2, .. })
    ));
    assert!(matches!(fabric.send(0, us(5), &frame, 59), Err(SendError::Length { .. })));
    assert!(matches!(fabric.send(0, us(5), &frame[..10], 13), Err(SendError::Length { .. })));
    assert!(matches!(fabric.send(0, us(5), &frame, 65_536), Err(SendError::Length { .. })));
    assert!(matches!(fabric.send(0, Time::MAX, &frame, 60), Err(SendError::BeyondEnd { .. })));
    fabric.run_until(us(10));
    assert!(matches!(fabric.send(0, us(9), &frame, 60), Err(SendError::Late { .. })));
}
