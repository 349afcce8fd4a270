//! The packet header vector: one flat array of words that holds every header field, validity bit, constant,
//! action parameter and temporary of one packet. Not the packet's bytes: those stay with the caller.

use crate::program::{FieldList, Program};

/// A field resolved at load: where it is in the [`Phv`] and how wide it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub(crate) slot: u32,
    pub(crate) width: u16,
    pub(crate) signed: bool,
}

impl Field {
    /// Width in bits.
    pub fn width(self) -> u32 {
        u32::from(self.width)
    }
}

/// The scratch of one packet; reusable through [`Phv::reset`].
#[derive(Debug, Clone)]
pub struct Phv {
    pub(crate) slots: Vec<u64>,
    /// Length of the packet as received, in bytes: what counters and meters of bytes add.
    pub ingress_length: u64,
    /// BMv2's packet length register, in bytes: follows headers as they are added and removed.
    pub packet_length: u64,
    pub(crate) payload_offset: usize,
}

impl Phv {
    /// Scratch for packets of `program`, reset.
    pub fn new(program: &Program) -> Phv {
        let _ = program;
        todo!()
    }

    /// As new: every header invalid, every field zero, both lengths set to `length` bytes.
    pub fn reset(&mut self, program: &Program, length: u64) {
        let _ = (program, length);
        todo!()
    }

    /// Zeroes all metadata (user and standard), leaving headers alone.
    pub fn reset_metadata(&mut self, program: &Program) {
        let _ = program;
        todo!()
    }

    /// Zeroes all metadata except the fields of `keep`: what BMv2 does for resubmit, recirculate and clone.
    pub fn reset_metadata_except(&mut self, program: &Program, keep: FieldList) {
        let _ = (program, keep);
        todo!()
    }

    /// Copies the fields of `list` from another packet.
    pub fn copy_fields(&mut self, program: &Program, list: FieldList, from: &Phv) {
        let _ = (program, list, from);
        todo!()
    }

    /// Becomes a copy of `from` without allocating (both must be of the same program).
    pub fn copy_from(&mut self, from: &Phv) {
        let _ = from;
        todo!()
    }

    /// Value of a field of up to 64 bits (a signed one sign-extended); the low 64 bits of a wider one.
    #[inline]
    pub fn get(&self, field: Field) -> u64 {
        self.slots[field.slot as usize]
    }

    /// Sets a field, truncated to its width. The high word of a field wider than 64 bits becomes zero.
    #[inline]
    pub fn set(&mut self, field: Field, value: u64) {
        let _ = (field, value);
        todo!()
    }

    /// Value of a field of up to 128 bits, zero-extended from its width.
    pub fn get_wide(&self, field: Field) -> u128 {
        let _ = field;
        todo!()
    }

    /// Big-endian bytes of the fields of a learn list, each padded to whole bytes, appended to `out`.
    pub fn sample(&self, program: &Program, list: FieldList, out: &mut Vec<u8>) {
        let _ = (program, list, out);
        todo!()
    }

    /// Bytes that the parser consumed: where the payload begins in the parsed packet.
    pub fn payload_offset(&self) -> usize {
        self.payload_offset
    }
}
