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
    let Ok(network) = Network::of(frame) else { return false };
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

#[cfg(test)]
mod tests {
    use super::{mark_ce, set_dscp, set_ect0};
    use crate::build::{tcp_headers, Addresses, TcpFields};
    use crate::{ecn, Ecn, Network};

    fn frame(source: &str, destination: &str, ecn: Ecn) -> Vec<u8> {
        let addresses = Addresses {
            source_mac: [2, 0, 0, 0, 0, 1],
            destination_mac: [2, 0, 0, 0, 0, 2],
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            ecn,
        };
        let mut frame = Vec::new();
        tcp_headers(&mut frame, &addresses, &TcpFields::default(), 100);
        frame
    }

    #[test]
    fn an_ect_packet_is_marked_and_its_checksum_stays_right() {
        for last in 0..=255_u8 {
            for codepoint in [Ecn::Ect0, Ecn::Ect1] {
                let mut marked = frame(&format!("10.0.{last}.1"), "10.0.0.2", codepoint);
                assert!(mark_ce(&mut marked));
                assert_eq!(ecn(&marked), Some(Ecn::Ce));
                let Ok(Network::Ipv4(packet)) = Network::of(&marked) else { panic!("still IPv4") };
                assert!(packet.checksum_ok());
            }
        }
        let mut marked = frame("fd00::1", "fd00::2", Ecn::Ect0);
        assert!(mark_ce(&mut marked));
        assert_eq!(marked, frame("fd00::1", "fd00::2", Ecn::Ce));
    }

    #[test]
    fn other_packets_are_left_as_they_are() {
        for codepoint in [Ecn::NotEct, Ecn::Ce] {
            let mut same = frame("10.0.0.1", "10.0.0.2", codepoint);
            assert!(!mark_ce(&mut same));
            assert_eq!(same, frame("10.0.0.1", "10.0.0.2", codepoint));
        }
        assert!(!mark_ce(&mut [0; 10]));
    }
    #[test]
    fn ect0_is_set_where_nothing_is() {
        for (source, destination) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
            let mut changed = frame(source, destination, Ecn::NotEct);
            assert!(set_ect0(&mut changed));
            assert_eq!(changed, frame(source, destination, Ecn::Ect0));
            for codepoint in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                let mut same = frame(source, destination, codepoint);
                assert!(!set_ect0(&mut same));
                assert_eq!(same, frame(source, destination, codepoint));
            }
        }
    }

    #[test]
    fn a_dscp_is_set_and_the_codepoint_stays() {
        for (source, destination) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
            for dscp in 0..64 {
                let mut changed = frame(source, destination, Ecn::Ect1);
                assert!(set_dscp(&mut changed, 63) && set_dscp(&mut changed, dscp));
                let network = Network::of(&changed).unwrap();
                assert_eq!((network.dscp(), network.ecn()), (Some(dscp), Some(Ecn::Ect1)));
                if let Network::Ipv4(packet) = network {
                    assert!(packet.checksum_ok());
                }
                assert!(set_dscp(&mut changed, 0));
                assert_eq!(changed, frame(source, destination, Ecn::Ect1));
            }
        }
        assert!(!set_dscp(&mut [0; 60], 1));
    }
}
