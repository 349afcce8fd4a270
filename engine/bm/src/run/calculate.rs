//! Collects the bytes that a calculation covers, and computes their hash or checksum.

use std::collections::BTreeMap;

use super::phv::Phv;
use crate::native::{Native, Writer};
use crate::program::{Calculation, Crc, Field, Input, Layout, Program, Slot};

/// Returns the result of one of the program's calculations, with the switch's CRC parameters for it.
pub(crate) fn calculated(
    program: &Program,
    native: Option<&Native>,
    crcs: &BTreeMap<u32, Crc>,
    phv: &mut Phv,
    calculation: u32,
    payload: &[u8],
) -> u64 {
    let writer = native.and_then(|native| native.calculation(calculation));
    let set = crcs.get(&calculation);
    output(program.calculation(calculation), program, phv, writer, payload, set)
}

/// Returns the result over the packet's headers; only calculations that cover the payload use `payload`. `writer` is native
/// code that writes the inputs, if it exists; `set` replaces the program's algorithm.
pub(crate) fn output(
    calculation: &Calculation,
    program: &Program,
    phv: &mut Phv,
    writer: Option<&Writer>,
    payload: &[u8],
    set: Option<&Crc>,
) -> u64 {
    let mut bytes = std::mem::take(&mut phv.bytes);
    bytes.clear();
    match writer {
        Some(writer) => writer.append(&phv.slots, &phv.vl, &mut bytes),
        None => write_inputs(calculation, program, phv, &mut bytes),
    }
    if calculation.payload {
        bytes.extend_from_slice(payload);
    }
    let result = match set {
        Some(crc) => u64::from(crc.compute(&bytes)),
        None => calculation.algorithm.compute(&bytes),
    };
    phv.bytes = bytes;
    result
}

fn write_inputs(calculation: &Calculation, program: &Program, phv: &Phv, bytes: &mut Vec<u8>) {
    let mut writer = BitWriter::new(bytes);
    let is_valid = |slot: &Slot| phv.slots[*slot as usize] != 0;
    for input in &calculation.inputs {
        match input {
            Input::Field { field, valid } if is_valid(valid) => writer.field(phv, *field),
            Input::Fields { layout, valid } if is_valid(valid) => writer.layout(layout, &phv.slots),
            Input::Variable { store, valid } if is_valid(valid) => {
                writer.push_bytes(phv.vl_bytes(program.vl_store(*store)));
            }
            Input::Header { header, valid } if is_valid(valid) => writer.header(phv, program, *header),
            Input::Constant { value, width } => {
                for (at, &word) in value.iter().enumerate().rev() {
                    writer.push(word, (*width - 64 * at as u32).min(64));
                }
            }
            // Of a header that is not valid.
            Input::Field { .. } | Input::Fields { .. } | Input::Variable { .. } | Input::Header { .. } => {}
        }
    }
}

/// Appends bits to a byte string that need not stay byte-aligned: the input of a checksum or hash.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Bits used in the last byte; 0 when aligned.
    used: u32,
}

impl<'a> BitWriter<'a> {
    fn new(out: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { out, used: 0 }
    }

    /// Appends the low `width` bits; `width` is at most 64.
    fn push(&mut self, value: u64, width: u32) {
        if self.used == 0 && width % 8 == 0 {
            let bytes = value.to_be_bytes();
            self.out.extend_from_slice(&bytes[8 - (width / 8) as usize..]);
            return;
        }
        let mut left = width;
        while left > 0 {
            if self.used == 0 {
                self.out.push(0);
            }
            let take = left.min(8 - self.used);
            let bits = (value >> (left - take)) as u8 & (0xff >> (8 - take));
            if let Some(last) = self.out.last_mut() {
                *last |= bits << (8 - self.used - take);
            }
            self.used = (self.used + take) % 8;
            left -= take;
        }
    }

    /// Appends fields laid out over `slots`; the output must be byte-aligned.
    fn layout(&mut self, layout: &Layout, slots: &[u64]) {
        debug_assert_eq!(self.used, 0);
        layout.deparse(slots, self.out);
    }

    /// Appends a field.
    fn field(&mut self, phv: &Phv, field: Field) {
        let slot = field.slot as usize;
        let top = field.words() - 1;
        self.push(phv.slots[slot + top], field.width() - 64 * top as u32);
        for at in (0..top).rev() {
            self.push(phv.slots[slot + at], 64);
        }
    }

    /// Appends a whole header.
    fn header(&mut self, phv: &Phv, program: &Program, header: u32) {
        if self.used == 0 {
            phv.deparse_header(program, header, self.out);
            return;
        }
        let start = self.out.len();
        phv.deparse_header(program, header, self.out);
        let bytes = self.out.split_off(start);
        self.push_bytes(&bytes);
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if self.used == 0 {
            self.out.extend_from_slice(bytes);
        } else {
            for &b in bytes {
                self.push(u64::from(b), 8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{bits_at, join_fields};
    use proptest::prelude::*;

    #[test]
    fn joined_fields_give_the_bytes_of_the_fields_one_by_one() {
        let field = |slot, width| Input::Field { field: Field { slot, width, signed: false }, valid: 0 };
        let fields = [(1, 4), (2, 12), (3, 100), (5, 4), (6, 3), (7, 5), (8, 1)];
        let apart = fields.map(|(slot, width)| field(slot, width));
        let joined = join_fields(&apart[..6]);
        assert!(matches!(joined[..], [Input::Fields { .. }]));
        // A single trailing bit leaves the run of fields unaligned.
        assert_eq!(join_fields(&apart).len(), 7);
        // Nor are fields behind half a byte joined, whose bytes it would move.
        let half = Input::Constant { value: vec![1], width: 4 };
        assert_eq!(join_fields(&[&[half], &apart[..6]].concat()).len(), 7);
        // Nor those of another header behind that bit.
        let other = Input::Field { field: Field { slot: 9, width: 8, signed: false }, valid: 10 };
        assert!(matches!(join_fields(&[&apart[6..], &[other]].concat())[1], Input::Field { .. }));
        let slots = [1, 5, 0xabc, u64::MAX / 3, 0xa_bcde_f012, 9, 6, 17];
        let mut bytes = Vec::new();
        let Input::Fields { layout, .. } = &joined[0] else { return };
        BitWriter::new(&mut bytes).layout(layout, &slots);
        let mut one_by_one = Vec::new();
        let mut writer = BitWriter::new(&mut one_by_one);
        for (slot, width) in [(1, 4), (2, 12), (4, 36), (3, 64), (5, 4), (6, 3), (7, 5)] {
            writer.push(slots[slot], width);
        }
        assert_eq!(bytes, one_by_one);
    }

    proptest! {
        #[test]
        fn a_bit_writer_appends_most_significant_bits_first(
            items in prop::collection::vec((any::<u64>(), 1u32..=64), 1..20)
        ) {
            let mut out = Vec::new();
            let mut writer = BitWriter::new(&mut out);
            for &(value, width) in &items {
                writer.push(value, width);
            }
            let mut bit = 0;
            for &(value, width) in &items {
                prop_assert_eq!(bits_at(&out, bit, width) as u64, value & u64::MAX >> (64 - width));
                bit += width;
            }
        }
    }
}
