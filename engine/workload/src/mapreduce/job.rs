//! The tasks of one job: the locations of splits, the workers of maps and reducers, and the reducers' pending fetches.

use units::{Duration, Histogram, Time};

use super::cost::Cost;
use super::spec::JobSpec;
use super::MapReduceSpec;
use crate::random::{Purpose, Stream};
use crate::report::{Distribution, JobReport};

/// A checked cluster, without its jobs.
pub(super) struct Cluster {
    pub(super) spec: MapReduceSpec,
    pub(super) seed: u64,
    pub(super) application: u64,
    /// Hosts by worker.
    pub(super) workers: Vec<u32>,
    /// Racks by worker; `None` means a rack of its own.
    pub(super) racks: Vec<Option<u32>>,
}

impl Cluster {
    /// Returns the random stream of one task of a job.
    pub(super) fn stream(&self, purpose: Purpose, job: u32, task: u32) -> Stream {
        Stream::new(self.seed, purpose, &[self.application, job.into(), task.into()])
    }
}

/// One job. Its tasks occupy memory only from its arrival to its end.
pub(super) struct Job {
    spec: JobSpec,
    tasks: Option<Box<Tasks>>,
    /// Its counts and times so far, without what [`Job::report`] derives from them.
    pub(super) report: JobReport,
    end: Option<Time>,
    /// For each reducer that fetched over the network: the time from its first fetch to its last byte.
    shuffles: Vec<Duration>,
}

#[derive(Default)]
struct Tasks {
    number: u32,
    /// By map: the workers that hold its split, `replicas_each` for each map.
    replicas: Vec<u32>,
    replicas_each: usize,
    /// By worker: the maps whose split it holds, the next one to start last.
    local: Vec<Vec<u32>>,
    /// All maps below this number have started.
    next_map: u32,
    maps: Vec<MapTask>,
    started_maps: u32,
    ended_maps: u32,
    /// Maps whose end the job tracker has been notified of, in that order.
    announced: Vec<u32>,
    reducers: Vec<Reducer>,
    ended_reducers: u32,
}

#[derive(Clone, Copy, Default)]
struct MapTask {
    started: Option<Time>,
    worker: u32,
}

struct Reducer {
    worker: u32,
    started: Time,
    /// Whether its JVM has started.
    ready: bool,
    /// Number of announced maps that it has processed.
    heard: usize,
    /// Maps whose output it may fetch.
    known: Vec<u32>,
    fetching: u32,
    fetched: u32,
    input_bytes: u64,
    draw: Stream,
    /// Start of its first fetch over the network, and arrival of the last byte of its latest one.
    first_fetch: Option<Time>,
    last_byte: Time,
    has_everything: Option<Time>,
    /// Workers that receive a copy of its output.
    copies: Vec<u32>,
    /// Number of incomplete copies of its output; `None` before it writes.
    unwritten: Option<u32>,
}

/// A partition that one worker fetches from another.
pub(super) struct Fetch {
    pub(super) map: u32,
    pub(super) workers: [u32; 2],
    pub(super) bytes: u64,
}

/// Returns the size of part `index` when `total` is divided into `count` parts that differ by at most one byte.
fn part(total: u64, index: u64, count: u64) -> u64 {
    let until = |index: u64| u128::from(total) * u128::from(index) / u128::from(count);
    (until(index + 1) - until(index)) as u64
}

impl Job {
    pub(super) fn new(spec: JobSpec) -> Self {
        Self { spec, tasks: None, report: JobReport::default(), end: None, shuffles: Vec::new() }
    }

    pub(super) fn arrival(&self) -> Time {
        Time::from_ps(self.spec.arrival_ps)
    }

    pub(super) fn cost(&self) -> &Cost {
        &self.spec.cost
    }

    pub(super) fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    /// Returns the size of a map's input, in bytes.
    pub(super) fn split(&self, map: u32) -> u64 {
        part(self.spec.input_bytes, map.into(), self.spec.maps.into())
    }

    /// Returns the size of a map's partition for a reducer, in bytes.
    pub(super) fn partition(&self, map: u32, reducer: u32) -> u64 {
        let (maps, reducers) = (u64::from(self.spec.maps), u64::from(self.spec.reducers));
        let index = u64::from(map) * reducers + u64::from(reducer);
        part(self.spec.shuffle_bytes, index, maps * reducers)
    }

