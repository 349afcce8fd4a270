//! Action profiles: members (an action with its data) and groups of them, shared by entries. A selector picks a group's member
//! by a hash of the packet: see `run::look_up`.
//!
//! A member of a group may watch a port: while that port is down the selector skips the member (P4Runtime's `watch_port`). The
//! active members are recomputed when a group, a watch or a port changes, never for a packet.
//!
//! The data that packets need of a member or group are separate from those that only the control plane needs, its
//! [`MemberNote`] or [`GroupNote`]. P4Runtime clients choose ids; objects created by handle, as over Thrift, get generated ids
//! ([`Slots`]). A member of weight w is represented by w members with the same action, as in BMv2 below P4Runtime:
//! [`MemberKind::Copy`]. The actions of a one-shot are members that all one-shots of the profile share: [`MemberKind::Shared`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A member.
#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    /// Index into the program's actions.
    pub(crate) action: u32,
    pub(crate) data: Vec<u64>,
}

/// A group: its members, and the members that a packet may get.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// Handles in ascending order.
    members: Vec<u32>,
    /// Watched ports, by member.
    watches: BTreeMap<u32, u16>,
    /// Members whose watched port, if any, is up, in ascending order: a hash of n selects the n-th.
    active: Vec<u32>,
}

impl Group {
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Returns the port that a member watches.
    pub(crate) fn watched(&self, member: u32) -> Option<u16> {
        self.watches.get(&member).copied()
    }

    #[inline]
    pub(crate) fn active(&self) -> &[u32] {
        &self.active
    }

    /// Adds a member unless it is in the group already. Returns whether it was added.
    pub(crate) fn add(&mut self, member: u32, watch: Option<u16>, up: &BTreeSet<u16>) -> bool {
        let Err(at) = self.members.binary_search(&member) else { return false };
        self.members.insert(at, member);
        self.watch(member, watch, up);
        true
    }

    /// Removes a member of the group.
    pub(crate) fn remove(&mut self, member: u32, up: &BTreeSet<u16>) {
        self.members.retain(|other| *other != member);
        self.watch(member, None, up);
    }

    /// Changes or removes a member's watch port.
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

    /// Updates the active members after a port went down or came up, if a member watches it.
    fn port_changed(&mut self, port: u16, up: &BTreeSet<u16>) {
        if self.watches.values().any(|watched| *watched == port) {
            self.refresh(up);
        }
    }

    /// Recomputes the active members.
    pub(crate) fn refresh(&mut self, up: &BTreeSet<u16>) {
        let Group { members, watches, active } = self;
        active.clear();
        active.extend(members.iter().filter(|m| watches.get(m).is_none_or(|port| up.contains(port))));
    }
}

/// The origin of a member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MemberKind {
    /// Created by handle. Its id is generated.
    #[default]
    ByHandle,
    /// Created by a client, which chose its id.
    ByClient,
    /// Another copy of the member with this handle, for a weight.
    Copy(u32),
    /// An action of one-shots: the n-th member with this action and data, from 1.
    Shared(u32),
}

/// The control plane's data of a member.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemberNote {
    pub(crate) kind: MemberKind,
    /// 0 for copies and for actions of one-shots, which have no id of their own.
    pub(crate) id: u32,
    /// Its copies, in the order in which weights use them.
    pub(crate) copies: Vec<u32>,
}

/// The origin of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum GroupKind {
    /// Created by handle. Its id is generated.
    #[default]
    ByHandle,
    /// Created by a client, which chose its id.
    ByClient,
    /// The actions of a one-shot; deleted with the last entry that points at it. `None` after a change by handle: later
    /// one-shots then do not share it.
    OneShot(Option<Arc<OneShot>>),
}

/// The control plane's data of a group.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupNote {
    pub(crate) kind: GroupKind,
    /// 0 for one-shots.
    pub(crate) id: u32,
    /// Opaque bytes of the client.
    pub(crate) note: Box<[u8]>,
    /// Copies of members in the order in which the client gave them.
    pub(crate) copies: Vec<MemberCopy>,
}

/// One copy of a member in a group: a member of weight n has n copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MemberCopy {
    pub(crate) member: u32,
    /// Whether it is the first copy of an item with a weight.
    pub(crate) first: bool,
}

/// The identity of a one-shot: its opaque bytes, and its members with their watch ports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OneShot {
    pub(crate) note: Box<[u8]>,
    pub(crate) copies: Vec<(MemberCopy, Option<u16>)>,
}

/// An object with its data, for undoing changes; `None` for a free slot.
pub(crate) type Image<T, N> = Option<(T, N)>;
pub(crate) type MemberImage = Image<Member, MemberNote>;
pub(crate) type GroupImage = Image<Group, GroupNote>;

