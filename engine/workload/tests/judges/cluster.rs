//! Small random descriptions of clusters and their jobs, whose times are whole picoseconds.

use proptest::prelude::*;
use serde_json::{json, Value};

use super::driver::{describe, names};
use super::oracle::SORT_BUFFER;

/// The fields of `cost`, in the order of [`Job::cost`].
const COSTS: [&str; 7] = [
    "startup_cycles",
    "map_cycles_per_byte",
    "sort_cycles_per_byte",
    "wrapup_cycles",
    "merge_cycles",
    "reduce_start_cycles",
    "reduce_cycles_per_byte",
];

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) arrival: u64,
    pub(crate) maps: usize,
    pub(crate) reducers: usize,
    pub(crate) input: u64,
    pub(crate) shuffle: u64,
    pub(crate) output: u64,
    /// Cycles: start, per byte of map input, per byte of map output, wrap-up; merge, final sort, per byte of reduce input.
    pub(crate) cost: [u64; 7],
}

#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) seed: u64,
    pub(crate) hosts: usize,
    /// Hosts listed as workers; `None` means all hosts in order.
    pub(crate) named: Option<Vec<usize>>,
    pub(crate) reserved: usize,
    pub(crate) map_slots: usize,
    pub(crate) reduce_slots: usize,
    pub(crate) heartbeat: u64,
    pub(crate) tasks_per_heartbeat: usize,
    /// Picoseconds per cycle, per byte read and per byte written.
    pub(crate) cycle_ps: u64,
    pub(crate) read_ps: u64,
    pub(crate) write_ps: u64,
    pub(crate) parallel_fetches: Option<usize>,
    pub(crate) sigma: f64,
    pub(crate) request: u64,
    pub(crate) slowstart_percent: u64,
    pub(crate) replicas: usize,
    pub(crate) racks: Vec<Vec<usize>>,
    pub(crate) output_replication: usize,
    pub(crate) jobs: Vec<Job>,
}

impl Cluster {
    /// Returns a cluster of two workers and a reserved host with one job, as a base for tests that change single fields.
    pub(crate) fn small() -> Self {
        Self {
            seed: 1,
            hosts: 3,
            named: None,
            reserved: 1,
            map_slots: 2,
            reduce_slots: 2,
            heartbeat: 100_000_000_007,
            tasks_per_heartbeat: 2,
            cycle_ps: 400,
            read_ps: 1_000,
            write_ps: 2_000,
            parallel_fetches: Some(5),
            sigma: 0.0,
            request: 280,
            slowstart_percent: 5,
            replicas: 3,
            racks: Vec::new(),
            output_replication: 1,
            jobs: vec![Job {
                arrival: 0,
                maps: 4,
                reducers: 2,
                input: 4_000_000,
                shuffle: 800_000,
                output: 60_000,
                cost: [50_000_000, 40, 44, 0, 1_000_000, 6_000_000, 90],
            }],
        }
    }

    /// Returns the hosts that run tasks, in order.
    pub(crate) fn workers(&self) -> Vec<usize> {
        let all = self.named.clone().unwrap_or_else(|| (0..self.hosts).collect());
        all[self.reserved..].to_vec()
    }

    pub(crate) fn json(&self) -> Value {
        let rate = |ps: u64| 1e12 / ps as f64;
        let job = |(number, job): (usize, &Job)| {
            let cost: serde_json::Map<_, _> =
                COSTS.iter().zip(job.cost).map(|(name, cycles)| (name.to_string(), json!(cycles))).collect();
            json!({
                "name": format!("job {number}"), "arrival_ps": job.arrival, "maps": job.maps,
                "reducers": job.reducers, "input_bytes": job.input, "shuffle_bytes": job.shuffle,
                "output_bytes": job.output, "cost": cost,
            })
        };
        let jobs: Vec<_> = self.jobs.iter().enumerate().map(job).collect();
        let racks: Vec<_> = self.racks.iter().map(|rack| names(rack.iter().copied())).collect();
        let fields = json!({
            "workers": self.named.as_ref().map(|named| names(named.iter().copied())),
            "reserved": self.reserved, "map_slots": self.map_slots, "reduce_slots": self.reduce_slots,
            "heartbeat_ps": self.heartbeat, "tasks_per_heartbeat": self.tasks_per_heartbeat,
            "cpu_hz": rate(self.cycle_ps), "disk_read_bytes_per_second": rate(self.read_ps),
            "disk_write_bytes_per_second": rate(self.write_ps), "parallel_fetches": self.parallel_fetches,
            "noise_sigma": self.sigma, "request_bytes": self.request,
            "slowstart": self.slowstart_percent as f64 / 100.0,
            "locality": {"replicas": self.replicas, "racks": racks},
            "output_replication": self.output_replication, "jobs": jobs,
        });
        describe(self.seed, "mapreduce", &fields)
    }
}

