//! The runtime interface: how a control plane reads and writes a [`State`], with the names of BMv2's `RuntimeInterface`.
//!
//! Values come and go as big-endian bytes. Coming in, leading zeros are free and the number must fit its width; going out,
//! they are padded to whole bytes of the width. A call that is refused changes nothing.

use std::collections::HashMap;

use crate::action_profile::Group;
use crate::calculation::CrcParameters;
use crate::counter::CounterValue;
use crate::error::RuntimeError;
use crate::match_table::{MatchTable, NoEntry, Outcome, MAX_ENTRIES};
use crate::match_unit::{Bound, PackedKey};
use crate::meter::{Meter, MeterRate};
use crate::number::{
    bits, compare, cut, decimal, from_bytes, ones, prefix_mask, to_bytes, words as words_of,
};
use crate::program::{ActionId, ActionInfo, MatchType, Program, TableInfo, TableType};
use crate::state::{
    ActionData, Cells, EntryHandle, GroupHandle, GroupInfo, MatchKeyParam, MemberHandle, MemberInfo,
    MtAction, MtDefault, MtEntry, State,
};

type Result<T> = std::result::Result<T, RuntimeError>;

/// Most names that a "no such object" error lists.
const HINT_NAMES: usize = 12;

/// A dense id by name, or an error that lists what there is.
fn find(kind: &'static str, names: &HashMap<String, u32>, name: &str) -> Result<usize> {
    if let Some(&id) = names.get(name) {
        return Ok(id as usize);
    }
    let mut known: Vec<&str> = names.keys().map(String::as_str).collect();
    known.sort_unstable();
    let hint = match known.len() {
        0 => format!("; the program has no {kind}"),
        1..=HINT_NAMES => format!("; there is {}", known.join(", ")),
        count => format!("; there are {count} others"),
    };
    Err(RuntimeError::NoSuchObject { kind, name: crate::expression::clip(name), hint })
}

/// A big-endian number of at most `width` bits, low word first.
fn number(bytes: &[u8], width: u32) -> std::result::Result<Vec<u64>, String> {
    if bytes.is_empty() {
        return Err(format!("the value is empty; it needs {} bytes for {width} bits", width.div_ceil(8)));
    }
    let significant = &bytes[bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len())..];
    let value = from_bytes(significant);
    if bits(&value) > width {
        return Err(format!("value 0x{} does not fit {width} bits", hex(significant)));
    }
    Ok(cut(value, width))
}

fn hex(bytes: &[u8]) -> String {
    let shown: String = bytes.iter().take(20).map(|b| format!("{b:02x}")).collect();
    if bytes.len() > 20 {
        shown + "..."
    } else {
        shown
    }
}

fn table_name(info: &TableInfo) -> String {
    format!("table '{}'", info.name)
}

/// Action data as slots.
fn pack_data(action: &ActionInfo, data: &[Vec<u8>]) -> Result<Vec<u64>> {
    let fail = |reason: String| RuntimeError::BadActionData { action: action.name.clone(), reason };
    if data.len() != action.params.len() {
        let names: Vec<&str> = action.params.iter().map(|p| p.name.as_str()).collect();
        return Err(fail(format!(
            "{} values given, it takes {} ({})",
            data.len(),
            names.len(),
            names.join(", ")
        )));
    }
    let mut words = Vec::new();
    for (value, param) in data.iter().zip(&action.params) {
        let value =
            number(value, param.bitwidth).map_err(|e| fail(format!("parameter '{}': {e}", param.name)))?;
        words.extend(value);
    }
    Ok(words)
}

fn unpack_data(action: &ActionInfo, words: &[u64]) -> ActionData {
    let mut at = 0;
    action
        .params
        .iter()
        .map(|param| {
            let value = &words[at..at + words_of(param.bitwidth) as usize];
            at += value.len();
            to_bytes(value, param.bitwidth)
        })
        .collect()
}