/// The members or the groups of an action profile, by handle. As in BMv2, the lowest free handle is used first.
///
/// An object without a client's id gets one from the top of the range downwards, and a new one if a client takes that id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots<T, N> {
    objects: Vec<Option<T>>,
    notes: Vec<N>,
    /// Number of entries and default entries that point at each.
    entries: Vec<u32>,
    free: BTreeSet<u32>,
    /// Handles by id.
    ids: BTreeMap<u32, u32>,
}

impl<T: Clone, N: Clone + Default> Slots<T, N> {
    #[inline]
    pub(crate) fn get(&self, handle: u32) -> Option<&T> {
        self.objects.get(handle as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        self.objects.get_mut(handle as usize)?.as_mut()
    }

    pub(crate) fn note(&self, handle: u32) -> &N {
        &self.notes[handle as usize]
    }

    pub(crate) fn note_mut(&mut self, handle: u32) -> &mut N {
        &mut self.notes[handle as usize]
    }

    /// Returns the objects in order of their handles.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.objects).filter_map(|(handle, object)| Some((handle, object.as_ref()?)))
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len() - self.free.len()
    }

    /// Returns the handle that the next object gets.
    pub(crate) fn next(&self) -> u32 {
        self.free.first().copied().unwrap_or(self.objects.len() as u32)
    }

    /// Returns the number of entries and default entries that point at an object.
    pub(crate) fn entries(&self, handle: u32) -> u32 {
        self.entries[handle as usize]
    }

    /// Increments or decrements the number of entries that point at an object.
    pub(crate) fn count_entry(&mut self, handle: u32, more: bool) {
        let entries = &mut self.entries[handle as usize];
        *entries = if more { *entries + 1 } else { *entries - 1 };
    }

    /// Returns the handle of the object with this id.
    pub(crate) fn by_id(&self, id: u32) -> Option<u32> {
        self.ids.get(&id).copied()
    }

    /// Returns the ids in ascending order, or only the given one, with their handles.
    pub(crate) fn ids(&self, only: Option<u32>) -> impl Iterator<Item = (u32, u32)> + '_ {
        let wanted = only.map_or(0..=u32::MAX, |id| id..=id);
        self.ids.range(wanted).map(|(id, handle)| (*id, *handle))
    }

    /// Returns a free id for an object without one: 2^32-1 less the handle, or the next free one below.
    pub(crate) fn made_up_id(&self, handle: u32) -> u32 {
        let mut below = (1..=u32::MAX - handle).rev().chain((1..=u32::MAX).rev());
        below.find(|id| !self.ids.contains_key(id)).unwrap_or(u32::MAX)
    }

    pub(crate) fn image(&self, handle: u32) -> Image<T, N> {
        Some((self.get(handle)?.clone(), self.note(handle).clone()))
    }

    /// Sets a slot to `image`, and returns what it held; `id` gives an object's id, 0 for none. The count of its users does not
    /// change.
    fn put(&mut self, handle: u32, image: Image<T, N>, id: fn(&N) -> u32) -> Image<T, N> {
        let at = handle as usize;
        while self.objects.len() <= at {
            self.free.insert(self.objects.len() as u32);
            self.objects.push(None);
            self.notes.push(N::default());
            self.entries.push(0);
        }
        let before = self.objects[at].take().map(|object| (object, std::mem::take(&mut self.notes[at])));
        if let Some((_, note)) = &before {
            self.ids.remove(&id(note));
        }
        self.free.insert(handle);
        if let Some((object, note)) = image {
            self.free.remove(&handle);
            if id(&note) != 0 {
                self.ids.insert(id(&note), handle);
            }
            (self.objects[at], self.notes[at]) = (Some(object), note);
        }
        before
    }
}

/// The members and groups of one action profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionProfile {
    pub(crate) members: Slots<Member, MemberNote>,
    pub(crate) groups: Slots<Group, GroupNote>,
    /// Number of groups that each member is in.
    member_groups: Vec<u32>,
    /// Members of one-shots, by action, data and number.
    shared: BTreeMap<(u32, Vec<u64>, u32), u32>,
    one_shots: BTreeMap<Arc<OneShot>, u32>,
}

impl ActionProfile {
    /// Returns the number of groups that a member is in.
    pub(crate) fn groups_of(&self, member: u32) -> u32 {
        self.member_groups[member as usize]
    }

    /// Returns the member that a client sees; for a copy, this is the original member.
    pub(crate) fn seen(&self, member: u32) -> u32 {
        match self.members.note(member).kind {
            MemberKind::Copy(of) => of,
            _ => member,
        }
    }

    /// Returns the member of one-shots with this action, data and number.
    pub(crate) fn shared(&self, action: u32, data: &[u64], number: u32) -> Option<u32> {
        self.shared.get(&(action, data.to_vec(), number)).copied()
    }

