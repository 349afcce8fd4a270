//! Errors of ports, for the user who started the switch.

use std::io;
use std::path::PathBuf;

use crate::pcap::PcapError;

/// Why a port cannot be opened, or a loop not go on.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// An interface that cannot be opened.
    #[error("interface '{name}' (port {port}): {doing}: {source}{hint}")]
    Interface {
        /// The interface.
        name: String,
        /// Its port.
        port: u16,
        /// The step that failed.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
        /// What to do about it.
        hint: &'static str,
    },
    /// A file or FIFO that cannot be opened or written.
    #[error("file '{path}' (port {port}): {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Its port.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// A file other than a pcap file.
    #[error("file '{path}' (port {port}): {source}")]
    Pcap {
        /// The file.
        path: PathBuf,
        /// Its port.
        port: u16,
        /// What is wrong with it.
        source: PcapError,
    },
    /// A nanomsg address that cannot be used.
    #[error("address '{address}': {reason}")]
    Address {
        /// The address.
        address: String,
        /// Why not.
        reason: String,
    },
    /// The number is taken.
    #[error("port {port}: is attached already, to '{name}'; remove it first or choose another number")]
    PortTaken {
        /// The port.
        port: u16,
        /// What has it.
        name: String,
    },
    /// The number is not taken.
    #[error("port {port}: is not attached")]
    NoPort {
        /// The port.
        port: u16,
    },
    /// Files and nanomsg ports are what they were at the start.
    #[error("port {port}: ports of files and of a nanomsg socket cannot be added or removed while the switch runs")]
    FixedPorts {
        /// The port.
        port: u16,
    },
    /// Waiting itself failed.
    #[error("{doing}: {source}")]
    System {
        /// The step that failed.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl IoError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System { doing, source: errno.into() }
    }
}
