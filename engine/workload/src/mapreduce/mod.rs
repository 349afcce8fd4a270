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

/// The purpose of a timer or transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Heartbeat { worker: u32 },
    Arrival { job: u32 },
    // A map requests its remote split: its JVM has started, or it repeats the request.
    ReadInput { job: u32, map: u32 },
    MapEnds { job: u32, map: u32 },
    // The JVM of a reducer has started.
    FetchBegins { job: u32, reducer: u32 },
    Fetch { job: u32, reducer: u32, map: u32 },
    // A reducer has computed its output.
    OutputBegins { job: u32, reducer: u32 },
    // The output is on the reducer's local disk.
    OutputWritten { job: u32, reducer: u32 },
    // A further copy of the output is complete.
    OutputCopy { job: u32, reducer: u32, copy: u32 },
}

/// Bits of the number of a map or copy; of a reducer; of a job.
const MAP_BITS: u32 = 20;
const REDUCER_BITS: u32 = 17;
const JOB_BITS: u32 = 17;

impl Token {
    fn pack(self) -> u64 {
        let (kind, job, reducer, map) = match self {
            Token::Heartbeat { worker } => (0, 0, 0, worker),
            Token::Arrival { job } => (1, job, 0, 0),
            Token::ReadInput { job, map } => (2, job, 0, map),
            Token::MapEnds { job, map } => (3, job, 0, map),
            Token::FetchBegins { job, reducer } => (4, job, reducer, 0),
            Token::Fetch { job, reducer, map } => (5, job, reducer, map),
            Token::OutputBegins { job, reducer } => (6, job, reducer, 0),
            Token::OutputWritten { job, reducer } => (7, job, reducer, 0),
            Token::OutputCopy { job, reducer, copy } => (8, job, reducer, copy),
        };
        let word = ((kind << JOB_BITS | u64::from(job)) << REDUCER_BITS) | u64::from(reducer);
        word << MAP_BITS | u64::from(map)
    }

