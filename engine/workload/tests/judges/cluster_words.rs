//! The statements of the cluster's page, one by one, each in a situation that can be calculated by hand.

use serde_json::Value;
use workload::{Outcome, Transfer};

use super::cluster::{Cluster, Job};
use super::driver::{ps, run, run_evenly, Begun, Run, SECOND};
use super::oracle::heartbeat_phase;
use super::stats::{check_distribution, check_even, lognormal};

/// Returns a job without work: no bytes to read, sort or write, unless a test adds them.
fn idle(maps: usize, reducers: usize) -> Job {
    Job { arrival: 0, maps, reducers, input: 0, shuffle: 0, output: 0, cost: [0; 7] }
}

fn with_job(job: Job) -> Cluster {
    Cluster { jobs: vec![job], ..Cluster::small() }
}

fn job_of(done: &Run) -> Value {
    done.report(0)["jobs"][0].clone()
}

/// Returns the fetches of reducers.
fn fetches(done: &Run) -> Vec<&Begun> {
    done.transfers.iter().filter(|one| one.transfer.group.is_some()).collect()
}

#[test]
fn a_map_is_merged_once_its_output_is_more_than_the_sort_buffer_and_not_before() {
    let takes = |shuffle: u64| {
        let done = run_evenly(&with_job(Job { shuffle, ..idle(1, 1) }).json(), 3, 1);
        ps(&job_of(&done)["map_task_ps"])
    };
    let buffer = 50 * 1024 * 1024;
    // A byte takes 2000 ps to write, and 1000 ps to read.
    assert_eq!(takes(buffer), buffer * 2_000);
    assert_eq!(takes(buffer + 1), (buffer + 1) * (2_000 + 3_000));
}

#[test]
fn a_reducer_writes_what_it_kept_in_memory_and_reads_all() {
    let takes = |shuffle: u64| {
        let done = run_evenly(&with_job(Job { shuffle, ..idle(1, 1) }).json(), 3, 1);
        ps(&job_of(&done)["reduce_task_ps"])
    };
    let memory = 66 * 1024 * 1024;
    assert_eq!(takes(memory), memory * 3_000);
    assert_eq!(takes(memory + 1_000), memory * 3_000 + 1_000 * 1_000);
}

#[test]
fn each_cost_is_spent_once_where_the_page_has_it() {
    let (input, shuffle, output) = (1_000_000, 100_000, 10_000);
    let spent = [[1, 0], [input, 0], [shuffle, 0], [1, 0], [0, 1], [0, 1], [0, shuffle]];
    for (place, [map, reduce]) in spent.into_iter().enumerate() {
        let times = |cycles: u64| {
            let mut cost = [0; 7];
            cost[place] = cycles;
            let job = Job { input, shuffle, output, cost, ..idle(1, 1) };
            // One worker: everything is local. Maps and reducers start at the same heartbeat.
            let it = Cluster { hosts: 2, slowstart_percent: 0, heartbeat: 10 * SECOND, ..with_job(job) };
            let report = job_of(&run_evenly(&it.json(), 2, 1));
            ["map_task_ps", "fetch_task_ps", "reduce_task_ps"].map(|field| ps(&report[field]))
        };
        let (without, with) = (times(0), times(50));
        assert_eq!(with[0] - without[0], map * 50 * 400, "cost {place} of the map");
        // A reducer that has started waits for the heartbeat at which its map becomes known.
        assert_eq!(with[1], without[1], "cost {place} of the fetches");
        assert_eq!(without[1], 10 * SECOND);
        assert_eq!(with[2] - without[2], reduce * 50 * 400, "cost {place} of the reducer");
    }
}

#[test]
fn a_heartbeat_gives_as_many_tasks_as_it_may_and_as_slots_are_free() {
    for (slots, per_heartbeat, heartbeats) in [(1, 3, 6), (2, 1, 6), (2, 2, 3), (4, 3, 2), (9, 9, 1)] {
        let mut it = with_job(Job { cost: [1, 0, 0, 0, 0, 0, 0], ..idle(6, 1) });
        (it.hosts, it.map_slots, it.tasks_per_heartbeat) = (2, slots, per_heartbeat);
        let done = run_evenly(&it.json(), 2, 1);
        let report = job_of(&done);
        // A map ends long before the next heartbeat: the last one begins at the last heartbeat of the wave.
        let span = ps(&report["last_map_end_ps"]) - ps(&report["first_map_start_ps"]);
        assert_eq!(span, (heartbeats - 1) * it.heartbeat + 400, "{slots} slots, {per_heartbeat} a heartbeat");
    }
}

