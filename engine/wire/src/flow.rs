//! The 5-tuple of a frame.

use std::net::IpAddr;

use crate::{be16, tcp, udp, Ip, Network};

/// The 5-tuple that identifies a flow. Ports are zero if the protocol has none or a fragment does not carry them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiveTuple {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IP protocol, or the IPv6 next header.
    pub protocol: u8,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl FiveTuple {
    /// Returns the 5-tuple of a frame that may be cut off after the ports, the first four bytes of the transport header.
    pub fn of_beginning(frame: &[u8]) -> Option<Self> {
        let has_ports = |protocol, payload: &[u8]| {
            matches!(protocol, tcp::PROTOCOL | udp::PROTOCOL) && payload.len() >= 4
        };
        Self::read(frame, has_ports)
    }

    /// Returns the 5-tuple of `frame`; `None` if it carries no intact IP header.
    pub fn of(frame: &[u8]) -> Option<Self> {
        Self::read(frame, |protocol, payload| match protocol {
            tcp::PROTOCOL => tcp::Segment::new_checked(payload).is_some(),
            udp::PROTOCOL => udp::Datagram::new_checked(payload).is_some(),
            _ => false,
        })
    }

    /// Reads the 5-tuple of `frame`. `has_ports` decides whether the payload of an unfragmented packet begins with ports.
    fn read(frame: &[u8], has_ports: impl Fn(u8, &[u8]) -> bool) -> Option<Self> {
        let Ip { source, destination, protocol, payload, is_fragment, .. } = Network::of(frame)?.ip()?;
        let (source_port, destination_port) = if !is_fragment && has_ports(protocol, payload) {
            (be16(payload, 0), be16(payload, 2))
        } else {
            (0, 0)
        };
        Some(Self { source, destination, protocol, source_port, destination_port })
    }
}
