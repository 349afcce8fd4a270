//! Phases, step by step as in the text: all ranks compute, send their messages, and wait for the last one.

use proptest::prelude::*;
use serde_json::{json, Value};
use workload::{Connection, Outcome, Transfer};

use super::driver::{describe, hash, names, ps, run, run_evenly, SECOND};
use super::stats::{check_distribution, lognormal};

/// A step: the computing time of each rank, and its messages as sending rank, receiving rank, bytes.
type Step = (u64, Vec<(usize, usize, u64)>);

fn phases(ranks: usize, iterations: u64, steps: &[Step], fields: &Value) -> Value {
    let step = |(compute, messages): &Step| json!({"compute_ps": compute, "messages": messages});
    let steps: Vec<_> = steps.iter().map(step).collect();
    let mut all =
        json!({"ranks": names(0..ranks), "iterations": iterations, "steps": steps, "connection": "new"});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    describe(1, "phases", &all)
}

#[test]
fn a_pair_of_ranks_has_one_persistent_connection_for_each_direction_opened_at_the_start() {
    let steps = [(10, vec![(0, 1, 1), (1, 0, 1), (0, 1, 2)]), (10, vec![(0, 2, 1), (0, 1, 1)])];
    let done = run_evenly(&phases(3, 3, &steps, &json!({"connection": "persistent"})), 3, 100);
    assert_eq!(done.opened, [(0, 0, 1), (1, 1, 0), (2, 0, 2)]);
    assert_eq!(done.transfers.len(), 3 * 5);
    for one in &done.transfers {
        let number = done.opened.iter().position(|(_, from, to)| one.hosts() == (*from, *to)).unwrap();
        assert_eq!(one.transfer.connection, Connection::Shared(number as u32));
    }
    // The second message from rank 0 to rank 1 waits for the first.
    assert_eq!(done.finished_at(), 3 * (10 + 200 + 10 + 100));
}

#[test]
fn the_noise_of_computing_is_log_normal_and_each_rank_has_its_own() {
    let (compute, sigma) = (1_000_000_000, 0.25);
    let ring = vec![(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)];
    let done = run_evenly(&phases(4, 1500, &[(compute, ring)], &json!({"noise_sigma": sigma})), 4, 10);
    let mut began = 0;
    let mut spans = vec![Vec::new(); 4];
    for (step, messages) in done.transfers.chunks(4).enumerate() {
        messages.iter().for_each(|one| spans[one.transfer.from as usize].push((one.at - began) as f64));
        let last = messages.iter().map(|one| one.at).max().unwrap();
        assert_eq!(done.groups_ended[step].0, last + 10, "the slowest rank decides");
        began = last + 10;
    }
    for (rank, sample) in spans.iter().enumerate() {
        check_distribution(sample, lognormal(compute as f64, sigma), &format!("rank {rank}"));
    }
    assert_ne!(spans[0], spans[1]);
    assert_eq!(ps(&done.report(0)["waited_ps"]), 1500 * 10);
}

fn step(ranks: usize) -> impl Strategy<Value = Step> {
    let message = (0..ranks, 1..ranks, 1..50_000_u64);
    let messages = prop::collection::vec(message, 0..9).prop_map(move |messages| {
        messages.into_iter().map(|(from, further, bytes)| (from, (from + further) % ranks, bytes)).collect()
    });
    (0..90_000_u64, messages)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn steps_are_where_a_loop_over_their_messages_has_them(
        (ranks, steps) in (2..6_usize).prop_flat_map(|ranks| (Just(ranks), prop::collection::vec(step(ranks), 1..5))),
        iterations in 1..4_u64, salt in any::<u64>(), one_in in prop::option::of(2..9_u64),
    ) {
        let rule = |at: u64, from: u32, to: u32, bytes: u64| {
            let place = [salt, at, from.into(), to.into(), bytes];
            let is_lost = one_in.is_some_and(|one_in| hash(&[&place[..], &[1]].concat()) % one_in == 0);
            (1 + hash(&place) % 100_000, is_lost)
        };
        let network = |at: u64, one: &Transfer| {
            let (takes, is_lost) = rule(at, one.from, one.to, one.request_bytes);
            (takes, if is_lost { Outcome::Failed } else { Outcome::Finished })
        };
        let done = run(&phases(ranks, iterations, &steps, &json!({})), ranks, network);

        let (mut now, mut foretold, mut times, mut waited, mut resent) = (0, Vec::new(), Vec::new(), 0, 0_u64);
        let mut ends = Vec::new();
        for (compute, messages) in (0..iterations).flat_map(|_| &steps) {
            let computed = now + compute;
            let mut end = computed;
            for (from, to, bytes) in messages {
                let (from, to) = (*from as u32, *to as u32);
                let mut at = computed;
                loop {
                    foretold.push((at, from, to, *bytes));
                    let (takes, is_lost) = rule(at, from, to, *bytes);
                    at += takes;
                    if !is_lost {
                        break;
                    }
                    (at, resent) = (at + SECOND, resent + 1);
                }
                end = end.max(at);
            }
            waited += end - computed;
            times.push(end - now);
            ends.push(end);
            now = end;
        }
        let mut sent: Vec<_> = done.transfers.iter().map(|one| (one.at, one.transfer.from, one.transfer.to, one.transfer.request_bytes)).collect();
        sent.sort_unstable();
        foretold.sort_unstable();
        prop_assert_eq!(sent, foretold);
        prop_assert_eq!(done.finished_at(), now);
        prop_assert_eq!(done.groups_ended.iter().map(|(at, _)| *at).collect::<Vec<_>>(), ends);
        let report = done.report(0);
        prop_assert_eq!(&report["waited_ps"], waited);
        prop_assert_eq!(&report["resent"], resent);
        prop_assert_eq!(ps(&report["step_ps"]["count"]), times.len() as u64);
        prop_assert_eq!(ps(&report["step_ps"]["mean_ps"]), times.iter().sum::<u64>() / times.len() as u64);
        prop_assert_eq!(Some(ps(&report["step_ps"]["max_ps"])), times.iter().max().copied());
    }
}
