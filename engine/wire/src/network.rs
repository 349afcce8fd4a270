//! The network layer of a frame, after Ethernet and VLAN tags.

use crate::{ethernet, ipv4, ipv6, vlan, Error};

/// Maximum number of VLAN tags before the network header.
const MAX_VLAN_TAGS: usize = 2;

/// The network header of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Network<'a> {
    /// IPv4.
    Ipv4(ipv4::Packet<'a>),
    /// IPv6.
    Ipv6(ipv6::Packet<'a>),
    /// Anything else (ARP, LLDP, ...), named by its EtherType.
    Other(u16),
}

impl<'a> Network<'a> {
    /// Returns the network header of `frame`, after at most two VLAN tags.
    #[inline]
    pub fn of(frame: &'a [u8]) -> Result<Self, Error> {
        let ethernet = ethernet::Frame::new_checked(frame)?;
        let (mut ethertype, mut payload) = (ethernet.ethertype(), ethernet.payload());
        for _ in 0..MAX_VLAN_TAGS {
            if !matches!(ethertype, ethernet::ETHERTYPE_VLAN | ethernet::ETHERTYPE_SERVICE_VLAN) {
                break;
            }
            let tag = vlan::Tag::new_checked(payload)?;
            (ethertype, payload) = (tag.ethertype(), tag.payload());
        }
        Ok(match ethertype {
            ethernet::ETHERTYPE_IPV4 => Self::Ipv4(ipv4::Packet::new_checked(payload)?),
            ethernet::ETHERTYPE_IPV6 => Self::Ipv6(ipv6::Packet::new_checked(payload)?),
            other => Self::Other(other),
        })
    }

    /// Returns the DSCP (RFC 2474); `None` if the packet is not IP.
    #[inline]
    pub fn dscp(&self) -> Option<u8> {
        match self {
            Self::Ipv4(packet) => Some(packet.dscp()),
            Self::Ipv6(packet) => Some(packet.dscp()),
            Self::Other(_) => None,
        }
    }

    /// Returns the ECN codepoint; `None` if the packet is not IP.
    #[inline]
    pub fn ecn(&self) -> Option<Ecn> {
        match self {
            Self::Ipv4(packet) => Some(Ecn::from_bits(packet.ecn_bits())),
            Self::Ipv6(packet) => Some(Ecn::from_bits(packet.ecn_bits())),
            Self::Other(_) => None,
        }
    }
}

/// ECN codepoint (RFC 3168, 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecn {
    /// Not ECN-capable.
    NotEct,
    /// ECN-capable; for L4S senders (RFC 9331).
    Ect1,
    /// ECN-capable.
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Returns the codepoint of the lowest two bits.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns the two bits.
    pub fn bits(self) -> u8 {
        match self {
            Self::NotEct => 0b00,
            Self::Ect1 => 0b01,
            Self::Ect0 => 0b10,
            Self::Ce => 0b11,
        }
    }
}

/// Returns the ECN codepoint of a frame; `None` if it carries no intact IP header.
#[inline]
pub fn ecn(frame: &[u8]) -> Option<Ecn> {
    Network::of(frame).ok()?.ecn()
}
