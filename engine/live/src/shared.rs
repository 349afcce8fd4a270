//! The state that the loop shares with calling threads.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use port_io::{IoCounts, Poller, PortInfo, PortIo};

use crate::engine::Engine;
use crate::{LoopLock, Mailbox, PacketIns};

/// Maximum number of unread messages; further ones are dropped and counted.
const EVENT_LIMIT: usize = 1024;

/// The switch, and the communication between the loop and its callers.
pub(crate) struct Shared {
    pub(crate) engine: LoopLock<Engine>,
    /// The ports. A thread that needs both locks takes this one first. The loop releases it while it waits.
    pub(crate) io: Mutex<Box<dyn PortIo>>,
    pub(crate) poller: Poller,
    pub(crate) packet_ins: PacketIns,
    pub(crate) stopping: AtomicBool,
    pub(crate) ended: AtomicBool,
    pub(crate) view: Mutex<(Vec<PortInfo>, IoCounts)>,
    /// Messages for users.
    pub(crate) events: Mailbox<String, EVENT_LIMIT>,
}

impl Shared {
    /// Creates the shared state, of which the engine has no links yet.
    pub(crate) fn new(mut engine: Engine, io: Box<dyn PortIo>, poller: Poller) -> Self {
        engine.set_links(&io.ports());
        Self {
            engine: LoopLock::new(engine),
            view: Mutex::new((io.ports(), IoCounts::default())),
            io: Mutex::new(io),
            poller,
            packet_ins: PacketIns::default(),
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            events: Mailbox::default(),
        }
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
