//! The 5-tuple of a frame.

use std::net::IpAddr;

use crate::{be16, tcp, udp, Network};

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
        let mut tuple = Self::of(frame)?;
        let (payload, is_fragment) = match Network::of(frame).ok()? {
            Network::Ipv4(packet) => (packet.payload(), packet.is_fragment()),
            Network::Ipv6(packet) => (packet.payload(), false),
            Network::Other(_) => return None,
        };
        let has_ports = matches!(tuple.protocol, tcp::PROTOCOL | udp::PROTOCOL) && !is_fragment;
        if has_ports && payload.len() >= 4 {
            (tuple.source_port, tuple.destination_port) = (be16(payload, 0), be16(payload, 2));
        }
        Some(tuple)
    }

    /// Returns the 5-tuple of `frame`; `None` if it carries no intact IP header.
    pub fn of(frame: &[u8]) -> Option<Self> {
        let (source, destination, protocol, payload, fragment) = match Network::of(frame).ok()? {
            Network::Ipv4(p) => {
                (p.source().into(), p.destination().into(), p.protocol(), p.payload(), p.is_fragment())
            }
            Network::Ipv6(p) => {
                (p.source().into(), p.destination().into(), p.next_header(), p.payload(), false)
            }
            Network::Other(_) => return None,
        };
        let ports = match protocol {
            _ if fragment => None,
            tcp::PROTOCOL => {
                tcp::Segment::new_checked(payload).ok().map(|s| (s.source_port(), s.destination_port()))
            }
            udp::PROTOCOL => {
                udp::Datagram::new_checked(payload).ok().map(|d| (d.source_port(), d.destination_port()))
            }
            _ => None,
        };
        let (source_port, destination_port) = ports.unwrap_or_default();
        Some(Self { source, destination, protocol, source_port, destination_port })
    }
}
