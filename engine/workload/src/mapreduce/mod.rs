//! A Hadoop 1 cluster after MRPerf (Wang, Butt, Pandey, Gupta, MASCOTS 2009): one job tracker, tasks in slots,
//! heartbeats. `docs/models/mapreduce.md` has the rules with their sources.
//!
//! [`spec`] is the description, [`job`] the state of one job's tasks, [`cost`] the durations of work. This file is the
//! cluster: the assignment of tasks at heartbeats, and the sequence of events.

mod cost;
mod job;
mod spec;

pub(crate) use spec::MapReduceSpec;
pub use spec::{MAX_FETCHES, MAX_JOBS, MAX_MAPS, MAX_REDUCERS};

use units::Duration;

use crate::application::{Application, Out};
use crate::random::{Purpose, Stream};
use crate::report::Measures;
use crate::transfer::Outcome;
use job::{Cluster, Fetch, Job};

/// Delay before a failed transfer is repeated.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The kind of a timer or transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Heartbeat,
    Arrival,
    // A map requests its remote split: its JVM has started, or it repeats the request.
    ReadInput,
    MapEnds,
    // The JVM of a reducer has started.
    FetchBegins,
    Fetch,
    // A reducer has computed its output.
    OutputBegins,
    // The output is on the reducer's local disk.
    OutputWritten,
    // A further copy of the output is complete.
    OutputCopy,
}

/// Kinds by number.
const KINDS: [Kind; 9] = {
    use Kind::*;
    [Heartbeat, Arrival, ReadInput, MapEnds, FetchBegins, Fetch, OutputBegins, OutputWritten, OutputCopy]
};

/// Bits of the number of a map, copy or worker; of a reducer; of a job.
const MAP_BITS: u32 = 20;
const REDUCER_BITS: u32 = 17;
const JOB_BITS: u32 = 17;

impl Kind {
    /// Returns the token of a job's reducer and map, copy or worker; those that it does not need are 0.
    fn token(self, job: u32, reducer: u32, map: u32) -> u64 {
        let word = ((self as u64) << JOB_BITS | u64::from(job)) << REDUCER_BITS | u64::from(reducer);
        word << MAP_BITS | u64::from(map)
    }

    fn of_map(self, job: u32, map: u32) -> u64 {
        self.token(job, 0, map)
    }

    fn of_reducer(self, job: u32, reducer: u32) -> u64 {
        self.token(job, reducer, 0)
    }
}

/// Returns the kind of a token, and the numbers of its job, its reducer, and its map, copy or worker.
fn unpack(token: u64) -> (Kind, u32, u32, u32) {
    let field = |shift: u32, bits: u32| ((token >> shift) & ((1 << bits) - 1)) as u32;
    let kind = KINDS[(token >> (MAP_BITS + REDUCER_BITS + JOB_BITS)) as usize];
    (kind, field(MAP_BITS + REDUCER_BITS, JOB_BITS), field(MAP_BITS, REDUCER_BITS), field(0, MAP_BITS))
}

/// A host that runs tasks.
struct Worker {
    host: u32,
    free_map_slots: u32,
    free_reduce_slots: u32,
    /// Maps that have ended here since the last heartbeat: job and map.
    ended: Vec<(u32, u32)>,
}

/// The cluster.
pub(crate) struct MapReduce {
    cluster: Cluster,
    workers: Vec<Worker>,
    jobs: Vec<Job>,
    /// Jobs that have arrived and not ended, in order of arrival.
    active: Vec<u32>,
    unfinished: usize,
}

impl MapReduce {
    /// Creates the application. `jobs` are in the order of the description.
    fn new(cluster: Cluster, jobs: Vec<Job>) -> Self {
        let worker = |host: &u32| Worker {
            host: *host,
            free_map_slots: cluster.spec.map_slots,
            free_reduce_slots: cluster.spec.reduce_slots,
            ended: Vec::new(),
        };
        Self {
            workers: cluster.workers.iter().map(worker).collect(),
            unfinished: jobs.len(),
            cluster,
            jobs,
            active: Vec::new(),
        }
    }

    /// Handles a worker's heartbeat: reports ended maps, and assigns tasks to free slots.
    fn heartbeat(&mut self, worker: u32, out: &mut Out<'_>) {
        for (job, map) in std::mem::take(&mut self.workers[worker as usize].ended) {
            self.announce(job, map, out);
        }
        for _ in 0..self.cluster.spec.tasks_per_heartbeat {
            if !self.start_map(worker, out) {
                break;
            }
        }
        for _ in 0..self.cluster.spec.tasks_per_heartbeat {
            if !self.start_reducer(worker, out) {
                break;
            }
        }
        if self.unfinished > 0 {
            out.after(Duration::from_ps(self.cluster.spec.heartbeat_ps), Kind::Heartbeat.of_map(0, worker));
        }
    }

