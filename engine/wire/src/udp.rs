//! UDP (RFC 768).

use crate::be16;

/// IP protocol number.
pub const PROTOCOL: u8 = 17;
/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// A view of a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a>(&'a [u8]);

impl<'a> Datagram<'a> {
    /// Returns the view, if the data contain the header.
    pub fn new_checked(data: &'a [u8]) -> Option<Self> {
        (data.len() >= HEADER_LEN).then_some(Self(data))
    }

    /// Returns the destination port.
    pub fn destination_port(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the payload, as long as the header states, clipped to the available bytes.
    pub fn payload(&self) -> &'a [u8] {
        let end = usize::from(be16(self.0, 4)).clamp(HEADER_LEN, self.0.len());
        &self.0[HEADER_LEN..end]
    }
}
