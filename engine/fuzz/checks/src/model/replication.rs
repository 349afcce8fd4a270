//! Multicast groups and clone sessions.

use std::collections::BTreeMap;

use simple_switch::{MirroringSession, NodeHandle, Replica, Switch, PORT_COUNT};

use super::{Answer, Refused};
use crate::calls::Op;

/// Maximum LAG number; and BMv2's constant hash, which selects a LAG's port.
const MAX_LAG: u16 = 256;
const LAG_HASH: usize = 0xff;

/// BMv2 keeps session ids in 15 bits.
const SESSIONS: u16 = 1 << 15;

#[derive(Debug)]
struct Node {
    rid: u16,
    /// Ascending, without duplicates.
    ports: Vec<u16>,
    /// Ascending, without duplicates.
    lags: Vec<u16>,
}

#[derive(Default)]
pub(super) struct Replication {
    /// Nodes of each group, in the order in which they were added.
    groups: BTreeMap<u16, Vec<NodeHandle>>,
    nodes: BTreeMap<NodeHandle, Node>,
    lags: BTreeMap<u16, Vec<u16>>,
    sessions: BTreeMap<u16, MirroringSession>,
}

impl Replication {
    /// Makes a call; returns `None` if it is not a call on the replication engine.
    pub(super) fn make(&mut self, op: &Op) -> Option<Answer> {
        let none = |()| None;
        Some(match op {
            Op::CreateMulticast { group } => self.create_group(*group).map(none),
            Op::DestroyMulticast { group, with_nodes } => self.destroy_group(*group, *with_nodes).map(none),
            Op::SetMulticast { group, replicas } => self.set_group(*group, replicas).map(none),
            Op::CreateNode { rid, ports, lags } => {
                self.create_node(*rid, ports, lags).map(|n| Some(n.0.into()))
            }
            Op::UpdateNode { node, ports, lags } => self.update_node(*node, ports, lags).map(none),
            Op::SetLag { lag, ports } => port_set(ports).and_then(|ports| {
                self.lags.insert(lag_set(&[*lag])?[0], ports);
                Ok(None)
            }),
            Op::Associate { group, node } => self.associate(*group, *node).map(none),
            Op::Dissociate { group, node } => self.dissociate(*group, *node).map(none),
            Op::DestroyNode { node } => self.destroy_node(*node).map(none),
            Op::AddSession { id, session } if *id < SESSIONS => {
                self.sessions.insert(*id, *session);
                Ok(None)
            }
            Op::AddSession { .. } => Err(Refused),
            Op::DeleteSession { id } => self.sessions.remove(id).map(|_| None).ok_or(Refused),
            _ => return None,
        })
    }

    fn create_group(&mut self, group: u16) -> Result<(), Refused> {
        if group == 0 || self.groups.contains_key(&group) {
            return Err(Refused);
        }
        self.groups.insert(group, Vec::new());
        Ok(())
    }

    fn destroy_group(&mut self, group: u16, with_nodes: bool) -> Result<(), Refused> {
        let nodes = self.groups.remove(&group).ok_or(Refused)?;
        if with_nodes {
            self.nodes.retain(|handle, _| !nodes.contains(handle));
        }
        Ok(())
    }

    fn set_group(&mut self, group: u16, replicas: &[Replica]) -> Result<(), Refused> {
        if group == 0 || replicas.iter().any(|replica| usize::from(replica.egress_port) >= PORT_COUNT) {
            return Err(Refused);
        }
        // The group may exist or not.
        let _ = self.destroy_group(group, true);
        self.create_group(group)?;
        for replica in replicas {
            let node = self.create_node(replica.rid, &[replica.egress_port], &[])?;
            self.associate(group, node)?;
        }
        Ok(())
    }

    /// Creates a node with the lowest free handle.
    fn create_node(&mut self, rid: u16, ports: &[u16], lags: &[u16]) -> Result<NodeHandle, Refused> {
        let node = Node { rid, ports: port_set(ports)?, lags: lag_set(lags)? };
        let free = (0..).map(NodeHandle).find(|handle| !self.nodes.contains_key(handle)).ok_or(Refused)?;
        self.nodes.insert(free, node);
        Ok(free)
    }

    fn update_node(&mut self, node: NodeHandle, ports: &[u16], lags: &[u16]) -> Result<(), Refused> {
        let (ports, lags) = (port_set(ports)?, lag_set(lags)?);
        let node = self.nodes.get_mut(&node).ok_or(Refused)?;
        *node = Node { rid: node.rid, ports, lags };
        Ok(())
    }

    fn associate(&mut self, group: u16, node: NodeHandle) -> Result<(), Refused> {
        let in_a_group = self.groups.values().any(|nodes| nodes.contains(&node));
        let nodes = self.groups.get_mut(&group).ok_or(Refused)?;
        if in_a_group || !self.nodes.contains_key(&node) {
            return Err(Refused);
        }
        nodes.push(node);
        Ok(())
    }

    fn dissociate(&mut self, group: u16, node: NodeHandle) -> Result<(), Refused> {
        let nodes = self.groups.get_mut(&group).ok_or(Refused)?;
        let at = nodes.iter().position(|other| *other == node).ok_or(Refused)?;
        nodes.remove(at);
        Ok(())
    }

    fn destroy_node(&mut self, node: NodeHandle) -> Result<(), Refused> {
        self.nodes.remove(&node).ok_or(Refused)?;
        self.groups.values_mut().for_each(|nodes| nodes.retain(|other| *other != node));
        Ok(())
    }

    /// Compares the model with the values read back.
    pub(super) fn check(&self, switch: &Switch) {
        assert!(switch.pre().groups().eq(self.groups.keys().copied()), "multicast groups");
        for (group, nodes) in &self.groups {
            let of_node = |handle: &NodeHandle| {
                let Node { rid, ports, lags } = &self.nodes[handle];
                let of_lags =
                    lags.iter().filter_map(|lag| self.lags.get(lag).filter(|ports| !ports.is_empty()));
                let picked = of_lags.map(|ports| &ports[LAG_HASH % ports.len()]);
                let replica = |port: &u16| Replica { egress_port: *port, rid: *rid };
                ports.iter().chain(picked).map(replica).collect::<Vec<_>>()
            };
            let replicas: Vec<_> = nodes.iter().flat_map(of_node).collect();
            assert_eq!(switch.pre().replicas(*group), Some(&replicas[..]), "multicast group {group}");
        }
        assert!(switch.mirroring().iter().eq(&self.sessions), "clone sessions");
    }
}

fn port_set(ports: &[u16]) -> Result<Vec<u16>, Refused> {
    set(ports, PORT_COUNT as u16 - 1)
}

fn lag_set(lags: &[u16]) -> Result<Vec<u16>, Refused> {
    set(lags, MAX_LAG)
}

fn set(numbers: &[u16], highest: u16) -> Result<Vec<u16>, Refused> {
    if numbers.iter().any(|number| *number > highest) {
        return Err(Refused);
    }
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}
