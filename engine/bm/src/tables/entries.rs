//! Match tables: the part that the program fixes ([`MatchTable`]) and the part that the control plane fills
//! ([`Entries`]). How a key finds its entry: see `match_unit`.

use std::collections::{BTreeMap, BTreeSet};

use super::age::Age;
use super::match_unit::MatchUnit;
use crate::program::{MatchTable, MatchType, PackedKey};
use crate::tables::{CounterValue, Meter};

/// What an entry points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An action of the table by local index; the data are in the entry's row.
    Action(u32),
    Member(u32),
    Group(u32),
}

/// An entry's place in the control plane's eyes.
#[derive(Debug, Clone)]
pub(crate) struct EntryKey {
    pub(crate) handle: u64,
    pub(crate) key: PackedKey,
}

/// Bits of a handle that name the row; the eight above tell its successive entries apart, as in BMv2.
const ROW_BITS: u32 = 24;

/// Maximum number of entries of one table: as many rows as a handle can name.
pub(crate) const MAX_ENTRIES: usize = 1 << ROW_BITS;

/// Why a handle names no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoEntry {
    /// Its row is free.
    Free,
    /// Its row holds a later entry.
    Later,
}

/// What the control plane has put into a table.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    pub(crate) unit: MatchUnit,
    /// By entry index; the arrays below have one row each. Free rows have no key.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) data: Vec<u64>,
    pub(crate) counters: Vec<CounterValue>,
    pub(crate) meters: Vec<Meter>,
    /// Empty in tables whose entries do not age.
    pub(crate) ages: Vec<Age>,
    /// No entry expires before: hits move it only later, and what may move it earlier sets it anew.
    pub(crate) first_due_ps: u64,
    pub(crate) keys: Vec<Option<EntryKey>>,
    /// Goes up by one when the row's entry is deleted.
    versions: Vec<u8>,
    /// The lowest free row is taken first, as BMv2 does.
    free: BTreeSet<u32>,
    /// Opaque bytes that a client has given with an entry, by row; nothing where there are none.
    pub(crate) notes: BTreeMap<u32, Box<[u8]>>,
    pub(crate) default: Option<(Outcome, Vec<u64>)>,
    /// Whether somebody has set the default entry since it was last reset.
    pub(crate) is_default_set: bool,
    /// Opaque bytes that a client has given with the default entry.
    pub(crate) default_note: Box<[u8]>,
    /// Direct counter of the default entry. BMv2 has none; P4Runtime does.
    pub(crate) default_counter: CounterValue,
    /// Direct meter of the default entry. Without rates it leaves the colour alone, as BMv2 does on a miss.
    pub(crate) default_meter: Meter,
}

/// A row as it was.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowImage {
    exists: bool,
    version: u8,
    entry: Option<RowEntry>,
}

/// The entry of a row as it was.
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

/// A default entry as it was.
#[derive(Debug, Clone)]
pub(crate) struct DefaultImage {
    default: Option<(Outcome, Vec<u64>)>,
    is_set: bool,
    note: Box<[u8]>,
    counter: CounterValue,
    meter: Meter,
}

impl Entries {
    /// Returns the entries that the program itself gives.
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
        let mut entries = Entries {
            unit,
            outcomes: Vec::new(),
            data: Vec::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            ages: Vec::new(),
            first_due_ps: 0,
            keys: Vec::new(),
            versions: Vec::new(),
            free: BTreeSet::new(),
            notes: BTreeMap::new(),
            is_default_set: false,
            default_note: Box::default(),
            default: table.default.as_ref().map(|call| (Outcome::Action(call.local), call.data.clone())),
            default_counter: CounterValue::default(),
            default_meter: Meter::default(),
        };
        for (key, call) in &table.const_entries {
            entries.add(table, key.clone(), Outcome::Action(call.local), &call.data);
        }
        entries
    }

    /// Adds an entry whose key is not there yet; returns its handle.
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

    /// Returns the rows that hold an entry, ascending.
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

    /// Replaces what an entry does.
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

    /// Returns what the entry of a row points at, if there is one.
    pub(crate) fn outcome(&self, at: u32) -> Option<Outcome> {
        self.keys.get(at as usize)?.as_ref().map(|_| self.outcomes[at as usize])
    }

    /// Returns the row that the next entry gets.
    pub(crate) fn next_row(&self) -> u32 {
        self.free.first().copied().unwrap_or(self.outcomes.len() as u32)
    }

    /// Returns a row as it is, to be put back later; also one that is still to come.
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

    /// Makes a row what it was.
    pub(crate) fn put_row(&mut self, table: &MatchTable, at: u32, image: RowImage) {
        self.remove(at);
        let row = at as usize;
        if !image.exists {
            // Rows come at the end, and go newest first.
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

    /// Returns the default entry as it is, to be put back later.
    pub(crate) fn default_image(&self) -> DefaultImage {
        DefaultImage {
            default: self.default.clone(),
            is_set: self.is_default_set,
            note: self.default_note.clone(),
            counter: self.default_counter,
            meter: self.default_meter.clone(),
        }
    }

    /// Makes the default entry what it was.
    pub(crate) fn put_default(&mut self, image: DefaultImage) {
        self.default = image.default;
        self.is_default_set = image.is_set;
        self.default_note = image.note;
        self.default_counter = image.counter;
        self.default_meter = image.meter;
    }

    /// Keeps a client's bytes with an entry; none take no room.
    pub(crate) fn set_note(&mut self, at: u32, note: Box<[u8]>) {
        if note.is_empty() {
            self.notes.remove(&at);
        } else {
            self.notes.insert(at, note);
        }
    }

    /// Removes every entry and forgets which handles were given out. The default stays.
    pub(crate) fn clear(&mut self, table: &MatchTable) {
        *self = Entries {
            default: self.default.take(),
            is_default_set: self.is_default_set,
            default_note: std::mem::take(&mut self.default_note),
            default_counter: self.default_counter,
            default_meter: std::mem::take(&mut self.default_meter),
            ..Entries::new(table)
        };
    }

    /// Returns whether an entry, or the default, points there.
    pub(crate) fn uses(&self, outcome: Outcome) -> bool {
        self.default.as_ref().is_some_and(|(o, _)| *o == outcome)
            || self.rows().any(|at| self.outcomes[at as usize] == outcome)
    }
}