    /// Returns the size of a map's output, in bytes: the sum of its partitions.
    pub(super) fn map_output(&self, map: u32) -> u64 {
        part(self.spec.shuffle_bytes, map.into(), self.spec.maps.into())
    }

    /// Returns the size of a reducer's output, in bytes.
    pub(super) fn output(&self, reducer: u32) -> u64 {
        part(self.spec.output_bytes, reducer.into(), self.spec.reducers.into())
    }

    fn tasks(&self) -> &Tasks {
        self.tasks.as_ref().expect("a job's tasks are there from its arrival to its end")
    }

    fn tasks_mut(&mut self) -> &mut Tasks {
        self.tasks.as_mut().expect("a job's tasks are there from its arrival to its end")
    }

    /// Submits the job, and places its input splits at random, with one stream per split.
    pub(super) fn arrive(&mut self, number: u32, cluster: &Cluster) {
        let workers = cluster.workers.len();
        let replicas_each = cluster.spec.locality.replicas.min(workers as u32) as usize;
        let mut local = vec![Vec::new(); workers];
        let mut replicas = Vec::with_capacity(self.spec.maps as usize * replicas_each);
        for map in 0..self.spec.maps {
            let mut stream = cluster.stream(Purpose::Replicas, number, map);
            let chosen = stream.choose(replicas_each, workers);
            replicas.extend_from_slice(&chosen);
        }
        for map in (0..self.spec.maps).rev() {
            for worker in &replicas[map as usize * replicas_each..][..replicas_each] {
                local[*worker as usize].push(map);
            }
        }
        self.tasks = Some(Box::new(Tasks {
            number,
            replicas,
            replicas_each,
            local,
            maps: vec![MapTask::default(); self.spec.maps as usize],
            ..Tasks::default()
        }));
    }

    /// Starts the next map on a worker, if there is one: preferably the first whose split the worker holds, otherwise the
    /// first. Returns its number, and whether the worker holds its split.
    pub(super) fn start_map(&mut self, worker: u32, now: Time) -> Option<(u32, bool)> {
        let maps = self.spec.maps;
        let tasks = self.tasks_mut();
        if tasks.started_maps == maps {
            return None;
        }
        let (map, is_local) = tasks.next_map(worker);
        tasks.maps[map as usize] = MapTask { started: Some(now), worker };
        tasks.started_maps += 1;
        self.report.local_maps += u32::from(is_local);
        self.report.first_map_start_ps.get_or_insert(now.as_ps());
        Some((map, is_local))
    }

    pub(super) fn map_noise(&self, map: u32, cluster: &Cluster) -> f64 {
        cluster.stream(Purpose::MapNoise, self.tasks().number, map).log_normal(cluster.spec.noise_sigma)
    }

    pub(super) fn reduce_noise(&self, reducer: u32, cluster: &Cluster) -> f64 {
        cluster
            .stream(Purpose::ReduceNoise, self.tasks().number, reducer)
            .log_normal(cluster.spec.noise_sigma)
    }

    /// Returns the worker on which a map runs or ran.
    pub(super) fn map_worker(&self, map: u32) -> u32 {
        self.tasks().maps[map as usize].worker
    }

    /// Returns the nearest worker that holds a map's split: the first in the map's rack, otherwise the first in drawn order.
    pub(super) fn replica(&self, map: u32, racks: &[Option<u32>]) -> u32 {
        let tasks = self.tasks();
        let drawn = &tasks.replicas[map as usize * tasks.replicas_each..][..tasks.replicas_each];
        let rack = racks[self.map_worker(map) as usize];
        let near = |worker: &&u32| rack.is_some() && racks[**worker as usize] == rack;
        *drawn.iter().find(near).unwrap_or(&drawn[0])
    }

    /// Ends a map. Returns its worker.
    pub(super) fn end_map(&mut self, map: u32, now: Time) -> u32 {
        let maps = self.spec.maps;
        let tasks = self.tasks_mut();
        let task = tasks.maps[map as usize];
        tasks.ended_maps += 1;
        let is_last = tasks.ended_maps == maps;
        let started = task.started.expect("a map that ends has started");
        self.report.map_task_ps += now.saturating_since(started).as_ps();
        if is_last {
            self.report.last_map_end_ps = Some(now.as_ps());
        }
        task.worker
    }

