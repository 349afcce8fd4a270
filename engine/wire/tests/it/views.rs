//! The views and the classification on top of them: reading of built frames, the definition of the classes, checksums. Arbitrary
//! bytes are read by the fuzz target `wire`, which each run of the tests replays.

use std::net::IpAddr;

use wire::build::{self, Addresses, TcpFields};
use wire::tcp::{ACK, CWR, ECE, FIN, PSH, RST, SYN};
use wire::tcp_options::{Options, Timestamps};
use wire::{checksum, classify, classify_snapped, ecn, tcp, udp, Ecn, FiveTuple, Network, PacketClass};

fn v4(ecn: Ecn) -> Addresses {
    Addresses {
        source_mac: [2, 0, 0, 0, 1, 1],
        destination_mac: [2, 1, 0, 0, 0, 1],
        source: IpAddr::from([10, 0, 1, 1]),
        destination: IpAddr::from([10, 0, 2, 1]),
        ecn,
    }
}

fn v6(ecn: Ecn) -> Addresses {
    Addresses {
        source: "fd00:0:0:1::1".parse().unwrap(),
        destination: "fd00:0:0:2::1".parse().unwrap(),
        ..v4(ecn)
    }
}

fn segment(addresses: &Addresses, flags: u8, payload: &[u8]) -> Vec<u8> {
    build::tcp(
        addresses,
        &TcpFields { source_port: 5, destination_port: 6, flags, ..TcpFields::default() },
        payload,
    )
}