/// A match key packed as its table packs it.
fn pack_key(info: &TableInfo, table: &MatchTable, key: &[MatchKeyParam], priority: u32) -> Result<PackedKey> {
    let fail = |field: &str, reason: String| RuntimeError::BadMatchKey {
        table: info.name.clone(),
        key: field.to_owned(),
        reason,
    };
    if key.len() != info.key.len() {
        let names: Vec<&str> = info.key.iter().map(|k| k.name.as_str()).collect();
        return Err(fail(
            "*",
            format!("{} fields given, it has {} ({})", key.len(), names.len(), names.join(", ")),
        ));
    }
    let (mut values, mut masks, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut prefix_length = 0;
    for (at, (param, field)) in key.iter().zip(&info.key).enumerate() {
        let width = field.bitwidth;
        let all = ones(width);
        let value = |given: &[u8]| number(given, width).map_err(|e| fail(&field.name, e));
        let (value, mask) = match (field.match_type, param) {
            (MatchType::Exact, MatchKeyParam::Exact(given)) => (value(given)?, all),
            (MatchType::Valid, MatchKeyParam::Valid(valid)) => (vec![u64::from(*valid)], all),
            (MatchType::Lpm, MatchKeyParam::Lpm(given, length)) => {
                if *length > width {
                    let reason = format!("prefix length {length} is beyond the field's {width} bits");
                    return Err(fail(&field.name, reason));
                }
                prefix_length = *length;
                (value(given)?, prefix_mask(width, *length))
            }
            (MatchType::Ternary, MatchKeyParam::Ternary(given, mask)) => (value(given)?, value(mask)?),
            (MatchType::Range, MatchKeyParam::Range(first, last)) => {
                let (first, last) = (value(first)?, value(last)?);
                if compare(&first, &last).is_gt() {
                    let (first, last) = (decimal(&first, false), decimal(&last, false));
                    return Err(fail(
                        &field.name,
                        format!("the range begins at {first} after its end {last}"),
                    ));
                }
                bounds.push(Bound { field: at, first, last });
                (vec![0], vec![0])
            }
            (wanted, _) => {
                return Err(fail(
                    &field.name,
                    format!("the field matches {wanted:?}; another kind of value was given"),
                ));
            }
        };
        values.push(value.iter().zip(&mask).map(|(v, m)| v & m).collect::<Vec<u64>>());
        masks.push(mask);
    }
    let ordered = matches!(info.match_type, MatchType::Ternary | MatchType::Range);
    Ok(PackedKey {
        value: table.key.pack(values),
        mask: table.key.pack(masks),
        bounds,
        prefix_length,
        priority: if ordered { priority } else { 0 },
    })
}

fn unpack_key(info: &TableInfo, table: &MatchTable, key: &PackedKey) -> Vec<MatchKeyParam> {
    info.key
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let width = field.bitwidth;
            let value = to_bytes(&table.key.unpack_words(&key.value, at), width);
            match field.match_type {
                MatchType::Exact => MatchKeyParam::Exact(value),
                MatchType::Valid => MatchKeyParam::Valid(value != [0]),
                MatchType::Lpm => MatchKeyParam::Lpm(value, key.prefix_length),
                MatchType::Ternary => {
                    let mask = table.key.unpack_words(&key.mask, at);
                    MatchKeyParam::Ternary(value, to_bytes(&mask, width))
                }
                MatchType::Range => {
                    let bound = key.bounds.iter().find(|b| b.field == at);
                    let (first, last) = bound.map_or((&[][..], &[][..]), |b| (&b.first, &b.last));
                    MatchKeyParam::Range(to_bytes(first, width), to_bytes(last, width))
                }
            }
        })
        .collect()
}

/// The rates of a meter, checked: as many as it has, lowest first.
pub(crate) fn check_rates(object: String, count: usize, rates: &[MeterRate]) -> Result<()> {
    let fail = |reason: String| RuntimeError::BadValue { object: object.clone(), reason };
    if rates.is_empty() {
        return Ok(());
    }
    if rates.len() != count {
        return Err(RuntimeError::RateCount { object, given: rates.len(), wanted: count });
    }
    if let Some(rate) = rates.iter().find(|r| !r.info_rate.is_finite() || r.info_rate < 0.0) {
        return Err(fail(format!("rate {} is no rate per microsecond", rate.info_rate)));
    }
    if let Some(pair) = rates.windows(2).find(|pair| pair[0].info_rate > pair[1].info_rate) {
        return Err(fail(format!(
            "rate {} comes before the lower rate {}; the lowest comes first",
            pair[0].info_rate, pair[1].info_rate
        )));
    }
    Ok(())
}

fn cell<T>(object: impl FnOnce() -> String, cells: &mut [T], index: u64) -> Result<&mut T> {
    let size = cells.len() as u64;
    usize::try_from(index)
        .ok()
        .and_then(|at| cells.get_mut(at))
        .ok_or_else(|| RuntimeError::IndexOutOfRange { object: object(), index, size })
}

/// Tables.
impl State {
    pub(crate) fn table(&self, name: &str) -> Result<usize> {
        find("table", &self.program.names.tables, name)
    }

    /// A table by name that must be of a type.
    fn table_of(&self, name: &str, wanted: &[TableType], instead: &str) -> Result<usize> {
        let id = self.table(name)?;
        let info = &self.program.tables[id];
        if wanted.contains(&info.table_type) {
            return Ok(id);
        }
        Err(RuntimeError::WrongType {
            object: table_name(info),
            reason: format!("is of type {:?}; {instead}", info.table_type),
        })
    }

    fn direct_table(&self, name: &str) -> Result<usize> {
        self.table_of(
            name,
            &[TableType::Simple],
            "its entries point at members or groups: use the mt_indirect calls",
        )
    }

    fn indirect_table(&self, name: &str) -> Result<usize> {
        self.table_of(
            name,
            &[TableType::Indirect, TableType::IndirectWs],
            "its entries have actions of their own: use mt_add_entry and its like",
        )
    }

    fn group_table(&self, name: &str) -> Result<usize> {
        self.table_of(name, &[TableType::IndirectWs], "it has no selector and so no groups")
    }

    fn mutable(&self, id: usize) -> Result<()> {
        let info = &self.program.tables[id];
        if info.const_entries {
            let reason = "the program declares its entries const".to_owned();
            return Err(RuntimeError::Immutable { object: table_name(info), reason });
        }
        Ok(())
    }

