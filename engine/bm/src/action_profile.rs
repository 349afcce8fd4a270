//! Action profiles: members (an action with its data) and groups of them, shared by entries. A selector picks
//! a group's member by a hash of the packet: see `State`.

use std::collections::BTreeMap;

/// A member.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Index into the program's actions.
    pub(crate) action: u32,
    pub(crate) data: Vec<u64>,
}

/// One action profile's members and groups, by handle. BMv2 gives out the lowest free handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionProfile {
    pub(crate) members: Vec<Option<Member>>,
    /// Member handles in rising order: the n-th is what a hash of n selects.
    pub(crate) groups: Vec<Option<Vec<u32>>>,
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
        put(&mut self.groups, Vec::new())
    }

    pub(crate) fn member(&self, handle: u32) -> Option<&Member> {
        self.members.get(handle as usize)?.as_ref()
    }

    pub(crate) fn group(&self, handle: u32) -> Option<&Vec<u32>> {
        self.groups.get(handle as usize)?.as_ref()
    }

    /// How many groups each member is in.
    pub(crate) fn memberships(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for &member in self.groups.iter().flatten().flatten() {
            *counts.entry(member).or_insert(0) += 1;
        }
        counts
    }
}
