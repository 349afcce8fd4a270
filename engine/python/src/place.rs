//! Where a switch lives, and who may touch it when.
//!
//! A switch stands alone or is part of a twin; either way a run loop and control calls from any thread share it.
//! [`Gate`] is the lock between them. The run loop works in slices and hands the lock over in between, so that a
//! control call waits for one slice at most; while somebody has paused it, it does not start another slice.
//!
//! No lock here is taken while holding the GIL, and the GIL is not taken while holding one of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use simple_switch::{PortConfig, Switch};
use units::Time;

use crate::error::Error;

/// Packets that wait for the controller. BMv2's queue has no bound; ours drops and counts beyond it.
const PACKET_IN_LIMIT: usize = 4096;

/// A lock that a run loop and control calls share.
pub(crate) struct Gate<E> {
    engine: Mutex<E>,
    pauses: Mutex<usize>,
    resumed: Condvar,
}

impl<E> Gate<E> {
    pub(crate) fn new(engine: E) -> Self {
        Self { engine: Mutex::new(engine), pauses: Mutex::new(0), resumed: Condvar::new() }
    }

    /// For a control call.
    pub(crate) fn lock(&self) -> MutexGuard<'_, E> {
        self.engine.lock()
    }

    /// For a run loop: calls `slice` until it says that it is done.
    pub(crate) fn run<R>(&self, mut slice: impl FnMut(&mut E) -> Option<R>) -> R {
        loop {
            // Held across the slice, so that `pause` returns only when none is running.
            let mut pauses = self.pauses.lock();
            while *pauses > 0 {
                self.resumed.wait(&mut pauses);
            }
            let mut engine = self.engine.lock();
            if let Some(result) = slice(&mut engine) {
                return result;
            }
            MutexGuard::unlock_fair(engine);
            MutexGuard::unlock_fair(pauses);
        }
    }

    /// Keeps run loops out until as many calls of `resume`.
    pub(crate) fn pause(&self) {
        *self.pauses.lock() += 1;
    }

    /// Takes one `pause` back; without one it does nothing.
    pub(crate) fn resume(&self) {
        let mut pauses = self.pauses.lock();
        *pauses = pauses.saturating_sub(1);
        self.resumed.notify_all();
    }
}

/// Packets that left on the CPU port, until the controller takes them.
#[derive(Default)]
pub(crate) struct PacketIns {
    waiting: Mutex<(VecDeque<Vec<u8>>, u64)>,
    arrived: Condvar,
}

impl PacketIns {
    /// Adds one, or counts it as lost.
    pub(crate) fn push(&self, packet: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        if waiting.0.len() < PACKET_IN_LIMIT {
            waiting.0.push_back(packet);
            self.arrived.notify_one();
        } else {
            waiting.1 += 1;
        }
    }

    /// All that wait; if none, waits for one.
    pub(crate) fn take(&self, timeout: Duration) -> Vec<Vec<u8>> {
        let deadline = Instant::now() + timeout;
        let mut waiting = self.waiting.lock();
        while waiting.0.is_empty() && !self.arrived.wait_until(&mut waiting, deadline).timed_out() {}
        waiting.0.drain(..).collect()
    }

    /// Packets lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.waiting.lock().1
    }
}

/// Ports whose interfaces have no names of their own: always up.
pub(crate) fn virtual_ports(ports: &[PortConfig]) -> Vec<(u16, String, bool)> {
    let mut info: Vec<_> = ports.iter().map(|p| (p.port, format!("port{}", p.port), true)).collect();
    info.sort_unstable();
    info
}

/// What can be done with a switch wherever it lives.
pub(crate) trait Place: Send + Sync {
    /// Runs `call` on the switch; `NoProgram` when there is none yet.
    fn with(&self, call: &mut dyn FnMut(&mut Switch)) -> Result<(), Error>;
    /// Replaces the program and all state. On an error the switch goes on as it was.
    fn load_program(&self, program: Arc<bm::Program>) -> Result<(), Error>;
    /// Whether `load_program` would accept it.
    fn check_program(&self, program: Arc<bm::Program>) -> Result<(), Error>;
    /// The program that runs.
    fn program(&self) -> Option<Arc<bm::Program>>;
    /// See [`Gate::pause`].
    fn pause(&self);
    /// See [`Gate::resume`].
    fn resume(&self);
    /// The time of the switch's clock, which begins at zero.
    fn now(&self) -> Time;
    /// Microseconds since the epoch of the computer's clock; `None` where time is virtual and has no other epoch.
    fn time_since_epoch_us(&self) -> Option<u64> {
        None
    }
    /// Each attached port: number, name of its interface, whether it is up.
    fn port_info(&self) -> Vec<(u16, String, bool)>;
    /// Attaches a port to an interface.
    fn port_add(&self, _interface: &str, port: u16) -> Result<(), Error> {
        Err(Error::Config(format!("port {port}: the ports of this switch are those of its topology")))
    }
    /// Detaches a port.
    fn port_remove(&self, port: u16) -> Result<(), Error> {
        Err(Error::Config(format!("port {port}: the ports of this switch are those of its topology")))
    }
    /// A packet enters on the CPU port, now.
    fn packet_out(&self, packet: &[u8]) -> Result<(), Error>;
    /// Packets that left on the CPU port.
    fn packet_ins(&self) -> &PacketIns;
    /// P4Runtime's device id.
    fn device_id(&self) -> u64;
    /// The CPU port.
    fn cpu_port(&self) -> Option<u16>;
}
