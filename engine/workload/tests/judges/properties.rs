//! Properties of every description over any network: ends, counts, bytes, seeds.

use proptest::prelude::*;
use serde_json::{json, Value};
use units::{Duration, Time};
use workload::{Outcome, Transfer, TransferId};

use super::driver::{hash, names, ps, run, run_evenly, run_until, workload, Run, SECOND};

const HOSTS: usize = 7;

/// Returns a terminating application of any kind, without its name.
fn application() -> impl Strategy<Value = Value> {
    let hosts = prop::collection::vec(1..HOSTS, 1..6);
    let numbers = (1..5_u64, 1..50_000_u64, 0..2_000_000_u64);
    let jitter = prop::sample::select(vec![0_u64, 5_000]);
    (0..6_u8, hosts, numbers, jitter, any::<bool>()).prop_map(|(kind, hosts, (count, bytes, at), jitter, persistent)| {
        let connection = if persistent { "persistent" } else { "new" };
        let others = names(hosts.iter().copied());
        match kind {
            0 => json!({"kind": "incast", "client": "h0", "servers": others, "bytes_per_server": bytes, "rounds": count,
                "think_ps": at, "start_jitter_ps": jitter, "connection": connection}),
            1 => {
                let one = |host: &String| json!({"source": "h0", "destination": host, "bytes": bytes});
                let transfers: Vec<_> = others.iter().map(one).collect();
                let coflow = |number: u64| json!({"name": format!("c{number}"), "at_ps": at * number, "transfers": transfers});
                json!({"kind": "coflows", "start_jitter_ps": jitter, "coflows": (0..count).map(coflow).collect::<Vec<_>>()})
            }
            2 => {
                let pairs: Vec<_> = others.iter().map(|host| ["h0", host.as_str()]).collect();
                json!({"kind": "rpc", "pairs": pairs, "request_bytes": bytes, "response_bytes": at, "mean_interval_ps": 1_000_000,
                    "connection": connection, "duration_ps": count * 5_000_000})
            }
            3 => json!({"kind": "scatter_gather", "clients": others, "racks": [["h0", "h1"], ["h2", "h3", "h4"], ["h5", "h6"]],
                "response_bytes": bytes, "answer_bytes": 1 + at, "mean_interval_ps": 1_000_000, "queries": count,
                "start_jitter_ps": jitter}),
            4 => {
                let messages: Vec<_> = hosts.iter().map(|rank| json!([0, rank, bytes])).collect();
                json!({"kind": "phases", "ranks": names(0..HOSTS), "iterations": count, "noise_sigma": 0.1, "connection": connection,
                    "steps": [{"compute_ps": at, "messages": messages}, {"messages": [[1, 0, 9]]}], "start_jitter_ps": jitter})
            }
            _ => json!({"kind": "flows", "rows": true, "drawn": {"racks": [names(0..3), names(3..HOSTS)], "pattern": "all_to_all",
                "load": 0.3, "sizes": {"exponential": {"mean_bytes": bytes as f64}}, "duration_ps": (4 + count) * 100 * bytes * 8_000}}),
        }
    })
}

/// Returns the description of several applications.
fn describe_all(seed: u64, applications: &[Value]) -> Value {
    let named = |(number, one): (usize, &Value)| {
        let mut one = one.clone();
        one["name"] = json!(format!("a{number}"));
        one
    };
    let all: Vec<_> = applications.iter().enumerate().map(named).collect();
    json!({"seed": seed, "applications": all})
}

/// Returns a network with arbitrary durations in which one in `one_in` transfers fails.
fn any_network(salt: u64, one_in: u64) -> impl Fn(u64, &Transfer) -> (u64, Outcome) {
    move |at, one| {
        let place = [salt, at, one.id.token, one.from.into(), one.to.into()];
        let is_lost = hash(&[&place[..], &[1]].concat()) % one_in == 0;
        (1 + hash(&place) % 3_000_000, if is_lost { Outcome::Failed } else { Outcome::Finished })
    }
}

/// Returns the start times of an application's transfers, and the transfers.
fn seen(run: &Run, application: u32) -> Vec<(u64, Transfer)> {
    let of = run.transfers.iter().filter(|one| one.transfer.id.application == application);
    of.map(|one| (one.at, one.transfer)).collect()
}

