//! Numbered links: any set of capacities, a star, a leaf-spine.

use units::DataRate;

/// Directed links with their capacities, and the paths between hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    capacities: Vec<u64>,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Any,
    Star { hosts: u32 },
    LeafSpine { hosts: u32, hosts_per_leaf: u32, spines: u32 },
}

/// The reason why links cannot be built or a path does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinksError {
    /// A host does not exist, or sender and receiver are the same.
    #[error("a path from host {from} to host {to}: {reason}")]
    Path {
        /// The host that sends.
        from: u32,
        /// The host that receives.
        to: u32,
        /// The reason.
        reason: String,
    },
    /// The shape has no hosts, leaves or spines, or is too large.
    #[error("{leaves} leaves with {hosts_per_leaf} hosts and {spines} spines: each must be at least 1, and all links together at most {}", Links::MAX)]
    Shape {
        /// Number of leaves; a star has one.
        leaves: u32,
        /// Number of hosts per leaf.
        hosts_per_leaf: u32,
        /// Number of spines.
        spines: u32,
    },
}

impl Links {
    /// Maximum number of links.
    pub const MAX: usize = 1 << 20;

    /// Creates links without a shape: the caller knows their numbers.
    ///
    /// # Panics
    /// If there are more than [`Links::MAX`] capacities.
    pub fn any(capacities: &[DataRate]) -> Links {
        assert!(capacities.len() <= Self::MAX, "a schedule has at most {} links", Self::MAX);
        Links { capacities: capacities.iter().map(|rate| rate.as_bps()).collect(), shape: Shape::Any }
    }

    /// Creates the links of hosts around one non-blocking switch: one to the switch and one from it per host.
    pub fn star(hosts: u32, rate: DataRate) -> Result<Links, LinksError> {
        let count = 2 * u64::from(hosts);
        if hosts == 0 || count > Self::MAX as u64 {
            return Err(LinksError::Shape { leaves: 1, hosts_per_leaf: hosts, spines: 1 });
        }
        Ok(Links { capacities: vec![rate.as_bps(); count as usize], shape: Shape::Star { hosts } })
    }

    /// Creates the links of hosts under leaves, with one link from every leaf to every spine.
    pub fn leaf_spine(
        leaves: u32,
        hosts_per_leaf: u32,
        spines: u32,
        host_rate: DataRate,
        spine_rate: DataRate,
    ) -> Result<Links, LinksError> {
        let hosts = u64::from(leaves) * u64::from(hosts_per_leaf);
        let between = u64::from(leaves) * u64::from(spines);
        let count = 2 * (u128::from(hosts) + u128::from(between));
        if hosts == 0 || spines == 0 || count > Self::MAX as u128 {
            return Err(LinksError::Shape { leaves, hosts_per_leaf, spines });
        }
        let mut capacities = vec![host_rate.as_bps(); 2 * hosts as usize];
        capacities.resize(count as usize, spine_rate.as_bps());
        let shape = Shape::LeafSpine { hosts: hosts as u32, hosts_per_leaf, spines };
        Ok(Links { capacities, shape })
    }

    /// Returns the capacity of every link, in bits per second.
    pub fn capacities(&self) -> &[u64] {
        &self.capacities
    }

    /// Returns the links from one host to another; `choice` modulo the number of spines selects the spine (as ECMP's hash does).
    pub fn path(&self, from: u32, to: u32, choice: u64) -> Result<Vec<u32>, LinksError> {
        let fail = |reason: String| LinksError::Path { from, to, reason };
        let hosts = match self.shape {
            Shape::Any => return Err(fail("these links have no hosts; give the links' numbers".to_owned())),
            Shape::Star { hosts } | Shape::LeafSpine { hosts, .. } => hosts,
        };
        if from >= hosts || to >= hosts {
            return Err(fail(format!("there are {hosts} hosts, numbered from 0")));
        }
        if from == to {
            return Err(fail("it would cross no link".to_owned()));
        }
        let (up, down) = (2 * from, 2 * to + 1);
        let Shape::LeafSpine { hosts, hosts_per_leaf, spines } = self.shape else {
            return Ok(vec![up, down]);
        };
        let (a, b) = (from / hosts_per_leaf, to / hosts_per_leaf);
        if a == b {
            return Ok(vec![up, down]);
        }
        let spine = (choice % u64::from(spines)) as u32;
        let to_spine = |leaf: u32| 2 * (hosts + leaf * spines + spine);
        Ok(vec![up, to_spine(a), to_spine(b) + 1, down])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: DataRate = DataRate::from_bps(1000);

    #[test]
    fn a_path_between_leaves_crosses_the_chosen_spine() {
        let links = Links::leaf_spine(2, 3, 2, RATE, DataRate::from_bps(7)).unwrap();
        assert_eq!(links.path(0, 2, 1), Ok(vec![0, 5]));
        assert_eq!(links.path(0, 5, 3), Ok(vec![0, 14, 19, 11]));
        assert_eq!(links.path(5, 0, 2), Ok(vec![10, 16, 13, 1]));
        assert_eq!(links.capacities().len(), 20);
        assert_eq!([links.capacities()[11], links.capacities()[12]], [1000, 7]);
    }

    #[test]
    fn a_path_that_cannot_be_is_refused_with_its_hosts() {
        let star = Links::star(3, RATE).unwrap();
        assert!(star.path(0, 3, 0).unwrap_err().to_string().contains("to host 3: there are 3 hosts"));
        assert!(star.path(1, 1, 0).is_err());
        assert!(Links::any(&[RATE]).path(0, 1, 0).is_err());
        assert!(Links::star(0, RATE).is_err());
        assert!(Links::leaf_spine(u32::MAX, u32::MAX, 1, RATE, RATE).is_err());
    }
}
