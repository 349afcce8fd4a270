//! The packet header vector: one flat array of words with every header field, validity bit, constant, action parameter and
//! temporary of one packet. The packet's bytes stay with the caller.
//!
//! Order of the slots: metadata, headers with their validity and stack indices (a reset zeroes all of these), then action
//! parameters, temporaries, constants.

use crate::number::to_bytes;
use crate::program::{ones_128, Field, FieldList, Program, Slot, VlStore};

/// The scratch memory of one packet; reusable through [`Phv::reset`].
#[derive(Debug, Clone)]
pub struct Phv {
    pub(crate) slots: Vec<u64>,
    /// Bytes of variable-length fields.
    pub(crate) vl: Vec<u8>,
    /// Buffer for checksum and hash inputs.
    pub(crate) bytes: Vec<u8>,
    kept: Vec<u64>,
    /// Maximum number of words of [`Kept`](crate::Kept) that [`Phv::save`] has saved so far.
    pub(crate) largest_kept: usize,
    /// Length of the packet as received, in bytes: the amount that byte counters and meters add.
    pub ingress_length: u64,
    /// BMv2's packet length register, in bytes: it changes when headers are added and removed.
    pub packet_length: u64,
    pub(crate) payload_offset: usize,
}

/// Zeroes words in pieces of 1 KiB: from 2 KiB on the C library's `memset` uses a microcoded string instruction, whose start-up
/// takes longer than such a piece.
#[inline]
fn zero(words: &mut [u64]) {
    words.chunks_mut(128).for_each(|piece| piece.fill(0));
}

/// Returns the value of `width` bits that begins in `slot`, low word first, without the sign extension of a signed field; the
/// low 128 bits of a wider one. Width 0 is a field of variable length, whose value is its length.
pub(super) fn value(slots: &[u64], slot: Slot, width: u32) -> u128 {
    let at = slot as usize;
    let words = u128::from(slots[at]) | if width > 64 { u128::from(slots[at + 1]) << 64 } else { 0 };
    words & if width == 0 { u128::MAX } else { ones_128(width) }
}

impl Phv {
    /// Creates reset scratch memory for packets of `program`.
    pub fn new(program: &Program) -> Phv {
        let mut slots = vec![0; program.slots()];
        slots[program.packet.const_base..].copy_from_slice(&program.packet.constants);
        Phv {
            slots,
            vl: vec![0; program.packet.vl_bytes],
            bytes: Vec::new(),
            kept: Vec::new(),
            largest_kept: 0,
            ingress_length: 0,
            packet_length: 0,
            payload_offset: 0,
        }
    }

    /// Invalidates every header, zeroes every field, and sets both lengths to `length` bytes.
    pub fn reset(&mut self, program: &Program, length: u64) {
        zero(&mut self.slots[..program.packet.reset_end]);
        self.ingress_length = length;
        self.packet_length = length;
        self.payload_offset = 0;
    }

    /// Zeroes all metadata (user and standard), and keeps headers.
    pub fn reset_metadata(&mut self, program: &Program) {
        zero(&mut self.slots[..program.packet.metadata_end]);
    }

    /// Zeroes all metadata except the fields of `keep`, as BMv2 does for resubmit, recirculate and clone.
    pub fn reset_metadata_except(&mut self, program: &Program, keep: FieldList) {
        let fields = program.list_fields(keep);
        self.kept.clear();
        for f in fields {
            self.kept.extend_from_slice(&self.slots[f.slot as usize..][..f.words()]);
        }
        self.reset_metadata(program);
        let mut at = 0;
        for f in fields {
            self.slots[f.slot as usize..][..f.words()].copy_from_slice(&self.kept[at..at + f.words()]);
            at += f.words();
        }
    }

    /// Copies the fields of `list` from another packet.
    pub fn copy_fields(&mut self, program: &Program, list: FieldList, from: &Phv) {
        for f in program.list_fields(list) {
            let range = f.slot as usize..f.slot as usize + f.words();
            self.slots[range.clone()].copy_from_slice(&from.slots[range]);
        }
    }

    /// Returns the value of a field of up to 64 bits (sign-extended if signed), or the low 64 bits of a wider one.
    #[inline]
    pub fn get(&self, field: Field) -> u64 {
        self.slots[field.slot as usize]
    }

