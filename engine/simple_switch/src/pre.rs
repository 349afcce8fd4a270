//! The packet replication engine: multicast groups as in BMv2's `simple_pre_lag`.
//!
//! A group is a list of nodes; a node is a replication id with a set of ports and of link aggregation groups (LAGs). Replicas are
//! in the order in which nodes were associated, within a node by ascending port, then by ascending LAG. A LAG is a set of ports
//! of which one gets the copy: always the same, because BMv2 uses a constant as the packet's hash.

use std::collections::{BTreeMap, BTreeSet};

use bm::{Refusal, RuntimeError, NO_CODE};

use crate::config::PORT_COUNT;

/// BMv2's default table sizes: groups and nodes.
const MAX_GROUPS: usize = 4096;
const MAX_NODES: usize = 4096;

/// The numbers that a call may give: their kind, the name of all in an error, and the highest.
type Numbers = (&'static str, &'static str, u16);
const PORTS: Numbers = ("port", "v1model's ports", PORT_COUNT as u16 - 1);
const LAGS: Numbers = ("LAG", "numbers", 256);

/// BMv2's constant for the hash that selects a LAG's port.
const LAG_HASH: usize = 0xff;

/// Handle of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeHandle(pub u32);

/// One copy that a group makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replica {
    /// Port by which it leaves.
    pub egress_port: u16,
    /// The `egress_rid` that the program sees; P4Runtime's `instance`.
    pub rid: u16,
}

/// Returns the error of a call on a group.
fn of_group(refusal: Refusal, code: &'static str, mgid: u16, reason: &str) -> RuntimeError {
    RuntimeError::new(refusal, code, format!("multicast group {mgid}: {reason}"))
}

fn group_zero() -> RuntimeError {
    let reason = "is v1model's \"no multicast\"; ids start at 1";
    of_group(Refusal::InvalidValue, "INVALID_MGID", 0, reason)
}

fn no_group(mgid: u16) -> RuntimeError {
    let reason = "does not exist; create it first";
    of_group(Refusal::NoSuchHandle, "INVALID_MGRP_HANDLE", mgid, reason)
}

fn no_node(handle: NodeHandle) -> RuntimeError {
    let text = format!("multicast node {}: does not exist", handle.0);
    RuntimeError::new(Refusal::NoSuchHandle, "INVALID_L1_HANDLE", text)
}

fn full(limit: usize) -> RuntimeError {
    let text = format!("multicast: all {limit} groups or nodes are in use");
    RuntimeError::new(Refusal::Full, "TABLE_FULL", text)
}

fn invalid(text: String) -> RuntimeError {
    RuntimeError::new(Refusal::InvalidValue, NO_CODE, text)
}

/// Checks that no number is beyond the highest of its kind.
fn check((kind, all, max): Numbers, numbers: &[u16]) -> Result<(), RuntimeError> {
    match numbers.iter().find(|number| **number > max) {
        Some(beyond) => Err(invalid(format!("multicast {kind} {beyond}: {all} go from 0 to {max}"))),
        None => Ok(()),
    }
}

/// Returns numbers of a kind in ascending order, without duplicates.
fn set(kind: Numbers, numbers: &[u16]) -> Result<Vec<u16>, RuntimeError> {
    check(kind, numbers)?;
    Ok(BTreeSet::from_iter(numbers).into_iter().copied().collect())
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Replication id of its copies.
    pub rid: u16,
    /// Ports, ascending, without duplicates.
    pub ports: Vec<u16>,
    /// LAGs, ascending, without duplicates.
    pub lags: Vec<u16>,
    group: Option<u16>,
}

/// A group with its replicas, computed in advance for the packet path.
#[derive(Clone, Debug, Default)]
struct Group {
    nodes: Vec<NodeHandle>,
    replicas: Vec<Replica>,
    /// Opaque bytes of the client that wrote the group.
    note: Box<[u8]>,
}

/// A group with its nodes at one time, to be restored later.
#[derive(Clone, Debug)]
pub(crate) struct GroupImage(Option<(Group, Vec<(NodeHandle, Node)>)>);

/// Multicast groups and nodes of a switch.
#[derive(Clone, Debug, Default)]
pub struct Pre {
    groups: BTreeMap<u16, Group>,
    nodes: BTreeMap<NodeHandle, Node>,
    /// Free handles below the maximum number of nodes so far; the lowest is assigned first, as in BMv2.
    free: BTreeSet<NodeHandle>,
    /// Ports of each LAG, ascending.
    lags: BTreeMap<u16, Vec<u16>>,
}