#[test]
fn a_worker_is_given_maps_whose_split_it_has_and_those_with_the_lowest_numbers_otherwise() {
    // Every worker holds every split: no map reads over the network. With one replica and many workers, most do.
    let mut it = with_job(Job { input: 1_000_000, ..idle(40, 1) });
    (it.hosts, it.replicas) = (9, 8);
    assert_eq!(job_of(&run_evenly(&it.json(), 9, 1))["local_maps"], 40);
    it.replicas = 1;
    let done = run_evenly(&it.json(), 9, 1);
    let local = ps(&job_of(&done)["local_maps"]);
    let reads = done.transfers.iter().filter(|one| one.transfer.group.is_none()).count();
    assert_eq!(local + reads as u64, 40);
    assert!(local < 40);
}

#[test]
fn a_failed_fetch_keeps_its_place_and_comes_again_a_second_later() {
    let mut it = with_job(Job { shuffle: 600_000, ..idle(6, 1) });
    (it.parallel_fetches, it.slowstart_percent, it.map_slots, it.tasks_per_heartbeat) = (Some(1), 100, 1, 1);
    let mut tries = 0;
    let network = |_: u64, _: &Transfer| {
        tries += 1;
        (1_000, if tries == 1 { Outcome::Failed } else { Outcome::Finished })
    };
    let done = run(&it.json(), 3, network);
    let all = fetches(&done);
    assert_eq!(all[0].transfer, all[1].transfer);
    assert_eq!(all[1].at, all[0].ended.unwrap() + SECOND, "nothing else begins in its place");
    assert!(
        all[1..].windows(2).all(|pair| pair[1].at == pair[0].at + 1_000),
        "the others one after the other"
    );
    assert_eq!(job_of(&done)["refetches"], 1);
    assert_eq!(ps(&job_of(&done)["reducer_shuffle_ps"]["max_ps"]), SECOND + 1_000 * all.len() as u64);
}

#[test]
fn a_reducer_fetches_as_many_partitions_at_a_time_as_it_may() {
    for most in [Some(1), Some(2), Some(5), None] {
        let mut it = with_job(Job { shuffle: 12_000, ..idle(12, 1) });
        (it.hosts, it.parallel_fetches, it.slowstart_percent) = (7, most, 100);
        let done = run_evenly(&it.json(), 7, 1_000);
        let all = fetches(&done);
        let at_once = |at: u64| all.iter().filter(|one| (one.at..one.ended.unwrap()).contains(&at)).count();
        let seen = all.iter().map(|one| at_once(one.at)).max().unwrap();
        assert_eq!(seen, most.unwrap_or(all.len()).min(all.len()), "{most:?}");
    }
}

#[test]
fn output_is_copied_while_it_is_written_and_the_task_ends_with_the_last_of_both() {
    let output = 1_000_000;
    for takes in [5, 7 * SECOND] {
        let mut it = with_job(Job { output, ..idle(1, 1) });
        (it.hosts, it.output_replication) = (5, 4);
        let done = run_evenly(&it.json(), 5, takes);
        let copies: Vec<_> =
            done.transfers.iter().filter(|one| one.transfer.request_bytes == output).collect();
        assert_eq!(copies.len(), 3);
        assert!(copies.windows(2).all(|pair| pair[0].at == pair[1].at));
        assert!(copies.windows(2).all(|pair| pair[0].transfer.to == pair[1].transfer.from), "a chain");
        let mut on: Vec<_> =
            copies.iter().map(|one| one.transfer.to).chain([copies[0].transfer.from]).collect();
        on.sort_unstable();
        on.dedup();
        assert_eq!(on.len(), 4, "four workers have it");
        let write = output * it.write_ps;
        assert_eq!(done.finished_at(), copies[0].at + takes.max(write));
    }
}

#[test]
fn jobs_are_served_in_the_order_in_which_they_arrive_and_not_in_that_of_the_description() {
    let mut it = Cluster::small();
    let slow = Job { cost: [1_000_000_000, 0, 0, 0, 0, 0, 0], ..idle(8, 1) };
    it.jobs = [2 * SECOND, 0, SECOND].into_iter().map(|arrival| Job { arrival, ..slow.clone() }).collect();
    let done = run_evenly(&it.json(), 3, 1);
    let jobs = done.report(0)["jobs"].clone();
    let ends: Vec<_> = (0..3).map(|job| ps(&jobs[job]["last_map_end_ps"])).collect();
    assert!(ends[1] < ends[2] && ends[2] < ends[0], "{ends:?}");
    assert!(ps(&jobs[0]["first_map_start_ps"]) >= 2 * SECOND);
}

