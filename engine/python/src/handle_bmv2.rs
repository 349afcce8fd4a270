//! The rest of the control interface: calls of BMv2's runtime interface and of its `simple_switch` that P4Runtime does not need.

use bm::CrcParameters;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyTuple};
use simple_switch::NodeHandle;

use crate::convert::{self, KeyParam};
use crate::error::Error;
use crate::handle::{SwitchHandle, PS_PER_NS};

/// A multicast group: id, and its nodes in order.
type Group = (u16, Vec<u32>);

/// A multicast node: handle, replication id, ports, LAGs.
type Node = (u32, u16, Vec<u16>, Vec<u16>);

/// A LAG: number, ports.
type Lag = (u16, Vec<u16>);

/// Polynomial, initial remainder, final XOR, whether data is reflected, whether the remainder is reflected.
type Crc<T> = (T, T, T, bool, bool);

fn crc<T>(
    (polynomial, initial_remainder, final_xor, reflect_data, reflect_remainder): Crc<T>,
) -> CrcParameters<T> {
    CrcParameters { polynomial, initial_remainder, final_xor, reflect_data, reflect_remainder }
}

/// Tables.
#[pymethods]
impl SwitchHandle {
    fn mt_get_entry<'py>(&self, py: Python<'py>, table: &str, handle: u64) -> PyResult<Bound<'py, PyTuple>> {
        let (program, entry) = self.call(|switch| {
            let entry = switch.state().mt_get_entry(table, handle);
            entry.map(|entry| (switch.program().clone(), entry))
        })?;
        convert::entry(py, &program, &entry)
    }

    #[pyo3(signature = (table, key, priority=0))]
    fn mt_get_entry_from_key<'py>(
        &self,
        py: Python<'py>,
        table: &str,
        key: Vec<KeyParam>,
        priority: u32,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let key = convert::key(key);
        let (program, entry) = self.call(|switch| {
            let entry = switch.state().mt_get_entry_from_key(table, &key, priority);
            entry.map(|entry| (switch.program().clone(), entry))
        })?;
        entry.map(|entry| convert::entry(py, &program, &entry)).transpose()
    }

    fn mt_get_entry_life(&self, py: Python<'_>, table: &str, handle: u64) -> PyResult<(u64, u64)> {
        let now = py.detach(|| self.host.now());
        let (ttl_ns, idle_ps) = self.call(|switch| {
            let state = switch.state();
            let ttl = state.mt_get_entry_ttl(table, handle)?;
            Ok::<_, Error>((ttl, state.mt_get_entry_idle(table, handle, now.as_ps())?))
        })?;
        Ok((ttl_ns, idle_ps / PS_PER_NS))
    }

    fn mt_get_num_entries(&self, table: &str) -> PyResult<usize> {
        self.call(|switch| switch.state().mt_get_num_entries(table))
    }

    fn mt_clear_entries(&self, table: &str, reset_default: bool) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_clear_entries(table, reset_default))
    }

    fn mt_indirect_set_default_member(&self, table: &str, member: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_indirect_set_default_member(table, member))
    }

    fn mt_indirect_ws_set_default_group(&self, table: &str, group: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_indirect_ws_set_default_group(table, group))
    }

    fn mt_reset_counters(&self, table: &str) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_reset_counters(table))
    }

    fn mt_act_prof_get_members<'py>(&self, py: Python<'py>, profile: &str) -> PyResult<Bound<'py, PyList>> {
        let (program, members) = self.call(|switch| {
            let members = switch.state().mt_act_prof_get_members(profile);
            members.map(|members| (switch.program().clone(), members))
        })?;
        let member = |member: &bm::MemberInfo| {
            let data = PyList::new(py, member.data.iter().map(|value| PyBytes::new(py, value)))?;
            (member.handle, &program.actions()[member.action.index()].name, data).into_pyobject(py)
        };
        PyList::new(py, members.iter().map(member).collect::<PyResult<Vec<_>>>()?)
    }

    fn mt_act_prof_get_groups(&self, profile: &str) -> PyResult<Vec<(u64, Vec<u64>)>> {
        let groups = self.call(|switch| switch.state().mt_act_prof_get_groups(profile))?;
        Ok(groups.into_iter().map(|group| (group.handle, group.members)).collect())
    }

    fn reset_counters(&self, counter: &str) -> PyResult<()> {
        self.call(|switch| switch.state_mut().reset_counters(counter))
    }

    fn register_write_range(
        &self,
        register: &str,
        start: u64,
        end: u64,
        value: PyBackedBytes,
    ) -> PyResult<()> {
        self.call(|switch| switch.state_mut().register_write_range(register, start, end, &value))
    }

    fn register_reset(&self, register: &str) -> PyResult<()> {
        self.call(|switch| switch.state_mut().register_reset(register))
    }

    fn set_crc16_custom_parameters(&self, calculation: &str, parameters: Crc<u16>) -> PyResult<()> {
        let parameters = crc(parameters);
        self.call(|switch| switch.state_mut().set_crc16_custom_parameters(calculation, parameters))
    }

    fn set_crc32_custom_parameters(&self, calculation: &str, parameters: Crc<u32>) -> PyResult<()> {
        let parameters = crc(parameters);
        self.call(|switch| switch.state_mut().set_crc32_custom_parameters(calculation, parameters))
    }

    fn reset_state(&self) -> PyResult<()> {
        self.call(|switch| {
            switch.reset_state();
            Ok::<_, Error>(())
        })
    }
}

