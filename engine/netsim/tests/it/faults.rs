//! Links and switches that fail: the losses, the packets that take another path, and that everything is counted.

use crate::common::{finish, send, us, LeafSpine, PLAIN};
use netsim::spec::FaultSpec;
use netsim::{Fabric, FlowSpec, Report};
use simple_switch::hops::{Cause, Hop, HopFilter};
use units::Time;
use wire::tcp::ACK;
use wire::Ecn;

fn fault(node: &str, port: Option<u16>, at_us: u64, until_us: Option<u64>) -> FaultSpec {
    FaultSpec {
        node: node.to_owned(),
        port,
        at_ps: us(at_us).as_ps(),
        until_ps: until_us.map(|until| us(until).as_ps()),
    }
}

fn fabric(size: &LeafSpine, faults: &[FaultSpec]) -> Fabric {
    let mut spec = size.spec();
    spec.faults = faults.to_vec();
    size.fabric(spec, |_| PLAIN)
}

/// Returns the losses of the direction that leaves a port, as class and packets, and the time for which the link was down.
fn lost(report: &Report, node: &str, port: u16) -> (Vec<(&'static str, u64)>, u64) {
    let link = report.faults.iter().find(|link| (link.node.as_str(), link.port) == (node, port)).unwrap();
    (link.lost.iter().map(|(class, packets)| (*class, *packets)).collect(), link.down_ps)
}

/// Full frames from the first host to the second over one switch: 12.304 us and 0.5 us per link.
#[test]
fn frames_on_a_link_while_it_is_down_are_lost_in_both_directions_and_the_others_arrive() {
    let size = LeafSpine::default();
    let mut fabric = fabric(&size, &[fault("leaf1", Some(2), 20, Some(60))]);
    fabric.record_hops(&HopFilter::default()).unwrap();
    // To the second host: on its link when that fails, at the switch while it is down, and there when it is up again.
    for at in [0, 30, 50] {
        send(&mut fabric, 0, us(at), &size.segment(0, 1, ACK, 1_460, Ecn::Ect0));
        send(&mut fabric, 1, us(at), &size.segment(1, 0, ACK, 0, Ecn::NotEct));
    }
    let report = finish(&mut fabric);
    assert_eq!(lost(&report, "leaf1", 2), (vec![("data", 1)], 40_000_000));
    // The only next hop was down, so the switch dropped the second packet itself.
    assert_eq!(report.switches[0].drops, [("ingress", 1)].into());
    // A pure ACK takes less than 2 us: the first has arrived when the link fails.
    assert_eq!(lost(&report, "h2", 0), (vec![("ack", 2)], 40_000_000));
    let delivered = |class: &str| report.classes[class].delivered.packets;
    assert_eq!((delivered("data"), delivered("ack"), report.conservation.link_drops), (1, 1, 3));
    let log = fabric.take_hops().unwrap();
    let is_lost = |hop: &Hop| matches!(hop, Hop::Dropped { cause: Cause::LinkDown, .. });
    let told = log.events.iter().filter(|event| is_lost(&event.hop));
    let told: Vec<_> = told.map(|event| (event.packet, event.node, event.port)).collect();
    // Switches are 0 to 3, hosts 4 to 7. In order of time; each is lost when it would have arrived.
    assert_eq!(told, [(1, 0, 2), (4, 5, 0), (6, 5, 0)]);
}

/// Both leaves have a link to each spine; what is sent from one to the other takes either.
#[test]
fn leaves_pass_over_a_spine_that_has_failed_from_the_instant_on() {
    let size = LeafSpine { hosts_per_leaf: 8, ..LeafSpine::default() };
    let sent_by_spine = |faults: &[FaultSpec]| {
        let mut fabric = fabric(&size, faults);
        for host in 0..8 {
            send(&mut fabric, host, us(100), &size.segment(host, 15 - host, ACK, 1_460, Ecn::Ect0));
        }
        let report = finish(&mut fabric);
        (report.switches[2].sent, report.switches[3].sent, report.conservation.link_drops)
    };
    let (first, second, _) = sent_by_spine(&[]);
    assert!(first > 0 && second > 0, "both spines serve: {first} and {second}");
    assert_eq!(sent_by_spine(&[fault("spine1", None, 100, None)]), (0, 8, 0));
    assert_eq!(sent_by_spine(&[fault("spine1", None, 50, Some(99))]), (first, second, 0));
    // This leaf does not know of the other leaf's link, and the spine has no other path.
    let (through_first, through_second, lost) = sent_by_spine(&[fault("spine1", Some(2), 100, None)]);
    assert_eq!((through_first, through_second, lost), (0, second, 0));
}

#[test]
fn a_link_that_two_faults_hold_down_comes_back_with_the_later_one() {
    let size = LeafSpine::default();
    let faults = [fault("spine1", None, 10, Some(30)), fault("leaf1", Some(3), 20, Some(50))];
    let mut fabric = fabric(&size, &faults);
    let mut states = Vec::new();
    for at in [9, 11, 25, 31, 51] {
        fabric.run_until(us(at));
        states.push([(0, 3), (2, 1), (2, 2)].map(|(switch, port)| fabric.switch(switch).is_up(port)));
    }
    let (up, down) = (true, false);
    assert_eq!(states, [[up; 3], [down; 3], [down; 3], [down, down, up], [up; 3]]);
    let report = fabric.report().unwrap();
    assert_eq!([lost(&report, "leaf1", 3).1, lost(&report, "spine1", 2).1], [40_000_000, 20_000_000]);
}

#[test]
fn a_flow_whose_host_was_cut_off_times_out_and_ends_after_the_link_is_back() {
    let size = LeafSpine::default();
    let run = |faults: &[FaultSpec]| {
        let mut fabric = fabric(&size, faults);
        let settings = "newreno".parse::<tcp::Config>().unwrap().check().unwrap();
        let flow = FlowSpec { source: 0, destination: 2, bytes: 2_000_000, start: Time::ZERO };
        fabric.start_flow(&settings, flow).unwrap();
        finish(&mut fabric)
    };
    let (without, with) = (run(&[]), run(&[fault("h1", None, 5_000, Some(1_000_000))]));
    let (without, flow) = (&without.flows[0], &with.flows[0]);
    assert_eq!((without.timeouts, without.retransmitted_segments), (0, 0));
    assert!(flow.timeouts > 0 && flow.retransmitted_segments > 0, "{flow:?}");
    assert_eq!(flow.received_bytes, 2_000_000);
    assert!(flow.completion_ps > without.completion_ps);
    assert_eq!(
        with.conservation.link_drops,
        with.faults.iter().flat_map(|link| link.lost.values()).sum::<u64>()
    );
}

#[test]
fn a_fault_after_everything_has_happened_is_not_waited_for() {
    let size = LeafSpine::default();
    let run = |faults: &[FaultSpec]| {
        let mut fabric = fabric(&size, faults);
        send(&mut fabric, 0, us(1), &size.segment(0, 1, ACK, 0, Ecn::NotEct));
        let report = finish(&mut fabric);
        assert!(report.idle);
        (report.elapsed_ps, report.conservation.delivered)
    };
    assert_eq!(run(&[fault("spine1", None, 1_000_000, None)]), run(&[]));
}