#[test]
fn reducers_start_once_the_share_of_maps_is_known_to_the_map() {
    // One map per heartbeat. With one worker and no work, a reducer that starts has all known partitions at once.
    for (percent, maps, known) in [(0, 20, 0), (5, 20, 1), (5, 21, 2), (50, 9, 5), (100, 7, 7)] {
        assert_eq!(known_at_start(percent, maps), known, "{percent} % of {maps}");
    }
}

#[test]
fn a_share_of_maps_that_is_whole_is_not_rounded_up() {
    for (percent, maps, known) in [(28, 25, 7), (56, 25, 14), (14, 50, 7), (7, 100, 7), (55, 100, 55)] {
        assert_eq!(known_at_start(percent, maps), known, "{percent} % of {maps}");
    }
}

/// Returns the number of known maps when the only reducer started, on the only worker, which runs a map from each heartbeat to the next.
fn known_at_start(percent: u64, maps: usize) -> u64 {
    let mut it = with_job(idle(maps, 1));
    (it.hosts, it.map_slots, it.tasks_per_heartbeat, it.slowstart_percent) = (2, 1, 1, percent);
    let report = job_of(&run_evenly(&it.json(), 2, 1));
    // All maps are known at the heartbeat after the last map began.
    let everything = ps(&report["last_fetch_end_ps"]);
    let started = everything - ps(&report["fetch_task_ps"]);
    (started - ps(&report["first_map_start_ps"])) / it.heartbeat
}

/// Runs a cluster with many seeds. Returns a value of each run.
fn over_seeds<T>(cluster: &Cluster, seeds: u64, mut of: impl FnMut(&Run) -> T) -> Vec<T> {
    let one = |seed| of(&run_evenly(&Cluster { seed, ..cluster.clone() }.json(), cluster.hosts, 1));
    (0..seeds).map(one).collect()
}

#[test]
fn phases_of_heartbeats_are_uniform_and_the_noise_of_tasks_is_log_normal() {
    let (cycles, sigma) = (10_000_000, 0.3);
    let mut it = with_job(Job { cost: [0, 0, 0, cycles, cycles, 0, 0], ..idle(1, 1) });
    (it.hosts, it.sigma) = (2, sigma);
    let seen = over_seeds(&it, 1500, |done| {
        let report = job_of(done);
        ["first_map_start_ps", "map_task_ps", "reduce_task_ps"].map(|field| ps(&report[field]) as f64)
    });
    let column = |place: usize| seen.iter().map(|row| row[place]).collect::<Vec<_>>();
    check_distribution(&column(0), |phase| phase / it.heartbeat as f64, "phase");
    let work = (cycles * it.cycle_ps) as f64;
    check_distribution(&column(1), lognormal(work, sigma), "map");
    check_distribution(&column(2), lognormal(work, sigma), "reducer");
    // The draws are independent: equally many pairs are on one side of the median as on both.
    let is_slow = |place: usize, row: &[f64; 3]| usize::from(row[place] > work);
    check_even(seen.iter().map(|row| 2 * is_slow(1, row) + is_slow(2, row)), 4, "map and reducer");
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
        let hosts: Vec<_> = fetches(&done).iter().map(|one| one.transfer.to as usize).collect();
        assert_eq!(hosts.len(), 4);
        // Maps take the same time, so they become known in the order in which their workers report. Host 0 is reserved.
        let phase = |host: usize| heartbeat_phase(&it, host - 1);
        hosts.iter().filter(|host| phase(**host) < phase(hosts[0])).count()
    };
    check_even((0..600).map(rank), 4, "first fetch");
}

#[test]
fn splits_lie_on_no_worker_more_often_than_on_another() {
    let mut it = with_job(Job { input: 5_000, ..idle(30, 1) });
    (it.hosts, it.replicas, it.map_slots, it.tasks_per_heartbeat) = (6, 1, 1, 1);
    let read = over_seeds(&it, 600, |done| {
        let first = done.transfers.iter().find(|one| one.transfer.group.is_none());
        first.map(|one| one.transfer.to as usize - 1)
    });
    let read: Vec<_> = read.into_iter().flatten().collect();
    assert!(read.len() > 300, "{}", read.len());
    check_even(read, 5, "places of splits");
}
