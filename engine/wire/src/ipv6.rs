//! IPv6's fixed header (RFC 8200, 3). Extension headers are not parsed: the first one is the next header.

use std::net::Ipv6Addr;

use crate::be16;

/// Bytes of the fixed header.
pub const HEADER_LEN: usize = 40;

/// A view of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a>(&'a [u8]);

impl<'a> Packet<'a> {
    /// Returns the view, if the data contain the fixed header, and its version is 6.
    #[inline]
    pub fn new_checked(data: &'a [u8]) -> Option<Self> {
        (data.len() >= HEADER_LEN && data[0] >> 4 == 6).then_some(Self(data))
    }

    /// Returns all the available bytes, regardless of the header's payload length.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Returns the DSCP.
    #[inline]
    pub fn dscp(&self) -> u8 {
        (self.0[0] & 0b1111) << 2 | self.0[1] >> 6
    }

    /// Returns the two ECN bits of the traffic class.
    #[inline]
    pub fn ecn_bits(&self) -> u8 {
        (self.0[1] >> 4) & 0b11
    }

    /// Returns the number of bytes after the fixed header, as stated in it.
    #[inline]
    pub fn payload_len(&self) -> usize {
        be16(self.0, 4).into()
    }

    /// Returns the protocol after the fixed header: a transport protocol or an extension header.
    #[inline]
    pub fn next_header(&self) -> u8 {
        self.0[6]
    }

    /// Returns the source address.
    pub fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.address(8))
    }

    /// Returns the destination address.
    pub fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.address(24))
    }

    fn address(&self, at: usize) -> [u8; 16] {
        let mut address = [0; 16];
        address.copy_from_slice(&self.0[at..at + 16]);
        address
    }

    /// Returns the payload, as long as the payload length states, clipped to the available bytes.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let end = (HEADER_LEN + self.payload_len()).min(self.0.len());
        &self.0[HEADER_LEN..end]
    }
}
