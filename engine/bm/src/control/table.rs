//! Tables: entries with actions of their own, entries that point at members and groups, and default entries.

use super::pack::{pack_data, pack_key, unpack_data, unpack_key};
use super::{
    empty_group, find, full, no_action, wrong_type, ActionData, DefaultEntry, Entry, EntryHandle,
    GroupHandle, MatchKeyParam, MemberHandle, MtAction, Result,
};
use crate::error::{Refusal, RuntimeError};
use crate::program::{PackedKey, TableInfo, TableType};
use crate::state::State;
use crate::tables::{NoEntry, Outcome, MAX_ENTRIES};

/// Makes the action of an entry of a table from its target and its data.
type ReadAction<A> = fn(&State, usize, Outcome, &[u64]) -> A;

pub(super) fn table_name(info: &TableInfo) -> String {
    format!("table '{}'", info.name)
}

impl State {
    pub(super) fn table(&self, name: &str) -> Result<usize> {
        find("table", &self.program.declared.names.tables, name)
    }

    /// Returns a table by name, if it has one of the wanted types.
    fn table_of(&self, name: &str, wanted: &[TableType], instead: &str) -> Result<usize> {
        let id = self.table(name)?;
        let info = &self.program.table(id as u32);
        if wanted.contains(&info.table_type) {
            return Ok(id);
        }
        Err(wrong_type(table_name(info), format_args!("is of type {:?}; {instead}", info.table_type)))
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
        let info = &self.program.table(id as u32);
        if info.const_entries {
            let text =
                format!("{} cannot be changed: the program declares its entries const", table_name(info));
            return Err(RuntimeError::new(Refusal::Immutable, "IMMUTABLE_TABLE_ENTRIES", text));
        }
        Ok(())
    }

