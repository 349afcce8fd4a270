//! A fabric in virtual time: switches that run P4, joined by links with exact bit rates, EEE PHYs, and hosts.
//!
//! [`FabricSpec`] says what there is, [`Fabric`] runs it, [`Report`] says what has happened. The parts:
//!
//! * `spec`: what a fabric is made of, as data;
//! * `events`: what can happen, and the queue of what is due, in order of (time, sequence);
//! * `network`: a frame's way from a host's NIC over links to switches and on to a host;
//! * `reaction`: how the rate of a flow answers congestion, as QCN and DCQCN have it;
//! * `transport`: TCP connections and flows; `workload`: applications, whose transfers they carry;
//! * `report`: what is measured, in bounded memory, and the form of the report. Each part fills in its own section
//!   (`network/report.rs`, `transport/flows.rs`, `workload/transfers.rs`);
//! * `fabric`: puts the parts together and handles one event after the other.
//!
//! Nothing here reads a clock or a random source but seeded streams: the same program, spec, control writes and frames give the
//! same report, byte for byte. Hosts replay what they are fed, and run TCP flows ([`Fabric::start_flow`]) and applications
//! ([`Fabric::start_workload`]). Not here: loss or bit errors on links, and 1000BASE-T's rule that both directions sleep
//! together.

#![forbid(unsafe_code)]

mod errors;
mod events;
mod fabric;
mod limits;
mod mac;
mod network;
pub mod reaction;
pub mod report;
#[cfg(feature = "schema")]
pub mod schema;
pub mod spec;
mod transport;
mod workload;

pub use ::workload::WorkloadError;
pub use errors::{FabricError, FlowError, SendError};
pub use fabric::Fabric;
pub use limits::{LATEST, MAX_FLOWS, MAX_FRAME_BYTES, MAX_HEARD, MAX_LIMITERS, MAX_PACKET_INS, MAX_PENDING};
pub use mac::Mac;
pub use network::frame::HostFrame;
pub use network::{eee, nic, phy, Heard};
pub use report::{Conservation, ConservationError, Report};
pub use spec::{FabricSpec, HostDelaySpec, NicAqm, Protect, SpecError};
pub use transport::{tcp_settings, FlowSpec, TCP_NAMES};
