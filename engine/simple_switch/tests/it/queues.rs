//! Time, rates, priorities, limits and the gate, observed from outside, with `p4/probe.p4`.

use std::num::NonZeroU32;

use crate::support::*;
use bm::{Executable, Program};
use proptest::prelude::*;
use serde_json::{json, Value};
use simple_switch::{DropCause, PortConfig, Switch, SwitchConfig};
use units::{Bytes, DataRate, Duration, Time};

const GBPS: u64 = 1_000_000_000;

/// Returns port 1 at `bps` with Ethernet's overhead; the others have no rate.
fn slow_port(bps: u64) -> SwitchConfig {
    let mut config = unlimited();
    config.ports[1] = PortConfig::ethernet(1, DataRate::from_bps(bps));
    config
}

fn frame_bytes(payload: usize) -> u64 {
    (REQUEST_BYTES + REPORT_BYTES + payload) as u64
}

#[test]
fn back_to_back_packets_leave_at_the_links_rate_and_see_who_waits() {
    let mut switch = Switch::new(probe(), slow_port(GBPS)).unwrap();
    // 66 + 34 + 25 - 1 = 124 bytes on the wire with overhead: 0.992 us.
    let request = Request { payload: 34, ..Request::to(1) };
    for tag in 0..3 {
        switch.handle_packet(us(10), 0, &request.bytes(), tag);
    }
    assert_eq!((switch.queue_packets(1), switch.queue_bytes(1)), (2, Bytes::new(88)));
    run_to_idle(&mut switch, Time::MAX);
    let wire = DataRate::from_bps(GBPS).transmit_time(Bytes::new(frame_bytes(34) + 24));
    let sent = transmits(&mut switch);
    let start = us(10);
    assert_eq!(sent.iter().map(|t| t.at).collect::<Vec<_>>(), [start, start + wire, start + wire * 2]);
    assert!(sent.iter().all(|t| t.wire_time == wire));
    let seen: Vec<_> =
        sent.iter().map(Report::of).map(|r| (r.enq_qdepth, r.deq_qdepth, r.deq_timedelta)).collect();
    // 0.992 us is 0 ticks of 1 us, 1.984 us is 1.
    assert_eq!(seen, [(0, 0, 0), (0, 1, 0), (1, 0, 1)]);
    assert_eq!((switch.port_stats(1).max_queue_packets, switch.queue_bytes(1)), (2, Bytes::ZERO));
}

#[test]
fn a_packet_dropped_in_egress_takes_no_time_on_the_wire() {
    let mut switch = Switch::new(probe(), slow_port(GBPS)).unwrap();
    for op in [op::FORWARD, op::EGRESS_DROP, op::FORWARD] {
        switch.handle_packet(us(0), 0, &Request::op(op).bytes(), 0);
    }
    run_to_idle(&mut switch, Time::MAX);
    let sent = transmits(&mut switch);
    assert_eq!(sent[1].at, us(0) + sent[0].wire_time);
}

#[test]
fn timestamps_count_ticks_of_the_chosen_length_from_the_chosen_start_and_wrap_at_their_width() {
    let mut switch = switch_with(|c| {
        c.tick = Duration::from_ns(1);
        c.clock_start = (1 << 48) - 5;
    });
    let report = &ask(&mut switch, ps(3_999), Request::to(1))[0];
    assert_eq!(report.ingress_global_timestamp, (1 << 48) - 2);
    assert_eq!(report.enq_timestamp, (1 << 32) - 2);
    let report = &ask(&mut switch, ps(7_000), Request::to(1))[0];
    assert_eq!((report.ingress_global_timestamp, report.enq_timestamp), (2, 2));
}

#[test]
fn time_in_the_queue_is_right_across_the_wrap_of_its_timestamp() {
    let mut config = slow_port(1_000_000);
    config.clock_start = (1 << 32) - 10;
    let mut switch = Switch::new(probe(), config).unwrap();
    for _ in 0..2 {
        switch.handle_packet(us(0), 0, &Request::to(1).bytes(), 0);
    }
    run_to_idle(&mut switch, Time::MAX);
    let reports = reports(&mut switch);
    let wait = (frame_bytes(20) + 24) * 8;
    assert_eq!((reports[1].deq_timedelta, reports[1].egress_global_timestamp), (wait, (1 << 32) - 10 + wait));
}

