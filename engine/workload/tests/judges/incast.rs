//! Incast in closed form: its requests, their times, and the durations of its rounds.

use proptest::prelude::*;
use serde_json::{json, Value};
use workload::{Connection, Outcome, Transfer};

use super::driver::{describe, hash, names, ps, run, run_evenly, LINK_BPS, SECOND};
use super::stats::check_distribution;

fn incast(fields: &Value) -> Value {
    let mut all =
        json!({"client": "h0", "servers": ["h1", "h2", "h3"], "bytes_per_server": 20_000, "rounds": 3});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    describe(1, "incast", &all)
}

/// A network in which the responses pass the client's link one after the other.
fn one_link() -> impl FnMut(u64, &Transfer) -> (u64, Outcome) {
    let mut free_at = 0;
    move |at, one| {
        free_at = at.max(free_at) + one.response_bytes * 8 * (SECOND / LINK_BPS);
        (free_at - at, Outcome::Finished)
    }
}

#[test]
fn a_round_over_one_link_takes_the_time_of_all_bytes() {
    for (servers, bytes, rounds, think) in [(1, 1, 1, 0), (7, 100_000, 1, 0), (40, 20_000, 12, 777)] {
        let description = incast(&json!({
            "servers": names(1..=servers), "bytes_per_server": bytes, "rounds": rounds, "think_ps": think, "start_ps": 55,
        }));
        let done = run(&description, 41, one_link());
        let round = servers as u64 * bytes * 8_000;
        assert_eq!(done.finished_at(), 55 + rounds * round + (rounds - 1) * think);
        let report = &done.report(0)["rounds_ps"];
        assert_eq!(ps(&report["count"]), rounds);
        for field in ["min_ps", "mean_ps", "max_ps", "p50_ps", "p99_ps"] {
            assert_eq!(ps(&report[field]), round, "{field}");
        }
    }
}

#[test]
fn every_server_is_asked_once_a_round_and_all_at_the_same_time() {
    let done = run_evenly(&incast(&json!({"think_ps": 10, "request_bytes": 99})), 4, 1000);
    let asked: Vec<_> =
        [0, 1010, 2020].into_iter().flat_map(|at| [1, 2, 3].map(|host| (at, 0, host))).collect();
    assert_eq!(done.begun(), asked);
    let bytes = |one: &super::driver::Begun| (one.transfer.request_bytes, one.transfer.response_bytes);
    assert!(done.transfers.iter().all(|one| bytes(one) == (99, 20_000)));
    assert_eq!(done.groups_ended.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1000, 2010, 3020]);
}

#[test]
fn a_request_has_280_bytes_and_a_connection_of_its_own_unless_the_description_says_otherwise() {
    let done = run_evenly(&incast(&json!({})), 4, 1);
    assert!(done.transfers.iter().all(|one| one.transfer.request_bytes == 280));
    assert!(done.transfers.iter().all(|one| one.transfer.connection == Connection::Own));
    assert!(done.opened.is_empty());
}

#[test]
fn persistent_connections_are_opened_at_the_start_one_for_each_server_even_on_one_host() {
    let fields =
        json!({"servers": ["h1", "h2", "h1"], "connection": "persistent", "start_ps": 500, "rounds": 2});
    let done = run_evenly(&incast(&fields), 4, 70);
    assert_eq!(done.opened, [(0, 0, 1), (1, 0, 2), (2, 0, 1)]);
    let over: Vec<_> = done.transfers.iter().map(|one| one.transfer.connection).collect();
    assert_eq!(over, [0, 1, 2, 0, 1, 2].map(Connection::Shared));
    // The two servers on h1 do not wait for each other.
    assert_eq!(done.finished_at(), 500 + 2 * 70);
}

