//! A cluster, event by event, implemented from the text of `docs/models/mapreduce.md`: lists and loops, and whole picoseconds.
//!
//! The crate's random draws are inputs: phases of heartbeats, places of splits and copies, and the noise are drawn here from the same streams, and the order
//! in which a reducer takes its partitions is read from the crate's run. Every such choice is checked against the text; everything else is predicted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use workload::Outcome;

use super::cluster::{Cluster, Job};
use super::driver::{Run, SECOND};
use super::random::{Purpose as Draw, Stream};

pub(crate) const SORT_BUFFER: u64 = 50 << 20;
const REDUCE_BUFFER: u64 = 66 << 20;

/// Returns the duration of a transfer that begins at a time between two hosts, and whether it arrives.
pub(crate) type Network<'a> = &'a dyn Fn(u64, u32, u32, u64) -> (u64, Outcome);

/// A transfer: the opening host, the other host, and the bytes in both directions.
pub(crate) type Sent = (u32, u32, u64, u64);

/// A fetch that the crate began: time, source host, and bytes.
type Choice = (u64, u32, u64);

/// Returns a stream of the cluster's application, which is the first of its description.
fn draws(seed: u64, purpose: Draw, place: [usize; 2]) -> Stream {
    Stream::new(seed, purpose, &[0, place[0] as u64, place[1] as u64])
}

/// The purpose of a transfer: a job's map reads its split, a reducer fetches a map's output, or a link of a reducer's chain carries its output.
#[derive(Clone, Copy)]
enum Purpose {
    Split { job: usize, map: usize },
    Partition { job: usize, reducer: usize, map: usize },
    Copy { job: usize, reducer: usize, link: usize },
}

/// What happens, to a job, to its map or its reducer, or to a worker.
#[derive(Clone, Copy)]
enum Event {
    Arrives(usize),
    Heartbeat(usize),
    /// A map with a remote split has started up.
    Reads(usize, usize),
    MapEnds(usize, usize),
    /// A reducer has started up.
    Fetches(usize, usize),
    /// A reducer begins to write its output.
    Writes(usize, usize),
    /// A reducer's local disk has its output.
    Written(usize, usize),
    Arrived(Purpose),
    Failed(Purpose),
    Again(Purpose),
}

#[derive(Clone, Default)]
struct Map {
    replicas: Vec<usize>,
    worker: Option<usize>,
    given: u64,
    ended: Option<u64>,
    is_known: bool,
}

#[derive(Clone, Default)]
struct Reducer {
    worker: Option<usize>,
    given: u64,
    may_fetch: bool,
    /// Maps whose partition has arrived or is in flight.
    begun: BTreeSet<usize>,
    under_way: usize,
    first_fetch: Option<u64>,
    last_arrival: u64,
    everything: Option<u64>,
    /// Workers along the chain of output, starting with its own.
    chain: Vec<usize>,
    /// Number of writes of output that have not ended.
    writing: usize,
    ended: Option<u64>,
}

#[derive(Default)]
struct JobState {
    has_arrived: bool,
    maps: Vec<Map>,
    reducers: Vec<Reducer>,
    first_fetch: Option<u64>,
    network_bytes: u64,
    refetches: u64,
}

/// The expected content of a job's report.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Foretold {
    pub(crate) runtime: u64,
    pub(crate) local_maps: usize,
    pub(crate) first_map_start: u64,
    pub(crate) last_map_end: u64,
    pub(crate) first_fetch_start: Option<u64>,
    pub(crate) last_fetch_end: u64,
    pub(crate) map_task: u64,
    pub(crate) fetch_task: u64,
    pub(crate) reduce_task: u64,
    /// For reducers that fetched over the network: time from the first fetch to the last byte.
    pub(crate) shuffles: Vec<u64>,
    pub(crate) network_bytes: u64,
    pub(crate) refetches: u64,
}

pub(crate) struct Oracle<'a> {
    cluster: &'a Cluster,
    network: Network<'a>,
    workers: Vec<usize>,
    now: u64,
    /// Time, order of insertion, event.
    events: Vec<(u64, u64, Event)>,
    put: u64,
    jobs: Vec<JobState>,
    /// Jobs in order of arrival.
    arrived: Vec<usize>,
    /// By job and reducer: the fetches that the crate began, in order.
    choices: BTreeMap<(usize, usize), VecDeque<Choice>>,
    /// Maximum difference of times from the crate's.
    tolerance: u64,
    pub(crate) sent: Vec<(u64, Sent)>,
    /// Times of events for which the crate needs a timer.
    pub(crate) due: BTreeSet<u64>,
    /// Times at which it may have one.
    pub(crate) possible: BTreeSet<u64>,
}

