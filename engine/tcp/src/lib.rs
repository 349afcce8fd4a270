//! TCP endpoints without I/O. Inputs are time, segments and the application's calls; outputs are segments and the next timer.
//!
//! Read RFC 9293 first; the comments below cite its sections. A [`Connection`] is one end of one connection. Its calls are of
//! four kinds:
//!
//! * the application's actions: [`Connection::connect`], [`Connection::listen`], [`Connection::send`], [`Connection::read`],
//!   [`Connection::close`], [`Connection::abort`];
//! * events: [`Connection::handle_segment`], [`Connection::handle_timeout`];
//! * outputs: after any of the above, [`Connection::poll_transmit`] until it returns `None`, then [`Connection::next_timeout`];
//! * queries: all others.
//!
//! A payload is a length without bytes: [`Segment`] contains the length, and `wire` builds a frame from it. Time never runs
//! backwards. This crate reads no clock and no random source; the caller supplies the initial sequence number. The memory of a
//! connection is bounded, whatever the peer sends. Without loss, nothing is allocated after the start.
//!
//! ```
//! use tcp::{Config, Connection};
//! use units::Time;
//!
//! let settings = "dctcp".parse::<Config>()?.check()?;
//! let mut client = Connection::connect(&settings, 1_000);
//! let mut server = Connection::listen(&settings, 2_000);
//! client.send(100_000)?;
//! client.close();
//! let now = Time::ZERO;
//! loop {
//!     let (to_server, to_client) = (client.poll_transmit(now), server.poll_transmit(now));
//!     if to_server.is_none() && to_client.is_none() {
//!         break;
//!     }
//!     to_server.inspect(|segment| server.handle_segment(now, segment));
//!     to_client.inspect(|segment| client.handle_segment(now, segment));
//! }
//! assert_eq!(server.bytes_received(), 100_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod accecn;
mod config;
pub mod congestion;
mod connection;
mod ecn;
mod handshake;
mod hystart;
mod output;
mod pacing;
mod peer_window;
mod rack;
mod ranges;
mod receiver;
mod recovery;
mod repair;
mod rtt;
mod segment;
mod sender;
mod space;
mod spurious;
mod stats;

pub use config::{
    Algorithm, Config, ConfigError, DctcpEct, DelayedAck, HyStart, Settings, MAX_WINDOW, NAMES,
};
pub use connection::{Connection, End, SendError, State};
pub use segment::Segment;
pub use stats::Stats;
