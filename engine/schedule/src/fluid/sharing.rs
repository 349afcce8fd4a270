//! Max-min fair shares of residual capacity: [`crate::fair`], computed per path instead of per flow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Paths, the paths that cross each link, the number of flows on each path, and the current shares.
#[derive(Default)]
pub(super) struct Paths {
    /// The end of each path's links in `links`.
    ends: Vec<u32>,
    links: Vec<u32>,
    /// The paths that cross each link.
    crossing: Vec<Vec<u32>>,
    /// Number of flows on each path.
    flows: Vec<u32>,
    /// Number of flows on each link.
    users: Vec<u64>,
    /// The rate of one flow of each path.
    rates: Vec<u64>,
    /// The rates before the last sharing.
    before: Vec<u64>,
    tightest: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Paths {
    /// Creates an allocation for paths over links with numbers below `links`.
    pub fn new<'a>(links: usize, paths: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut new = Self { crossing: vec![Vec::new(); links], users: vec![0; links], ..Self::default() };
        for (number, path) in paths.enumerate() {
            new.links.extend_from_slice(path);
            new.ends.push(new.links.len() as u32);
            for link in path {
                new.crossing[*link as usize].push(number as u32);
            }
        }
        let paths = new.ends.len();
        (new.flows, new.rates, new.before) = (vec![0; paths], vec![0; paths], vec![0; paths]);
        new
    }

    /// Creates an allocation for the distinct paths among `paths`, and returns it with the number of each path.
    pub fn distinct<'a>(links: usize, paths: impl Iterator<Item = &'a [u32]>) -> (Self, Vec<u32>) {
        let mut known: BTreeMap<&[u32], u32> = BTreeMap::new();
        let mut found: Vec<&[u32]> = Vec::new();
        let mut numbers = Vec::new();
        for path in paths {
            numbers.push(*known.entry(path).or_insert_with(|| {
                found.push(path);
                found.len() as u32 - 1
            }));
        }
        (Self::new(links, found.into_iter()), numbers)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a flow to a path.
    pub fn add(&mut self, path: usize) {
        self.flows[path] += 1;
        for link in of(&self.links, &self.ends, path) {
            self.users[*link as usize] += 1;
        }
    }

    /// Removes a flow from a path.
    pub fn remove(&mut self, path: usize) {
        self.flows[path] -= 1;
        for link in of(&self.links, &self.ends, path) {
            self.users[*link as usize] -= 1;
        }
    }

    /// Returns the rate of one flow of a path after the last sharing.
    pub fn rate(&self, path: usize) -> u64 {
        self.rates[path]
    }

    /// Divides `residual` among the flows. A `closed` link has nothing.
    ///
    /// This is progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2). A heap finds the link with the smallest
    /// share, since shares only grow while other links assign theirs; a share of 0 at the start stays 0.
    pub fn share(&mut self, residual: &mut [u64], closed: impl Fn(usize, u64) -> bool) {
        let Self { ends, links, crossing, flows, users, rates, before, tightest } = self;
        before.clone_from(rates);
        rates.fill(0);
        let mut waits: Vec<bool> = flows.iter().map(|flows| *flows > 0).collect();
        let mut users = users.clone();
        let in_use = users.iter().enumerate().filter(|(_, users)| **users > 0);
        tightest.extend(in_use.map(|(link, users)| {
            let left = residual[link];
            Reverse((if closed(link, left) { 0 } else { left / users }, link as u32))
        }));
        while let Some(Reverse((known, link))) = tightest.pop() {
            if users[link as usize] == 0 {
                continue;
            }
            let share = if known == 0 { 0 } else { residual[link as usize] / users[link as usize] };
            if share > known {
                tightest.push(Reverse((share, link)));
                continue;
            }
            for path in &crossing[link as usize] {
                let path = *path as usize;
                if !std::mem::take(&mut waits[path]) {
                    continue;
                }
                rates[path] = share;
                let flows = u64::from(flows[path]);
                for link in of(links, ends, path) {
                    residual[*link as usize] -= share * flows;
                    users[*link as usize] -= flows;
                }
            }
        }
    }

    /// Returns the paths whose rate has changed in the last sharing, in order, each with the rate of one flow.
    pub fn changed(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let rates = (0..).zip(self.rates.iter().zip(&self.before));
        rates.filter(|(_, (rate, before))| rate != before).map(|(path, (rate, _))| (path, *rate))
    }
}

/// Returns the links of a path, which begin where those of the previous path end.
fn of<'a>(links: &'a [u32], ends: &[u32], path: usize) -> &'a [u32] {
    let begin = if path == 0 { 0 } else { ends[path - 1] };
    &links[begin as usize..ends[path] as usize]
}