impl<'a> Oracle<'a> {
    /// Creates the oracle for `run`, which has ended.
    pub(crate) fn new(cluster: &'a Cluster, network: Network<'a>, run: &Run, tolerance: u64) -> Self {
        let mut choices: BTreeMap<_, VecDeque<_>> = BTreeMap::new();
        let mut tokens = BTreeSet::new();
        for one in &run.transfers {
            // A repeated fetch has the token of the failed one. A group belongs to a reducer: its job, and its number there.
            if let (Some(group), true) = (one.transfer.group, tokens.insert(one.transfer.id.token)) {
                let reducer = ((group >> 32) as usize, (group & 0xFFFF_FFFF) as usize);
                let choice = (one.at, one.transfer.to, one.transfer.response_bytes);
                choices.entry(reducer).or_default().push_back(choice);
            }
        }
        let jobs = cluster.jobs.iter().map(|_| JobState::default()).collect();
        Self {
            cluster,
            network,
            workers: cluster.workers(),
            now: 0,
            events: Vec::new(),
            put: 0,
            jobs,
            arrived: Vec::new(),
            choices,
            tolerance,
            sent: Vec::new(),
            due: BTreeSet::new(),
            possible: BTreeSet::new(),
        }
    }

    fn at(&mut self, at: u64, event: Event) {
        self.events.push((at, self.put, event));
        self.put += 1;
        self.possible.insert(at);
    }

