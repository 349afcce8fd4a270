//! The state that the loop shares with calling threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use port_io::{Interface, IoCounts, IoError, PortInfo, Waker};

use crate::engine::Engine;
use crate::{LoopLock, PacketIns};

/// Maximum number of unread messages; further ones are dropped and counted.
const EVENT_LIMIT: usize = 1024;

/// A change of ports, carried out by the loop's thread, which owns them.
pub(crate) enum Command {
    Add(u16, Box<Interface>),
    Remove(u16),
}

/// A command, and the channel for its result.
pub(crate) type Request = (Command, mpsc::Sender<Result<(), IoError>>);

/// The switch, and the communication between the loop and its callers.
pub(crate) struct Shared {
    pub(crate) engine: LoopLock<Engine>,
    pub(crate) packet_ins: PacketIns,
    pub(crate) commands: Mutex<VecDeque<Request>>,
    pub(crate) stopping: AtomicBool,
    pub(crate) ended: AtomicBool,
    pub(crate) view: Mutex<(Vec<PortInfo>, IoCounts)>,
    events: Mutex<(VecDeque<String>, u64)>,
    event_arrived: Condvar,
    waker: Waker,
}

impl Shared {
    /// Creates the shared state. `events` are the first messages, `ports` the current ports; `waker` ends a wait of the
    /// loop.
    pub(crate) fn new(engine: Engine, ports: Vec<PortInfo>, events: VecDeque<String>, waker: Waker) -> Self {
        Self {
            engine: LoopLock::new(engine),
            packet_ins: PacketIns::default(),
            commands: Mutex::default(),
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            view: Mutex::new((ports, IoCounts::default())),
            events: Mutex::new((events, 0)),
            event_arrived: Condvar::new(),
            waker,
        }
    }

    /// Ends the loop's wait.
    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// Adds a message for users, or counts it as lost.
    pub(crate) fn event(&self, text: String) {
        let mut events = self.events.lock();
        if events.0.len() < EVENT_LIMIT {
            events.0.push_back(text);
            self.event_arrived.notify_one();
        } else {
            events.1 += 1;
        }
    }

    /// Returns all waiting messages. If there are none, waits for one, up to `timeout`.
    pub(crate) fn take_events(&self, timeout: Duration) -> Vec<String> {
        let deadline = Instant::now() + timeout;
        let mut events = self.events.lock();
        while events.0.is_empty() && !self.event_arrived.wait_until(&mut events, deadline).timed_out() {}
        events.0.drain(..).collect()
    }

    /// Returns the number of messages lost so far.
    pub(crate) fn events_lost(&self) -> u64 {
        self.events.lock().1
    }
}

/// Records the end of the loop, even if it panics.
pub(crate) struct EndGuard<'a>(pub(crate) &'a Shared);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
        if std::thread::panicking() {
            self.0.event("the switch stops: its thread has failed; stderr says why".into());
        }
    }
}
