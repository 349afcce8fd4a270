//! The control interface for clients that choose the ids of members and groups, as in P4Runtime; and batches, which can be rolled back.

use bm::{ClientAction, ClientGroup, DefaultEntry, Entry, MemberInfo};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use simple_switch::{Replica, Savepoint};

use crate::convert::values::McCopies;
use crate::convert::{Action, Data, Given, Key, Shares, Told};
use crate::error::Error;
use crate::handle::{calls, SwitchHandle};

/// A clone session: id, egress port, multicast group, class of service, maximum length of a copy in bytes.
type Session = (u16, Option<u16>, Option<u16>, u8, u32);

calls! {
    /// Adds an entry to any table and returns its handle. `note` is opaque and stored with it.
    short_call state_mut.client_add_entry(
        table: &str, key: Key, priority: u32, action: Action, note: PyBackedBytes
    ) -> u64;
    /// Replaces the opaque bytes of an entry and, if given, its action.
    #[pyo3(signature = (table, handle, action, note))]
    short_call state_mut.client_modify_entry(
        table: &str, handle: u64, action: Option<Action>, note: PyBackedBytes
    ) -> ();
    /// Returns the entries in order of their rows, including those added by other calls.
    call state.client_entries(table: &str) -> Vec<Entry<ClientAction>>;
    /// Returns at most `count` entries from the row `first`, and the row to continue from, None at the end.
    /// An entry that exists throughout is in exactly one page, whatever else is added or deleted.
    call state.client_entries_page(table: &str, first: u32, count: usize) -> (Vec<Entry<ClientAction>>, Option<u32>);
    /// Returns the entry with this key and, if the table has priorities, this priority.
    short_call state.client_entry_from_key(table: &str, key: Key, priority: u32) -> Option<Entry<ClientAction>>;
    /// Sets the action of a direct table for misses, with its data; None stands for the program's.
    #[pyo3(signature = (table, action, note))]
    short_call state_mut.client_set_default(
        table: &str, action: Option<(String, Data)>, note: PyBackedBytes
    ) -> ();
    /// Returns the default entry of any table.
    short_call state.client_default(table: &str) -> DefaultEntry<ClientAction>;

    /// Adds a member with an id. If a member that was added by handle has this id as a generated one, that
    /// member gets another.
    short_call state_mut.client_add_member(profile: &str, member: u32, action: &str, data: Data) -> ();
    /// Replaces a member's action in all groups and entries with this member.
    short_call state_mut.client_modify_member(profile: &str, member: u32, action: &str, data: Data) -> ();
    /// Deletes a member that no entry and no group uses.
    short_call state_mut.client_delete_member(profile: &str, member: u32) -> ();
    /// Adds a group with an id and opaque bytes. A member of weight w has w places in the selector.
    short_call state_mut.client_add_group(
        profile: &str, group: u32, members: Shares, note: PyBackedBytes
    ) -> ();
    short_call state_mut.client_modify_group(
        profile: &str, group: u32, members: Shares, note: PyBackedBytes
    ) -> ();
    /// Deletes a group that no entry uses.
    short_call state_mut.client_delete_group(profile: &str, group: u32) -> ();
    /// Returns the members by ascending id, or the one with the given id, if any. A member that was added by
    /// handle has a generated id: 2^32-1 minus its handle, or the next lower unused one.
    #[pyo3(signature = (profile, member=None))]
    call state.client_members(profile: &str, member: Option<u32>) -> Vec<MemberInfo<u32>>;
    /// Returns the groups by ascending id, or the one with the given id, if any. Generated ids are as for
    /// members.
    #[pyo3(signature = (profile, group=None))]
    call state.client_groups(profile: &str, group: Option<u32>) -> Vec<ClientGroup>;
}

/// Multicast groups, clone sessions, batches.
#[pymethods]
impl SwitchHandle {
    /// Returns the multicast groups by ascending id, or the one with the given id, if any.
    #[pyo3(signature = (group=None))]
    fn mc_groups(&self, group: Option<u16>) -> PyResult<Vec<McCopies>> {
        let wanted = |mgid: &u16| group.is_none_or(|group| group == *mgid);
        self.short_call(|switch| {
            let pre = switch.pre();
            let copies = |replica: &Replica| (replica.egress_port, replica.rid);
            let read = |mgid| {
                let replicas = pre.replicas(mgid).unwrap_or_default().iter().map(copies).collect();
                McCopies((mgid, replicas, pre.note(mgid).to_vec()))
            };
            Ok::<_, Error>(pre.groups().filter(wanted).map(read).collect())
        })
    }

    /// Returns the fields of `values.Session` for each clone session by ascending id, or for the one with the
    /// given id, if any.
    #[pyo3(signature = (session=None))]
    fn mirroring_sessions(&self, session: Option<u16>) -> PyResult<Vec<Session>> {
        let wanted = |id: u16| session.is_none_or(|session| session == id);
        self.short_call(|switch| {
            let sessions = switch.mirroring().iter().filter(|(id, _)| wanted(**id)).map(|(id, session)| {
                let length = session.packet_length_bytes;
                (*id, session.egress_port, session.mgid, session.class_of_service, length)
            });
            Ok::<_, Error>(sessions.collect())
        })
    }

    /// Starts recording changes by calls. Calls of other threads wait until `end_batch`. Pause the switch
    /// first: otherwise changes by packets may be undone with those by calls.
    ///
    /// Not recorded: `reset_state`, CRC parameters, sweeps, and the `mc_` and `mirroring_` calls except
    /// `mc_set_group`, `mc_delete_group`, `mirroring_session_add` and `mirroring_session_delete`.
    fn begin_batch(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.host.turns().take_turn());
        let begun = self.short_call(|switch| {
            switch.begin_batch();
            Ok::<_, Error>(())
        });
        if begun.is_err() {
            py.detach(|| self.host.turns().end_turn());
        }
        begun
    }

    /// Ends the batch, and keeps the changes that were not undone.
    fn end_batch(&self, py: Python<'_>) -> PyResult<()> {
        let ended = self.short_call(|switch| {
            switch.end_batch();
            Ok::<_, Error>(())
        });
        py.detach(|| self.host.turns().end_turn());
        ended
    }

    /// Returns a point in the batch for `roll_back`.
    fn savepoint(&self) -> PyResult<(usize, usize)> {
        let point = self.short_call(|switch| Ok::<_, Error>(switch.savepoint()))?;
        Ok((point.state, point.replicated))
    }

    /// Undoes the changes since a savepoint: restores handles, the order of rows, counts, meters and ages.
    fn roll_back(&self, savepoint: (usize, usize)) -> PyResult<()> {
        let (state, replicated) = savepoint;
        self.ask(|switch| switch.roll_back(Savepoint { state, replicated }))
    }
}
