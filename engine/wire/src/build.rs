//! Whole frames from their fields, with right lengths and checksums. What is built here is read back by the
//! views; there is no way to build a damaged frame.

use std::net::{IpAddr, Ipv4Addr};

use crate::ethernet::{MacAddress, ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use crate::{checksum, ipv4, tcp, udp, Ecn};

/// Shortest Ethernet frame without its FCS (IEEE 802.3, 4.2.3.3).
pub const MIN_FRAME_LEN: usize = 60;
/// TTL and hop limit of built packets (RFC 1340's recommendation).
const TTL: u8 = 64;

/// The addresses and ECN codepoint of a frame to be built.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// Source MAC address.
    pub source_mac: MacAddress,
    /// Destination MAC address.
    pub destination_mac: MacAddress,
    /// Source IP address.
    pub source: IpAddr,
    /// Destination IP address; of the same version as the source.
    pub destination: IpAddr,
    /// ECN codepoint.
    pub ecn: Ecn,
}

/// The TCP part of a frame to be built, without options.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpFields {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags.
    pub flags: u8,
    /// Receive window.
    pub window: u16,
}

/// A TCP frame, padded to Ethernet's minimum.
///
/// # Panics
/// When the addresses are of two IP versions, or the packet exceeds 65 535 bytes: mistakes of the caller.
pub fn tcp(addresses: &Addresses, fields: &TcpFields, payload: &[u8]) -> Vec<u8> {
    let mut segment = Vec::with_capacity(tcp::MIN_HEADER_LEN + payload.len());
    segment.extend_from_slice(&fields.source_port.to_be_bytes());
    segment.extend_from_slice(&fields.destination_port.to_be_bytes());
    segment.extend_from_slice(&fields.sequence.to_be_bytes());
    segment.extend_from_slice(&fields.acknowledgement.to_be_bytes());
    segment.extend_from_slice(&[(tcp::MIN_HEADER_LEN as u8 / 4) << 4, fields.flags]);
    segment.extend_from_slice(&fields.window.to_be_bytes());
    segment.extend_from_slice(&[0; 4]);
    segment.extend_from_slice(payload);
    let sum = transport_checksum(addresses, tcp::PROTOCOL, &segment);
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    ip(addresses, tcp::PROTOCOL, &segment)
}

/// A UDP frame, padded to Ethernet's minimum.
///
/// # Panics
/// As [`tcp()`].
pub fn udp(addresses: &Addresses, source_port: u16, destination_port: u16, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(udp::HEADER_LEN + payload.len()).expect("a UDP datagram has at most 65535 bytes");
    let mut datagram = Vec::with_capacity(len.into());
    datagram.extend_from_slice(&source_port.to_be_bytes());
    datagram.extend_from_slice(&destination_port.to_be_bytes());
    datagram.extend_from_slice(&len.to_be_bytes());
    datagram.extend_from_slice(&[0; 2]);
    datagram.extend_from_slice(payload);
    // RFC 768: a computed zero is sent as all ones, because zero says that there is no checksum.
    let sum = match transport_checksum(addresses, udp::PROTOCOL, &datagram) {
        0 => 0xffff,
        sum => sum,
    };
    datagram[6..8].copy_from_slice(&sum.to_be_bytes());
    ip(addresses, udp::PROTOCOL, &datagram)
}

fn ip(addresses: &Addresses, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(54 + payload.len());
    frame.extend_from_slice(&addresses.destination_mac);
    frame.extend_from_slice(&addresses.source_mac);
    match (addresses.source, addresses.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            frame.extend_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
            let total = u16::try_from(ipv4::MIN_HEADER_LEN + payload.len());
            let total = total.expect("an IPv4 packet has at most 65535 bytes");
            frame.extend_from_slice(&ipv4_header(source, destination, protocol, addresses.ecn, total));
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            frame.extend_from_slice(&ETHERTYPE_IPV6.to_be_bytes());
            let len = u16::try_from(payload.len()).expect("an IPv6 payload has at most 65535 bytes");
            frame.extend_from_slice(&[0x60, addresses.ecn.bits() << 4, 0, 0]);
            frame.extend_from_slice(&len.to_be_bytes());
            frame.extend_from_slice(&[protocol, TTL]);
            frame.extend_from_slice(&source.octets());
            frame.extend_from_slice(&destination.octets());
        }
        _ => panic!("source and destination must be of one IP version"),
    }
    frame.extend_from_slice(payload);
    frame.resize(frame.len().max(MIN_FRAME_LEN), 0);
    frame
}

fn ipv4_header(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, ecn: Ecn, total: u16) -> [u8; 20] {
    let mut header = [0; ipv4::MIN_HEADER_LEN];
    header[0] = 0x45;
    header[1] = ecn.bits();
    header[2..4].copy_from_slice(&total.to_be_bytes());
    header[6] = 0x40; // Don't fragment, as TCP's path MTU discovery sends (RFC 1191).
    header[8] = TTL;
    header[9] = protocol;
    header[12..16].copy_from_slice(&source.octets());
    header[16..20].copy_from_slice(&destination.octets());
    let sum = checksum::internet(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// The checksum over the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1) and the segment.
fn transport_checksum(addresses: &Addresses, protocol: u8, segment: &[u8]) -> u16 {
    let mut sum = 0;
    for address in [addresses.source, addresses.destination] {
        sum = match address {
            IpAddr::V4(address) => checksum::sum(sum, &address.octets()),
            IpAddr::V6(address) => checksum::sum(sum, &address.octets()),
        };
    }
    sum = checksum::sum(sum, &[0, protocol]);
    sum = checksum::sum(sum, &(segment.len() as u32).to_be_bytes());
    checksum::finish(checksum::sum(sum, segment))
}
