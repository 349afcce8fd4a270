//! The control interface for clients that choose the ids of members and groups, as in P4Runtime; and batches, which can be rolled back.

use std::sync::Arc;

use bm::{ActionChoice, ActionData, ActionSet, ClientAction, ClientEntry, Share, Shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyTuple};
use simple_switch::{Replica, Savepoint};

use crate::convert::{self, KeyParam};
use crate::error::Error;
use crate::handle::SwitchHandle;

/// The action of an entry, as passed from Python.
struct Action(ClientAction);

/// An action of a one-shot: name, data, weight, watched port.
type Choice = (String, Vec<PyBackedBytes>, u32, Option<u16>);

impl<'py> FromPyObject<'py> for Action {
    fn extract_bound(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let tuple = object
            .downcast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("an entry's action is a tuple such as ('member', 7)"))?;
        let kind: String = tuple.get_item(0)?.extract()?;
        Ok(Action(match (kind.as_str(), tuple.len()) {
            ("action", 3) => {
                let data: Vec<PyBackedBytes> = tuple.get_item(2)?.extract()?;
                ClientAction::Action(tuple.get_item(1)?.extract()?, convert::data(data))
            }
            ("member", 2) => ClientAction::Member(tuple.get_item(1)?.extract()?),
            ("group", 2) => ClientAction::Group(tuple.get_item(1)?.extract()?),
            ("one_shot", 3) => {
                let choices: Vec<Choice> = tuple.get_item(2)?.extract()?;
                let choices = choices.into_iter().map(|(action, data, weight, watch)| ActionChoice {
                    action,
                    data: convert::data(data),
                    weight,
                    watch,
                });
                let note = tuple.get_item(1)?.extract::<PyBackedBytes>()?.to_vec();
                ClientAction::OneShot(ActionSet { note, choices: choices.collect() })
            }
            (kind, length) => {
                return Err(PyValueError::new_err(format!(
                    "an action of {length} items starting with '{kind}'; see eeon_engine.values.ClientAction"
                )))
            }
        }))
    }
}

fn values<'py>(py: Python<'py>, data: &ActionData) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, data.iter().map(|value| PyBytes::new(py, value)))
}

fn shown<'py>(py: Python<'py>, program: &bm::Program, action: &Shown) -> PyResult<Bound<'py, PyTuple>> {
    let name = |action: bm::ActionId| &program.actions()[action.index()].name;
    match action {
        Shown::Action(action, data) => ("action", name(*action), values(py, data)?).into_pyobject(py),
        Shown::Member(id) => ("member", id).into_pyobject(py),
        Shown::Group(id) => ("group", id).into_pyobject(py),
        Shown::OneShot(note, choices) => {
            let choice = |(action, data, weight, watch): &(bm::ActionId, ActionData, u32, Option<u16>)| {
                (name(*action), values(py, data)?, weight, watch).into_pyobject(py)
            };
            let choices = choices.iter().map(choice).collect::<PyResult<Vec<_>>>()?;
            ("one_shot", PyBytes::new(py, note), PyList::new(py, choices)?).into_pyobject(py)
        }
    }
}

fn entry<'py>(py: Python<'py>, program: &bm::Program, entry: &ClientEntry) -> PyResult<Bound<'py, PyTuple>> {
    let params: Vec<_> =
        entry.key.iter().map(|param| convert::key_param(py, param)).collect::<PyResult<_>>()?;
    let action = shown(py, program, &entry.action)?;
    let note = PyBytes::new(py, &entry.note);
    (entry.handle, PyList::new(py, params)?, entry.priority, action, note, entry.ttl_ns).into_pyobject(py)
}

fn shares(members: Vec<(u32, u32, Option<u16>)>) -> Vec<Share> {
    members.into_iter().map(|(member, weight, watch)| Share { member, weight, watch }).collect()
}

/// A multicast group: id, copies, opaque bytes.
type Group<'py> = (u16, Vec<(u16, u16)>, Bound<'py, PyBytes>);

/// A clone session: id, egress port, multicast group, class of service, maximum length of a copy in bytes.
type Session = (u16, Option<u16>, Option<u16>, u8, u32);

