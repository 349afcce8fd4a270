//! The environment of a switch, and the rules of access to it.
//!
//! A switch stands alone or is part of a twin; in both cases a run loop and control calls from any thread share it.
//! [`LoopLock`] is the lock between them.
//!
//! No thread waits for one of these locks while holding the GIL, and none takes the GIL while holding one of them. A
//! free lock may be taken with the GIL held: a thread that released the GIL for every short call of a batch would get
//! it back only after every other Python thread had its turn, while no packet moves.

use std::sync::Arc;

pub(crate) use live::{LoopLock, PacketIns, Turns};
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::Time;

use crate::error::Error;

/// Returns the ports of a switch whose interfaces have no names of their own.
pub(crate) fn virtual_ports(ports: &[PortConfig], is_up: impl Fn(u16) -> bool) -> Vec<(u16, String, bool)> {
    let mut info: Vec<_> = ports.iter().map(|p| (p.port, format!("port{}", p.port), is_up(p.port))).collect();
    info.sort_unstable();
    info
}

/// The operations on a switch, in any environment.
pub(crate) trait SwitchHost: Send + Sync {
    /// Calls `call` with the switch; returns `NoProgram` if there is none yet.
    fn with(&self, call: &mut dyn FnMut(&mut Switch)) -> Result<(), Error>;
    /// Calls `with` if that is possible without waiting; otherwise returns `None` without calling `call`.
    fn try_with(&self, call: &mut dyn FnMut(&mut Switch)) -> Option<Result<(), Error>>;
    /// Replaces the program and all state. After an error the switch continues unchanged.
    fn load_program(&self, program: Arc<bm::Executable>) -> Result<(), Error>;
    /// Returns whether programs must be loaded for tracing.
    fn traces(&self) -> bool {
        false
    }
    /// Returns the settings with which `load_program` creates or checks a switch.
    fn config(&self) -> SwitchConfig;
    /// Returns the running program.
    fn program(&self) -> Option<Arc<bm::Executable>> {
        let mut running = None;
        self.with(&mut |switch| running = Some(Arc::clone(switch.program()))).ok()?;
        running
    }
    /// Returns the pauses of its run loop, and the turns of control calls.
    fn turns(&self) -> &dyn Turns;
    /// Returns the time of the switch's clock, which begins at zero.
    fn now(&self) -> Time;
    /// Returns the computer's clock in microseconds since the epoch; `None` in virtual time, which has no other epoch.
    fn time_since_epoch_us(&self) -> Option<u64> {
        None
    }
    /// Returns each attached port: number, name of its interface, whether it is up.
    fn port_info(&self) -> Vec<(u16, String, bool)>;
    /// Attaches a port to an interface.
    fn port_add(&self, _interface: &str, port: u16) -> Result<(), Error> {
        Err(Error::Config(format!("port {port}: the ports of this switch are those of its topology")))
    }
    /// Detaches a port.
    fn port_remove(&self, port: u16) -> Result<(), Error> {
        Err(Error::Config(format!("port {port}: the ports of this switch are those of its topology")))
    }
    /// Sets the link state of a virtual port.
    fn port_set_link(&self, port: u16, up: bool) -> Result<(), Error> {
        let mut is_attached = false;
        self.with(&mut |switch| {
            is_attached = switch.is_attached(port);
            switch.set_link(port, up);
        })?;
        if !is_attached {
            return Err(Error::Config(format!(
                "port {port} is not attached; port_info lists those that are"
            )));
        }
        Ok(())
    }
    /// Sends a packet into the switch on the CPU port, now.
    fn packet_out(&self, packet: &[u8]) -> Result<(), Error>;
    /// Returns the packets that left on the CPU port.
    fn packet_ins(&self) -> &PacketIns;
}