/// Returns the number of ended transfers in an application's report, successful or not; `None` for kinds that repeat failed ones.
fn reported(report: &Value) -> Option<u64> {
    let count = |field: &str| report[field]["count"].as_u64().unwrap_or(0);
    match report["kind"].as_str()? {
        "rpc" => Some(count("response_ps") + ps(&report["failed"])),
        "scatter_gather" => Some(count("query_ps") + ps(&report["failed"])),
        "flows" => Some(count("completion_ps") + ps(&report["failed"])),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn every_run_ends_and_each_transfer_is_begun_once_and_counted_once(
        seed in any::<u64>(), one in application(), salt in any::<u64>(), one_in in 2..40_u64,
    ) {
        let mut done = run(&describe_all(seed, std::slice::from_ref(&one)), HOSTS, any_network(salt, one_in));
        let (begun, steps, report) = (done.transfers.len(), done.steps(), done.report(0));
        prop_assert_eq!(done.under_way(), 0);
        prop_assert_eq!(done.open_groups(), 0);
        prop_assert!(done.transfers.iter().all(|one| one.ended.unwrap() > one.at));
        prop_assert!(done.finished_at() >= done.transfers.iter().map(|one| one.ended.unwrap()).max().unwrap_or(0));
        // A transfer has an end, and at most three timers: one that begins it, one that delays it, and one that repeats it; ranks compute.
        let ranks = if one["kind"] == "phases" { 2 * HOSTS * ps(&one["iterations"]) as usize } else { 0 };
        prop_assert!(steps <= 4 * begun + ranks + 1, "{} steps for {} transfers", steps, begun);
        if let Some(ended) = reported(&report) {
            let asked = match report["kind"].as_str() {
                Some("scatter_gather") => one["clients"].as_array().unwrap().len() as u64 * ps(&one["queries"]),
                _ => begun as u64,
            };
            prop_assert_eq!(ended, asked);
        }
        prop_assert!(!done.step(&mut any_network(salt, one_in)), "something happens after the end");
        prop_assert_eq!(done.transfers.len(), begun);
    }

    #[test]
    fn the_same_seed_gives_the_same_transfers_and_the_same_report(
        seed in any::<u64>(), one in application(), other in application(), salt in any::<u64>(),
    ) {
        let description = describe_all(seed, &[one, other]);
        let [first, second] = [(); 2].map(|()| run(&description, HOSTS, any_network(salt, 9)));
        for application in 0..2 {
            prop_assert_eq!(seen(&first, application), seen(&second, application));
            prop_assert_eq!(first.report(application as usize), second.report(application as usize));
        }
    }

    #[test]
    fn an_application_does_what_it_does_alone_whoever_is_beside_it(
        seed in any::<u64>(), one in application(), others in prop::collection::vec(application(), 1..4), salt in any::<u64>(),
    ) {
        let alone = run(&describe_all(seed, std::slice::from_ref(&one)), HOSTS, any_network(salt, 9));
        let all: Vec<_> = [one].into_iter().chain(others).collect();
        let together = run(&describe_all(seed, &all), HOSTS, any_network(salt, 9));
        prop_assert_eq!(seen(&alone, 0), seen(&together, 0));
        prop_assert_eq!(alone.report(0)["finished_ps"].clone(), together.report(0)["finished_ps"].clone());
        let last = (0..all.len()).map(|number| ps(&together.report(number)["finished_ps"])).max();
        prop_assert_eq!(Some(together.finished_at()), last, "a run ends with its last application");
    }
}

#[test]
fn another_seed_gives_other_draws_of_every_kind_that_draws() {
    for fields in [
        json!({"kind": "rpc", "pairs": [["h0", "h1"]], "request_bytes": 1, "response_bytes": 1, "mean_interval_ps": 1_000_000,
            "connection": "new", "duration_ps": 50_000_000}),
        json!({"kind": "scatter_gather", "clients": ["h0"], "racks": [["h1", "h2"]], "response_bytes": 1, "answer_bytes": 1,
            "mean_interval_ps": 1_000_000, "queries": 3}),
        json!({"kind": "phases", "ranks": ["h0", "h1"], "iterations": 1, "noise_sigma": 0.1,
            "steps": [{"compute_ps": 1_000_000, "messages": [[0, 1, 1]]}]}),
        json!({"kind": "incast", "client": "h0", "servers": ["h1"], "bytes_per_server": 1, "rounds": 1, "start_jitter_ps": 1_000_000}),
        json!({"kind": "mapreduce", "jobs": [
            {"name": "j", "maps": 4, "reducers": 2, "input_bytes": 9_000, "shuffle_bytes": 9_000, "output_bytes": 0}]}),
    ] {
        let times = |seed| run_evenly(&describe_all(seed, std::slice::from_ref(&fields)), HOSTS, 10).begun();
        assert_ne!(times(1), times(2), "{fields}");
        // The position in the description counts as well: two equal applications behave differently.
        let both = run_evenly(&describe_all(1, &[fields.clone(), fields.clone()]), HOSTS, 10);
        let at = |number| seen(&both, number).iter().map(|one| one.0).collect::<Vec<_>>();
        assert_ne!(at(0), at(1), "{fields}");
    }
}

/// Returns one round of incast from `h1` to `h0`.
fn incast(name: &str) -> Value {
    json!({"kind": "incast", "name": name, "client": "h0", "servers": ["h1"], "bytes_per_server": 1, "rounds": 1})
}

#[test]
fn a_run_waits_for_all_in_the_foreground_and_for_none_in_the_background() {
    let mut all = ["short", "long", "late", "early"].map(incast);
    all[1]["start_ps"] = json!(500);
    all[2]["start_ps"] = json!(SECOND);
    (all[2]["background"], all[3]["background"]) = (json!(true), json!(true));
    let mut done = run_evenly(&json!({"seed": 1, "applications": all}), 2, 7);
    assert_eq!((done.finished_at(), done.transfers.len()), (507, 3));
    assert_eq!((&done.report(0)["finished_ps"], &done.report(2)["finished_ps"]), (&json!(7), &Value::Null));
    run_until(&mut done, 2 * SECOND, |_, _| (7, Outcome::Finished));
    assert_eq!(done.report(2)["finished_ps"], SECOND + 7);
    assert_eq!(done.finished_at(), 507, "the end of one in the background changes nothing");
    let mut before = Run::new(&json!({"seed": 1, "applications": all}), 2);
    assert!(before.workload.finished_at().is_none() && !before.workload.is_finished());
    before.step(&mut |_, _| (7, Outcome::Finished));
    assert!(before.workload.finished_at().is_none());
}

#[test]
fn times_that_have_passed_when_a_run_starts_are_due_at_once() {
    let coflow = json!({"kind": "coflows", "name": "c", "coflows": [
        {"name": "past", "at_ps": 5, "transfers": [{"source": "h0", "destination": "h1", "bytes": 1}]},
        {"name": "future", "at_ps": 500, "transfers": [{"source": "h0", "destination": "h1", "bytes": 2}]}]});
    let mut it = workload(&json!({"seed": 1, "applications": [coflow]}), 2).unwrap();
    it.start(Time::from_ps(100));
    assert_eq!(it.next_timeout(), Some(Time::from_ps(100)));
    it.handle_timeout(Time::from_ps(100));
    assert!(it.poll_action().is_some() && it.poll_action().is_none());
    assert_eq!(it.next_timeout(), Some(Time::from_ps(500)));
}

#[test]
fn outcomes_of_an_application_that_is_not_there_change_nothing() {
    let mut it = workload(&json!({"seed": 1, "applications": [incast("i")]}), 2).unwrap();
    it.start(Time::ZERO);
    let id = TransferId { application: 7, token: 0 };
    it.note_ideal(id, Duration::from_ps(1));
    it.handle_transfer(Time::ZERO, id, Outcome::Finished);
    assert!(it.poll_action().is_none() && !it.is_finished());
}

#[test]
fn dscp_and_tcp_of_an_application_are_its_own_or_those_of_all() {
    let mut own = incast("own");
    own["tcp"] = json!({"algorithm": "dctcp"});
    own["dscp"] = json!(46);
    let it =
        workload(&json!({"seed": 1, "tcp": {"mss": 9}, "applications": [incast("common"), own]}), 2).unwrap();
    assert_eq!((it.len(), it.is_empty(), it.dscp(0), it.dscp(1)), (2, false, 0, 46));
    assert_eq!(it.tcp(0), (" tcp".to_owned(), Some(r#"{"mss":9}"#)));
    assert_eq!(it.tcp(1), (" applications[1].tcp".to_owned(), Some(r#"{"algorithm":"dctcp"}"#)));
    let report = serde_json::to_value(it.report()).unwrap();
    assert_eq!((&report[0]["dscp"], &report[1]["dscp"]), (&Value::Null, &json!(46)), "0 is left out");
}
