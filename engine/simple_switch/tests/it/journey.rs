//! The steps recorded of followed packets, on probe.p4 (whose script has more of them) and the E-EON program.

use std::sync::Arc;

use crate::support::*;
use bm::{Executable, Program};
use simple_switch::hops::HopFilter;
use simple_switch::{DropCause, Journey, PortConfig, Switch, What};
use units::{DataRate, Duration, Time};

const TAG: u64 = 5;

/// Returns the steps as (packet, a word).
pub fn words(journey: &Journey) -> Vec<(u32, String)> {
    let word = |what: &What| match what {
        What::Arrived { port, .. } => format!("arrived {port}"),
        What::Parsed { .. } => "parsed".into(),
        What::Ingress { .. } => "ingress".into(),
        What::Egress { .. } => "egress".into(),
        What::Copied { to } => format!("copied {to}"),
        What::NotCopied { cause } => format!("not copied: {}", cause.name()),
        What::Clone { session, egress } => format!("clone {session} {egress}"),
        What::NoCloneSession { session } => format!("no session {session}"),
        What::Replica { group, rid, port } => format!("replica {group} {rid} {port}"),
        What::Resubmitted => "resubmitted".into(),
        What::Queued { port, .. } => format!("queued {port}"),
        What::Dequeued { port } => format!("dequeued {port}"),
        What::Deparsed { .. } => "deparsed".into(),
        What::Recirculated { .. } => "recirculated".into(),
        What::Dropped { cause, .. } => format!("dropped: {}", cause.name()),
        What::Sent { port, .. } => format!("sent {port}"),
    };
    journey.steps.iter().map(|step| (step.packet, word(&step.what))).collect()
}

fn of_packet(journey: &Journey, packet: u32) -> Vec<String> {
    words(journey).into_iter().filter(|(p, _)| *p == packet).map(|(_, word)| word).collect()
}

fn follow(switch: &mut Switch, request: Request) -> Journey {
    switch.follow(TAG);
    switch.handle_packet(us(1), 0, &request.bytes(), TAG);
    run_to_idle(switch, Time::MAX);
    switch.take_journey()
}

#[test]
fn nothing_is_told_of_other_tags_nor_after_stopping_nor_of_another_program() {
    let stops: [fn(&mut Switch); 3] =
        [|_| (), Switch::stop_following, |switch| switch.load_program(probe()).unwrap()];
    for (tag, stop) in [TAG + 1, TAG, TAG].into_iter().zip(stops) {
        let mut switch = switch_with(|_| ());
        switch.follow(TAG);
        stop(&mut switch);
        switch.handle_packet(us(1), 0, &Request::to(1).bytes(), tag);
        assert_eq!(switch.take_journey(), Journey::default());
    }
}

#[test]
fn drops_are_told_and_counted() {
    for (op, port, cause) in [
        (op::INGRESS_DROP, 0, DropCause::Ingress),
        (op::EGRESS_DROP, 1, DropCause::Egress),
        (op::ASSERT, 0, DropCause::ProgramFault),
    ] {
        let mut switch = switch_with(|_| ());
        let told = of_packet(&follow(&mut switch, Request::op(op)), 0);
        assert_eq!(*told.last().unwrap(), format!("dropped: {}", cause.name()));
        assert_eq!(switch.port_stats(port).drops.get(cause), 1, "{}", cause.name());
    }
}

#[test]
fn a_frame_from_a_port_without_a_link_is_told_as_refused() {
    let mut switch = switch_with(|_| ());
    switch.follow(TAG);
    switch.handle_packet(us(1), 300, &Request::to(1).bytes(), TAG);
    assert_eq!(of_packet(&switch.take_journey(), 0), ["arrived 300", "dropped: no_such_port"]);
}

#[test]
fn a_packet_that_waits_is_told_what_is_ahead_of_it_and_counts_as_inside() {
    let mut switch = switch_with(|config| {
        config.ports[1] = PortConfig {
            queue_limit_packets: Some(2),
            ..PortConfig::ethernet(1, DataRate::from_bps(1_000_000_000))
        };
    });
    for _ in 0..2 {
        switch.handle_packet(us(1), 0, &Request::to(1).bytes(), 0);
    }
    switch.follow(TAG);
    for _ in 0..2 {
        switch.handle_packet(us(1), 0, &Request::to(1).bytes(), TAG);
    }
    let journey = switch.take_journey();
    assert_eq!(journey.inside, 1);
    let queued = journey.steps.iter().find_map(|step| match &step.what {
        What::Queued { packets_ahead, bytes_ahead, wire_free, .. } => {
            Some((*packets_ahead, *bytes_ahead, *wire_free))
        }
        _ => None,
    });
    // The first is on the wire: 30 bytes, the report's 56 and Ethernet's 24, 8 ns each.
    assert_eq!(queued, Some((1, 30, us(1) + Duration::from_ns(110 * 8))));
    assert_eq!(of_packet(&journey, 1).last().unwrap(), "dropped: queue_full");
    run_to_idle(&mut switch, Time::MAX);
    let rest = switch.take_journey();
    assert_eq!(of_packet(&rest, 0)[0], "dequeued 1");
    assert_eq!(rest.inside, 0);
}

#[test]
fn a_negative_field_is_told_as_its_bits() {
    let json = include_bytes!("../constructs/log_messages.json");
    let program = Executable::new(Program::from_json_for_tracing(json).unwrap());
    let mut switch = Switch::new(program, unlimited()).unwrap();
    let fields = vec![("request".to_owned(), "b".to_owned())];
    switch.record_hops(HopFilter { fields, ..HopFilter::default() }, 0).unwrap();
    switch.follow(TAG);
    switch.handle_packet(us(1), 0, &[7, 0xf9], TAG);
    let told = serde_json::to_string(&switch.take_journey()).unwrap();
    assert!(told.contains(r#"{"name":"b","width":8,"value":249}"#), "{told}");
    assert!(told.contains(r#""request.b":249"#), "{told}");
    assert_eq!(switch.take_hops().unwrap().values[0], 249);
}

/// Frames that leave a switch with the E-EON program, port 2 at 1 Gbit/s with a short buffer, marks and EEE.
fn departures(program: Arc<Executable>, followed: bool) -> Vec<(u16, Time, Vec<u8>)> {
    let config = crate::support::eeon::config(1..=4, 1_000_000_000);
    let mut switch = Switch::new(program, config).unwrap();
    crate::support::eeon::route(&mut switch.state_mut(), 2, &[2]);
    crate::support::eeon::mark_above(&mut switch.state_mut(), 2, 3000);
    if followed {
        switch.follow(TAG);
    }
    for nth in 0..40u64 {
        let frame =
            crate::support::eeon::tcp_frame(if nth % 7 == 0 { 99 } else { 2 }, nth as u8, 2, 1000, 1000);
        switch.handle_packet(Time::ZERO + Duration::from_ns(nth * 700), 1, &frame, TAG);
    }
    run_to_idle(&mut switch, Time::MAX);
    assert_eq!(switch.take_journey().steps.is_empty(), !followed);
    assert_eq!(switch.stats().drops.get(DropCause::Ingress), 6);
    transmits(&mut switch).into_iter().map(|t| (t.port, t.at, t.frame.to_vec())).collect()
}

#[test]
fn a_followed_switch_does_what_one_that_is_not_followed_does() {
    let json = include_bytes!("../../../../p4src/compiled/eeon.json");
    let traced = Executable::new(Program::from_json_for_tracing(json).unwrap());
    let plain = departures(crate::support::eeon::program(), false);
    assert_eq!(plain.len(), 34);
    assert_eq!(departures(traced, true), plain);
}
