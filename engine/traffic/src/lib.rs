//! A trace through switches in real time: frames leave hosts' interfaces at their times, and what arrives is held against them.
//!
//! * [`sight`]: what is seen of a frame: which packet it is, whatever switches have changed of it. Pure
//! * [`books`]: what was sent and what arrived, joined: counts and latencies by class. Pure
//! * [`playback`]: the loop between clock and sockets
//!
//! It knows no switch: what dropped a packet, or marked it, is for who asks the switches.

pub mod books;
pub mod playback;
pub mod sight;

pub use books::{Books, Report};
pub use playback::{Frame, HostEnd, Playback, PlaybackError};