#[test]
fn queues_of_a_port_with_quanta_take_turns_until_it_is_told_otherwise() {
    let mut config = slow_port(GBPS);
    config.priorities = 8;
    let strict = config.ports[1].clone();
    for priority in [3, 5] {
        config.ports[1].quanta[priority] = NonZeroU32::new(60);
    }
    let mut switch = Switch::new(probe(), config).unwrap();
    let send = |switch: &mut Switch, at| {
        for (tag, priority) in [0, 3, 3, 3, 5, 5, 5, 7].into_iter().enumerate() {
            let request = Request { priority, payload: 20, ..Request::to(1) };
            switch.handle_packet(at, 0, &request.bytes(), tag as u64);
        }
        run_to_idle(switch, Time::MAX);
        transmits(switch).iter().map(|t| t.tag).collect::<Vec<_>>()
    };
    // A turn has two frames of 30 bytes. The first frame was on the wire when the others arrived.
    assert_eq!(send(&mut switch, us(0)), [0, 7, 4, 5, 1, 2, 6, 3]);
    switch.set_port(strict.clone()).unwrap();
    assert_eq!(send(&mut switch, us(1_000)), [0, 7, 4, 5, 6, 1, 2, 3]);
    let mut wrong = strict;
    wrong.quanta[7] = NonZeroU32::new(60);
    let error = switch_with(|c| c.priorities = 7).set_port(wrong).unwrap_err();
    assert!(
        error.to_string().starts_with("port 1: a quantum for priority 7; the switch has 7 queues"),
        "{error}"
    );
}

#[test]
fn egress_sees_the_number_of_the_packets_queue() {
    let mut json: Value = serde_json::from_slice(include_bytes!("../p4/probe.json")).unwrap();
    let alias = json!(["queueing_metadata.qid", ["standard_metadata", "egress_rid"]]);
    json["field_aliases"].as_array_mut().unwrap().push(alias);
    let program = Executable::new(Program::from_json(json.to_string().as_bytes()).unwrap());
    let mut switch = Switch::new(program, SwitchConfig { priorities: 8, ..unlimited() }).unwrap();
    let reports = ask(&mut switch, us(0), Request { priority: 5, ..Request::to(1) });
    assert_eq!(reports[0].egress_rid, 5);
}

#[test]
fn a_gate_is_read_again_after_a_control_write_both_earlier_and_later() {
    let mut switch = switch_with(|c| c.gate_register = Some("probe_ingress.gate".to_owned()));
    let write = |switch: &mut Switch, ticks: u64| {
        switch.state_mut().register_write("probe_ingress.gate", 1, &ticks.to_be_bytes()[2..]).unwrap();
    };
    write(&mut switch, 50);
    switch.handle_packet(us(5), 0, &Request::to(1).bytes(), 1);
    assert_eq!(switch.next_wakeup(), Some(us(50)));
    write(&mut switch, 90);
    assert_eq!(switch.next_wakeup(), Some(us(90)));
    write(&mut switch, 20);
    assert_eq!(switch.next_wakeup(), Some(us(20)));
    switch.handle_wakeup(us(10));
    write(&mut switch, 0);
    assert_eq!(switch.next_wakeup(), Some(us(10)));
    switch.handle_wakeup(us(10));
    assert_eq!(transmits(&mut switch)[0].at, us(10));
}

#[test]
fn a_register_of_gates_or_timers_that_is_not_there_or_too_small_is_refused_by_name() {
    let refused = |change: fn(&mut SwitchConfig, String), register: &str| {
        let mut config = unlimited();
        config.ports.push(PortConfig::unlimited(16));
        change(&mut config, register.to_owned());
        Switch::new(probe(), config).err().unwrap().to_string()
    };
    let gates: fn(&mut SwitchConfig, String) = |config, register| config.gate_register = Some(register);
    let timers: fn(&mut SwitchConfig, String) = |config, register| config.timer_register = Some(register);
    let none = "the program has no register of this name; leave it out to";
    assert_eq!(refused(gates, "none"), format!("gate_register \"none\": {none} hold by recirculation"));
    assert_eq!(refused(timers, "none"), format!("timer_register \"none\": {none} have no timers"));
    let small = |change| refused(change, "probe_ingress.counts");
    assert!(small(gates).ends_with("has 16 cells, but port 16 needs one of its own"), "{}", small(gates));
    assert!(small(timers).contains("16 cells, but the queues of port 2 need 24"), "{}", small(timers));
}