    /// Predicts everything. An error is a choice of the crate that the text does not allow.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        for job in 0..self.jobs.len() {
            self.at(self.cluster.jobs[job].arrival, Event::Arrives(job));
        }
        for worker in 0..self.workers.len() {
            self.at(heartbeat_phase(self.cluster, worker), Event::Heartbeat(worker));
        }
        let is_over = |job: &JobState| job.has_arrived && job.reducers.iter().all(|one| one.ended.is_some());
        while !self.jobs.iter().all(is_over) {
            let first =
                (0..self.events.len()).min_by_key(|index| (self.events[*index].0, self.events[*index].1));
            let (at, _, event) = self.events.swap_remove(first.ok_or("nothing is left to happen")?);
            self.now = at;
            self.handle(event)?;
        }
        match self.choices.values().flatten().next() {
            Some(choice) => Err(format!("one fetch too many: {choice:?}")),
            None => Ok(()),
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Arrives(job) => self.arrives(job),
            Event::Heartbeat(worker) => return self.heartbeat(worker),
            Event::Reads(job, map) => self.begin(Purpose::Split { job, map }),
            Event::MapEnds(job, map) => {
                self.due.insert(self.now);
                self.jobs[job].maps[map].ended = Some(self.now);
            }
            Event::Fetches(job, reducer) => {
                self.due.insert(self.now);
                self.jobs[job].reducers[reducer].may_fetch = true;
                return self.fetch(job, reducer);
            }
            Event::Writes(job, reducer) => self.write(job, reducer),
            Event::Written(job, reducer) => {
                self.due.insert(self.now);
                self.one_write_less(job, reducer);
            }
            Event::Again(purpose) => {
                self.due.insert(self.now);
                self.begin(purpose);
            }
            Event::Failed(purpose) => {
                self.at(self.now + SECOND, Event::Again(purpose));
                let (Purpose::Split { job, .. } | Purpose::Partition { job, .. } | Purpose::Copy { job, .. }) =
                    purpose;
                self.jobs[job].refetches += 1;
            }
            Event::Arrived(purpose) => return self.arrived(purpose),
        }
        Ok(())
    }

    fn arrives(&mut self, job: usize) {
        let (spec, workers) = (&self.cluster.jobs[job], self.workers.len());
        let place = |map| {
            let mut draws = draws(self.cluster.seed, Draw::Replicas, [job, map]);
            let replicas = draws.choose(self.cluster.replicas, workers);
            Map { replicas: replicas.into_iter().map(|worker| worker as usize).collect(), ..Map::default() }
        };
        self.jobs[job].maps = (0..spec.maps).map(place).collect();
        self.jobs[job].reducers = vec![Reducer::default(); spec.reducers];
        self.jobs[job].has_arrived = true;
        self.arrived.push(job);
    }

    fn heartbeat(&mut self, worker: usize) -> Result<(), String> {
        self.at(self.now + self.cluster.heartbeat, Event::Heartbeat(worker));
        for map in self.jobs.iter_mut().flat_map(|job| &mut job.maps) {
            map.is_known |= map.worker == Some(worker) && map.ended.is_some();
        }
        for _ in 0..self.cluster.tasks_per_heartbeat {
            let running = |map: &&Map| map.worker == Some(worker) && map.ended.is_none();
            let busy = self.jobs.iter().flat_map(|job| &job.maps).filter(running).count();
            if busy < self.cluster.map_slots {
                self.give_map(worker);
            }
        }
        for _ in 0..self.cluster.tasks_per_heartbeat {
            let running = |one: &&Reducer| one.worker == Some(worker) && one.ended.is_none();
            let busy = self.jobs.iter().flat_map(|job| &job.reducers).filter(running).count();
            if busy < self.cluster.reduce_slots {
                self.give_reducer(worker);
            }
        }
        for job in 0..self.jobs.len() {
            for reducer in 0..self.jobs[job].reducers.len() {
                self.fetch(job, reducer)?;
            }
        }
        Ok(())
    }

    fn give_map(&mut self, worker: usize) {
        for job in self.arrived.clone() {
            let maps = &self.jobs[job].maps;
            let waiting: Vec<_> = (0..maps.len()).filter(|map| maps[*map].worker.is_none()).collect();
            let local = waiting.iter().find(|map| maps[**map].replicas.contains(&worker));
            let Some(&map) = local.or(waiting.first()) else { continue };
            let is_local = local.is_some();
            let given = &mut self.jobs[job].maps[map];
            (given.worker, given.given) = (Some(worker), self.now);
            if is_local {
                let takes = self.map_time(job, map, &|own| own.startup + own.read + own.rest);
                self.at(self.now + takes, Event::MapEnds(job, map));
            } else {
                let takes = self.map_time(job, map, &|own| own.startup);
                self.at(self.now + takes, Event::Reads(job, map));
            }
            return;
        }
    }

    fn give_reducer(&mut self, worker: usize) {
        for job in self.arrived.clone() {
            let spec = &self.cluster.jobs[job];
            let known = self.jobs[job].maps.iter().filter(|map| map.is_known).count();
            let may_start = known as u64 * 100 >= self.cluster.slowstart_percent * spec.maps as u64;
            let waiting = self.jobs[job].reducers.iter().position(|one| one.worker.is_none());
            let Some(reducer) = waiting.filter(|_| may_start) else { continue };
            let given = &mut self.jobs[job].reducers[reducer];
            (given.worker, given.given) = (Some(worker), self.now);
            let takes = self.reduce_time(job, reducer, spec.cost[0] * self.cluster.cycle_ps);
            self.at(self.now + takes, Event::Fetches(job, reducer));
            return;
        }
    }

    /// Returns the duration of a part of a map's local work.
    fn map_time(&self, job: usize, map: usize, part: &dyn Fn(&MapWork) -> u64) -> u64 {
        let (cluster, spec) = (self.cluster, &self.cluster.jobs[job]);
        let (input, output) = (spec.split(map), spec.map_output(map));
        let [startup, per_input, per_output, wrapup, ..] = spec.cost;
        let merge = if output > SORT_BUFFER { output * (cluster.read_ps + cluster.write_ps) } else { 0 };
        let work = MapWork {
            startup: startup * cluster.cycle_ps,
            read: input * cluster.read_ps,
            rest: (per_input * input + per_output * output + wrapup) * cluster.cycle_ps
                + output * cluster.write_ps
                + merge,
        };
        let noise = draws(cluster.seed, Draw::MapNoise, [job, map]).log_normal(cluster.sigma);
        times(part(&work), noise)
    }

    /// Returns the duration of a reducer's work, including its noise.
    fn reduce_time(&self, job: usize, reducer: usize, work: u64) -> u64 {
        times(
            work,
            draws(self.cluster.seed, Draw::ReduceNoise, [job, reducer]).log_normal(self.cluster.sigma),
        )
    }

    /// Begins the fetches that a reducer may make.
    fn fetch(&mut self, job: usize, reducer: usize) -> Result<(), String> {
        let spec = &self.cluster.jobs[job];
        let one = &self.jobs[job].reducers[reducer];
        let (true, None, Some(worker)) = (one.may_fetch, one.everything, one.worker) else { return Ok(()) };
        loop {
            let state = &mut self.jobs[job];
            let one = &mut state.reducers[reducer];
            let may: Vec<_> =
                (0..spec.maps).filter(|map| state.maps[*map].is_known && !one.begun.contains(map)).collect();
            let mut far = Vec::new();
            for map in may {
                if state.maps[map].worker == Some(worker) || spec.partition(map, reducer) == 0 {
                    one.begun.insert(map);
                } else {
                    far.push(map);
                }
            }
            if one.begun.len() == spec.maps && one.under_way == 0 {
                one.everything = Some(self.now);
                return self.reduce(job, reducer);
            }
            if far.is_empty() || one.under_way >= self.cluster.parallel_fetches.unwrap_or(usize::MAX) {
                return Ok(());
            }
            // The crate's random choice among them.
            let choice = self.choices.get_mut(&(job, reducer)).and_then(VecDeque::pop_front);
            let Some((at, host, bytes)) = choice else {
                return Err(format!("reducer {reducer} of job {job} does not fetch at {}", self.now));
            };
            if at.abs_diff(self.now) > self.tolerance {
                return Err(format!("reducer {reducer} of job {job} fetches at {at}, not at {}", self.now));
            }
            let is_it = |map: &&usize| {
                let there = state.maps[**map].worker.expect("it has run");
                self.workers[there] == host as usize && spec.partition(**map, reducer) == bytes
            };
            let Some(&map) = far.iter().find(is_it) else {
                return Err(format!("reducer {reducer} fetches {bytes} bytes of host {host} at {at}"));
            };
            one.begun.insert(map);
            one.under_way += 1;
            one.first_fetch.get_or_insert(self.now);
            state.first_fetch.get_or_insert(self.now);
            self.begin(Purpose::Partition { job, reducer, map });
        }
    }

    fn reduce(&mut self, job: usize, reducer: usize) -> Result<(), String> {
        let (cluster, spec) = (self.cluster, &self.cluster.jobs[job]);
        let input: u64 = (0..spec.maps).map(|map| spec.partition(map, reducer)).sum();
        let [.., merge, start, per_byte] = spec.cost;
        let work = (merge + start + per_byte * input) * cluster.cycle_ps
            + input.min(REDUCE_BUFFER) * cluster.write_ps
            + input * cluster.read_ps;
        self.at(self.now + self.reduce_time(job, reducer, work), Event::Writes(job, reducer));
        Ok(())
    }

    fn write(&mut self, job: usize, reducer: usize) {
        let (cluster, output) = (self.cluster, self.cluster.jobs[job].output_of(reducer));
        let worker = self.jobs[job].reducers[reducer].worker.expect("it runs");
        let mut chain = vec![worker];
        if cluster.output_replication > 1 {
            let others: Vec<_> = (0..self.workers.len()).filter(|other| *other != worker).collect();
            let mut draws = draws(cluster.seed, Draw::OutputCopies, [job, reducer]);
            let chosen = draws.choose(cluster.output_replication - 1, others.len());
            chain.extend(chosen.into_iter().map(|place| others[place as usize]));
        }
        let links = if output > 0 { chain.len() - 1 } else { 0 };
        let one = &mut self.jobs[job].reducers[reducer];
        (one.chain, one.writing) = (chain, 1 + links);
        let takes = self.reduce_time(job, reducer, output * cluster.write_ps);
        self.at(self.now + takes, Event::Written(job, reducer));
        (0..links).for_each(|link| self.begin(Purpose::Copy { job, reducer, link }));
    }

    fn one_write_less(&mut self, job: usize, reducer: usize) {
        let one = &mut self.jobs[job].reducers[reducer];
        one.writing -= 1;
        if one.writing == 0 {
            one.ended = Some(self.now);
        }
    }

    /// Begins a transfer, for the first time or again.
    fn begin(&mut self, purpose: Purpose) {
        let (spec, jobs) = (&self.cluster.jobs, &self.jobs);
        let request = self.cluster.request;
        // Splits and partitions are requested; output is sent along the chain without a request.
        let (opens, other, bytes) = match purpose {
            Purpose::Split { job, map } => {
                let one = &jobs[job].maps[map];
                let worker = one.worker.expect("it runs");
                let near = one.replicas.iter().find(|place| self.share_a_rack(**place, worker));
                (worker, *near.unwrap_or(&one.replicas[0]), [request, spec[job].split(map)])
            }
            Purpose::Partition { job, reducer, map } => {
                let worker = jobs[job].reducers[reducer].worker.expect("it runs");
                let bytes = [request, spec[job].partition(map, reducer)];
                (worker, jobs[job].maps[map].worker.expect("it has run"), bytes)
            }
            Purpose::Copy { job, reducer, link } => {
                let chain = &jobs[job].reducers[reducer].chain;
                (chain[link], chain[link + 1], [spec[job].output_of(reducer), 0])
            }
        };
        let [from, to] = [opens, other].map(|worker| self.workers[worker] as u32);
        self.sent.push((self.now, (from, to, bytes[0], bytes[1])));
        let (takes, outcome) = (self.network)(self.now, from, to, bytes[0] + bytes[1]);
        let event = match outcome {
            Outcome::Finished => Event::Arrived(purpose),
            Outcome::Failed => Event::Failed(purpose),
        };
        self.at(self.now + takes, event);
    }

    fn share_a_rack(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|worker| self.workers[worker]);
        self.cluster.racks.iter().any(|rack| rack.contains(&one) && rack.contains(&other))
    }

    fn arrived(&mut self, purpose: Purpose) -> Result<(), String> {
        match purpose {
            Purpose::Split { job, map } => {
                let takes = self.map_time(job, map, &|own| own.rest);
                self.at(self.now + takes, Event::MapEnds(job, map));
            }
            Purpose::Partition { job, reducer, map } => {
                self.jobs[job].network_bytes += self.cluster.jobs[job].partition(map, reducer);
                let one = &mut self.jobs[job].reducers[reducer];
                (one.under_way, one.last_arrival) = (one.under_way - 1, self.now);
                return self.fetch(job, reducer);
            }
            Purpose::Copy { job, reducer, .. } => self.one_write_less(job, reducer),
        }
        Ok(())
    }

    /// Returns the expected report of a job.
    pub(crate) fn foretold(&self, number: usize) -> Foretold {
        let (job, workers) = (&self.jobs[number], |map: &&Map| map.replicas.contains(&map.worker.unwrap()));
        let ends = |one: &Reducer| one.ended.expect("it is over");
        let everything = |one: &Reducer| one.everything.expect("it is over");
        let map_ends = |map: &Map| map.ended.expect("it is over");
        let shuffle = |one: &Reducer| one.first_fetch.map(|first| one.last_arrival - first);
        Foretold {
            runtime: job.reducers.iter().map(ends).max().unwrap() - self.cluster.jobs[number].arrival,
            local_maps: job.maps.iter().filter(workers).count(),
            first_map_start: job.maps.iter().map(|map| map.given).min().unwrap(),
            last_map_end: job.maps.iter().map(map_ends).max().unwrap(),
            first_fetch_start: job.first_fetch,
            last_fetch_end: job.reducers.iter().map(everything).max().unwrap(),
            map_task: job.maps.iter().map(|map| map_ends(map) - map.given).sum(),
            fetch_task: job.reducers.iter().map(|one| everything(one) - one.given).sum(),
            reduce_task: job.reducers.iter().map(|one| ends(one) - everything(one)).sum(),
            shuffles: job.reducers.iter().filter_map(shuffle).collect(),
            network_bytes: job.network_bytes,
            refetches: job.refetches,
        }
    }
}

