//! Parser, deparser and checksums, on `headers.p4`: what the recordings of BMv2 in `simple_switch` do not show.

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

pub fn frame(options: &[u8], protocol: u8, payload: &[u8]) -> Vec<u8> {
    [ethernet(2, 1, 0x0800), ipv4(options, protocol, payload.len()), payload.to_vec()].concat()
}

fn error(bench: &Bench, name: &str) -> u32 {
    bench.program.error_code(name).unwrap()
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
fn verify_raises_the_programs_own_error() {
    let mut bench = Bench::new(JSON);
    let mut frame = frame(&[], 6, b"");
    frame[14] = 0x65;
    assert_eq!(bench.parse(&frame), error(&bench, "OddVersion"));
    frame[14] = 0x44;
    assert_eq!(bench.parse(&frame), error(&bench, "HeaderTooShort"));
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
