//! The mapping from a header's bits to slots, and the two loops that move them.
//!
//! A header type is divided at load into chunks of at most eight bytes. Extraction loads a chunk once as a big-endian word and
//! shifts each field out of it; deparsing does the reverse. A field that spans chunks, or is wider than 64 bits, is moved in
//! pieces.

use crate::number::words;

/// A field of a header type.
#[derive(Debug, Clone)]
pub(crate) struct FieldDef {
    pub(crate) name: String,
    /// Width in bits; 0 for the variable-length field.
    pub(crate) width: u32,
    pub(crate) signed: bool,
    /// Its first word, relative to the header's first word.
    pub(crate) off: u32,
    pub(crate) variable: bool,
}

/// A field, or part of one, inside a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) off: u32,
    pub(crate) width: u8,
    /// Position of the lowest bit in the chunk's word.
    pub(crate) word_shift: u8,
    /// Position of the lowest bit in the slot.
    pub(crate) slot_shift: u8,
    /// Whether this is the first piece of its slot, which overwrites the slot; later pieces are added.
    pub(crate) first: bool,
    /// Width to sign-extend from after the last piece of a signed field's slot; 0 otherwise.
    pub(crate) sign: u8,
}

/// At most eight bytes, moved as one word.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) byte: u32,
    pub(crate) bytes: u8,
    pub(crate) pieces: Vec<Piece>,
}

/// The fixed-size fields before or after the variable-length one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) bytes: u32,
}

/// A part of a field, for [`Layout::new`].
struct Part {
    off: u32,
    width: u32,
    sign: u32,
}

impl Layout {
    /// Lays out consecutive fixed-size fields.
    pub(crate) fn new(fields: &[FieldDef]) -> Layout {
        let mut parts = Vec::new();
        for f in fields {
            let top = words(f.width) - 1;
            let width = f.width - 64 * top;
            parts.push(Part { off: f.off + top, width, sign: if f.signed { width } else { 0 } });
            parts.extend((0..top).rev().map(|at| Part { off: f.off + at, width: 64, sign: 0 }));
        }
        let total: u32 = parts.iter().map(|p| p.width).sum();
        // Chunk borders: the last field border at a whole byte within 64 bits, or else 64 bits.
        let mut borders = Vec::new();
        let (mut bit, mut start, mut candidate) = (0, 0, None);
        for p in &parts {
            while bit + p.width - start > 64 {
                start = candidate.take().filter(|&c| c > start).unwrap_or(start + 64);
                borders.push(start);
            }
            bit += p.width;
            if bit % 8 == 0 {
                candidate = Some(bit);
            }
        }
        if total > start {
            borders.push(total);
        }
        let mut chunks = Vec::new();
        let mut from = 0;
        for &to in &borders {
            let bytes = (to - from).div_ceil(8);
            let mut pieces = Vec::new();
            let mut at = 0;
            for p in &parts {
                let (lo, hi) = (at.max(from), (at + p.width).min(to));
                if lo < hi {
                    pieces.push(Piece {
                        off: p.off,
                        width: (hi - lo) as u8,
                        word_shift: (from + bytes * 8 - hi) as u8,
                        slot_shift: (at + p.width - hi) as u8,
                        first: lo == at,
                        sign: if hi == at + p.width { p.sign as u8 } else { 0 },
                    });
                }
                at += p.width;
            }
            chunks.push(Chunk { byte: from / 8, bytes: bytes as u8, pieces });
            from = to;
        }
        Layout { chunks, bytes: total.div_ceil(8) }
    }

    /// Moves `data` into `slots`. `data` has at least `self.bytes` bytes; with more, whole words can be loaded.
    #[inline]
    pub(crate) fn extract(&self, data: &[u8], slots: &mut [u64]) {
        for chunk in &self.chunks {
            let at = chunk.byte as usize;
            let word = match data.get(at..at + 8) {
                Some(eight) => {
                    let mut bytes = [0; 8];
                    bytes.copy_from_slice(eight);
                    u64::from_be_bytes(bytes) >> (64 - 8 * u32::from(chunk.bytes))
                }
                None => data[at..at + usize::from(chunk.bytes)].iter().fold(0, |w, &b| w << 8 | u64::from(b)),
            };
            for p in &chunk.pieces {
                let bits = (word >> p.word_shift & u64::MAX >> (64 - p.width)) << p.slot_shift;
                let slot = &mut slots[p.off as usize];
                *slot = if p.first { bits } else { *slot | bits };
                if p.sign != 0 {
                    let unused = 64 - u32::from(p.sign);
                    *slot = ((*slot << unused) as i64 >> unused) as u64;
                }
            }
        }
    }

    /// Appends the bytes of `slots` to `out`.
    #[inline]
    pub(crate) fn deparse(&self, slots: &[u64], out: &mut Vec<u8>) {
        let start = out.len();
        // Whole words are written, and the surplus of the last one is cut off afterwards.
        out.resize(start + self.bytes as usize + 8, 0);
        for chunk in &self.chunks {
            let mut word = 0;
            for p in &chunk.pieces {
                word |= (slots[p.off as usize] >> p.slot_shift & u64::MAX >> (64 - p.width)) << p.word_shift;
            }
            let at = start + chunk.byte as usize;
            out[at..at + 8].copy_from_slice(&(word << (64 - 8 * u32::from(chunk.bytes))).to_be_bytes());
        }
        out.truncate(start + self.bytes as usize);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(widths: &[u32]) -> Vec<FieldDef> {
        let mut off = 0;
        widths
            .iter()
            .map(|&width| {
                let def = FieldDef { name: String::new(), width, signed: false, off, variable: false };
                off += words(width);
                def
            })
            .collect()
    }

    /// Reads `width` bits one by one, most significant first: the reference for layouts and writers.
    pub(crate) fn bits_at(data: &[u8], from: u32, width: u32) -> u128 {
        (from..from + width)
            .fold(0, |v, bit| v << 1 | u128::from(data[bit as usize / 8] >> (7 - bit % 8) & 1))
    }

    #[test]
    fn a_signed_field_is_sign_extended() {
        let mut defs = fields(&[4, 4]);
        defs[1].signed = true;
        let mut slots = [0; 2];
        Layout::new(&defs).extract(&[0x5e], &mut slots);
        assert_eq!(slots, [5, -2i64 as u64]);
    }

    proptest! {
        #[test]
        fn extraction_agrees_with_a_bit_by_bit_reading_and_deparsing_gives_the_bytes_back(
            widths in prop::collection::vec(prop_oneof![1u32..=128, 1u32..=400], 1..20),
            seed in prop::collection::vec(any::<u8>(), 1100),
            spare in 0usize..9,
        ) {
            let mut widths = widths;
            let total: u32 = widths.iter().sum();
            if total % 8 != 0 {
                widths.push(8 - total % 8);
            }
            let defs = fields(&widths);
            let layout = Layout::new(&defs);
            let data = &seed[..layout.bytes as usize + spare];
            let mut slots = vec![u64::MAX; 7 * widths.len()];
            layout.extract(data, &mut slots);
            let mut bit = 0;
            for def in &defs {
                for (at, word) in (0..).zip(&slots[def.off as usize..][..words(def.width) as usize]) {
                    let width = (def.width - 64 * at).min(64);
                    let expected = bits_at(data, bit + def.width - 64 * at - width, width);
                    prop_assert_eq!(*word, expected as u64);
                }
                bit += def.width;
            }
            let mut out = vec![9];
            layout.deparse(&slots, &mut out);
            prop_assert_eq!(&out[1..], &data[..layout.bytes as usize]);
        }
    }
}