    /// Returns the group of a one-shot, if an entry uses an equal one.
    pub(crate) fn one_shot(&self, wanted: &OneShot) -> Option<u32> {
        self.one_shots.get(wanted).copied()
    }

    /// Returns whether the profile has one-shots, and whether it has other members or groups.
    pub(crate) fn styles(&self) -> (bool, bool) {
        let is_one_shot = |group| matches!(self.groups.note(group).kind, GroupKind::OneShot(_));
        let has_one_shots = self.groups.iter().any(|(group, _)| is_one_shot(group));
        (has_one_shots, !self.members.ids.is_empty() || !self.groups.ids.is_empty())
    }

    /// Sets a member's slot to `image`. The counts of its users do not change.
    pub(crate) fn put_member(&mut self, handle: u32, image: MemberImage) {
        let name = |(member, note): &(Member, MemberNote)| match note.kind {
            MemberKind::Shared(number) => Some((member.action, member.data.clone(), number)),
            _ => None,
        };
        let after = image.as_ref().and_then(name);
        let before = self.members.put(handle, image, |note| note.id);
        self.member_groups.resize(self.members.objects.len(), 0);
        if let Some(name) = before.as_ref().and_then(name) {
            if self.shared.get(&name) == Some(&handle) {
                self.shared.remove(&name);
            }
        }
        if let Some(name) = after {
            // A member that was changed by handle may now equal another one, which keeps the key.
            self.shared.entry(name).or_insert(handle);
        }
    }

    /// Sets a group's slot to `image`. The counts of its users do not change.
    pub(crate) fn put_group(&mut self, handle: u32, image: GroupImage) {
        if let Some((before, note)) = self.groups.put(handle, image, |note| note.id) {
            for &member in before.members() {
                self.member_groups[member as usize] -= 1;
            }
            if let GroupKind::OneShot(Some(shape)) = note.kind {
                self.one_shots.remove(&shape);
            }
        }
        let Some(group) = self.groups.get(handle) else { return };
        for &member in group.members() {
            self.member_groups[member as usize] += 1;
        }
        if let GroupKind::OneShot(Some(shape)) = &self.groups.note(handle).kind {
            self.one_shots.insert(Arc::clone(shape), handle);
        }
    }

    /// Adds a member to a group without it, but not to the control plane's order.
    pub(crate) fn put_in(&mut self, group: u32, member: u32, watch: Option<u16>, up: &BTreeSet<u16>) {
        let Some(joined) = self.groups.get_mut(group) else { return };
        joined.add(member, watch, up);
        self.member_groups[member as usize] += 1;
    }

    /// Removes a member from its group, but not from the control plane's order.
    pub(crate) fn take_out(&mut self, group: u32, member: u32, up: &BTreeSet<u16>) {
        let Some(left) = self.groups.get_mut(group) else { return };
        left.remove(member, up);
        self.member_groups[member as usize] -= 1;
    }

    /// Adds a member to a group without it: after the member's last copy there, or else at the end.
    pub(crate) fn join(&mut self, group: u32, member: u32, watch: Option<u16>, up: &BTreeSet<u16>) {
        let at = self.copies_end(group, self.seen(member));
        self.put_in(group, member, watch, up);
        let copies = &mut self.groups.note_mut(group).copies;
        copies.insert(at.unwrap_or(copies.len()), MemberCopy { member, first: at.is_none() });
    }

    /// Returns the place for another copy of a member, after its last copy. Returns `None` if it has no copy in the group, and
    /// for members of one-shots.
    fn copies_end(&self, group: u32, seen: u32) -> Option<usize> {
        if matches!(self.members.note(seen).kind, MemberKind::Shared(_)) {
            return None;
        }
        let copies = &self.groups.note(group).copies;
        let last = copies.iter().rposition(|copy| self.seen(copy.member) == seen)?;
        Some(last + 1)
    }

    /// Removes a member from its group.
    pub(crate) fn leave(&mut self, group: u32, member: u32, up: &BTreeSet<u16>) {
        self.take_out(group, member, up);
        let copies = &mut self.groups.note_mut(group).copies;
        if let Some(at) = copies.iter().position(|copy| copy.member == member) {
            let gone = copies.remove(at);
            if let Some(next) = copies.get_mut(at).filter(|_| gone.first) {
                next.first = true;
            }
        }
    }

    /// Updates every group after a port went down or came up.
    pub(crate) fn port_changed(&mut self, port: u16, up: &BTreeSet<u16>) {
        self.groups.objects.iter_mut().flatten().for_each(|group| group.port_changed(port, up));
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
        let mut profile = ActionProfile::default();
        profile.groups.objects = vec![Some(group(&up)), None];
        let active = |profile: &ActionProfile| profile.groups.get(0).unwrap().active().to_vec();
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
        assert_eq!(profile.groups.get(0).unwrap().members(), [3, 5, 7]);
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
