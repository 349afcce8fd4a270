//! The cluster over a network that only delays, with occasional failing transfers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::application::Timers;
use crate::spec::{hosts, parse_one};
use crate::transfer::{Action, Transfer};

/// Returns a cluster with `fields` and these jobs.
fn cluster(hosts_count: usize, fields: serde_json::Value, jobs: serde_json::Value) -> MapReduce {
    let mut description = json!({"kind": "mapreduce", "name": "cluster", "jobs": jobs});
    for (key, value) in fields.as_object().unwrap() {
        description[key] = value.clone();
    }
    let infos = hosts(hosts_count);
    parse_one(&description.to_string(), &infos, MapReduceSpec::check).unwrap()
}

fn job(name: &str, maps: u32, reducers: u32, shuffle_bytes: u64) -> serde_json::Value {
    json!({"name": name, "maps": maps, "reducers": reducers, "input_bytes": 64_000_000 * u64::from(maps),
           "shuffle_bytes": shuffle_bytes, "output_bytes": shuffle_bytes})
}

/// The observations of a run.
#[derive(Default)]
struct Seen {
    log: Vec<(Time, Token)>,
    transfers: Vec<(Time, Transfer)>,
    ended_groups: BTreeSet<u64>,
    /// By job and reducer: its input in bytes when it began to write.
    inputs: BTreeMap<(u32, u32), u64>,
    max_fetches: BTreeMap<(u32, u32), u32>,
}

/// Runs to the end. A transfer takes 1 ms plus 8 ns per byte; every `fail_every`th one fails.
fn run(cluster: &mut MapReduce, fail_every: Option<u64>) -> Seen {
    let (mut timers, mut actions) = (Timers::default(), VecDeque::new());
    let mut under_way: BinaryHeap<Reverse<(Time, u64, u64, bool)>> = BinaryHeap::new();
    let mut seen = Seen::default();
    let mut fetching: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut started = 0;
    let mut now = Time::ZERO;
    let mut steps = 0;
    macro_rules! out {
        () => {
            &mut Out { now, application: 0, timers: &mut timers, actions: &mut actions }
        };
    }
    cluster.start(out!());
    while cluster.finished_at().is_none() {
        steps += 1;
        assert!(steps < 2_000_000, "it does not come to an end");
        let timer = timers.next();
        let transfer = under_way.peek().map(|Reverse((at, ..))| *at);
        if timer.is_none_or(|timer| transfer.is_some_and(|transfer| transfer < timer)) {
            let Reverse((at, _, token, ok)) = under_way.pop().expect("something is left to happen");
            now = at;
            if let Token::Fetch { job, reducer, .. } = Token::unpack(token) {
                *fetching.get_mut(&(job, reducer)).unwrap() -= 1;
            }
            seen.log.push((now, Token::unpack(token)));
            let outcome = if ok { Outcome::Finished } else { Outcome::Failed };
            cluster.handle_transfer(token, outcome, out!());
        } else {
            let timer = timers.pop_due(Time::MAX).unwrap();
            now = timer.at;
            let token = Token::unpack(timer.token);
            if let Token::OutputBegins { job, reducer } = token {
                seen.inputs.insert((job, reducer), cluster.jobs[job as usize].input_bytes_of(reducer));
            }
            seen.log.push((now, token));
            cluster.handle_timer(timer.token, out!());
        }
        while let Some(action) = actions.pop_front() {
            let transfer = match action {
                Action::Transfer(transfer) => transfer,
                Action::GroupEnds { group, .. } => {
                    assert!(seen.ended_groups.insert(group), "group {group} ends twice");
                    continue;
                }
                other => panic!("{other:?}"),
            };
            if let Some(group) = transfer.group {
                assert!(!seen.ended_groups.contains(&group), "a transfer of group {group} after its end");
            }
            started += 1;
            let bytes = transfer.request_bytes + transfer.response_bytes;
            let at = now + Duration::from_ms(1) + Duration::from_ns(8) * bytes;
            let ok = fail_every.is_none_or(|every| started % every != 0);
            under_way.push(Reverse((at, started, transfer.id.token, ok)));
            seen.transfers.push((now, transfer));
            if let Token::Fetch { job, reducer, .. } = Token::unpack(transfer.id.token) {
                let count = fetching.entry((job, reducer)).or_default();
                *count += 1;
                let max = seen.max_fetches.entry((job, reducer)).or_default();
                *max = (*max).max(*count);
            }
        }
        check_slots(cluster);
        check_order(cluster);
    }
    assert!(under_way.is_empty(), "a cluster that has finished waits for nothing");
    seen
}