    /// One of a table's actions by name, with its data.
    fn action_of_table(&self, id: usize, action: &str, data: &[Vec<u8>]) -> Result<(Outcome, Vec<u64>)> {
        let program = &self.program;
        let actions = &program.match_tables[id].actions;
        let Some(local) = actions.iter().position(|a| program.actions[a.action as usize].name == action)
        else {
            let names: Vec<&str> =
                actions.iter().map(|a| program.actions[a.action as usize].name.as_str()).collect();
            return Err(RuntimeError::InvalidActionName {
                object: table_name(&program.tables[id]),
                action: crate::expression::clip(action),
                actions: names.join(", "),
            });
        };
        let words = pack_data(&program.actions[actions[local].action as usize], data)?;
        Ok((Outcome::Action(local as u32), words))
    }

    fn member_of_table(&self, id: usize, member: MemberHandle) -> Result<Outcome> {
        let profile = self.program.match_tables[id].profile.unwrap_or_default() as usize;
        self.member(profile, member).map(Outcome::Member)
    }

    fn group_of_table(&self, id: usize, group: GroupHandle) -> Result<Outcome> {
        let profile = self.program.match_tables[id].profile.unwrap_or_default() as usize;
        let handle = self.group(profile, group)?;
        if self.cells.profiles[profile].group(handle).is_none_or(|group| group.members().is_empty()) {
            // An entry must lead somewhere.
            let object =
                format!("action profile '{}' group {group}", self.program.action_profiles[profile].name);
            return Err(RuntimeError::EmptyGroup {
                object,
                reason: "the group has no members yet".to_owned(),
            });
        }
        Ok(Outcome::Group(handle))
    }

    fn add(
        &mut self,
        id: usize,
        key: &[MatchKeyParam],
        priority: u32,
        outcome: Outcome,
        data: &[u64],
    ) -> Result<EntryHandle> {
        self.mutable(id)?;
        let info = &self.program.tables[id];
        let table = &self.program.match_tables[id];
        if info.key.is_empty() {
            return Err(RuntimeError::NoTableKey { object: table_name(info) });
        }
        let packed = pack_key(info, table, key, priority)?;
        let entries = &mut self.cells.tables[id];
        if let Some(at) = entries.unit.find(&packed) {
            let handle = entries.keys[at as usize].as_ref().map_or(0, |e| e.handle);
            return Err(RuntimeError::DuplicateEntry { table: info.name.clone(), handle });
        }
        let limit = info.max_size.min(MAX_ENTRIES);
        if entries.len() >= limit {
            return Err(RuntimeError::Full { object: table_name(info), limit: limit as u64 });
        }
        Ok(entries.add(table, packed, outcome, data))
    }

    pub(crate) fn entry(&self, id: usize, handle: EntryHandle) -> Result<u32> {
        let object = || table_name(&self.program.tables[id]);
        self.cells.tables[id].row(handle).map_err(|error| match error {
            NoEntry::Free => RuntimeError::BadHandle { object: object(), kind: "entry", handle },
            NoEntry::Later => RuntimeError::ExpiredHandle { object: object(), handle },
        })
    }

    fn modify(&mut self, id: usize, handle: EntryHandle, outcome: Outcome, data: &[u64]) -> Result<()> {
        self.mutable(id)?;
        let at = self.entry(id, handle)?;
        self.cells.tables[id].set(&self.program.match_tables[id], at, outcome, data);
        Ok(())
    }

    fn set_default(&mut self, id: usize, outcome: Outcome, data: Vec<u64>) -> Result<()> {
        let info = &self.program.tables[id];
        let table = &self.program.match_tables[id];
        let current = table.default.as_ref().map(|call| (Outcome::Action(call.local), &call.data));
        let changes_action = current.map(|(o, _)| o) != Some(outcome);
        let changes = changes_action || current.map(|(_, d)| d) != Some(&data);
        if (table.const_default_action && changes_action) || (info.const_default && changes) {
            let part = if info.const_default { "entry" } else { "action" };
            return Err(RuntimeError::ConstDefault { object: table_name(info), part });
        }
        self.cells.tables[id].default = Some((outcome, data));
        Ok(())
    }

    fn action_of(&self, id: usize, outcome: Outcome, data: &[u64]) -> MtAction {
        match outcome {
            Outcome::Action(local) => {
                let action = self.program.match_tables[id].actions[local as usize].action;
                MtAction::Action(ActionId(action), unpack_data(&self.program.actions[action as usize], data))
            }
            Outcome::Member(member) => MtAction::Member(u64::from(member)),
            Outcome::Group(group) => MtAction::Group(u64::from(group)),
        }
    }

    fn read_entry(&self, id: usize, at: u32) -> Option<MtEntry> {
        let entries = &self.cells.tables[id];
        let table = &self.program.match_tables[id];
        let entry = entries.keys[at as usize].as_ref()?;
        let data = &entries.data[at as usize * table.stride..][..table.stride];
        Some(MtEntry {
            handle: entry.handle,
            key: unpack_key(&self.program.tables[id], table, &entry.key),
            priority: entry.key.priority,
            action: self.action_of(id, entries.outcomes[at as usize], data),
        })
    }

    /// Adds an entry to a direct table. `priority` is BMv2's (low wins), used by ternary and range tables only.
    pub fn mt_add_entry(
        &mut self,
        table: &str,
        key: &[MatchKeyParam],
        action: &str,
        data: &[Vec<u8>],
        priority: u32,
    ) -> Result<EntryHandle> {
        let id = self.direct_table(table)?;
        let (outcome, words) = self.action_of_table(id, action, data)?;
        self.add(id, key, priority, outcome, &words)
    }

