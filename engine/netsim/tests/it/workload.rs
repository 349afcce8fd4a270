//! Applications over fabrics that run the compiled P4 program: times computed by hand, sharing of links, memory, consistent counts.

use crate::common::{coflows, marking, start_workload, transfer, LeafSpine, PortSettings, PLAIN};
use netsim::report::WorkloadReport;
use netsim::{Fabric, Report};
use serde_json::{json, Value};
use units::{Duration, Time};

const SECOND: u64 = 1_000_000_000_000;

/// Runs to the workload's end, and on until nothing is under way; the report of the first moment.
fn finish(fabric: &mut Fabric) -> Report {
    assert!(fabric.run_workload(Time::from_ps(10_000 * SECOND)), "the workload does not finish");
    let report = fabric.report().unwrap_or_else(|error| panic!("{error}"));
    assert!(fabric.run_to_idle(Time::from_ps(20_000 * SECOND)));
    let counts = fabric.report().unwrap_or_else(|error| panic!("{error}")).conservation;
    assert_eq!((counts.queued, counts.misdelivered), (0, 0));
    report
}

/// Runs one application.
fn run(mut fabric: Fabric, tcp: &Value, application: Value) -> Report {
    start_workload(&mut fabric, tcp, &json!([application]));
    finish(&mut fabric)
}

/// Eight hosts behind two leaves.
fn eight(port: &PortSettings) -> Fabric {
    let size = LeafSpine { hosts_per_leaf: 4, ..LeafSpine::default() };
    size.fabric(size.spec(), |_| port.clone())
}

fn workload(report: &Report) -> &WorkloadReport {
    report.workload.as_ref().expect("a workload has been started")
}

/// What an application has measured, as Python reads it.
fn application(report: &Report, index: usize) -> Value {
    serde_json::to_value(&workload(report).applications[index]).unwrap()
}

#[test]
fn connections_that_are_never_closed_send_no_fin_and_leave_nothing_behind() {
    let sent = |fin: bool| {
        let mut fabric = LeafSpine::default().plain();
        let both = vec![transfer(0, 1, 30_000), transfer(1, 0, 1)];
        let applications = json!([coflows(&[(0, both.clone()), (SECOND, both)])]);
        start_workload(&mut fabric, &json!({"fin": fin}), &applications);
        let report = finish(&mut fabric);
        let flows = serde_json::to_value(&workload(&report).flows).unwrap();
        (flows, fabric.report().unwrap().classes["fin_rst"].sent.packets)
    };
    let ((without, no_fins), (with, fins)) = (sent(false), sent(true));
    assert_eq!(no_fins, 0);
    assert_eq!(fins, 2 * 2 * 2, "two ends of two transfers of two coflows");
    assert_eq!(without["finished"], with["finished"]);
}

#[test]
fn a_transfer_of_one_segment_takes_the_time_computed_by_hand() {
    let one = coflows(&[(3_000_000, vec![transfer(0, 1, 1460)])]);
    let report = run(LeafSpine::default().plain(), &json!({}), one);
    // As in `flows.rs`: SYN, SYN-ACK, data with FIN.
    let handshake = 2 * (2 * 720_000 + 2 * 500_000);
    let data = 2 * 12_304_000 + 2 * 500_000;
    assert_eq!(application(&report, 0)["coflows"][0]["completion_ps"], handshake + data);
    assert_eq!(report.elapsed_ps, 3_000_000 + handshake + data);
    let told = workload(&report);
    assert_eq!((told.busy_ps, told.finished_ps), (handshake + data, Some(report.elapsed_ps)));
    assert_eq!((told.flows.data_segments, told.flows.bytes_received), (1, 1460));
    assert_eq!(told.flows.completion_ps.unwrap().max_ps, handshake + data);
    assert_eq!(told.flows.completion_small_ps, told.flows.completion_ps);
    assert_eq!(told.flows.by_size[0].goodput_bps_mean, Some(1460 * 8 * SECOND / (handshake + data)));
    let longest = report.classes.values().filter_map(|class| class.latency).map(|one| one.max_ps).max();
    assert_eq!(report.latency.map(|all| all.max_ps), longest);
}

/// A shuffle of 8 workers: everything is fetched, and what crosses the network is what the counts say.
#[test]
fn a_shuffle_moves_every_partition_and_no_more() {
    for name in ["newreno", "ecn", "dctcp"] {
        let job = json!({"name": "j", "maps": 14, "reducers": 7, "input_bytes": 14_000_000,
                         "shuffle_bytes": 14_000_000, "output_bytes": 14_000_000});
        let cluster = json!({"kind": "mapreduce", "name": "m", "parallel_fetches": null, "jobs": [job]});
        let fabric = eight(&PortSettings { buffer_bytes: Some(60_000), ..marking(20_000) });
        let report = run(fabric, &json!({ "algorithm": name }), cluster);
        let told = application(&report, 0)["jobs"][0].clone();
        let remote_reads = 14 - told["local_maps"].as_u64().unwrap();
        let network = told["shuffle_network_bytes"].as_u64().unwrap();
        let flows = &workload(&report).flows;
        assert_eq!((flows.started, flows.given_up), (flows.finished, 0));
        assert_eq!(flows.bytes_received, network + 280 * flows.finished + 1_000_000 * remote_reads);
        assert!(network > 10_000_000 && network <= 14_000_000, "{network}");
        assert!(report.conservation.switch_drops > 0 || name != "newreno");
    }
}

