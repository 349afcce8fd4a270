//! The rest of the control interface: calls of BMv2's runtime interface and of its `simple_switch` that P4Runtime does not need.

use bm::{Entry, GroupInfo, MemberInfo, MtAction};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::convert::{Crc, Given, Key, Node, Ports, Told};
use crate::error::Error;
use crate::handle::{calls, SwitchHandle, PS_PER_NS};

/// A multicast group: id, and its nodes in order.
type Group = (u16, Vec<u32>);

/// A multicast node: handle, replication id, ports, LAGs.
type NodeOf = (u32, u16, Vec<u16>, Vec<u16>);

/// A LAG: number, ports.
type Lag = (u16, Vec<u16>);

calls! {
    call state.mt_get_entry(table: &str, handle: u64) -> Entry<MtAction>;
    #[pyo3(signature = (table, key, priority=0))]
    call state.mt_get_entry_from_key(table: &str, key: Key, priority: u32) -> Option<Entry<MtAction>>;
    call state.mt_get_num_entries(table: &str) -> usize;
    call state_mut.mt_clear_entries(table: &str, reset_default: bool) -> ();
    call state_mut.mt_indirect_set_default_member(table: &str, member: u64) -> ();
    call state_mut.mt_indirect_ws_set_default_group(table: &str, group: u64) -> ();
    call state_mut.mt_reset_counters(table: &str) -> ();
    call state.mt_act_prof_get_members(profile: &str) -> Vec<MemberInfo<u64>>;
    call state.mt_act_prof_get_groups(profile: &str) -> Vec<GroupInfo>;
    call state_mut.reset_counters(counter: &str) -> ();
    call state_mut.register_write_range(register: &str, start: u64, end: u64, value: PyBackedBytes) -> ();
    call state_mut.register_reset(register: &str) -> ();
    call state_mut.set_crc16_custom_parameters(calculation: &str, parameters: Crc<u16>) -> ();
    call state_mut.set_crc32_custom_parameters(calculation: &str, parameters: Crc<u32>) -> ();

    call pre_mut.mc_mgrp_create(group: u16) -> ();
    call pre_mut.mc_mgrp_destroy(group: u16) -> ();
    call pre_mut.mc_node_update(node: Node, ports: Ports, lags: Ports) -> ();
    call pre_mut.mc_node_associate(group: u16, node: Node) -> ();
    call pre_mut.mc_node_dissociate(group: u16, node: Node) -> ();
    call pre_mut.mc_node_destroy(node: Node) -> ();
    call pre_mut.mc_set_lag_membership(lag: u16, ports: Ports) -> ();
}

/// Ages, multicast, clone sessions, queues, clock, ports.
#[pymethods]
impl SwitchHandle {
    fn mt_get_entry_life(&self, py: Python<'_>, table: &str, handle: u64) -> PyResult<(u64, u64)> {
        let now = py.detach(|| self.host.now());
        let (ttl_ns, idle_ps) = self.call(|switch| {
            let state = switch.state();
            let ttl = state.mt_get_entry_ttl(table, handle)?;
            Ok::<_, Error>((ttl, state.mt_get_entry_idle(table, handle, now.as_ps())?))
        })?;
        Ok((ttl_ns, idle_ps / PS_PER_NS))
    }

    fn reset_state(&self) -> PyResult<()> {
        self.ask(|switch| switch.reset_state())
    }

    fn mc_node_create(&self, rid: u16, ports: Vec<u16>, lags: Vec<u16>) -> PyResult<u32> {
        let node = self.call(|switch| switch.pre_mut().mc_node_create(rid, &ports, &lags))?;
        Ok(node.0)
    }

    fn mc_get_entries(&self) -> PyResult<(Vec<Group>, Vec<NodeOf>, Vec<Lag>)> {
        self.ask(|switch| {
            let pre = switch.pre();
            let nodes = |mgid| pre.group_nodes(mgid).unwrap_or_default().iter().map(|node| node.0).collect();
            (
                pre.groups().map(|mgid| (mgid, nodes(mgid))).collect(),
                pre.nodes().map(|(handle, n)| (handle.0, n.rid, n.ports.clone(), n.lags.clone())).collect(),
                pre.lags().map(|(lag, ports)| (lag, ports.to_vec())).collect(),
            )
        })
    }

    fn mirroring_session_get(&self, session: u16) -> PyResult<Option<(Option<u16>, Option<u16>)>> {
        self.ask(|switch| switch.mirroring().get(&session).map(|session| (session.egress_port, session.mgid)))
    }

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
        self.ask(|switch| switch.time_elapsed_us(now))
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