/// Entries.
#[pymethods]
impl SwitchHandle {
    fn client_add_entry(
        &self,
        table: &str,
        key: Vec<KeyParam>,
        priority: u32,
        action: Action,
        note: PyBackedBytes,
    ) -> PyResult<u64> {
        let key = convert::key(key);
        self.short_call(|switch| switch.state_mut().client_add_entry(table, &key, priority, &action.0, &note))
    }

    #[pyo3(signature = (table, handle, action, note))]
    fn client_modify_entry(
        &self,
        table: &str,
        handle: u64,
        action: Option<Action>,
        note: PyBackedBytes,
    ) -> PyResult<()> {
        let action = action.map(|action| action.0);
        self.short_call(|switch| {
            switch.state_mut().client_modify_entry(table, handle, action.as_ref(), &note)
        })
    }

    fn client_entries<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyList>> {
        let (program, entries) = self.call(|switch| {
            switch.state().client_entries(table).map(|entries| (Arc::clone(switch.program()), entries))
        })?;
        PyList::new(py, entries.iter().map(|one| entry(py, &program, one)).collect::<PyResult<Vec<_>>>()?)
    }

    fn client_entries_page<'py>(
        &self,
        py: Python<'py>,
        table: &str,
        first: u32,
        count: usize,
    ) -> PyResult<(Bound<'py, PyList>, Option<u32>)> {
        let (program, (entries, next)) = self.call(|switch| {
            let page = switch.state().client_entries_page(table, first, count);
            page.map(|page| (Arc::clone(switch.program()), page))
        })?;
        let entries = entries.iter().map(|one| entry(py, &program, one)).collect::<PyResult<Vec<_>>>()?;
        Ok((PyList::new(py, entries)?, next))
    }

    fn client_entry_from_key<'py>(
        &self,
        py: Python<'py>,
        table: &str,
        key: Vec<KeyParam>,
        priority: u32,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let key = convert::key(key);
        let (program, found) = self.short_call(|switch| {
            let found = switch.state().client_entry_from_key(table, &key, priority);
            found.map(|found| (Arc::clone(switch.program()), found))
        })?;
        found.map(|found| entry(py, &program, &found)).transpose()
    }

    #[pyo3(signature = (table, action, note))]
    fn client_set_default(
        &self,
        table: &str,
        action: Option<(String, Vec<PyBackedBytes>)>,
        note: PyBackedBytes,
    ) -> PyResult<()> {
        let action = action.map(|(name, data)| (name, convert::data(data)));
        self.short_call(|switch| {
            let action = action.as_ref().map(|(name, data)| (name.as_str(), data.as_slice()));
            switch.state_mut().client_set_default(table, action, &note)
        })
    }

    fn client_default<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyTuple>> {
        let (program, found) = self.short_call(|switch| {
            switch.state().client_default(table).map(|found| (Arc::clone(switch.program()), found))
        })?;
        let action = found.action.map(|action| shown(py, &program, &action)).transpose()?;
        (action, PyBytes::new(py, &found.note), found.is_set).into_pyobject(py)
    }
}

/// Members and groups.
#[pymethods]
impl SwitchHandle {
    fn client_add_member(
        &self,
        profile: &str,
        member: u32,
        action: &str,
        data: Vec<PyBackedBytes>,
    ) -> PyResult<()> {
        let data = convert::data(data);
        self.short_call(|switch| switch.state_mut().client_add_member(profile, member, action, &data))
    }

    fn client_modify_member(
        &self,
        profile: &str,
        member: u32,
        action: &str,
        data: Vec<PyBackedBytes>,
    ) -> PyResult<()> {
        let data = convert::data(data);
        self.short_call(|switch| switch.state_mut().client_modify_member(profile, member, action, &data))
    }

    fn client_delete_member(&self, profile: &str, member: u32) -> PyResult<()> {
        self.short_call(|switch| switch.state_mut().client_delete_member(profile, member))
    }

    fn client_add_group(
        &self,
        profile: &str,
        group: u32,
        members: Vec<(u32, u32, Option<u16>)>,
        note: PyBackedBytes,
    ) -> PyResult<()> {
        let members = shares(members);
        self.short_call(|switch| switch.state_mut().client_add_group(profile, group, &members, &note))
    }