    /// Replaces the action of an entry.
    pub fn mt_modify_entry(
        &mut self,
        table: &str,
        handle: EntryHandle,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<()> {
        let id = self.direct_table(table)?;
        let (outcome, words) = self.action_of_table(id, action, data)?;
        self.modify(id, handle, outcome, &words)
    }

    /// Deletes an entry of any table.
    pub fn mt_delete_entry(&mut self, table: &str, handle: EntryHandle) -> Result<()> {
        let id = self.table(table)?;
        self.mutable(id)?;
        let at = self.entry(id, handle)?;
        self.cells.tables[id].remove(at);
        Ok(())
    }

    /// Deletes every entry; with `reset_default` also resets the default entry. Const entries stay.
    pub fn mt_clear_entries(&mut self, table: &str, reset_default: bool) -> Result<()> {
        let id = self.table(table)?;
        if !self.program.tables[id].const_entries {
            self.cells.tables[id].clear(&self.program.match_tables[id]);
        }
        if reset_default {
            self.mt_reset_default_entry(table)?;
        }
        Ok(())
    }

    /// Sets the default action of a direct table.
    pub fn mt_set_default_action(&mut self, table: &str, action: &str, data: &[Vec<u8>]) -> Result<()> {
        let id = self.direct_table(table)?;
        let (outcome, words) = self.action_of_table(id, action, data)?;
        self.set_default(id, outcome, words)
    }

    /// Sets the default entry back to what the program says.
    pub fn mt_reset_default_entry(&mut self, table: &str) -> Result<()> {
        let id = self.table(table)?;
        let default = self.program.match_tables[id].default.as_ref();
        self.cells.tables[id].default = default.map(|call| (Outcome::Action(call.local), call.data.clone()));
        Ok(())
    }

    /// Entries in order of their rows (the low 24 bits of the handle).
    pub fn mt_get_entries(&self, table: &str) -> Result<Vec<MtEntry>> {
        let id = self.table(table)?;
        Ok(self.cells.tables[id].rows().filter_map(|at| self.read_entry(id, at)).collect())
    }

    /// One entry.
    pub fn mt_get_entry(&self, table: &str, handle: EntryHandle) -> Result<MtEntry> {
        let id = self.table(table)?;
        let at = self.entry(id, handle)?;
        let object = table_name(&self.program.tables[id]);
        self.read_entry(id, at).ok_or(RuntimeError::BadHandle { object, kind: "entry", handle })
    }

    /// The entry with this key (and priority, for ternary and range tables), if any.
    pub fn mt_get_entry_from_key(
        &self,
        table: &str,
        key: &[MatchKeyParam],
        priority: u32,
    ) -> Result<Option<MtEntry>> {
        let id = self.table(table)?;
        let packed = pack_key(&self.program.tables[id], &self.program.match_tables[id], key, priority)?;
        Ok(self.cells.tables[id].unit.find(&packed).and_then(|at| self.read_entry(id, at)))
    }

    /// The default entry.
    pub fn mt_get_default_entry(&self, table: &str) -> Result<MtDefault> {
        let id = self.table(table)?;
        let default = self.cells.tables[id].default.as_ref();
        Ok(MtDefault { action: default.map(|(outcome, data)| self.action_of(id, *outcome, data)) })
    }

    /// Number of entries.
    pub fn mt_get_num_entries(&self, table: &str) -> Result<usize> {
        Ok(self.cells.tables[self.table(table)?].len())
    }

    /// Adds an entry that points at a member.
    pub fn mt_indirect_add_entry(
        &mut self,
        table: &str,
        key: &[MatchKeyParam],
        member: MemberHandle,
        priority: u32,
    ) -> Result<EntryHandle> {
        let id = self.indirect_table(table)?;
        let outcome = self.member_of_table(id, member)?;
        self.add(id, key, priority, outcome, &[])
    }

    /// Points an entry at another member.
    pub fn mt_indirect_modify_entry(
        &mut self,
        table: &str,
        handle: EntryHandle,
        member: MemberHandle,
    ) -> Result<()> {
        let id = self.indirect_table(table)?;
        let outcome = self.member_of_table(id, member)?;
        self.modify(id, handle, outcome, &[])
    }

    /// Makes a member the default.
    pub fn mt_indirect_set_default_member(&mut self, table: &str, member: MemberHandle) -> Result<()> {
        let id = self.indirect_table(table)?;
        let outcome = self.member_of_table(id, member)?;
        self.set_default(id, outcome, Vec::new())
    }

    /// Adds an entry that points at a group.
    pub fn mt_indirect_ws_add_entry(
        &mut self,
        table: &str,
        key: &[MatchKeyParam],
        group: GroupHandle,
        priority: u32,
    ) -> Result<EntryHandle> {
        let id = self.group_table(table)?;
        let outcome = self.group_of_table(id, group)?;
        self.add(id, key, priority, outcome, &[])
    }

    /// Points an entry at another group.
    pub fn mt_indirect_ws_modify_entry(
        &mut self,
        table: &str,
        handle: EntryHandle,
        group: GroupHandle,
    ) -> Result<()> {
        let id = self.group_table(table)?;
        let outcome = self.group_of_table(id, group)?;
        self.modify(id, handle, outcome, &[])
    }

    /// Makes a group the default.
    pub fn mt_indirect_ws_set_default_group(&mut self, table: &str, group: GroupHandle) -> Result<()> {
        let id = self.group_table(table)?;
        let outcome = self.group_of_table(id, group)?;
        self.set_default(id, outcome, Vec::new())
    }

    pub(crate) fn counted_table(&self, name: &str) -> Result<usize> {
        let id = self.table(name)?;
        let info = &self.program.tables[id];
        if info.with_counters {
            return Ok(id);
        }
        Err(RuntimeError::CountersDisabled { object: table_name(info) })
    }

    /// A direct counter of an entry.
    pub fn mt_read_counters(&self, table: &str, handle: EntryHandle) -> Result<CounterValue> {
        let id = self.counted_table(table)?;
        Ok(self.cells.tables[id].counters[self.entry(id, handle)? as usize])
    }

    /// Sets a direct counter.
    pub fn mt_write_counters(&mut self, table: &str, handle: EntryHandle, value: CounterValue) -> Result<()> {
        let id = self.counted_table(table)?;
        let at = self.entry(id, handle)?;
        self.cells.tables[id].counters[at as usize] = value;
        Ok(())
    }

    /// Zeroes every direct counter of a table.
    pub fn mt_reset_counters(&mut self, table: &str) -> Result<()> {
        let id = self.counted_table(table)?;
        self.cells.tables[id].counters.fill(CounterValue::default());
        self.cells.tables[id].default_counter = CounterValue::default();
        Ok(())
    }

    pub(crate) fn metered_table(&self, name: &str) -> Result<(usize, usize)> {
        let id = self.table(name)?;
        match self.program.match_tables[id].direct_meter {
            Some((meter, _)) => Ok((id, self.program.meter_arrays[meter as usize].rate_count)),
            None => Err(RuntimeError::MetersDisabled { object: table_name(&self.program.tables[id]) }),
        }
    }

    /// Rates of an entry's direct meter, lowest first; an empty slice switches it off.
    pub fn mt_set_meter_rates(
        &mut self,
        table: &str,
        handle: EntryHandle,
        rates: &[MeterRate],
    ) -> Result<()> {
        let (id, count) = self.metered_table(table)?;
        let at = self.entry(id, handle)?;
        check_rates(format!("direct meter of table '{table}'"), count, rates)?;
        self.cells.tables[id].meters[at as usize].set_rates(rates);
        Ok(())
    }

    /// Rates of an entry's direct meter; empty if never set.
    pub fn mt_get_meter_rates(&self, table: &str, handle: EntryHandle) -> Result<Vec<MeterRate>> {
        let (id, _) = self.metered_table(table)?;
        Ok(self.cells.tables[id].meters[self.entry(id, handle)? as usize].rates())
    }
}

/// Action profiles.
impl State {
    fn profile(&self, name: &str) -> Result<usize> {
        find("action profile", &self.program.names.profiles, name)
    }

