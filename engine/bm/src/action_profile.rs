//! Action profiles: members (an action with its data) and groups of them, shared by entries. A selector picks
//! a group's member by a hash of the packet: see `State`.
//!
//! A member of a group may watch a port: while that port is down the selector passes it over (P4Runtime's `watch_port`). What is
//! left is worked out when a group, a watch or a port changes, never for a packet.

use std::collections::{BTreeMap, BTreeSet};

/// A member.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Index into the program's actions.
    pub(crate) action: u32,
    pub(crate) data: Vec<u64>,
}

/// A group: which members it has, and which of them a packet may get.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// Handles in rising order.
    members: Vec<u32>,
    /// Ports that members watch.
    watches: BTreeMap<u32, u16>,
    /// Members whose port, if they watch one, is up, in rising order: the n-th is what a hash of n selects.
    active: Vec<u32>,
}

impl Group {
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    #[inline]
    pub(crate) fn active(&self) -> &[u32] {
        &self.active
    }

    /// Adds a member that is not there yet; whether it was not.
    pub(crate) fn add(&mut self, member: u32, watch: Option<u16>, up: &BTreeSet<u16>) -> bool {
        let Err(at) = self.members.binary_search(&member) else { return false };
        self.members.insert(at, member);
        self.watch(member, watch, up);
        true
    }

    /// Removes a member that is there.
    pub(crate) fn remove(&mut self, member: u32, up: &BTreeSet<u16>) {
        self.members.retain(|other| *other != member);
        self.watch(member, None, up);
    }

    /// Lets a member watch another port, or none.
    pub(crate) fn watch(&mut self, member: u32, port: Option<u16>, up: &BTreeSet<u16>) {
        match port {
            Some(port) => self.watches.insert(member, port),
            None => self.watches.remove(&member),
        };
        let is_member = self.members.binary_search(&member).is_ok();
        let is_active = is_member && port.is_none_or(|port| up.contains(&port));
        match (self.active.binary_search(&member), is_active) {
            (Err(at), true) => self.active.insert(at, member),
            (Ok(at), false) => {
                self.active.remove(at);
            }
            _ => {}
        }
    }

    /// A port went down or came up.
    fn port_changed(&mut self, port: u16, up: &BTreeSet<u16>) {
        let Group { members, watches, active } = self;
        if watches.values().any(|watched| *watched == port) {
            active.clear();
            active.extend(members.iter().filter(|m| watches.get(m).is_none_or(|port| up.contains(port))));
        }
    }
}

/// One action profile's members and groups, by handle. BMv2 gives out the lowest free handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionProfile {
    pub(crate) members: Vec<Option<Member>>,
    pub(crate) groups: Vec<Option<Group>>,
}

fn put<T>(slots: &mut Vec<Option<T>>, value: T) -> u32 {
    match slots.iter().position(Option::is_none) {
        Some(free) => {
            slots[free] = Some(value);
            free as u32
        }
        None => {
            slots.push(Some(value));
            slots.len() as u32 - 1
        }
    }
}

impl ActionProfile {
    pub(crate) fn add_member(&mut self, member: Member) -> u32 {
        put(&mut self.members, member)
    }

    pub(crate) fn create_group(&mut self) -> u32 {
        put(&mut self.groups, Group::default())
    }

    pub(crate) fn member(&self, handle: u32) -> Option<&Member> {
        self.members.get(handle as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn group(&self, handle: u32) -> Option<&Group> {
        self.groups.get(handle as usize)?.as_ref()
    }

    /// How many groups each member is in.
    pub(crate) fn memberships(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for &member in self.groups.iter().flatten().flat_map(Group::members) {
            *counts.entry(member).or_insert(0) += 1;
        }
        counts
    }

    /// A port went down or came up.
    pub(crate) fn port_changed(&mut self, port: u16, up: &BTreeSet<u16>) {
        self.groups.iter_mut().flatten().for_each(|group| group.port_changed(port, up));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(up: &BTreeSet<u16>) -> Group {
        let mut group = Group::default();
        for (member, watch) in [(7, Some(2)), (3, Some(1)), (5, None)] {
            assert!(group.add(member, watch, up));
        }
        group
    }

    #[test]
    fn members_whose_port_is_down_are_passed_over_until_it_is_up() {
        let mut up = BTreeSet::from([1, 2]);
        let mut profile = ActionProfile { members: Vec::new(), groups: vec![Some(group(&up)), None] };
        let active = |profile: &ActionProfile| profile.group(0).unwrap().active().to_vec();
        assert_eq!(active(&profile), [3, 5, 7]);
        up.remove(&1);
        profile.port_changed(1, &up);
        assert_eq!(active(&profile), [5, 7]);
        up.remove(&2);
        profile.port_changed(2, &up);
        assert_eq!(active(&profile), [5]);
        up.insert(1);
        profile.port_changed(1, &up);
        assert_eq!(active(&profile), [3, 5]);
        assert_eq!(profile.group(0).unwrap().members(), [3, 5, 7]);
    }

    #[test]
    fn a_member_that_is_added_while_its_port_is_down_waits_for_it() {
        let mut group = group(&BTreeSet::from([2]));
        assert_eq!(group.active(), [5, 7]);
        assert!(!group.add(3, None, &BTreeSet::new()), "it is there already, and keeps what it watches");
        assert_eq!(group.active(), [5, 7]);
    }

    #[test]
    fn a_watch_is_changed_and_ends_with_the_membership() {
        let up = BTreeSet::from([2]);
        let mut group = group(&up);
        group.watch(3, Some(2), &up);
        assert_eq!(group.active(), [3, 5, 7]);
        group.watch(3, Some(9), &up);
        assert_eq!(group.active(), [5, 7]);
        group.remove(3, &up);
        assert!(group.add(3, None, &up));
        assert_eq!(group.active(), [3, 5, 7]);
    }
}
