//! Quantities with their units in their types: simulated time, data rates, byte counts.
//!
//! All values are integers, so a simulation gives the same bytes on every machine. Time is in picoseconds, rates are in bits per
//! second, sizes in bytes. 64 bits of picoseconds last for 213 days.
//! This crate reads no clock: callers pass in every [`Time`].
//!
//! Text uses the customary units ("120us", "10Gbps", "300KB"); [`ParseError`] reports invalid text.
//! Operators panic on overflow in every build, because a wrapped time would silently reorder events.
//! Use the `checked_` and `saturating_` forms for operands from outside.

#![forbid(unsafe_code)]

mod bytes;
pub mod histogram;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use histogram::Histogram;
pub use rate::DataRate;
pub use text::ParseError;
pub use time::{Duration, Time};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
