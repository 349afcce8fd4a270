//! Entries, members and groups addressed by ids that the client chooses, as in P4Runtime, with weights, one-shots, and opaque
//! bytes that reads return to the client.
//!
//! BMv2's calls address the same objects by handle: each side reads what the other writes. Objects created by handle have a
//! generated id (`tables::action_profile`). Every call here is atomic.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::table::table_name;
use super::{
    empty_group, wrong_type, ActionData, DefaultEntry, Entry, EntryHandle, MatchKeyParam, MemberInfo, Result,
};
use crate::error::{Refusal, RuntimeError, NO_CODE};
use crate::program::TableType;
use crate::state::State;
use crate::tables::{
    Group, GroupKind, GroupNote, Member, MemberCopy, MemberKind, MemberNote, OneShot, Outcome,
};

/// One action of a one-shot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionChoice {
    /// Its name.
    pub action: String,
    /// Its data.
    pub data: ActionData,
    /// The number of members that the selector counts it as; at least 1.
    pub weight: u32,
    /// The selector skips it while this port is not up.
    pub watch: Option<u16>,
}

/// A one-shot: a set of actions of an entry, among which the selector chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionSet {
    /// Opaque bytes of the client.
    pub note: Vec<u8>,
    /// The actions in the client's order.
    pub choices: Vec<ActionChoice>,
}

/// The action of an entry, by ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientAction {
    /// An action of the table with its data.
    Action(String, ActionData),
    /// A member of the table's action profile, by id.
    Member(u32),
    /// A group of the table's action profile, by id.
    Group(u32),
    /// A one-shot.
    OneShot(ActionSet),
}

/// A member's share of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The member's id.
    pub member: u32,
    /// The number of members that the selector counts it as; at least 1.
    pub weight: u32,
    /// The selector skips it while this port is not up.
    pub watch: Option<u16>,
}

/// A group as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientGroup {
    /// Its id.
    pub id: u32,
    /// Its members in the order in which the client gave them.
    pub members: Vec<Share>,
    /// Opaque bytes of the client.
    pub note: Vec<u8>,
}

/// Entries.
impl State {
    /// Adds an entry to any table.
    pub fn client_add_entry(
        &mut self,
        table: &str,
        key: &[MatchKeyParam],
        priority: u32,
        action: &ClientAction,
        note: &[u8],
    ) -> Result<EntryHandle> {
        let id = self.table(table)?;
        self.whole(|state| {
            let packed = state.check_new_entry(id, key, priority)?;
            let (outcome, words) = state.outcome_of(id, action)?;
            let handle = state.add_checked(id, packed, outcome, &words);
            let at = state.entry(id, handle)?;
            state.cells.tables[id].set_note(at, note.into());
            Ok(handle)
        })
    }

    /// Replaces the opaque bytes of an entry, and its action if one is given.
    pub fn client_modify_entry(
        &mut self,
        table: &str,
        handle: EntryHandle,
        action: Option<&ClientAction>,
        note: &[u8],
    ) -> Result<()> {
        let id = self.table(table)?;
        self.whole(|state| {
            if let Some(action) = action {
                let (outcome, words) = state.outcome_of(id, action)?;
                state.modify(id, handle, outcome, &words)?;
            }
            let at = state.entry(id, handle)?;
            state.remember_row(id, at);
            state.cells.tables[id].set_note(at, note.into());
            Ok(())
        })
    }

    /// Returns at most `count` entries in order of their rows, starting with the row `first`, and the row to continue with. An
    /// entry that exists throughout is in exactly one of the pages that start with row 0, whatever other entries do.
    pub fn client_entries_page(
        &self,
        table: &str,
        first: u32,
        count: usize,
    ) -> Result<(Vec<Entry<ClientAction>>, Option<u32>)> {
        let id = self.table(table)?;
        let keys = &self.cells.tables[id].keys;
        let mut page = Vec::new();
        for at in first..keys.len() as u32 {
            if page.len() == count {
                return Ok((page, Some(at)));
            }
            page.extend(self.read_entry(id, at, State::client_action));
        }
        Ok((page, None))
    }

