//! v1model's operations as in `simple_switch`, one packet at a time, with `p4/probe.p4`.

use crate::support::*;
use simple_switch::{
    DropCause, MirroringSession, Replica, Switch, INSTANT_COPIES, INSTANT_LIMIT, MAX_FRAME_BYTES,
};

fn clone_session(switch: &mut Switch, id: u16, egress_port: Option<u16>, mgid: Option<u16>) {
    switch.set_session(id, MirroringSession { egress_port, mgid, ..Default::default() }).unwrap();
}

fn group(switch: &mut Switch, mgid: u16, ports: &[(u16, u16)]) {
    let replica = |&(egress_port, rid): &(u16, u16)| Replica { egress_port, rid };
    switch.pre_mut().set_group(mgid, &ports.iter().map(replica).collect::<Vec<_>>()).unwrap();
}

#[test]
fn a_packet_that_recirculates_too_often_is_dropped_and_counted() {
    let mut switch = switch_with(|c| c.recirculation_limit = 5);
    assert_eq!(ask(&mut switch, us(0), Request { count: 5, ..Request::op(op::RECIRCULATE) }).len(), 1);
    assert_eq!(ask(&mut switch, us(100), Request { count: 6, ..Request::op(op::RECIRCULATE) }), []);
    assert_eq!(switch.port_stats(1).drops.get(DropCause::RecirculationLimit), 1);
}

#[test]
fn a_frame_beyond_the_longest_is_dropped_and_counted_on_arrival_and_when_it_grows() {
    let mut switch = switch_with(|_| ());
    let longest = MAX_FRAME_BYTES - REQUEST_BYTES;
    assert_eq!(ask(&mut switch, us(0), Request { payload: longest + 1, ..Request::to(1) }), []);
    assert_eq!(switch.port_stats(0).drops.get(DropCause::FrameTooLong), 1);
    assert_eq!(ask(&mut switch, us(0), Request { payload: longest, ..Request::to(1) }), []);
    assert_eq!(switch.port_stats(1).drops.get(DropCause::FrameTooLong), 1);
}

#[test]
fn a_clone_session_may_name_a_group_and_a_port() {
    let mut switch = switch_with(|_| ());
    group(&mut switch, 3, &[(4, 1), (5, 2)]);
    clone_session(&mut switch, 8, Some(6), Some(3));
    clone_session(&mut switch, 9, None, Some(3));
    clone_session(&mut switch, 10, None, None);
    let ports = |reports: Vec<Report>| reports.iter().map(|r| (r.port, r.egress_rid)).collect::<Vec<_>>();
    let ask_session = |switch: &mut Switch, argument| {
        ports(ask(switch, us(0), Request { argument, ..Request::op(op::CLONE_INGRESS) }))
    };
    // As in BMv2, the copy to the port has the `egress_rid` of the group's last copy.
    assert_eq!(ask_session(&mut switch, 8), [(1, 0), (4, 1), (5, 2), (6, 2)]);
    assert_eq!(ask_session(&mut switch, 9), [(1, 0), (4, 1), (5, 2)]);
    assert_eq!(ask_session(&mut switch, 10), [(1, 0)]);
    assert_eq!(ask_session(&mut switch, 11), [(1, 0)]);
    assert_eq!(switch.stats().clone_sessions_missing, 1);
    assert_eq!(switch.stats().drops.get(DropCause::NoReplicas), 1);
}

#[test]
fn clone_session_zero_and_the_largest_id_exist_and_the_next_is_refused() {
    let mut switch = switch_with(|_| ());
    let session = MirroringSession { egress_port: Some(4), ..Default::default() };
    [0, 32767].into_iter().for_each(|id| switch.set_session(id, session).unwrap());
    let error = switch.set_session(32768, session).unwrap_err();
    assert_eq!(error.text, "clone session 32768: ids go from 0 to 32767");
    switch.delete_session(0).unwrap();
    assert_eq!(switch.delete_session(0).unwrap_err().code, "SESSION_NOT_FOUND");
    assert!(switch.mirroring().iter().eq([(&32767, &session)]));
}

#[test]
fn a_clone_session_cuts_every_copy_to_its_length_and_leaves_the_original_whole() {
    let mut switch = switch_with(|_| ());
    group(&mut switch, 3, &[(4, 1), (5, 2)]);
    let length = REPORT_BYTES + 2;
    let session = MirroringSession {
        egress_port: Some(6),
        mgid: Some(3),
        packet_length_bytes: length as u32,
        ..Default::default()
    };
    switch.set_session(8, session).unwrap();
    for operation in [op::CLONE_INGRESS, op::CLONE_EGRESS] {
        let request = Request { argument: 8, ..Request::op(operation) };
        switch.handle_packet(us(0), 0, &request.bytes(), 0);
        let lengths: Vec<_> = transmits(&mut switch).iter().map(|t| (t.port, t.frame.len())).collect();
        let whole = request.bytes().len() + REPORT_BYTES;
        assert_eq!(lengths, [(1, whole), (4, length), (5, length), (6, length)]);
    }
}

#[test]
fn a_clone_session_puts_its_copies_into_the_queue_of_its_class_of_service() {
    let session = MirroringSession { egress_port: Some(6), class_of_service: 1, ..Default::default() };
    for (priorities, ports, dropped) in [(1, vec![1], 1), (2, vec![1, 6], 0)] {
        let mut switch = switch_with(|c| c.priorities = priorities);
        switch.set_session(8, session).unwrap();
        let reports = ask(&mut switch, us(0), Request { argument: 8, ..Request::op(op::CLONE_INGRESS) });
        assert_eq!(reports.iter().map(|report| report.port).collect::<Vec<_>>(), ports);
        assert_eq!(switch.stats().drops.get(DropCause::PriorityOutOfRange), dropped);
    }
}

