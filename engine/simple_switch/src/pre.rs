//! The packet replication engine: multicast groups as BMv2's `simple_pre` has them.
//!
//! A group is a list of nodes, a node is one replication id and a set of ports. Replicas come in the order in which
//! nodes were associated, and by ascending port within a node. There are no link aggregation groups.

use std::collections::BTreeMap;

use crate::config::PORT_COUNT;

/// BMv2's default table sizes: groups and nodes.
const MAX_GROUPS: usize = 4096;
const MAX_NODES: usize = 4096;

/// Names a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeHandle(pub u32);

/// One copy that a group makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replica {
    /// Port it leaves by.
    pub egress_port: u16,
    /// What the program sees as `egress_rid`; P4Runtime's `instance`.
    pub rid: u16,
}

/// What the engine cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreError {
    /// Group 0 means "no multicast" in v1model.
    #[error("multicast group 0: is v1model's \"no multicast\"; ids start at 1")]
    GroupZero,
    /// The group is not there.
    #[error("multicast group {0}: does not exist; create it first")]
    NoGroup(u16),
    /// The group is there already.
    #[error("multicast group {0}: exists already")]
    GroupExists(u16),
    /// The node is not there.
    #[error("multicast node {}: does not exist", .0 .0)]
    NoNode(NodeHandle),
    /// A node belongs to one group at a time.
    #[error("multicast node {}: belongs to group {group} already; dissociate it first", .node.0)]
    NodeInUse {
        /// The node.
        node: NodeHandle,
        /// Its group.
        group: u16,
    },
    /// The node is not in this group.
    #[error("multicast node {}: is not in group {group}", .node.0)]
    NotAssociated {
        /// The node.
        node: NodeHandle,
        /// The group given.
        group: u16,
    },
    /// No such port number in v1model.
    #[error("multicast port {0}: v1model's ports go from 0 to {max}", max = PORT_COUNT - 1)]
    PortRange(u16),
    /// A table is full.
    #[error("multicast: all {0} groups or nodes are in use")]
    Full(usize),
}

#[derive(Clone, Debug)]
struct Node {
    rid: u16,
    /// Ascending, each once.
    ports: Vec<u16>,
    group: Option<u16>,
}

/// Groups with their replicas laid out for the packet path.
#[derive(Clone, Debug, Default)]
struct Group {
    nodes: Vec<NodeHandle>,
    replicas: Vec<Replica>,
}

/// Multicast groups and nodes of a switch.
#[derive(Clone, Debug, Default)]
pub struct Pre {
    groups: BTreeMap<u16, Group>,
    nodes: BTreeMap<NodeHandle, Node>,
    next_handle: u32,
}

impl Pre {
    /// Creates an empty group.
    pub fn mc_mgrp_create(&mut self, mgid: u16) -> Result<(), PreError> {
        if mgid == 0 {
            return Err(PreError::GroupZero);
        }
        if self.groups.contains_key(&mgid) {
            return Err(PreError::GroupExists(mgid));
        }
        if self.groups.len() >= MAX_GROUPS {
            return Err(PreError::Full(MAX_GROUPS));
        }
        self.groups.insert(mgid, Group::default());
        Ok(())
    }

    /// Destroys a group; its nodes stay, without a group.
    pub fn mc_mgrp_destroy(&mut self, mgid: u16) -> Result<(), PreError> {
        let group = self.groups.remove(&mgid).ok_or(PreError::NoGroup(mgid))?;
        for handle in group.nodes {
            if let Some(node) = self.nodes.get_mut(&handle) {
                node.group = None;
            }
        }
        Ok(())
    }

    /// Creates a node: copies with this `rid` to each of `ports`.
    pub fn mc_node_create(&mut self, rid: u16, ports: &[u16]) -> Result<NodeHandle, PreError> {
        let ports = port_set(ports)?;
        if self.nodes.len() >= MAX_NODES {
            return Err(PreError::Full(MAX_NODES));
        }
        let handle = NodeHandle(self.next_handle);
        self.next_handle += 1;
        self.nodes.insert(handle, Node { rid, ports, group: None });
        Ok(handle)
    }

    /// Replaces a node's ports.
    pub fn mc_node_update(&mut self, handle: NodeHandle, ports: &[u16]) -> Result<(), PreError> {
        let ports = port_set(ports)?;
        let node = self.nodes.get_mut(&handle).ok_or(PreError::NoNode(handle))?;
        node.ports = ports;
        if let Some(mgid) = node.group {
            self.lay_out(mgid);
        }
        Ok(())
    }

    /// Puts a node at the end of a group.
    pub fn mc_node_associate(&mut self, mgid: u16, handle: NodeHandle) -> Result<(), PreError> {
        let group = self.groups.get_mut(&mgid).ok_or(PreError::NoGroup(mgid))?;
        let node = self.nodes.get_mut(&handle).ok_or(PreError::NoNode(handle))?;
        if let Some(group) = node.group {
            return Err(PreError::NodeInUse { node: handle, group });
        }
        node.group = Some(mgid);
        group.nodes.push(handle);
        self.lay_out(mgid);
        Ok(())
    }

    /// Takes a node out of a group.
    pub fn mc_node_dissociate(&mut self, mgid: u16, handle: NodeHandle) -> Result<(), PreError> {
        let group = self.groups.get_mut(&mgid).ok_or(PreError::NoGroup(mgid))?;
        let node = self.nodes.get_mut(&handle).ok_or(PreError::NoNode(handle))?;
        if node.group != Some(mgid) {
            return Err(PreError::NotAssociated { node: handle, group: mgid });
        }
        node.group = None;
        group.nodes.retain(|other| *other != handle);
        self.lay_out(mgid);
        Ok(())
    }

