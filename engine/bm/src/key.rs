//! Lookup keys: fields of the packet packed into as few words as they fit, the same way for packets and for
//! entries. A field is never split over words unless it is wider than one.

use crate::op::Slot;
use crate::phv::Field;

/// Part of a field, and where it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) slot: Slot,
    pub(crate) mask: u64,
    word: u32,
    pub(crate) shift: u32,
}

/// Where one field of a key lies in the packed words.
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

/// How a key is built.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyPlan {
    pub(crate) parts: Vec<Part>,
    pub(crate) fields: Vec<KeyField>,
    pub(crate) words: usize,
}

impl KeyPlan {
    /// Fields with the mask that the program puts on each (all ones for none).
    pub(crate) fn new(fields: &[(Field, u128)]) -> KeyPlan {
        let mut plan = KeyPlan::default();
        let (mut word, mut used) = (0, 0);
        for &(field, mask) in fields {
            let width = field.width();
            let mask = mask & ones(width);
            if width > 64 {
                word += u32::from(used > 0);
                plan.fields.push(KeyField { field, word, shift: 0 });
                plan.parts.push(Part { slot: field.slot, mask: mask as u64, word, shift: 0 });
                plan.parts.push(Part {
                    slot: field.slot + 1,
                    mask: (mask >> 64) as u64,
                    word: word + 1,
                    shift: 0,
                });
                (word, used) = (word + 2, 0);
                continue;
            }
            if used + width > 64 {
                (word, used) = (word + 1, 0);
            }
            plan.fields.push(KeyField { field, word, shift: used });
            plan.parts.push(Part { slot: field.slot, mask: mask as u64, word, shift: used });
            used += width;
        }
        plan.words = (word + u32::from(used > 0)) as usize;
        plan
    }

    /// Bits used, if the key is one word.
    pub(crate) fn narrow_bits(&self) -> Option<u32> {
        (self.words == 1).then(|| self.fields.iter().map(|f| f.width()).sum())
    }

    /// The key of one word.
    #[inline]
    pub(crate) fn narrow(&self, slots: &[u64]) -> u64 {
        self.parts.iter().fold(0, |key, p| key | (slots[p.slot as usize] & p.mask) << p.shift)
    }

    /// The key of one or two words.
    #[inline]
    pub(crate) fn double(&self, slots: &[u64]) -> u128 {
        self.parts.iter().fold(0, |key, p| {
            key | u128::from((slots[p.slot as usize] & p.mask) << p.shift) << (64 * (p.word & 1))
        })
    }

    /// The key of any size, into `out`.
    #[inline]
    pub(crate) fn wide(&self, slots: &[u64], out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        for p in &self.parts {
            out[p.word as usize] |= (slots[p.slot as usize] & p.mask) << p.shift;
        }
    }

    /// Packs one value per field as the packet's fields are packed.
    pub(crate) fn pack(&self, values: impl IntoIterator<Item = u128>) -> Vec<u64> {
        let mut words = vec![0; self.words];
        for (f, value) in self.fields.iter().zip(values) {
            let value = value & ones(f.width());
            words[f.word as usize] |= (value as u64) << f.shift;
            if f.width() > 64 {
                words[f.word as usize + 1] = (value >> 64) as u64;
            }
        }
        words
    }

    /// The fields side by side without padding, as a parser value set holds them; at most 128 bits.
    pub(crate) fn concatenated(&self, words: &[u64]) -> u128 {
        (0..self.fields.len()).fold(0, |all, at| {
            let width = self.fields[at].width();
            (if width < 128 { all << width } else { 0 }) | self.unpack(words, at)
        })
    }

    /// One field's value out of packed words.
    pub(crate) fn unpack(&self, words: &[u64], field: usize) -> u128 {
        let f = self.fields[field];
        let low = u128::from(words[f.word as usize] >> f.shift);
        let high = if f.width() > 64 { u128::from(words[f.word as usize + 1]) << 64 } else { 0 };
        (low | high) & ones(f.width())
    }
}

/// A number with the low `width` bits set.
pub(crate) fn ones(width: u32) -> u128 {
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
            fields in prop::collection::vec((1u16..=128, any::<u128>(), any::<bool>()), 1..12)
        ) {
            let mut slots = Vec::new();
            let mut keys = Vec::new();
            let mut values = Vec::new();
            for &(width, value, signed) in &fields {
                keys.push((Field { slot: slots.len() as Slot, width, signed }, u128::MAX));
                let value = value & ones(u32::from(width));
                values.push(value);
                // A signed field is kept sign-extended; the key must not see that.
                let negative = signed && value >> (width - 1) == 1;
                let kept = if negative { value | !ones(u32::from(width)) } else { value };
                slots.push(kept as u64);
                if width > 64 {
                    slots.push((kept >> 64) as u64);
                }
            }
            let plan = KeyPlan::new(&keys);
            let mut key = Vec::new();
            plan.wide(&slots, &mut key);
            prop_assert_eq!(&key, &plan.pack(values.iter().copied()));
            for (at, value) in values.iter().enumerate() {
                prop_assert_eq!(plan.unpack(&key, at), *value);
            }
            if plan.words == 1 {
                prop_assert_eq!(plan.narrow(&slots), key[0]);
            }
            if plan.words == 2 {
                prop_assert_eq!(plan.double(&slots), u128::from(key[0]) | u128::from(key[1]) << 64);
            }
        }
    }
}