    /// Returns the entries in order of their rows.
    pub fn client_entries(&self, table: &str) -> Result<Vec<Entry<ClientAction>>> {
        self.entries(table, State::client_action)
    }

    /// Returns the entry with this key (and priority, for ternary and range tables), if any.
    pub fn client_entry_from_key(
        &self,
        table: &str,
        key: &[MatchKeyParam],
        priority: u32,
    ) -> Result<Option<Entry<ClientAction>>> {
        self.entry_from_key(table, key, priority, State::client_action)
    }

    /// Sets the default action of a direct table, with opaque bytes; without an action, restores the program's default.
    pub fn client_set_default(
        &mut self,
        table: &str,
        action: Option<(&str, &[Vec<u8>])>,
        note: &[u8],
    ) -> Result<()> {
        let id = self.table(table)?;
        self.whole(|state| {
            match action {
                Some((name, data)) => state.mt_set_default_action(table, name, data)?,
                None => state.mt_reset_default_entry(table)?,
            }
            state.cells.tables[id].default.note = note.into();
            Ok(())
        })
    }

    /// Returns the default entry.
    pub fn client_default(&self, table: &str) -> Result<DefaultEntry<ClientAction>> {
        self.default_entry(table, State::client_action)
    }

    fn client_action(&self, table: usize, outcome: Outcome, data: &[u64]) -> ClientAction {
        let profile_of = self.program.match_table(table as u32).profile.unwrap_or_default() as usize;
        match outcome {
            Outcome::Action(local) => {
                let action = self.program.match_table(table as u32).actions[local as usize].action;
                let (name, data) = self.action_with(action, data);
                ClientAction::Action(name, data)
            }
            Outcome::Member(member) => {
                let profile = &self.cells.profiles[profile_of];
                ClientAction::Member(profile.members.note(profile.seen(member)).id)
            }
            Outcome::Group(group) => {
                let note = &self.cells.profiles[profile_of].groups.note(group);
                match &note.kind {
                    GroupKind::OneShot(_) => ClientAction::OneShot(ActionSet {
                        note: note.note.to_vec(),
                        choices: self.choices(profile_of, group),
                    }),
                    _ => ClientAction::Group(note.id),
                }
            }
        }
    }

    fn choices(&self, profile: usize, group: u32) -> Vec<ActionChoice> {
        self.shares(profile, group)
            .into_iter()
            .filter_map(|(handle, weight, watch)| {
                let member = self.cells.profiles[profile].members.get(handle)?;
                let (action, data) = self.action_with(member.action, &member.data);
                Some(ActionChoice { action, data, weight, watch })
            })
            .collect()
    }

    /// Returns a group's items in the order in which they were given: handle of the first member, weight, watch port.
    fn shares(&self, profile: usize, group: u32) -> Vec<(u32, u32, Option<u16>)> {
        let profile = &self.cells.profiles[profile];
        let mut shares: Vec<(u32, u32, Option<u16>)> = Vec::new();
        for copy in &profile.groups.note(group).copies {
            match shares.last_mut().filter(|_| !copy.first) {
                Some(share) => share.1 += 1,
                None => {
                    let watched = profile.groups.get(group).and_then(|group| group.watched(copy.member));
                    shares.push((copy.member, 1, watched));
                }
            }
        }
        shares
    }

    /// Returns the target of an entry with this action, and the action's data. Creates the group of a new one-shot.
    fn outcome_of(&mut self, table: usize, action: &ClientAction) -> Result<(Outcome, Vec<u64>)> {
        let wrong = |reason| wrong_type(table_name(self.program.table(table as u32)), reason);
        let table_type = self.program.table(table as u32).table_type;
        if let ClientAction::Action(name, data) = action {
            if table_type != TableType::Simple {
                return Err(wrong(
                    "its entries point at members or groups; give it one instead of an action",
                ));
            }
            return self.action_of_table(table, name, data);
        }
        let Some(profile) = self.program.match_table(table as u32).profile.map(|profile| profile as usize)
        else {
            return Err(wrong("has no action profile; give it an action"));
        };
        if !matches!(action, ClientAction::Member(_)) && table_type != TableType::IndirectWs {
            return Err(wrong("has no selector and so no groups"));
        }
        let outcome = match action {
            ClientAction::Member(id) => Outcome::Member(self.member_by_id(profile, *id)?),
            ClientAction::Group(id) => {
                let handle = self.group_by_id(profile, *id)?;
                Outcome::Group(self.filled(profile, handle, u64::from(*id))?)
            }
            ClientAction::OneShot(set) => Outcome::Group(self.one_shot(profile, set)?),
            ClientAction::Action(..) => unreachable!("returned above"),
        };
        Ok((outcome, Vec::new()))
    }

