//! Tables and action profiles.

use std::collections::BTreeMap;
use std::sync::Arc;

use bm::{
    ActionProfileInfo, CounterValue, Executable, MatchKeyParam, MatchType, MeterRate, MtAction, State,
    TableInfo, TableType,
};

use super::{masked, padded, place, Answer, No, No::Elsewhere, No::Refused};
use crate::calls::Op;

/// An entry.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: Vec<MatchKeyParam>,
    priority: u32,
    to: MtAction,
    counted: CounterValue,
    rates: Vec<MeterRate>,
}

#[derive(Clone, Default)]
struct Table {
    /// By handle: the row in the low bits, and above them the number of earlier uses of the row.
    entries: BTreeMap<u64, Entry>,
    /// Number of entries deleted from a row, modulo 256.
    used: BTreeMap<u64, u8>,
    default: Option<MtAction>,
    default_counted: CounterValue,
    default_rates: Vec<MeterRate>,
}

/// Number of bits of a handle that contain the row.
const ROW_BITS: u32 = 24;

fn row(handle: u64) -> u64 {
    handle & ((1 << ROW_BITS) - 1)
}

#[derive(Clone, Default)]
struct Profile {
    members: BTreeMap<u64, (String, Vec<Vec<u8>>)>,
    groups: BTreeMap<u64, Vec<u64>>,
}

pub(super) struct Tables {
    program: Arc<Executable>,
    /// As the program defines them, before any call.
    initial: Vec<Table>,
    tables: Vec<Table>,
    profiles: Vec<Profile>,
}

impl Tables {
    /// Reads the program's own table contents from a fresh state.
    pub(super) fn new(program: Arc<Executable>, state: &State) -> Self {
        let initial: Vec<Table> = program.tables().iter().map(|info| read(state, &info.name)).collect();
        let profiles = vec![Profile::default(); program.action_profiles().len()];
        Self { tables: initial.clone(), initial, profiles, program }
    }

    pub(super) fn reset(&mut self) {
        self.tables.clone_from(&self.initial);
        self.profiles.fill(Profile::default());
    }

