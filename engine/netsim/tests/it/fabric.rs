//! Whole fabrics that run the compiled P4 program: times computed by hand, and consistent counts.

use crate::common::{finish, register, send, set_checksum, us, LeafSpine, PortSettings, FOREVER, PLAIN};
use netsim::spec::NicSpec;
use netsim::SendError;
use units::{Duration, Time};
use wire::tcp::ACK;
use wire::Ecn;

#[test]
fn one_packet_over_two_leaves_and_a_spine_takes_the_time_computed_by_hand() {
    let size = LeafSpine::default();
    let mut fabric = size.plain();
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
fn under_overload_every_packet_is_accounted_for_and_queues_come_back_to_zero() {
    let size = LeafSpine { leaves: 3, hosts_per_leaf: 4, ..LeafSpine::default() };
    let nic = NicSpec { buffer_bytes: Some(20_000), ..NicSpec::default() };
    let size = LeafSpine { nic, ..size };
    let settings = PortSettings { buffer_bytes: Some(30_000), ..PLAIN };
    let mut fabric = size.fabric(size.spec(), |_| settings.clone());
    // Every other host sends to host 0, at line rate and beyond.
    for burst in 0..200 {
        for from in 1..size.host_count() {
            let frame = size.segment(from, 0, ACK, 1460, Ecn::Ect0);
            send(&mut fabric, from, us(burst * 10), &frame);
        }
    }
    // The counts are also consistent during the run.
    fabric.run_until(us(1_000));
    let middle = fabric.report().unwrap();
    assert!(!middle.idle && middle.conservation.queued > 0);
    let report = finish(&mut fabric);
    let counts = report.conservation;
    assert_eq!(counts.sent, 200 * 11);
    assert!(counts.switch_drops > 500 && counts.nic_drops > 100, "{counts:?}");
    assert_eq!(counts.sent, counts.delivered + counts.switch_drops + counts.nic_drops);
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
    let mut fabric = size.plain();
    let frame = size.segment(0, 1, ACK, 1460, Ecn::NotEct);
    let wire_ps = 12_304_000;
    // The second waits until the first has left the wire; the third arrives just then, or a picosecond later.
    for (at, drops) in [(wire_ps, 1), (wire_ps + 1, 0)] {
        let start = fabric.now() + Duration::from_ms(1);
        let before = fabric.report().unwrap().conservation.nic_drops;
        for offset in [0, 1, at] {
            send(&mut fabric, 0, start + Duration::from_ps(offset), &frame);
        }
        assert_eq!(finish(&mut fabric).conservation.nic_drops - before, drops, "{at} ps");
    }
}

#[test]
fn what_no_route_leads_to_is_dropped_and_what_arrives_at_the_wrong_host_is_told() {
    let size = LeafSpine { leaves: 1, hosts_per_leaf: 2, spines: 0, ..LeafSpine::default() };
    let mut fabric = size.plain();
    // The switch routes 10.0.1.200 to host 2.
    crate::common::add_route(&mut fabric, 0, [10, 0, 1, 200].into(), 32, &[(2, size.mac(1))]);
    let mut frame = size.segment(0, 1, ACK, 100, Ecn::NotEct);
    for last in [200, 201] {
        frame[33] = last;
        set_checksum(&mut frame);
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
    let mut fabric = size.plain();
    {
        let mut state = fabric.switch_mut(0).state_mut();
        let profile = "eeon_ingress.route.ecmp_selector";
        let member = state.mt_act_prof_add_member(profile, "eeon_ingress.route.to_cpu", &[]).unwrap();
        let key = [bm::MatchKeyParam::Lpm(vec![10, 0, 1, 254], 32)];
        state.mt_indirect_add_entry("eeon_ingress.route.ipv4_route", &key, member, 0).unwrap();
    }
    let mut to_switch = size.segment(0, 1, ACK, 100, Ecn::NotEct);
    to_switch[33] = 254;
    set_checksum(&mut to_switch);
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
    let counts = report.conservation;
    assert_eq!((counts.packet_ins, counts.packet_outs, counts.delivered), (1, 1, 1), "{counts:?}");
}

#[test]
fn who_listens_to_a_host_hears_a_frame_when_it_arrives_and_may_answer_in_that_instant() {
    let size = LeafSpine::default();
    let mut fabric = size.plain();
    fabric.listen(1, true).unwrap();
    let (asked, answer) = (size.segment(0, 1, ACK, 100, Ecn::Ect0), size.segment(1, 0, ACK, 100, Ecn::Ect0));
    send(&mut fabric, 0, us(1), &asked);
    // 178 bytes on the wire twice at 1 Gb/s, and two propagation delays.
    let arrival = us(1) + Duration::from_ps(2 * 178 * 8_000 + 2 * 500_000);
    assert!(!fabric.run_until_heard(arrival), "what is due at the limit has not happened yet");
    assert!(fabric.run_until_heard(FOREVER));
    assert_eq!(fabric.now(), arrival);
    let heard = fabric.poll_heard().unwrap();
    assert_eq!((heard.at, heard.host, heard.frame.len()), (arrival, 1, asked.len()));
    assert_eq!(fabric.poll_heard(), None);
    send(&mut fabric, 1, arrival, &answer);
    assert!(!fabric.run_until_heard(us(100)), "host 0 is not listened to");
    assert_eq!(fabric.now(), us(100));
    assert_eq!(finish(&mut fabric).conservation.delivered, 2);
    assert_eq!(fabric.heard_lost(), 0);
}

#[test]
fn with_a_limit_in_packets_a_port_drops_what_does_not_fit() {
    let size = LeafSpine::default();
    let mut spec = size.spec();
    spec.queue_limit_packets = Some(2);
    let mut fabric = size.fabric(spec, |_| PLAIN);
    // Two hosts of the other leaf send as much as the port to host 0 takes, each.
    for burst in 0..10 {
        for from in [2, 3] {
            send(&mut fabric, from, us(burst * 13), &size.segment(from, 0, ACK, 1460, Ecn::Ect0));
        }
    }
    let report = finish(&mut fabric);
    assert!(report.conservation.switch_drops >= 5, "{:?}", report.conservation);
    assert_eq!(report.conservation.delivered + report.conservation.switch_drops, 20);
}

#[test]
fn frames_that_cannot_be_are_refused_with_their_numbers() {
    let size = LeafSpine { leaves: 1, spines: 0, ..LeafSpine::default() };
    let mut fabric = size.plain();
    let frame = size.segment(0, 1, ACK, 0, Ecn::NotEct);
    send(&mut fabric, 0, us(5), &frame);
    let late = fabric.send(0, us(4), &frame, frame.len()).unwrap_err().to_string();
    assert!(late.contains("4us") && late.contains("5us"), "{late}");
    for (host, at, captured, length, reason) in [
        (9, us(5), 60, 60, "no host number 9: the fabric has 2"),
        (0, us(5), 60, 59, "a frame of 59 bytes, 60 of them given: a frame has 14 to "),
        (0, us(5), 10, 13, "a frame of 13 bytes, 10 of them given: a frame has 14 to "),
        (0, us(5), 60, 65_536, "a frame of 65536 bytes, 60 of them given: a frame has 14 to "),
        (0, Time::MAX, 60, 60, "is beyond the longest run, "),
    ] {
        let error = fabric.send(host, at, &frame[..captured], length).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    fabric.run_until(us(10));
    assert!(matches!(fabric.send(0, us(9), &frame, 60), Err(SendError::Late { .. })));
}