    fn profile_with_selector(&self, name: &str) -> Result<usize> {
        let id = self.profile(name)?;
        if self.program.action_profiles[id].with_selector {
            return Ok(id);
        }
        Err(RuntimeError::NoSelector { object: self.profile_name(id) })
    }

    fn profile_name(&self, id: usize) -> String {
        format!("action profile '{}'", self.program.action_profiles[id].name)
    }

    fn member(&self, profile: usize, handle: MemberHandle) -> Result<u32> {
        let bad = || RuntimeError::BadHandle { object: self.profile_name(profile), kind: "member", handle };
        let id = u32::try_from(handle).map_err(|_| bad())?;
        self.cells.profiles[profile].member(id).map(|_| id).ok_or_else(bad)
    }

    fn group(&self, profile: usize, handle: GroupHandle) -> Result<u32> {
        let bad = || RuntimeError::BadHandle { object: self.profile_name(profile), kind: "group", handle };
        let id = u32::try_from(handle).map_err(|_| bad())?;
        self.cells.profiles[profile].group(id).map(|_| id).ok_or_else(bad)
    }

    /// An action by name that some table of the profile may call.
    fn action_of_profile(&self, profile: usize, action: &str, data: &[Vec<u8>]) -> Result<(u32, Vec<u64>)> {
        let program = &self.program;
        let tables = program.match_tables.iter().filter(|t| t.profile == Some(profile as u32));
        let mut names = Vec::new();
        for a in tables.flat_map(|t| &t.actions) {
            let info = &program.actions[a.action as usize];
            if info.name == action {
                return Ok((a.named, pack_data(info, data)?));
            }
            names.push(info.name.as_str());
        }
        Err(RuntimeError::InvalidActionName {
            object: self.profile_name(profile),
            action: crate::expression::clip(action),
            actions: names.join(", "),
        })
    }

    /// Whether an entry or default of one of the profile's tables points there.
    fn in_use(&self, profile: usize, outcome: Outcome) -> Option<&str> {
        let tables = &self.program.match_tables;
        (0..tables.len())
            .find(|&t| tables[t].profile == Some(profile as u32) && self.cells.tables[t].uses(outcome))
            .map(|t| self.program.tables[t].name.as_str())
    }

