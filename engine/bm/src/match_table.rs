//! Match tables: the part that the program fixes ([`MatchTable`]) and the part that the control plane fills
//! ([`Entries`]). How a key finds its entry: see `match_unit`.

use std::collections::BTreeMap;

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

/// What the control plane has put into a table.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    pub(crate) unit: MatchUnit,
    /// By entry index; the arrays below have one row each. Free rows have no key.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) data: Vec<u64>,
    pub(crate) counters: Vec<CounterValue>,
    pub(crate) meters: Vec<Meter>,
    pub(crate) keys: Vec<Option<EntryKey>>,
    free: Vec<u32>,
    pub(crate) handles: BTreeMap<u64, u32>,
    next_handle: u64,
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
            keys: Vec::new(),
            free: Vec::new(),
            handles: BTreeMap::new(),
            next_handle: 0,
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
        let handle = self.next_handle;
        self.next_handle += 1;
        let at = self.free.pop().unwrap_or_else(|| {
            self.outcomes.push(outcome);
            self.data.resize(self.data.len() + table.stride, 0);
            self.counters.push(CounterValue::default());
            self.meters.push(Meter::default());
            self.keys.push(None);
            self.outcomes.len() as u32 - 1
        });
        self.counters[at as usize] = CounterValue::default();
        self.meters[at as usize] = Meter::default();
        self.set(table, at, outcome, data);
        self.unit.insert(&key, at, handle);
        self.keys[at as usize] = Some(EntryKey { handle, key });
        self.handles.insert(handle, at);
        handle
    }

    /// Replaces what an entry does.
    pub(crate) fn set(&mut self, table: &MatchTable, at: u32, outcome: Outcome, data: &[u64]) {
        self.outcomes[at as usize] = outcome;
        let row = &mut self.data[at as usize * table.stride..][..table.stride];
        row.fill(0);
        row[..data.len()].copy_from_slice(data);
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, handle: u64) -> bool {
        let Some(at) = self.handles.remove(&handle) else { return false };
        if let Some(entry) = self.keys[at as usize].take() {
            self.unit.remove(&entry.key, at);
        }
        self.free.push(at);
        true
    }

    /// Whether an entry, or the default, points there.
    pub(crate) fn uses(&self, outcome: Outcome) -> bool {
        self.default.as_ref().is_some_and(|(o, _)| *o == outcome)
            || self.handles.values().any(|&at| self.outcomes[at as usize] == outcome)
    }
}
