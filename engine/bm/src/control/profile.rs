//! Action profiles by handle: members, groups of them, and the ports that members of a group watch.
//!
//! These are BMv2's calls. `client` addresses the same members and groups by ids that the client chooses.

use super::pack::pack_data;
use super::{empty_group, find, full, no_action, GroupHandle, GroupInfo, MemberHandle, MemberInfo, Result};
use crate::error::{Refusal, RuntimeError};
use crate::state::State;
use crate::tables::{
    Change, Group, GroupImage, GroupKind, GroupNote, Member, MemberImage, MemberKind, MemberNote, Outcome,
};

impl State {
    pub(super) fn profile(&self, name: &str) -> Result<usize> {
        find("action profile", &self.program.declared.names.profiles, name)
    }

    pub(super) fn profile_with_selector(&self, name: &str) -> Result<usize> {
        let id = self.profile(name)?;
        if self.program.action_profile(id as u32).with_selector {
            return Ok(id);
        }
        let text = format!("{}: it has no selector and so no groups", self.profile_name(id));
        Err(RuntimeError::new(Refusal::InvalidValue, "NO_ACTION_PROFILE_SELECTION", text))
    }

    pub(super) fn profile_name(&self, id: usize) -> String {
        format!("action profile '{}'", self.program.action_profile(id as u32).name)
    }

    pub(super) fn member(&self, profile: usize, handle: MemberHandle) -> Result<u32> {
        let found =
            u32::try_from(handle).ok().filter(|id| self.cells.profiles[profile].members.get(*id).is_some());
        found.ok_or_else(|| {
            let text = format!("{}: no member has handle {handle}", self.profile_name(profile));
            RuntimeError::new(Refusal::NoSuchHandle, "INVALID_MBR_HANDLE", text)
        })
    }

    pub(super) fn group(&self, profile: usize, handle: GroupHandle) -> Result<u32> {
        let found =
            u32::try_from(handle).ok().filter(|id| self.cells.profiles[profile].groups.get(*id).is_some());
        found.ok_or_else(|| {
            let text = format!("{}: no group has handle {handle}", self.profile_name(profile));
            RuntimeError::new(Refusal::NoSuchHandle, "INVALID_GRP_HANDLE", text)
        })
    }

    /// Returns the action with this name that some table of the profile may call, with its data as words.
    pub(super) fn action_of_profile(
        &self,
        profile: usize,
        action: &str,
        data: &[Vec<u8>],
    ) -> Result<(u32, Vec<u64>)> {
        let program = &self.program;
        let tables = program.code.match_tables.iter().filter(|t| t.profile == Some(profile as u32));
        let mut names = Vec::new();
        for a in tables.flat_map(|t| &t.actions) {
            let info = program.action(a.action);
            if info.name == action {
                return Ok((a.named, pack_data(info, data)?));
            }
            names.push(info.name.as_str());
        }
        Err(no_action(self.profile_name(profile), action, &names))
    }

    /// Returns the table of an entry or default entry with this target.
    fn pointing_table(&self, profile: usize, outcome: Outcome) -> &str {
        let tables = &self.program.code.match_tables;
        (0..tables.len())
            .find(|&t| tables[t].profile == Some(profile as u32) && self.cells.tables[t].uses(outcome))
            .map_or("", |t| self.program.table(t as u32).name.as_str())
    }

    /// Replaces the contents of a member's slot.
    pub(super) fn put_member(&mut self, profile: usize, handle: u32, image: MemberImage) {
        self.remember(|state| Change::Member {
            profile,
            handle,
            before: Box::new(state.cells.profiles[profile].members.image(handle)),
        });
        self.cells.profiles[profile].put_member(handle, image);
    }

    /// Replaces the contents of a group's slot.
    pub(super) fn put_group(&mut self, profile: usize, handle: u32, image: GroupImage) {
        self.remember_group(profile, handle);
        self.cells.profiles[profile].put_group(handle, image);
    }

    /// Records a group that is about to change.
    pub(super) fn remember_group(&mut self, profile: usize, handle: u32) {
        self.remember(|state| Change::Group {
            profile,
            handle,
            before: Box::new(state.cells.profiles[profile].groups.image(handle)),
        });
    }

    /// Changes the control plane's data of a member.
    pub(super) fn edit_member_note(
        &mut self,
        profile: usize,
        handle: u32,
        edit: impl FnOnce(&mut MemberNote),
    ) {
        if let Some((member, mut note)) = self.cells.profiles[profile].members.image(handle) {
            edit(&mut note);
            self.put_member(profile, handle, Some((member, note)));
        }
    }

