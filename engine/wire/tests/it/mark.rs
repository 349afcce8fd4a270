//! Marks and DSCPs that are set in a frame, and its checksum afterwards.

use wire::build::{tcp_headers, Addresses, TcpFields};
use wire::{ecn, mark_ce, set_dscp, set_ect0, Ecn, Network};

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
            let Some(Network::Ipv4(packet)) = Network::of(&marked) else { panic!("still IPv4") };
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
