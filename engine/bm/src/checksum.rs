//! Checksums that the program verifies after parsing and updates before deparsing.

use crate::op::{Pc, Slot};
use crate::phv::Field;

/// One checksum.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    pub(crate) target: Field,
    /// Validity of the header that the target is in.
    pub(crate) valid: Slot,
    pub(crate) calculation: u32,
    pub(crate) update: bool,
    pub(crate) verify: bool,
    /// Instructions that leave the condition in the program's condition slot.
    pub(crate) condition: Option<Pc>,
}
