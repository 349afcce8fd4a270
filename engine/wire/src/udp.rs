//! UDP (RFC 768).

use crate::be16;
use crate::error::{need, Error};

/// IP protocol number.
pub const PROTOCOL: u8 = 17;
/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// A view of a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a>(&'a [u8]);

impl<'a> Datagram<'a> {
    /// Checks that the data contain the header.
    pub fn new_checked(data: &'a [u8]) -> Result<Self, Error> {
        need("udp", data, HEADER_LEN)?;
        Ok(Self(data))
    }

    /// Returns the source port.
    pub fn source_port(&self) -> u16 {
        be16(self.0, 0)
    }

    /// Returns the destination port.
    pub fn destination_port(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the length of header and payload in bytes, as stated in the header.
    pub fn len(&self) -> u16 {
        be16(self.0, 4)
    }

    /// Returns whether the payload is empty according to the header.
    pub fn is_empty(&self) -> bool {
        usize::from(self.len()) <= HEADER_LEN
    }

    /// Returns the payload, as long as the header states, clipped to the available bytes.
    pub fn payload(&self) -> &'a [u8] {
        let end = usize::from(self.len()).clamp(HEADER_LEN, self.0.len());
        &self.0[HEADER_LEN..end]
    }
}
