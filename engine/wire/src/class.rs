//! The seven packet classes, decided from the headers alone.
//!
//! The code follows the definition, not the P4 program, so that each can check the other.

use crate::ipv6::HEADER_LEN;
use crate::tcp::{Segment, ACK, ECE, FIN, PROTOCOL, RST, SYN};
use crate::Network;

/// The role of a frame in congestion control. The numbers are the P4 program's `packet_class_t`.
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

    /// Returns the name used in reports and by the controller.
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

/// Returns the class of a whole frame. Never fails: a frame is [`PacketClass::Other`] if it cannot be parsed, contradicts
/// itself or has a wrong IPv4 header checksum.
///
/// The IP and TCP lengths, not the frame's length, decide whether there is a payload (short frames are padded).
#[inline]
pub fn classify(frame: &[u8]) -> PacketClass {
    classify_snapped(frame, frame.len())
}

/// Returns the class of a frame of `wire_len` bytes from its captured beginning.
#[inline]
pub fn classify_snapped(captured: &[u8], wire_len: usize) -> PacketClass {
    class_of_tcp(captured, wire_len).unwrap_or(PacketClass::Other)
}

/// Returns the class of a TCP segment, or `None` if the frame carries no intact one.
#[inline]
fn class_of_tcp(captured: &[u8], wire_len: usize) -> Option<PacketClass> {
    // Bytes from the start of the IP header to the end of the frame.
    let room = |packet: &[u8]| (wire_len + packet.len()).checked_sub(captured.len());
    let (payload, len) = match Network::of(captured)? {
        Network::Ipv4(packet) if packet.protocol() == PROTOCOL && !packet.is_fragment() => {
            if usize::from(packet.total_len()) > room(packet.as_bytes())? || !packet.checksum_ok() {
                return None;
            }
            (packet.payload(), packet.payload_len()?)
        }
        Network::Ipv6(packet) if packet.next_header() == PROTOCOL => {
            if HEADER_LEN + packet.payload_len() > room(packet.as_bytes())? {
                return None;
            }
            (packet.payload(), packet.payload_len())
        }
        _ => return None,
    };
    let segment = Segment::new_checked(payload)?;
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