    /// Returns one of a table's actions by name, with its data as words.
    pub(super) fn action_of_table(
        &self,
        id: usize,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<(Outcome, Vec<u64>)> {
        let program = &self.program;
        let actions = &program.match_table(id as u32).actions;
        let Some(local) = actions.iter().position(|a| program.action(a.action).name == action) else {
            let names: Vec<&str> = actions.iter().map(|a| program.action(a.action).name.as_str()).collect();
            return Err(no_action(table_name(program.table(id as u32)), action, &names));
        };
        let words = pack_data(program.action(actions[local].action), data)?;
        Ok((Outcome::Action(local as u32), words))
    }

    fn member_of_table(&self, id: usize, member: MemberHandle) -> Result<Outcome> {
        let profile = self.program.match_table(id as u32).profile.unwrap_or_default() as usize;
        self.member(profile, member).map(Outcome::Member)
    }

    fn group_of_table(&self, id: usize, group: GroupHandle) -> Result<Outcome> {
        let profile = self.program.match_table(id as u32).profile.unwrap_or_default() as usize;
        let handle = self.group(profile, group)?;
        self.filled(profile, handle, group).map(Outcome::Group)
    }

    /// Returns a group if it has members: an entry must have an action. `name` is the caller's handle or id of it.
    pub(super) fn filled(&self, profile: usize, handle: u32, name: u64) -> Result<u32> {
        if self.cells.profiles[profile].groups.get(handle).is_some_and(|group| !group.members().is_empty()) {
            return Ok(handle);
        }
        let object = format!("{} group {name}", self.profile_name(profile));
        Err(empty_group(object, "the group has no members yet"))
    }

    /// Checks a new entry, and returns its packed key.
    pub(super) fn check_new_entry(
        &self,
        id: usize,
        key: &[MatchKeyParam],
        priority: u32,
    ) -> Result<PackedKey> {
        self.mutable(id)?;
        let info = &self.program.table(id as u32);
        let table = &self.program.match_table(id as u32);
        if info.key.is_empty() {
            let text = format!("{}: it has no key; set its default action instead", table_name(info));
            return Err(RuntimeError::new(Refusal::InvalidValue, "NO_TABLE_KEY", text));
        }
        let packed = pack_key(info, table, key, priority)?;
        let entries = &self.cells.tables[id];
        if let Some(at) = entries.unit.find(&packed) {
            let handle = entries.keys[at as usize].as_ref().map_or(0, |e| e.handle);
            let table = table_name(info);
            let text = format!("{table}: an entry with the same key is already there (handle {handle})");
            return Err(RuntimeError::new(Refusal::Duplicate, "DUPLICATE_ENTRY", text));
        }
        let limit = info.max_size.min(MAX_ENTRIES);
        if entries.len() >= limit {
            return Err(full(table_name(info), limit));
        }
        Ok(packed)
    }

    /// Adds an entry that has been checked.
    pub(super) fn add_checked(
        &mut self,
        id: usize,
        key: PackedKey,
        outcome: Outcome,
        data: &[u64],
    ) -> EntryHandle {
        let at = self.cells.tables[id].next_row();
        self.remember_row(id, at);
        self.count_outcome(id, outcome, true);
        self.cells.tables[id].add(self.program.match_table(id as u32), key, outcome, data)
    }

    /// Adds an entry whose `outcome` the caller has named by handle.
    fn add(
        &mut self,
        id: usize,
        key: &[MatchKeyParam],
        priority: u32,
        outcome: Outcome,
        data: &[u64],
    ) -> Result<EntryHandle> {
        let packed = self.check_new_entry(id, key, priority)?;
        self.adopt_outcome(id, outcome);
        Ok(self.add_checked(id, packed, outcome, data))
    }

    fn adopt_outcome(&mut self, id: usize, outcome: Outcome) {
        if let (Outcome::Member(member), Some(profile)) =
            (outcome, self.program.match_table(id as u32).profile)
        {
            self.adopt(profile as usize, member);
        }
    }

    /// Decrements the number of entries at `outcome`, and deletes a one-shot's group with its last entry.
    fn leave(&mut self, id: usize, outcome: Outcome) {
        self.count_outcome(id, outcome, false);
        if let (Outcome::Group(group), Some(profile)) = (outcome, self.program.match_table(id as u32).profile)
        {
            self.release(profile as usize, group);
        }
    }

    pub(super) fn entry(&self, id: usize, handle: EntryHandle) -> Result<u32> {
        self.cells.tables[id].row(handle).map_err(|error| {
            let table = table_name(self.program.table(id as u32));
            let (code, text) = match error {
                NoEntry::Free => ("INVALID_HANDLE", format!("{table}: no entry has handle {handle}")),
                NoEntry::Later => (
                    "EXPIRED_HANDLE",
                    format!(
                        "{table}: the entry of handle {handle} has been deleted and another one has its place"
                    ),
                ),
            };
            RuntimeError::new(Refusal::NoSuchHandle, code, text)
        })
    }

    pub(super) fn modify(
        &mut self,
        id: usize,
        handle: EntryHandle,
        outcome: Outcome,
        data: &[u64],
    ) -> Result<()> {
        self.mutable(id)?;
        let at = self.entry(id, handle)?;
        self.remember_row(id, at);
        let before = self.cells.tables[id].outcome(at);
        self.count_outcome(id, outcome, true);
        self.cells.tables[id].set(self.program.match_table(id as u32), at, outcome, data);
        before.into_iter().for_each(|before| self.leave(id, before));
        Ok(())
    }

    /// Changes the target of an entry to one that the caller has named by handle. Of two wrong handles BMv2 names the entry's.
    fn point(&mut self, id: usize, handle: EntryHandle, outcome: Result<Outcome>) -> Result<()> {
        self.mutable(id)?;
        self.entry(id, handle)?;
        let outcome = outcome?;
        self.adopt_outcome(id, outcome);
        self.modify(id, handle, outcome, &[])
    }

    fn set_default(&mut self, id: usize, outcome: Outcome, data: Vec<u64>) -> Result<()> {
        let info = &self.program.table(id as u32);
        let table = &self.program.match_table(id as u32);
        let current = table.default.as_ref().map(|call| (Outcome::Action(call.local), &call.data));
        let changes_action = current.map(|(o, _)| o) != Some(outcome);
        let changes = changes_action || current.map(|(_, d)| d) != Some(&data);
        if (table.const_default_action && changes_action) || (info.const_default && changes) {
            let (part, code) = if info.const_default {
                ("entry", "DEFAULT_ENTRY_IS_CONST")
            } else {
                ("action", "DEFAULT_ACTION_IS_CONST")
            };
            let table = table_name(info);
            let text = format!("{table} cannot be changed: the program declares its default {part} const");
            return Err(RuntimeError::new(Refusal::Immutable, code, text));
        }
        self.adopt_outcome(id, outcome);
        self.put_default(id, Some((outcome, data)), true);
        Ok(())
    }

    /// Replaces a default entry, and discards the bytes that a client had given with it.
    fn put_default(&mut self, id: usize, default: Option<(Outcome, Vec<u64>)>, is_set: bool) {
        self.remember_default(id);
        default.iter().for_each(|(outcome, _)| self.count_outcome(id, *outcome, true));
        let entries = &mut self.cells.tables[id];
        let before = std::mem::replace(&mut entries.default.target, default);
        entries.default.is_set = is_set;
        entries.default.note = Box::default();
        before.into_iter().for_each(|(outcome, _)| self.leave(id, outcome));
    }

    /// Returns an action's name, and its data from words.
    pub(super) fn action_with(&self, action: u32, data: &[u64]) -> (String, ActionData) {
        let info = self.program.action(action);
        (info.name.clone(), unpack_data(info, data))
    }

    fn action_of(&self, id: usize, outcome: Outcome, data: &[u64]) -> MtAction {
        match outcome {
            Outcome::Action(local) => {
                let action = self.program.match_table(id as u32).actions[local as usize].action;
                let (name, data) = self.action_with(action, data);
                MtAction::Action(name, data)
            }
            Outcome::Member(member) => MtAction::Member(u64::from(member)),
            Outcome::Group(group) => MtAction::Group(u64::from(group)),
        }
    }

    /// Returns the entry of a row; `action` makes its action, by handles or by ids.
    pub(super) fn read_entry<A>(&self, id: usize, at: u32, action: ReadAction<A>) -> Option<Entry<A>> {
        let entries = &self.cells.tables[id];
        let table = &self.program.match_table(id as u32);
        let entry = entries.keys[at as usize].as_ref()?;
        let data = &entries.data[at as usize * table.stride..][..table.stride];
        Some(Entry {
            handle: entry.handle,
            key: unpack_key(self.program.table(id as u32), table, &entry.key),
            priority: entry.key.priority,
            action: action(self, id, entries.outcomes[at as usize], data),
            note: entries.notes.get(&at).map(|note| note.to_vec()).unwrap_or_default(),
            ttl_ns: entries.ages.get(at as usize).map_or(0, |age| age.ttl_ns()),
        })
    }

    pub(super) fn entries<A>(&self, table: &str, action: ReadAction<A>) -> Result<Vec<Entry<A>>> {
        let id = self.table(table)?;
        Ok(self.cells.tables[id].rows().filter_map(|at| self.read_entry(id, at, action)).collect())
    }

    pub(super) fn entry_from_key<A>(
        &self,
        table: &str,
        key: &[MatchKeyParam],
        priority: u32,
        action: ReadAction<A>,
    ) -> Result<Option<Entry<A>>> {
        let id = self.table(table)?;
        let packed =
            pack_key(self.program.table(id as u32), self.program.match_table(id as u32), key, priority)?;
        Ok(self.cells.tables[id].unit.find(&packed).and_then(|at| self.read_entry(id, at, action)))
    }

    pub(super) fn default_entry<A>(&self, table: &str, action: ReadAction<A>) -> Result<DefaultEntry<A>> {
        let id = self.table(table)?;
        let default = &self.cells.tables[id].default;
        let action = default.target.as_ref().map(|(outcome, data)| action(self, id, *outcome, data));
        Ok(DefaultEntry { action, note: default.note.to_vec(), is_set: default.is_set })
    }

    /// Adds an entry to a direct table. `priority` is BMv2's (the lowest number wins), for ternary and range tables only.
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
        self.remember_row(id, at);
        let outcome = self.cells.tables[id].outcome(at);
        self.cells.tables[id].remove(at);
        outcome.into_iter().for_each(|outcome| self.leave(id, outcome));
        Ok(())
    }

