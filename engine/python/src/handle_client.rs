//! The control interface for clients that choose the ids of members and groups, as in P4Runtime; and batches, which can be rolled back.

use bm::{ClientAction, ClientGroup, DefaultEntry, Entry, MemberInfo};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use simple_switch::{Replica, Savepoint};

use crate::convert::{Action, Data, Given, Key, Shares, Told};
use crate::error::Error;
use crate::handle::{calls, SwitchHandle};

/// A multicast group: id, copies, opaque bytes.
type Group = (u16, Vec<(u16, u16)>, Vec<u8>);

/// A clone session: id, egress port, multicast group, class of service, maximum length of a copy in bytes.
type Session = (u16, Option<u16>, Option<u16>, u8, u32);

calls! {
    short_call state_mut.client_add_entry(
        table: &str, key: Key, priority: u32, action: Action, note: PyBackedBytes
    ) -> u64;
    #[pyo3(signature = (table, handle, action, note))]
    short_call state_mut.client_modify_entry(
        table: &str, handle: u64, action: Option<Action>, note: PyBackedBytes
    ) -> ();
    call state.client_entries(table: &str) -> Vec<Entry<ClientAction>>;
    call state.client_entries_page(table: &str, first: u32, count: usize) -> (Vec<Entry<ClientAction>>, Option<u32>);
    short_call state.client_entry_from_key(table: &str, key: Key, priority: u32) -> Option<Entry<ClientAction>>;
    #[pyo3(signature = (table, action, note))]
    short_call state_mut.client_set_default(
        table: &str, action: Option<(String, Data)>, note: PyBackedBytes
    ) -> ();
    short_call state.client_default(table: &str) -> DefaultEntry<ClientAction>;

    short_call state_mut.client_add_member(profile: &str, member: u32, action: &str, data: Data) -> ();
    short_call state_mut.client_modify_member(profile: &str, member: u32, action: &str, data: Data) -> ();
    short_call state_mut.client_delete_member(profile: &str, member: u32) -> ();
    short_call state_mut.client_add_group(
        profile: &str, group: u32, members: Shares, note: PyBackedBytes
    ) -> ();
    short_call state_mut.client_modify_group(
        profile: &str, group: u32, members: Shares, note: PyBackedBytes
    ) -> ();
    short_call state_mut.client_delete_group(profile: &str, group: u32) -> ();
    #[pyo3(signature = (profile, member=None))]
    call state.client_members(profile: &str, member: Option<u32>) -> Vec<MemberInfo<u32>>;
    #[pyo3(signature = (profile, group=None))]
    call state.client_groups(profile: &str, group: Option<u32>) -> Vec<ClientGroup>;
}

/// Multicast groups, clone sessions, batches.
#[pymethods]
impl SwitchHandle {
    #[pyo3(signature = (group=None))]
    fn mc_groups(&self, group: Option<u16>) -> PyResult<Vec<Group>> {
        let wanted = |mgid: &u16| group.is_none_or(|group| group == *mgid);
        self.short_call(|switch| {
            let pre = switch.pre();
            let copies = |replica: &Replica| (replica.egress_port, replica.rid);
            let read = |mgid| {
                let replicas = pre.replicas(mgid).unwrap_or_default().iter().map(copies).collect();
                (mgid, replicas, pre.note(mgid).to_vec())
            };
            Ok::<_, Error>(pre.groups().filter(wanted).map(read).collect())
        })
    }

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

    fn end_batch(&self, py: Python<'_>) -> PyResult<()> {
        let ended = self.short_call(|switch| {
            switch.end_batch();
            Ok::<_, Error>(())
        });
        py.detach(|| self.host.turns().end_turn());
        ended
    }

    fn savepoint(&self) -> PyResult<(usize, usize)> {
        let point = self.short_call(|switch| Ok::<_, Error>(switch.savepoint()))?;
        Ok((point.state, point.replicated))
    }

    fn roll_back(&self, savepoint: (usize, usize)) -> PyResult<()> {
        let (state, replicated) = savepoint;
        self.ask(|switch| switch.roll_back(Savepoint { state, replicated }))
    }
}