    /// Makes a call on a table or profile.
    pub(super) fn make(&mut self, op: &Op) -> Answer {
        match op {
            Op::Add { table, key, priority, to } => {
                let at = self.table(table)?;
                let info = &self.program.tables()[at];
                let to = self.lead(at, to)?;
                if info.const_entries || info.key.is_empty() {
                    return Err(Refused);
                }
                let key = key_of(info, key)?;
                let ordered = matches!(info.match_type, MatchType::Ternary | MatchType::Range);
                let priority = if ordered { *priority } else { 0 };
                let table = &mut self.tables[at];
                let same = |entry: &Entry| entry.key == key && entry.priority == priority;
                if table.entries.values().any(same) || table.entries.len() >= info.max_size {
                    return Err(Refused);
                }
                let entry = Entry { key, priority, to, counted: CounterValue::default(), rates: Vec::new() };
                let is_free = |at: &u64| table.entries.keys().all(|handle| row(*handle) != *at);
                let free = (0..).find(is_free).ok_or(Refused)?;
                let handle = u64::from(table.used.get(&free).copied().unwrap_or(0)) << ROW_BITS | free;
                table.entries.insert(handle, entry);
                return Ok(Some(handle));
            }
            Op::Modify { table, handle, to } => {
                let at = self.open(table)?;
                let to = self.lead(at, to)?;
                self.entry(at, *handle)?.to = to;
            }
            Op::Delete { table, handle } => {
                let at = self.open(table)?;
                let table = &mut self.tables[at];
                table.entries.remove(handle).ok_or(Refused)?;
                let used = table.used.entry(row(*handle)).or_default();
                *used = used.wrapping_add(1);
            }
            Op::Clear { table, reset_default } => {
                let at = self.table(table)?;
                if !self.program.tables()[at].const_entries {
                    self.tables[at].entries.clear();
                    self.tables[at].used.clear();
                }
                if *reset_default {
                    self.tables[at].default.clone_from(&self.initial[at].default);
                }
            }
            Op::SetDefault { table, to } => {
                let at = self.table(table)?;
                let to = Some(self.lead(at, to)?);
                if self.program.tables()[at].const_default && to != self.initial[at].default {
                    return Err(Refused);
                }
                self.tables[at].default = to;
            }
            Op::ResetDefault { table } => {
                let at = self.table(table)?;
                self.tables[at].default.clone_from(&self.initial[at].default);
            }
            Op::EntryCounter { table, handle, value } => {
                let at = self.counted(table)?;
                self.entry(at, *handle)?.counted = *value;
            }
            Op::ResetEntryCounters { table } => {
                let at = self.counted(table)?;
                self.tables[at]
                    .entries
                    .values_mut()
                    .for_each(|entry| entry.counted = CounterValue::default());
                self.tables[at].default_counted = CounterValue::default();
            }
            Op::DefaultCounter { table, value } => {
                let at = self.counted(table)?;
                self.tables[at].default_counted = *value;
            }
            Op::EntryMeter { table, handle, rates } => {
                let at = self.metered(table, rates)?;
                self.entry(at, *handle)?.rates.clone_from(rates);
            }
            Op::DefaultMeter { table, rates } => {
                let at = self.metered(table, rates)?;
                self.tables[at].default_rates.clone_from(rates);
            }
            Op::AddMember { profile, action, data } => {
                let at = self.profile(profile)?;
                let member = self.member(at, action, data)?;
                let ActionProfileInfo { max_size, .. } = self.program.action_profiles()[at];
                let members = &mut self.profiles[at].members;
                if max_size != 0 && members.len() >= max_size {
                    return Err(Refused);
                }
                let free = lowest_free(members);
                members.insert(free, member);
                return Ok(Some(free));
            }
            Op::ModifyMember { profile, member, action, data } => {
                let at = self.profile(profile)?;
                let new = self.member(at, action, data)?;
                *self.profiles[at].members.get_mut(member).ok_or(Refused)? = new;
            }
            Op::DeleteMember { profile, member } => {
                let at = self.profile(profile)?;
                let grouped = self.profiles[at].groups.values().any(|members| members.contains(member));
                if grouped || self.in_use(at, &MtAction::Member(*member)) {
                    return Err(Refused);
                }
                self.profiles[at].members.remove(member).ok_or(Refused)?;
            }
            Op::CreateGroup { profile } => {
                let at = self.selector(profile)?;
                let free = lowest_free(&self.profiles[at].groups);
                self.profiles[at].groups.insert(free, Vec::new());
                return Ok(Some(free));
            }
            Op::DeleteGroup { profile, group } => {
                let at = self.selector(profile)?;
                if self.in_use(at, &MtAction::Group(*group)) {
                    return Err(Refused);
                }
                self.profiles[at].groups.remove(group).ok_or(Refused)?;
            }
            Op::Join { profile, member, group } => {
                let at = self.selector(profile)?;
                let Profile { members, groups } = &mut self.profiles[at];
                let group = groups.get_mut(group).ok_or(Refused)?;
                if group.contains(member) || !members.contains_key(member) {
                    return Err(Refused);
                }
                group.push(*member);
                group.sort_unstable();
            }
            Op::Leave { profile, member, group } => {
                let at = self.selector(profile)?;
                let used = self.in_use(at, &MtAction::Group(*group));
                let members = self.profiles[at].groups.get_mut(group).ok_or(Refused)?;
                let place = members.iter().position(|m| m == member).ok_or(Refused)?;
                if used && members.len() == 1 {
                    return Err(Refused);
                }
                members.remove(place);
            }
            _ => return Err(Elsewhere),
        }
        Ok(None)
    }

    fn table(&self, name: &str) -> Result<usize, No> {
        place(self.program.tables(), name, |t| &t.name)
    }

    /// Returns a table whose entries may be changed.
    fn open(&self, name: &str) -> Result<usize, No> {
        let at = self.table(name)?;
        (!self.program.tables()[at].const_entries).then_some(at).ok_or(Refused)
    }

    fn profile(&self, name: &str) -> Result<usize, No> {
        place(self.program.action_profiles(), name, |p| &p.name)
    }

