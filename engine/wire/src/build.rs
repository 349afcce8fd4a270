//! Builds whole frames from their fields, with correct lengths and checksums. The views can read every frame that is built here;
//! damaged frames cannot be built.

use std::net::{IpAddr, Ipv4Addr};

use crate::ethernet::{MacAddress, ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use crate::tcp_options::Options;
use crate::{checksum, ipv4, tcp, tcp_options, udp, Ecn};

/// Shortest Ethernet frame without its FCS (IEEE 802.3, 4.2.3.3).
pub const MIN_FRAME_LEN: usize = 60;
/// Maximum number of bytes before the payload of a TCP frame: Ethernet, IPv6, TCP with all its options.
const MAX_TCP_HEADERS_LEN: usize = 14 + 40 + tcp::MIN_HEADER_LEN + tcp_options::MAX_LEN;
/// TTL and hop limit of built packets (recommended in RFC 1340).
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
    /// Destination IP address, of the same version as the source.
    pub destination: IpAddr,
    /// ECN codepoint.
    pub ecn: Ecn,
}

/// The TCP part of a frame to be built.
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
    /// The AE flag, which precedes them in the header (RFC 9768, 3).
    pub ae: bool,
    /// Receive window.
    pub window: u16,
    /// Options.
    pub options: Options,
}

/// Returns a TCP frame, padded to Ethernet's minimum length.
///
/// # Panics
/// If the addresses are of different IP versions, or the packet exceeds 65 535 bytes: errors of the caller.
pub fn tcp(addresses: &Addresses, fields: &TcpFields, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(MAX_TCP_HEADERS_LEN + payload.len());
    tcp_into(&mut frame, addresses, fields, payload, payload.len());
    frame.extend_from_slice(payload);
    frame.resize(frame.len().max(MIN_FRAME_LEN), 0);
    frame
}

/// Writes the headers of a TCP frame whose payload is `payload_len` zeros into `frame`, with correct lengths and checksums.
/// Replaces the contents of `frame` and omits the payload. Returns the frame's length, padded to Ethernet's minimum.
///
/// # Panics
/// As [`tcp()`].
pub fn tcp_headers(
    frame: &mut Vec<u8>,
    addresses: &Addresses,
    fields: &TcpFields,
    payload_len: usize,
) -> usize {
    frame.clear();
    tcp_into(frame, addresses, fields, &[], payload_len);
    (frame.len() + payload_len).max(MIN_FRAME_LEN)
}

/// Appends the headers of a frame with `payload`, followed by zeros up to `payload_len`.
fn tcp_into(
    frame: &mut Vec<u8>,
    addresses: &Addresses,
    fields: &TcpFields,
    payload: &[u8],
    payload_len: usize,
) {
    let mut header = [0; tcp::MIN_HEADER_LEN + tcp_options::MAX_LEN];
    let header_len = tcp::MIN_HEADER_LEN + fields.options.header_len();
    let header = &mut header[..header_len];
    header[0..2].copy_from_slice(&fields.source_port.to_be_bytes());
    header[2..4].copy_from_slice(&fields.destination_port.to_be_bytes());
    header[4..8].copy_from_slice(&fields.sequence.to_be_bytes());
    header[8..12].copy_from_slice(&fields.acknowledgement.to_be_bytes());
    header[12] = (header_len as u8 / 4) << 4 | u8::from(fields.ae);
    header[13] = fields.flags;
    header[14..16].copy_from_slice(&fields.window.to_be_bytes());
    fields.options.write(&mut header[tcp::MIN_HEADER_LEN..]);
    let len = header_len + payload_len;
    let sum = pseudo_header_sum(addresses, tcp::PROTOCOL, len);
    let sum = checksum::finish(checksum::sum(checksum::sum(sum, header), payload));
    header[16..18].copy_from_slice(&sum.to_be_bytes());
    ip_headers(frame, addresses, tcp::PROTOCOL, len);
    frame.extend_from_slice(header);
}

/// Returns a UDP frame, padded to Ethernet's minimum length.
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
    // RFC 768: a checksum of zero is sent as all ones, because zero means "no checksum".
    let pseudo = pseudo_header_sum(addresses, udp::PROTOCOL, datagram.len());
    let sum = match checksum::finish(checksum::sum(pseudo, &datagram)) {
        0 => 0xffff,
        sum => sum,
    };
    datagram[6..8].copy_from_slice(&sum.to_be_bytes());
    let mut frame = Vec::with_capacity(54 + datagram.len());
    ip_headers(&mut frame, addresses, udp::PROTOCOL, datagram.len());
    frame.extend_from_slice(&datagram);
    frame.resize(frame.len().max(MIN_FRAME_LEN), 0);
    frame
}

/// Appends the Ethernet and IP headers of a packet with `len` bytes of `protocol`.
fn ip_headers(frame: &mut Vec<u8>, addresses: &Addresses, protocol: u8, len: usize) {
    frame.extend_from_slice(&addresses.destination_mac);
    frame.extend_from_slice(&addresses.source_mac);
    match (addresses.source, addresses.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            frame.extend_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
            let total = u16::try_from(ipv4::MIN_HEADER_LEN + len);
            let total = total.expect("an IPv4 packet has at most 65535 bytes");
            frame.extend_from_slice(&ipv4_header(source, destination, protocol, addresses.ecn, total));
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            frame.extend_from_slice(&ETHERTYPE_IPV6.to_be_bytes());
            let len = u16::try_from(len).expect("an IPv6 payload has at most 65535 bytes");
            frame.extend_from_slice(&[0x60, addresses.ecn.bits() << 4, 0, 0]);
            frame.extend_from_slice(&len.to_be_bytes());
            frame.extend_from_slice(&[protocol, TTL]);
            frame.extend_from_slice(&source.octets());
            frame.extend_from_slice(&destination.octets());
        }
        _ => panic!("source and destination must be of one IP version"),
    }
}

fn ipv4_header(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, ecn: Ecn, total: u16) -> [u8; 20] {
    let mut header = [0; ipv4::MIN_HEADER_LEN];
    header[0] = 0x45;
    header[1] = ecn.bits();
    header[2..4].copy_from_slice(&total.to_be_bytes());
    header[6] = 0x40; // Don't fragment, for TCP's path MTU discovery (RFC 1191).
    header[8] = TTL;
    header[9] = protocol;
    header[12..16].copy_from_slice(&source.octets());
    header[16..20].copy_from_slice(&destination.octets());
    let sum = checksum::internet(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// Returns the running sum over the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1) of `len` bytes of `protocol`.
fn pseudo_header_sum(addresses: &Addresses, protocol: u8, len: usize) -> u32 {
    let mut sum = 0;
    for address in [addresses.source, addresses.destination] {
        sum = match address {
            IpAddr::V4(address) => checksum::sum(sum, &address.octets()),
            IpAddr::V6(address) => checksum::sum(sum, &address.octets()),
        };
    }
    sum = checksum::sum(sum, &[0, protocol]);
    checksum::sum(sum, &(len as u32).to_be_bytes())
}
