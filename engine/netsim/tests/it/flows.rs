//! TCP flows in fabrics that run the compiled P4 program: times computed by hand, congestion, recovery, and consistent counts.

use crate::common::{finish, start_flows, us, LeafSpine, PortSettings, PLAIN};
use netsim::{FabricSpec, FlowSpec, HostDelaySpec};
use units::Duration;

fn config(name: &str) -> tcp::Config {
    name.parse().unwrap()
}

#[test]
fn a_flow_of_one_segment_takes_the_time_computed_by_hand() {
    let mut fabric = LeafSpine::default().plain();
    start_flows(&mut fabric, &config("newreno"), [(0, 1, 1460, 3)]);
    let report = finish(&mut fabric);
    // SYN and SYN-ACK: 66 bytes (12 of options), 90 on the wire: 0.72 us at 1 Gb/s, twice, and twice 0.5 us. Data with FIN: 1538
    // bytes on the wire, 12.304 us.
    let handshake = 2 * (2 * 720_000 + 2 * 500_000);
    let data = 2 * 12_304_000 + 2 * 500_000;
    let flow = &report.flows[0];
    assert_eq!(flow.completion_ps, Some(handshake + data));
    assert_eq!((flow.source.as_str(), flow.destination.as_str()), ("h1", "h2"));
    assert_eq!((flow.received_bytes, flow.data_segments, flow.timeouts), (1460, 1, 0));
    assert_eq!(flow.goodput_bps, Some(1460 * 8_000_000_000_000 / (handshake + data)));
    let sent = |class: &str| report.classes[class].sent.packets;
    // The second FIN arrives with the ACK of the first; the last ACK is pure.
    assert_eq!((sent("syn"), sent("syn_ack"), sent("fin_rst"), sent("ack")), (1, 1, 2, 1));
    // The server's end has ended when the last ACK arrives, and no end stays in TIME-WAIT.
    let small = 2 * (60 + 24) * 8_000 + 2 * 500_000;
    assert_eq!(report.elapsed_ps, 3_000_000 + handshake + data + 2 * small);
}

/// SYN, SYN-ACK and data each wait for the sending host's delay and the receiving one's. A flow's own report is that of the list.
#[test]
fn hosts_that_take_time_for_a_segment_delay_each_by_it() {
    let completion = |host_delay| {
        let size = LeafSpine::default();
        let mut fabric = size.fabric(FabricSpec { host_delay, ..size.spec() }, |_| PLAIN);
        start_flows(&mut fabric, &config("newreno"), [(0, 1, 1460, 3)]);
        let report = finish(&mut fabric);
        assert!(report.idle);
        assert_eq!(fabric.flow_report(0).as_ref(), report.flows.first());
        assert_eq!(fabric.flow_report(1), None);
        // The network's latency excludes the hosts'.
        (report.flows[0].completion_ps.unwrap(), report.classes["syn"].latency.unwrap().mean_ps)
    };
    let without = completion(HostDelaySpec::default());
    let with = completion(HostDelaySpec { tx_ps: 2_000_000, rx_ps: 5_000_000 });
    assert_eq!((with.0 - without.0, with.1), (3 * 7_000_000, without.1));
    let receive_only = completion(HostDelaySpec { tx_ps: 0, rx_ps: 5_000_000 });
    assert_eq!(receive_only.0 - without.0, 3 * 5_000_000);
}

/// Long flows under delay, with small queues: all arrives, and the link stays full.
#[test]
fn a_long_flow_fills_the_link_from_hosts_that_take_time() {
    let size = LeafSpine::default();
    let host_delay = HostDelaySpec { tx_ps: 10_000_000, rx_ps: 10_000_000 };
    let mut fabric = size.fabric(FabricSpec { host_delay, ..size.spec() }, |_| PLAIN);
    let config = tcp::Config { tsq: Some(Duration::from_ms(1)), ..tcp::Config::default() };
    start_flows(&mut fabric, &config, [(0, 1, 10_000_000, 0)]);
    let report = finish(&mut fabric);
    let flow = &report.flows[0];
    assert_eq!((flow.received_bytes, flow.retransmitted_segments), (10_000_000, 0));
    assert!(flow.goodput_bps.unwrap() > 930_000_000, "{flow:?}");
}

#[test]
fn a_flow_to_a_silent_host_is_given_up() {
    let size = LeafSpine::default();
    let mut fabric = size.fabric(size.spec(), |_| PortSettings { buffer_bytes: Some(10), ..PLAIN });
    start_flows(&mut fabric, &config("newreno"), [(0, 1, 1000, 0)]);
    let report = finish(&mut fabric);
    let flow = &report.flows[0];
    assert!(flow.given_up && flow.completion_ps.is_none());
    assert_eq!((flow.received_bytes, flow.timeouts), (0, 7), "six SYNs again, and the last wait");
}