    fn selector(&self, name: &str) -> Result<usize, No> {
        let at = self.profile(name)?;
        self.program.action_profiles()[at].with_selector.then_some(at).ok_or(Refused)
    }

    fn profile_of(&self, info: &TableInfo) -> Option<usize> {
        info.action_profile.as_ref().and_then(|name| self.profile(name).ok())
    }

    /// Returns the target of a table's entry, with padded data.
    fn lead(&self, at: usize, to: &MtAction) -> Result<MtAction, No> {
        let info = &self.program.tables()[at];
        let profile = self.profile_of(info);
        match (to, info.table_type, profile) {
            (MtAction::Action(name, data), TableType::Simple, _) => {
                let id = info.actions.iter().find(|id| self.program.actions()[id.index()].name == *name);
                let data = self.data(id.ok_or(Refused)?.index(), data)?;
                Ok(MtAction::Action(name.clone(), data))
            }
            (MtAction::Member(member), TableType::Indirect | TableType::IndirectWs, Some(profile)) => {
                self.profiles[profile].members.get(member).map(|_| to.clone()).ok_or(Refused)
            }
            (MtAction::Group(group), TableType::IndirectWs, Some(profile)) => {
                let members = self.profiles[profile].groups.get(group).ok_or(Refused)?;
                (!members.is_empty()).then(|| to.clone()).ok_or(Refused)
            }
            _ => Err(Refused),
        }
    }

