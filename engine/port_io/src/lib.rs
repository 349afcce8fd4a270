//! Frame input and output. This crate knows neither switches nor P4: a port is a number, a frame is bytes without FCS.
//!
//! Three types implement [`PortIo`]:
//!
//! * [`Interfaces`]: network interfaces through AF_PACKET, as BMv2's BMI does through libpcap;
//! * [`PacketIn`]: one nanomsg PAIR socket for all ports, BMv2's `--packet-in` and PTF's `nn` platform;
//! * [`PcapPorts`]: for each port, a pcap file or FIFO to read and one to write, BMv2's `--use-files`.
//!
//! [`HostSocket`] is the host's end of a link instead: it sends frames to a switch, and reports the arrival times of frames.
//!
//! Modules without I/O process the frames, and are tested separately: [`pcap`] (file format), [`sp`] (nanomsg's wire format),
//! [`message`] (BMv2's packet messages), [`offload`] (work that the kernel leaves to a NIC). System calls without a safe wrapper
//! are in `sys`, the only module with `unsafe`.

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
pub use poller::Poller;

/// Frames lost or repaired outside the switch, by cause. Causes that do not apply to a kind of port stay zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoCounts {
    /// Frames that the kernel dropped because the switch did not fetch them in time.
    pub rx_overruns: u64,
    /// Frames longer than the receive buffer, or captured incompletely.
    pub rx_truncated: u64,
    /// Frames or messages that are not Ethernet frames of a known port; files of frames that end in damage.
    pub rx_malformed: u64,
    /// GSO super-frames that could not be segmented.
    pub rx_gso_refused: u64,
    /// GSO super-frames that were segmented (not lost).
    pub rx_gso_segmented: u64,
    /// Frames whose checksum was left to a NIC and has been completed (not lost).
    pub rx_checksums_completed: u64,
    /// Frames refused by the kernel, the peer or the file because their buffer was full.
    pub tx_full: u64,
    /// Frames for an interface that was down or gone, or for a socket without a peer.
    pub tx_down: u64,
    /// Frames that the kernel refused for another reason, such as the interface's MTU.
    pub tx_refused: u64,
    /// Frames for a port without an interface or file.
    pub tx_no_port: u64,
}

/// One port, as shown to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// Its number.
    pub port: u16,
    /// Interface, socket or file.
    pub name: String,
    /// Whether frames can pass.
    pub is_up: bool,
}

/// Input and output of one switch's frames. No call blocks, except [`Poller::wait`].
pub trait PortIo: Send {
    /// Registers the descriptors that the poller must wait for.
    fn register(&mut self, poller: &Poller) -> Result<(), IoError>;

    /// Delivers received frames, up to one batch, oldest first for each port. `ready` are the keys that
    /// [`Poller::wait`] has returned since the last call. Returns whether more may be available at once.
    fn receive(
        &mut self,
        poller: &Poller,
        ready: &[u64],
        deliver: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<bool, IoError>;

    /// Sends frames in the given order. Frames that cannot be sent are counted; the call never waits for them.
    fn send(&mut self, frames: &mut dyn Iterator<Item = (u16, &[u8])>);

    /// Writes buffered output. Called before the loop waits.
    fn flush(&mut self) {}

    /// Handles changes that no frame announces: links that come and go, output still to be written. Passes messages for
    /// users to `event`. Called a few times a second.
    fn maintain(&mut self, event: &mut dyn FnMut(String));

    /// Adds a network interface as a port of a running switch.
    fn add(&mut self, port: u16, _: Interface) -> Result<(), IoError> {
        self.remove(port)
    }

    /// Removes a port.
    fn remove(&mut self, port: u16) -> Result<(), IoError> {
        Err(IoError(format!(
            "port {port}: ports of files and of a nanomsg socket cannot be added or removed while the switch runs"
        )))
    }

    /// Returns the ports, ordered by number.
    fn ports(&self) -> Vec<PortInfo>;

    /// Returns the counts of frames lost or repaired so far.
    fn counts(&self) -> IoCounts;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