    /// Adds a member.
    pub fn mt_act_prof_add_member(
        &mut self,
        profile: &str,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<MemberHandle> {
        let id = self.profile(profile)?;
        let (action, data) = self.action_of_profile(id, action, data)?;
        let limit = self.program.action_profiles[id].max_size;
        let count = self.cells.profiles[id].members.iter().flatten().count();
        if limit != 0 && count >= limit {
            return Err(RuntimeError::Full { object: self.profile_name(id), limit: limit as u64 });
        }
        Ok(u64::from(self.cells.profiles[id].add_member(crate::action_profile::Member { action, data })))
    }

    /// Replaces a member's action.
    pub fn mt_act_prof_modify_member(
        &mut self,
        profile: &str,
        member: MemberHandle,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<()> {
        let id = self.profile(profile)?;
        let handle = self.member(id, member)?;
        let (action, data) = self.action_of_profile(id, action, data)?;
        self.cells.profiles[id].members[handle as usize] =
            Some(crate::action_profile::Member { action, data });
        Ok(())
    }

    /// Deletes a member that no entry and no group uses.
    pub fn mt_act_prof_delete_member(&mut self, profile: &str, member: MemberHandle) -> Result<()> {
        let id = self.profile(profile)?;
        let handle = self.member(id, member)?;
        let object = format!("{} member {member}", self.profile_name(id));
        if let Some(table) = self.in_use(id, Outcome::Member(handle)) {
            return Err(RuntimeError::InUse {
                object,
                kind: "member",
                reason: format!("entries of table '{table}' point at it"),
            });
        }
        if let Some(count) = self.cells.profiles[id].memberships().get(&handle) {
            return Err(RuntimeError::InUse {
                object,
                kind: "member",
                reason: format!("it is in {count} groups"),
            });
        }
        self.cells.profiles[id].members[handle as usize] = None;
        Ok(())
    }

    /// Creates an empty group.
    pub fn mt_act_prof_create_group(&mut self, profile: &str) -> Result<GroupHandle> {
        let id = self.profile_with_selector(profile)?;
        Ok(u64::from(self.cells.profiles[id].create_group()))
    }

    /// Deletes a group that no entry uses.
    pub fn mt_act_prof_delete_group(&mut self, profile: &str, group: GroupHandle) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let handle = self.group(id, group)?;
        if let Some(table) = self.in_use(id, Outcome::Group(handle)) {
            let object = format!("{} group {group}", self.profile_name(id));
            return Err(RuntimeError::InUse {
                object,
                kind: "group",
                reason: format!("entries of table '{table}' point at it"),
            });
        }
        self.cells.profiles[id].groups[handle as usize] = None;
        Ok(())
    }

    /// Adds a member to a group.
    pub fn mt_act_prof_add_member_to_group(
        &mut self,
        profile: &str,
        member: MemberHandle,
        group: GroupHandle,
    ) -> Result<()> {
        self.mt_act_prof_add_watching_member_to_group(profile, member, group, None)
    }

    /// As [`State::mt_act_prof_add_member_to_group`]; the selector passes the member over while the port that it watches is not
    /// up.
    pub fn mt_act_prof_add_watching_member_to_group(
        &mut self,
        profile: &str,
        member: MemberHandle,
        group: GroupHandle,
        watch: Option<u16>,
    ) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let (member_id, group_id) = (self.member(id, member)?, self.group(id, group)?);
        let object = self.profile_name(id);
        let State { cells, ports_up, .. } = self;
        let group_of = cells.profiles[id].groups[group_id as usize].get_or_insert_with(Group::default);
        if group_of.add(member_id, watch, ports_up) {
            return Ok(());
        }
        Err(RuntimeError::AlreadyInGroup { object, member, group })
    }

    /// Lets a member of a group watch another port, or none.
    pub fn mt_act_prof_watch_port(
        &mut self,
        profile: &str,
        member: MemberHandle,
        group: GroupHandle,
        watch: Option<u16>,
    ) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let (member_id, group_id) = (self.member(id, member)?, self.group(id, group)?);
        let object = self.profile_name(id);
        let State { cells, ports_up, .. } = self;
        let group_of = cells.profiles[id].groups[group_id as usize].get_or_insert_with(Group::default);
        if group_of.members().binary_search(&member_id).is_err() {
            return Err(RuntimeError::NotInGroup { object, member, group });
        }
        group_of.watch(member_id, watch, ports_up);
        Ok(())
    }

    /// Says whether a port is up, for the members that watch it. No port is until it is said to be.
    pub fn set_port_up(&mut self, port: u16, up: bool) {
        let State { cells, ports_up, .. } = self;
        if if up { ports_up.insert(port) } else { ports_up.remove(&port) } {
            cells.profiles.iter_mut().for_each(|profile| profile.port_changed(port, ports_up));
        }
    }

