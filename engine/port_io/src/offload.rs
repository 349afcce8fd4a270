//! Work that a sender left to a NIC, which a virtual link lacks: partial checksums and GSO super-frames. Works on bytes only.
//!
//! With PACKET_VNET_HDR the kernel puts a `virtio_net_hdr` in front of each frame, which describes the missing parts (virtio 1.2,
//! 5.1.6.2). A checksum is completed in place. A TCP or UDP super-frame is split into the frames that a NIC would have sent; one
//! inside a tunnel is refused, because its outer headers would have to be changed as well.

use wire::checksum;
use wire::ethernet::HEADER_LEN as ETHERNET_BYTES;
use wire::tcp::{CWR, FIN, PSH};

/// Length of the kernel's `struct virtio_net_hdr`.
pub const VNET_HEADER_BYTES: usize = 10;

const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
/// A flag beside the type: only the first segment carries CWR (RFC 3168 6.1.2).
const GSO_ECN: u8 = 0x80;

/// The decoded kernel header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    flags: u8,
    gso_type: u8,
    gso_size: u16,
    csum_start: u16,
    csum_offset: u16,
}

impl VnetHeader {
    /// Decodes the header; its fields have the machine's byte order.
    pub fn parse(bytes: &[u8; VNET_HEADER_BYTES]) -> Self {
        let half = |place: usize| u16::from_ne_bytes([bytes[place], bytes[place + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            gso_size: half(4),
            csum_start: half(6),
            csum_offset: half(8),
        }
    }

    /// Returns whether the frame needs no further work.
    pub fn is_complete(&self) -> bool {
        self.flags & NEEDS_CSUM == 0 && self.gso_type == GSO_NONE
    }

    /// Returns whether the frame stands for several frames.
    pub fn is_super_frame(&self) -> bool {
        self.gso_type != GSO_NONE
    }
}

/// Completes the checksum that `header` describes. Returns false if its position is outside the frame.
#[must_use]
pub fn complete_checksum(header: &VnetHeader, frame: &mut [u8]) -> bool {
    if header.flags & NEEDS_CSUM == 0 {
        return true;
    }
    let (start, offset) = (usize::from(header.csum_start), usize::from(header.csum_offset));
    let place = start + offset;
    if start > frame.len() || place + 2 > frame.len() {
        return false;
    }
    // The field contains the sum of the pseudo-header, so the sum includes the field. UDP writes 0 as 0xffff (RFC 768);
    // for TCP the two are equivalent.
    let sum = checksum::internet(&frame[start..]);
    put(frame, place, if sum == 0 { 0xffff } else { sum });
    true
}

/// Splits a super-frame into its frames, and builds each in `scratch`. Returns false without any output if it is not
/// plain TCP or UDP over IPv4 or IPv6, with or without VLAN tags.
#[must_use]
pub fn segment(
    header: &VnetHeader,
    frame: &[u8],
    scratch: &mut Vec<u8>,
    emit: &mut dyn FnMut(&[u8]),
) -> bool {
    let Some(layout) = Layout::of(header, frame) else { return false };
    let (headers, payload) = frame.split_at(layout.payload);
    let size = usize::from(header.gso_size);
    let count = payload.len().div_ceil(size).max(1);
    for index in 0..count {
        let part = &payload[(index * size).min(payload.len())..((index + 1) * size).min(payload.len())];
        scratch.clear();
        scratch.extend_from_slice(headers);
        scratch.extend_from_slice(part);
        layout.finish(scratch, index, index + 1 == count, size);
        emit(scratch);
    }
    true
}

/// The offsets of a super-frame's headers.
struct Layout {
    ip: usize,
    transport: usize,
    payload: usize,
    is_ipv6: bool,
    is_tcp: bool,
}

impl Layout {
    fn of(header: &VnetHeader, frame: &[u8]) -> Option<Self> {
        let kind = header.gso_type & !GSO_ECN;
        if header.gso_size == 0 || header.flags & NEEDS_CSUM == 0 {
            return None;
        }
        let mut ip = ETHERNET_BYTES;
        let mut ether_type = frame.get(12..14)?;
        while matches!(ether_type, [0x81, 0x00] | [0x88, 0xa8]) {
            ether_type = frame.get(ip + 2..ip + 4)?;
            ip += 4;
        }
        let version = frame.get(ip)? >> 4;
        let (is_ipv6, transport) = match (ether_type, version) {
            ([0x08, 0x00], 4) => (false, ip + usize::from(frame[ip] & 0xf) * 4),
            // Packets with extension headers are refused; the kernel segments them itself.
            ([0x86, 0xdd], 6) => (true, ip + 40),
            _ => return None,
        };
        let is_tcp = match (kind, is_ipv6) {
            (GSO_TCPV4, false) | (GSO_TCPV6, true) => true,
            (GSO_UDP_L4, _) => false,
            _ => return None,
        };
        // Inside a tunnel the checksum belongs to the inner headers.
        let minimum = if is_ipv6 { 40 } else { 20 };
        if transport != usize::from(header.csum_start) || transport < ip + minimum {
            return None;
        }
        let payload = if is_tcp {
            let length = usize::from(frame.get(transport + 12)? >> 4) * 4;
            (length >= 20).then_some(transport + length)?
        } else {
            transport + wire::udp::HEADER_LEN
        };
        (payload <= frame.len()).then_some(Self { ip, transport, payload, is_ipv6, is_tcp })
    }

    /// Corrects the headers of segment `index`, which so far are those of the super-frame, for the segment's own payload.
    fn finish(&self, frame: &mut [u8], index: usize, is_last: bool, size: usize) {
        let ip_length = frame.len() - self.ip;
        let transport_length = frame.len() - self.transport;
        if self.is_ipv6 {
            put(frame, self.ip + 4, (ip_length - 40) as u16);
        } else {
            put(frame, self.ip + 2, ip_length as u16);
            let id = u16::from_be_bytes([frame[self.ip + 4], frame[self.ip + 5]]);
            put(frame, self.ip + 4, id.wrapping_add(index as u16));
            put(frame, self.ip + 10, 0);
            let sum = checksum::internet(&frame[self.ip..self.transport]);
            put(frame, self.ip + 10, sum);
        }
        let checksum = if self.is_tcp {
            let place = self.transport + 4;
            let sequence = [frame[place], frame[place + 1], frame[place + 2], frame[place + 3]];
            let sequence = u32::from_be_bytes(sequence).wrapping_add((index * size) as u32);
            frame[place..place + 4].copy_from_slice(&sequence.to_be_bytes());
            let flags = &mut frame[self.transport + 13];
            if !is_last {
                *flags &= !(FIN | PSH);
            }
            if index > 0 {
                *flags &= !CWR;
            }
            self.transport + 16
        } else {
            put(frame, self.transport + 4, transport_length as u16);
            self.transport + 6
        };
        put(frame, checksum, 0);
        let pseudo = self.pseudo_header(frame, transport_length);
        let sum = checksum::finish(checksum::sum(pseudo, &frame[self.transport..]));
        put(frame, checksum, if sum == 0 { 0xffff } else { sum });
    }

    fn pseudo_header(&self, frame: &[u8], transport_length: usize) -> u32 {
        let addresses = if self.is_ipv6 { self.ip + 8..self.ip + 40 } else { self.ip + 12..self.ip + 20 };
        let protocol = if self.is_tcp { 6 } else { 17 };
        checksum::sum(protocol + transport_length as u32, &frame[addresses])
    }
}

fn put(frame: &mut [u8], place: usize, value: u16) {
    frame[place..place + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a TCP frame as the kernel delivers a super-frame: with the pseudo-header's sum in the checksum field.
    fn tcp(vlan: bool, ipv6: bool, payload: &[u8], flags: u8) -> (VnetHeader, Vec<u8>) {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        if vlan {
            frame.extend([0x81, 0, 0, 42]);
        }
        frame.extend(if ipv6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        if ipv6 {
            frame.extend([0x60, 0, 0, 0, 0, 0, 6, 64]);
            frame.extend([7; 32]);
        } else {
            frame.extend([0x45, 0, 0, 0, 0, 9, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        }
        let transport = frame.len();
        frame.extend([0, 80, 0, 90, 0, 0, 1, 0, 0, 0, 0, 0, 0x50, flags, 1, 1, 0, 0, 0, 0]);
        frame.extend_from_slice(payload);
        let header = VnetHeader {
            flags: NEEDS_CSUM,
            gso_type: if ipv6 { GSO_TCPV6 } else { GSO_TCPV4 },
            gso_size: 4,
            csum_start: transport as u16,
            csum_offset: 16,
        };
        (header, frame)
    }

    fn segments(header: &VnetHeader, frame: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut out = Vec::new();
        segment(header, frame, &mut Vec::new(), &mut |part| out.push(part.to_vec())).then_some(out)
    }

    /// Returns whether a receiver would accept the checksums of an IPv4 TCP frame without options at `ip`.
    fn checksums_hold(frame: &[u8], ip: usize) -> bool {
        let pseudo = checksum::sum(6 + (frame.len() - ip - 20) as u32, &frame[ip + 12..ip + 20]);
        let segment = checksum::finish(checksum::sum(pseudo, &frame[ip + 20..]));
        (checksum::internet(&frame[ip..ip + 20]), segment) == (0, 0)
    }

    #[test]
    fn a_tcp_super_frame_becomes_frames_that_a_receiver_takes() {
        for vlan in [false, true] {
            let (header, frame) = tcp(vlan, false, b"abcdefghij", FIN | PSH | CWR | 0x10);
            let out = segments(&header, &frame).unwrap();
            let ip = if vlan { 18 } else { 14 };
            let field =
                |index: usize, place: usize, length: usize| out[index][ip + place..][..length].to_vec();
            assert_eq!(out.len(), 3);
            assert_eq!(
                out.iter().map(|part| &part[ip + 40..]).collect::<Vec<_>>(),
                [&b"abcd"[..], b"efgh", b"ij"]
            );
            assert_eq!([0, 1, 2].map(|i| field(i, 2, 2)), [[0, 44], [0, 44], [0, 42]], "total length");
            assert_eq!([0, 1, 2].map(|i| field(i, 4, 2)), [[0, 9], [0, 10], [0, 11]], "identification");
            assert_eq!(
                [0, 1, 2].map(|i| field(i, 24, 4)),
                [[0, 0, 1, 0], [0, 0, 1, 4], [0, 0, 1, 8]],
                "sequence number"
            );
            assert_eq!(
                [0, 1, 2].map(|i| out[i][ip + 33]),
                [0x10 | CWR, 0x10, 0x10 | FIN | PSH],
                "CWR on the first, FIN and PSH on the last"
            );
            assert!(out.iter().all(|part| checksums_hold(part, ip)));
        }
    }

    #[test]
    fn an_ipv6_super_frame_gets_its_payload_lengths() {
        let (header, frame) = tcp(false, true, b"abcdef", 0x10);
        let out = segments(&header, &frame).unwrap();
        assert_eq!(out.iter().map(|part| part[18..20].to_vec()).collect::<Vec<_>>(), [[0, 24], [0, 22]]);
    }

    #[test]
    fn super_frames_that_are_not_plain_tcp_or_udp_are_refused() {
        let (header, frame) = tcp(false, false, b"abcdefghij", 0x10);
        assert_eq!(segments(&VnetHeader { csum_start: 54, ..header }, &frame), None, "inside a tunnel");
        assert_eq!(segments(&VnetHeader { gso_type: 3, ..header }, &frame), None, "UDP fragmentation");
        assert_eq!(segments(&VnetHeader { gso_size: 0, ..header }, &frame), None, "no size");
        assert_eq!(segments(&header, &frame[..30]), None, "cut short");
    }

    #[test]
    fn a_partial_checksum_is_completed() {
        let (header, mut frame) = tcp(false, false, b"odd", 0x10);
        let header = VnetHeader { gso_type: GSO_NONE, gso_size: 0, ..header };
        let length = frame.len() as u16 - 14;
        put(&mut frame, 16, length);
        let sum = checksum::internet(&frame[14..34]);
        put(&mut frame, 24, sum);
        let pseudo = checksum::sum(6 + u32::from(length) - 20, &frame[26..34]);
        put(&mut frame, 50, pseudo as u16);
        assert!(!checksums_hold(&frame, 14));
        assert!(complete_checksum(&header, &mut frame));
        assert!(checksums_hold(&frame, 14));
    }

    #[test]
    fn a_checksum_outside_the_frame_is_refused() {
        let header =
            VnetHeader { flags: NEEDS_CSUM, csum_start: 60, csum_offset: 16, ..VnetHeader::default() };
        assert!(!complete_checksum(&header, &mut [0; 64]));
        assert!(!complete_checksum(&header, &mut [0; 20]));
    }
}
