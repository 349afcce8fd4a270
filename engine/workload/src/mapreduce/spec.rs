//! The description of a cluster and its jobs, read and checked.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::cost::Cost;
use super::job::{Cluster, Job};
use super::{MapReduce, JOB_BITS, MAP_BITS, REDUCER_BITS};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, Hosts, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::scatter_gather::racks;

/// Maximum number of jobs of a cluster.
pub const MAX_JOBS: usize = 1 << JOB_BITS;
/// Maximum number of maps of a job.
pub const MAX_MAPS: u32 = 1 << MAP_BITS;
/// Maximum number of reducers of a job.
pub const MAX_REDUCERS: u32 = 1 << REDUCER_BITS;
/// Maximum number of fetches of a job: maps times reducers.
pub const MAX_FETCHES: u64 = 1 << 24;
/// Maximum number of replicas of input splits of all jobs together: maps times replicas.
const MAX_REPLICAS: u64 = 1 << 24;

/// More frequent heartbeats would dominate a run.
const MIN_HEARTBEAT_PS: u64 = 1_000_000_000;

const MIB: f64 = 1_048_576.0;

/// The application's description. Defaults: MRPerf's Terasort and node (`hadoop.job.tcl`, its XML files), Hadoop 1
/// where MRPerf specifies nothing.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("mapreduce")))]
#[serde(deny_unknown_fields, default)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct MapReduceSpec {
    kind: ReadByHead,
    name: ReadByHead,
    background: ReadByHead,
    tcp: ReadByHead,
    dscp: ReadByHead,
    /// Hosts, in the order in which `reserved` counts them. Default: all hosts.
    workers: Option<Vec<String>>,
    /// Number of hosts at the start of `workers` that run no tasks (name node, job tracker).
    reserved: u32,
    /// Number of map tasks that a worker runs concurrently.
    pub(super) map_slots: u32,
    /// Number of reduce tasks that a worker runs concurrently.
    pub(super) reduce_slots: u32,
    /// Time between two heartbeats of a worker.
    pub(super) heartbeat_ps: u64,
    /// Maximum number of maps, and of reducers, assigned to a worker per heartbeat.
    pub(super) tasks_per_heartbeat: u32,
    /// Clock rate of a worker's cores.
    pub(super) cpu_hz: f64,
    /// Read rate of a worker's disk.
    pub(super) disk_read_bytes_per_second: f64,
    /// Write rate of a worker's disk.
    pub(super) disk_write_bytes_per_second: f64,
    /// Maximum number of concurrent fetches of a reducer; `null` means no limit. Default 5.
    pub(super) parallel_fetches: Option<u32>,
    /// Sigma of the log-normal factor on a task's local work.
    pub(super) noise_sigma: f64,
    /// Payload of the request for a partition or a split; a copy of output has no request.
    pub(super) request_bytes: u64,
    /// Fraction of a job's maps that must be known to have ended before its reducers start.
    pub(super) slowstart: f64,
    /// Placement of splits.
    pub(super) locality: LocalitySpec,
    /// Number of workers that hold a copy of the output, including the one that produced it.
    pub(super) output_replication: u32,
    /// The jobs, served in order of arrival.
    jobs: Vec<JobSpec>,
}

/// Placement of splits.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct LocalitySpec {
    /// Number of workers that hold each split.
    pub(super) replicas: u32,
    /// Hosts by rack, at least one in each. A map with a remote split then prefers a worker of its own rack that holds
    /// the split. Default none: it reads from the first worker that holds it.
    #[serde(default)]
    racks: Vec<Vec<String>>,
}

/// One job. Its bytes are divided equally among its tasks.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct JobSpec {
    /// Name.
    pub(super) name: String,
    /// Time of submission. Default 0.
    #[serde(default)]
    pub(super) arrival_ps: u64,
    /// Number of map tasks.
    pub(super) maps: u32,
    /// Number of reduce tasks.
    pub(super) reducers: u32,
    /// Bytes that its maps read.
    pub(super) input_bytes: u64,
    /// Bytes that its maps write and its reducers fetch.
    pub(super) shuffle_bytes: u64,
    /// Bytes that its reducers write.
    pub(super) output_bytes: u64,
    /// Costs of its tasks.
    #[serde(default)]
    pub(super) cost: Cost,
}

impl Default for MapReduceSpec {
    fn default() -> Self {
        Self {
            kind: ReadByHead,
            name: ReadByHead,
            background: ReadByHead,
            tcp: ReadByHead,
            dscp: ReadByHead,
            workers: None,
            reserved: 1,
            map_slots: 2,
            reduce_slots: 2,
            heartbeat_ps: 1_000_000_000_000,
            tasks_per_heartbeat: 2,
            cpu_hz: 2.5e9,
            disk_read_bytes_per_second: 280.0 * MIB,
            disk_write_bytes_per_second: 75.0 * MIB,
            parallel_fetches: Some(5),
            noise_sigma: 0.0953,
            request_bytes: 280,
            slowstart: 0.05,
            locality: LocalitySpec { replicas: 3, racks: Vec::new() },
            output_replication: 1,
            jobs: Vec::new(),
        }
    }
}

