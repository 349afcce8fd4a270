//! The 5-tuple of a frame.

use std::net::IpAddr;

use crate::{tcp, udp, Network};

/// The 5-tuple that identifies a flow. Ports are zero where the protocol has none or a fragment does not carry them.
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
    /// The 5-tuple of `frame`; `None` when it carries no intact IP header.
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