    /// Sets a field, truncated to its width. The high words of a field wider than 64 bits become zero.
    #[inline]
    pub fn set(&mut self, field: Field, value: u64) {
        let slot = field.slot as usize;
        if field.width > 64 {
            self.slots[slot] = value;
            self.slots[slot + 1..slot + field.words()].fill(0);
            return;
        }
        let unused = 64 - u32::from(field.width);
        let shifted = value << unused;
        self.slots[slot] = if field.signed { (shifted as i64 >> unused) as u64 } else { shifted >> unused };
    }

    /// Returns the value of a field of up to 128 bits, zero-extended from its width, or the low 128 bits of a wider one.
    pub fn get_wide(&self, field: Field) -> u128 {
        value(&self.slots, field.slot, field.width())
    }

    /// Appends the big-endian bytes of the fields of a learn list to `out`, each padded to whole bytes.
    pub fn sample(&self, program: &Program, list: FieldList, out: &mut Vec<u8>) {
        for &f in program.list_fields(list) {
            let mut words = self.slots[f.slot as usize..][..f.words()].to_vec();
            // Signed fields are stored sign-extended; a sample has only the bits of the field.
            words = crate::number::cut(words, f.width());
            out.extend(to_bytes(&words, f.width()));
        }
    }

    /// Returns the number of bytes that the parser consumed: the start of the payload in the parsed packet.
    pub fn payload_offset(&self) -> usize {
        self.payload_offset
    }

    /// Returns the 128-bit value of two slots, low word first.
    #[inline]
    pub(crate) fn pair(&self, slot: Slot) -> u128 {
        let at = slot as usize;
        u128::from(self.slots[at]) | u128::from(self.slots[at + 1]) << 64
    }

    /// Returns the bytes of a variable-length field.
    pub(crate) fn vl_bytes(&self, store: VlStore) -> &[u8] {
        &self.vl[store.start..store.start + self.slots[store.length as usize] as usize]
    }

    pub(crate) fn copy_vl(&mut self, to: VlStore, from: VlStore) {
        let length = (self.slots[from.length as usize] as usize).min(to.capacity);
        self.vl.copy_within(from.start..from.start + length, to.start);
        self.slots[to.length as usize] = length as u64;
    }

    pub(crate) fn swap_vl(&mut self, a: VlStore, b: VlStore) {
        // The lengths are in slots, which the caller swaps with the headers.
        let used = self.vl_bytes(a).len().max(self.vl_bytes(b).len()).min(a.capacity).min(b.capacity);
        for at in 0..used {
            self.vl.swap(a.start + at, b.start + at);
        }
    }

    /// Returns whether the variable-length fields of two headers are equal. BMv2 compares their bytes as numbers, so leading
    /// zeros do not count.
    pub(crate) fn varbits_equal(&self, program: &Program, a: usize, b: usize) -> bool {
        let significant = |header: usize| {
            let store = program.header(header as u32).vl.map(|vl| program.vl_store(vl));
            let bytes = store.map_or(&[][..], |store| self.vl_bytes(store));
            &bytes[bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len())..]
        };
        significant(a) == significant(b)
    }

    /// Returns the length of a header in bytes when deparsed, with its variable-length field.
    pub(crate) fn header_bytes(&self, program: &Program, header: u32) -> u64 {
        let h = program.header(header);
        let variable = h.vl.map_or(0, |vl| self.slots[program.vl_store(vl).length as usize]);
        u64::from(program.header_type(h.type_id).fixed_bytes()) + variable
    }

    /// Appends a header's bytes.
    #[inline]
    pub(crate) fn deparse_header(&self, program: &Program, header: u32, out: &mut Vec<u8>) {
        let h = program.header(header);
        let ty = program.header_type(h.type_id);
        let slots = &self.slots[h.base as usize..(h.base + ty.words) as usize];
        ty.before.deparse(slots, out);
        if let (Some(vl), Some((_, after))) = (h.vl, &ty.variable) {
            out.extend_from_slice(self.vl_bytes(program.vl_store(vl)));
            after.deparse(slots, out);
        }
    }
}
