//! The network layer of a frame, after Ethernet and VLAN tags.

use std::net::IpAddr;

use crate::{be16, ethernet, ipv4, ipv6};

/// Maximum number of VLAN tags before the network header.
const MAX_VLAN_TAGS: usize = 2;
/// Bytes of a VLAN tag after its EtherType (IEEE 802.1Q, 9.6); the last two are the next EtherType.
const VLAN_TAG_LEN: usize = 4;

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
    /// Returns the network header of `frame`, after at most two VLAN tags; `None` if a header is cut off or contradicts itself.
    #[inline]
    pub fn of(frame: &'a [u8]) -> Option<Self> {
        let ethernet = ethernet::Frame::new_checked(frame)?;
        let (mut ethertype, mut payload) = (ethernet.ethertype(), ethernet.payload());
        for _ in 0..MAX_VLAN_TAGS {
            if !matches!(ethertype, ethernet::ETHERTYPE_VLAN | ethernet::ETHERTYPE_SERVICE_VLAN) {
                break;
            }
            let (tag, rest) = payload.split_at_checked(VLAN_TAG_LEN)?;
            (ethertype, payload) = (be16(tag, 2), rest);
        }
        Some(match ethertype {
            ethernet::ETHERTYPE_IPV4 => Self::Ipv4(ipv4::Packet::new_checked(payload)?),
            ethernet::ETHERTYPE_IPV6 => Self::Ipv6(ipv6::Packet::new_checked(payload)?),
            other => Self::Other(other),
        })
    }

    /// Returns the fields that both IP versions have; `None` if the packet is not IP.
    #[inline]
    pub fn ip(&self) -> Option<Ip<'a>> {
        match self {
            Self::Ipv4(packet) => Some(Ip {
                source: packet.source().into(),
                destination: packet.destination().into(),
                protocol: packet.protocol(),
                is_fragment: packet.is_fragment(),
                payload: packet.payload(),
                payload_len: packet.payload_len(),
            }),
            Self::Ipv6(packet) => Some(Ip {
                source: packet.source().into(),
                destination: packet.destination().into(),
                protocol: packet.next_header(),
                is_fragment: false,
                payload: packet.payload(),
                payload_len: Some(packet.payload_len()),
            }),
            Self::Other(_) => None,
        }
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

/// The fields of an IP packet that both versions have.
#[derive(Clone, Copy, Debug)]
pub struct Ip<'a> {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IP protocol, or the IPv6 next header.
    pub protocol: u8,
    /// Whether this is a fragment (IPv4).
    pub is_fragment: bool,
    /// The captured payload.
    pub payload: &'a [u8],
    /// The payload's length, as stated in the header; `None` if the header contradicts itself.
    pub payload_len: Option<usize>,
}

impl<'a> Ip<'a> {
    /// Returns the captured payload if the packet carries this protocol, unfragmented.
    #[inline]
    pub fn payload_of(&self, protocol: u8) -> Option<&'a [u8]> {
        (self.protocol == protocol && !self.is_fragment).then_some(self.payload)
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
    Network::of(frame)?.ecn()
}
