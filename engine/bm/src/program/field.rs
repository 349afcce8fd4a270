//! The location of a field in a packet's slots.

use super::op::Slot;
use crate::number::words;

/// A field resolved at load: its location in the [`crate::Phv`] and its width.
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
