//! Applications that use a network and wait for it, as pure state machines. Inputs are time and events; outputs are actions.
//!
//! [`Workload::from_json`] checks a description against the available hosts. Then
//!
//! * [`Workload::start`] begins, once;
//! * [`Workload::next_timeout`] and [`Workload::handle_timeout`] run the timers;
//! * [`Workload::handle_transfer`] reports the outcome of a transfer;
//! * [`Workload::poll_action`], called until it returns `None` after each of the above, returns the required actions.
//!
//! This crate has no clock, no network, and no random source except streams seeded by the description: the same description and
//! the same events give the same actions. The driver carries the transfers (`netsim` does so over TCP) and reports the outcome of
//! each exactly once.
//!
//! The models: [`mapreduce`] after MRPerf, [`coflows`], [`flows`], [`incast`], [`rpc`], [`poisson`], [`scatter_gather`],
//! [`phases`]. `docs/models/mapreduce.md` has equations, parameters and their sources.

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

use application::{Application, Due, Out};
use report::ApplicationReport;
use spec::Entry;

/// Several applications and their timers.
pub struct Workload {
    applications: Vec<Entry>,
    timers: Due<(u32, u64)>,
    actions: VecDeque<Action>,
    /// Transfers still to begin.
    delayed: Due<Transfer>,
    /// Number of foreground applications that have not finished.
    unfinished: usize,
}

impl Workload {
    /// Reads and checks a description. Times are picoseconds, rates bits per second, sizes bytes. Unknown keys are
    /// refused.
    pub fn from_json(json: &[u8], hosts: &[HostInfo]) -> Result<Workload, WorkloadError> {
        let applications = spec::parse(json, hosts)?;
        Ok(Workload {
            unfinished: applications.iter().filter(|entry| !entry.background).count(),
            applications,
            timers: Due::new(),
            actions: VecDeque::new(),
            delayed: Due::new(),
        })
    }

    /// Starts the applications at `now`. Times in the description count from the start of the run; those that have passed are due at once.
    pub fn start(&mut self, now: Time) {
        for number in 0..self.applications.len() {
            self.with_application(now, number, |application, out| application.start(out));
        }
    }

    /// Returns the number of applications.
    pub fn len(&self) -> usize {
        self.applications.len()
    }

    /// Returns whether it has no applications; a description has at least one.
    pub fn is_empty(&self) -> bool {
        self.applications.is_empty()
    }

    /// Returns the TCP settings of an application, its own or the common ones: their path, for errors, and the JSON,
    /// which the driver parses.
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

    /// Returns the time at which [`Workload::handle_timeout`] must be called next.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next().into_iter().chain(self.delayed.next()).min()
    }

    /// Runs all timers that are due at `now`, and begins the transfers delayed until then.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some((application, token)) = self.timers.pop(now) {
            self.with_application(now, application as usize, |application, out| {
                application.handle_timer(token, out);
            });
        }
        while let Some(transfer) = self.delayed.pop(now) {
            self.actions.push_back(Action::Transfer(transfer));
        }
    }

    /// Records the minimum time of a transfer on its path, without other traffic and with any window. To be called before the transfer ends.
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
        let had_finished = entry.finished_at.is_some();
        let mut out = Out {
            now,
            application: number as u32,
            timers: &mut self.timers,
            actions: &mut self.actions,
            finished_at: &mut entry.finished_at,
        };
        call(entry.application.as_mut(), &mut out);
        if let Some(jitter) = &entry.jitter {
            jitter.delay(now, &mut self.delayed, &mut self.actions, begin);
        }
        if !had_finished && entry.finished_at.is_some() {
            self.unfinished -= usize::from(!entry.background);
        }
    }

    /// Returns the next required action.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns whether every foreground application has finished.
    pub fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// Returns the time at which the last foreground application finished; `None` before.
    pub fn finished_at(&self) -> Option<Time> {
        let foreground = self.applications.iter().filter(|entry| !entry.background);
        let ends: Option<Vec<_>> = foreground.map(|entry| entry.finished_at).collect();
        ends.map(|ends| ends.into_iter().max().unwrap_or(Time::ZERO))
    }

    /// Returns the report of each application, in the order of the description.
    pub fn report(&self) -> Vec<ApplicationReport> {
        let report = |entry: &Entry| ApplicationReport {
            name: entry.name.clone(),
            kind: entry.kind,
            background: entry.background,
            dscp: entry.dscp,
            finished_ps: entry.finished_at.map(Time::as_ps),
            measures: entry.application.report(),
        };
        self.applications.iter().map(report).collect()
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
