//! The seven traffic classes, decided from the headers alone.
//!
//! This is written from the definition, not from the P4 program, so that each can judge the other.

use crate::tcp::{Segment, ACK, ECE, FIN, PROTOCOL, RST, SYN};
use crate::Network;

/// What a frame is to congestion control. The numbers are the P4 program's `packet_class_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PacketClass {
    /// TCP with payload.
    Data = 0,
    /// Pure ACK without ECE.
    Ack = 1,
    /// Pure ACK with ECE.
    AckEce = 2,
    /// First packet of a handshake.
    Syn = 3,
    /// Second packet of a handshake.
    SynAck = 4,
    /// End of a connection.
    FinRst = 5,
    /// Everything else: UDP, ICMP, fragments, not IP, damaged.
    Other = 6,
}

impl PacketClass {
    /// All classes, by number.
    pub const ALL: [PacketClass; 7] =
        [Self::Data, Self::Ack, Self::AckEce, Self::Syn, Self::SynAck, Self::FinRst, Self::Other];

    /// The name used in reports and by the controller.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ack => "ack",
            Self::AckEce => "ack_ece",
            Self::Syn => "syn",
            Self::SynAck => "syn_ack",
            Self::FinRst => "fin_rst",
            Self::Other => "other",
        }
    }
}

/// The class of a frame. Never fails: what cannot be read is [`PacketClass::Other`].
///
/// Whether there is payload is told by the IP and TCP lengths, not by the frame's (short frames are padded).
#[inline]
pub fn classify(frame: &[u8]) -> PacketClass {
    class_of_tcp(frame).unwrap_or(PacketClass::Other)
}

/// `None` when this is not a whole TCP segment.
#[inline]
fn class_of_tcp(frame: &[u8]) -> Option<PacketClass> {
    let (payload, len) = match Network::of(frame).ok()? {
        Network::Ipv4(packet) if packet.protocol() == PROTOCOL && !packet.is_fragment() => {
            (packet.payload(), packet.payload_len()?)
        }
        Network::Ipv6(packet) if packet.next_header() == PROTOCOL => (packet.payload(), packet.payload_len()),
        _ => return None,
    };
    let segment = Segment::new_checked(payload).ok()?;
    let data_len = len.checked_sub(segment.header_len())?;
    let has = |flag: u8| segment.flags() & flag != 0;
    Some(if has(SYN) {
        if has(ACK) {
            PacketClass::SynAck
        } else {
            PacketClass::Syn
        }
    } else if has(FIN | RST) {
        PacketClass::FinRst
    } else if data_len > 0 {
        PacketClass::Data
    } else if !has(ACK) {
        PacketClass::Other
    } else if has(ECE) {
        PacketClass::AckEce
    } else {
        PacketClass::Ack
    })
}
