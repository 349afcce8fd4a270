//! Errors of ports, for the user who started the switch.

use std::io;
use std::path::PathBuf;

use crate::pcap::PcapError;

/// The reason why a port cannot be opened, or why the loop cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// An interface cannot be opened.
    #[error("interface '{name}' (port {port}): {doing}: {source}{hint}")]
    Interface {
        /// The interface.
        name: String,
        /// Its port number.
        port: u16,
        /// The step that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
        /// The next step for the user.
        hint: &'static str,
    },
    /// A file or FIFO cannot be opened or written.
    #[error("file '{path}' (port {port}): {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Its port number.
        port: u16,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not a pcap file.
    #[error("file '{path}' (port {port}): {source}")]
    Pcap {
        /// The file.
        path: PathBuf,
        /// Its port number.
        port: u16,
        /// The defect.
        source: PcapError,
    },
    /// A nanomsg address cannot be used.
    #[error("address '{address}': {reason}")]
    Address {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The port number is in use.
    #[error("port {port}: is attached already, to '{name}'; remove it first or choose another number")]
    PortTaken {
        /// The port.
        port: u16,
        /// The interface that uses it.
        name: String,
    },
    /// No port has this number.
    #[error("port {port}: is not attached")]
    NoPort {
        /// The port.
        port: u16,
    },
    /// File and nanomsg ports cannot change after the start.
    #[error("port {port}: ports of files and of a nanomsg socket cannot be added or removed while the switch runs")]
    FixedPorts {
        /// The port.
        port: u16,
    },
    /// The wait for events failed.
    #[error("{doing}: {source}")]
    System {
        /// The step that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl IoError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System { doing, source: errno.into() }
    }
}
