//! Incast in closed form: its requests, their times, and the durations of its rounds.

use proptest::prelude::*;
use serde_json::{json, Value};
use workload::{Connection, Outcome, Transfer};

use super::driver::{describe, hash, names, run, run_evenly, Begun};
use super::stats::check_distribution;

fn incast(fields: &Value) -> Value {
    let mut all =
        json!({"client": "h0", "servers": ["h1", "h2", "h3"], "bytes_per_server": 20_000, "rounds": 3});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    describe(1, "incast", &all)
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
        let fields = json!({"servers": names(servers.iter().copied()), "rounds": rounds, "think_ps": think, "start_ps": start,
            "request_bytes": 99});
        let mut number = 0;
        let network = |_: u64, _: &Transfer| {
            number += 1;
            let fails = hash(&[salt, number, 1]) % one_in == 0;
            (1 + hash(&[salt, number]) % 10_000, if fails { Outcome::Failed } else { Outcome::Finished })
        };
        let done = run(&incast(&fields), 9, network);
        let (mut at, mut number, mut failed, mut times) = (start, 0, 0, Vec::new());
        let (mut asked, mut ended) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let numbers: Vec<_> = (0..servers.len() as u64).map(|place| number + place + 1).collect();
            number += servers.len() as u64;
            let slowest = numbers.iter().map(|number| 1 + hash(&[salt, *number]) % 10_000).max().unwrap();
            let fail = numbers.iter().filter(|number| hash(&[salt, **number, 1]) % one_in == 0).count();
            failed += fail;
            if fail == 0 {
                times.push(slowest);
            }
            asked.extend(servers.iter().map(|server| (at, 0, *server as u32)));
            ended.push(at + slowest);
            at += slowest + think;
        }
        let report = done.report(0);
        prop_assert_eq!(done.finished_at(), at - think);
        prop_assert_eq!(&report["failed"], failed);
        prop_assert_eq!(report["rounds_ps"]["count"].as_u64().unwrap_or(0), times.len() as u64);
        prop_assert_eq!(report["rounds_ps"]["max_ps"].as_u64(), times.iter().max().copied());
        prop_assert_eq!(report["rounds_ps"]["min_ps"].as_u64(), times.iter().min().copied());
        prop_assert_eq!(done.begun(), asked);
        let bytes = |one: &Begun| (one.transfer.request_bytes, one.transfer.response_bytes);
        prop_assert!(done.transfers.iter().all(|one| bytes(one) == (99, 20_000)));
        prop_assert_eq!(done.groups_ended.iter().map(|(at, _)| *at).collect::<Vec<_>>(), ended);
    }
}
