//! Applications that use a network and wait for it, as pure state machines: time and what has happened go in, what is to be
//! done comes out.
//!
//! [`Workload::from_json`] checks a description against the hosts that there are; then
//!
//! * [`Workload::start`] begins, once;
//! * [`Workload::next_timeout`] and [`Workload::handle_timeout`] are the timers;
//! * [`Workload::handle_transfer`] says what has become of a transfer;
//! * [`Workload::poll_action`] gives what is to be done, after each of the above, until there is nothing.
//!
//! There is no clock here, no network, and no random source but streams seeded by the description: the same description and
//! the same happenings give the same actions. Who drives it carries the transfers (`netsim` does, over TCP) and answers for each
//! exactly once.
//!
//! The models: [`mapreduce`] after MRPerf, [`coflows`], [`incast`], [`rpc`], [`poisson`]. `docs/models/mapreduce.md` has equations, parameters and their sources.

#![forbid(unsafe_code)]

mod application;
pub mod coflows;
mod error;
pub mod incast;
pub mod mapreduce;
pub mod poisson;
mod random;
pub mod report;
pub mod rpc;
#[cfg(feature = "schema")]
pub mod schema;
mod spec;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::Deserialize;
use units::{Bytes, DataRate, Duration, Time};

pub use error::WorkloadError;
pub use spec::{MAX_APPLICATIONS, MAX_JSON_BYTES};

use application::Application;
use report::ApplicationReport;

/// A host, as far as applications need to know it.
#[derive(Clone, Debug)]
pub struct HostInfo {
    /// Name.
    pub name: String,
    /// Rate of its link.
    pub rate: DataRate,
    /// What its link adds to each frame.
    pub overhead: Bytes,
}

/// Says whose a transfer is: the application, and that application's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId {
    /// Number of the application in the description.
    pub application: u32,
    /// The application's name for it. Transfers that it need not distinguish have the same.
    pub token: u64,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// This transfer only: opened for it, closed after it.
    Own,
    /// All transfers of the application with this number, one after the other; opened by the first, or by [`Action::Open`].
    Shared(u32),
}

/// What a description says of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConnectionKind {
    /// One for all transfers.
    Persistent,
    /// One for each.
    New,
}

impl ConnectionKind {
    fn number(self, number: u32) -> Connection {
        match self {
            ConnectionKind::Persistent => Connection::Shared(number),
            ConnectionKind::New => Connection::Own,
        }
    }
}

/// Bytes that go there, and bytes that come back when all of them have arrived. It is finished when these have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Name.
    pub id: TransferId,
    /// The host that opens the connection and asks.
    pub from: u32,
    /// The host that answers.
    pub to: u32,
    /// Bytes that are sent first, at least one.
    pub request_bytes: u64,
    /// Bytes of the answer; with none, the transfer is finished when the request has arrived.
    pub response_bytes: u64,
    /// Over which connection.
    pub connection: Connection,
}

/// What a driver is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Begin a transfer now.
    Transfer(Transfer),
    /// Open a shared connection now, so that the first transfer over it need not wait for the handshake.
    Open {
        /// The application.
        application: u32,
        /// Number of the connection.
        connection: u32,
        /// The host that opens it.
        from: u32,
        /// The host that it is opened to.
        to: u32,
    },
    /// Send one UDP frame now.
    Frame {
        /// The host that sends.
        from: u32,
        /// The host that it goes to.
        to: u32,
        /// Bytes of the frame without FCS.
        frame_bytes: u32,
    },
}

/// What has become of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes have arrived.
    Finished,
    /// The connection has been given up.
    Failed,
}

/// Several applications and their timers.
pub struct Workload {
    applications: Vec<Entry>,
    timers: Timers,
    actions: VecDeque<Action>,
    /// Foreground applications that have not finished.
    unfinished: usize,
}

struct Entry {
    name: String,
    /// Where its settings of TCP stand, and what they are.
    tcp: (String, Option<String>),
    kind: &'static str,
    background: bool,
    application: Box<dyn Application>,
    finished: bool,
}

impl Workload {
    /// Reads and checks a description; times are picoseconds, rates bits per second, sizes bytes. Keys that are not known are
    /// refused.
    pub fn from_json(json: &[u8], hosts: &[HostInfo]) -> Result<Workload, WorkloadError> {
        let parsed = spec::parse(json, hosts)?;
        let applications: Vec<_> = parsed
            .into_iter()
            .map(|spec::Parsed { name, tcp, kind, background, application }| Entry {
                name,
                tcp,
                kind,
                background,
                application,
                finished: false,
            })
            .collect();
        Ok(Workload {
            unfinished: applications.iter().filter(|entry| !entry.background).count(),
            applications,
            timers: Timers::default(),
            actions: VecDeque::new(),
        })
    }

    /// Begins at `now`: the times in the description count from the start of the run, those that have passed are due at once.
    pub fn start(&mut self, now: Time) {
        for number in 0..self.applications.len() {
            self.with_application(now, number, |application, out| application.start(out));
        }
    }

    /// How many applications there are.
    pub fn len(&self) -> usize {
        self.applications.len()
    }

