//! The observed properties of a frame.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::net::IpAddr;

use wire::{classify_snapped, Ecn, Network, PacketClass};

/// Number of bytes that identify a packet: the longest IPv4 and TCP headers together have 120.
const IDENTITY_BYTES: usize = 128;

/// One observed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The same for a packet at every place. Packets have equal identities if they agree in everything that switches leave unchanged: addresses,
    /// IP identification, ports, sequence numbers, checksum of the payload, length. ECN bits, TTL and IPv4 checksum are excluded.
    pub identity: u64,
    /// Its packet class.
    pub class: PacketClass,
    /// Whether it carries CE.
    pub is_ce: bool,
    /// Its destination.
    pub destination: IpAddr,
}

impl Observation {
    /// Returns the observation of a frame of `length` bytes, of which `captured` are available; `None` if it is not IP.
    pub fn of(captured: &[u8], length: usize) -> Option<Self> {
        let mut packet = [0; IDENTITY_BYTES];
        let (used, destination, ecn) = match Network::of(captured)? {
            Network::Ipv4(found) => {
                let used = copy(&mut packet, found.as_bytes(), found.total_len().into());
                packet[1] &= !0b11;
                packet[8] = 0;
                packet[10..12].fill(0);
                (used, found.destination().into(), Ecn::from_bits(found.ecn_bits()))
            }
            Network::Ipv6(found) => {
                let length = wire::ipv6::HEADER_LEN + found.payload_len();
                let used = copy(&mut packet, found.as_bytes(), length);
                // The two bits are in the middle of the second byte (RFC 8200, 3).
                packet[1] &= !0b11_0000;
                packet[7] = 0;
                (used, found.destination().into(), Ecn::from_bits(found.ecn_bits()))
            }
            Network::Other(_) => return None,
        };
        // A hash with fixed keys: the same frames give the same numbers in every run.
        let identity = BuildHasherDefault::<DefaultHasher>::default().hash_one(&packet[..used]);
        Some(Self {
            identity,
            class: classify_snapped(captured, length.max(captured.len())),
            is_ce: ecn == Ecn::Ce,
            destination,
        })
    }
}

/// Copies the bytes of the packet itself, without the link's padding. Returns their number.
fn copy(to: &mut [u8; IDENTITY_BYTES], from: &[u8], length: usize) -> usize {
    let used = from.len().min(length).min(to.len());
    to[..used].copy_from_slice(&from[..used]);
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(number: u8) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        frame.extend([0x45, 0x02, 0, 28, 0, number, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, 7, 0, 9, 0, 8, 0, 0]);
        frame
    }

    #[test]
    fn a_packet_is_itself_after_a_switch_has_routed_marked_and_padded_it() {
        let sent = ipv4(1);
        let mut seen = sent.clone();
        seen[0..12].fill(9);
        seen[15] = 0x03;
        seen[22] = 62;
        seen[24..26].copy_from_slice(&[1, 2]);
        seen.resize(60, 0);
        let (before, after) =
            (Observation::of(&sent, sent.len()).unwrap(), Observation::of(&seen, 60).unwrap());
        assert_eq!(before.identity, after.identity);
        assert!(!before.is_ce);
        assert!(after.is_ce);
        assert_eq!(after.destination, IpAddr::from([10, 0, 0, 2]));
    }

    #[test]
    fn packets_that_differ_in_identification_are_two_and_dscp_is_no_switchs_to_change() {
        let (first, mut other) = (ipv4(1), ipv4(2));
        assert_ne!(
            Observation::of(&first, 42).unwrap().identity,
            Observation::of(&other, 42).unwrap().identity
        );
        other[19] = 1;
        other[15] |= 0x10;
        assert_ne!(
            Observation::of(&first, 42).unwrap().identity,
            Observation::of(&other, 42).unwrap().identity
        );
    }

    #[test]
    fn an_ipv6_packet_is_itself_with_another_hop_limit_and_a_mark() {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
        frame.extend([0x60, 0x20, 0, 5, 0, 8, 17, 64]);
        frame.extend([0xfd; 32]);
        frame.extend([0, 7, 0, 9, 0, 8, 0, 0]);
        let mut seen = frame.clone();
        seen[15] = 0x30;
        seen[21] = 61;
        let (before, after) = (Observation::of(&frame, 62).unwrap(), Observation::of(&seen, 62).unwrap());
        assert_eq!(before.identity, after.identity);
        assert_eq!((before.is_ce, after.is_ce), (false, true));
        seen[17] = 6;
        assert_ne!(before.identity, Observation::of(&seen, 62).unwrap().identity);
    }

    #[test]
    fn what_is_not_ip_is_not_looked_at() {
        assert_eq!(Observation::of(&[0; 60], 60), None);
        assert_eq!(Observation::of(&[0; 5], 5), None);
    }
}