#[test]
fn a_round_with_a_failure_is_not_measured_and_the_next_one_is() {
    let mut begun = 0;
    let done = run(&incast(&json!({"rounds": 4})), 4, |_, _| {
        begun += 1;
        // The second response of the second round fails, and all of the third.
        let fails = begun == 5 || (7..=9).contains(&begun);
        (1000 * begun, if fails { Outcome::Failed } else { Outcome::Finished })
    });
    let report = done.report(0);
    assert_eq!(report["failed"], 4);
    assert_eq!((&report["rounds_ps"]["count"], &report["rounds_ps"]["max_ps"]), (&json!(2), &json!(12_000)));
    assert_eq!((done.transfers.len(), done.groups_ended.len()), (12, 4));
}

#[test]
fn when_every_round_fails_there_is_no_distribution_and_it_still_ends() {
    let done = run(&incast(&json!({})), 4, |_, _| (9, Outcome::Failed));
    let report = done.report(0);
    assert_eq!(
        (&report["rounds_ps"], &report["failed"], &report["finished_ps"]),
        (&Value::Null, &json!(9), &json!(27))
    );
}

#[test]
fn jitter_is_uniform_below_its_bound_and_a_round_lasts_to_its_last_answer() {
    let (below, takes) = (1_000_000, 5_000_000);
    let servers: Vec<_> = (0..300).map(|number| 1 + number % 20).collect();
    let fields = json!({"servers": names(servers), "rounds": 20, "start_jitter_ps": below});
    let done = run_evenly(&incast(&fields), 21, takes);
    let mut delays = Vec::new();
    let mut began = 0;
    for (round, transfers) in done.transfers.chunks(300).enumerate() {
        let last = transfers.iter().map(|one| one.at).max().unwrap();
        assert_eq!(done.groups_ended[round].0, last + takes);
        delays.extend(transfers.iter().map(|one| (one.at - began) as f64));
        began = last + takes;
    }
    assert!(delays.iter().all(|delay| *delay < below as f64));
    check_distribution(&delays, |delay| (delay + 0.5) / below as f64, "start jitter");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rounds_follow_each_other_and_each_lasts_as_long_as_its_slowest_answer(
        servers in prop::collection::vec(1..9_usize, 1..12), rounds in 1..8_u64, think in 0..5_000_u64, start in 0..5_000_u64,
        salt in any::<u64>(), one_in in 2..30_u64,
    ) {
        let fields = json!({"servers": names(servers.iter().copied()), "rounds": rounds, "think_ps": think, "start_ps": start});
        let mut number = 0;
        let network = |_: u64, _: &Transfer| {
            number += 1;
            let fails = hash(&[salt, number, 1]) % one_in == 0;
            (1 + hash(&[salt, number]) % 10_000, if fails { Outcome::Failed } else { Outcome::Finished })
        };
        let done = run(&incast(&fields), 9, network);
        let (mut at, mut number, mut failed, mut times) = (start, 0, 0, Vec::new());
        for _ in 0..rounds {
            let numbers: Vec<_> = (0..servers.len() as u64).map(|place| number + place + 1).collect();
            number += servers.len() as u64;
            let slowest = numbers.iter().map(|number| 1 + hash(&[salt, *number]) % 10_000).max().unwrap();
            let fail = numbers.iter().filter(|number| hash(&[salt, **number, 1]) % one_in == 0).count();
            failed += fail;
            if fail == 0 {
                times.push(slowest);
            }
            at += slowest + think;
        }
        let report = done.report(0);
        prop_assert_eq!(done.finished_at(), at - think);
        prop_assert_eq!(&report["failed"], failed);
        prop_assert_eq!(report["rounds_ps"]["count"].as_u64().unwrap_or(0), times.len() as u64);
        prop_assert_eq!(report["rounds_ps"]["max_ps"].as_u64(), times.iter().max().copied());
        prop_assert_eq!(report["rounds_ps"]["min_ps"].as_u64(), times.iter().min().copied());
        prop_assert_eq!(done.transfers.len() as u64, rounds * servers.len() as u64);
    }
}
