//! Lookup structures: they map a packed key to the index of an entry, regardless of the entry's action.

use rustc_hash::FxHashMap;

use crate::program::{KeyPlan, PackedKey};

/// "No entry" in a direct index.
const NONE: u32 = u32::MAX;

/// Maximum width in bits of a key that is looked up by indexing instead of hashing.
const DIRECT_BITS: u32 = 12;

/// Exact match on packed words.
#[derive(Debug, Clone)]
pub(crate) enum ExactMap {
    /// One cell for every possible key.
    Direct(Vec<u32>),
    Narrow(FxHashMap<u64, u32>),
    Double(FxHashMap<u128, u32>),
    Wide(FxHashMap<Box<[u64]>, u32>),
}

fn double(words: &[u64]) -> u128 {
    u128::from(words[0]) | u128::from(words[1]) << 64
}

impl ExactMap {
    fn hashed(words: usize) -> ExactMap {
        match words {
            0 | 1 => ExactMap::Narrow(FxHashMap::default()),
            2 => ExactMap::Double(FxHashMap::default()),
            _ => ExactMap::Wide(FxHashMap::default()),
        }
    }

    fn new(plan: &KeyPlan) -> ExactMap {
        match plan.narrow_bits() {
            Some(bits) if bits <= DIRECT_BITS => ExactMap::Direct(vec![NONE; 1 << bits]),
            _ => ExactMap::hashed(plan.words),
        }
    }

    fn get(&self, key: &[u64]) -> Option<u32> {
        match self {
            ExactMap::Direct(cells) => cells.get(key[0] as usize).copied().filter(|&e| e != NONE),
            ExactMap::Narrow(map) => map.get(&key[0]).copied(),
            ExactMap::Double(map) => map.get(&double(key)).copied(),
            ExactMap::Wide(map) => map.get(key).copied(),
        }
    }

    fn insert(&mut self, key: &[u64], entry: u32) {
        match self {
            ExactMap::Direct(cells) => cells[key[0] as usize] = entry,
            ExactMap::Narrow(map) => drop(map.insert(key[0], entry)),
            ExactMap::Double(map) => drop(map.insert(double(key), entry)),
            ExactMap::Wide(map) => drop(map.insert(key.into(), entry)),
        }
    }

    fn remove(&mut self, key: &[u64]) {
        match self {
            ExactMap::Direct(cells) => cells[key[0] as usize] = NONE,
            ExactMap::Narrow(map) => drop(map.remove(&key[0])),
            ExactMap::Double(map) => drop(map.remove(&double(key))),
            ExactMap::Wide(map) => drop(map.remove(key)),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            ExactMap::Direct(cells) => cells.iter().all(|&e| e == NONE),
            ExactMap::Narrow(map) => map.is_empty(),
            ExactMap::Double(map) => map.is_empty(),
            ExactMap::Wide(map) => map.is_empty(),
        }
    }
}

/// The prefixes of one length.
#[derive(Debug, Clone)]
pub(crate) struct PrefixLength {
    length: u32,
    mask: Vec<u64>,
    map: ExactMap,
}

/// One entry of a priority-ordered list.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The lowest priority wins; among entries of equal priority the lowest row wins, as in BMv2.
    key: PackedKey,
    entry: u32,
}

/// A table's lookup structure.
#[derive(Debug, Clone, Default)]
pub(crate) enum MatchUnit {
    /// A table without a key, which never hits.
    #[default]
    Keyless,
    Exact(ExactMap),
    /// Lengths in descending order, each with at least one prefix: the first one that contains the key wins.
    Lpm(Vec<PrefixLength>),
    /// In descending order of precedence.
    Ternary(Vec<Row>),
}

impl MatchUnit {
    pub(crate) fn exact(plan: &KeyPlan) -> MatchUnit {
        MatchUnit::Exact(ExactMap::new(plan))
    }

