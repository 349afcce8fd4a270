//! The interface of every application model, and the queue of its requests.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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
    pub(crate) timers: &'a mut Timers,
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
        self.timers.push(at.max(self.now), self.application, token);
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

/// Timers, in order of time; timers for the same time are in the order in which they were set.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Timer>>,
    next_sequence: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timer {
    pub(crate) at: Time,
    sequence: u64,
    pub(crate) application: u32,
    pub(crate) token: u64,
}

impl Timers {
    fn push(&mut self, at: Time, application: u32, token: u64) {
        self.heap.push(Reverse(Timer { at, sequence: self.next_sequence, application, token }));
        self.next_sequence += 1;
    }

    /// Returns the time of the first timer.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(timer)| timer.at)
    }

    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Timer> {
        let Reverse(first) = self.heap.peek()?;
        let first = *first;
        (first.at <= now).then(|| {
            self.heap.pop();
            first
        })
    }
}