    /// Adds a member and returns its handle; refused if the profile is full.
    pub(super) fn make_member(&mut self, profile: usize, member: Member, note: MemberNote) -> Result<u32> {
        let limit = self.program.action_profile(profile as u32).max_size;
        if limit != 0 && self.cells.profiles[profile].members.len() >= limit {
            return Err(full(self.profile_name(profile), limit));
        }
        let handle = self.cells.profiles[profile].members.next();
        self.put_member(profile, handle, Some((member, note)));
        Ok(handle)
    }

    /// Makes a member that only one-shots have used an ordinary member, because a client refers to it by handle.
    pub(super) fn adopt(&mut self, profile: usize, member: u32) {
        if matches!(self.cells.profiles[profile].members.note(member).kind, MemberKind::Shared(_)) {
            let id = self.cells.profiles[profile].members.made_up_id(member);
            self.edit_member_note(profile, member, |note| {
                (note.kind, note.id) = (MemberKind::ByHandle, id);
            });
        }
    }

    /// Prepares a group for a change by handle. If the group is a one-shot's, later equal one-shots do not share it.
    fn change_by_handle(&mut self, profile: usize, group: u32, member: u32) {
        self.adopt(profile, member);
        self.remember_group(profile, group);
        if let Some((found, mut note)) = self.cells.profiles[profile].groups.image(group) {
            if matches!(note.kind, GroupKind::OneShot(Some(_))) {
                note.kind = GroupKind::OneShot(None);
                self.cells.profiles[profile].put_group(group, Some((found, note)));
            }
        }
    }

    fn in_group(&self, profile: usize, member: u32, group: u32) -> bool {
        let found = self.cells.profiles[profile].groups.get(group);
        found.is_some_and(|group| group.members().binary_search(&member).is_ok())
    }

    /// Returns a member and the group that it is in.
    fn member_in_group(
        &self,
        profile: usize,
        member: MemberHandle,
        group: GroupHandle,
    ) -> Result<(u32, u32)> {
        let found = (self.member(profile, member)?, self.group(profile, group)?);
        if self.in_group(profile, found.0, found.1) {
            return Ok(found);
        }
        let text = format!("{}: member {member} is not in group {group}", self.profile_name(profile));
        Err(RuntimeError::new(Refusal::InvalidValue, "MBR_NOT_IN_GRP", text))
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
        let handle = self.cells.profiles[id].members.next();
        let note =
            MemberNote { id: self.cells.profiles[id].members.made_up_id(handle), ..MemberNote::default() };
        self.make_member(id, Member { action, data }, note).map(u64::from)
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
        let (action, data) = self.action_of_profile(id, action, data)?;
        let handle = self.member(id, member)?;
        let note = self.cells.profiles[id].members.note(handle).clone();
        self.put_member(id, handle, Some((Member { action, data }, note)));
        Ok(())
    }

    /// Deletes a member that no entry and no group uses.
    pub fn mt_act_prof_delete_member(&mut self, profile: &str, member: MemberHandle) -> Result<()> {
        let id = self.profile(profile)?;
        let handle = self.member(id, member)?;
        self.check_member_unused(id, handle, member)?;
        let note = self.cells.profiles[id].members.note(handle).clone();
        if let MemberKind::Copy(of) = note.kind {
            self.edit_member_note(id, of, |note| note.copies.retain(|copy| *copy != handle));
        }
        self.put_member(id, handle, None);
        if let Some((&heir, others)) = note.copies.split_first() {
            // Its copies are still in groups: the first of them takes over the client's id.
            let heritage = MemberNote { copies: others.to_vec(), ..note.clone() };
            self.edit_member_note(id, heir, |note| *note = heritage);
            for &copy in others {
                self.edit_member_note(id, copy, |note| note.kind = MemberKind::Copy(heir));
            }
        }
        Ok(())
    }

    /// Refuses a member that entries or groups use. `name` is the caller's handle or id of it.
    pub(super) fn check_member_unused(&self, profile: usize, handle: u32, name: u64) -> Result<()> {
        let found = &self.cells.profiles[profile];
        let reason = if found.members.entries(handle) > 0 {
            let table = self.pointing_table(profile, Outcome::Member(handle));
            format!("entries of table '{table}' point at it")
        } else if found.groups_of(handle) > 0 {
            format!("it is in {} groups", found.groups_of(handle))
        } else {
            return Ok(());
        };
        let text = format!("{} member {name}: {reason}", self.profile_name(profile));
        Err(RuntimeError::new(Refusal::InUse, "MBR_STILL_USED", text))
    }

