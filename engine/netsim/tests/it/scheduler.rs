//! Schedulers of flows over fabrics that run the compiled P4 program: rates that reach hosts' NICs, paths that the switches choose, and
//! the worked example of flow chasing (Ren and Wang 2016, section 4.1) with TCP.

use crate::common::{coflows, start_workload, transfer, LeafSpine, PLAIN};
use netsim::spec::SchedulerSpec;
use netsim::{FabricSpec, Report};
use schedule::Name;
use serde_json::{json, Value};
use units::Time;

const SECOND: u64 = 1_000_000_000_000;
const MILLISECOND: u64 = SECOND / 1_000;
const MEGABIT: u64 = 1_000_000;

/// Everything is given out, and what is heard and said is there at once.
fn scheduler(kind: Name) -> SchedulerSpec {
    serde_json::from_value(json!({
        "kind": kind.to_string(), "floor_bps": 0, "floor_reserve_ppm": 0, "capacity_ppm": 1_000_000,
    }))
    .unwrap()
}

fn run(size: &LeafSpine, spec: FabricSpec, applications: &Value) -> Report {
    let mut fabric = size.fabric(spec, |_| PLAIN);
    start_workload(&mut fabric, &json!({"algorithm": "newreno"}), applications);
    assert!(fabric.run_workload(Time::from_ps(1_000 * SECOND)), "the workload does not finish");
    fabric.report().unwrap_or_else(|error| panic!("{error}"))
}

/// Seconds that each coflow took.
fn completions(report: &Report) -> Vec<f64> {
    let told = serde_json::to_value(&report.workload.as_ref().unwrap().applications[0]).unwrap();
    let seconds = |coflow: &Value| coflow["completion_ps"].as_u64().unwrap() as f64 / SECOND as f64;
    told["coflows"].as_array().unwrap().iter().map(seconds).collect()
}

/// The paper's example: links s1 5, s2 10, s3 15 Mb/s; a1 on s1 and b1 on s2, a2 and b2 together on s3; 30 Mbit each on the wire.
fn worked_example(kind: Option<Name>) -> Vec<f64> {
    let size = LeafSpine {
        leaves: 1,
        hosts_per_leaf: 5,
        spines: 1,
        host_bps: 15 * MEGABIT,
        uplink_bps: 15 * MEGABIT,
        delay_ps: 1_000_000,
        ..LeafSpine::default()
    };
    let mut spec = size.spec();
    for (host, megabits) in [("h1", 5), ("h2", 10)] {
        let link = spec.links.iter_mut().find(|link| link.b.node == host).unwrap();
        link.rate_bps = megabits * MEGABIT;
    }
    spec.scheduler = kind.map(scheduler);
    // 1460 of 1538 bytes are payload.
    let bytes = 30_000_000 / 8 * 1460 / 1538;
    let both = [0, 1].map(|own| (0, vec![transfer(own, 3, bytes), transfer(2, 4, bytes)]));
    completions(&run(&size, spec, &json!([coflows(&both)])))
}

fn assert_within(what: &str, took: &[f64], expected: &[f64], share: f64) {
    for (took, expected) in took.iter().zip(expected) {
        assert!((took / expected - 1.0).abs() < share, "{what}: {took} s, not {expected} s");
    }
}

#[test]
fn the_worked_example_ends_within_five_percent_of_its_closed_form() {
    assert_within("fca", &worked_example(Some(Name::Fca)), &[6.0, 3.0], 0.05);
    assert_within("fair", &worked_example(Some(Name::Fair)), &[6.0, 4.0], 0.05);
    // SEBF serves b first, which needs 3 s at its bottleneck, and a's bottleneck is its own.
    assert_within("sebf", &worked_example(Some(Name::Sebf)), &[6.0, 3.0], 0.05);
    let without = worked_example(None);
    assert!(without[1] > 3.5, "TCP alone shares s3 fairly: {without:?}");
}

