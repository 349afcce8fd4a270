//! Lookup keys: fields of the packet packed into as few words as possible, in the same way for packets and for entries. A field
//! of up to 64 bits is never split over words.

use crate::number::{cut, ones, word_mask, words};
use crate::program::{Field, Slot};

/// Part of a field, and its position in the key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) slot: Slot,
    pub(crate) mask: u64,
    word: u32,
    pub(crate) shift: u32,
}

/// The position of one field of a key in the packed words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyField {
    pub(crate) field: Field,
    word: u32,
    shift: u32,
}

impl KeyField {
    pub(crate) fn width(self) -> u32 {
        self.field.width()
    }
}

/// The layout of a key.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyPlan {
    pub(crate) parts: Vec<Part>,
    pub(crate) fields: Vec<KeyField>,
    pub(crate) words: usize,
}

impl KeyPlan {
    /// Creates the layout of a key with these fields, each with the program's mask for it, if any.
    pub(crate) fn new(fields: &[(Field, Option<Vec<u64>>)]) -> KeyPlan {
        let mut plan = KeyPlan::default();
        let (mut word, mut used) = (0, 0);
        for (field, mask) in fields {
            let (field, width) = (*field, field.width());
            let mask = mask.as_ref().map_or_else(|| ones(width), |mask| cut(mask.clone(), width));
            if width > 64 {
                word += u32::from(used > 0);
                plan.fields.push(KeyField { field, word, shift: 0 });
                for (at, &mask) in (0..).zip(&mask) {
                    plan.parts.push(Part { slot: field.slot + at, mask, word: word + at, shift: 0 });
                }
                (word, used) = (word + words(width), 0);
                continue;
            }
            if used + width > 64 {
                (word, used) = (word + 1, 0);
            }
            plan.fields.push(KeyField { field, word, shift: used });
            plan.parts.push(Part { slot: field.slot, mask: mask[0], word, shift: used });
            used += width;
        }
        plan.words = (word + u32::from(used > 0)) as usize;
        plan
    }

    /// Returns the number of bits of the key if it fits into one word.
    pub(crate) fn narrow_bits(&self) -> Option<u32> {
        (self.words == 1).then(|| self.fields.iter().map(|f| f.width()).sum())
    }

    /// Returns the key as one word.
    #[inline]
    pub(crate) fn narrow(&self, slots: &[u64]) -> u64 {
        self.parts.iter().fold(0, |key, p| key | (slots[p.slot as usize] & p.mask) << p.shift)
    }

    /// Returns the key as one or two words.
    #[inline]
    pub(crate) fn double(&self, slots: &[u64]) -> u128 {
        self.parts.iter().fold(0, |key, p| {
            key | u128::from((slots[p.slot as usize] & p.mask) << p.shift) << (64 * (p.word & 1))
        })
    }

    /// Writes a key of any size to `out`.
    #[inline]
    pub(crate) fn wide(&self, slots: &[u64], out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        for p in &self.parts {
            out[p.word as usize] |= (slots[p.slot as usize] & p.mask) << p.shift;
        }
    }

    /// Packs one value per field, low word first, in the same way as the packet's fields.
    pub(crate) fn pack<V: AsRef<[u64]>>(&self, values: impl IntoIterator<Item = V>) -> Vec<u64> {
        let mut packed = vec![0; self.words];
        for (f, value) in self.fields.iter().zip(values) {
            for (at, &word) in value.as_ref().iter().enumerate().take(words(f.width()) as usize) {
                packed[f.word as usize + at] |= (word & word_mask(f.width(), at)) << f.shift;
            }
        }
        packed
    }

    /// Packs an entry's values without the bits that the program masks away, which no packet's key has.
    pub(crate) fn pack_masked<V: AsRef<[u64]>>(&self, values: impl IntoIterator<Item = V>) -> Vec<u64> {
        let packed = self.pack(values);
        let mut kept = vec![0; self.words];
        for p in &self.parts {
            kept[p.word as usize] |= p.mask << p.shift;
        }
        packed.iter().zip(kept).map(|(value, kept)| value & kept).collect()
    }