#[test]
fn clones_that_clone_themselves_come_to_an_end_that_is_counted() {
    let mut switch = switch_with(|_| ());
    clone_session(&mut switch, 1, Some(1), None);
    let reports = ask(&mut switch, us(0), Request { argument: 1, ..Request::op(op::CLONE_FOR_EVER) });
    assert_eq!(reports.len(), usize::from(INSTANT_LIMIT) + 1);
    assert_eq!(switch.stats().drops.get(DropCause::InstantLimit), 1);
}

#[test]
fn clones_that_double_at_each_step_come_to_an_end_that_is_counted() {
    let mut switch = switch_with(|_| ());
    group(&mut switch, 9, &[(2, 1), (3, 2)]);
    clone_session(&mut switch, 4, None, Some(9));
    switch.handle_packet(us(0), 0, &Request { argument: 4, ..Request::op(op::CLONE_FOR_EVER) }.bytes(), 0);
    let stats = switch.stats();
    assert!(stats.is_balanced(), "{stats:?}");
    assert_eq!(stats.in_flight, 0);
    assert!(stats.drops.get(DropCause::InstantLimit) > 0);
    assert!(stats.sent > 1000 && stats.sent < 3 * INSTANT_COPIES, "{} were sent", stats.sent);
}

#[test]
fn a_packet_that_is_resubmitted_too_often_is_dropped_and_counted() {
    let mut switch = switch_with(|_| ());
    let limit = INSTANT_LIMIT as u8;
    assert_eq!(ask(&mut switch, us(0), Request { count: limit, ..Request::op(op::RESUBMIT) }).len(), 1);
    assert_eq!(ask(&mut switch, us(0), Request { count: limit + 1, ..Request::op(op::RESUBMIT) }), []);
    assert_eq!(switch.port_stats(0).drops.get(DropCause::InstantLimit), 1);
    assert_eq!(switch.stats().resubmitted, 2 * u64::from(INSTANT_LIMIT));
}

#[test]
fn a_digest_is_handed_out_once_with_its_values() {
    let mut switch = switch_with(|_| ());
    switch.handle_packet(us(0), 5, &Request { count: 0xcc, ..Request::op(op::DIGEST) }.bytes(), 0);
    let digest = switch.poll_digest().expect("a digest");
    assert_eq!(digest.sample, [0, 1, 0, 5, 0xcc]);
    let name = &switch.program().learn_list(digest.learn_list).expect("a learn list").name;
    assert_eq!(name, "sample_t");
    assert_eq!(switch.poll_digest(), None);
    assert_eq!(reports(&mut switch).len(), 1, "the packet goes on");
}

#[test]
fn a_frame_too_short_for_its_parser_goes_on_with_the_error_set() {
    let mut switch = switch_with(|_| ());
    switch.handle_packet(us(0), 0, &[1, 2, 3], 0);
    let reports = reports(&mut switch);
    assert_eq!((reports[0].port, reports[0].parser_error), (1, 1));
    assert_eq!(reports[0].rest, [1, 2, 3]);
    assert_eq!(switch.stats().parser_errors, 1);
}

#[test]
fn a_packet_for_a_port_without_a_link_runs_through_egress_and_is_then_a_counted_drop() {
    let mut switch = switch_with(|_| ());
    assert_eq!(ask(&mut switch, us(0), Request::to(300)), []);
    assert_eq!(switch.port_stats(300).drops.get(DropCause::NoSuchPort), 1);
    assert_eq!(ask(&mut switch, us(0), Request { count: 1, port: 300, ..Request::op(op::RECIRCULATE) }), []);
    assert_eq!(switch.stats().recirculated, 1, "egress ran");
}

#[test]
fn a_packet_from_a_port_without_a_link_is_a_counted_drop() {
    let mut switch = switch_with(|_| ());
    for port in [300, 511, 512, u16::MAX] {
        switch.handle_packet(us(0), port, &Request::to(1).bytes(), 0);
    }
    assert_eq!(switch.stats().drops.get(DropCause::NoSuchPort), 4);
    assert_eq!(switch.p4_passes(), 0);
    assert!(switch.stats().is_balanced());
}

#[test]
fn another_program_starts_afresh_and_packets_inside_are_counted_drops() {
    let mut switch = switch_with(|c| c.ports[1].rate = Some(units::DataRate::from_bps(1000)));
    for _ in 0..3 {
        switch.handle_packet(us(0), 0, &Request::to(1).bytes(), 0);
    }
    switch.handle_packet(
        us(0),
        0,
        &Request { count: 1, ..Request { port: 2, ..Request::op(op::RECIRCULATE) } }.bytes(),
        0,
    );
    switch.load_program(probe()).unwrap();
    assert_eq!(switch.stats().drops.get(DropCause::ProgramChanged), 3);
    assert_eq!((switch.stats().in_flight, switch.next_wakeup()), (0, None));
    assert!(switch.stats().is_balanced());
    assert_eq!(
        ask(&mut switch, us(9), Request::to(2)).len(),
        2,
        "the one on the wire before, and the new one"
    );
}