    /// Assigns a map of the first job that has one to the worker, preferably one whose split it holds. Returns whether it did.
    fn start_map(&mut self, worker: u32, out: &mut Out<'_>) -> bool {
        let place = &mut self.workers[worker as usize];
        if place.free_map_slots == 0 {
            return false;
        }
        for number in &self.active {
            let job = &mut self.jobs[*number as usize];
            let Some((map, is_local)) = job.start_map(worker, out.now) else { continue };
            place.free_map_slots -= 1;
            let noise = job.map_noise(map, &self.cluster);
            if is_local {
                let span = self.cluster.spec.map(job.cost(), job.split(map), job.map_output(map), noise);
                out.after(span, Kind::MapEnds.of_map(*number, map));
            } else {
                let span = self.cluster.spec.start_up(job.cost(), noise);
                out.after(span, Kind::ReadInput.of_map(*number, map));
            }
            return true;
        }
        false
    }

    /// Requests a map's split from a host that holds it.
    fn read_input(&mut self, job: u32, map: u32, out: &mut Out<'_>) {
        let token = Kind::ReadInput.of_map(job, map);
        let job = &mut self.jobs[job as usize];
        let (to, from) = (job.map_worker(map), job.replica(map, &self.cluster.racks));
        let hosts = [to, from].map(|worker| self.workers[worker as usize].host);
        out.transfer(token, None, hosts, [self.cluster.spec.request_bytes, job.split(map)]);
    }

    fn input_read(&mut self, number: u32, map: u32, out: &mut Out<'_>) {
        let job = &self.jobs[number as usize];
        let noise = job.map_noise(map, &self.cluster);
        let span = self.cluster.spec.map_after_input(job.cost(), job.split(map), job.map_output(map), noise);
        out.after(span, Kind::MapEnds.of_map(number, map));
    }

    fn map_ends(&mut self, job: u32, map: u32, out: &mut Out<'_>) {
        let worker = self.jobs[job as usize].end_map(map, out.now);
        let worker = &mut self.workers[worker as usize];
        worker.free_map_slots += 1;
        worker.ended.push((job, map));
    }

    /// Notifies the job tracker of the end of a map: every running reducer may fetch from it.
    fn announce(&mut self, number: u32, map: u32, out: &mut Out<'_>) {
        self.jobs[number as usize].announce(map);
        for reducer in 0..self.jobs[number as usize].started_reducers() {
            self.fetch_more(number, reducer, out);
        }
    }

    /// Assigns a reducer of the first job that has one to start to the worker. Returns whether it did.
    fn start_reducer(&mut self, worker: u32, out: &mut Out<'_>) -> bool {
        let place = &mut self.workers[worker as usize];
        if place.free_reduce_slots == 0 {
            return false;
        }
        for number in &self.active {
            let job = &mut self.jobs[*number as usize];
            let Some(reducer) = job.start_reducer(worker, out.now, &self.cluster) else { continue };
            place.free_reduce_slots -= 1;
            let span = self.cluster.spec.start_up(job.cost(), job.reduce_noise(reducer, &self.cluster));
            out.after(span, Kind::FetchBegins.of_reducer(*number, reducer));
            return true;
        }
        false
    }

    /// Begins the fetches that a reducer may make. When nothing is left to fetch, the reducer starts to reduce.
    fn fetch_more(&mut self, number: u32, reducer: u32, out: &mut Out<'_>) {
        while let Some(fetch) = self.jobs[number as usize].next_fetch(reducer, out.now, &self.cluster) {
            self.fetch(number, reducer, &fetch, out);
        }
        let job = &mut self.jobs[number as usize];
        if let Some(input_bytes) = job.end_fetch(reducer, out.now) {
            out.group_ends(group_of(number, reducer));
            let noise = job.reduce_noise(reducer, &self.cluster);
            let span = self.cluster.spec.reduce(job.cost(), input_bytes, noise);
            out.after(span, Kind::OutputBegins.of_reducer(number, reducer));
        }
    }

    /// Requests a partition for a reducer.
    fn fetch(&self, job: u32, reducer: u32, fetch: &Fetch, out: &mut Out<'_>) {
        let hosts = fetch.workers.map(|worker| self.workers[worker as usize].host);
        let token = Kind::Fetch.token(job, reducer, fetch.map);
        let bytes = [self.cluster.spec.request_bytes, fetch.bytes];
        out.transfer(token, Some(group_of(job, reducer)), hosts, bytes);
    }

