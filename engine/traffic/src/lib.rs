//! A trace through switches in real time: frames leave hosts' interfaces at their times, and what arrives is compared with them.
//!
//! * [`observation`]: what is observed of a frame: which packet it is, although switches have changed parts of it. Pure
//! * [`packet_log`]: what was sent and what arrived, joined: counts and latencies by class. Pure
//! * [`playback`]: the loop between clock and sockets
//!
//! It knows no switch: the switches know what dropped a packet, or marked it.

pub mod observation;
pub mod packet_log;
pub mod playback;

pub use packet_log::{PacketLog, Report};
pub use playback::{Frame, HostEnd, Playback, PlaybackError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