    /// Returns the group of a one-shot, and creates it unless an entry uses an equal one.
    fn one_shot(&mut self, profile: usize, set: &ActionSet) -> Result<u32> {
        if self.cells.profiles[profile].styles().1 {
            return Err(self.mixed(profile, "members and groups", "one-shots"));
        }
        let mut copies: Vec<(MemberCopy, Option<u16>)> = Vec::new();
        let mut numbers: BTreeMap<(u32, Vec<u64>), u32> = BTreeMap::new();
        for choice in &set.choices {
            let (action, data) = self.action_of_profile(profile, &choice.action, &choice.data)?;
            for copy in 0..choice.weight {
                let number = numbers.entry((action, data.clone())).or_insert(0);
                *number += 1;
                let member = match self.cells.profiles[profile].shared(action, &data, *number) {
                    Some(member) => member,
                    None => {
                        let kind = MemberKind::Shared(*number);
                        let note = MemberNote { kind, ..MemberNote::default() };
                        self.make_member(profile, Member { action, data: data.clone() }, note)?
                    }
                };
                copies.push((MemberCopy { member, first: copy == 0 }, choice.watch));
            }
        }
        let shape = OneShot { note: set.note.as_slice().into(), copies };
        if let Some(group) = self.cells.profiles[profile].one_shot(&shape) {
            return Ok(group);
        }
        if shape.copies.is_empty() {
            let reason = "the action set is empty; give it at least one action";
            return Err(empty_group(self.profile_name(profile), reason));
        }
        let mut group = Group::default();
        for (copy, watch) in &shape.copies {
            group.add(copy.member, *watch, &self.ports_up);
        }
        let note = GroupNote {
            id: 0,
            note: shape.note.clone(),
            copies: shape.copies.iter().map(|(copy, _)| *copy).collect(),
            kind: GroupKind::OneShot(Some(Arc::new(shape))),
        };
        let handle = self.cells.profiles[profile].groups.next();
        self.put_group(profile, handle, Some((group, note)));
        Ok(handle)
    }

    /// Deletes a one-shot's group without entries, and its shared members without other users.
    pub(super) fn release(&mut self, profile: usize, group: u32) {
        let found = &self.cells.profiles[profile];
        let note = &found.groups.note(group);
        if found.groups.entries(group) > 0 || !matches!(note.kind, GroupKind::OneShot(_)) {
            return;
        }
        let members: Vec<u32> = note.copies.iter().map(|copy| copy.member).collect();
        self.put_group(profile, group, None);
        for member in members {
            let found = &self.cells.profiles[profile];
            let is_shared = matches!(found.members.note(member).kind, MemberKind::Shared(_));
            let is_used = found.groups_of(member) > 0 || found.members.entries(member) > 0;
            if is_shared && !is_used && found.members.get(member).is_some() {
                self.put_member(profile, member, None);
            }
        }
    }

    fn mixed(&self, profile: usize, has: &str, given: &str) -> RuntimeError {
        let object = self.profile_name(profile);
        let text = format!("{object}: is programmed by {has}; {given} cannot be mixed in");
        RuntimeError::new(Refusal::InvalidValue, NO_CODE, text)
    }
}

/// Members and groups.
impl State {
    fn member_by_id(&self, profile: usize, id: u32) -> Result<u32> {
        self.cells.profiles[profile].members.by_id(id).ok_or_else(|| self.no_such_id(profile, "member", id))
    }

    fn group_by_id(&self, profile: usize, id: u32) -> Result<u32> {
        self.cells.profiles[profile].groups.by_id(id).ok_or_else(|| self.no_such_id(profile, "group", id))
    }

