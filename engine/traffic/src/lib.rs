//! Replays a trace through switches in real time: sends frames from hosts' interfaces at their times, and compares arrivals with them.
//!
//! * [`observation`]: the properties of an observed frame, including the identity of its packet after changes by switches. No I/O
//! * [`packet_log`]: joins sent and arrived packets: counts and latencies by class. No I/O
//! * [`playback`]: the loop between clock and sockets
//!
//! It knows no switch: only the switches know the causes of drops and marks.

pub mod observation;
pub mod packet_log;
pub mod playback;

pub use packet_log::{PacketLog, Report};
pub use playback::{Frame, HostEnd, Playback, PlaybackError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
