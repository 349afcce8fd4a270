//! A `simple_switch` in real time: one thread between ports (`port_io`), the clock and control calls from other threads.
//!
//! [`LiveSwitch`] is the whole interface. What a switch does with a packet is none of this crate's business: it hands frames
//! and the time to `simple_switch::Switch` and carries away what comes out, as the twin does in virtual time.
//!
//! The loop's thread takes the lock once for a batch of frames, not for each, and hands it over in between, so that a control
//! call waits for one batch at most. It never waits for anything but frames, time and control calls.
//!
//! Ports are those of Linux, behind the feature `ports`. Without it, and on any other system, there are [`LoopLock`] and
//! [`PacketIns`], which a switch in virtual time shares with its callers as well.

#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", feature = "ports"))]
mod clock;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod engine;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod error;
mod loop_lock;
mod packet_ins;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod run;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod shared;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod switch;

#[cfg(all(target_os = "linux", feature = "ports"))]
pub use error::LiveError;
pub use loop_lock::LoopLock;
pub use packet_ins::{PacketIns, PACKET_IN_LIMIT};
#[cfg(all(target_os = "linux", feature = "ports"))]
pub use switch::{LiveConfig, LiveCounts, LiveSwitch, PortDefaults, Ports};

#[cfg(all(doctest, target_os = "linux", feature = "ports"))]
#[doc = include_str!("../README.md")]
struct Readme;
