//! The rest of the control interface: calls of BMv2's runtime interface and of its `simple_switch` that P4Runtime does not need.

use bm::{Entry, GroupInfo, MemberInfo, MtAction};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use simple_switch::NodeHandle;

use crate::convert::values::{McGroup, McLag, McNode, PortInfo};
use crate::convert::{Crc, Given, Key, Node, Ports, Told};
use crate::error::Error;
use crate::handle::{calls, SwitchHandle};

const PS_PER_NS: u64 = 1_000;

calls! {
    call state.mt_get_entry(table: &str, handle: u64) -> Entry<MtAction>;
    /// Returns the entry with exactly this key (and priority, if the table has priorities), if any.
    #[pyo3(signature = (table, key, priority=0))]
    call state.mt_get_entry_from_key(table: &str, key: Key, priority: u32) -> Option<Entry<MtAction>>;
    /// Returns the number of entries, without the default entry.
    call state.mt_get_num_entries(table: &str) -> usize;
    /// Deletes every entry that is not constant; with `reset_default` also resets the default entry.
    call state_mut.mt_clear_entries(table: &str, reset_default: bool) -> ();
    /// Makes a member the default entry.
    call state_mut.mt_indirect_set_default_member(table: &str, member: u64) -> ();
    /// Makes a group the default entry.
    call state_mut.mt_indirect_ws_set_default_group(table: &str, group: u64) -> ();
    call state_mut.mt_reset_counters(table: &str) -> ();
    /// Returns the members by handle.
    call state.mt_act_prof_get_members(profile: &str) -> Vec<MemberInfo<u64>>;
    /// Returns the groups by handle.
    call state.mt_act_prof_get_groups(profile: &str) -> Vec<GroupInfo>;
    call state_mut.reset_counters(counter: &str) -> ();
    /// Writes the cells `start` to `end` - 1.
    call state_mut.register_write_range(register: &str, start: u64, end: u64, value: PyBackedBytes) -> ();
    call state_mut.register_reset(register: &str) -> ();
    /// Sets a calculation of type `crc16_custom`; numbers of 16 bits.
    call state_mut.set_crc16_custom_parameters(calculation: &str, parameters: Crc<u16>) -> ();
    /// Sets a calculation of type `crc32_custom`; numbers of 32 bits.
    call state_mut.set_crc32_custom_parameters(calculation: &str, parameters: Crc<u32>) -> ();

    /// Creates an empty multicast group.
    call pre_mut.mc_mgrp_create(group: u16) -> ();
    /// Destroys a multicast group; its nodes stay.
    call pre_mut.mc_mgrp_destroy(group: u16) -> ();
    /// Creates a node: a copy with this `egress_rid` to each port, and to one port of each LAG.
    call pre_mut.mc_node_create(rid: u16, ports: Ports, lags: Ports) -> NodeHandle;
    call pre_mut.mc_node_update(node: Node, ports: Ports, lags: Ports) -> ();
    /// Adds a node at the end of a group.
    call pre_mut.mc_node_associate(group: u16, node: Node) -> ();
    /// Removes a node from a group.
    call pre_mut.mc_node_dissociate(group: u16, node: Node) -> ();
    /// Removes a node from its group, and destroys it.
    call pre_mut.mc_node_destroy(node: Node) -> ();
    call pre_mut.mc_set_lag_membership(lag: u16, ports: Ports) -> ();
}

/// Ages, multicast, clone sessions, queues, clock, ports.
#[pymethods]
impl SwitchHandle {
    /// Returns the idle timeout of an entry (0: none), and its time since the last hit or since its timeout was first
    /// set, in nanoseconds.
    fn mt_get_entry_life(&self, py: Python<'_>, table: &str, handle: u64) -> PyResult<(u64, u64)> {
        let now = py.detach(|| self.host.now());
        let (ttl_ns, idle_ps) = self.short_call(|switch| {
            let state = switch.state();
            let ttl = state.mt_get_entry_ttl(table, handle)?;
            Ok::<_, Error>((ttl, state.mt_get_entry_idle(table, handle, now.as_ps())?))
        })?;
        Ok((ttl_ns, idle_ps / PS_PER_NS))
    }

