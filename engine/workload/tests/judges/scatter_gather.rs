//! Scatter and gather, predicted from its questions: the requests and their times, the answers, and the durations of queries.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{json, Value};
use workload::{Outcome, Transfer};

use super::driver::{describe, hash, names, ps, run, run_evenly, run_until, Run, SECOND};
use super::stats::{check_distribution, check_even, exponential};

const MILLISECOND: u64 = SECOND / 1000;

/// Bytes in both directions of a question, of an exchange with a server, and of an answer, all different.
const QUESTION: (u64, u64) = (111, 0);
const SERVER: (u64, u64) = (111, 2222);
const ANSWER: (u64, u64) = (3333, 0);

fn scatter(seed: u64, fields: &Value) -> Value {
    let mut all = json!({
        "clients": ["h0"], "racks": [["h0", "h1"], ["h2", "h3", "h4"], ["h5", "h6", "h7", "h8"]], "request_bytes": QUESTION.0,
        "response_bytes": SERVER.1, "answer_bytes": ANSWER.0, "mean_interval_ps": MILLISECOND, "queries": 50,
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    describe(seed, "scatter_gather", &all)
}

fn bytes(one: &Transfer) -> (u64, u64) {
    (one.request_bytes, one.response_bytes)
}

/// Returns the time, the client and the destination of each question.
fn questions(done: &Run) -> Vec<(u64, u32, u32)> {
    let all = done.transfers.iter().filter(|one| bytes(&one.transfer) == QUESTION);
    all.map(|one| (one.at, one.transfer.from, one.transfer.to)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_is_foretold_from_who_is_asked(
        seed in any::<u64>(), salt in any::<u64>(), queries in 1..30_u64, clients in prop::collection::vec(0..9_usize, 1..4),
        most in prop::sample::select(vec![MILLISECOND / 100, 5 * MILLISECOND]), one_in in 4..60_u64, fails in any::<bool>(),
    ) {
        let racks: [Vec<u32>; 3] = [vec![0, 1], vec![2, 3, 4], vec![5, 6, 7, 8]];
        let rule = |at: u64, from: u32, to: u32, (there, back): (u64, u64)| {
            let place = [salt, at, from.into(), to.into(), there, back];
            let is_lost = fails && hash(&[&place[..], &[1]].concat()) % one_in == 0;
            (1 + hash(&place) % most, if is_lost { Outcome::Failed } else { Outcome::Finished })
        };
        let network = |at: u64, one: &Transfer| rule(at, one.from, one.to, bytes(one));
        let done = run(&scatter(seed, &json!({"clients": names(clients.iter().copied()), "queries": queries})), 9, network);

        let (mut foretold, mut times, mut failed, mut finished) = (Vec::new(), Vec::new(), 0_u64, 0);
        let asked = questions(&done);
        for (at, client, gatherer) in &asked {
            let rack = racks.iter().find(|rack| rack.contains(gatherer)).unwrap();
            prop_assert!(!rack.contains(client), "host {} asks host {}", client, gatherer);
            foretold.push((*at, *client, *gatherer, QUESTION));
            let (takes, outcome) = rule(*at, *client, *gatherer, QUESTION);
            let mut end = at + takes;
            let mut is_lost = outcome == Outcome::Failed;
            if !is_lost {
                let mut slowest = end;
                for server in rack.iter().filter(|host| *host != gatherer) {
                    foretold.push((end, *gatherer, *server, SERVER));
                    let (takes, outcome) = rule(end, *gatherer, *server, SERVER);
                    slowest = slowest.max(end + takes);
                    is_lost |= outcome == Outcome::Failed;
                }
                end = slowest;
            }
            if !is_lost {
                foretold.push((end, *gatherer, *client, ANSWER));
                let (takes, outcome) = rule(end, *gatherer, *client, ANSWER);
                end += takes;
                is_lost = outcome == Outcome::Failed;
            }
            finished = finished.max(end);
            if is_lost { failed += 1 } else { times.push(end - at) }
        }
        let mut sent: Vec<_> = done.transfers.iter()
            .map(|one| (one.at, one.transfer.from, one.transfer.to, bytes(&one.transfer))).collect();
        sent.sort_unstable();
        foretold.sort_unstable();
        prop_assert_eq!(sent, foretold);

        let mut by_client: BTreeMap<u32, u64> = BTreeMap::new();
        asked.iter().for_each(|(_, client, _)| *by_client.entry(*client).or_default() += 1);
        for (client, count) in by_client {
            let times = clients.iter().filter(|host| **host == client as usize).count() as u64;
            prop_assert_eq!(count, queries * times);
        }
        let report = done.report(0);
        prop_assert_eq!(&report["failed"], failed);
        prop_assert_eq!(report["query_ps"]["count"].as_u64().unwrap_or(0), times.len() as u64);
        prop_assert_eq!(report["query_ps"]["max_ps"].as_u64(), times.iter().max().copied());
        prop_assert_eq!(report["query_ps"]["min_ps"].as_u64(), times.iter().min().copied());
        let mean = times.iter().sum::<u64>().checked_div(times.len() as u64);
        prop_assert_eq!(report["query_ps"]["mean_ps"].as_u64(), mean);
        prop_assert_eq!(done.finished_at(), finished);
        prop_assert_eq!((done.under_way(), done.open_groups()), (0, 0));
    }
}

#[test]
fn questions_come_at_exponential_gaps_to_any_other_rack_and_any_host_of_it() {
    let done = run_evenly(&scatter(5, &json!({"queries": 6000})), 9, 1000);
    let asked = questions(&done);
    assert_eq!(asked.len(), 6000);
    let mut before = 0;
    let sample: Vec<_> =
        asked.iter().map(|(at, ..)| (*at - std::mem::replace(&mut before, *at)) as f64).collect();
    check_distribution(&sample, exponential(MILLISECOND as f64), "gap");
    let rack_of = |(_, _, to): &(u64, u32, u32)| usize::from(*to >= 5);
    check_even(asked.iter().map(rack_of), 2, "racks");
    for (rack, hosts) in [(0, 2..5), (1, 5..9)] {
        let of_rack = asked.iter().filter(|one| rack_of(one) == rack);
        check_even(
            of_rack.map(|(_, _, to)| to - hosts.start).map(|host| host as usize),
            hosts.len(),
            "hosts of a rack",
        );
    }
    assert_eq!(ps(&done.report(0)["query_ps"]["max_ps"]), 3000);
}

#[test]
fn queries_in_the_background_have_no_end() {
    let fields = json!({"background": true, "queries": null});
    let mut it = Run::new(&scatter(1, &fields), 9);
    assert!(it.workload.is_finished(), "nobody waits for it");
    run_until(&mut it, SECOND, |_, _| (1000, Outcome::Finished));
    let count = questions(&it).len();
    assert!((850..1150).contains(&count), "{count}");
    assert_eq!(it.report(0)["finished_ps"], Value::Null);
}

#[test]
fn beyond_65536_queries_that_are_open_further_ones_fail() {
    // All queries are made within 0.1 s, and no question arrives before 1 s.
    let fields = json!({"queries": 70_000, "mean_interval_ps": 1_000_000});
    let done = run_evenly(&scatter(1, &fields), 9, SECOND);
    assert_eq!(questions(&done).len(), 65_536);
    let report = done.report(0);
    assert_eq!((ps(&report["failed"]), ps(&report["query_ps"]["count"])), (70_000 - 65_536, 65_536));
    assert_eq!(ps(&report["query_ps"]["max_ps"]), 3 * SECOND);
}
