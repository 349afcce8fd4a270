//! Sets the ECN codepoint or the DSCP of a packet, as a switch, a queueing discipline or a NIC does.

use crate::network::{Ecn, Network};

const ECN_BITS: u8 = 0b11;

/// Sets CE in an ECT packet and updates the IPv4 header's checksum (RFC 1624, 3). Returns whether the packet was ECT.
/// Other packets, and all other fields, stay unchanged.
pub fn mark_ce(frame: &mut [u8]) -> bool {
    let is_ect = |class: u8| class & ECN_BITS == Ecn::Ect0.bits() || class & ECN_BITS == Ecn::Ect1.bits();
    rewrite(frame, |class| is_ect(class).then_some(class | ECN_BITS))
}

/// Sets ECT(0) in a packet that is not ECT. Returns whether it did; other packets stay unchanged.
pub fn set_ect0(frame: &mut [u8]) -> bool {
    rewrite(frame, |class| (class & ECN_BITS == 0).then_some(class | Ecn::Ect0.bits()))
}

/// Sets the DSCP (RFC 2474) to the lower six bits of `dscp`. Returns whether the frame is an IP packet.
pub fn set_dscp(frame: &mut [u8], dscp: u8) -> bool {
    rewrite(frame, |class| Some(dscp << 2 | class & ECN_BITS))
}

/// Replaces the traffic class with the result of `change`, and updates the IPv4 header's checksum. Returns whether it did.
fn rewrite(frame: &mut [u8], change: impl FnOnce(u8) -> Option<u8>) -> bool {
    let Some(network) = Network::of(frame) else { return false };
    let room = match network {
        Network::Ipv4(packet) => packet.as_bytes().len(),
        Network::Ipv6(packet) => packet.as_bytes().len(),
        Network::Other(_) => return false,
    };
    let is_ipv4 = matches!(network, Network::Ipv4(_));
    let start = frame.len() - room;
    let header = &mut frame[start..];
    if is_ipv4 {
        let Some(class) = change(header[1]) else { return false };
        let before = u16::from_be_bytes([header[0], header[1]]);
        header[1] = class;
        let after = u16::from_be_bytes([header[0], header[1]]);
        let checksum = u16::from_be_bytes([header[10], header[11]]);
        let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
        header[10..12].copy_from_slice(&crate::checksum::finish(sum).to_be_bytes());
    } else {
        // The traffic class spans the first two bytes.
        let Some(class) = change(header[0] << 4 | header[1] >> 4) else { return false };
        header[0] = header[0] & 0xF0 | class >> 4;
        header[1] = header[1] & 0x0F | class << 4;
    }
    true
}
