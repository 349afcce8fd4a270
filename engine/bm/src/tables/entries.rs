//! Match tables: the part that the program fixes ([`MatchTable`]) and the part that the control plane fills ([`Entries`]).
//! `match_unit` finds the entry of a key.

use std::collections::{BTreeMap, BTreeSet};

use super::age::Age;
use super::match_unit::MatchUnit;
use crate::program::{MatchTable, MatchType, PackedKey};
use crate::tables::{CounterValue, Meter};

/// The target of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An action of the table by local index; the data are in the entry's row.
    Action(u32),
    Member(u32),
    Group(u32),
}

/// The handle and the key of an entry.
#[derive(Debug, Clone)]
pub(crate) struct EntryKey {
    pub(crate) handle: u64,
    pub(crate) key: PackedKey,
}

/// Bits of a handle for the row; the eight bits above distinguish successive entries of a row, as in BMv2.
const ROW_BITS: u32 = 24;

/// Maximum number of entries in one table: the number of rows that a handle can name.
pub(crate) const MAX_ENTRIES: usize = 1 << ROW_BITS;

/// The reason why a handle names no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoEntry {
    /// Its row is free.
    Free,
    /// Its row holds a later entry.
    Later,
}

/// The contents of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entries {
    pub(crate) unit: MatchUnit,
    /// By row, as are the arrays below. Free rows have no key.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) data: Vec<u64>,
    pub(crate) counters: Vec<CounterValue>,
    pub(crate) meters: Vec<Meter>,
    /// Empty if the table's entries do not age.
    pub(crate) ages: Vec<Age>,
    /// A time before which no entry expires: hits only delay expiry, and every change that may advance it updates this field.
    pub(crate) first_due_ps: u64,
    pub(crate) keys: Vec<Option<EntryKey>>,
    /// Incremented when the row's entry is deleted.
    versions: Vec<u8>,
    /// Free rows; the lowest is used first, as in BMv2.
    free: BTreeSet<u32>,
    /// Opaque bytes that a client has given with an entry, by row, if any.
    pub(crate) notes: BTreeMap<u32, Box<[u8]>>,
    pub(crate) default: DefaultEntry,
}

/// A copy of a row, for undoing changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowImage {
    exists: bool,
    version: u8,
    entry: Option<RowEntry>,
}

/// A copy of a row's entry.
#[derive(Debug, Clone)]
struct RowEntry {
    key: EntryKey,
    outcome: Outcome,
    data: Box<[u64]>,
    counter: CounterValue,
    meter: Meter,
    age: Option<Age>,
    note: Option<Box<[u8]>>,
}

/// What applies to a packet that no entry matches.
#[derive(Debug, Clone, Default)]
pub(crate) struct DefaultEntry {
    pub(crate) target: Option<(Outcome, Vec<u64>)>,
    /// Whether it has been set since it was last reset.
    pub(crate) is_set: bool,
    /// Opaque bytes that a client has given with it.
    pub(crate) note: Box<[u8]>,
    /// Its direct counter, for P4Runtime; BMv2 has none.
    pub(crate) counter: CounterValue,
    /// Its direct meter. Without rates it does not set the colour, as in BMv2 on a miss.
    pub(crate) meter: Meter,
}

impl DefaultEntry {
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.target.as_ref().map(|(outcome, _)| *outcome)
    }
}

impl Entries {
    /// Returns the entries that the program declares.
    pub(crate) fn new(table: &MatchTable) -> Entries {
        let unit = if table.key.fields.is_empty() {
            MatchUnit::Keyless
        } else {
            match table.match_type {
                MatchType::Exact | MatchType::Valid => MatchUnit::exact(&table.key),
                MatchType::Lpm => MatchUnit::Lpm(Vec::new()),
                MatchType::Ternary | MatchType::Range => MatchUnit::Ternary(Vec::new()),
            }
        };
        let target = table.default.as_ref().map(|call| (Outcome::Action(call.local), call.data.clone()));
        let default = DefaultEntry { target, ..DefaultEntry::default() };
        let mut entries = Entries { unit, default, ..Entries::default() };
        for (key, call) in &table.const_entries {
            entries.add(table, key.clone(), Outcome::Action(call.local), &call.data);
        }
        entries
    }

    /// Adds an entry with a new key, and returns its handle.
    pub(crate) fn add(&mut self, table: &MatchTable, key: PackedKey, outcome: Outcome, data: &[u64]) -> u64 {
        let at = self.free.pop_first().unwrap_or_else(|| {
            self.outcomes.push(outcome);
            self.data.resize(self.data.len() + table.stride, 0);
            self.counters.push(CounterValue::default());
            self.meters.push(Meter::default());
            if table.ages {
                self.ages.push(Age::default());
            }
            self.keys.push(None);
            self.versions.push(0);
            self.outcomes.len() as u32 - 1
        });
        let handle = u64::from(self.versions[at as usize]) << ROW_BITS | u64::from(at);
        self.counters[at as usize] = CounterValue::default();
        self.meters[at as usize] = Meter::default();
        if let Some(age) = self.ages.get_mut(at as usize) {
            *age = Age::default();
        }
        self.set(table, at, outcome, data);
        self.unit.insert(&key, at);
        self.keys[at as usize] = Some(EntryKey { handle, key });
        handle
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.keys.len() - self.free.len()
    }