impl Pre {
    /// Creates an empty group.
    pub fn mc_mgrp_create(&mut self, mgid: u16) -> Result<(), RuntimeError> {
        if mgid == 0 {
            return Err(group_zero());
        }
        if self.groups.contains_key(&mgid) {
            return Err(of_group(Refusal::InvalidValue, NO_CODE, mgid, "exists already"));
        }
        if self.groups.len() >= MAX_GROUPS {
            return Err(full(MAX_GROUPS));
        }
        self.groups.insert(mgid, Group::default());
        Ok(())
    }

    /// Destroys a group; its nodes stay, without a group.
    pub fn mc_mgrp_destroy(&mut self, mgid: u16) -> Result<(), RuntimeError> {
        let group = self.groups.remove(&mgid).ok_or_else(|| no_group(mgid))?;
        for handle in group.nodes {
            if let Some(node) = self.nodes.get_mut(&handle) {
                node.group = None;
            }
        }
        Ok(())
    }

    /// Creates a node: copies with this `rid` to each of `ports` and to one port of each of `lags`.
    pub fn mc_node_create(
        &mut self,
        rid: u16,
        ports: &[u16],
        lags: &[u16],
    ) -> Result<NodeHandle, RuntimeError> {
        let (ports, lags) = (set(PORTS, ports)?, set(LAGS, lags)?);
        if self.nodes.len() >= MAX_NODES {
            return Err(full(MAX_NODES));
        }
        let handle = self.free.pop_first().unwrap_or(NodeHandle(self.nodes.len() as u32));
        self.nodes.insert(handle, Node { rid, ports, lags, group: None });
        Ok(handle)
    }

    /// Replaces a node's ports and LAGs.
    pub fn mc_node_update(
        &mut self,
        handle: NodeHandle,
        ports: &[u16],
        lags: &[u16],
    ) -> Result<(), RuntimeError> {
        let (ports, lags) = (set(PORTS, ports)?, set(LAGS, lags)?);
        let node = self.nodes.get_mut(&handle).ok_or_else(|| no_node(handle))?;
        node.ports = ports;
        node.lags = lags;
        if let Some(mgid) = node.group {
            self.lay_out(mgid);
        }
        Ok(())
    }

    /// Sets the ports of a LAG.
    pub fn mc_set_lag_membership(&mut self, lag: u16, ports: &[u16]) -> Result<(), RuntimeError> {
        let ports = set(PORTS, ports)?;
        check(LAGS, &[lag])?;
        self.lags.insert(lag, ports);
        let users = self.nodes.values().filter(|node| node.lags.contains(&lag));
        let groups: BTreeSet<u16> = users.filter_map(|node| node.group).collect();
        groups.into_iter().for_each(|mgid| self.lay_out(mgid));
        Ok(())
    }

    /// Appends a node to a group.
    pub fn mc_node_associate(&mut self, mgid: u16, handle: NodeHandle) -> Result<(), RuntimeError> {
        let group = self.groups.get_mut(&mgid).ok_or_else(|| no_group(mgid))?;
        let node = self.nodes.get_mut(&handle).ok_or_else(|| no_node(handle))?;
        if let Some(group) = node.group {
            let node = handle.0;
            return Err(invalid(format!(
                "multicast node {node}: belongs to group {group} already; dissociate it first"
            )));
        }
        node.group = Some(mgid);
        group.nodes.push(handle);
        self.lay_out(mgid);
        Ok(())
    }

    /// Removes a node from a group.
    pub fn mc_node_dissociate(&mut self, mgid: u16, handle: NodeHandle) -> Result<(), RuntimeError> {
        let group = self.groups.get_mut(&mgid).ok_or_else(|| no_group(mgid))?;
        let node = self.nodes.get_mut(&handle).ok_or_else(|| no_node(handle))?;
        if node.group != Some(mgid) {
            return Err(invalid(format!("multicast node {}: is not in group {mgid}", handle.0)));
        }
        node.group = None;
        group.nodes.retain(|other| *other != handle);
        self.lay_out(mgid);
        Ok(())
    }