#[test]
fn flows_that_cannot_be_are_refused() {
    let size = LeafSpine::default();
    let mut spec = size.spec();
    (spec.hosts[3].ipv4, spec.hosts[3].ipv6) = (None, Some("fd00::4".parse().unwrap()));
    let mut fabric = size.fabric(spec, |_| PLAIN);
    fabric.run_until(us(10));
    let mut refused = |source, destination, bytes, at| {
        let flow = FlowSpec { source, destination, bytes, start: us(at) };
        fabric.start_flow(&config("ecn").check().unwrap(), flow).unwrap_err().to_string()
    };
    assert_eq!(refused(0, 9, 1, 20), "no host number 9: the fabric has 4");
    assert_eq!(refused(1, 1, 1, 20), "a flow from h2 to itself: it would not cross the fabric");
    assert_eq!(refused(0, 3, 1, 20), "h1 and h4 have no IP version in common");
    assert!(refused(0, 1, 1, 9).starts_with("a flow that starts at 9us: the fabric is at 10us, and no run"));
    assert!(refused(0, 1, u64::MAX, 20).contains("more bytes cannot be sent"));
}

/// Three flows leave one host of 1 Gb/s for three others: the queue is in their own NIC, which neither marks nor drops.
/// TCP small queues keep two segments of each in it (and their ACKs' latency is the path's), at the same goodput.
#[test]
fn small_queues_keep_the_latency_of_a_hosts_own_nic_short() {
    let run = |tsq| {
        let mut fabric = LeafSpine { hosts_per_leaf: 4, ..LeafSpine::default() }.plain();
        let config = tcp::Config { tsq, ..tcp::Config::default() };
        start_flows(&mut fabric, &config, (1..4).map(|destination| (0, destination, 3_000_000, 0)));
        let report = finish(&mut fabric);
        let last = report.flows.iter().map(|flow| flow.completion_ps.unwrap()).max().unwrap();
        (report.hosts[0].max_queue_bytes, report.classes["data"].latency.unwrap().mean_ps, last)
    };
    let (unbounded, bounded) = (run(None), run(Some(Duration::ZERO)));
    // Frames of 1514 bytes; a limit of two segments each, and at most one more at the instant of leaving.
    assert!(bounded.0 <= 3 * 3 * 1514, "{} bytes waited", bounded.0);
    assert!(bounded.1 < 120_000_000, "two segments of each of three flows, and the path: {} ps", bounded.1);
    assert!(unbounded.1 > 20 * bounded.1, "{unbounded:?} without, {bounded:?} with");
    assert!(bounded.2 < unbounded.2 + unbounded.2 / 100, "{unbounded:?} without, {bounded:?} with");
}

/// A DCTCP flow with ECT(1) and a CUBIC flow with ECT(0) share a port that marks ECT(1) above 15 kB and ECT(0) above 60
/// kB. It is one queue: CUBIC keeps it above the L4S threshold, so every packet of the DCTCP flow is marked.
#[test]
fn the_l4s_threshold_marks_ect1_and_in_a_shared_queue_the_classic_flow_takes_the_link() {
    let size = LeafSpine { leaves: 2, hosts_per_leaf: 4, ..LeafSpine::default() };
    let run = |names: [(&str, bool); 2]| {
        let port = PortSettings {
            buffer_bytes: Some(300_000),
            aqm: Some(("mark_threshold", vec![60_000, 15_000, 0])),
            ..PLAIN
        };
        let mut fabric = size.fabric(size.spec(), |_| port.clone());
        for (index, (name, l4s)) in names.iter().enumerate() {
            let config = tcp::Config { l4s: *l4s, ecn: true, ..config(name) };
            start_flows(&mut fabric, &config, [(1 + index, 0, 10_000_000, 0)]);
        }
        let report = finish(&mut fabric);
        let ms = |flow: &netsim::report::FlowReport| flow.completion_ps.unwrap() as f64 / 1e9;
        let latency = report.classes["data"].latency.unwrap().mean_ps / 1_000;
        (ms(&report.flows[0]), ms(&report.flows[1]), latency, report.conservation.switch_drops)
    };
    let (l4s, classic, shared) =
        (run([("dctcp", true); 2]), run([("dctcp", false); 2]), run([("dctcp", true), ("cubic", false)]));
    // Ten MB take 84.3 ms alone. Flows of one kind share the link to the end, with a shorter queue at the lower threshold.
    for (name, both) in [("ECT(1)", &l4s), ("ECT(0)", &classic)] {
        assert!(both.0.min(both.1) > 160.0 && both.0.max(both.1) < 170.0, "{name}: {both:?}");
        assert_eq!(both.3, 0, "{name}: nothing is dropped");
    }
    assert!(2 * l4s.2 < classic.2, "mean latency, ns: {l4s:?} and {classic:?}");
    assert!(shared.1 < 95.0 && shared.0 > 160.0, "CUBIC ends as if it were alone: {shared:?}");
}
