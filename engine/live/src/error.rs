//! The reasons why a live switch cannot be created, or a call on it cannot be carried out.

use port_io::IoError;
use simple_switch::ConfigError;

/// An error of a live switch.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The switch's settings are invalid.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A port failed.
    #[error("{0}")]
    Io(#[from] IoError),
    /// The switch has been started before.
    #[error("the switch runs already")]
    Running,
    /// Its loop has ended.
    #[error("the switch has stopped")]
    Stopped,
    /// Packet-ins and packet-outs need a CPU port.
    #[error("the switch has no CPU port; give it one with --cpu-port")]
    NoCpuPort,
    /// No program is loaded that could take the packet.
    #[error("the switch runs no program; load one first")]
    NoProgram,
    /// The system cannot create another thread.
    #[error("the switch's thread cannot be started: {0}")]
    Thread(std::io::Error),
}