    /// Whether there is none; a description has at least one.
    pub fn is_empty(&self) -> bool {
        self.applications.is_empty()
    }

    /// Settings of TCP of an application, its own or those of all: where they stand, for errors, and the JSON. They are for the
    /// driver to read.
    ///
    /// # Panics
    /// When there is no application of this number.
    pub fn tcp(&self, application: usize) -> (String, Option<&str>) {
        let (place, json) = &self.applications[application].tcp;
        (place.clone(), json.as_deref())
    }

    /// When [`Workload::handle_timeout`] is to be called next.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.heap.peek().map(|Reverse(timer)| timer.at)
    }

    /// Lets every timer fire that is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(timer) = self.timers.pop_due(now) {
            self.with_application(now, timer.application as usize, |application, out| {
                application.handle_timer(timer.token, out);
            });
        }
    }

    /// A transfer has finished or failed.
    pub fn handle_transfer(&mut self, now: Time, id: TransferId, outcome: Outcome) {
        self.with_application(now, id.application as usize, |application, out| {
            application.handle_transfer(id.token, outcome, out);
        });
    }

    fn with_application(
        &mut self,
        now: Time,
        number: usize,
        call: impl FnOnce(&mut dyn Application, &mut Out<'_>),
    ) {
        let Some(entry) = self.applications.get_mut(number) else { return };
        let mut out =
            Out { now, application: number as u32, timers: &mut self.timers, actions: &mut self.actions };
        call(entry.application.as_mut(), &mut out);
        if !entry.finished && entry.application.finished_at().is_some() {
            entry.finished = true;
            self.unfinished -= usize::from(!entry.background);
        }
    }

    /// What is to be done next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether every application that is not in the background has finished.
    pub fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// When the last application in the foreground finished; `None` before.
    pub fn finished_at(&self) -> Option<Time> {
        let foreground = self.applications.iter().filter(|entry| !entry.background);
        let ends: Option<Vec<_>> = foreground.map(|entry| entry.application.finished_at()).collect();
        ends.map(|ends| ends.into_iter().max().unwrap_or(Time::ZERO))
    }

    /// What has become of each application, in the order of the description.
    pub fn report(&self) -> Vec<ApplicationReport> {
        let report = |entry: &Entry| ApplicationReport {
            name: entry.name.clone(),
            kind: entry.kind,
            background: entry.background,
            finished_ps: entry.application.finished_at().map(Time::as_ps),
            measures: entry.application.report(),
        };
        self.applications.iter().map(report).collect()
    }
}

/// Where an application puts what is to be done.
pub(crate) struct Out<'a> {
    /// The time.
    pub(crate) now: Time,
    application: u32,
    timers: &'a mut Timers,
    actions: &'a mut VecDeque<Action>,
}

impl Out<'_> {
    /// `handle_timer` is called with `token` at `at`, or now if that has passed.
    pub(crate) fn timer(&mut self, at: Time, token: u64) {
        self.timers.push(at.max(self.now), self.application, token);
    }

    /// `handle_timer` is called with `token` after `span`.
    pub(crate) fn after(&mut self, span: Duration, token: u64) {
        self.timer(self.now.saturating_add(span), token);
    }

    /// A transfer over a connection of its own.
    pub(crate) fn transfer(
        &mut self,
        token: u64,
        from: u32,
        to: u32,
        request_bytes: u64,
        response_bytes: u64,
    ) {
        self.exchange(token, from, to, request_bytes, response_bytes, Connection::Own);
    }

    /// A transfer over a connection.
    pub(crate) fn exchange(
        &mut self,
        token: u64,
        from: u32,
        to: u32,
        request_bytes: u64,
        response_bytes: u64,
        connection: Connection,
    ) {
        let id = TransferId { application: self.application, token };
        let transfer = Transfer { id, from, to, request_bytes, response_bytes, connection };
        self.actions.push_back(Action::Transfer(transfer));
    }

    /// A connection that is shared is opened now.
    pub(crate) fn open(&mut self, connection: u32, from: u32, to: u32) {
        self.actions.push_back(Action::Open { application: self.application, connection, from, to });
    }

    /// A UDP frame.
    pub(crate) fn frame(&mut self, from: u32, to: u32, frame_bytes: u32) {
        self.actions.push_back(Action::Frame { from, to, frame_bytes });
    }
}

/// Timers, in order of time, and of setting for the same time.
#[derive(Default)]
struct Timers {
    heap: BinaryHeap<Reverse<Timer>>,
    next_sequence: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    at: Time,
    sequence: u64,
    application: u32,
    token: u64,
}

impl Timers {
    fn push(&mut self, at: Time, application: u32, token: u64) {
        self.heap.push(Reverse(Timer { at, sequence: self.next_sequence, application, token }));
        self.next_sequence += 1;
    }

    fn pop_due(&mut self, now: Time) -> Option<Timer> {
        let Reverse(first) = self.heap.peek()?;
        let first = *first;
        (first.at <= now).then(|| {
            self.heap.pop();
            first
        })
    }
}

/// Picoseconds as a span, rounded; what is not a number or negative is nothing, what is too long the longest.
fn time_of(ps: f64) -> Duration {
    Duration::from_ps(ps.round() as u64)
}