    /// Destroys a node, and first removes it from its group.
    pub fn mc_node_destroy(&mut self, handle: NodeHandle) -> Result<(), RuntimeError> {
        let node = self.nodes.get(&handle).ok_or_else(|| no_node(handle))?;
        if let Some(mgid) = node.group {
            self.mc_node_dissociate(mgid, handle)?;
        }
        self.forget(handle);
        Ok(())
    }

    /// Creates or replaces a whole group, as P4Runtime writes it, with the replicas in the given order. Changes nothing
    /// on an error.
    pub fn set_group(&mut self, mgid: u16, replicas: &[Replica]) -> Result<(), RuntimeError> {
        if mgid == 0 {
            return Err(group_zero());
        }
        replicas.iter().try_for_each(|replica| check(PORTS, &[replica.egress_port]))?;
        let old = self.groups.get(&mgid).map_or(0, |group| group.nodes.len());
        if self.nodes.len() - old + replicas.len() > MAX_NODES {
            return Err(full(MAX_NODES));
        }
        if self.groups.contains_key(&mgid) {
            self.delete_group(mgid)?;
        }
        self.mc_mgrp_create(mgid)?;
        for replica in replicas {
            let handle = self.mc_node_create(replica.rid, &[replica.egress_port], &[])?;
            self.mc_node_associate(mgid, handle)?;
        }
        Ok(())
    }

    /// Returns the opaque bytes that a client stored with a group; empty if there are none.
    pub fn note(&self, mgid: u16) -> &[u8] {
        self.groups.get(&mgid).map_or(&[], |group| &group.note)
    }

    /// Stores a client's opaque bytes with a group.
    pub fn set_note(&mut self, mgid: u16, note: &[u8]) {
        if let Some(group) = self.groups.get_mut(&mgid) {
            group.note = note.into();
        }
    }

    /// Returns a group with its nodes, for [`Pre::put_back`].
    pub(crate) fn image(&self, mgid: u16) -> GroupImage {
        let with_nodes = |group: &Group| {
            let nodes = group.nodes.iter().map(|handle| (*handle, self.nodes[handle].clone())).collect();
            (group.clone(), nodes)
        };
        GroupImage(self.groups.get(&mgid).map(with_nodes))
    }

    /// Restores a group. Its nodes must be free, or in the group now.
    pub(crate) fn put_back(&mut self, mgid: u16, image: GroupImage) {
        if let Some(group) = self.groups.remove(&mgid) {
            group.nodes.into_iter().for_each(|handle| self.forget(handle));
        }
        let Some((group, nodes)) = image.0 else { return };
        for (handle, node) in nodes {
            self.free.remove(&handle);
            self.nodes.insert(handle, node);
        }
        self.groups.insert(mgid, group);
        self.lay_out(mgid);
    }

    /// Destroys a group and its nodes, as P4Runtime deletes it.
    pub fn delete_group(&mut self, mgid: u16) -> Result<(), RuntimeError> {
        let group = self.groups.remove(&mgid).ok_or_else(|| no_group(mgid))?;
        group.nodes.into_iter().for_each(|handle| self.forget(handle));
        Ok(())
    }

    fn forget(&mut self, handle: NodeHandle) {
        if self.nodes.remove(&handle).is_some() {
            self.free.insert(handle);
        }
    }

    /// Returns the copies that a group makes, in order; `None` if the group does not exist.
    pub fn replicas(&self, mgid: u16) -> Option<&[Replica]> {
        self.groups.get(&mgid).map(|group| group.replicas.as_slice())
    }