    /// Resets tables, counters, meters, registers and value sets to the program's initial state, and deletes
    /// multicast groups. Clone sessions, queue settings, CRC parameters and packets inside stay, as in BMv2.
    fn reset_state(&self) -> PyResult<()> {
        self.ask(|switch| switch.reset_state())
    }

    /// Returns all groups, nodes and LAGs.
    fn mc_get_entries(&self) -> PyResult<(Vec<McGroup>, Vec<McNode>, Vec<McLag>)> {
        self.ask(|switch| {
            let pre = switch.pre();
            let nodes_of =
                |mgid| pre.group_nodes(mgid).unwrap_or_default().iter().map(|node| node.0).collect();
            let groups = pre.groups().map(|mgid| McGroup((mgid, nodes_of(mgid))));
            let nodes =
                pre.nodes().map(|(handle, n)| McNode((handle.0, n.rid, n.ports.clone(), n.lags.clone())));
            let lags = pre.lags().map(|(lag, ports)| McLag((lag, ports.to_vec())));
            (groups.collect(), nodes.collect(), lags.collect())
        })
    }

    /// Sets the capacity in packets of one queue, of each queue of a port, or of every queue.
    #[pyo3(signature = (packets, port=None, priority=None))]
    fn set_queue_depth(&self, packets: usize, port: Option<u16>, priority: Option<usize>) -> PyResult<()> {
        self.call(|switch| switch.set_queue_depth(port, priority, packets))
    }

    /// Sets the rate of one queue, of each queue of a port, or of every queue, in packets per second; 0 means
    /// no limit. It applies to each queue separately, in addition to the rate of the port's link.
    #[pyo3(signature = (rate_pps, port=None, priority=None))]
    fn set_queue_rate(&self, rate_pps: u64, port: Option<u16>, priority: Option<usize>) -> PyResult<()> {
        self.call(|switch| switch.set_queue_rate(port, priority, rate_pps))
    }

    /// Returns the switch's clock in microseconds.
    #[getter]
    fn time_elapsed_us(&self, py: Python<'_>) -> PyResult<u64> {
        let now = py.detach(|| self.host.now());
        self.ask(|switch| switch.time_elapsed_us(now))
    }

    /// Returns the computer's clock in microseconds since the epoch; in virtual time, the switch's clock.
    #[getter]
    fn time_since_epoch_us(&self, py: Python<'_>) -> PyResult<u64> {
        match py.detach(|| self.host.time_since_epoch_us()) {
            Some(shown) => Ok(shown),
            None => self.time_elapsed_us(py),
        }
    }

    /// Returns the attached ports by number. In virtual time they are up unless `port_set_link` sets them
    /// down.
    fn port_info(&self, py: Python<'_>) -> Vec<PortInfo> {
        py.detach(|| self.host.port_info()).into_iter().map(PortInfo).collect()
    }

    /// Attaches a port. Raises `ConfigError` if it is attached already, or if a topology fixes the ports. In
    /// virtual time the interface's name is ignored, and the port has no rate limit.
    fn port_add(&self, py: Python<'_>, interface: &str, port: u16) -> PyResult<()> {
        Ok(py.detach(|| self.host.port_add(interface, port))?)
    }

    /// Detaches a port; frames from it and to it are dropped and counted.
    fn port_remove(&self, py: Python<'_>, port: u16) -> PyResult<()> {
        Ok(py.detach(|| self.host.port_remove(port))?)
    }

    /// Sets in virtual time whether a port's link is up, for members of action profiles that watch it; frames
    /// pass in any case. Raises `ConfigError` for a port that is not attached, and on a live switch, whose
    /// interfaces determine the link state.
    fn port_set_link(&self, py: Python<'_>, port: u16, is_up: bool) -> PyResult<()> {
        Ok(py.detach(|| self.host.port_set_link(port, is_up))?)
    }
}