/// Returns sizes that are zero, less than a byte per task, odd, whole sort buffers, or larger than the buffers.
fn bytes(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        1..40_u64,
        1..100_000_u64,
        (1..4_u64).prop_map(|maps| maps * SORT_BUFFER),
        (most / 2)..most
    ]
}

fn job() -> impl Strategy<Value = Job> {
    let counts = (1..14_usize, 1..7_usize);
    let sizes = (bytes(50_000_000), bytes(600_000_000), bytes(200_000_000));
    let cost = [0..900_000_000_u64, 0..50, 0..4, 0..90_000_000, 0..90_000_000, 0..90_000_000, 0..4];
    (0..4_u64, counts, sizes, cost).prop_map(|(late, (maps, reducers), (input, shuffle, output), cost)| Job {
        // Half of the jobs arrive together, and the order of their names is not that of their arrival.
        arrival: late.saturating_sub(1) * 170_000_000_003,
        maps,
        reducers,
        input,
        shuffle,
        output,
        cost,
    })
}

/// Returns clusters of two to seven hosts with up to three jobs. Heartbeats are offset by 7 ps from task durations, so
/// that no heartbeat coincides with the end of a task of its worker.
pub(crate) fn clusters() -> impl Strategy<Value = Cluster> {
    let workers = (2..8_usize)
        .prop_flat_map(|hosts| {
            let order: Vec<_> = (0..hosts).collect();
            let named = prop::option::of(Just(order).prop_shuffle());
            let racks = prop::collection::vec(prop::option::of(0..3_usize), hosts);
            (Just(hosts), named, 0..hosts, prop::option::of(racks))
        })
        .prop_map(|(hosts, named, reserved, rack_of)| {
            let rack_of = rack_of.unwrap_or_default();
            let hosts_of = |rack| (0..hosts).filter(|host| rack_of.get(*host) == Some(&Some(rack))).collect();
            let racks: Vec<Vec<usize>> =
                (0..3).map(hosts_of).filter(|rack: &Vec<_>| !rack.is_empty()).collect();
            (hosts, named, reserved, racks)
        });
    let slots = (1..4_usize, 1..4_usize, 10..400_u64, 1..4_usize);
    let machine = (
        prop::sample::select(vec![400_u64, 500, 1000]),
        prop::sample::select(vec![1000_u64, 2000]),
        prop::sample::select(vec![1000_u64, 2000, 5000]),
    );
    let fetches = (prop::option::of(1..4_usize), 1..400_u64, 0..=20_u64);
    let copies = (1..5_usize, 1..4_usize);
    let jobs = prop::collection::vec(job(), 1..4);
    (any::<u64>(), workers, slots, machine, fetches, copies, jobs).prop_map(
        |(seed, (hosts, named, reserved, racks), slots, machine, fetches, copies, jobs)| Cluster {
            seed,
            hosts,
            named,
            reserved,
            map_slots: slots.0,
            reduce_slots: slots.1,
            heartbeat: slots.2 * 1_000_000_000 + 7,
            tasks_per_heartbeat: slots.3,
            cycle_ps: machine.0,
            read_ps: machine.1,
            write_ps: machine.2,
            parallel_fetches: fetches.0,
            sigma: 0.0,
            request: fetches.1,
            slowstart_percent: 5 * fetches.2,
            replicas: copies.0,
            racks,
            output_replication: copies.1.min(hosts - reserved),
            jobs,
        },
    )
}