/// Checks that no worker runs more tasks than it has slots, and that the free slots are the unused ones.
fn check_slots(cluster: &MapReduce) {
    for (number, worker) in cluster.workers.iter().enumerate() {
        assert!(worker.free_map_slots <= cluster.settings.map_slots);
        let running: u32 = cluster.jobs.iter().map(|job| job.running_reducers(number as u32)).sum();
        assert_eq!(worker.free_reduce_slots + running, cluster.settings.reduce_slots);
    }
}

/// Checks that a later job gets a map only if no earlier one has any left.
fn check_order(cluster: &MapReduce) {
    let mut first_waits = false;
    for number in &cluster.active {
        let (started, maps) = cluster.jobs[*number as usize].started_maps();
        // Jobs arrive behind the existing ones, so a waiting job keeps all later ones from starting.
        assert!(!first_waits || started == 0);
        first_waits |= started < maps;
    }
}

fn count(seen: &Seen, matches: impl Fn(&Token) -> bool) -> usize {
    seen.log.iter().filter(|(_, token)| matches(token)).count()
}

#[test]
fn a_token_gives_back_what_was_put_in() {
    let (job, reducer, map) = ((1 << JOB_BITS) - 1, (1 << REDUCER_BITS) - 1, (1 << MAP_BITS) - 1);
    for token in [
        Token::Heartbeat { worker: map },
        Token::Arrival { job },
        Token::ReadInput { job, map },
        Token::MapEnds { job, map },
        Token::FetchBegins { job, reducer },
        Token::Fetch { job, reducer, map },
        Token::OutputBegins { job, reducer },
        Token::OutputWritten { job, reducer },
        Token::OutputCopy { job, reducer, copy: 2 },
    ] {
        assert_eq!(Token::unpack(token.pack()), token);
    }
}

#[test]
fn one_map_and_one_reducer_take_the_sum_of_their_times() {
    let fields =
        json!({"noise_sigma": 0.0, "reserved": 0, "slowstart": 1.0, "heartbeat_ps": 1_000_000_000_000_u64});
    let mut it = cluster(1, fields, json!([job("one", 1, 1, 64_000_000)]));
    let seen = run(&mut it, None);
    assert!(seen.transfers.is_empty(), "all is on the only host");
    let report = it.jobs[0].report();
    let beat = |number: u64| {
        let first = seen.log.iter().find(|(_, token)| matches!(token, Token::Heartbeat { .. })).unwrap().0;
        first + Duration::from_secs(1) * number
    };
    // 64 MB: 1.6 s start, 1.024 s map, 1.1264 s sort; read twice, written twice: the output exceeds the buffer of 50 MiB.
    let mib = 1_048_576.0;
    let map = 1.6 + 1.024 + 1.1264 + 128e6 / (280.0 * mib) + 128e6 / (75.0 * mib);
    let map_end = report.last_map_end_ps.unwrap() as f64 / 1e12;
    assert_eq!(report.first_map_start_ps, Some(beat(0).as_ps()));
    assert!((map_end - beat(0).as_secs_f64() - map).abs() < 1e-9);
    // The next heartbeat reports it and starts the reducer, whose JVM takes 1.6 s; all partitions are available then.
    let reported = beat(map.ceil() as u64);
    assert_eq!(report.last_fetch_end_ps, Some((reported + Duration::from_ms(1_600)).as_ps()));
    // Merge 0.4 s, start 2.4 s, 90 cycles per byte; written and read once, then the output.
    let reduce = 0.4 + 2.4 + 64e6 * 90.0 / 2.5e9 + 64e6 / (280.0 * mib) + 2.0 * 64e6 / (75.0 * mib);
    let end = it.finished_at().unwrap().as_secs_f64();
    assert!((end - reported.as_secs_f64() - 1.6 - reduce).abs() < 1e-9);
    let shares = [report.map_share, report.shuffle_share, report.reduce_share].map(Option::unwrap);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((shares[0] - map_end / end).abs() < 1e-9);
    assert_eq!(report.local_maps, 1);
}

#[test]
fn slowstart_holds_reducers_back_until_enough_maps_are_known() {
    for (slowstart, least) in [(0.0, 0), (0.05, 1), (0.5, 10), (1.0, 20)] {
        let mut it = cluster(5, json!({ "slowstart": slowstart }), json!([job("j", 20, 4, 1_000_000)]));
        let seen = run(&mut it, None);
        let first =
            seen.log.iter().position(|(_, token)| matches!(token, Token::FetchBegins { .. })).unwrap();
        let startup = Duration::from_ms(1_000); // Less than any JVM takes.
        let ends = seen.log[..first]
            .iter()
            .filter(|(at, token)| matches!(token, Token::MapEnds { .. }) && *at + startup < seen.log[first].0)
            .count();
        assert!(ends >= least, "{slowstart}: {ends}");
    }
}