/// Multicast and clone sessions.
#[pymethods]
impl SwitchHandle {
    fn mc_mgrp_create(&self, group: u16) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_mgrp_create(group))
    }

    fn mc_mgrp_destroy(&self, group: u16) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_mgrp_destroy(group))
    }

    fn mc_node_create(&self, rid: u16, ports: Vec<u16>, lags: Vec<u16>) -> PyResult<u32> {
        let node = self.call(|switch| switch.pre_mut().mc_node_create(rid, &ports, &lags))?;
        Ok(node.0)
    }

    fn mc_node_update(&self, node: u32, ports: Vec<u16>, lags: Vec<u16>) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_node_update(NodeHandle(node), &ports, &lags))
    }

    fn mc_node_associate(&self, group: u16, node: u32) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_node_associate(group, NodeHandle(node)))
    }

    fn mc_node_dissociate(&self, group: u16, node: u32) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_node_dissociate(group, NodeHandle(node)))
    }

    fn mc_node_destroy(&self, node: u32) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_node_destroy(NodeHandle(node)))
    }

    fn mc_set_lag_membership(&self, lag: u16, ports: Vec<u16>) -> PyResult<()> {
        self.call(|switch| switch.pre_mut().mc_set_lag_membership(lag, &ports))
    }

    fn mc_get_entries(&self) -> PyResult<(Vec<Group>, Vec<Node>, Vec<Lag>)> {
        self.call(|switch| {
            let pre = switch.pre();
            let nodes = |mgid| pre.group_nodes(mgid).unwrap_or_default().iter().map(|node| node.0).collect();
            Ok::<_, Error>((
                pre.groups().map(|mgid| (mgid, nodes(mgid))).collect(),
                pre.nodes().map(|(handle, n)| (handle.0, n.rid, n.ports.clone(), n.lags.clone())).collect(),
                pre.lags().map(|(lag, ports)| (lag, ports.to_vec())).collect(),
            ))
        })
    }

    fn mirroring_session_get(&self, session: u16) -> PyResult<Option<(Option<u16>, Option<u16>)>> {
        self.call(|switch| {
            let found = switch.mirroring().get(&session);
            Ok::<_, Error>(found.map(|session| (session.egress_port, session.mgid)))
        })
    }
}

/// Queues, clock, ports.
#[pymethods]
impl SwitchHandle {
    #[pyo3(signature = (packets, port=None, priority=None))]
    fn set_queue_depth(&self, packets: usize, port: Option<u16>, priority: Option<usize>) -> PyResult<()> {
        self.call(|switch| switch.set_queue_depth(port, priority, packets))
    }

    #[pyo3(signature = (rate_pps, port=None, priority=None))]
    fn set_queue_rate(&self, rate_pps: u64, port: Option<u16>, priority: Option<usize>) -> PyResult<()> {
        self.call(|switch| switch.set_queue_rate(port, priority, rate_pps))
    }

    #[getter]
    fn time_elapsed_us(&self, py: Python<'_>) -> PyResult<u64> {
        let now = py.detach(|| self.host.now());
        self.call(|switch| Ok::<_, Error>(switch.time_elapsed_us(now)))
    }

    #[getter]
    fn time_since_epoch_us(&self, py: Python<'_>) -> PyResult<u64> {
        match py.detach(|| self.host.time_since_epoch_us()) {
            Some(shown) => Ok(shown),
            None => self.time_elapsed_us(py),
        }
    }

    fn port_info(&self, py: Python<'_>) -> Vec<(u16, String, bool)> {
        py.detach(|| self.host.port_info())
    }

    fn port_add(&self, py: Python<'_>, interface: &str, port: u16) -> PyResult<()> {
        Ok(py.detach(|| self.host.port_add(interface, port))?)
    }

    fn port_remove(&self, py: Python<'_>, port: u16) -> PyResult<()> {
        Ok(py.detach(|| self.host.port_remove(port))?)
    }

    fn port_set_link(&self, py: Python<'_>, port: u16, is_up: bool) -> PyResult<()> {
        Ok(py.detach(|| self.host.port_set_link(port, is_up))?)
    }
}
