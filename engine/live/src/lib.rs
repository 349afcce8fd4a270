//! A `simple_switch` in real time: one thread between ports (`port_io`), the clock and control calls from other threads.
//!
//! [`LiveSwitch`] is the whole interface. What a switch does with a packet is none of this crate's business: it hands frames
//! and the time to `simple_switch::Switch` and carries away what comes out, as the twin does in virtual time.
//!
//! The loop's thread takes the lock once for a batch of frames, not for each, and hands it over in between, so that a control
//! call waits for one batch at most. It never waits for anything but frames, time and control calls.

#![forbid(unsafe_code)]

mod clock;
mod engine;
mod error;
mod loop_lock;
mod packet_ins;
mod run;
mod shared;
mod switch;

pub use error::LiveError;
pub use loop_lock::LoopLock;
pub use packet_ins::{PacketIns, PACKET_IN_LIMIT};
pub use switch::{LiveConfig, LiveCounts, LiveSwitch, PortDefaults, Ports};
