//! The objects that the control plane writes and packets look up: entries, members, counters, meters and registers of one switch.
//!
//! This module knows no names: `control` resolves them, and `run` processes packets.

mod action_profile;
mod age;
mod cells;
mod change;
mod counter;
mod entries;
mod match_unit;
mod meter;
mod register;

pub(crate) use action_profile::{
    Group, GroupImage, GroupKind, GroupNote, Member, MemberCopy, MemberImage, MemberKind, MemberNote, OneShot,
};
pub(crate) use cells::Cells;
pub(crate) use change::Change;
pub(crate) use counter::counter_places;
pub use counter::CounterValue;
pub(crate) use entries::{EntryKey, NoEntry, Outcome, MAX_ENTRIES};
pub(crate) use meter::Meter;
pub use meter::MeterRate;
pub(crate) use register::register_places;
