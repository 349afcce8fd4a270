//! How fast each flow may send: schedulers that know flows, the transfers they belong to, and the capacity of links.
//!
//! A *transfer* (a coflow: Chowdhury and Stoica, HotNets 2012) is a group of flows that its application waits for as a whole. A
//! [`Schedule`] keeps the flows that are under way, their remaining volumes and their rates; a [`Scheduler`] decides the rates:
//!
//! * [`fair`]: max-min among all flows, what TCP comes near to;
//! * [`fca`]: the flow chasing algorithm (Ren and Wang, KSII TIIS 10(4), 2016);
//! * [`ordered`]: transfers one before the other, with MADD and backfill (Varys, SIGCOMM 2014): SEBF and SCF;
//! * [`dclas`]: discretized coflow-aware least-attained service (Aalo, SIGCOMM 2015), which knows no volumes.
//!
//! [`fluid`] drives a schedule without packets: flows end when their volume has been sent at their rates.
//!
//! Rates are whole bits per second; the sum on a link is never above its capacity. Volumes are counted in millionths of a
//! millionth of a bit, so that rate times picoseconds is exact. Whatever has no order of its own goes by number of transfer, then
//! of flow: the same events give the same rates.

#![forbid(unsafe_code)]

pub mod dclas;
mod error;
pub mod fair;
pub mod fca;
mod flows;
pub mod fluid;
mod links;
mod name;
pub mod ordered;
mod schedule;

pub use error::ScheduleError;
pub use flows::{Flow, Flows, Transfer};
pub use links::{Links, LinksError};
pub use name::{Name, UnknownName};
pub use schedule::{Floor, NewFlow, RateChange, Schedule, Scheduler};

/// Name of a flow: that of its transfer, and its own within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// The transfer.
    pub transfer: u64,
    /// The flow.
    pub flow: u64,
}

/// Largest volume of a flow, in bits: one petabyte.
pub const MAX_VOLUME_BITS: u64 = 8_000_000_000_000_000;
/// Maximum number of flows that are under way.
pub const MAX_FLOWS: usize = 1 << 20;
/// Maximum number of transfers that are not closed.
pub const MAX_TRANSFERS: usize = 1 << 20;
/// Maximum number of links on a flow's path.
pub const MAX_PATH: usize = 16;

/// What one bit is, in the unit of volumes: one bit per second for one picosecond.
pub(crate) const BIT: u128 = 1_000_000_000_000;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
