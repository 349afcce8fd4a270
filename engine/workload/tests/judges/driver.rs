//! Carries out the requests of a workload over a network defined by a rule, and records the events. The fuzz target
//! `workload` uses it as well.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use serde_json::{json, Value};
use units::{Bytes, DataRate, Duration, Time};
use workload::{Action, Connection, HostInfo, Outcome, Transfer, Workload, WorkloadError};

pub(crate) const SECOND: u64 = 1_000_000_000_000;

/// Rate of every host's link in bits per second.
pub(crate) const LINK_BPS: u64 = 1_000_000_000;

/// Overhead of every link per frame, in bytes.
pub(crate) const OVERHEAD: u64 = 24;

/// More timers and ends of transfers than any description here needs: a run beyond this hangs.
const MAX_STEPS: usize = 400_000;

/// A requested transfer.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    pub(crate) at: u64,
    pub(crate) transfer: Transfer,
    /// The time at which it ended; `None` while it is in flight.
    pub(crate) ended: Option<u64>,
    pub(crate) outcome: Outcome,
}

impl Begun {
    pub(crate) fn hosts(&self) -> (u32, u32) {
        (self.transfer.from, self.transfer.to)
    }
}

/// A requested UDP frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) at: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: u32,
}

/// A running workload and its requests.
pub(crate) struct Run {
    pub(crate) workload: Workload,
    hosts: u32,
    pub(crate) now: u64,
    steps: usize,
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// Times at which shared connections become free, by application and number.
    busy_until: BTreeMap<(u32, u32), u64>,
    /// Hosts of shared connections.
    ends_of: BTreeMap<(u32, u32), (u32, u32)>,
    /// Number of transfers in flight, by application and group.
    in_group: BTreeMap<(u32, u64), usize>,
    /// In the order of the requests.
    pub(crate) transfers: Vec<Begun>,
    pub(crate) frames: Vec<Frame>,
    /// Shared connections opened in advance, with their numbers.
    pub(crate) opened: Vec<(u32, u32, u32)>,
    /// Groups that ended, with the times.
    pub(crate) groups_ended: Vec<(u64, u64)>,
    /// Times at which a timer was due.
    pub(crate) timers: BTreeSet<u64>,
    /// The minimum time on a transfer's path, if the network defines it.
    pub(crate) ideal_ps: Option<u64>,
}

/// Returns hosts `h0`, `h1`, ...
pub(crate) fn hosts(count: usize) -> Vec<HostInfo> {
    let (rate, overhead) = (DataRate::from_bps(LINK_BPS), Bytes::new(OVERHEAD));
    (0..count).map(|number| HostInfo { name: format!("h{number}"), rate, overhead }).collect()
}

/// Returns the names of hosts.
pub(crate) fn names(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("h{number}")).collect()
}

/// Returns a description of one application named `it`: the common fields of its kind, overridden by `fields`.
pub(crate) fn describe(seed: u64, kind: &str, fields: &Value) -> Value {
    let mut application = json!({"kind": kind, "name": "it"});
    application.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"seed": seed, "applications": [application]})
}

/// Returns the workload of a description over `count` hosts.
pub(crate) fn workload(description: &Value, count: usize) -> Result<Workload, WorkloadError> {
    Workload::from_json(description.to_string().as_bytes(), &hosts(count))
}

/// Runs a description until every foreground application has finished. `network` returns the duration and the outcome
/// of a transfer that begins at a given time.
pub(crate) fn run(
    description: &Value,
    count: usize,
    mut network: impl FnMut(u64, &Transfer) -> (u64, Outcome),
) -> Run {
    let mut run = Run::new(description, count);
    run.carry_out(&mut network);
    while !run.workload.is_finished() {
        assert!(run.step(&mut network), "nothing is left to happen, and it has not finished");
    }
    run
}

/// Runs like [`run`], over a network in which every transfer takes `takes` and succeeds.
pub(crate) fn run_evenly(description: &Value, count: usize, takes: u64) -> Run {
    run(description, count, |_, _| (takes, Outcome::Finished))
}

impl Run {
    /// Starts the workload of a description.
    pub(crate) fn new(description: &Value, count: usize) -> Self {
        Self::of(workload(description, count).unwrap_or_else(|error| panic!("{error}")), count)
    }

    /// Starts a workload over `count` hosts, without ending any transfer.
    pub(crate) fn of(workload: Workload, count: usize) -> Self {
        let mut run = Self {
            workload,
            hosts: count as u32,
            now: 0,
            steps: 0,
            ends: BinaryHeap::new(),
            busy_until: BTreeMap::new(),
            ends_of: BTreeMap::new(),
            in_group: BTreeMap::new(),
            transfers: Vec::new(),
            frames: Vec::new(),
            opened: Vec::new(),
            groups_ended: Vec::new(),
            timers: BTreeSet::new(),
            ideal_ps: None,
        };
        run.workload.start(Time::ZERO);
        run
    }

