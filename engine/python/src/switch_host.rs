//! What runs a switch, and who may touch it when.
//!
//! A switch stands alone or is part of a twin; either way a run loop and control calls from any thread share it.
//! [`LoopLock`] is the lock between them.
//!
//! No lock here is waited for while holding the GIL, and the GIL is not taken while holding one of them. A lock that is free may be
//! taken with the GIL held: who gives the GIL away for every short call of a batch gets it back only after each other Python
//! thread has had its turn, and no packet moves in the meantime.

use std::sync::Arc;

pub(crate) use live::{LoopLock, PacketIns};
use simple_switch::{PortConfig, Switch};
use units::Time;

use crate::error::Error;

/// Returns the ports whose interfaces have no names of their own.
pub(crate) fn virtual_ports(ports: &[PortConfig], is_up: impl Fn(u16) -> bool) -> Vec<(u16, String, bool)> {
    let mut info: Vec<_> = ports.iter().map(|p| (p.port, format!("port{}", p.port), is_up(p.port))).collect();
    info.sort_unstable();
    info
}

/// Says whether the link of one of a switch's virtual ports is up.
pub(crate) fn set_link(switch: &mut Switch, port: u16, up: bool) -> Result<(), Error> {
    if !switch.is_attached(port) {
        return Err(Error::Config(format!("port {port} is not attached; port_info lists those that are")));
    }
    switch.set_link(port, up);
    Ok(())
}

/// What can be done with a switch, whatever runs it.
pub(crate) trait SwitchHost: Send + Sync {
    /// Runs `call` on the switch; `NoProgram` when there is none yet.
    fn with(&self, call: &mut dyn FnMut(&mut Switch)) -> Result<(), Error>;
    /// Calls `with` if it need not wait; otherwise returns `None` without having called `call`.
    fn try_with(&self, call: &mut dyn FnMut(&mut Switch)) -> Option<Result<(), Error>>;
    /// Replaces the program and all state. On an error the switch goes on as it was.
    fn load_program(&self, program: Arc<bm::Executable>) -> Result<(), Error>;
    /// Returns whether programs must be loaded for tracing.
    fn traces(&self) -> bool {
        false
    }
    /// Checks that `load_program` would accept it.
    fn check_program(&self, program: Arc<bm::Executable>) -> Result<(), Error>;
    /// Returns the program that runs.
    fn program(&self) -> Option<Arc<bm::Executable>>;
    /// Pauses as [`LoopLock::pause`] does.
    fn pause(&self);
    /// Resumes as [`LoopLock::resume`] does.
    fn resume(&self);
    /// Takes the turn as [`LoopLock::take_turn`] does.
    fn take_turn(&self);
    /// Ends the turn as [`LoopLock::end_turn`] does.
    fn end_turn(&self);
    /// Returns the time of the switch's clock, which begins at zero.
    fn now(&self) -> Time;
    /// Returns the microseconds since the epoch of the computer's clock; `None` where time is virtual and has no other epoch.
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
    /// Says whether a port's link is up.
    fn port_set_link(&self, port: u16, _up: bool) -> Result<(), Error> {
        Err(Error::Config(format!("port {port}: its interface says whether it is up")))
    }
    /// Sends a packet in on the CPU port, now.
    fn packet_out(&self, packet: &[u8]) -> Result<(), Error>;
    /// Returns the packets that left on the CPU port.
    fn packet_ins(&self) -> &PacketIns;
    /// Returns P4Runtime's device id.
    fn device_id(&self) -> u64;
    /// Returns the CPU port.
    fn cpu_port(&self) -> Option<u16>;
}