#[test]
fn the_same_workload_gives_the_same_report_whatever_the_slices() {
    let size = LeafSpine::default();
    let run = |slice: Option<Duration>| {
        let mut fabric = size.fabric(size.spec(), |_| marking(10_000));
        let job = json!({"name": "j", "maps": 4, "reducers": 3, "input_bytes": 4_000_000,
                         "shuffle_bytes": 4_000_000, "output_bytes": 4_000_000});
        let cluster = json!({"kind": "mapreduce", "name": "m", "jobs": [job]});
        let others = coflows(&[(SECOND, vec![transfer(0, 3, 300_000), transfer(1, 3, 300_000)])]);
        start_workload(&mut fabric, &json!({"algorithm": "ecn"}), &json!([cluster, others]));
        if let Some(slice) = slice {
            let mut until = Time::ZERO;
            while !fabric.run_workload(until) {
                until += slice;
            }
        }
        serde_json::to_string(&finish(&mut fabric)).unwrap()
    };
    let whole = run(None);
    assert_eq!(whole, run(None));
    assert_eq!(whole, run(Some(Duration::from_ms(77))));
}

#[test]
fn transfers_to_a_silent_host_fail_and_are_told() {
    let silent = eight(&PortSettings { buffer_bytes: Some(10), ..PLAIN });
    let report = run(silent, &json!({}), coflows(&[(0, vec![transfer(0, 1, 1000)])]));
    let told = application(&report, 0)["coflows"][0].clone();
    assert_eq!((&told["completion_ps"], &told["failed"]), (&Value::Null, &json!(1)));
    let flows = &workload(&report).flows;
    assert_eq!((flows.given_up, flows.timeouts, flows.syn_timeouts), (1, 7, 7));
}

#[test]
fn an_unloaded_call_takes_propagation_and_serialisation_exactly() {
    for connection in ["persistent", "new"] {
        let rpc = json!({"kind": "rpc", "name": "r", "pairs": [["h1", "h3"]], "request_bytes": 100,
                         "response_bytes": 1000, "mean_interval_ps": SECOND / 100, "connection": connection,
                         "duration_ps": 3 * SECOND});
        let report = run(LeafSpine::default().plain(), &json!({}), rpc);
        // Host, leaf, spine, leaf, host: two links of 1 Gb/s, two of 10 Gb/s, 0.5 us each. 54 bytes of headers, 24 of the link.
        let one_way = |bytes: u64| (bytes + 54 + 24) * 8 * (2 * 1_000 + 2 * 100) + 4 * 500_000;
        let handshake = if connection == "new" { 2 * one_way(12) } else { 0 };
        let exact = handshake + one_way(100) + one_way(1000);
        let told = application(&report, 0)["response_ps"].clone();
        assert_eq!(told["min_ps"], exact, "{connection}");
        assert!(told["p50_ps"].as_u64().unwrap().abs_diff(exact) <= exact / 500);
        let calls = told["count"].as_u64().unwrap();
        assert!((250..350).contains(&calls), "{calls}");
        let flows = &workload(&report).flows;
        assert_eq!((flows.finished, flows.bytes_received), (calls, 1100 * calls));
        assert!(flows.most_connections <= 4);
    }
}

/// Pollaczek and Khinchine: frames of one size at Poisson times wait rho / (2 (1 - rho)) of their time on the wire in the
/// source's NIC; behind it links are as fast or faster, so that nothing waits.
#[test]
fn poisson_frames_wait_as_theory_says() {
    let (load, frames) = (0.6, 20_000_u64);
    let on_wire = (1226 + 24) * 8 * 1_000_u64;
    let duration = (frames as f64 * on_wire as f64 / load) as u64;
    let flow = json!({"source": "h1", "destination": "h3", "load": load, "frame_bytes": 1226});
    let poisson = json!({"kind": "poisson", "name": "p", "flows": [flow], "duration_ps": duration});
    let report = run(LeafSpine::default().plain(), &json!({}), poisson);
    assert_eq!(report.elapsed_ps, duration);
    let sent = application(&report, 0)["frames"].as_u64().unwrap();
    assert!(sent.abs_diff(frames) < 4 * 142, "{sent}: more than four deviations");
    let other = &report.classes["other"];
    assert_eq!((other.sent.packets, other.sent.bytes), (sent, 1226 * sent));
    let bare = 2 * on_wire + 2 * on_wire / 10 + 4 * 500_000;
    let latency = other.latency.unwrap();
    assert_eq!(latency.min_ps, bare);
    let wait = (latency.mean_ps - bare) as f64 / on_wire as f64;
    let theory = load / (2.0 * (1.0 - load));
    assert!((wait / theory - 1.0).abs() < 0.05, "{wait} of {theory}");
}
