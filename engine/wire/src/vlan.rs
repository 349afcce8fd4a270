//! A VLAN tag after its EtherType (IEEE 802.1Q, 9.6).

use crate::be16;
use crate::error::{need, Error};

/// Bytes of the tag that follow its EtherType.
pub const TAG_LEN: usize = 4;

/// A view of a tag and the bytes after it.
#[derive(Clone, Copy, Debug)]
pub struct Tag<'a>(&'a [u8]);

impl<'a> Tag<'a> {
    /// Checks that the data contain the tag.
    #[inline]
    pub fn new_checked(data: &'a [u8]) -> Result<Self, Error> {
        need("vlan", data, TAG_LEN)?;
        Ok(Self(data))
    }

    /// Returns the priority code point.
    pub fn priority(&self) -> u8 {
        self.0[0] >> 5
    }

    /// Returns the VLAN identifier, 12 bits.
    pub fn vlan_id(&self) -> u16 {
        be16(self.0, 0) & 0x0fff
    }

    /// Returns the EtherType of the bytes after the tag.
    #[inline]
    pub fn ethertype(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the bytes after the tag.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.0[TAG_LEN..]
    }
}
