//! Match tables: the part that the program fixes ([`MatchTable`]) and the part that the control plane fills
//! ([`Entries`]). How a key finds its entry: see `match_unit`.

use std::collections::BTreeSet;

use crate::ageing::Age;
use crate::counter::CounterValue;
use crate::key::KeyPlan;
use crate::match_unit::{MatchUnit, PackedKey};
use crate::meter::Meter;
use crate::op::Pc;
use crate::phv::Field;
use crate::program::{MatchType, TableType};

/// What the program says about a table.
#[derive(Debug)]
pub(crate) struct MatchTable {
    pub(crate) key: KeyPlan,
    pub(crate) match_type: MatchType,
    pub(crate) table_type: TableType,
    pub(crate) actions: Vec<TableAction>,
    /// Next node when the table misses and has no default action.
    pub(crate) next_none: Pc,
    /// Words of action data that each entry keeps.
    pub(crate) stride: usize,
    pub(crate) profile: Option<u32>,
    /// Direct meter: where the colour goes. Its kind is that of the meter array.
    pub(crate) direct_meter: Option<(u32, Field)>,
    pub(crate) default: Option<ActionCall>,
    pub(crate) const_default_action: bool,
    /// Whether entries keep the time of their last hit.
    pub(crate) ages: bool,
    pub(crate) const_entries: Vec<(PackedKey, ActionCall)>,
}

/// An action as a table may call it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableAction {
    /// Index into the program's actions.
    pub(crate) action: u32,
    /// The first of the program's actions with this name: p4c makes a copy of an action for each table that uses
    /// it, and a member of a profile that tables share must be found under any of them.
    pub(crate) named: u32,
    pub(crate) pc: Pc,
    pub(crate) words: u32,
    pub(crate) next_hit: Pc,
    pub(crate) next_miss: Pc,
}

/// An action of a table by local index, with its data as slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionCall {
    pub(crate) local: u32,
    pub(crate) data: Vec<u64>,
}

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

/// Most entries of one table: as many rows as a handle can name.
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
    pub(crate) keys: Vec<Option<EntryKey>>,
    /// Goes up by one when the row's entry is deleted.
    versions: Vec<u8>,
    /// The lowest free row is taken first, as BMv2 does.
    free: BTreeSet<u32>,
    pub(crate) default: Option<(Outcome, Vec<u64>)>,
    /// Direct counter of the default entry. BMv2 has none; P4Runtime does.
    pub(crate) default_counter: CounterValue,
    /// Direct meter of the default entry. Without rates it leaves the colour alone, as BMv2 does on a miss.
    pub(crate) default_meter: Meter,
}

impl Entries {
    /// The entries that the program itself gives.
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
            keys: Vec::new(),
            versions: Vec::new(),
            free: BTreeSet::new(),
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

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.keys.len() - self.free.len()
    }

    /// Rows that hold an entry, ascending.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.keys).filter(|(_, key)| key.is_some()).map(|(at, _)| at)
    }

    /// The row of an entry.
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
            let version = &mut self.versions[at as usize];
            *version = version.wrapping_add(1);
            self.free.insert(at);
        }
    }

    /// Removes every entry and forgets which handles were given out. The default stays.
    pub(crate) fn clear(&mut self, table: &MatchTable) {
        *self = Entries {
            default: self.default.take(),
            default_counter: self.default_counter,
            default_meter: std::mem::take(&mut self.default_meter),
            ..Entries::new(table)
        };
    }

    /// Whether an entry, or the default, points there.
    pub(crate) fn uses(&self, outcome: Outcome) -> bool {
        self.default.as_ref().is_some_and(|(o, _)| *o == outcome)
            || self.rows().any(|at| self.outcomes[at as usize] == outcome)
    }
}