    /// Returns the entry that a packet hits. Keys of more than two words use `scratch`.
    #[inline(always)] // A call would cost as much as most lookups.
    pub(crate) fn lookup(&self, plan: &KeyPlan, slots: &[u64], scratch: &mut Vec<u64>) -> Option<u32> {
        match self {
            MatchUnit::Keyless => None,
            MatchUnit::Exact(ExactMap::Direct(cells)) => {
                cells.get(plan.narrow(slots) as usize).copied().filter(|&e| e != NONE)
            }
            MatchUnit::Exact(ExactMap::Narrow(map)) => map.get(&plan.narrow(slots)).copied(),
            MatchUnit::Exact(ExactMap::Double(map)) => map.get(&plan.double(slots)).copied(),
            MatchUnit::Exact(map @ ExactMap::Wide(_)) => {
                plan.wide(slots, scratch);
                map.get(scratch)
            }
            MatchUnit::Lpm(lengths) => match plan.words {
                1 => {
                    let key = plan.narrow(slots);
                    lengths.iter().find_map(|l| l.map.get(&[key & l.mask[0]]))
                }
                2 => {
                    let key = plan.double(slots);
                    lengths.iter().find_map(|l| match &l.map {
                        ExactMap::Double(map) => map.get(&(key & double(&l.mask))).copied(),
                        _ => None,
                    })
                }
                words => {
                    plan.wide(slots, scratch);
                    lengths.iter().find_map(|l| {
                        scratch.truncate(words);
                        for at in 0..words {
                            scratch.push(scratch[at] & l.mask[at]);
                        }
                        l.map.get(&scratch[words..])
                    })
                }
            },
            MatchUnit::Ternary(rows) => {
                plan.wide(slots, scratch);
                let hit = rows.iter().find(|Row { key, .. }| {
                    scratch.iter().zip(&key.mask).zip(&key.value).all(|((k, m), v)| k & m == *v)
                        && key.bounds.iter().all(|b| plan.is_within(scratch, b.field, &b.first, &b.last))
                });
                hit.map(|row| row.entry)
            }
        }
    }

    /// Returns the entry with exactly this key (and priority, if that is part of the key).
    pub(crate) fn find(&self, key: &PackedKey) -> Option<u32> {
        match self {
            MatchUnit::Keyless => None,
            MatchUnit::Exact(map) => map.get(&key.value),
            MatchUnit::Lpm(lengths) => {
                lengths.iter().find(|l| l.length == key.prefix_length).and_then(|l| l.map.get(&key.value))
            }
            MatchUnit::Ternary(rows) => rows.iter().find(|r| r.key == *key).map(|r| r.entry),
        }
    }

