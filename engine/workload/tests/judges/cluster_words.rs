//! Statements of the cluster's page that random clusters do not show, or that the oracle takes from the crate's run.

use super::cluster::{Cluster, Job};
use super::driver::{ps, run_evenly};
use super::oracle::heartbeat_phase;
use super::stats::check_even;

/// Returns a job without work: no bytes to read, sort or write, unless a test adds them.
fn idle(maps: usize, reducers: usize) -> Job {
    Job { arrival: 0, maps, reducers, input: 0, shuffle: 0, output: 0, cost: [0; 7] }
}

fn with_job(job: Job) -> Cluster {
    Cluster { jobs: vec![job], ..Cluster::small() }
}

#[test]
fn a_map_is_merged_once_its_output_is_more_than_the_sort_buffer_and_not_before() {
    let takes = |shuffle: u64| {
        let done = run_evenly(&with_job(Job { shuffle, ..idle(1, 1) }).json(), 3, 1);
        ps(&done.report(0)["jobs"][0]["map_task_ps"])
    };
    let buffer = 50 * 1024 * 1024;
    // A byte takes 2000 ps to write, and 1000 ps to read.
    assert_eq!(takes(buffer), buffer * 2_000);
    assert_eq!(takes(buffer + 1), (buffer + 1) * (2_000 + 3_000));
}

#[test]
fn a_share_of_maps_that_is_whole_is_not_rounded_up() {
    for (percent, maps, known) in [(28, 25, 7), (56, 25, 14), (14, 50, 7), (7, 100, 7), (55, 100, 55)] {
        // The only worker runs a map from each heartbeat to the next. All maps are known at the heartbeat after the last
        // one began.
        let mut it = with_job(idle(maps, 1));
        (it.hosts, it.map_slots, it.tasks_per_heartbeat, it.slowstart_percent) = (2, 1, 1, percent);
        let report = &run_evenly(&it.json(), 2, 1).report(0)["jobs"][0];
        let started = ps(&report["last_fetch_end_ps"]) - ps(&report["fetch_task_ps"]);
        let at_start = (started - ps(&report["first_map_start_ps"])) / it.heartbeat;
        assert_eq!(at_start, known, "{percent} % of {maps}");
    }
}

#[test]
fn a_reducer_draws_whom_it_fetches_from_first_whatever_the_order_in_which_maps_became_known() {
    // Each of five workers runs one map; the reducer then fetches from the four others.
    let mut it = with_job(Job { shuffle: 500, cost: [0, 0, 0, 1_000_000_000, 0, 0, 0], ..idle(5, 1) });
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