    /// Records that the job tracker has been notified of the end of a map.
    pub(super) fn announce(&mut self, map: u32) {
        self.tasks_mut().announced.push(map);
    }

    pub(super) fn started_reducers(&self) -> u32 {
        self.tasks().reducers.len() as u32
    }

    /// Starts the next reducer on a worker, if the job tracker knows that enough maps have ended. Returns its number.
    pub(super) fn start_reducer(&mut self, worker: u32, now: Time, cluster: &Cluster) -> Option<u32> {
        let (maps, reducers) = (self.spec.maps, self.spec.reducers);
        let tasks = self.tasks_mut();
        let number = tasks.reducers.len() as u32;
        // The tolerance compensates for rounding where the share is a whole number of maps: 28 % of 25 is 7.
        let enough = libm::ceil(cluster.spec.slowstart * f64::from(maps) - 1e-9);
        if number == reducers || (tasks.announced.len() as f64) < enough {
            return None;
        }
        tasks.reducers.push(Reducer {
            worker,
            started: now,
            ready: false,
            heard: 0,
            known: Vec::new(),
            fetching: 0,
            fetched: 0,
            input_bytes: 0,
            draw: cluster.stream(Purpose::FetchOrder, tasks.number, number),
            first_fetch: None,
            last_byte: now,
            has_everything: None,
            copies: Vec::new(),
            unwritten: None,
        });
        Some(number)
    }

    pub(super) fn fetch_may_begin(&mut self, reducer: u32) {
        self.tasks_mut().reducers[reducer as usize].ready = true;
    }

    /// Begins the next fetch of a reducer over the network, of a partition chosen at random from those available; `None` if
    /// there is none, or if the reducer already has the maximum number of fetches. A partition that is on the reducer's own
    /// host, or empty, has arrived at once.
    pub(super) fn next_fetch(&mut self, number: u32, now: Time, cluster: &Cluster) -> Option<Fetch> {
        loop {
            let tasks = self.tasks_mut();
            let reducer = &mut tasks.reducers[number as usize];
            if !reducer.ready || cluster.spec.parallel_fetches.is_some_and(|most| reducer.fetching >= most) {
                return None;
            }
            reducer.known.extend_from_slice(&tasks.announced[reducer.heard..]);
            reducer.heard = tasks.announced.len();
            if reducer.known.is_empty() {
                return None;
            }
            let place = reducer.draw.below(reducer.known.len() as u64) as usize;
            let fetch = self.fetch(number, self.tasks().reducers[number as usize].known[place]);
            let reducer = &mut self.tasks_mut().reducers[number as usize];
            reducer.known.swap_remove(place);
            let [worker, from] = fetch.workers;
            if worker != from && fetch.bytes > 0 {
                reducer.fetching += 1;
                reducer.first_fetch.get_or_insert(now);
                self.report.first_fetch_start_ps.get_or_insert(now.as_ps());
                return Some(fetch);
            }
            reducer.fetched += 1;
            reducer.input_bytes += fetch.bytes;
        }
    }

    /// Returns the fetch of a map's partition by a reducer, for the first time or after a failure.
    pub(super) fn fetch(&self, reducer: u32, map: u32) -> Fetch {
        let workers = [self.tasks().reducers[reducer as usize].worker, self.map_worker(map)];
        Fetch { map, workers, bytes: self.partition(map, reducer) }
    }

    /// Records that a partition has arrived over the network.
    pub(super) fn fetched(&mut self, number: u32, map: u32, now: Time) {
        let bytes = self.partition(map, number);
        self.report.shuffle_network_bytes += bytes;
        let reducer = &mut self.tasks_mut().reducers[number as usize];
        reducer.fetching -= 1;
        reducer.last_byte = now;
        reducer.fetched += 1;
        reducer.input_bytes += bytes;
    }