#[test]
fn flows_that_share_an_uplink_by_the_switches_hash_share_its_rate() {
    // Two spines, uplinks as fast as the hosts' links: where the hash puts two of the flows on one uplink, they must share it. A
    // scheduler that did not know of uplinks would give each the host's rate, and the switch would drop.
    let size = LeafSpine {
        hosts_per_leaf: 4,
        uplink_bps: 100 * MEGABIT,
        host_bps: 100 * MEGABIT,
        ..LeafSpine::default()
    };
    let mut spec = size.spec();
    spec.scheduler = Some(SchedulerSpec { capacity_ppm: 940_000, ..scheduler(Name::Fair) });
    let requests = (0..4).map(|host| transfer(host, 4 + host, 2_000_000)).collect();
    let answer = |host: usize| {
        json!({"kind": "incast", "name": format!("i{host}"), "client": format!("h{}", host + 1),
               "servers": [format!("h{}", host + 5)], "bytes_per_server": 2_000_000, "rounds": 4})
    };
    for (applications, flows) in [(json!([coflows(&[(0, requests)])]), 4), ((0..4).map(answer).collect(), 16)]
    {
        let report = run(&size, spec.clone(), &applications);
        let counts = report.workload.as_ref().unwrap().scheduler.unwrap();
        assert_eq!((counts.flows, counts.without_path, counts.refused, counts.left_out), (flows, 0, 0, 0));
        // Rates that fit leave no standing queue in the switches: none is ever longer than a few frames.
        let depths = report.queue_depth.queues.iter().flat_map(|queue| &queue.max_bytes);
        assert!(depths.clone().all(|depth| *depth <= 6 * 1514), "{depths:?} bytes wait in switches");
    }
}

#[test]
fn a_later_fetch_of_a_reducer_takes_no_other_transfers_number() {
    let size = LeafSpine { hosts_per_leaf: 4, host_bps: 100 * MEGABIT, ..LeafSpine::default() };
    let mut spec = size.spec();
    spec.scheduler = Some(scheduler(Name::Fca));
    let job = json!({"name": "j", "maps": 16, "reducers": 7, "input_bytes": 1_600_000,
                     "shuffle_bytes": 1_600_000, "output_bytes": 1_600_000});
    let cluster = json!({"kind": "mapreduce", "name": "m", "parallel_fetches": 1, "jobs": [job]});
    let others: Vec<_> =
        (0..150).map(|one| (one * 50 * MILLISECOND, vec![transfer(0, 5, 400_000)])).collect();
    let report = run(&size, spec, &json!([cluster, coflows(&others)]));
    // A transfer cannot be closed while flows of another one have its number.
    assert_eq!(report.workload.unwrap().scheduler.unwrap().refused, 0);
}

#[test]
fn rates_come_after_the_delays_and_until_then_a_flow_sends_as_it_likes() {
    let size = LeafSpine::default();
    let workload = json!([coflows(&[(0, vec![transfer(0, 1, 1_000_000)])])]);
    let at_once = |delay_ps: u64| {
        let mut spec = size.spec();
        // A hundredth of the link.
        let slow = SchedulerSpec { capacity_ppm: 10_000, report_delay_ps: delay_ps, ..scheduler(Name::Fca) };
        spec.scheduler =
            Some(SchedulerSpec { decide_delay_ps: delay_ps, enforce_delay_ps: delay_ps, ..slow });
        completions(&run(&size, spec, &workload))[0]
    };
    let slow = 1e6 * 8.0 * 1538.0 / 1460.0 / 1e7;
    assert!((at_once(0) / slow - 1.0).abs() < 0.02, "{} s, not {slow} s", at_once(0));
    // 1 MB takes 8.4 ms at the link's rate, and the rate is there after 15 ms.
    assert!(at_once(5 * MILLISECOND) < 0.012, "{} s", at_once(5 * MILLISECOND));
}

#[test]
fn mice_and_transfers_over_shared_connections_are_not_announced() {
    let size = LeafSpine::default();
    let mut spec = size.spec();
    spec.scheduler = Some(SchedulerSpec { mice_bytes: 50_000, ..scheduler(Name::Fca) });
    let small = coflows(&[(0, vec![transfer(0, 1, 49_999), transfer(0, 2, 50_000)])]);
    let incast = json!({"kind": "incast", "name": "i", "client": "h4", "servers": ["h1", "h2"], "bytes_per_server": 100_000,
                        "request_bytes": 100, "connection": "persistent", "rounds": 3, "think_ps": 0, "start_ps": 0});
    let report = run(&size, spec, &json!([small, incast]));
    let counts = report.workload.unwrap().scheduler.unwrap();
    assert_eq!((counts.flows, counts.mice, counts.left_out), (1, 1, 6));
    assert_eq!((counts.refused, counts.late, counts.without_limiter), (0, 0, 0));
}