/// Corrects the IPv4 header checksum of an untagged frame.
fn fix_checksum(frame: &mut [u8]) {
    let end = 14 + usize::from(frame[14] & 0x0f) * 4;
    frame[24..26].fill(0);
    let sum = checksum::internet(&frame[14..end]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
}

#[test]
fn every_class_is_told_by_flags_and_payload_on_both_ip_versions() {
    for addresses in [v4(Ecn::NotEct), v6(Ecn::NotEct)] {
        for (flags, payload, class) in [
            (ACK, 100, PacketClass::Data),
            (ACK | PSH | ECE, 1, PacketClass::Data),
            (0, 1, PacketClass::Data),
            (ACK, 0, PacketClass::Ack),
            (ACK | CWR, 0, PacketClass::Ack),
            (ACK | ECE, 0, PacketClass::AckEce),
            (SYN, 0, PacketClass::Syn),
            (SYN | ECE | CWR, 0, PacketClass::Syn),
            (SYN | ACK | ECE, 0, PacketClass::SynAck),
            (FIN | ACK, 0, PacketClass::FinRst),
            (FIN | ACK, 10, PacketClass::FinRst),
            (RST, 0, PacketClass::FinRst),
            (0, 0, PacketClass::Other),
        ] {
            let frame = segment(&addresses, flags, &vec![0; payload]);
            assert_eq!(classify(&frame), class, "flags {flags:#04x}, {payload} bytes of payload");
        }
        assert_eq!(classify(&build::udp(&addresses, 1, 2, b"x")), PacketClass::Other);
    }
}

#[test]
fn padding_of_a_short_frame_is_not_payload() {
    let frame = segment(&v4(Ecn::NotEct), ACK, &[]);
    assert_eq!(frame.len(), build::MIN_FRAME_LEN);
    assert_eq!(classify(&frame), PacketClass::Ack);
}

#[test]
fn a_snapped_frame_keeps_its_class_because_lengths_come_from_the_headers() {
    let frame = segment(&v4(Ecn::NotEct), ACK, &[0; 1000]);
    assert_eq!(classify_snapped(&frame[..54], frame.len()), PacketClass::Data);
    assert_eq!(classify_snapped(&frame[..53], frame.len()), PacketClass::Other);
    assert_eq!(classify(&frame[..54]), PacketClass::Other, "shorter than its IP packet");
}

#[test]
fn a_vlan_tag_is_looked_through() {
    let plain = segment(&v4(Ecn::Ce), ACK, &[0; 10]);
    let mut tagged = plain[..12].to_vec();
    tagged.extend_from_slice(&[0x81, 0x00, 0x60, 0x2a]);
    tagged.extend_from_slice(&plain[12..]);
    assert_eq!(classify(&tagged), PacketClass::Data);
    assert_eq!(ecn(&tagged), Some(Ecn::Ce));
}

#[test]
fn ipv4_options_are_skipped_and_fragments_are_other() {
    let plain = segment(&v4(Ecn::NotEct), SYN, &[]);
    let mut long = plain[..34].to_vec();
    long.extend_from_slice(&[1; 8]); // Eight no-operation options.
    long.extend_from_slice(&plain[34..]);
    long[14] = 0x47;
    long[17] += 8;
    fix_checksum(&mut long);
    assert_eq!(classify(&long), PacketClass::Syn);
    let mut fragment = plain.clone();
    fragment[20] = 0x20; // More fragments.
    fix_checksum(&mut fragment);
    assert_eq!(classify(&fragment), PacketClass::Other);
    fragment[20..22].copy_from_slice(&[0x00, 0x01]); // Second part.
    fix_checksum(&mut fragment);
    assert_eq!(classify(&fragment), PacketClass::Other);
    assert_eq!(FiveTuple::of(&fragment).unwrap().source_port, 0);
}

#[test]
fn lengths_that_contradict_each_other_are_other() {
    let mut frame = segment(&v4(Ecn::NotEct), ACK, &[]);
    frame[16..18].copy_from_slice(&39_u16.to_be_bytes()); // Less than 20 of IP and 20 of TCP.
    fix_checksum(&mut frame);
    assert_eq!(classify(&frame), PacketClass::Other);
    frame[16..18].copy_from_slice(&19_u16.to_be_bytes()); // Less than the IP header itself.
    fix_checksum(&mut frame);
    assert_eq!(classify(&frame), PacketClass::Other);
}

#[test]
fn a_wrong_header_checksum_makes_a_packet_other() {
    let mut frame = segment(&v4(Ecn::NotEct), ACK, &[]);
    frame[24] ^= 1;
    assert_eq!(classify(&frame), PacketClass::Other);
    fix_checksum(&mut frame);
    assert_eq!(classify(&frame), PacketClass::Ack);
}

#[test]
fn built_frames_read_back_with_right_checksums() {
    let fields = TcpFields {
        source_port: 40_000,
        destination_port: 50_010,
        sequence: 0x0102_0304,
        acknowledgement: 0xf0f0_0001,
        flags: ACK | PSH,
        window: 4096,
        ..TcpFields::default()
    };
    let frame = build::tcp(&v4(Ecn::Ect0), &fields, b"shuffle");
    let Network::Ipv4(packet) = Network::of(&frame).unwrap() else { panic!("not IPv4") };
    assert!(packet.checksum_ok());
    assert_eq!((packet.header_len(), packet.total_len(), frame[22]), (20, 47, 64));
    let segment = tcp::Segment::new_checked(packet.payload()).unwrap();
    assert_eq!(segment.source_port(), 40_000);
    assert_eq!(segment.sequence(), 0x0102_0304);
    assert_eq!(segment.acknowledgement(), 0xf0f0_0001);
    assert_eq!(segment.window(), 4096);
    assert_eq!(segment.payload(), b"shuffle");
    // The pseudo header's sum plus a segment that contains its own checksum is zero.
    let mut pseudo = vec![10, 0, 1, 1, 10, 0, 2, 1, 0, 6, 0, 27];
    pseudo.extend_from_slice(packet.payload());
    assert_eq!(checksum::internet(&pseudo), 0);
}

#[test]
fn headers_for_a_payload_of_zeros_are_those_of_the_whole_frame() {
    let timestamps = Some(Timestamps { value: 0xffff_0001, echo_reply: 7 });
    let options = Options { timestamps, mss: Some(1460), sack_permitted: true, ..Options::default() };
    for addresses in [v4(Ecn::Ect0), v6(Ecn::Ce)] {
        for (payload_len, options) in [(0, Options::default()), (0, options), (3, options), (1448, options)] {
            let fields = TcpFields { source_port: 9, flags: ACK, options, ..TcpFields::default() };
            let whole = build::tcp(&addresses, &fields, &vec![0; payload_len]);
            let mut headers = vec![1, 2, 3];
            let len = build::tcp_headers(&mut headers, &addresses, &fields, payload_len);
            assert_eq!(len, whole.len());
            headers.resize(len, 0);
            assert_eq!(headers, whole);
            let ip = Network::of(&whole).unwrap().ip().unwrap();
            let segment = tcp::Segment::new_checked(ip.payload).unwrap();
            assert_eq!(Options::parse(segment.options()), options);
        }
    }
}

#[test]
fn a_five_tuple_names_the_flow() {
    let frame = build::udp(&v6(Ecn::Ect1), 7, 9, b"probe");
    let flow = FiveTuple::of(&frame).unwrap();
    assert_eq!((flow.protocol, flow.source_port, flow.destination_port), (udp::PROTOCOL, 7, 9));
    assert_eq!(flow.destination, "fd00:0:0:2::1".parse::<IpAddr>().unwrap());
    assert_eq!(ecn(&frame), Some(Ecn::Ect1));
}

#[test]
fn the_example_of_rfc_1071_section_3() {
    assert_eq!(checksum::internet(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
}

#[test]
fn an_odd_last_byte_counts_as_the_high_half() {
    assert_eq!(checksum::internet(&[0x12, 0x34, 0x56]), !(0x1234 + 0x5600));
}

#[test]
fn carries_of_a_long_run_fold_back() {
    // 0xffff is zero in one's complement arithmetic, so adding it repeatedly changes nothing.
    assert_eq!(checksum::internet(&[0xff; 65_536]), 0);
}