    /// Ends a fetch. Returns the bytes of all partitions once, when the reducer has every one.
    pub(super) fn end_fetch(&mut self, number: u32, now: Time) -> Option<u64> {
        let maps = self.spec.maps;
        let reducer = &mut self.tasks_mut().reducers[number as usize];
        if reducer.fetched < maps || reducer.has_everything.is_some() {
            return None;
        }
        reducer.has_everything = Some(now);
        let (started, input_bytes) = (reducer.started, reducer.input_bytes);
        let shuffle = reducer.first_fetch.map(|first| reducer.last_byte.saturating_since(first));
        self.shuffles.extend(shuffle);
        self.report.fetch_task_ps += now.saturating_since(started).as_ps();
        self.report.last_fetch_end_ps = Some(now.as_ps());
        Some(input_bytes)
    }

    /// Begins the output of a reducer, with `copies` copies to other workers.
    pub(super) fn output_begins(&mut self, number: u32, copies: u32, cluster: &Cluster) {
        let mut stream = cluster.stream(Purpose::OutputCopies, self.tasks().number, number);
        let reducer = &mut self.tasks_mut().reducers[number as usize];
        reducer.unwritten = Some(1 + copies);
        if copies > 0 {
            // Numbers skip this worker: those from its own on are increased by one.
            let others = stream.choose(copies as usize, cluster.workers.len() - 1);
            let own = reducer.worker;
            reducer.copies = others.into_iter().map(|other| other + u32::from(other >= own)).collect();
        }
    }

    /// Returns the source and the destination of a copy.
    pub(super) fn copy_between(&self, number: u32, copy: u32) -> [u32; 2] {
        let reducer = &self.tasks().reducers[number as usize];
        let from = copy.checked_sub(1).map_or(reducer.worker, |before| reducer.copies[before as usize]);
        [from, reducer.copies[copy as usize]]
    }

    /// Completes one copy of a reducer's output. Returns its worker if this ends the task.
    pub(super) fn output_done(&mut self, number: u32, now: Time) -> Option<u32> {
        let reducers = self.spec.reducers;
        let tasks = self.tasks_mut();
        let reducer = &mut tasks.reducers[number as usize];
        let unwritten = reducer.unwritten.as_mut().expect("a reducer that has written has begun to");
        *unwritten -= 1;
        if *unwritten > 0 {
            return None;
        }
        let since = reducer.has_everything.expect("a reducer has everything before it writes");
        let worker = reducer.worker;
        tasks.ended_reducers += 1;
        let is_last = tasks.ended_reducers == reducers;
        self.report.reduce_task_ps += now.saturating_since(since).as_ps();
        if is_last {
            self.end = Some(now);
            self.tasks = None;
        }
        Some(worker)
    }

    pub(super) fn report(&self) -> JobReport {
        let (so_far, arrival) = (&self.report, self.spec.arrival_ps);
        let runtime = self.end.map(|end| end.as_ps().saturating_sub(arrival));
        let shares = runtime.filter(|runtime| *runtime > 0).and_then(|runtime| {
            let (maps, fetches) = (so_far.last_map_end_ps?, so_far.last_fetch_end_ps?);
            let until = |ps: u64| ps.saturating_sub(arrival) as f64 / runtime as f64;
            let (map, shuffled) = (until(maps), until(fetches.max(maps)));
            Some((map, shuffled - map, 1.0 - shuffled))
        });
        let mut shuffles = Histogram::default();
        self.shuffles.iter().for_each(|shuffle| shuffles.record(*shuffle));
        JobReport {
            name: self.spec.name.clone(),
            arrival_ps: arrival,
            runtime_ps: runtime,
            maps: self.spec.maps,
            reducers: self.spec.reducers,
            map_share: shares.map(|(map, _, _)| map),
            shuffle_share: shares.map(|(_, shuffle, _)| shuffle),
            reduce_share: shares.map(|(_, _, reduce)| reduce),
            reducer_shuffle_ps: Distribution::of(&shuffles),
            ..so_far.clone()
        }
    }
}

impl Tasks {
    /// Returns a map that has not started, and whether the worker holds its split.
    fn next_map(&mut self, worker: u32) -> (u32, bool) {
        let waits = |maps: &[MapTask], map: u32| maps[map as usize].started.is_none();
        while let Some(map) = self.local[worker as usize].pop() {
            if waits(&self.maps, map) {
                return (map, true);
            }
        }
        while !waits(&self.maps, self.next_map) {
            self.next_map += 1;
        }
        (self.next_map, false)
    }
}