    /// Returns the rows with an entry, in ascending order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.keys).filter(|(_, key)| key.is_some()).map(|(at, _)| at)
    }

    /// Returns the row of an entry.
    pub(crate) fn row(&self, handle: u64) -> Result<u32, NoEntry> {
        let at = handle & (MAX_ENTRIES as u64 - 1);
        match self.keys.get(at as usize).and_then(Option::as_ref) {
            Some(entry) if entry.handle == handle => Ok(at as u32),
            Some(_) if handle >> ROW_BITS <= u64::from(u8::MAX) => Err(NoEntry::Later),
            _ => Err(NoEntry::Free),
        }
    }

    /// Replaces the target of an entry.
    pub(crate) fn set(&mut self, table: &MatchTable, at: u32, outcome: Outcome, data: &[u64]) {
        self.outcomes[at as usize] = outcome;
        let row = &mut self.data[at as usize * table.stride..][..table.stride];
        row.fill(0);
        row[..data.len()].copy_from_slice(data);
    }

    /// Removes the entry of a row.
    pub(crate) fn remove(&mut self, at: u32) {
        if let Some(entry) = self.keys[at as usize].take() {
            self.unit.remove(&entry.key, at);
            self.notes.remove(&at);
            let version = &mut self.versions[at as usize];
            *version = version.wrapping_add(1);
            self.free.insert(at);
        }
    }

    /// Returns the target of a row's entry, if there is one.
    pub(crate) fn outcome(&self, at: u32) -> Option<Outcome> {
        self.keys.get(at as usize)?.as_ref().map(|_| self.outcomes[at as usize])
    }

    /// Returns the row that the next entry gets.
    pub(crate) fn next_row(&self) -> u32 {
        self.free.first().copied().unwrap_or(self.outcomes.len() as u32)
    }

    /// Returns a copy of a row, for undoing changes; the row may not exist yet.
    pub(crate) fn row_image(&self, table: &MatchTable, at: u32) -> RowImage {
        let row = at as usize;
        if row >= self.outcomes.len() {
            return RowImage::default();
        }
        RowImage {
            exists: true,
            version: self.versions[row],
            entry: self.keys[row].as_ref().map(|key| RowEntry {
                key: key.clone(),
                outcome: self.outcomes[row],
                data: self.data[row * table.stride..][..table.stride].into(),
                counter: self.counters[row],
                meter: self.meters[row].clone(),
                age: self.ages.get(row).copied(),
                note: self.notes.get(&at).cloned(),
            }),
        }
    }

    /// Restores a row.
    pub(crate) fn put_row(&mut self, table: &MatchTable, at: u32, image: RowImage) {
        self.remove(at);
        let row = at as usize;
        if !image.exists {
            // New rows are at the end, and are removed newest first.
            self.outcomes.truncate(row);
            self.data.truncate(row * table.stride);
            self.counters.truncate(row);
            self.meters.truncate(row);
            self.ages.truncate(row);
            self.keys.truncate(row);
            self.versions.truncate(row);
            self.free.remove(&at);
            return;
        }
        self.versions[row] = image.version;
        let Some(entry) = image.entry else { return };
        self.free.remove(&at);
        self.set(table, at, entry.outcome, &entry.data);
        self.counters[row] = entry.counter;
        self.meters[row] = entry.meter;
        if let (Some(age), Some(before)) = (self.ages.get_mut(row), entry.age) {
            *age = before;
            self.first_due_ps = self.first_due_ps.min(before.due_ps());
        }
        self.set_note(at, entry.note.unwrap_or_default());
        self.unit.insert(&entry.key.key, at);
        self.keys[row] = Some(entry.key);
    }

    /// Stores a client's bytes with an entry; empty ones take no space.
    pub(crate) fn set_note(&mut self, at: u32, note: Box<[u8]>) {
        if note.is_empty() {
            self.notes.remove(&at);
        } else {
            self.notes.insert(at, note);
        }
    }

    /// Removes every entry and resets the handles. The default entry stays.
    pub(crate) fn clear(&mut self, table: &MatchTable) {
        *self = Entries { default: std::mem::take(&mut self.default), ..Entries::new(table) };
    }

    /// Returns whether an entry or the default entry has this target.
    pub(crate) fn uses(&self, outcome: Outcome) -> bool {
        self.default.outcome() == Some(outcome) || self.rows().any(|at| self.outcomes[at as usize] == outcome)
    }
}
