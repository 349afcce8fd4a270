//! IPv4 with options (RFC 791, 3.1; ECN RFC 3168, 5).

use std::net::Ipv4Addr;

use crate::{be16, checksum};

/// Bytes of the header without options.
pub const MIN_HEADER_LEN: usize = 20;

/// A view of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a>(&'a [u8]);

impl<'a> Packet<'a> {
    /// Returns the view, if the version is 4, and the data contain the header with its options.
    #[inline]
    pub fn new_checked(data: &'a [u8]) -> Option<Self> {
        let packet = Self(data);
        let has_header = data.len() >= MIN_HEADER_LEN && data[0] >> 4 == 4;
        let is_whole = || (MIN_HEADER_LEN..=data.len()).contains(&packet.header_len());
        (has_header && is_whole()).then_some(packet)
    }

    /// Returns all the available bytes, regardless of the header's lengths.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Returns the length of the header with its options, in bytes.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.0[0] & 0x0f) * 4
    }

    /// Returns the DSCP.
    #[inline]
    pub fn dscp(&self) -> u8 {
        self.0[1] >> 2
    }

    /// Returns the two ECN bits.
    #[inline]
    pub fn ecn_bits(&self) -> u8 {
        self.0[1] & 0b11
    }

    /// Returns the length of header and payload in bytes, as stated in the header.
    #[inline]
    pub fn total_len(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns whether this is a fragment: the more-fragments flag is set, or the offset is not zero.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        be16(self.0, 6) & 0x3fff != 0
    }

    /// Returns the protocol of the payload.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.0[9]
    }

    /// Returns whether the header checksum is correct.
    pub fn checksum_ok(&self) -> bool {
        checksum::internet(&self.0[..self.header_len()]) == 0
    }

    /// Returns the source address.
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::new(self.0[12], self.0[13], self.0[14], self.0[15])
    }

    /// Returns the destination address.
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::new(self.0[16], self.0[17], self.0[18], self.0[19])
    }

    /// Returns the payload's length in bytes, as stated in the header; `None` if the total length is less than the header's.
    #[inline]
    pub fn payload_len(&self) -> Option<usize> {
        usize::from(self.total_len()).checked_sub(self.header_len())
    }

    /// Returns the payload, as long as the total length states, clipped to the available bytes. It excludes link padding.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let end = usize::from(self.total_len()).clamp(self.header_len(), self.0.len());
        &self.0[self.header_len()..end]
    }
}
