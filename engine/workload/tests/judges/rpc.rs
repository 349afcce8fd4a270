//! Calls and frames at exponential gaps, compared with the theory of Poisson arrivals and of a server with a queue.

use serde_json::{json, Value};
use workload::{Connection, Outcome};

use super::driver::{describe, ps, run_evenly, run_until, Run, LINK_BPS, OVERHEAD, SECOND};
use super::stats::{check_dispersion, check_distribution, check_even, check_mean, exponential, gaps};

const MILLISECOND: u64 = SECOND / 1000;

fn rpc(seed: u64, fields: &Value) -> Value {
    let mut all = json!({
        "pairs": [["h0", "h1"]], "request_bytes": 100, "response_bytes": 2000, "mean_interval_ps": MILLISECOND,
        "connection": "new", "duration_ps": 20 * SECOND,
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    describe(seed, "rpc", &all)
}

#[test]
fn calls_of_a_pair_are_a_poisson_process_and_last_as_long_as_the_network_says() {
    let done = run_evenly(&rpc(3, &json!({"start_ps": 5 * SECOND})), 2, 321);
    let times: Vec<_> = done.transfers.iter().map(|one| one.at).collect();
    assert!(times[0] > 5 * SECOND && *times.last().unwrap() <= 25 * SECOND);
    let sample = gaps(&times);
    check_mean(&sample, MILLISECOND as f64, "gap");
    check_distribution(&sample, exponential(MILLISECOND as f64), "gap");
    let since: Vec<_> = times.iter().map(|at| at - 5 * SECOND).collect();
    check_dispersion(&since, 50 * MILLISECOND, 400, 1.0, "calls");
    let report = done.report(0);
    assert_eq!((&report["failed"], ps(&report["response_ps"]["count"])), (&json!(0), times.len() as u64));
    assert_eq!((ps(&report["response_ps"]["min_ps"]), ps(&report["response_ps"]["max_ps"])), (321, 321));
    let bytes = |one: &super::driver::Begun| (one.transfer.request_bytes, one.transfer.response_bytes);
    assert!(done.transfers.iter().all(|one| one.hosts() == (0, 1) && bytes(one) == (100, 2000)));
}

#[test]
fn the_calls_of_a_pair_do_not_depend_on_the_others() {
    let times = |pairs: Value| {
        let done = run_evenly(&rpc(3, &json!({"pairs": pairs, "duration_ps": SECOND})), 4, 1);
        let of_first = done.transfers.iter().filter(|one| one.hosts() == (0, 1));
        of_first.map(|one| one.at).collect::<Vec<_>>()
    };
    let alone = times(json!([["h0", "h1"]]));
    assert!(alone.len() > 800);
    assert_eq!(alone, times(json!([["h0", "h1"], ["h2", "h3"], ["h3", "h0"]])));
}

#[test]
fn over_a_persistent_connection_calls_wait_as_at_a_server_with_a_queue() {
    // M/D/1 at a load of 0.6: the mean wait is 0.6 / (2 x 0.4) service times.
    let service = 600_000_000;
    let done =
        run_evenly(&rpc(9, &json!({"connection": "persistent", "duration_ps": 60 * SECOND})), 2, service);
    assert_eq!(done.opened, [(0, 0, 1)]);
    assert!(done.transfers.iter().all(|one| one.transfer.connection == Connection::Shared(0)));
    // Compares each response time with Lindley's recursion over the calls' times, and their mean with Pollaczek and Khinchine's formula.
    let (mut wait, mut before, mut times) = (0, 0, Vec::new());
    for at in done.transfers.iter().map(|one| one.at) {
        wait = (wait + if times.is_empty() { 0 } else { service }).saturating_sub(at - before);
        before = at;
        times.push(wait + service);
    }
    let report = &done.report(0)["response_ps"];
    assert_eq!(ps(&report["mean_ps"]), times.iter().sum::<u64>() / times.len() as u64);
    assert_eq!(ps(&report["max_ps"]), *times.iter().max().unwrap());
    let waits = ps(&report["mean_ps"]) as f64 / service as f64 - 1.0;
    assert!((waits - 0.75).abs() < 0.03, "{waits}");
}

#[test]
fn beyond_65536_calls_that_are_open_further_ones_fail_until_one_is_answered() {
    let interval = 1_000_000;
    let fields = json!({"mean_interval_ps": interval, "duration_ps": 70_000 * interval});
    let mut it = Run::new(&rpc(1, &fields), 2);
    // No call is answered while calls are made; then all are.
    run_until(&mut it, 70_000 * interval, |_, _| (SECOND, Outcome::Finished));
    while !it.workload.is_finished() {
        assert!(it.step(&mut |_, _| (SECOND, Outcome::Finished)));
    }
    assert_eq!(it.transfers.len(), 65_536);
    let failed = ps(&it.report(0)["failed"]);
    assert!((3_000..6_000).contains(&failed), "{failed}");
    assert_eq!(ps(&it.report(0)["response_ps"]["count"]), 65_536);
}

#[test]
fn pairs_that_are_drawn_are_any_two_hosts_as_often_as_any_other() {
    let fields = json!({"pairs": null, "random_pairs": 6000, "mean_interval_ps": SECOND, "duration_ps": 0, "connection": "persistent"});
    let done = run_evenly(&rpc(4, &fields), 5, 1);
    assert_eq!(done.opened.len(), 6000);
    // For five hosts: the client, and the server's distance from it.
    let pair = |(_, from, to): &(u32, u32, u32)| (from * 4 + (to + 5 - from) % 5 - 1) as usize;
    check_even(done.opened.iter().map(pair), 20, "pairs");
    assert_eq!(done.finished_at(), 0, "no call is made in no time");
}

fn poisson(fields: &Value) -> Value {
    describe(6, "poisson", fields)
}

#[test]
fn frames_come_at_exponential_gaps_at_the_load_of_the_link_that_is_asked_for() {
    let flows = json!([
        {"source": "h0", "destination": "h1", "load": 0.3, "frame_bytes": 1476},
        {"source": "h2", "destination": "h1", "load": 0.05, "frame_bytes": 100},
    ]);
    let (start, duration) = (SECOND, SECOND);
    let done =
        run_evenly(&poisson(&json!({"flows": flows, "start_ps": start, "duration_ps": duration})), 3, 1);
    for (source, load, bytes) in [(0, 0.3, 1476), (2, 0.05, 100)] {
        let frames: Vec<_> = done.frames.iter().filter(|frame| frame.from == source).collect();
        assert!(frames.iter().all(|frame| frame.to == 1 && u64::from(frame.bytes) == bytes));
        assert!(frames.iter().all(|frame| (start..start + duration).contains(&frame.at)));
        let mean_gap = (bytes + OVERHEAD) as f64 * 8.0 / (load * LINK_BPS as f64) * 1e12;
        let expected = duration as f64 / mean_gap;
        let count = frames.len() as f64;
        assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{count} frames for {expected}");
        let times: Vec<_> = frames.iter().map(|frame| frame.at - start).collect();
        check_distribution(&gaps(&times), exponential(mean_gap), "gap");
        check_dispersion(&times, duration / 500, 500, 1.0, "frames");
    }
    assert_eq!(done.report(0)["frames"], done.frames.len());
    assert_eq!((done.finished_at(), done.transfers.len()), (start + duration, 0));
}
