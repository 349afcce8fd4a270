//! Applications that use a network and wait for it, as pure state machines: time and what has happened go in, what is to be
//! done comes out.
//!
//! [`Workload::from_json`] checks a description against the hosts that there are; then
//!
//! * [`Workload::start`] begins, once;
//! * [`Workload::next_timeout`] and [`Workload::handle_timeout`] are the timers;
//! * [`Workload::handle_transfer`] says what has become of a transfer;
//! * [`Workload::poll_action`] gives what must be done, after each of the above, until there is nothing.
//!
//! This crate has no clock, no network, and no random source but streams seeded by the description: the same description and
//! the same happenings give the same actions. Who drives it carries the transfers (`netsim` does, over TCP) and answers for each
//! exactly once.
//!
//! The models: [`mapreduce`] after MRPerf, [`coflows`], [`flows`], [`incast`], [`rpc`], [`poisson`], [`scatter_gather`], [`phases`]. `docs/models/mapreduce.md` has equations, parameters and their sources.

#![forbid(unsafe_code)]

mod application;
pub mod coflows;
mod error;
mod fields;
pub mod flows;
pub mod incast;
mod jitter;
pub mod mapreduce;
pub mod phases;
pub mod poisson;
mod random;
pub mod report;
pub mod rpc;
pub mod scatter_gather;
#[cfg(feature = "schema")]
mod schema;
mod sizes;
pub mod slowdown;
mod spec;
mod transfer;

use std::collections::VecDeque;

use units::{Duration, Time};

pub use error::WorkloadError;
pub use fields::HostInfo;
#[cfg(feature = "schema")]
pub use spec::add_to_schema;
pub use spec::{MAX_APPLICATIONS, MAX_JSON_BYTES};
pub use transfer::{Action, Connection, Outcome, Transfer, TransferId};

use application::{Application, Out, Timers};
use jitter::Delayed;
use report::ApplicationReport;
use spec::Entry;

/// Several applications and their timers.
pub struct Workload {
    applications: Vec<Entry>,
    timers: Timers,
    actions: VecDeque<Action>,
    delayed: Delayed,
    /// Foreground applications that have not finished.
    unfinished: usize,
}

impl Workload {
    /// Reads and checks a description; times are picoseconds, rates bits per second, sizes bytes. Keys that are not known are
    /// refused.
    pub fn from_json(json: &[u8], hosts: &[HostInfo]) -> Result<Workload, WorkloadError> {
        let applications = spec::parse(json, hosts)?;
        Ok(Workload {
            unfinished: applications.iter().filter(|entry| !entry.background).count(),
            applications,
            timers: Timers::default(),
            actions: VecDeque::new(),
            delayed: Delayed::default(),
        })
    }

    /// Begins at `now`: the times in the description count from the start of the run, those that have passed are due at once.
    pub fn start(&mut self, now: Time) {
        for number in 0..self.applications.len() {
            self.with_application(now, number, |application, out| application.start(out));
        }
    }

    /// Returns how many applications there are.
    pub fn len(&self) -> usize {
        self.applications.len()
    }

    /// Returns whether there is none; a description has at least one.
    pub fn is_empty(&self) -> bool {
        self.applications.is_empty()
    }

    /// Returns the settings of TCP of an application, its own or those of all: where they stand, for errors, and the JSON. They are for the
    /// driver to read.
    ///
    /// # Panics
    /// If no application has this number.
    pub fn tcp(&self, application: usize) -> (String, Option<&str>) {
        let (place, json) = &self.applications[application].tcp;
        (place.clone(), json.as_deref())
    }

    /// Returns the DSCP of an application's packets.
    ///
    /// # Panics
    /// If no application has this number.
    pub fn dscp(&self, application: usize) -> u8 {
        self.applications[application].dscp
    }

    /// Returns when [`Workload::handle_timeout`] must be called next.
    pub fn next_timeout(&self) -> Option<Time> {
        match (self.timers.next(), self.delayed.next()) {
            (Some(timer), Some(delayed)) => Some(timer.min(delayed)),
            (timer, delayed) => timer.or(delayed),
        }
    }

    /// Lets every timer fire that is due at `now`, and transfers begin whose start was put off until then.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(timer) = self.timers.pop_due(now) {
            self.with_application(now, timer.application as usize, |application, out| {
                application.handle_timer(timer.token, out);
            });
        }
        while let Some(transfer) = self.delayed.pop_due(now) {
            self.actions.push_back(Action::Transfer(transfer));
        }
    }

    /// Notes that a transfer takes at least this time on its path, alone and with any window. Called before the transfer ends.
    pub fn note_ideal(&mut self, id: TransferId, ideal: Duration) {
        if let Some(entry) = self.applications.get_mut(id.application as usize) {
            entry.application.note_ideal(id.token, ideal);
        }
    }

    /// Handles the end of a transfer, which has finished or failed.
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
        let begin = self.actions.len();
        let mut out =
            Out { now, application: number as u32, timers: &mut self.timers, actions: &mut self.actions };
        call(entry.application.as_mut(), &mut out);
        if let Some(jitter) = &entry.jitter {
            self.delayed.take(now, jitter, &mut self.actions, begin);
        }
        if !entry.finished && entry.application.finished_at().is_some() {
            entry.finished = true;
            self.unfinished -= usize::from(!entry.background);
        }
    }

    /// Returns what must be done next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns whether every application that is not in the background has finished.
    pub fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// Returns when the last application in the foreground finished; `None` before.
    pub fn finished_at(&self) -> Option<Time> {
        let foreground = self.applications.iter().filter(|entry| !entry.background);
        let ends: Option<Vec<_>> = foreground.map(|entry| entry.application.finished_at()).collect();
        ends.map(|ends| ends.into_iter().max().unwrap_or(Time::ZERO))
    }

    /// Returns what has become of each application, in the order of the description.
    pub fn report(&self) -> Vec<ApplicationReport> {
        let report = |entry: &Entry| ApplicationReport {
            name: entry.name.clone(),
            kind: entry.kind,
            background: entry.background,
            dscp: entry.dscp,
            finished_ps: entry.application.finished_at().map(Time::as_ps),
            measures: entry.application.report(),
        };
        self.applications.iter().map(report).collect()
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