    /// Returns the ids of all groups, ascending.
    pub fn groups(&self) -> impl Iterator<Item = u16> + '_ {
        self.groups.keys().copied()
    }

    /// Returns the nodes of a group in the order of their association; `None` if the group does not exist.
    pub fn group_nodes(&self, mgid: u16) -> Option<&[NodeHandle]> {
        self.groups.get(&mgid).map(|group| group.nodes.as_slice())
    }

    /// Returns every node, by handle.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeHandle, &Node)> {
        self.nodes.iter().map(|(handle, node)| (*handle, node))
    }

    /// Returns every LAG whose ports have been set, ascending, with its ports.
    pub fn lags(&self) -> impl Iterator<Item = (u16, &[u16])> + '_ {
        self.lags.iter().map(|(lag, ports)| (*lag, ports.as_slice()))
    }

    fn lay_out(&mut self, mgid: u16) {
        let Some(group) = self.groups.get_mut(&mgid) else { return };
        group.replicas.clear();
        for handle in &group.nodes {
            let node = &self.nodes[handle];
            let replica = |port: &u16| Replica { egress_port: *port, rid: node.rid };
            group.replicas.extend(node.ports.iter().map(replica));
            let of_lags = node.lags.iter().filter_map(|lag| self.lags.get(lag));
            group.replicas.extend(
                of_lags
                    .filter(|ports| !ports.is_empty())
                    .map(|ports| replica(&ports[LAG_HASH % ports.len()])),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(egress_port: u16, rid: u16) -> Replica {
        Replica { egress_port, rid }
    }

    #[test]
    fn one_port_of_each_lag_gets_a_copy_after_the_nodes_own_ports() {
        let mut pre = Pre::default();
        pre.mc_mgrp_create(1).unwrap();
        let node = pre.mc_node_create(5, &[9, 9], &[3, 1, 2, 1]).unwrap();
        pre.mc_node_associate(1, node).unwrap();
        assert_eq!(pre.replicas(1).unwrap(), [replica(9, 5)]);
        pre.mc_set_lag_membership(1, &[]).unwrap();
        pre.mc_set_lag_membership(3, &[6, 7]).unwrap();
        pre.mc_set_lag_membership(2, &[4, 2, 3, 1]).unwrap();
        // 0xff is 3 beyond a multiple of four, and 1 beyond one of two.
        assert_eq!(pre.replicas(1).unwrap(), [replica(9, 5), replica(4, 5), replica(7, 5)]);
        let beyond = |lag: u16| Err(invalid(format!("multicast LAG {lag}: numbers go from 0 to 256")));
        assert_eq!(pre.mc_set_lag_membership(257, &[1]), beyond(257));
        assert_eq!(pre.mc_node_update(node, &[], &[300]), beyond(300));
    }

    #[test]
    fn a_group_written_as_a_whole_replaces_the_old_one_and_leaves_no_nodes_behind() {
        let mut pre = Pre::default();
        for _ in 0..2 * MAX_NODES {
            pre.set_group(7, &[replica(2, 1), replica(1, 1), replica(2, 2)]).unwrap();
        }
        assert_eq!(pre.replicas(7).unwrap(), [replica(2, 1), replica(1, 1), replica(2, 2)]);
        pre.delete_group(7).unwrap();
        assert!(pre.nodes.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut pre = Pre::default();
        assert_eq!(pre.mc_mgrp_create(0), Err(group_zero()));
        let beyond = |port: u16| invalid(format!("multicast port {port}: v1model's ports go from 0 to 511"));
        assert_eq!(pre.mc_node_create(1, &[512], &[]), Err(beyond(512)));
        pre.set_group(3, &[replica(1, 1)]).unwrap();
        assert_eq!(pre.set_group(3, &[replica(1, 1), replica(600, 1)]), Err(beyond(600)));
        assert_eq!(pre.replicas(3).unwrap(), [replica(1, 1)]);
        let text = |refused: Result<(), RuntimeError>| refused.unwrap_err().to_string();
        assert_eq!(text(pre.mc_mgrp_create(3)), "multicast group 3: exists already");
        assert_eq!(text(pre.mc_node_destroy(NodeHandle(99))), "multicast node 99: does not exist");
    }

    #[test]
    fn a_group_that_is_put_back_has_its_nodes_under_their_old_handles() {
        let mut pre = Pre::default();
        pre.set_group(1, &[replica(1, 1), replica(2, 1)]).unwrap();
        pre.set_group(2, &[replica(3, 1)]).unwrap();
        pre.set_note(2, b"mine");
        let (first, second, third) = (pre.image(1), pre.image(2), pre.image(3));
        pre.delete_group(1).unwrap();
        pre.set_group(3, &[replica(4, 4), replica(5, 5), replica(6, 6)]).unwrap();
        pre.set_group(2, &[]).unwrap();
        pre.put_back(2, second);
        pre.put_back(3, third);
        pre.put_back(1, first);
        assert_eq!(pre.group_nodes(1).unwrap(), [NodeHandle(0), NodeHandle(1)]);
        assert_eq!(pre.replicas(2).unwrap(), [replica(3, 1)]);
        assert_eq!((pre.note(2), pre.replicas(3)), (&b"mine"[..], None));
        assert_eq!(pre.mc_node_create(9, &[1], &[]).unwrap(), NodeHandle(3));
    }
}