    fn data(&self, action: usize, data: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, No> {
        let params = &self.program.actions()[action].params;
        if params.len() != data.len() {
            return Err(Refused);
        }
        data.iter().zip(params).map(|(value, param)| padded(value, param.bitwidth)).collect()
    }

    fn entry(&mut self, at: usize, handle: u64) -> Result<&mut Entry, No> {
        self.tables[at].entries.get_mut(&handle).ok_or(Refused)
    }

    /// Returns a table with direct counters.
    fn counted(&self, table: &str) -> Result<usize, No> {
        let at = self.table(table)?;
        self.program.tables()[at].with_counters.then_some(at).ok_or(Refused)
    }

    /// Returns a table with a direct meter that accepts these rates.
    fn metered(&self, table: &str, rates: &[MeterRate]) -> Result<usize, No> {
        let at = self.table(table)?;
        let meter = self.program.tables()[at].direct_meter.as_ref().ok_or(Refused)?;
        let meter = place(self.program.meter_arrays(), meter, |m| &m.name)?;
        let count = self.program.meter_arrays()[meter].rate_count;
        super::arrays::check_rates(rates, count).map(|()| at)
    }

    /// Returns the data for an action that some table of the profile may call.
    fn member(&self, profile: usize, action: &str, data: &[Vec<u8>]) -> Result<(String, Vec<Vec<u8>>), No> {
        let program = &self.program;
        let of_profile = |info: &&TableInfo| self.profile_of(info) == Some(profile);
        let mut ids = program.tables().iter().filter(of_profile).flat_map(|info| &info.actions);
        let id = ids.find(|id| program.actions()[id.index()].name == action).ok_or(Refused)?;
        Ok((action.to_owned(), self.data(id.index(), data)?))
    }

    /// Returns whether an entry or default of the profile's tables refers to `to`.
    fn in_use(&self, profile: usize, to: &MtAction) -> bool {
        let tables = self.program.tables().iter().zip(&self.tables);
        let mut of_profile = tables.filter(|(info, _)| self.profile_of(info) == Some(profile));
        of_profile.any(|(_, t)| t.default.as_ref() == Some(to) || t.entries.values().any(|e| e.to == *to))
    }

    /// Compares the model with the values read back.
    pub(super) fn check(&self, state: &State) {
        for (info, table) in self.program.tables().iter().zip(&self.tables) {
            let there = read(state, &info.name);
            assert_eq!(there.entries, table.entries, "entries of {}", info.name);
            assert_eq!(there.default, table.default, "default of {}", info.name);
            assert_eq!(there.default_counted, table.default_counted, "default's counter of {}", info.name);
            assert_eq!(there.default_rates, table.default_rates, "default's meter of {}", info.name);
            assert_eq!(state.mt_get_num_entries(&info.name), Ok(table.entries.len()));
            for (handle, entry) in &table.entries {
                let found = state.mt_get_entry_from_key(&info.name, &entry.key, entry.priority);
                let found = found.expect("the key was taken before").map(|entry| entry.handle);
                assert_eq!(found, Some(*handle), "the entry of {} with key {:?}", info.name, entry.key);
            }
        }
        for (info, profile) in self.program.action_profiles().iter().zip(&self.profiles) {
            let members = state.mt_act_prof_get_members(&info.name).expect("the profile is there");
            let members: BTreeMap<_, _> =
                members.into_iter().map(|m| (m.number, (m.action, m.data))).collect();
            assert_eq!(members, profile.members, "members of {}", info.name);
            if info.with_selector {
                let groups = state.mt_act_prof_get_groups(&info.name).expect("it has a selector");
                let groups: BTreeMap<_, _> = groups.into_iter().map(|g| (g.handle, g.members)).collect();
                assert_eq!(groups, profile.groups, "groups of {}", info.name);
            }
        }
    }
}

fn lowest_free<T>(used: &BTreeMap<u64, T>) -> u64 {
    (0..).find(|handle| !used.contains_key(handle)).unwrap_or(u64::MAX)
}

/// Returns a table as it is read back.
fn read(state: &State, name: &str) -> Table {
    let there = "the table is there";
    let entries: BTreeMap<_, _> = state
        .mt_get_entries(name)
        .expect(there)
        .into_iter()
        .map(|entry| {
            let entry_of = |handle| Entry {
                key: entry.key,
                priority: entry.priority,
                to: entry.action,
                counted: state.mt_read_counters(name, handle).unwrap_or_default(),
                rates: state.mt_get_meter_rates(name, handle).unwrap_or_default(),
            };
            (entry.handle, entry_of(entry.handle))
        })
        .collect();
    Table {
        entries,
        used: BTreeMap::new(),
        default: state.mt_get_default_entry(name).expect(there).action,
        default_counted: state.mt_read_default_counters(name).unwrap_or_default(),
        default_rates: state.mt_get_default_meter_rates(name).unwrap_or_default(),
    }
}

/// Returns the key in its stored form: numbers padded, and no bits outside masks and prefixes.
fn key_of(info: &TableInfo, key: &[MatchKeyParam]) -> Result<Vec<MatchKeyParam>, No> {
    if key.len() != info.key.len() {
        return Err(Refused);
    }
    let field = |(param, field): (&MatchKeyParam, &bm::TableKeyInfo)| {
        let width = field.bitwidth;
        Ok(match (field.match_type, param) {
            (MatchType::Exact, MatchKeyParam::Exact(value)) => MatchKeyParam::Exact(padded(value, width)?),
            (MatchType::Valid, MatchKeyParam::Valid(valid)) => MatchKeyParam::Valid(*valid),
            (MatchType::Lpm, MatchKeyParam::Lpm(value, length)) if *length <= width => {
                MatchKeyParam::Lpm(masked(&padded(value, width)?, &prefix(*length, width)), *length)
            }
            (MatchType::Ternary, MatchKeyParam::Ternary(value, mask)) => {
                let mask = padded(mask, width)?;
                MatchKeyParam::Ternary(masked(&padded(value, width)?, &mask), mask)
            }
            (MatchType::Range, MatchKeyParam::Range(first, last)) => {
                let (first, last) = (padded(first, width)?, padded(last, width)?);
                if first > last {
                    return Err(Refused);
                }
                MatchKeyParam::Range(first, last)
            }
            _ => return Err(Refused),
        })
    };
    key.iter().zip(&info.key).map(field).collect()
}

/// Returns the mask of a prefix, set bit by bit: bit 0 is the highest bit of the field.
fn prefix(length: u32, width: u32) -> Vec<u8> {
    let mut mask = vec![0; width.div_ceil(8) as usize];
    let unused = mask.len() as u32 * 8 - width;
    for bit in unused..unused + length {
        mask[bit as usize / 8] |= 0x80 >> (bit % 8);
    }
    mask
}
