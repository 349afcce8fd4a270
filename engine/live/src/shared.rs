//! The state that the loop shares with calling threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use parking_lot::Mutex;
use port_io::{Interface, IoCounts, IoError, PortInfo, Waker};

use crate::engine::Engine;
use crate::{LoopLock, Mailbox, PacketIns};

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
    /// Messages for users.
    pub(crate) events: Mailbox<String, EVENT_LIMIT>,
    waker: Waker,
}

impl Shared {
    /// Creates the shared state. `ports` are the current ports; `waker` ends a wait of the loop.
    pub(crate) fn new(engine: Engine, ports: Vec<PortInfo>, waker: Waker) -> Self {
        Self {
            engine: LoopLock::new(engine),
            packet_ins: PacketIns::default(),
            commands: Mutex::default(),
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            view: Mutex::new((ports, IoCounts::default())),
            events: Mailbox::default(),
            waker,
        }
    }

    /// Ends the loop's wait.
    pub(crate) fn wake(&self) {
        self.waker.wake();
    }
}

/// Records the end of the loop, even if it panics.
pub(crate) struct EndGuard<'a>(pub(crate) &'a Shared);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
        if std::thread::panicking() {
            self.0.events.push("the switch stops: its thread has failed; stderr says why".into());
        }
    }
}
