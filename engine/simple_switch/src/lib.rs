//! BMv2's `simple_switch` around `bm`: v1model's packet path, traffic manager, replication, recirculation, port gate.
//!
//! A [`Switch`] reads no clock, file, socket or random source. The caller passes the time with each call and a seed
//! with the configuration, so the same calls give the same bytes. Real time and virtual time are two short loops over
//! the same four calls:
//!
//! * [`Switch::handle_packet`]: a frame has arrived on a port;
//! * [`Switch::next_wakeup`]: the time of the switch's next own event;
//! * [`Switch::handle_wakeup`]: that time has come;
//! * [`Switch::poll_transmit`]: the next frame to send.
//!
//! `docs/p4/behaviour.md` describes where it follows BMv2 and where it differs.

#![forbid(unsafe_code)]

mod agenda;
mod clock;
mod config;
mod effects;
mod frame;
pub mod hops;
mod journey;
mod limits;
mod mirroring;
mod packet;
mod pre;
mod round_robin;
mod stats;
mod switch;
mod traffic_manager;
mod unread;
mod v1model;

pub use config::{ConfigError, PortConfig, Quanta, SwitchConfig, MAX_PRIORITIES, PORT_COUNT};
pub use frame::Frame;
pub use journey::{Journey, Ran, Step, What, MAX_STEPS};
pub use limits::{INSTANT_COPIES, INSTANT_LIMIT, MAX_FRAME_BYTES, MAX_PACKETS, MAX_STORED_BYTES};
pub use mirroring::MirroringSession;
pub use pre::{Node, NodeHandle, Pre, Replica};
pub use stats::{DropCause, Drops, PortStats, SwitchStats};
pub use switch::{Savepoint, StateGuard, Switch, Transmit};
pub use unread::Digest;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