    /// Carries out the pending requests, then handles the next event: the end of a transfer, or else a timer. Returns
    /// whether there was one.
    pub(crate) fn step(&mut self, network: &mut impl FnMut(u64, &Transfer) -> (u64, Outcome)) -> bool {
        self.steps += 1;
        assert!(self.steps <= MAX_STEPS, "it does not come to an end");
        self.carry_out(network);
        let timer = self.workload.next_timeout().map(Time::as_ps);
        assert!(timer.is_none_or(|at| at >= self.now), "a timer in the past");
        match (timer, self.ends.peek().copied()) {
            (None, None) => return false,
            (timer, Some(Reverse((at, number)))) if timer.is_none_or(|timer| at <= timer) => {
                self.ends.pop();
                self.now = at;
                let one = &mut self.transfers[number];
                one.ended = Some(at);
                let id = one.transfer.id;
                if let Some(group) = one.transfer.group {
                    *self.in_group.get_mut(&(id.application, group)).expect("its group is known") -= 1;
                }
                let outcome = one.outcome;
                if let Some(ideal) = self.ideal_ps {
                    self.workload.note_ideal(id, Duration::from_ps(ideal));
                }
                self.workload.handle_transfer(Time::from_ps(at), id, outcome);
            }
            (Some(at), _) => {
                self.now = at;
                self.timers.insert(at);
                self.workload.handle_timeout(Time::from_ps(at));
                let next = self.workload.next_timeout().map(Time::as_ps);
                assert!(next.is_none_or(|next| next > at), "a timer that was due has not fired");
            }
            (None, Some(_)) => unreachable!("an end of a transfer comes before no timer"),
        }
        self.carry_out(network);
        true
    }

    fn carry_out(&mut self, network: &mut impl FnMut(u64, &Transfer) -> (u64, Outcome)) {
        while let Some(action) = self.workload.poll_action() {
            match action {
                Action::Transfer(transfer) => self.begin(transfer, network),
                Action::Open { application, connection, from, to } => {
                    self.check_shared((application, connection), (from, to));
                    self.opened.push((connection, from, to));
                }
                Action::GroupEnds { application, group } => {
                    // A group whose transfers were all local ends as well.
                    let under_way = self.in_group.remove(&(application, group)).unwrap_or(0);
                    assert_eq!(under_way, 0, "group {group} ends with its last transfer");
                    self.groups_ended.push((self.now, group));
                }
                Action::Frame { from, to, frame_bytes, .. } => {
                    self.check_hosts((from, to));
                    self.frames.push(Frame { at: self.now, from, to, bytes: frame_bytes });
                }
            }
        }
    }

    fn begin(&mut self, transfer: Transfer, network: &mut impl FnMut(u64, &Transfer) -> (u64, Outcome)) {
        let hosts = (transfer.from, transfer.to);
        self.check_hosts(hosts);
        assert!(transfer.request_bytes > 0, "a transfer begins with a byte");
        let (takes, outcome) = network(self.now, &transfer);
        let mut at = self.now;
        if let Connection::Shared(number) = transfer.connection {
            // Transfers over one connection are sequential.
            let connection = (transfer.id.application, number);
            self.check_shared(connection, hosts);
            let busy_until = self.busy_until.entry(connection).or_default();
            at = at.max(*busy_until);
            *busy_until = at.saturating_add(takes);
        }
        if let Some(group) = transfer.group {
            *self.in_group.entry((transfer.id.application, group)).or_default() += 1;
        }
        self.ends.push(Reverse((at.saturating_add(takes), self.transfers.len())));
        self.transfers.push(Begun { at: self.now, transfer, ended: None, outcome });
    }

    fn check_hosts(&self, (from, to): (u32, u32)) {
        assert!(from < self.hosts && to < self.hosts, "hosts {from} and {to} of {}", self.hosts);
        assert_ne!(from, to, "a host sends to itself");
    }

    fn check_shared(&mut self, connection: (u32, u32), hosts: (u32, u32)) {
        self.check_hosts(hosts);
        assert_eq!(*self.ends_of.entry(connection).or_insert(hosts), hosts, "a connection has other ends");
    }

    /// Returns the number of transfers in flight.
    pub(crate) fn under_way(&self) -> usize {
        self.transfers.iter().filter(|one| one.ended.is_none()).count()
    }

    /// Returns the number of groups that have begun and not ended.
    pub(crate) fn open_groups(&self) -> usize {
        self.in_group.len()
    }

    /// Returns the number of events.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the report of an application as JSON.
    pub(crate) fn report(&self, application: usize) -> Value {
        serde_json::to_value(&self.workload.report()[application]).expect("a report is JSON")
    }

    /// Returns the time at which all foreground applications had finished.
    pub(crate) fn finished_at(&self) -> u64 {
        self.workload.finished_at().expect("it has finished").as_ps()
    }

    /// Returns the start time and the hosts of each transfer.
    pub(crate) fn begun(&self) -> Vec<(u64, u32, u32)> {
        self.transfers.iter().map(|one| (one.at, one.transfer.from, one.transfer.to)).collect()
    }
}

/// Advances a run over the same network to `until`, whether it has finished or not.
pub(crate) fn run_until(
    run: &mut Run,
    until: u64,
    mut network: impl FnMut(u64, &Transfer) -> (u64, Outcome),
) {
    while run.now < until && run.step(&mut network) {}
}

/// Mixes numbers to a pseudo-random one, for the behaviour of a network without a pattern.
pub(crate) fn hash(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x51_7C_C1_B7, |state: u64, number| {
        let mut word = (state ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word ^= word >> 29;
        word = word.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word ^ word >> 32
    })
}

/// Returns a duration from its JSON.
pub(crate) fn ps(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a span"))
}