    fn unpack(word: u64) -> Self {
        let field = |shift: u32, bits: u32| ((word >> shift) & ((1 << bits) - 1)) as u32;
        let map = field(0, MAP_BITS);
        let reducer = field(MAP_BITS, REDUCER_BITS);
        let job = field(MAP_BITS + REDUCER_BITS, JOB_BITS);
        match word >> (MAP_BITS + REDUCER_BITS + JOB_BITS) {
            0 => Token::Heartbeat { worker: map },
            1 => Token::Arrival { job },
            2 => Token::ReadInput { job, map },
            3 => Token::MapEnds { job, map },
            4 => Token::FetchBegins { job, reducer },
            5 => Token::Fetch { job, reducer, map },
            6 => Token::OutputBegins { job, reducer },
            7 => Token::OutputWritten { job, reducer },
            8 => Token::OutputCopy { job, reducer, copy: map },
            kind => unreachable!("no token has kind {kind}"),
        }
    }
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
            out.after(Duration::from_ps(self.cluster.spec.heartbeat_ps), Token::Heartbeat { worker }.pack());
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
                out.after(span, Token::MapEnds { job: *number, map }.pack());
            } else {
                let span = self.cluster.spec.start_up(job.cost(), noise);
                out.after(span, Token::ReadInput { job: *number, map }.pack());
            }
            return true;
        }
        false
    }

    /// Requests a map's split from a host that holds it.
    fn read_input(&mut self, job: u32, map: u32, out: &mut Out<'_>) {
        let token = Token::ReadInput { job, map }.pack();
        let job = &mut self.jobs[job as usize];
        let (to, from) = (job.map_worker(map), job.replica(map, &self.cluster.racks));
        let hosts = [to, from].map(|worker| self.workers[worker as usize].host);
        out.transfer(token, None, hosts, [self.cluster.spec.request_bytes, job.split(map)]);
    }

    fn input_read(&mut self, number: u32, map: u32, out: &mut Out<'_>) {
        let job = &self.jobs[number as usize];
        let noise = job.map_noise(map, &self.cluster);
        let span = self.cluster.spec.map_after_input(job.cost(), job.split(map), job.map_output(map), noise);
        out.after(span, Token::MapEnds { job: number, map }.pack());
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
            out.after(span, Token::FetchBegins { job: *number, reducer }.pack());
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
            out.after(span, Token::OutputBegins { job: number, reducer }.pack());
        }
    }

    /// Requests a partition for a reducer.
    fn fetch(&self, job: u32, reducer: u32, fetch: &Fetch, out: &mut Out<'_>) {
        let hosts = fetch.workers.map(|worker| self.workers[worker as usize].host);
        let token = Token::Fetch { job, reducer, map: fetch.map }.pack();
        let bytes = [self.cluster.spec.request_bytes, fetch.bytes];
        out.transfer(token, Some(group_of(job, reducer)), hosts, bytes);
    }

    /// Writes a reducer's output to its local disk, and over the network as HDFS does: to a second host and from there
    /// to a third, all at the same time.
    fn output_begins(&mut self, number: u32, reducer: u32, out: &mut Out<'_>) {
        let job = &mut self.jobs[number as usize];
        let bytes = job.output(reducer);
        let noise = job.reduce_noise(reducer, &self.cluster);
        out.after(
            self.cluster.spec.write(bytes, noise),
            Token::OutputWritten { job: number, reducer }.pack(),
        );
        let copies = if bytes == 0 { 0 } else { self.cluster.spec.output_replication - 1 };
        job.output_begins(reducer, copies, &self.cluster);
        for copy in 0..copies {
            self.copy_output(number, reducer, copy, out);
        }
    }

    fn copy_output(&mut self, number: u32, reducer: u32, copy: u32, out: &mut Out<'_>) {
        let job = &self.jobs[number as usize];
        let hosts = job.copy_between(reducer, copy).map(|worker| self.workers[worker as usize].host);
        let token = Token::OutputCopy { job: number, reducer, copy }.pack();
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
            out.timer(job.arrival(), Token::Arrival { job: number as u32 }.pack());
        }
        for worker in 0..self.workers.len() as u32 {
            let mut stream = Stream::new(
                self.cluster.seed,
                Purpose::HeartbeatPhase,
                &[self.cluster.application, worker.into()],
            );
            let phase = Duration::from_ps(stream.below(self.cluster.spec.heartbeat_ps));
            out.after(phase, Token::Heartbeat { worker }.pack());
        }
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        match Token::unpack(token) {
            Token::Heartbeat { worker } => self.heartbeat(worker, out),
            Token::Arrival { job } => {
                self.jobs[job as usize].arrive(job, &self.cluster);
                self.active.push(job);
            }
            Token::ReadInput { job, map } => self.read_input(job, map, out),
            Token::MapEnds { job, map } => self.map_ends(job, map, out),
            Token::FetchBegins { job, reducer } => {
                self.jobs[job as usize].fetch_may_begin(reducer);
                self.fetch_more(job, reducer, out);
            }
            Token::Fetch { job, reducer, map } => {
                self.fetch(job, reducer, &self.jobs[job as usize].fetch(reducer, map), out);
            }
            Token::OutputBegins { job, reducer } => self.output_begins(job, reducer, out),
            Token::OutputWritten { job, reducer } => self.output_done(job, reducer, out),
            Token::OutputCopy { job, reducer, copy } => self.copy_output(job, reducer, copy, out),
        }
    }

    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>) {
        let unpacked = Token::unpack(token);
        if outcome == Outcome::Failed {
            if let Token::ReadInput { job, .. } | Token::Fetch { job, .. } | Token::OutputCopy { job, .. } =
                unpacked
            {
                self.jobs[job as usize].report.refetches += 1;
            }
            return out.after(RETRY_AFTER, token);
        }
        match unpacked {
            Token::ReadInput { job, map } => self.input_read(job, map, out),
            Token::Fetch { job, reducer, map } => {
                self.jobs[job as usize].fetched(reducer, map, out.now);
                self.fetch_more(job, reducer, out);
            }
            Token::OutputCopy { job, reducer, .. } => self.output_done(job, reducer, out),
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
}