impl MapReduceSpec {
    pub(crate) fn check(
        mut self,
        at: &FieldPath<'_>,
        context: &Context<'_>,
    ) -> Result<MapReduce, WorkloadError> {
        at.count("map_slots", self.map_slots.into(), 1, 1024)?;
        at.count("reduce_slots", self.reduce_slots.into(), 1, 1024)?;
        at.count("heartbeat_ps", self.heartbeat_ps, MIN_HEARTBEAT_PS, MAX_TIME_PS)?;
        at.count("tasks_per_heartbeat", self.tasks_per_heartbeat.into(), 1, 1024)?;
        at.count("request_bytes", self.request_bytes, 1, 1 << 20)?;
        at.count("locality.replicas", self.locality.replicas.into(), 1, 1024)?;
        at.number("cpu_hz", self.cpu_hz, 1e3, 1e15)?;
        at.number("disk_read_bytes_per_second", self.disk_read_bytes_per_second, 1e3, 1e15)?;
        at.number("disk_write_bytes_per_second", self.disk_write_bytes_per_second, 1e3, 1e15)?;
        at.number("noise_sigma", self.noise_sigma, 0.0, 3.0)?;
        at.number("slowstart", self.slowstart, 0.0, 1.0)?;
        if let Some(fetches) = self.parallel_fetches {
            at.count("parallel_fetches", fetches.into(), 1, u64::from(u32::MAX))?;
        }
        let workers = workers(self.workers.as_deref(), self.reserved, at, context.hosts)?;
        at.count("output_replication", self.output_replication.into(), 1, workers.len().min(1024) as u64)?;
        let racks = self.locality.racks(&workers, at, context)?;
        at.count("jobs", self.jobs.len() as u64, 1, MAX_JOBS as u64)?;
        let mut places = 0_u64;
        for (index, job) in self.jobs.iter().enumerate() {
            let place = at.of(&format!("jobs[{index}]"));
            job.check(&FieldPath(&place))?;
            let replicas = self.locality.replicas.min(workers.len() as u32);
            places += u64::from(job.maps) * u64::from(replicas);
            if places > MAX_REPLICAS {
                let reason =
                    format!("with these, maps times replicas of all jobs are more than {MAX_REPLICAS}");
                return Err(WorkloadError::value(format!("{place}.maps"), job.maps, reason));
            }
        }
        let jobs = std::mem::take(&mut self.jobs).into_iter().map(Job::new).collect();
        let cluster = Cluster { seed: context.seed, application: context.number, workers, racks, spec: self };
        Ok(MapReduce::new(cluster, jobs))
    }
}

impl LocalitySpec {
    /// Returns the number of each worker's rack; `None` without a rack.
    fn racks(
        &self,
        workers: &[u32],
        at: &FieldPath<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Option<u32>>, WorkloadError> {
        if self.racks.is_empty() {
            return Ok(vec![None; workers.len()]);
        }
        let place = at.of("locality");
        let racks = racks(&self.racks, 1, &FieldPath(&place), context)?;
        let rack_of: BTreeMap<u32, u32> =
            (0..).zip(&racks).flat_map(|(rack, hosts)| hosts.iter().map(move |host| (*host, rack))).collect();
        Ok(workers.iter().map(|host| rack_of.get(host).copied()).collect())
    }
}

/// Returns the hosts that run tasks: the named hosts, or all, without the reserved ones at the start.
fn workers(
    named: Option<&[String]>,
    reserved: u32,
    at: &FieldPath<'_>,
    hosts: &Hosts<'_>,
) -> Result<Vec<u32>, WorkloadError> {
    let mut numbers = Vec::new();
    match named {
        None => numbers.extend(0..hosts.list.len() as u32),
        Some(names) => {
            let mut seen = std::collections::BTreeSet::new();
            for (index, name) in names.iter().enumerate() {
                let place = || at.of(&format!("workers[{index}]"));
                let number = hosts.find(name, place)?;
                if !seen.insert(number) {
                    return Err(WorkloadError::value(place(), name, "is in the list already"));
                }
                numbers.push(number);
            }
        }
    }
    if reserved as usize >= numbers.len() {
        let reason = format!("of {} hosts at least one must be left to work", numbers.len());
        return Err(WorkloadError::value(at.of("reserved"), reserved, reason));
    }
    if numbers.len() > 1 << MAP_BITS {
        let reason = format!("must be at most {}", 1 << MAP_BITS);
        return Err(WorkloadError::value(at.of("workers"), numbers.len(), reason));
    }
    Ok(numbers.split_off(reserved as usize))
}

impl JobSpec {
    fn check(&self, at: &FieldPath<'_>) -> Result<(), WorkloadError> {
        at.count("arrival_ps", self.arrival_ps, 0, MAX_TIME_PS)?;
        at.count("maps", self.maps.into(), 1, MAX_MAPS.into())?;
        at.count("reducers", self.reducers.into(), 1, MAX_REDUCERS.into())?;
        if u64::from(self.maps) * u64::from(self.reducers) > MAX_FETCHES {
            let reason = format!("with {} maps that is more than {MAX_FETCHES} fetches", self.maps);
            return Err(WorkloadError::value(at.of("reducers"), self.reducers, reason));
        }
        at.count("input_bytes", self.input_bytes, 0, MAX_TRANSFER_BYTES)?;
        at.count("shuffle_bytes", self.shuffle_bytes, 0, MAX_TRANSFER_BYTES)?;
        at.count("output_bytes", self.output_bytes, 0, MAX_TRANSFER_BYTES)?;
        let cost = &self.cost;
        for (field, cycles) in [
            ("startup_cycles", cost.startup_cycles),
            ("map_cycles_per_byte", cost.map_cycles_per_byte),
            ("sort_cycles_per_byte", cost.sort_cycles_per_byte),
            ("merge_cycles", cost.merge_cycles),
            ("wrapup_cycles", cost.wrapup_cycles),
            ("reduce_start_cycles", cost.reduce_start_cycles),
            ("reduce_cycles_per_byte", cost.reduce_cycles_per_byte),
        ] {
            at.number(&format!("cost.{field}"), cycles, 0.0, 1e18)?;
        }
        Ok(())
    }
}
