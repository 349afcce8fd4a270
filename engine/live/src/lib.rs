//! A `simple_switch` in real time: one thread between ports (`port_io`), the clock and control calls from other threads.
//!
//! [`LiveSwitch`] is the whole interface. This crate does not process packets: it passes frames and the time to
//! `simple_switch::Switch` and carries away the output, as the twin does in virtual time.
//!
//! The loop's thread takes the lock once per batch of frames, and releases it in between, so a control call waits for
//! one batch at most. The thread waits only for frames, time and control calls.
//!
//! The ports are Linux interfaces, behind the feature `ports`. Without it, and on other systems, the crate contains
//! only [`LoopLock`] with its [`Turns`] and [`Mailbox`], which a switch in virtual time also shares with its callers.

#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", feature = "ports"))]
mod clock;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod engine;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod error;
mod loop_lock;
mod mailbox;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod run;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod shared;
#[cfg(all(target_os = "linux", feature = "ports"))]
mod switch;

#[cfg(all(target_os = "linux", feature = "ports"))]
pub use error::LiveError;
pub use loop_lock::{LoopLock, Turns};
pub use mailbox::{Mailbox, PacketIns, PACKET_IN_LIMIT};
#[cfg(all(target_os = "linux", feature = "ports"))]
pub use switch::{LiveConfig, LiveCounts, LiveSwitch, PortDefaults, Ports};

#[cfg(all(doctest, target_os = "linux", feature = "ports"))]
#[doc = include_str!("../README.md")]
struct Readme;
