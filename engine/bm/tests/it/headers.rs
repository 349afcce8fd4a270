//! Parser, deparser and checksums, on `headers.p4`.

use crate::harness::{ethernet, Bench};

const JSON: &[u8] = include_bytes!("../programs/headers.json");

/// Computes RFC 1071's checksum over 16-bit words, independently of the engine.
fn checksum(data: &[u8]) -> u16 {
    let mut sum: u32 =
        data.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0))).sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Returns an IPv4 header from 10.0.0.1 to 10.0.0.2 with these options.
fn ipv4(options: &[u8], protocol: u8, payload: usize) -> Vec<u8> {
    let length = 20 + options.len();
    let mut header = vec![0x40 | (length / 4) as u8, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0];
    header[2..4].copy_from_slice(&((length + payload) as u16).to_be_bytes());
    header.extend_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    header.extend_from_slice(options);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

fn frame(options: &[u8], protocol: u8, payload: &[u8]) -> Vec<u8> {
    [ethernet(2, 1, 0x0800), ipv4(options, protocol, payload.len()), payload.to_vec()].concat()
}

fn error(bench: &Bench, name: &str) -> u32 {
    bench.program.error_code(name).unwrap()
}

#[test]
fn a_packet_comes_out_as_it_went_in_but_for_its_ttl_and_checksum() {
    let mut bench = Bench::new(JSON);
    let frame = frame(&[], 6, b"payload");
    assert_eq!(bench.parse(&frame), 0);
    assert!(bench.checksums_hold());
    bench.run("ingress").unwrap();
    let out = bench.deparse();
    let mut expected = frame.clone();
    expected[22] = 63;
    expected[24..26].copy_from_slice(&[0, 0]);
    let sum = checksum(&expected[14..34]);
    expected[24..26].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(out, expected);
}

#[test]
fn ipv4_options_are_kept_and_covered_by_the_checksum() {
    let mut bench = Bench::new(JSON);
    let frame = frame(&[0x94, 4, 0, 0, 1, 1, 1, 0], 6, b"x");
    assert_eq!(bench.parse(&frame), 0);
    assert!(bench.checksums_hold());
    assert_eq!(bench.get("options", "$valid$"), 1);
    bench.run("ingress").unwrap();
    let out = bench.deparse();
    assert_eq!(out[34..42], frame[34..42]);
    assert_eq!(checksum(&out[14..42]), 0);
}

#[test]
fn a_wrong_checksum_does_not_hold() {
    let mut bench = Bench::new(JSON);
    let mut frame = frame(&[], 6, b"");
    frame[24] ^= 1;
    assert_eq!(bench.parse(&frame), 0);
    assert!(!bench.checksums_hold());
}

#[test]
fn a_checksum_over_the_payload_covers_its_odd_last_byte() {
    let mut bench = Bench::new(JSON);
    let udp = [0x10, 0, 0x20, 0, 0, 11, 0, 0, b'a', b'b', b'c'];
    assert_eq!(bench.parse(&frame(&[], 17, &udp)), 0);
    bench.run("ingress").unwrap();
    let out = bench.deparse();
    let pseudo = [&[10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 11][..], &out[34..]].concat();
    assert_eq!(checksum(&pseudo), 0);
}

#[test]
fn a_frame_that_ends_inside_a_header_is_too_short() {
    let mut bench = Bench::new(JSON);
    let frame = frame(&[], 6, b"");
    for length in 15..34 {
        assert_eq!(bench.parse(&frame[..length]), error(&bench, "PacketTooShort"), "{length} bytes");
        assert_eq!(bench.get("ipv4", "$valid$"), 0);
        assert_eq!(bench.phv.payload_offset(), 14);
    }
    assert_eq!(bench.parse(&frame[..13]), error(&bench, "PacketTooShort"));
    assert_eq!(bench.parse(&[]), error(&bench, "PacketTooShort"));
}

#[test]
fn options_that_end_beyond_the_frame_are_too_short() {
    let mut bench = Bench::new(JSON);
    let frame = frame(&[1, 1, 1, 0], 6, b"");
    assert_eq!(bench.parse(&frame[..36]), error(&bench, "PacketTooShort"));
}

#[test]
fn verify_raises_the_programs_own_error() {
    let mut bench = Bench::new(JSON);
    let mut frame = frame(&[], 6, b"");
    frame[14] = 0x65;
    assert_eq!(bench.parse(&frame), error(&bench, "OddVersion"));
    frame[14] = 0x44;
    assert_eq!(bench.parse(&frame), error(&bench, "HeaderTooShort"));
}

fn mpls(label: u32, bottom: bool) -> [u8; 4] {
    (label << 12 | u32::from(bottom) << 8 | 7).to_be_bytes()
}

#[test]
fn a_stack_is_filled_by_a_loop_and_popped_from_the_front() {
    let mut bench = Bench::new(JSON);
    let labels = [mpls(100, false), mpls(200, true)].concat();
    let frame = [ethernet(2, 1, 0x8847), labels, ipv4(&[], 6, 0)].concat();
    assert_eq!(bench.parse(&frame), 0);
    assert_eq!((bench.get("mpls[0]", "label"), bench.get("mpls[1]", "label")), (100, 200));
    bench.run("ingress").unwrap();
    let out = bench.deparse();
    assert_eq!(out[14..18], mpls(200, true));
    assert_eq!(out.len(), frame.len() - 4);
}

#[test]
fn a_stack_that_is_full_is_a_parser_error() {
    let mut bench = Bench::new(JSON);
    let labels = [mpls(1, false), mpls(2, false), mpls(3, false), mpls(4, true)].concat();
    let frame = [ethernet(2, 1, 0x8847), labels].concat();
    assert_eq!(bench.parse(&frame), error(&bench, "StackOutOfBounds"));
}

#[test]
fn a_value_set_decides_where_the_parser_goes() {
    let mut bench = Bench::new(JSON);
    let frame = ethernet(2, 1, 0x88f7);
    let egress = |bench: &mut Bench| {
        assert_eq!(bench.parse(&frame), 0);
        bench.run("ingress").unwrap();
        bench.get("standard_metadata", "egress_spec")
    };
    assert_eq!(egress(&mut bench), 1);
    bench.state.parse_vset_add("parse.known_types", &[0x88, 0xf7]).unwrap();
    assert_eq!(bench.state.parse_vset_get("parse.known_types").unwrap(), [[0x88, 0xf7]]);
    assert_eq!(egress(&mut bench), 2);
    bench.state.parse_vset_remove("parse.known_types", &[0x88, 0xf7]).unwrap();
    assert_eq!(egress(&mut bench), 1);
}

#[test]
fn nothing_of_a_packet_is_left_for_the_next() {
    let mut bench = Bench::new(JSON);
    bench.parse(&frame(&[1, 1, 1, 0], 17, &[0; 8]));
    bench.parse(&ethernet(2, 1, 0x9999));
    for header in ["ipv4", "options", "udp"] {
        assert_eq!(bench.get(header, "$valid$"), 0);
    }
    assert_eq!(bench.get("ipv4", "src"), 0);
}