    /// Destroys a node, taking it out of its group first.
    pub fn mc_node_destroy(&mut self, handle: NodeHandle) -> Result<(), PreError> {
        let node = self.nodes.get(&handle).ok_or(PreError::NoNode(handle))?;
        if let Some(mgid) = node.group {
            self.mc_node_dissociate(mgid, handle)?;
        }
        self.nodes.remove(&handle);
        Ok(())
    }

    /// Creates or replaces a whole group, as P4Runtime writes it: replicas in the order given.
    /// On an error nothing has changed.
    pub fn set_group(&mut self, mgid: u16, replicas: &[Replica]) -> Result<(), PreError> {
        if mgid == 0 {
            return Err(PreError::GroupZero);
        }
        if let Some(bad) = replicas.iter().find(|replica| usize::from(replica.egress_port) >= PORT_COUNT) {
            return Err(PreError::PortRange(bad.egress_port));
        }
        let old = self.groups.get(&mgid).map_or(0, |group| group.nodes.len());
        if self.nodes.len() - old + replicas.len() > MAX_NODES {
            return Err(PreError::Full(MAX_NODES));
        }
        if self.groups.contains_key(&mgid) {
            self.delete_group(mgid)?;
        }
        self.mc_mgrp_create(mgid)?;
        for replica in replicas {
            let handle = self.mc_node_create(replica.rid, &[replica.egress_port])?;
            self.mc_node_associate(mgid, handle)?;
        }
        Ok(())
    }

    /// Destroys a group and its nodes, as P4Runtime deletes it.
    pub fn delete_group(&mut self, mgid: u16) -> Result<(), PreError> {
        let group = self.groups.remove(&mgid).ok_or(PreError::NoGroup(mgid))?;
        for handle in group.nodes {
            self.nodes.remove(&handle);
        }
        Ok(())
    }

    /// The copies that a group makes, in order; `None` when it does not exist.
    pub fn replicas(&self, mgid: u16) -> Option<&[Replica]> {
        self.groups.get(&mgid).map(|group| group.replicas.as_slice())
    }

    /// Ids of all groups, ascending.
    pub fn groups(&self) -> impl Iterator<Item = u16> + '_ {
        self.groups.keys().copied()
    }

    fn lay_out(&mut self, mgid: u16) {
        let Some(group) = self.groups.get_mut(&mgid) else { return };
        group.replicas.clear();
        for handle in &group.nodes {
            let node = &self.nodes[handle];
            let replica = |port: &u16| Replica { egress_port: *port, rid: node.rid };
            group.replicas.extend(node.ports.iter().map(replica));
        }
    }
}

fn port_set(ports: &[u16]) -> Result<Vec<u16>, PreError> {
    if let Some(port) = ports.iter().find(|port| usize::from(**port) >= PORT_COUNT) {
        return Err(PreError::PortRange(*port));
    }
    let mut set = ports.to_vec();
    set.sort_unstable();
    set.dedup();
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(egress_port: u16, rid: u16) -> Replica {
        Replica { egress_port, rid }
    }

    #[test]
    fn replicas_come_by_node_as_associated_and_by_port_within_a_node() {
        let mut pre = Pre::default();
        pre.mc_mgrp_create(1).unwrap();
        let first = pre.mc_node_create(10, &[3, 1, 3]).unwrap();
        let second = pre.mc_node_create(20, &[0]).unwrap();
        pre.mc_node_associate(1, second).unwrap();
        pre.mc_node_associate(1, first).unwrap();
        assert_eq!(pre.replicas(1).unwrap(), [replica(0, 20), replica(1, 10), replica(3, 10)]);
    }

    #[test]
    fn changes_to_nodes_show_in_their_group_at_once() {
        let mut pre = Pre::default();
        pre.mc_mgrp_create(1).unwrap();
        let node = pre.mc_node_create(5, &[1]).unwrap();
        pre.mc_node_associate(1, node).unwrap();
        pre.mc_node_update(node, &[2, 4]).unwrap();
        assert_eq!(pre.replicas(1).unwrap(), [replica(2, 5), replica(4, 5)]);
        pre.mc_node_destroy(node).unwrap();
        assert_eq!(pre.replicas(1).unwrap(), []);
        assert_eq!(pre.replicas(2), None);
    }

    #[test]
    fn a_node_is_in_one_group_at_a_time_and_survives_its_group() {
        let mut pre = Pre::default();
        pre.mc_mgrp_create(1).unwrap();
        pre.mc_mgrp_create(2).unwrap();
        let node = pre.mc_node_create(5, &[1]).unwrap();
        pre.mc_node_associate(1, node).unwrap();
        assert_eq!(pre.mc_node_associate(2, node), Err(PreError::NodeInUse { node, group: 1 }));
        pre.mc_mgrp_destroy(1).unwrap();
        pre.mc_node_associate(2, node).unwrap();
        assert_eq!(pre.mc_node_dissociate(1, node), Err(PreError::NoGroup(1)));
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
        assert_eq!(pre.mc_mgrp_create(0), Err(PreError::GroupZero));
        assert_eq!(pre.mc_node_create(1, &[512]), Err(PreError::PortRange(512)));
        pre.set_group(3, &[replica(1, 1)]).unwrap();
        assert_eq!(pre.set_group(3, &[replica(1, 1), replica(600, 1)]), Err(PreError::PortRange(600)));
        assert_eq!(pre.replicas(3).unwrap(), [replica(1, 1)]);
        assert_eq!(pre.mc_mgrp_create(3), Err(PreError::GroupExists(3)));
        assert_eq!(
            pre.mc_node_destroy(NodeHandle(99)).unwrap_err().to_string(),
            "multicast node 99: does not exist"
        );
    }
}
