//! Where a field is in a packet's slots.

use super::op::Slot;
use crate::number::words;

/// A field resolved at load: where it is in the [`crate::Phv`] and how wide it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub(crate) slot: Slot,
    pub(crate) width: u16,
    pub(crate) signed: bool,
}

impl Field {
    /// Returns the width in bits.
    pub fn width(self) -> u32 {
        u32::from(self.width)
    }

    pub(crate) fn words(self) -> usize {
        words(u32::from(self.width)) as usize
    }
}
