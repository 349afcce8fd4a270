//! Quantities with their units in the type: simulated time, data rates, byte counts.
//!
//! Everything is an integer, so that a simulation gives the same bytes on every machine: time counts
//! picoseconds, rates count bits per second, sizes count bytes. 64 bits of picoseconds last for 213 days.
//! This crate reads no clock: the caller always passes a [`Time`] in.
//!
//! Text is read and written in the units people use ("120us", "10Gbps", "300KB"); see [`ParseError`] for what is
//! refused. Operators panic on overflow in every build, because a wrapped time would silently reorder events;
//! use the `checked_` and `saturating_` forms where the operands come from outside.

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
