//! A fabric in virtual time: switches that run P4, joined by links with exact bit rates, EEE PHYs, and hosts.
//!
//! [`FabricSpec`] describes a fabric, [`Fabric`] runs it, [`Report`] has the results. The parts:
//!
//! * `spec`: the description of a fabric, as data;
//! * `events`: the kinds of events, and the queue of due events, in order of (time, sequence);
//! * `network`: a frame's path from a host's NIC over links and switches to a host;
//! * `reaction`: how the rate of a flow reacts to congestion in QCN and DCQCN;
//! * `transport`: TCP connections and flows; `workload`: applications, whose transfers use them;
//! * `report`: measurements in bounded memory, and the format of the report. Each part fills in its own section
//!   (`network/report.rs`, `transport/flows.rs`, `workload/transfers.rs`);
//! * `fabric`: combines the parts and handles one event after the other.
//!
//! Nothing here reads a clock, or a random source other than seeded streams: the same program, spec, control writes and
//! frames give the same report, byte for byte. Hosts replay the frames they are fed, and run TCP flows
//! ([`Fabric::start_flow`]) and applications ([`Fabric::start_workload`]). Not modelled: loss or bit errors on links
//! that are up, and 1000BASE-T's rule that both directions sleep together.

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
