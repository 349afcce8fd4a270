//! Frames in and out of the machine. It knows no switch and no P4: a port is a number, a frame is bytes without FCS.
//!
//! Three ways, each one type that implements [`PortIo`]:
//!
//! * [`Interfaces`]: network interfaces through AF_PACKET, as BMv2's BMI does through libpcap;
//! * [`PacketIn`]: one nanomsg PAIR socket for all ports, BMv2's `--packet-in` and PTF's `nn` platform;
//! * [`PcapPorts`]: a pcap file or FIFO to read and one to write for each port, BMv2's `--use-files`.
//!
//! [`HostSocket`] is none of these: it is the host's end of a link. It sends frames to a switch, and says when frames arrived.
//!
//! What a frame meets on its way is pure and tested by itself: [`pcap`] (file format), [`sp`] (nanomsg's wire format),
//! [`message`] (BMv2's packet messages), [`offload`] (what the kernel leaves undone for a NIC that is not there). System calls
//! that have no safe wrapper are in `sys`, the only module with `unsafe`.

mod error;
mod host_socket;
mod interfaces;
pub mod message;
pub mod offload;
mod packet_in;
pub mod pcap;
mod pcap_output;
mod pcap_ports;
mod poller;
pub mod sp;
mod sys;

pub use error::IoError;
pub use host_socket::{HostSocket, ReceiveBuffer};
pub use interfaces::{Interface, Interfaces};
pub use packet_in::PacketIn;
pub use pcap_ports::{PcapPort, PcapPorts};
pub use poller::{Poller, Waker};

/// Frames lost or repaired outside the switch, by cause. A cause that a kind of port does not have stays zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoCounts {
    /// Frames that the kernel dropped because the switch did not fetch them in time.
    pub rx_overruns: u64,
    /// Frames longer than the receive buffer, or captured incompletely.
    pub rx_truncated: u64,
    /// Frames or messages other than an Ethernet frame of a known port.
    pub rx_malformed: u64,
    /// GSO super-frames that could not be segmented.
    pub rx_gso_refused: u64,
    /// GSO super-frames that were segmented (not lost).
    pub rx_gso_segmented: u64,
    /// Frames whose checksum the sender had left to a NIC and which was completed (not lost).
    pub rx_checksums_completed: u64,
    /// Frames that the kernel, the peer or the file did not take because their buffer was full.
    pub tx_full: u64,
    /// Frames to an interface that was down or had vanished, or without a peer.
    pub tx_down: u64,
    /// Frames that the kernel refused for another reason, such as the interface's MTU.
    pub tx_refused: u64,
    /// Frames to a port that has no interface or file.
    pub tx_no_port: u64,
}

/// One port as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// Its number.
    pub port: u16,
    /// Interface, socket or file.
    pub name: String,
    /// Whether frames can pass.
    pub is_up: bool,
}

/// A way in and out for the frames of one switch. No call blocks, but [`Poller::wait`].
pub trait PortIo: Send {
    /// Registers what the poller must wait for.
    fn register(&mut self, poller: &Poller) -> Result<(), IoError>;

    /// Takes what has arrived, up to one batch, oldest first on each port. `ready` are the keys that [`Poller::wait`] gave out
    /// since the last call. Returns whether there may be more at once.
    fn receive(
        &mut self,
        poller: &Poller,
        ready: &[u64],
        deliver: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<bool, IoError>;

    /// Sends frames in the given order; what cannot be sent is counted, never waited for.
    fn send(&mut self, frames: &mut dyn Iterator<Item = (u16, &[u8])>);

    /// Writes out what is kept back in order to be written in one piece. Called before the loop waits.
    fn flush(&mut self) {}

    /// Follows what changes without a frame: links that come and go, output still to be written. `event` takes messages
    /// for people. Called a few times a second.
    fn maintain(&mut self, event: &mut dyn FnMut(String));

    /// Adds a network interface as a port of a running switch.
    fn add(&mut self, port: u16, interface: Interface) -> Result<(), IoError> {
        let _ = interface;
        Err(IoError::FixedPorts { port })
    }

    /// Removes a port.
    fn remove(&mut self, port: u16) -> Result<(), IoError> {
        Err(IoError::FixedPorts { port })
    }

    /// Returns the ports, in order of number.
    fn ports(&self) -> Vec<PortInfo>;

    /// Returns what was lost or repaired so far.
    fn counts(&self) -> IoCounts;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