#[test]
fn a_split_that_lies_elsewhere_is_read_over_the_network_once() {
    let fields = json!({"locality": {"replicas": 1}, "map_slots": 1, "noise_sigma": 0.0});
    let mut it = cluster(7, fields, json!([job("j", 30, 2, 1_000_000)]));
    let seen = run(&mut it, None);
    let report = it.jobs[0].report();
    let reads: Vec<_> = seen
        .transfers
        .iter()
        .filter(|(_, transfer)| matches!(Token::unpack(transfer.id.token), Token::ReadInput { .. }))
        .collect();
    assert_eq!(reads.len() as u32, 30 - report.local_maps);
    assert!(!reads.is_empty() && report.local_maps > 0);
    assert!(reads.iter().all(|(_, read)| read.response_bytes == 64_000_000 && read.from != read.to));
}

/// Returns the remote reads of splits: (reader, host with the split).
fn reads(locality: serde_json::Value) -> Vec<(u32, u32)> {
    let fields = json!({"locality": locality, "map_slots": 1, "noise_sigma": 0.0});
    let mut it = cluster(9, fields, json!([job("j", 60, 2, 1_000_000)]));
    let seen = run(&mut it, None);
    seen.transfers
        .iter()
        .filter(|(_, transfer)| matches!(Token::unpack(transfer.id.token), Token::ReadInput { .. }))
        .map(|(_, read)| (read.to, read.from))
        .collect()
}

#[test]
fn with_racks_a_split_is_read_from_the_rack_where_it_is_and_without_from_the_first() {
    let racks = json!([["h0", "h1", "h2", "h3", "h4"], ["h5", "h6", "h7", "h8"]]);
    let crossing = |reads: &[(u32, u32)]| reads.iter().filter(|(to, from)| (*to < 5) != (*from < 5)).count();
    let anywhere = reads(json!({"replicas": 2}));
    let nearest = reads(json!({"replicas": 2, "racks": racks}));
    assert!(crossing(&nearest) < crossing(&anywhere), "{nearest:?}, {anywhere:?}");
    assert_eq!(anywhere, reads(json!({"replicas": 2, "racks": [["h1"], ["h2"]]})), "nobody shares a rack");
    // A split that all but one of the workers hold is in every rack.
    assert_eq!(crossing(&reads(json!({"replicas": 7, "racks": racks}))), 0);
}

#[test]
fn racks_that_cannot_be_are_refused_with_their_place() {
    for (racks, place) in [
        (json!([["h1", "h2"], ["h2"]]), "locality.racks[1][0]"),
        (json!([["h1"], []]), "locality.racks[1]"),
        (json!([["nobody"]]), "locality.racks[0][0]"),
    ] {
        let fields = json!({"kind": "mapreduce", "name": "c", "jobs": [job("j", 1, 1, 1)],
                            "locality": {"replicas": 1, "racks": racks}});
        let refused = parse_one(&fields.to_string(), &hosts(4), MapReduceSpec::check).err().unwrap();
        assert!(refused.to_string().contains(place), "{refused}");
    }
}

#[test]
fn output_is_copied_along_a_chain_of_other_workers() {
    let mut it = cluster(6, json!({"output_replication": 3}), json!([job("j", 4, 5, 10_000_000)]));
    let seen = run(&mut it, None);
    for reducer in 0..5 {
        let copies: Vec<_> = seen
            .transfers
            .iter()
            .filter(|(_, transfer)| {
                matches!(Token::unpack(transfer.id.token), Token::OutputCopy { reducer: of, .. } if of == reducer)
            })
            .map(|(_, transfer)| *transfer)
            .collect();
        assert_eq!(copies.len(), 2);
        assert_eq!(copies[0].to, copies[1].from);
        assert!(copies[0].from != copies[1].to && copies[0].from != copies[0].to);
        assert!(copies.iter().all(|copy| copy.request_bytes == 2_000_000 && copy.response_bytes == 0));
    }
}

#[test]
fn a_reducers_shuffle_lasts_from_its_first_fetch_to_its_last_byte_over_the_network() {
    for fail_every in [None, Some(7)] {
        let mut it = cluster(4, json!({"slowstart": 0.2}), json!([job("j", 20, 5, 10_000_000)]));
        let seen = run(&mut it, fail_every);
        let lasted = |reducer: u32| {
            let of = |token| matches!(token, Token::Fetch { reducer: of, .. } if of == reducer);
            let began = seen.transfers.iter().find(|(_, one)| of(Token::unpack(one.id.token))).unwrap().0;
            seen.log.iter().rfind(|(_, token)| of(*token)).unwrap().0.since(began).as_ps()
        };
        let all: Vec<_> = (0..5).map(lasted).collect();
        let found = it.jobs[0].report().reducer_shuffle_ps.unwrap();
        let ends = (*all.iter().min().unwrap(), *all.iter().max().unwrap());
        assert_eq!((found.count, found.min_ps, found.max_ps), (5, ends.0, ends.1));
        assert_eq!(found.mean_ps, all.iter().sum::<u64>() / 5);
        assert!(ends.0 > 1_000_000_000_000, "reducers wait for maps: {ends:?}");
    }
}

