//! Why a live switch cannot be made, or a call on it not be done.

use port_io::IoError;
use simple_switch::ConfigError;

/// What goes wrong.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Settings of the switch.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A port.
    #[error("{0}")]
    Io(#[from] IoError),
    /// It was started before.
    #[error("the switch runs already")]
    Running,
    /// Its loop has ended.
    #[error("the switch has stopped")]
    Stopped,
    /// Packets in and out need a port.
    #[error("the switch has no CPU port; give it one with --cpu-port")]
    NoCpuPort,
    /// Nothing would take the packet.
    #[error("the switch runs no program; load one first")]
    NoProgram,
    /// The system has no thread left.
    #[error("the switch's thread cannot be started: {0}")]
    Thread(std::io::Error),
}