    /// Appends the fields without padding, low word first, in the form of parser value sets.
    pub(crate) fn concatenated(&self, packed: &[u64], out: &mut Vec<u64>) {
        let start = out.len();
        let bits: u32 = self.fields.iter().map(|f| f.width()).sum();
        out.resize(start + words(bits) as usize, 0);
        let mut bit = 0;
        for at in (0..self.fields.len()).rev() {
            let width = self.fields[at].width();
            for word in 0..words(width) {
                let value = self.word(packed, at, word as usize);
                let (to, shift) = (start + (bit / 64) as usize, bit % 64);
                out[to] |= value << shift;
                if shift > 0 && to + 1 < out.len() {
                    out[to + 1] |= value >> (64 - shift);
                }
                bit += (width - 64 * word).min(64);
            }
        }
    }

    /// Returns one word of a field's value from the packed words.
    fn word(&self, packed: &[u64], field: usize, at: usize) -> u64 {
        let f = self.fields[field];
        packed[f.word as usize + at] >> f.shift & word_mask(f.width(), at)
    }

    /// Returns one field's value from the packed words; the low 128 bits of a wider field.
    pub(crate) fn unpack(&self, packed: &[u64], field: usize) -> u128 {
        let high = if self.fields[field].width() > 64 { self.word(packed, field, 1) } else { 0 };
        u128::from(self.word(packed, field, 0)) | u128::from(high) << 64
    }

    /// Returns one field's value from the packed words, low word first.
    pub(crate) fn unpack_words(&self, packed: &[u64], field: usize) -> Vec<u64> {
        (0..words(self.fields[field].width()) as usize).map(|at| self.word(packed, field, at)).collect()
    }

    /// Returns whether a field of the packed words is between `first` and `last`, which have the same number of words.
    pub(crate) fn is_within(&self, packed: &[u64], field: usize, first: &[u64], last: &[u64]) -> bool {
        if let ([first], [last]) = (first, last) {
            return (*first..=*last).contains(&self.word(packed, field, 0));
        }
        let count = words(self.fields[field].width()) as usize;
        let value = || (0..count).rev().map(|at| self.word(packed, field, at));
        value().ge(first.iter().rev().copied()) && value().le(last.iter().rev().copied())
    }
}

/// Returns a number of up to 128 bits with the low `width` bits set.
pub(crate) fn ones_128(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packets_key_is_packed_as_an_entrys_is(
            fields in prop::collection::vec(
                (1u16..=300, prop::array::uniform5(any::<u64>()), any::<bool>()), 1..12
            )
        ) {
            let mut slots = Vec::new();
            let mut keys = Vec::new();
            let mut values = Vec::new();
            for &(width, value, signed) in &fields {
                let slot = slots.len();
                keys.push((Field { slot: slot as Slot, width, signed }, None));
                let width = u32::from(width);
                let value = cut(value.to_vec(), width);
                // A signed field is stored sign-extended; the key must not contain the extension.
                let top = value.len() - 1;
                let negative = signed && value[top] >> ((width - 1) % 64) & 1 == 1;
                slots.extend_from_slice(&value);
                if negative {
                    slots[slot + top] |= !word_mask(width, top);
                }
                values.push(value);
            }
            let plan = KeyPlan::new(&keys);
            let mut key = Vec::new();
            plan.wide(&slots, &mut key);
            prop_assert_eq!(&key, &plan.pack(values.iter()));
            for (at, value) in values.iter().enumerate() {
                prop_assert_eq!(&plan.unpack_words(&key, at), value);
                prop_assert_eq!(plan.unpack(&key, at) as u64, value[0]);
                prop_assert!(plan.is_within(&key, at, value, value));
                if let Some(after) = value[0].checked_add(1) {
                    let mut next = value.clone();
                    next[0] = after;
                    prop_assert!(!plan.is_within(&key, at, &next, &next));
                }
            }
            if plan.words == 1 {
                prop_assert_eq!(plan.narrow(&slots), key[0]);
            }
            if plan.words == 2 {
                prop_assert_eq!(plan.double(&slots), u128::from(key[0]) | u128::from(key[1]) << 64);
            }
            // Without padding: the bits of each field in turn, the last field's lowest.
            let mut joined = Vec::new();
            plan.concatenated(&key, &mut joined);
            let bit = |words: &[u64], at: u32| words[at as usize / 64] >> (at % 64) & 1;
            let mut at = 0;
            for (f, value) in plan.fields.iter().zip(&values).rev() {
                for of in 0..f.width() {
                    prop_assert_eq!(bit(&joined, at + of), bit(value, of));
                }
                at += f.width();
            }
        }
    }
}