#[test]
fn a_job_without_fetches_over_the_network_has_no_shuffle_time() {
    let mut it = cluster(1, json!({"reserved": 0}), json!([job("one", 3, 2, 64_000_000)]));
    run(&mut it, None);
    assert_eq!(it.jobs[0].report().reducer_shuffle_ps, None);
}

#[test]
fn jobs_are_served_in_the_order_in_which_they_arrive() {
    let mut late = job("late", 12, 2, 1_000);
    late["arrival_ps"] = json!(5_000_000_000_000_u64);
    let mut it = cluster(3, json!({}), json!([late, job("early", 12, 2, 1_000)]));
    run(&mut it, None);
    let reports: Vec<_> = it.jobs.iter().map(Job::report).collect();
    assert!(reports[1].first_map_start_ps < reports[0].first_map_start_ps);
    assert!(reports[0].first_map_start_ps.unwrap() >= 5_000_000_000_000);
    assert_eq!(reports[0].runtime_ps.unwrap() + 5_000_000_000_000, it.finished_at().unwrap().as_ps());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_byte_is_fetched_once_and_every_task_runs_once(
        workers in 2..9_usize,
        shapes in prop::collection::vec((1..25_u32, 1..9_u32, 0..3_000_000_u64, 0..20_u64), 1..4),
        slots in (1..4_u32, 1..4_u32),
        fetches in prop::option::of(1..6_u32),
        slowstart in 0.0..=1.0_f64,
        replicas in 1..4_u32,
        copies in 1..3_u32,
        fail_every in prop::option::of(2..40_u64),
    ) {
        let jobs: Vec<_> = shapes
            .iter()
            .enumerate()
            .map(|(number, (maps, reducers, shuffle, arrival))| {
                let mut one = job(&format!("j{number}"), *maps, *reducers, *shuffle);
                one["arrival_ps"] = json!(arrival * 1_000_000_000_000);
                one
            })
            .collect();
        let fields = json!({
            "map_slots": slots.0, "reduce_slots": slots.1, "parallel_fetches": fetches, "slowstart": slowstart,
            "locality": {"replicas": replicas}, "output_replication": copies,
        });
        let make = || cluster(workers + 1, fields.clone(), json!(jobs));
        let mut it = make();
        let seen = run(&mut it, fail_every);
        for (number, (maps, reducers, shuffle, _)) in shapes.iter().enumerate() {
            let number = number as u32;
            let of = |token: &Token| match *token {
                Token::MapEnds { job, map } if job == number => Some((0, map)),
                Token::FetchBegins { job, reducer } if job == number => Some((1, reducer)),
                Token::OutputWritten { job, reducer } if job == number => Some((2, reducer)),
                _ => None,
            };
            let mut once: Vec<_> = seen.log.iter().filter_map(|(_, token)| of(token)).collect();
            once.sort_unstable();
            let all: Vec<_> = (0..*maps).map(|map| (0, map))
                .chain((0..*reducers).map(|reducer| (1, reducer)))
                .chain((0..*reducers).map(|reducer| (2, reducer)))
                .collect();
            prop_assert_eq!(once, all, "every task once");
            let got: u64 = (0..*reducers).map(|reducer| seen.inputs[&(number, reducer)]).sum();
            prop_assert_eq!(got, *shuffle, "every byte once");
            let report = it.jobs[number as usize].report();
            prop_assert!(report.runtime_ps.is_some() && report.shuffle_network_bytes <= *shuffle);
            prop_assert_eq!(report.refetches > 0 && fail_every.is_none(), false);
        }
        let max = fetches.unwrap_or(u32::MAX);
        prop_assert!(seen.max_fetches.values().all(|count| *count <= max));
        prop_assert!(seen.transfers.iter().all(|(_, transfer)| transfer.from != transfer.to && transfer.from > 0));
        // The heartbeats of a worker are one interval apart, starting at its phase.
        for worker in 0..workers as u32 {
            let beats: Vec<_> = seen.log.iter()
                .filter(|(_, token)| *token == Token::Heartbeat { worker })
                .map(|(at, _)| *at)
                .collect();
            prop_assert!(beats.iter().take(1).all(|at| *at < Time::ZERO + Duration::from_secs(1)));
            prop_assert!(beats.windows(2).all(|pair| pair[1].since(pair[0]) == Duration::from_secs(1)));
        }
        let again = run(&mut make(), fail_every);
        prop_assert_eq!(&again.log, &seen.log);
        prop_assert_eq!(count(&again, |_| true), seen.log.len());
    }
}
