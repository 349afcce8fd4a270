//! DCQCN's notification point: congestion notification packets (CNPs) from the NIC of a flow's receiver to the flow's sender (Zhu et
//! al., SIGCOMM 2015, section 3.1).
//!
//! A packet that arrives with CE causes a CNP, unless one for its flow was sent less than an interval ago. The frame is RoCEv2's
//! (InfiniBand Architecture Specification, Annex A17: UDP port 4791, a base transport header with opcode 0x81, 16 reserved bytes,
//! ICRC). Hosts here have no queue pairs: the reserved bytes hold the flow's protocol and ports, and the ICRC is 0.

use std::collections::BTreeMap;

use units::{Duration, Time};
use wire::build::{self, Addresses};
use wire::{ethernet, udp, Ecn, FiveTuple, Network};

use crate::spec::NicDcqcnSpec;

const ROCE_PORT: u16 = 4_791;
const OPCODE: u8 = 0x81;
/// Base transport header: the partition key and BECN; no queue pair, no sequence number.
const HEADER: [u8; 12] = [OPCODE, 0, 0xFF, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0];
/// Offsets of the flow's protocol and ports in the UDP payload.
const PROTOCOL_AT: usize = HEADER.len();
const PORTS_AT: usize = PROTOCOL_AT + 4;
/// Includes the reserved bytes and the ICRC.
const PAYLOAD_BYTES: usize = HEADER.len() + 16 + 4;
/// Number of flows from which on those whose interval is over are removed.
const KEPT_FLOWS: usize = 1_024;

/// State and counts of the receiver's part of DCQCN.
pub(super) struct NotificationPoint {
    /// Minimum time between two CNPs about one flow.
    interval: Duration,
    /// The DSCP of CNPs.
    dscp: u8,
    /// Time of each flow's last CNP; flows whose interval is over may be missing.
    sent_at: BTreeMap<FiveTuple, Time>,
    forget_from: usize,
    /// Packets that arrived with CE.
    pub(super) marked: u64,
    /// CNPs sent.
    pub(super) sent: u64,
}

impl NotificationPoint {
    pub(super) fn new(dcqcn: &NicDcqcnSpec) -> Self {
        let (interval, dscp) = (Duration::from_ps(dcqcn.cnp_interval_ps), dcqcn.cnp_dscp);
        Self { interval, dscp, sent_at: BTreeMap::new(), forget_from: KEPT_FLOWS, marked: 0, sent: 0 }
    }

    /// Counts a packet that arrived with CE. Returns the CNP for its sender, if one is due.
    pub(super) fn marked(&mut self, now: Time, frame: &[u8]) -> Option<Vec<u8>> {
        self.marked += 1;
        let flow = FiveTuple::of_beginning(frame)?;
        let interval = self.interval;
        let is_due = |at: &Time| now.saturating_since(*at) >= interval;
        if !self.sent_at.get(&flow).is_none_or(is_due) {
            return None;
        }
        if self.sent_at.len() >= self.forget_from {
            self.sent_at.retain(|_, at| !is_due(at));
            self.forget_from = KEPT_FLOWS.max(2 * self.sent_at.len());
        }
        self.sent_at.insert(flow, now);
        self.sent += 1;
        cnp(frame, &flow, self.dscp)
    }
}

/// Returns the CNP about the flow of a frame, from the host that has received it.
fn cnp(frame: &[u8], flow: &FiveTuple, dscp: u8) -> Option<Vec<u8>> {
    let ethernet = ethernet::Frame::new_checked(frame)?;
    let addresses = Addresses {
        source_mac: ethernet.destination(),
        // The MAC address of the last switch, which routes by the IP address.
        destination_mac: ethernet.source(),
        source: flow.destination,
        destination: flow.source,
        ecn: Ecn::NotEct,
    };
    let mut payload = [0; PAYLOAD_BYTES];
    payload[..HEADER.len()].copy_from_slice(&HEADER);
    payload[PROTOCOL_AT] = flow.protocol;
    payload[PORTS_AT..PORTS_AT + 2].copy_from_slice(&flow.source_port.to_be_bytes());
    payload[PORTS_AT + 2..PORTS_AT + 4].copy_from_slice(&flow.destination_port.to_be_bytes());
    // From the dynamic range (RFC 6335, 6), and different for different flows, so that ECMP spreads CNPs.
    let source_port = 0xC000 | flow.source_port ^ flow.destination_port;
    let mut frame = build::udp(&addresses, source_port, ROCE_PORT, &payload);
    wire::set_dscp(&mut frame, dscp);
    Some(frame)
}