    /// Removes a member from a group. The last member of a group that entries use stays.
    pub fn mt_act_prof_remove_member_from_group(
        &mut self,
        profile: &str,
        member: MemberHandle,
        group: GroupHandle,
    ) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let (member_id, group_id) = (self.member(id, member)?, self.group(id, group)?);
        let object = self.profile_name(id);
        let used = self.in_use(id, Outcome::Group(group_id)).map(str::to_owned);
        let State { cells, ports_up, .. } = self;
        let group_of = cells.profiles[id].groups[group_id as usize].get_or_insert_with(Group::default);
        if group_of.members().binary_search(&member_id).is_err() {
            return Err(RuntimeError::NotInGroup { object, member, group });
        }
        if let (1, Some(table)) = (group_of.members().len(), used) {
            let reason = format!(
                "member {member} is the last of group {group}, which entries of table '{table}' point at"
            );
            return Err(RuntimeError::EmptyGroup { object, reason });
        }
        group_of.remove(member_id, ports_up);
        Ok(())
    }

    /// Members in order of handle.
    pub fn mt_act_prof_get_members(&self, profile: &str) -> Result<Vec<MemberInfo>> {
        let id = self.profile(profile)?;
        let members = (0..).zip(&self.cells.profiles[id].members);
        Ok(members
            .filter_map(|(handle, member)| {
                member.as_ref().map(|m| MemberInfo {
                    handle,
                    action: ActionId(m.action),
                    data: unpack_data(&self.program.actions[m.action as usize], &m.data),
                })
            })
            .collect())
    }

    /// Groups in order of handle.
    pub fn mt_act_prof_get_groups(&self, profile: &str) -> Result<Vec<GroupInfo>> {
        let id = self.profile_with_selector(profile)?;
        let groups = (0..).zip(&self.cells.profiles[id].groups);
        Ok(groups
            .filter_map(|(handle, group)| {
                let members = group.as_ref()?.members();
                Some(GroupInfo { handle, members: members.iter().map(|&m| u64::from(m)).collect() })
            })
            .collect())
    }
}

/// Counters, meters, registers, value sets.
impl State {
    fn counter(&mut self, name: &str) -> Result<&mut [CounterValue]> {
        let id = find("counter", &self.program.names.counters, name)?;
        if let Some(table) = &self.program.counter_arrays[id].direct_table {
            let reason = format!("is direct: read it with the entries of table '{table}'");
            return Err(RuntimeError::WrongType { object: format!("counter '{name}'"), reason });
        }
        Ok(&mut self.cells.counters[id])
    }

    /// A counter cell.
    pub fn read_counters(&self, counter: &str, index: u64) -> Result<CounterValue> {
        let id = find("counter", &self.program.names.counters, counter)?;
        let object = format!("counter '{counter}'");
        if let Some(table) = &self.program.counter_arrays[id].direct_table {
            let reason = format!("is direct: read it with the entries of table '{table}'");
            return Err(RuntimeError::WrongType { object, reason });
        }
        let cells = &self.cells.counters[id];
        let size = cells.len() as u64;
        let at = usize::try_from(index).ok().and_then(|at| cells.get(at)).copied();
        at.ok_or(RuntimeError::IndexOutOfRange { object, index, size })
    }

    /// Sets a counter cell.
    pub fn write_counters(&mut self, counter: &str, index: u64, value: CounterValue) -> Result<()> {
        let cells = self.counter(counter)?;
        *cell(|| format!("counter '{counter}'"), cells, index)? = value;
        Ok(())
    }

    /// Zeroes a counter array.
    pub fn reset_counters(&mut self, counter: &str) -> Result<()> {
        self.counter(counter)?.fill(CounterValue::default());
        Ok(())
    }

    fn meter(&self, name: &str) -> Result<usize> {
        let id = find("meter", &self.program.names.meters, name)?;
        if let Some(table) = &self.program.meter_arrays[id].direct_table {
            let reason = format!("is direct: set it with the entries of table '{table}'");
            return Err(RuntimeError::WrongType { object: format!("meter '{name}'"), reason });
        }
        Ok(id)
    }

    /// Rates of one meter, lowest first; an empty slice switches it off.
    pub fn meter_set_rates(&mut self, meter: &str, index: u64, rates: &[MeterRate]) -> Result<()> {
        let id = self.meter(meter)?;
        check_rates(format!("meter '{meter}'"), self.program.meter_arrays[id].rate_count, rates)?;
        cell(|| format!("meter '{meter}'"), &mut self.cells.meters[id], index)?.set_rates(rates);
        Ok(())
    }

    /// Rates of every meter of an array.
    pub fn meter_array_set_rates(&mut self, meter: &str, rates: &[MeterRate]) -> Result<()> {
        let id = self.meter(meter)?;
        check_rates(format!("meter '{meter}'"), self.program.meter_arrays[id].rate_count, rates)?;
        self.cells.meters[id].iter_mut().for_each(|m| m.set_rates(rates));
        Ok(())
    }

    /// Rates of one meter; empty if never set.
    pub fn meter_get_rates(&self, meter: &str, index: u64) -> Result<Vec<MeterRate>> {
        let cells = &self.cells.meters[self.meter(meter)?];
        let size = cells.len() as u64;
        let at = usize::try_from(index).ok().and_then(|at| cells.get(at)).map(Meter::rates);
        at.ok_or_else(|| RuntimeError::IndexOutOfRange { object: format!("meter '{meter}'"), index, size })
    }

    fn register(&self, name: &str) -> Result<u32> {
        find("register", &self.program.names.registers, name).map(|at| at as u32)
    }