    /// Writes a reducer's output to its local disk, and over the network as HDFS does: to a second host and from there
    /// to a third, all at the same time.
    fn output_begins(&mut self, number: u32, reducer: u32, out: &mut Out<'_>) {
        let job = &mut self.jobs[number as usize];
        let bytes = job.output(reducer);
        let noise = job.reduce_noise(reducer, &self.cluster);
        let span = self.cluster.spec.write(bytes, noise);
        out.after(span, Kind::OutputWritten.of_reducer(number, reducer));
        let copies = if bytes == 0 { 0 } else { self.cluster.spec.output_replication - 1 };
        job.output_begins(reducer, copies, &self.cluster);
        for copy in 0..copies {
            self.copy_output(number, reducer, copy, out);
        }
    }

    fn copy_output(&mut self, number: u32, reducer: u32, copy: u32, out: &mut Out<'_>) {
        let job = &self.jobs[number as usize];
        let hosts = job.copy_between(reducer, copy).map(|worker| self.workers[worker as usize].host);
        let token = Kind::OutputCopy.token(number, reducer, copy);
        out.transfer(token, None, hosts, [job.output(reducer), 0]);
    }

    /// Completes one copy of a reducer's output. The last copy ends its task, and the last task ends the job.
    fn output_done(&mut self, number: u32, reducer: u32, out: &mut Out<'_>) {
        let job = &mut self.jobs[number as usize];
        let Some(worker) = job.output_done(reducer, out.now) else { return };
        self.workers[worker as usize].free_reduce_slots += 1;
        if job.is_finished() {
            self.active.retain(|active| *active != number);
            self.unfinished -= 1;
            if self.unfinished == 0 {
                out.finish();
            }
        }
    }
}

/// Returns the group of a reducer's fetches, which complete together.
fn group_of(job: u32, reducer: u32) -> u64 {
    u64::from(job) << 32 | u64::from(reducer)
}

impl Application for MapReduce {
    fn start(&mut self, out: &mut Out<'_>) {
        for (number, job) in self.jobs.iter().enumerate() {
            out.timer(job.arrival(), Kind::Arrival.of_map(number as u32, 0));
        }
        for worker in 0..self.workers.len() as u32 {
            let mut stream = Stream::new(
                self.cluster.seed,
                Purpose::HeartbeatPhase,
                &[self.cluster.application, worker.into()],
            );
            let phase = Duration::from_ps(stream.below(self.cluster.spec.heartbeat_ps));
            out.after(phase, Kind::Heartbeat.of_map(0, worker));
        }
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        let (kind, job, reducer, map) = unpack(token);
        match kind {
            Kind::Heartbeat => self.heartbeat(map, out),
            Kind::Arrival => {
                self.jobs[job as usize].arrive(job, &self.cluster);
                self.active.push(job);
            }
            Kind::ReadInput => self.read_input(job, map, out),
            Kind::MapEnds => self.map_ends(job, map, out),
            Kind::FetchBegins => {
                self.jobs[job as usize].fetch_may_begin(reducer);
                self.fetch_more(job, reducer, out);
            }
            Kind::Fetch => self.fetch(job, reducer, &self.jobs[job as usize].fetch(reducer, map), out),
            Kind::OutputBegins => self.output_begins(job, reducer, out),
            Kind::OutputWritten => self.output_done(job, reducer, out),
            Kind::OutputCopy => self.copy_output(job, reducer, map, out),
        }
    }

    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>) {
        let (kind, job, reducer, map) = unpack(token);
        if outcome == Outcome::Failed {
            self.jobs[job as usize].report.refetches += 1;
            return out.after(RETRY_AFTER, token);
        }
        match kind {
            Kind::ReadInput => self.input_read(job, map, out),
            Kind::Fetch => {
                self.jobs[job as usize].fetched(reducer, map, out.now);
                self.fetch_more(job, reducer, out);
            }
            Kind::OutputCopy => self.output_done(job, reducer, out),
            other => unreachable!("{other:?} is not a transfer"),
        }
    }

    fn report(&self) -> Measures {
        Measures::MapReduce { jobs: self.jobs.iter().map(Job::report).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_back_what_was_put_in() {
        let (job, reducer, map) = ((1 << JOB_BITS) - 1, (1 << REDUCER_BITS) - 1, (1 << MAP_BITS) - 1);
        for kind in KINDS {
            assert_eq!(unpack(kind.token(job, reducer, map)), (kind, job, reducer, map));
        }
    }
}