/// A map's local work: before it reads, the reading of a split on its own disk, and the work after that.
struct MapWork {
    startup: u64,
    read: u64,
    rest: u64,
}

/// Returns the time of a worker's first heartbeat.
pub(crate) fn heartbeat_phase(cluster: &Cluster, worker: usize) -> u64 {
    Stream::new(cluster.seed, Draw::HeartbeatPhase, &[0, worker as u64]).below(cluster.heartbeat)
}

/// Returns a duration multiplied by its noise, rounded to a picosecond.
fn times(work: u64, factor: f64) -> u64 {
    (work as f64 * factor).round() as u64
}

/// Returns the size of part `number` when `total` is divided into `of` parts.
fn part(total: u64, number: usize, of: usize) -> u64 {
    let before = |number: usize| (u128::from(total) * number as u128 / of as u128) as u64;
    before(number + 1) - before(number)
}

impl Job {
    pub(crate) fn split(&self, map: usize) -> u64 {
        part(self.input, map, self.maps)
    }

    pub(crate) fn partition(&self, map: usize, reducer: usize) -> u64 {
        part(self.shuffle, map * self.reducers + reducer, self.maps * self.reducers)
    }

    pub(crate) fn map_output(&self, map: usize) -> u64 {
        (0..self.reducers).map(|reducer| self.partition(map, reducer)).sum()
    }

    pub(crate) fn output_of(&self, reducer: usize) -> u64 {
        part(self.output, reducer, self.reducers)
    }
}