    fn no_such_id(&self, profile: usize, kind: &str, id: u32) -> RuntimeError {
        let text = format!("{} has no {kind} {id}; insert it first", self.profile_name(profile));
        RuntimeError::new(Refusal::NoSuchHandle, NO_CODE, text)
    }

    fn duplicate(&self, profile: usize, kind: &str, id: u32) -> RuntimeError {
        let text = format!("{}: {kind} {id} is there already", self.profile_name(profile));
        RuntimeError::new(Refusal::Duplicate, NO_CODE, text)
    }

    fn check_no_one_shots(&self, profile: usize) -> Result<()> {
        if self.cells.profiles[profile].styles().0 {
            return Err(self.mixed(profile, "one-shots", "members"));
        }
        Ok(())
    }

    /// Adds a member with an id. An object created by handle that had this id gets another one.
    pub fn client_add_member(
        &mut self,
        profile: &str,
        id: u32,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<()> {
        let at = self.profile(profile)?;
        let (action, data) = self.action_of_profile(at, action, data)?;
        self.whole(|state| {
            if let Some(holder) = state.cells.profiles[at].members.by_id(id) {
                let found = &state.cells.profiles[at];
                if found.members.note(holder).kind == MemberKind::ByClient {
                    return Err(state.duplicate(at, "member", id));
                }
                let aside = found.members.made_up_id(holder);
                state.edit_member_note(at, holder, |note| note.id = aside);
            }
            state.check_no_one_shots(at)?;
            let note = MemberNote { kind: MemberKind::ByClient, id, copies: Vec::new() };
            state.make_member(at, Member { action, data }, note).map(|_| ())
        })
    }

    /// Replaces a member's action wherever the member is used.
    pub fn client_modify_member(
        &mut self,
        profile: &str,
        id: u32,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<()> {
        let at = self.profile(profile)?;
        let handle = self.member_by_id(at, id)?;
        let (action, data) = self.action_of_profile(at, action, data)?;
        for handle in self.copies(at, handle) {
            let note = self.cells.profiles[at].members.note(handle).clone();
            self.put_member(at, handle, Some((Member { action, data: data.clone() }, note)));
        }
        Ok(())
    }

    /// Deletes a member that no entry and no group uses.
    pub fn client_delete_member(&mut self, profile: &str, id: u32) -> Result<()> {
        let at = self.profile(profile)?;
        let handles = self.member_by_id(at, id).map(|handle| self.copies(at, handle))?;
        for &handle in &handles {
            self.check_member_unused(at, handle, u64::from(id))?;
        }
        handles.into_iter().for_each(|handle| self.put_member(at, handle, None));
        Ok(())
    }

    /// Returns a member and its copies.
    fn copies(&self, profile: usize, handle: u32) -> Vec<u32> {
        let note = &self.cells.profiles[profile].members.note(handle);
        std::iter::once(handle).chain(note.copies.iter().copied()).collect()
    }

    /// Adds a group with an id. An object created by handle that had this id gets another one.
    pub fn client_add_group(&mut self, profile: &str, id: u32, members: &[Share], note: &[u8]) -> Result<()> {
        let at = self.profile_with_selector(profile)?;
        self.whole(|state| {
            if let Some(holder) = state.cells.profiles[at].groups.by_id(id) {
                let found = &state.cells.profiles[at];
                if found.groups.note(holder).kind == GroupKind::ByClient {
                    return Err(state.duplicate(at, "group", id));
                }
                let aside = found.groups.made_up_id(holder);
                if let Some((group, mut note)) = found.groups.image(holder) {
                    note.id = aside;
                    state.put_group(at, holder, Some((group, note)));
                }
            }
            state.check_no_one_shots(at)?;
            let made = GroupNote { kind: GroupKind::ByClient, id, note: note.into(), copies: Vec::new() };
            let handle = state.cells.profiles[at].groups.next();
            state.put_group(at, handle, Some((Group::default(), made)));
            state.set_shares(at, handle, members)
        })
    }

    /// Replaces a group's members and its opaque bytes; members that stay are not removed in between.
    pub fn client_modify_group(
        &mut self,
        profile: &str,
        id: u32,
        members: &[Share],
        note: &[u8],
    ) -> Result<()> {
        let at = self.profile_with_selector(profile)?;
        let handle = self.group_by_id(at, id)?;
        self.whole(|state| {
            state.remember_group(at, handle);
            state.set_shares(at, handle, members)?;
            state.cells.profiles[at].groups.note_mut(handle).note = note.into();
            Ok(())
        })
    }

    /// Deletes a group that no entry uses.
    pub fn client_delete_group(&mut self, profile: &str, id: u32) -> Result<()> {
        let at = self.profile_with_selector(profile)?;
        let handle = self.group_by_id(at, id)?;
        self.check_group_unused(at, handle, u64::from(id))?;
        self.put_group(at, handle, None);
        Ok(())
    }

    /// Sets the members of a group that has already been recorded for undoing.
    fn set_shares(&mut self, profile: usize, group: u32, members: &[Share]) -> Result<()> {
        let mut wanted: Vec<(MemberCopy, Option<u16>)> = Vec::new();
        for share in members {
            let handle = self.member_by_id(profile, share.member)?;
            for copy in 0..share.weight {
                let member = self.copy(profile, handle, copy)?;
                wanted.push((MemberCopy { member, first: copy == 0 }, share.watch));
            }
        }
        let State { cells, ports_up, .. } = self;
        let found = &mut cells.profiles[profile];
        let had = found.groups.get(group).map(|group| group.members().to_vec()).unwrap_or_default();
        // Add before removing: a group that entries point at is never empty in between.
        for (copy, watch) in &wanted {
            if had.binary_search(&copy.member).is_err() {
                found.put_in(group, copy.member, *watch, ports_up);
            } else if let Some(group) = found.groups.get_mut(group) {
                group.watch(copy.member, *watch, ports_up);
            }
        }
        let stays: BTreeSet<u32> = wanted.iter().map(|(copy, _)| copy.member).collect();
        for member in had.into_iter().filter(|member| !stays.contains(member)) {
            self.check_not_last(profile, group, u64::from(member))?;
            self.cells.profiles[profile].take_out(group, member, &self.ports_up);
        }
        let copies = wanted.into_iter().map(|(copy, _)| copy).collect();
        self.cells.profiles[profile].groups.note_mut(group).copies = copies;
        Ok(())
    }

    /// Returns the member's copy with this number, and creates it if necessary; number 0 is the member itself.
    fn copy(&mut self, profile: usize, member: u32, number: u32) -> Result<u32> {
        let found = &self.cells.profiles[profile];
        let Some(made) = number.checked_sub(1) else { return Ok(member) };
        if let Some(&copy) = found.members.note(member).copies.get(made as usize) {
            return Ok(copy);
        }
        let Some(like) = found.members.get(member).cloned() else { return Ok(member) };
        let note = MemberNote { kind: MemberKind::Copy(member), ..MemberNote::default() };
        let copy = self.make_member(profile, like, note)?;
        self.edit_member_note(profile, member, |note| note.copies.push(copy));
        Ok(copy)
    }

    /// Returns the members in ascending order of id, or only the one with the given id.
    pub fn client_members(&self, profile: &str, id: Option<u32>) -> Result<Vec<MemberInfo<u32>>> {
        let at = self.profile(profile)?;
        let found = &self.cells.profiles[at];
        let read = |(number, handle)| {
            let member = found.members.get(handle)?;
            let (action, data) = self.action_with(member.action, &member.data);
            Some(MemberInfo { number, action, data })
        };
        Ok(found.members.ids(id).filter_map(read).collect())
    }

    /// Returns the groups in ascending order of id, or only the one with the given id.
    pub fn client_groups(&self, profile: &str, id: Option<u32>) -> Result<Vec<ClientGroup>> {
        let at = self.profile_with_selector(profile)?;
        let found = &self.cells.profiles[at];
        let read = |(id, handle): (u32, u32)| ClientGroup {
            id,
            members: self
                .shares(at, handle)
                .into_iter()
                .map(|(member, weight, watch)| Share {
                    member: found.members.note(found.seen(member)).id,
                    weight,
                    watch,
                })
                .collect(),
            note: found.groups.note(handle).note.to_vec(),
        };
        Ok(found.groups.ids(id).map(read).collect())
    }
}