    /// Deletes every entry; with `reset_default` also resets the default entry. Const entries stay.
    pub fn mt_clear_entries(&mut self, table: &str, reset_default: bool) -> Result<()> {
        let id = self.table(table)?;
        if !self.program.table(id as u32).const_entries {
            let entries = &self.cells.tables[id];
            let outcomes: Vec<Outcome> = entries.rows().map(|at| entries.outcomes[at as usize]).collect();
            self.remember_table(id);
            self.cells.tables[id].clear(self.program.match_table(id as u32));
            outcomes.into_iter().for_each(|outcome| self.leave(id, outcome));
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

    /// Resets the default entry to the program's.
    pub fn mt_reset_default_entry(&mut self, table: &str) -> Result<()> {
        let id = self.table(table)?;
        let default = self.program.match_table(id as u32).default.as_ref();
        let default = default.map(|call| (Outcome::Action(call.local), call.data.clone()));
        self.put_default(id, default, false);
        Ok(())
    }

    /// Returns the entries in order of their rows (the low 24 bits of the handle).
    pub fn mt_get_entries(&self, table: &str) -> Result<Vec<Entry<MtAction>>> {
        self.entries(table, State::action_of)
    }

    /// Returns one entry.
    pub fn mt_get_entry(&self, table: &str, handle: EntryHandle) -> Result<Entry<MtAction>> {
        let id = self.table(table)?;
        let at = self.entry(id, handle)?;
        Ok(self.read_entry(id, at, State::action_of).expect("a row with a handle has an entry"))
    }

    /// Returns the entry with this key (and priority, for ternary and range tables), if any.
    pub fn mt_get_entry_from_key(
        &self,
        table: &str,
        key: &[MatchKeyParam],
        priority: u32,
    ) -> Result<Option<Entry<MtAction>>> {
        self.entry_from_key(table, key, priority, State::action_of)
    }

    /// Returns the default entry.
    pub fn mt_get_default_entry(&self, table: &str) -> Result<DefaultEntry<MtAction>> {
        self.default_entry(table, State::action_of)
    }

    /// Returns the number of entries.
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

    /// Changes the target of an entry to another member.
    pub fn mt_indirect_modify_entry(
        &mut self,
        table: &str,
        handle: EntryHandle,
        member: MemberHandle,
    ) -> Result<()> {
        let id = self.indirect_table(table)?;
        self.point(id, handle, self.member_of_table(id, member))
    }

    /// Sets the default entry to a member.
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

    /// Changes the target of an entry to another group.
    pub fn mt_indirect_ws_modify_entry(
        &mut self,
        table: &str,
        handle: EntryHandle,
        group: GroupHandle,
    ) -> Result<()> {
        let id = self.group_table(table)?;
        self.point(id, handle, self.group_of_table(id, group))
    }

    /// Sets the default entry to a group.
    pub fn mt_indirect_ws_set_default_group(&mut self, table: &str, group: GroupHandle) -> Result<()> {
        let id = self.group_table(table)?;
        let outcome = self.group_of_table(id, group)?;
        self.set_default(id, outcome, Vec::new())
    }
}
