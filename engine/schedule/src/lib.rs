//! Flow schedulers: they assign sending rates from flows, their transfers, and the capacities of links.
//!
//! A *transfer* (a coflow: Chowdhury and Stoica, HotNets 2012) is a group of flows whose application waits for all of them. A
//! [`Schedule`] keeps the flows under way, their remaining volumes and their rates; a [`Scheduler`] decides the rates:
//!
//! * [`fair`]: max-min fairness among all flows, which TCP approximates;
//! * [`fca`]: the flow chasing algorithm (Ren and Wang, KSII TIIS 10(4), 2016);
//! * [`ordered`]: one transfer after another, with MADD and backfill (Varys, SIGCOMM 2014): SEBF and SCF;
//! * [`dclas`]: discretized coflow-aware least-attained service (Aalo, SIGCOMM 2015), which needs no volumes.
//!
//! [`fluid`] drives a schedule without packets: flows end when they have sent their volume at their rates.
//!
//! Rates are whole bits per second; their sum on a link never exceeds its capacity. The unit of volumes is 10^-12 bit, so that
//! the product of a rate and picoseconds is exact. Anything without an order of its own is ordered by transfer and flow
//! numbers: the same events give the same rates.

#![forbid(unsafe_code)]

pub mod dclas;
mod error;
pub mod fair;
pub mod fca;
mod flows;
pub mod fluid;
mod name;
pub mod ordered;
mod schedule;

pub use error::ScheduleError;
pub use flows::{Flow, Flows};
pub use name::Name;
pub use schedule::{star, Floor, NewFlow, RateChange, Schedule, Scheduler};

/// Id of a flow: its transfer's number, and its own number within the transfer.
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
/// Maximum number of hosts of a star.
pub const MAX_HOSTS: u32 = 1 << 19;
/// Maximum number of links on a flow's path.
pub const MAX_PATH: usize = 16;

/// One bit in the unit of volumes, which is one bit per second for one picosecond.
pub(crate) const BIT: u128 = 1_000_000_000_000;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