/// Returns `Some` if the frame is a CNP, with the flow that it names, or with `None` if the CNP is malformed.
pub(super) fn flow_of_cnp(frame: &[u8]) -> Option<Option<FiveTuple>> {
    let ip = Network::of(frame)?.ip()?;
    let datagram = udp::Datagram::new_checked(ip.payload_of(udp::PROTOCOL)?)?;
    let payload = datagram.payload();
    if datagram.destination_port() != ROCE_PORT || payload.first() != Some(&OPCODE) {
        return None;
    }
    if payload.len() < PAYLOAD_BYTES {
        return Some(None);
    }
    let port = |at: usize| u16::from_be_bytes([payload[at], payload[at + 1]]);
    Some(Some(FiveTuple {
        source: ip.destination,
        destination: ip.source,
        protocol: payload[PROTOCOL_AT],
        source_port: port(PORTS_AT),
        destination_port: port(PORTS_AT + 2),
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wire::build::TcpFields;

    use super::*;

    const INTERVAL_US: u64 = 50;

    fn point() -> NotificationPoint {
        NotificationPoint::new(&NicDcqcnSpec::default())
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn frame(source: &str, destination: &str, source_port: u16) -> Vec<u8> {
        let addresses = Addresses {
            source_mac: [2, 0, 0, 0, 0, 1],
            destination_mac: [2, 0, 0, 0, 0, 2],
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            ecn: Ecn::Ce,
        };
        let fields = TcpFields { source_port, destination_port: 5_000, ..TcpFields::default() };
        build::tcp(&addresses, &fields, &[0; 200])
    }

    #[test]
    fn a_notification_is_a_roce_frame_to_the_source_that_names_the_flow() {
        let cnp = point().marked(us(0), &frame("10.0.0.1", "10.0.0.2", 40_001)).unwrap();
        let network = Network::of(&cnp).unwrap();
        assert_eq!((network.dscp(), network.ecn()), (Some(48), Some(Ecn::NotEct)));
        let Network::Ipv4(packet) = network else { panic!("IPv4") };
        assert!(packet.checksum_ok());
        let (from, to): (u16, u16) = (0xC000 | 40_001 ^ 5_000, 4_791);
        let ip = [10, 0, 0, 2, 10, 0, 0, 1];
        let ports = [from.to_be_bytes(), to.to_be_bytes()].concat();
        let flow = [40_001_u16.to_be_bytes(), 5_000_u16.to_be_bytes()].concat();
        let body = [0x81, 0, 0xFF, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0];
        assert_eq!(cnp[..14], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        assert_eq!(cnp[26..40], [&ip[..], &ports, &[0, 40]].concat());
        assert_eq!(cnp[42..], [&body[..], &flow, &[0; 12]].concat());
    }

    #[test]
    fn the_sender_reads_the_flow_that_was_marked() {
        for (source, destination) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
            let marked = frame(source, destination, 40_001);
            let cnp = point().marked(us(0), &marked).unwrap();
            assert_eq!(flow_of_cnp(&cnp), Some(FiveTuple::of(&marked)));
            let udp_at = cnp.len() - 40;
            for length in 0..cnp.len() {
                let read = flow_of_cnp(&cnp[..length]);
                let expected = if length <= udp_at + 8 { None } else { Some(None) };
                assert_eq!(read, expected, "{length} bytes");
            }
            for (at, value) in [(udp_at + 2, 0), (udp_at + 8, 0x80)] {
                let mut other = cnp.clone();
                other[at] = value;
                assert_eq!(flow_of_cnp(&other), None, "no CNP");
            }
            assert_eq!(flow_of_cnp(&marked), None);
        }
    }

    #[test]
    fn flows_whose_interval_is_over_are_forgotten_and_what_is_no_flow_is_only_counted() {
        let mut point = point();
        for number in 0..10_000_u64 {
            let source = format!("10.0.{}.{}", number >> 8, number & 0xFF);
            assert!(point.marked(us(number), &frame(&source, "10.9.0.2", 1)).is_some());
            assert!(point.sent_at.len() <= KEPT_FLOWS);
        }
        assert_eq!(point.marked(us(10_000), &[0; 60]), None);
        assert_eq!((point.marked, point.sent), (10_001, 10_000));
    }

    proptest! {
        /// Checks that a flow's first mark has a notification at once, that two of a flow are never within the interval, and that
        /// a marked packet has one that is no older than the interval.
        #[test]
        fn each_flow_gets_one_notification_an_interval_at_most_and_no_mark_is_left_out(
            marks in prop::collection::vec((0..60_u64, 0..3_u16), 1..200),
        ) {
            let mut point = point();
            let mut last = [None::<u64>; 3];
            let mut now = 0;
            for (gap, flow) in marks {
                now += gap;
                let cnp = point.marked(us(now), &frame("10.0.0.1", "10.0.0.2", flow));
                let last = &mut last[usize::from(flow)];
                prop_assert_eq!(cnp.is_some(), last.is_none_or(|last| now - last >= INTERVAL_US));
                if cnp.is_some() {
                    *last = Some(now);
                }
            }
        }
    }
}