    /// A register cell, as big-endian bytes of the register's width.
    pub fn register_read(&self, register: &str, index: u64) -> Result<Vec<u8>> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        let size = array.size as u64;
        let object = || format!("register '{register}'");
        let value = self.cells.registers.cell(id, index).ok_or_else(|| RuntimeError::IndexOutOfRange {
            object: object(),
            index,
            size,
        })?;
        Ok(to_bytes(value, array.width))
    }

    /// Every cell of a register.
    pub fn register_read_all(&self, register: &str) -> Result<Vec<Vec<u8>>> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        Ok((0..array.size as u64)
            .filter_map(|at| self.cells.registers.cell(id, at))
            .map(|v| to_bytes(v, array.width))
            .collect())
    }

    /// Writes a cell.
    pub fn register_write(&mut self, register: &str, index: u64, value: &[u8]) -> Result<()> {
        self.register_write_range(register, index, index.saturating_add(1), value)
    }

    /// Writes cells `start..end`.
    pub fn register_write_range(&mut self, register: &str, start: u64, end: u64, value: &[u8]) -> Result<()> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        let object = format!("register '{register}'");
        let size = array.size as u64;
        if start >= end || end > size {
            let index = if start >= size { start } else { end };
            return Err(RuntimeError::IndexOutOfRange { object, index, size });
        }
        let value = number(value, array.width).map_err(|reason| RuntimeError::BadValue { object, reason })?;
        (start..end).for_each(|at| self.cells.registers.set_cell(id, at, &value));
        Ok(())
    }

    /// Zeroes a register.
    pub fn register_reset(&mut self, register: &str) -> Result<()> {
        let id = self.register(register)?;
        self.cells.registers.reset(id);
        Ok(())
    }

    /// The low words of all cells of the register with this dense index; none if there is no such register.
    pub fn register_cells(&self, index: usize) -> Vec<u64> {
        self.cells.registers.cells(index).collect()
    }

    /// The low word of a cell of the register with this dense index: for the port gate. `None` beyond the array, and if
    /// there is none.
    #[inline]
    pub fn register_cell(&self, index: usize, cell: usize) -> Option<u64> {
        self.cells.registers.get(index as u32, cell as u64)
    }

    fn vset(&self, name: &str) -> Result<usize> {
        find("parser value set", &self.program.names.vsets, name)
    }

    fn vset_value(&self, id: usize, value: &[u8]) -> Result<Vec<u64>> {
        let info = &self.program.parse_vsets[id];
        let object = format!("parser value set '{}'", info.name);
        number(value, info.bitwidth).map_err(|reason| RuntimeError::BadValue { object, reason })
    }

    /// Adds a value to a parser value set: its fields side by side, without padding.
    pub fn parse_vset_add(&mut self, vset: &str, value: &[u8]) -> Result<()> {
        let id = self.vset(vset)?;
        let value = self.vset_value(id, value)?;
        self.cells.vsets[id].insert(value);
        Ok(())
    }

    /// Removes a value.
    pub fn parse_vset_remove(&mut self, vset: &str, value: &[u8]) -> Result<()> {
        let id = self.vset(vset)?;
        let value = self.vset_value(id, value)?;
        self.cells.vsets[id].remove(&value);
        Ok(())
    }

    /// Values in order.
    pub fn parse_vset_get(&self, vset: &str) -> Result<Vec<Vec<u8>>> {
        let id = self.vset(vset)?;
        let width = self.program.parse_vsets[id].bitwidth;
        let mut values: Vec<Vec<u8>> = self.cells.vsets[id].iter().map(|v| to_bytes(v, width)).collect();
        values.sort_unstable();
        Ok(values)
    }

    /// Empties a value set.
    pub fn parse_vset_clear(&mut self, vset: &str) -> Result<()> {
        let id = self.vset(vset)?;
        self.cells.vsets[id].clear();
        Ok(())
    }

    /// Sets the parameters of a calculation of type `crc16_custom`.
    pub fn set_crc16_custom_parameters(
        &mut self,
        calculation: &str,
        parameters: CrcParameters<u16>,
    ) -> Result<()> {
        let id = self.custom_crc(calculation, 16)?;
        self.cells.crcs.set(id, parameters.crc());
        Ok(())
    }

    /// Sets the parameters of a calculation of type `crc32_custom`.
    pub fn set_crc32_custom_parameters(
        &mut self,
        calculation: &str,
        parameters: CrcParameters<u32>,
    ) -> Result<()> {
        let id = self.custom_crc(calculation, 32)?;
        self.cells.crcs.set(id, parameters.crc());
        Ok(())
    }

    fn custom_crc(&self, calculation: &str, width: u32) -> Result<usize> {
        let id = find("calculation", &self.program.names.calculations, calculation)?;
        if self.program.calculations[id].algorithm.custom_width() == Some(width) {
            return Ok(id);
        }
        Err(RuntimeError::WrongCalculation { calculation: calculation.to_owned(), width })
    }

    /// Back to how the switch started. Parameters of CRCs stay as they are, as in BMv2.
    pub fn reset_state(&mut self) {
        let crcs = std::mem::take(&mut self.cells.crcs);
        let program: &Program = &self.program;
        self.cells = Cells { crcs, ..Cells::new(program) };
    }
}
