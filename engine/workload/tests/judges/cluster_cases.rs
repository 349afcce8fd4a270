//! Compares the crate's cluster with the oracle's, over networks with and without failures.

use proptest::prelude::*;
use serde_json::Value;
use units::{Duration, Histogram};
use workload::report::Distribution;
use workload::{Outcome, Transfer};

use super::cluster::{clusters, Cluster, Job};
use super::driver::{hash, ps, run, run_evenly, Run};
use super::oracle::{heartbeat_phase, Foretold, Network, Oracle};
use super::stats::check_even;

/// Runs a cluster in the crate.
fn carry(cluster: &Cluster, network: Network<'_>) -> Run {
    let outcome =
        |at: u64, one: &Transfer| network(at, one.from, one.to, one.request_bytes + one.response_bytes);
    run(&cluster.json(), cluster.hosts, outcome)
}

/// Compares the crate's run with the oracle's prediction; times may differ by `tolerance`.
fn judge(cluster: &Cluster, network: Network<'_>, tolerance: u64) -> Result<(), String> {
    let run = carry(cluster, network);
    let mut oracle = Oracle::new(cluster, network, &run, tolerance);
    oracle.run()?;
    let is_near = |one: u64, other: u64| one.abs_diff(other) <= tolerance;

    let of = |one: &Transfer| (one.from, one.to, one.request_bytes, one.response_bytes);
    let mut sent: Vec<_> = run.transfers.iter().map(|one| (of(&one.transfer), one.at)).collect();
    let mut foretold: Vec<_> = oracle.sent.iter().map(|(at, one)| (*one, *at)).collect();
    sent.sort_unstable();
    foretold.sort_unstable();
    let differs = |(one, other): &(&(_, u64), &(_, u64))| one.0 != other.0 || !is_near(one.1, other.1);
    if let Some((crate_, oracle)) = sent.iter().zip(&foretold).find(differs) {
        return Err(format!("the crate sends {crate_:?}, the oracle {oracle:?}"));
    }
    if sent.len() != foretold.len() {
        return Err(format!("{} transfers, foretold {}", sent.len(), foretold.len()));
    }

    let near = |times: &std::collections::BTreeSet<u64>, at: u64| {
        times.range(at.saturating_sub(tolerance)..=at + tolerance).next().is_some()
    };
    if let Some(at) = oracle.due.iter().find(|at| !near(&run.timers, **at)) {
        return Err(format!("something ends at {at}, and the crate has no timer then"));
    }
    if let Some(at) = run.timers.iter().find(|at| !near(&oracle.possible, **at)) {
        return Err(format!("the crate has a timer at {at}, when nothing is due"));
    }

    let report = run.report(0);
    let all: Vec<_> = (0..cluster.jobs.len()).map(|number| oracle.foretold(number)).collect();
    for (number, foretold) in all.iter().enumerate() {
        let arrival = cluster.jobs[number].arrival;
        compare(&report["jobs"][number], foretold, arrival, tolerance)
            .map_err(|error| format!("job {number}: {error}"))?;
    }
    let end = all.iter().zip(&cluster.jobs).map(|(foretold, job)| job.arrival + foretold.runtime).max();
    if !is_near(end.unwrap(), run.finished_at()) {
        return Err(format!("finished at {}, foretold {end:?}", run.finished_at()));
    }
    if run.under_way() + run.open_groups() > 0 {
        return Err(format!("{} transfers and {} groups are left", run.under_way(), run.open_groups()));
    }
    Ok(())
}

