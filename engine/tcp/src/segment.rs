//! A segment as a value: its header fields and the length of its payload.

use wire::build::TcpFields;
use wire::tcp::{ACK, CWR, ECE, FIN, RST, SYN};
use wire::tcp_options::Options;
use wire::Ecn;

/// A TCP segment and the ECN codepoint of its packet. The payload is represented by its length only.
///
/// The caller that carries the segment adds ports and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of the SYN.
    pub sequence: u32,
    /// Next sequence number expected; valid if [`ACK`] is set.
    pub acknowledgement: u32,
    /// Flags, as in [`wire::tcp`].
    pub flags: u8,
    /// The flag AE (RFC 9768, 3). With CWR and ECE it forms the field ACE.
    pub ae: bool,
    /// Receive window as in the header, not scaled.
    pub window: u16,
    /// ECN codepoint of the IP header.
    pub ecn: Ecn,
    /// Bytes of payload.
    pub payload_len: u32,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Reads the header of a segment that arrived in a packet with `ecn` and carries `payload_len` bytes.
    pub fn of_wire(segment: &wire::tcp::Segment<'_>, ecn: Ecn, payload_len: u32) -> Self {
        Self {
            sequence: segment.sequence(),
            acknowledgement: segment.acknowledgement(),
            flags: segment.flags(),
            ae: segment.ae(),
            window: segment.window(),
            ecn,
            payload_len,
            options: Options::parse(segment.options()),
        }
    }

    /// Returns the fields from which [`wire::build`] builds a frame; the codepoint belongs in its `Addresses`.
    pub fn fields(&self, source_port: u16, destination_port: u16) -> TcpFields {
        TcpFields {
            source_port,
            destination_port,
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            flags: self.flags,
            ae: self.ae,
            window: self.window,
            options: self.options,
        }
    }

    /// Returns the length of the TCP header with options, in bytes.
    pub fn header_len(&self) -> usize {
        wire::tcp::MIN_HEADER_LEN + self.options.header_len()
    }

    /// Returns the number of sequence numbers that it occupies: payload, SYN and FIN (RFC 9293, 3.4).
    #[inline]
    pub fn sequence_len(&self) -> u64 {
        u64::from(self.payload_len) + u64::from(self.has(SYN)) + u64::from(self.has(FIN))
    }

    /// Returns whether any of `flags` is set.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Returns the field ACE: AE, CWR and ECE as a number (RFC 9768, 3.2.2).
    #[inline]
    pub fn ace(&self) -> u8 {
        u8::from(self.ae) << 2 | u8::from(self.has(CWR)) << 1 | u8::from(self.has(ECE))
    }

    /// Sets the field ACE to the lowest three bits of `ace`.
    #[inline]
    pub(crate) fn set_ace(&mut self, ace: u8) {
        let cwr = if ace & 2 != 0 { CWR } else { 0 };
        let ece = if ace & 1 != 0 { ECE } else { 0 };
        self.ae = ace & 4 != 0;
        self.flags = self.flags & !(CWR | ECE) | cwr | ece;
    }

    /// Returns whether it is an ACK without payload, SYN, FIN or RST.
    pub fn is_pure_ack(&self) -> bool {
        self.payload_len == 0 && self.flags & (SYN | FIN | RST | ACK) == ACK
    }
}
