//! TCP (RFC 9293, 3.1; ECE and CWR RFC 3168, 6.1).

use crate::{be16, be32};

/// IP protocol number.
pub const PROTOCOL: u8 = 6;
/// Bytes of the header without options.
pub const MIN_HEADER_LEN: usize = 20;

/// The sender has finished.
pub const FIN: u8 = 0x01;
/// Synchronise sequence numbers.
pub const SYN: u8 = 0x02;
/// Reset.
pub const RST: u8 = 0x04;
/// Push.
pub const PSH: u8 = 0x08;
/// The acknowledgement number is valid.
pub const ACK: u8 = 0x10;
/// ECN echo.
pub const ECE: u8 = 0x40;
/// Congestion window reduced.
pub const CWR: u8 = 0x80;

/// A view of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a>(&'a [u8]);

impl<'a> Segment<'a> {
    /// Returns the view, if the data contain the fixed header and the data offset covers it. The options may be cut
    /// off (a snapped frame): [`Segment::options`] returns the captured ones.
    #[inline]
    pub fn new_checked(data: &'a [u8]) -> Option<Self> {
        let segment = Self(data);
        (data.len() >= MIN_HEADER_LEN && segment.header_len() >= MIN_HEADER_LEN).then_some(segment)
    }

    /// Returns the source port.
    pub fn source_port(&self) -> u16 {
        be16(self.0, 0)
    }

    /// Returns the destination port.
    pub fn destination_port(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the sequence number of the first byte.
    pub fn sequence(&self) -> u32 {
        be32(self.0, 4)
    }

    /// Returns the next sequence number that the sender expects; valid if [`ACK`] is set.
    pub fn acknowledgement(&self) -> u32 {
        be32(self.0, 8)
    }

    /// Returns the length of the header with its options in bytes, as stated by the data offset.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.0[12] >> 4) * 4
    }

    /// Returns the eight flags, [`FIN`] to [`CWR`].
    #[inline]
    pub fn flags(&self) -> u8 {
        self.0[13]
    }

    /// Returns the AE flag, which precedes the eight in the header (RFC 9768, 3).
    #[inline]
    pub fn ae(&self) -> bool {
        self.0[12] & 1 != 0
    }

    /// Returns the receive window as written, unscaled.
    pub fn window(&self) -> u16 {
        be16(self.0, 14)
    }

    /// Returns the captured options, unparsed.
    pub fn options(&self) -> &'a [u8] {
        &self.0[MIN_HEADER_LEN..self.header_len().min(self.0.len())]
    }

    /// Returns the captured payload.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[self.header_len().min(self.0.len())..]
    }
}