/// Compares the report of a job with the prediction.
fn compare(report: &Value, foretold: &Foretold, arrival: u64, tolerance: u64) -> Result<(), String> {
    let one = tolerance * 100;
    for (field, at, within) in [
        ("runtime_ps", Some(foretold.runtime), tolerance),
        ("first_map_start_ps", Some(foretold.first_map_start), 0),
        ("last_map_end_ps", Some(foretold.last_map_end), tolerance),
        ("first_fetch_start_ps", foretold.first_fetch_start, tolerance),
        ("last_fetch_end_ps", Some(foretold.last_fetch_end), tolerance),
        ("map_task_ps", Some(foretold.map_task), one),
        ("fetch_task_ps", Some(foretold.fetch_task), one),
        ("reduce_task_ps", Some(foretold.reduce_task), one),
        ("local_maps", Some(foretold.local_maps as u64), 0),
        ("shuffle_network_bytes", Some(foretold.network_bytes), 0),
        ("refetches", Some(foretold.refetches), 0),
    ] {
        let is_same = match (report[field].as_u64(), at) {
            (Some(one), Some(other)) => one.abs_diff(other) <= within,
            (one, other) => one == other,
        };
        if !is_same {
            return Err(format!("{field}: {} for {at:?}", report[field]));
        }
    }
    let mut histogram = Histogram::default();
    foretold.shuffles.iter().for_each(|time| histogram.record(Duration::from_ps(*time)));
    let shuffles = serde_json::to_value(Distribution::of(&histogram)).unwrap();
    if tolerance == 0 && report["reducer_shuffle_ps"] != shuffles {
        return Err(format!("reducer_shuffle_ps: {} for {shuffles}", report["reducer_shuffle_ps"]));
    }
    let (maps, all) = (foretold.last_map_end - arrival, foretold.last_fetch_end - arrival);
    for (field, span) in
        [("map_share", maps), ("shuffle_share", all - maps), ("reduce_share", foretold.runtime - all)]
    {
        let share = report[field].as_f64().unwrap_or(f64::NAN);
        if (share - span as f64 / foretold.runtime as f64).abs() > 1e-9 {
            return Err(format!("{field}: {share}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_transfer_and_every_task_is_where_and_when_the_oracle_foretells(cluster in clusters()) {
        // Transfers take the time of their bytes at 8 Gb/s.
        let network = |_, _, _, bytes| (30_000_001 + bytes * 1_000, Outcome::Finished);
        judge(&cluster, &network, 0).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn so_they_are_over_a_network_whose_times_have_no_pattern_and_that_fails(
        cluster in clusters(), salt in any::<u64>(), most in prop::sample::select(vec![1_000_000_u64, 3_000_000_000_000]),
        fails in prop::option::of(3..9_u64),
    ) {
        let network = |at: u64, from: u32, to: u32, bytes: u64| {
            let takes = 1 + hash(&[salt, from.into(), to.into(), bytes]) % most;
            let is_lost = fails.is_some_and(|one_in| hash(&[salt, at, from.into(), to.into(), bytes]) % one_in == 0);
            (takes, if is_lost { Outcome::Failed } else { Outcome::Finished })
        };
        judge(&cluster, &network, 0).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn noise_multiplies_the_own_work_of_each_task_and_nothing_else(
        cluster in clusters(), sigma in 0.01..0.6_f64, salt in any::<u64>(),
    ) {
        let cluster = Cluster { sigma, ..cluster };
        let network = |_: u64, from: u32, to: u32, bytes: u64| {
            (1 + hash(&[salt, from.into(), to.into(), bytes]) % 900_000_000, Outcome::Finished)
        };
        // Each of a few roundings on the way to a time may contribute a picosecond.
        judge(&cluster, &network, 8).map_err(TestCaseError::fail)?;
    }
}

/// Returns a cluster with a job without work: no bytes to read, sort or write, unless a test adds them.
fn idle(maps: usize) -> Cluster {
    let job = Job { arrival: 0, maps, reducers: 1, input: 0, shuffle: 0, output: 0, cost: [0; 7] };
    Cluster { jobs: vec![job], ..Cluster::small() }
}

#[test]
fn a_share_of_maps_that_is_whole_is_not_rounded_up() {
    for (percent, maps, known) in [(28, 25, 7), (56, 25, 14), (14, 50, 7), (7, 100, 7), (55, 100, 55)] {
        assert_eq!(known_at_start(percent, maps), known, "{percent} % of {maps}");
    }
}

/// Returns the number of known maps when the only reducer started, on the only worker, which runs a map from each heartbeat to the next.
fn known_at_start(percent: u64, maps: usize) -> u64 {
    let mut it = idle(maps);
    (it.hosts, it.map_slots, it.tasks_per_heartbeat, it.slowstart_percent) = (2, 1, 1, percent);
    let report = run_evenly(&it.json(), 2, 1).report(0)["jobs"][0].clone();
    // All maps are known at the heartbeat after the last map began.
    let everything = ps(&report["last_fetch_end_ps"]);
    let started = everything - ps(&report["fetch_task_ps"]);
    (started - ps(&report["first_map_start_ps"])) / it.heartbeat
}

#[test]
fn a_reducer_draws_whom_it_fetches_from_first_whatever_the_order_in_which_maps_became_known() {
    // Each of five workers runs one map; the reducer then fetches from the four others.
    let mut it = idle(5);
    (it.jobs[0].shuffle, it.jobs[0].cost[3]) = (500, 1_000_000_000);
    (it.hosts, it.map_slots, it.tasks_per_heartbeat, it.slowstart_percent) = (6, 1, 1, 100);
    it.parallel_fetches = Some(1);
    let rank = |seed: u64| {
        let it = Cluster { seed, ..it.clone() };
        let done = run_evenly(&it.json(), it.hosts, 1);
        let fetches = done.transfers.iter().filter(|one| one.transfer.group.is_some());
        let hosts: Vec<_> = fetches.map(|one| one.transfer.to as usize).collect();
        assert_eq!(hosts.len(), 4);
        // Maps take the same time, so they become known in the order in which their workers report. Host 0 is reserved.
        let phase = |host: usize| heartbeat_phase(&it, host - 1);
        hosts.iter().filter(|host| phase(**host) < phase(hosts[0])).count()
    };
    check_even((0..600).map(rank), 4, "first fetch");
}