fn with_timers() -> Switch {
    switch_with(|config| config.timer_register = Some("probe_ingress.gate".to_owned()))
}

/// Sets the timer of port 1 and priority 3.
fn set_timer(switch: &mut Switch, ticks: u64) {
    switch.state_mut().register_write("probe_ingress.gate", 1 << 3 | 3, &ticks.to_be_bytes()[2..]).unwrap();
}

#[test]
fn a_timer_runs_the_program_once_at_its_time_and_sends_nothing() {
    let mut switch = with_timers();
    set_timer(&mut switch, 20);
    switch.handle_wakeup(us(19));
    assert_eq!((switch.next_wakeup(), switch.p4_passes()), (Some(us(20)), 0));
    switch.handle_wakeup(us(20));
    assert_eq!((switch.next_wakeup(), switch.p4_passes()), (None, 1));
    assert_eq!(transmits(&mut switch), []);
    let stats = switch.stats();
    assert!(stats.is_balanced());
    assert_eq!((stats.received, stats.in_flight), (0, 0));
}

#[test]
fn a_timer_moves_and_stops_with_its_register_and_one_that_is_late_runs_a_tick_later() {
    let mut switch = with_timers();
    set_timer(&mut switch, 20);
    set_timer(&mut switch, 50);
    assert_eq!(switch.next_wakeup(), Some(us(50)));
    set_timer(&mut switch, 0);
    assert_eq!(switch.next_wakeup(), None);
    switch.handle_wakeup(us(30));
    set_timer(&mut switch, 20);
    assert_eq!(switch.next_wakeup(), Some(us(31)));
}

#[test]
fn a_packet_sets_timers_of_the_port_by_which_it_came() {
    let mut switch = with_timers();
    switch.handle_packet(us(5), 0, &Request { argument: 20, port: 3, ..Request::op(op::GATE) }.bytes(), 1);
    assert_eq!(switch.next_wakeup(), Some(us(25)));
}

#[test]
fn a_packet_that_waits_has_set_timers_in_ingress() {
    let mut switch = switch_with(|config| {
        config.timer_register = Some("probe_ingress.gate".to_owned());
        config.ports[1] = PortConfig::ethernet(1, DataRate::from_bps(GBPS / 1_000));
    });
    switch.handle_packet(us(0), 0, &Request::to(1).bytes(), 1);
    switch.handle_packet(us(5), 0, &Request { argument: 20, port: 1, ..Request::op(op::GATE) }.bytes(), 1);
    assert_eq!((switch.next_wakeup(), switch.queue_packets(1)), (Some(us(25)), 1));
}

#[test]
fn egress_sets_timers_and_a_run_for_one_sets_it_again() {
    let program = Program::from_json(include_bytes!("../p4/timers.json")).unwrap();
    let config = SwitchConfig { timer_register: Some("timers".to_owned()), ..unlimited() };
    let mut switch = Switch::new(Executable::new(program), config).unwrap();
    switch.handle_packet(us(5), 0, &[0; 60], 1);
    assert_eq!((switch.next_wakeup(), switch.p4_passes()), (Some(us(25)), 1));
    switch.state_mut().register_write("period", 0, &10_u64.to_be_bytes()[2..]).unwrap();
    for run in 2..5 {
        switch.handle_wakeup(us(5 + 10 * run));
        assert_eq!((switch.next_wakeup(), switch.p4_passes()), (Some(us(15 + 10 * run)), run));
    }
}

#[test]
fn timers_go_with_their_program() {
    let mut switch = with_timers();
    set_timer(&mut switch, 20);
    switch.load_program(probe()).unwrap();
    assert_eq!(switch.next_wakeup(), None);
}

#[test]
#[should_panic(expected = "time runs backwards")]
fn time_that_runs_backwards_is_refused() {
    let mut switch = switch_with(|_| ());
    switch.handle_wakeup(us(2));
    switch.handle_wakeup(us(1));
}