    fn client_modify_group(
        &self,
        profile: &str,
        group: u32,
        members: Vec<(u32, u32, Option<u16>)>,
        note: PyBackedBytes,
    ) -> PyResult<()> {
        let members = shares(members);
        self.short_call(|switch| switch.state_mut().client_modify_group(profile, group, &members, &note))
    }

    fn client_delete_group(&self, profile: &str, group: u32) -> PyResult<()> {
        self.short_call(|switch| switch.state_mut().client_delete_group(profile, group))
    }

    #[pyo3(signature = (profile, member=None))]
    fn client_members<'py>(
        &self,
        py: Python<'py>,
        profile: &str,
        member: Option<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (program, members) = self.call(|switch| {
            let members = switch.state().client_members(profile, member);
            members.map(|members| (Arc::clone(switch.program()), members))
        })?;
        let one = |member: &bm::ClientMember| {
            let name = &program.actions()[member.action.index()].name;
            (member.id, name, values(py, &member.data)?).into_pyobject(py)
        };
        PyList::new(py, members.iter().map(one).collect::<PyResult<Vec<_>>>()?)
    }

    #[pyo3(signature = (profile, group=None))]
    fn client_groups<'py>(
        &self,
        py: Python<'py>,
        profile: &str,
        group: Option<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let groups = self.call(|switch| switch.state().client_groups(profile, group))?;
        let one = |group: &bm::ClientGroup| {
            let members: Vec<_> = group.members.iter().map(|s| (s.member, s.weight, s.watch)).collect();
            (group.id, members, PyBytes::new(py, &group.note)).into_pyobject(py)
        };
        PyList::new(py, groups.iter().map(one).collect::<PyResult<Vec<_>>>()?)
    }
}

/// Value sets, multicast groups, clone sessions.
#[pymethods]
impl SwitchHandle {
    fn parse_vset_set(&self, vset: &str, values: Vec<PyBackedBytes>) -> PyResult<()> {
        let values = convert::data(values);
        self.short_call(|switch| switch.state_mut().parse_vset_set(vset, &values))
    }

    #[pyo3(signature = (group=None))]
    fn mc_groups<'py>(&self, py: Python<'py>, group: Option<u16>) -> PyResult<Vec<Group<'py>>> {
        let wanted = |mgid: &u16| group.is_none_or(|group| group == *mgid);
        let groups = self.short_call(|switch| {
            let pre = switch.pre();
            let copies = |replica: &Replica| (replica.egress_port, replica.rid);
            let read = |mgid| {
                let replicas = pre.replicas(mgid).unwrap_or_default().iter().map(copies).collect();
                (mgid, replicas, pre.note(mgid).to_vec())
            };
            Ok::<Vec<(u16, Vec<(u16, u16)>, Vec<u8>)>, Error>(pre.groups().filter(wanted).map(read).collect())
        })?;
        Ok(groups
            .into_iter()
            .map(|(mgid, replicas, note)| (mgid, replicas, PyBytes::new(py, &note)))
            .collect())
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
}

/// Batches.
#[pymethods]
impl SwitchHandle {
    fn begin_batch(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.host.take_turn());
        let begun = self.short_call(|switch| {
            switch.begin_batch();
            Ok::<_, Error>(())
        });
        if begun.is_err() {
            py.detach(|| self.host.end_turn());
        }
        begun
    }

    fn end_batch(&self, py: Python<'_>) -> PyResult<()> {
        let ended = self.short_call(|switch| {
            switch.end_batch();
            Ok::<_, Error>(())
        });
        py.detach(|| self.host.end_turn());
        ended
    }

    fn savepoint(&self) -> PyResult<(usize, usize)> {
        let point = self.short_call(|switch| Ok::<_, Error>(switch.savepoint()))?;
        Ok((point.state, point.replicated))
    }

    fn roll_back(&self, savepoint: (usize, usize)) -> PyResult<()> {
        let (state, replicated) = savepoint;
        self.call(|switch| {
            switch.roll_back(Savepoint { state, replicated });
            Ok::<_, Error>(())
        })
    }
}
