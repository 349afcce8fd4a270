//! Setting CE, as a switch or a queueing discipline does.

use crate::network::{Ecn, Network};

/// Sets CE in an ECT packet and updates the IPv4 header's checksum (RFC 1624, 3). Nothing else changes. Whether the packet was
/// ECT: another one is left as it is.
pub fn mark_ce(frame: &mut [u8]) -> bool {
    let Ok(network) = Network::of(frame) else { return false };
    if !matches!(network.ecn(), Some(Ecn::Ect0 | Ecn::Ect1)) {
        return false;
    }
    let room = match network {
        Network::Ipv4(packet) => packet.as_bytes().len(),
        Network::Ipv6(packet) => packet.as_bytes().len(),
        Network::Other(_) => return false,
    };
    let is_ipv4 = matches!(network, Network::Ipv4(_));
    let start = frame.len() - room;
    let header = &mut frame[start..];
    if is_ipv4 {
        let before = u16::from_be_bytes([header[0], header[1]]);
        header[1] |= 0b11;
        let after = u16::from_be_bytes([header[0], header[1]]);
        let checksum = u16::from_be_bytes([header[10], header[11]]);
        let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
        header[10..12].copy_from_slice(&crate::checksum::finish(sum).to_be_bytes());
    } else {
        // The traffic class lies across the first two bytes; its two lowest bits are in the second.
        header[1] |= 0b11 << 4;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::mark_ce;
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
}