#[test]
fn a_port_may_come_and_go() {
    let mut switch = switch_with(|_| ());
    switch.set_port(PortConfig::ethernet(40, DataRate::from_bps(GBPS))).unwrap();
    assert_eq!(ask(&mut switch, us(0), Request::to(40)).len(), 1);
    switch.remove_port(40);
    assert_eq!(ask(&mut switch, us(0), Request::to(40)), []);
    assert_eq!(switch.port_stats(40).drops.get(DropCause::NoSuchPort), 1);
    assert!(switch.set_port(PortConfig::unlimited(512)).is_err());
}

#[test]
fn frames_come_in_on_the_drop_ports_number_and_are_not_sent_there() {
    let mut switch = switch_with(|config| config.ports.push(PortConfig::unlimited(511)));
    switch.handle_packet(us(1), 511, &Request::to(2).bytes(), 0);
    switch.handle_packet(us(1), 0, &Request::to(511).bytes(), 0);
    run_to_idle(&mut switch, Time::MAX);

    let sent = transmits(&mut switch);
    assert_eq!(sent.iter().map(|t| (t.port, Report::of(t).ingress_port)).collect::<Vec<_>>(), [(2, 511)]);
    assert_eq!(switch.port_stats(0).drops.get(DropCause::Ingress), 1);
}

/// Arrivals as (time since the last in ps, operation, egress port, payload bytes).
fn arrivals() -> impl Strategy<Value = Vec<(u64, u8, u16, usize)>> {
    let ops = prop::sample::select(vec![
        op::FORWARD,
        op::FORWARD,
        op::FORWARD,
        op::INGRESS_DROP,
        op::EGRESS_DROP,
        op::RECIRCULATE,
        op::RESUBMIT,
        op::MULTICAST,
        op::CLONE_INGRESS,
        op::CLONE_EGRESS,
        op::GATE,
        op::RANDOM,
        op::TRUNCATE,
    ]);
    prop::collection::vec((0..3_000_000u64, ops, 0..10u16, 0..1500usize), 1..60)
}

fn busy_switch() -> Switch {
    let mut config = slow_port(GBPS);
    config.ports[2] =
        PortConfig { queue_limit_packets: Some(3), ..PortConfig::ethernet(2, DataRate::from_bps(GBPS / 10)) };
    config.ports[3] = PortConfig {
        queue_limit_bytes: Some(Bytes::new(3000)),
        ..PortConfig::ethernet(3, DataRate::from_bps(GBPS))
    };
    config.gate_register = Some("probe_ingress.gate".to_owned());
    let mut switch = Switch::new(probe(), config).unwrap();
    switch
        .set_session(
            2,
            simple_switch::MirroringSession { egress_port: Some(1), mgid: Some(2), ..Default::default() },
        )
        .unwrap();
    let replica = |egress_port| simple_switch::Replica { egress_port, rid: 1 };
    switch.pre_mut().set_group(2, &[replica(1), replica(2), replica(9)]).unwrap();
    switch
}

/// What left: port, time, tag and bytes.
type Left = (u16, Time, u64, Vec<u8>);

fn run(switch: &mut Switch, arrivals: &[(u64, u8, u16, usize)], punctual: bool) -> Vec<Left> {
    let mut now = Time::ZERO;
    let mut left = Vec::new();
    for (tag, (gap, op, port, payload)) in arrivals.iter().enumerate() {
        now += Duration::from_ps(*gap);
        if punctual {
            while let Some(at) = switch.next_wakeup().filter(|at| *at < now) {
                switch.handle_wakeup(at);
            }
        }
        let request =
            Request { op: *op, count: 2, port: *port, argument: 2, payload: *payload, ..Request::default() };
        switch.handle_packet(now, 0, &request.bytes(), tag as u64);
        assert!(switch.stats().is_balanced(), "{:?}", switch.stats());
        left.extend(transmits(switch));
    }
    run_to_idle(switch, Time::MAX);
    left.extend(transmits(switch));
    left.into_iter().map(|t| (t.port, t.at, t.tag, t.frame.to_vec())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_calls_give_the_same_bytes_and_a_late_caller_the_same_as_a_punctual_one(arrivals in arrivals()) {
        let punctual = run(&mut busy_switch(), &arrivals, true);
        prop_assert_eq!(&run(&mut busy_switch(), &arrivals, true), &punctual);
        prop_assert_eq!(&run(&mut busy_switch(), &arrivals, false), &punctual);
    }
}
