//! A fabric in virtual time: switches that run P4, joined by links with exact bit rates, EEE PHYs, and hosts.
//!
//! [`FabricSpec`] says what there is, [`Fabric`] runs it, [`Report`] tells what happened. The parts, from the
//! inside out:
//!
//! * [`events`]: what happens next, totally ordered by (time, sequence);
//! * [`link`]: frames under way; [`phy`]: what the transmitter's PHY truly does, and its energy;
//! * [`eee`]: the hold state machine, the P4 program's in plain Rust; [`nic`]: a host's queue that obeys it, with an AQM of its own;
//! * [`queue_depth`], [`measures`]: what is measured, in bounded memory;
//! * [`tag`]: how a packet carries when it was sent.
//!
//! Nothing here reads a clock or a random source but seeded streams: the same program, spec, control writes and frames give the
//! same report, byte for byte. Hosts replay what they are fed, and run TCP flows ([`Fabric::start_flow`]) and applications
//! ([`Fabric::start_workload`]). Not here: loss or bit errors on
//! links, and 1000BASE-T's rule that both directions sleep together.

#![forbid(unsafe_code)]

mod accounts;
mod assembly;
pub mod eee;
mod endpoints;
mod errors;
pub mod events;
mod fabric;
mod flows;
mod host;
pub mod link;
mod mac;
pub mod measures;
pub mod nic;
mod nic_aqm;
pub mod phy;
mod ports;
pub mod queue_depth;
pub mod report;
pub mod spec;
pub mod tag;
mod tcp_spec;
mod wiring;
mod workload;

pub use ::workload::WorkloadError;
pub use errors::{FabricError, FlowError, SendError};
pub use fabric::{Fabric, MAX_FRAME_BYTES, MAX_PACKET_INS, MAX_PENDING};
pub use flows::{FlowSpec, MAX_FLOWS};
pub use mac::Mac;
pub use nic_aqm::{NicAqm, Protect};
pub use report::{Conservation, ConservationError, Report};
pub use spec::{FabricSpec, SpecError};