    /// Creates an empty group.
    pub fn mt_act_prof_create_group(&mut self, profile: &str) -> Result<GroupHandle> {
        let id = self.profile_with_selector(profile)?;
        let handle = self.cells.profiles[id].groups.next();
        let note =
            GroupNote { id: self.cells.profiles[id].groups.made_up_id(handle), ..GroupNote::default() };
        self.put_group(id, handle, Some((Group::default(), note)));
        Ok(u64::from(handle))
    }

    /// Deletes a group that no entry uses.
    pub fn mt_act_prof_delete_group(&mut self, profile: &str, group: GroupHandle) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let handle = self.group(id, group)?;
        self.check_group_unused(id, handle, group)?;
        self.put_group(id, handle, None);
        Ok(())
    }

    /// Refuses a group that entries use. `name` is the caller's handle or id of it.
    pub(super) fn check_group_unused(&self, profile: usize, handle: u32, name: u64) -> Result<()> {
        if self.cells.profiles[profile].groups.entries(handle) == 0 {
            return Ok(());
        }
        let table = self.pointing_table(profile, Outcome::Group(handle));
        let object = self.profile_name(profile);
        let text = format!("{object} group {name}: entries of table '{table}' point at it");
        Err(RuntimeError::new(Refusal::InUse, "GRP_STILL_USED", text))
    }

    /// Adds a member to a group; the selector skips the member while its watch port, if it has one, is not up.
    pub fn mt_act_prof_add_member_to_group(
        &mut self,
        profile: &str,
        member: MemberHandle,
        group: GroupHandle,
        watch: Option<u16>,
    ) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let (member_id, group_id) = (self.member(id, member)?, self.group(id, group)?);
        if self.in_group(id, member_id, group_id) {
            let text = format!("{}: member {member} is in group {group} already", self.profile_name(id));
            return Err(RuntimeError::new(Refusal::InUse, "MBR_ALREADY_IN_GRP", text));
        }
        self.change_by_handle(id, group_id, member_id);
        self.cells.profiles[id].join(group_id, member_id, watch, &self.ports_up);
        Ok(())
    }

    /// Sets whether a port is up, for the members that watch it. Ports start down.
    pub fn set_port_up(&mut self, port: u16, up: bool) {
        let State { cells, ports_up, .. } = self;
        let changed = if up { ports_up.insert(port) } else { ports_up.remove(&port) };
        if changed {
            cells.profiles.iter_mut().for_each(|profile| profile.port_changed(port, ports_up));
        }
    }

    /// Removes a member from a group, unless it is the last member of a group that entries use.
    pub fn mt_act_prof_remove_member_from_group(
        &mut self,
        profile: &str,
        member: MemberHandle,
        group: GroupHandle,
    ) -> Result<()> {
        let id = self.profile_with_selector(profile)?;
        let (member_id, group_id) = self.member_in_group(id, member, group)?;
        self.check_not_last(id, group_id, member)?;
        self.change_by_handle(id, group_id, member_id);
        self.cells.profiles[id].leave(group_id, member_id, &self.ports_up);
        Ok(())
    }

    /// Refuses to remove the last member of a group that entries use.
    pub(super) fn check_not_last(&self, profile: usize, group: u32, member: u64) -> Result<()> {
        let found = &self.cells.profiles[profile];
        let is_last = found.groups.get(group).is_some_and(|group| group.members().len() == 1);
        if !is_last || found.groups.entries(group) == 0 {
            return Ok(());
        }
        let table = self.pointing_table(profile, Outcome::Group(group));
        let reason = format!(
            "member {member} is the last of group {group}, which entries of table '{table}' point at"
        );
        Err(empty_group(self.profile_name(profile), reason))
    }

    /// Returns the members in order of handle.
    pub fn mt_act_prof_get_members(&self, profile: &str) -> Result<Vec<MemberInfo<MemberHandle>>> {
        let id = self.profile(profile)?;
        let read = |(number, member): (u32, &Member)| {
            let (action, data) = self.action_with(member.action, &member.data);
            MemberInfo { number: u64::from(number), action, data }
        };
        Ok(self.cells.profiles[id].members.iter().map(read).collect())
    }

    /// Returns the groups in order of handle.
    pub fn mt_act_prof_get_groups(&self, profile: &str) -> Result<Vec<GroupInfo>> {
        let id = self.profile_with_selector(profile)?;
        let read = |(handle, group): (u32, &Group)| {
            let members = group.members().iter().map(|&member| u64::from(member)).collect();
            GroupInfo { handle: u64::from(handle), members }
        };
        Ok(self.cells.profiles[id].groups.iter().map(read).collect())
    }
}
