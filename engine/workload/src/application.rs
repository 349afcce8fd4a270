//! The interface of every application model, and the queue of its requests.

use std::collections::{BTreeMap, VecDeque};

use units::{Duration, Time};

use crate::report::Measures;
use crate::transfer::{Action, Connection, Outcome, Transfer, TransferId};

/// One application. Its methods are called in order of time.
pub(crate) trait Application: Send {
    /// Sets the first timers.
    fn start(&mut self, out: &mut Out<'_>);

    /// Handles a timer that the application has set.
    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>);

    /// Records the minimum time of a transfer of the application on its path.
    fn note_ideal(&mut self, _token: u64, _ideal: Duration) {}

    /// Handles the outcome of a transfer that the application has begun.
    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>);

    /// Returns the application's measurements.
    fn report(&self) -> Measures;
}

/// Collects the requests of an application.
pub(crate) struct Out<'a> {
    /// The current time.
    pub(crate) now: Time,
    /// The application's number.
    pub(crate) application: u32,
    /// Timers: the application, and its token.
    pub(crate) timers: &'a mut Due<(u32, u64)>,
    pub(crate) actions: &'a mut VecDeque<Action>,
    pub(crate) finished_at: &'a mut Option<Time>,
}

impl Out<'_> {
    /// Declares that the application has finished; only the first call counts.
    pub(crate) fn finish(&mut self) {
        self.finished_at.get_or_insert(self.now);
    }

    /// Requests a call of `handle_timer` with `token` at `at`, or now if `at` has passed.
    pub(crate) fn timer(&mut self, at: Time, token: u64) {
        self.timers.push(at.max(self.now), (self.application, token));
    }

    /// Requests a call of `handle_timer` with `token` after `span`.
    pub(crate) fn after(&mut self, span: Duration, token: u64) {
        self.timer(self.now.saturating_add(span), token);
    }

    /// Requests a transfer over its own connection; `bytes` are the sizes of the request and of the response.
    pub(crate) fn transfer(&mut self, token: u64, group: Option<u64>, hosts: [u32; 2], bytes: [u64; 2]) {
        self.exchange(token, group, hosts, bytes, Connection::Own);
    }

    /// Requests a transfer over a connection; the sizes are those of the request and of the response.
    pub(crate) fn exchange(
        &mut self,
        token: u64,
        group: Option<u64>,
        [from, to]: [u32; 2],
        [request_bytes, response_bytes]: [u64; 2],
        connection: Connection,
    ) {
        let id = TransferId { application: self.application, token };
        let transfer = Transfer { id, from, to, request_bytes, response_bytes, connection, group };
        self.actions.push_back(Action::Transfer(transfer));
    }

    /// Declares that this group has no more transfers.
    pub(crate) fn group_ends(&mut self, group: u64) {
        self.actions.push_back(Action::GroupEnds { application: self.application, group });
    }

    /// Opens a shared connection.
    pub(crate) fn open(&mut self, connection: u32, from: u32, to: u32) {
        self.actions.push_back(Action::Open { application: self.application, connection, from, to });
    }

    /// Sends a UDP frame.
    pub(crate) fn frame(&mut self, from: u32, to: u32, frame_bytes: u32) {
        self.actions.push_back(Action::Frame { application: self.application, from, to, frame_bytes });
    }
}

/// Things that are due at a time, in order of time; those for the same time are in the order in which they were added.
pub(crate) struct Due<T> {
    waiting: BTreeMap<(Time, u64), T>,
    added: u64,
}

impl<T> Due<T> {
    pub(crate) fn new() -> Self {
        Self { waiting: BTreeMap::new(), added: 0 }
    }

    pub(crate) fn push(&mut self, at: Time, one: T) {
        self.waiting.insert((at, self.added), one);
        self.added += 1;
    }

    /// Returns the time of the first.
    pub(crate) fn next(&self) -> Option<Time> {
        self.waiting.keys().next().map(|(at, _)| *at)
    }

    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        self.next().filter(|at| *at <= now)?;
        self.waiting.pop_first().map(|(_, one)| one)
    }
}
