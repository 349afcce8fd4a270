//! Zero-copy views of the headers that the fabric carries: Ethernet, VLAN, IPv4, IPv6, TCP, UDP.
//!
//! A view borrows bytes. Its constructor `new_checked` checks every length in the header's fixed part, and returns `None`
//! where the bytes cannot be that header.
//! **No accessor panics after `new_checked` has succeeded**, whatever the bytes are. A length that points beyond
//! the captured bytes (an IP total length of a snapped frame) is returned as written; the slice of that length is
//! clipped.
//!
//! On top of the views: [`classify`] returns the class of a frame (an independent check of the P4 program), [`ecn`] its
//! ECN codepoint, [`FiveTuple::of`] its flow; [`build`] writes whole frames.
//!
//! Not included: sockets, reassembly, IPv6 extension headers (a packet with one is of class `other`).

#![forbid(unsafe_code)]

pub mod build;
pub mod checksum;
mod class;
pub mod ethernet;
mod flow;
pub mod ipv4;
pub mod ipv6;
mod mark;
mod network;
pub mod tcp;
pub mod tcp_options;
pub mod udp;

pub use class::{classify, classify_snapped, PacketClass};
pub use flow::FiveTuple;
pub use mark::{mark_ce, set_dscp, set_ect0};
pub use network::{ecn, Ecn, Ip, Network};

/// Returns two bytes of `data` at `at` in network order. The caller checks the length.
#[inline]
fn be16(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

/// Returns four bytes of `data` at `at` in network order. The caller checks the length.
#[inline]
fn be32(data: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