    /// Adds an entry that [`MatchUnit::find`] does not find.
    pub(crate) fn insert(&mut self, key: &PackedKey, entry: u32) {
        match self {
            MatchUnit::Keyless => {}
            MatchUnit::Exact(map) => map.insert(&key.value, entry),
            MatchUnit::Lpm(lengths) => {
                let at = lengths.partition_point(|l| l.length > key.prefix_length);
                if lengths.get(at).map(|l| l.length) != Some(key.prefix_length) {
                    let map = ExactMap::hashed(key.value.len());
                    lengths
                        .insert(at, PrefixLength { length: key.prefix_length, mask: key.mask.clone(), map });
                }
                lengths[at].map.insert(&key.value, entry);
            }
            MatchUnit::Ternary(rows) => {
                let at = rows.partition_point(|r| (r.key.priority, r.entry) < (key.priority, entry));
                rows.insert(at, Row { key: key.clone(), entry });
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &PackedKey, entry: u32) {
        match self {
            MatchUnit::Keyless => {}
            MatchUnit::Exact(map) => map.remove(&key.value),
            MatchUnit::Lpm(lengths) => {
                if let Some(at) = lengths.iter().position(|l| l.length == key.prefix_length) {
                    lengths[at].map.remove(&key.value);
                    if lengths[at].map.is_empty() {
                        lengths.remove(at);
                    }
                }
            }
            MatchUnit::Ternary(rows) => rows.retain(|r| r.entry != entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ones_128 as ones;
    use crate::program::{Bound, Field};
    use proptest::prelude::*;

    fn lpm_agrees(width: u16, prefixes: &[(u128, u32)], keys: &[u128]) -> Result<(), TestCaseError> {
        let plan = KeyPlan::new(&[(Field { slot: 0, width, signed: false }, None)]);
        let width = u32::from(width);
        let mut unit = MatchUnit::Lpm(Vec::new());
        let mut linear: Vec<(u128, u32, u32)> = Vec::new();
        for (entry, &(value, length)) in (0..).zip(prefixes) {
            let length = length % (width + 1);
            let mask = ones(width) & !ones(width - length);
            let value = value & mask;
            let key = PackedKey {
                value: plan.pack([[value as u64, (value >> 64) as u64]]),
                mask: plan.pack([[mask as u64, (mask >> 64) as u64]]),
                bounds: Vec::new(),
                prefix_length: length,
                priority: 0,
            };
            if unit.find(&key).is_none() {
                unit.insert(&key, entry);
                linear.push((value, length, entry));
            }
            if entry % 3 == 2 {
                if let Some(found) = unit.find(&key) {
                    unit.remove(&key, found);
                    linear.retain(|&(_, _, e)| e != found);
                }
            }
        }
        for &key in keys.iter().chain(prefixes.iter().map(|(value, _)| value)) {
            let key = key & ones(width);
            let expected = linear
                .iter()
                .filter(|&&(value, length, _)| key & ones(width) & !ones(width - length) == value)
                .max_by_key(|&&(_, length, _)| length)
                .map(|&(_, _, entry)| entry);
            let slots = [key as u64, (key >> 64) as u64];
            prop_assert_eq!(unit.lookup(&plan, &slots, &mut Vec::new()), expected);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn the_longest_prefix_is_the_one_a_linear_scan_finds(
            prefixes in prop::collection::vec((any::<u128>(), any::<u32>()), 1..60),
            keys in prop::collection::vec(any::<u128>(), 1..30),
        ) {
            lpm_agrees(32, &prefixes, &keys)?;
            lpm_agrees(128, &prefixes, &keys)?;
        }
    }

    fn ternary(value: u64, mask: u64, priority: u32) -> PackedKey {
        PackedKey { value: vec![value], mask: vec![mask], bounds: Vec::new(), prefix_length: 0, priority }
    }

    #[test]
    fn among_ternary_entries_the_lowest_priority_number_wins_and_then_the_lowest_row() {
        let plan = KeyPlan::new(&[(Field { slot: 0, width: 8, signed: false }, None)]);
        let mut unit = MatchUnit::Ternary(Vec::new());
        unit.insert(&ternary(0, 0, 20), 0);
        unit.insert(&ternary(0x01, 0x0f, 10), 2);
        unit.insert(&ternary(0x10, 0xf0, 10), 1);
        let hit = |key| unit.lookup(&plan, &[key], &mut Vec::new());
        assert_eq!(hit(0x11), Some(1));
        assert_eq!(hit(0x21), Some(2));
        assert_eq!(hit(0x22), Some(0));
    }

    #[test]
    fn a_range_includes_both_its_ends() {
        let plan = KeyPlan::new(&[(Field { slot: 0, width: 8, signed: false }, None)]);
        let mut unit = MatchUnit::Ternary(Vec::new());
        let bounds = vec![Bound { field: 0, first: vec![3], last: vec![5] }];
        unit.insert(&PackedKey { bounds, ..ternary(0, 0, 1) }, 7);
        let hits: Vec<u64> =
            (0..8).filter(|&key| unit.lookup(&plan, &[key], &mut Vec::new()).is_some()).collect();
        assert_eq!(hits, [3, 4, 5]);
    }
}
