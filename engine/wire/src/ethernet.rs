//! Ethernet II (IEEE 802.3, clause 3), without the FCS: frames in the fabric have none.

use crate::be16;

/// Bytes of the header.
pub const HEADER_LEN: usize = 14;
/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;
/// EtherType of a customer VLAN tag (IEEE 802.1Q).
pub const ETHERTYPE_VLAN: u16 = 0x8100;
/// EtherType of a service VLAN tag (IEEE 802.1ad).
pub const ETHERTYPE_SERVICE_VLAN: u16 = 0x88a8;

/// A MAC address.
pub type MacAddress = [u8; 6];

/// A view of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a>(&'a [u8]);

impl<'a> Frame<'a> {
    /// Returns the view, if the data contain the header.
    #[inline]
    pub fn new_checked(data: &'a [u8]) -> Option<Self> {
        (data.len() >= HEADER_LEN).then_some(Self(data))
    }

    /// Returns the destination address.
    pub fn destination(&self) -> MacAddress {
        [self.0[0], self.0[1], self.0[2], self.0[3], self.0[4], self.0[5]]
    }

    /// Returns the source address.
    pub fn source(&self) -> MacAddress {
        [self.0[6], self.0[7], self.0[8], self.0[9], self.0[10], self.0[11]]
    }

    /// Returns the EtherType, which names the protocol of the payload.
    #[inline]
    pub fn ethertype(&self) -> u16 {
        be16(self.0, 12)
    }

    /// Returns the bytes after the header.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}
