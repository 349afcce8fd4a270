//! Max-min fair shares of what is left: [`crate::fair`] for flows with the same path at once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Paths, and which of them cross each link.
#[derive(Default)]
pub(super) struct Paths {
    /// Where the links of each path end in `links`.
    ends: Vec<u32>,
    links: Vec<u32>,
    /// Where the paths of each link end in `crossing`.
    crossing_ends: Vec<u32>,
    crossing: Vec<u32>,
    /// Flows of each path that have no rate yet.
    open: Vec<u32>,
    /// What is left of each link, and how many of these flows it has.
    left: Vec<(u64, u64)>,
    tightest: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The part of `list` between two ends.
fn part<'a>(list: &'a [u32], ends: &[u32], place: usize) -> &'a [u32] {
    let begin = if place == 0 { 0 } else { ends[place - 1] };
    &list[begin as usize..ends[place] as usize]
}

impl Paths {
    /// Paths over links with numbers below `links`.
    pub fn new<'a>(links: usize, paths: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut new = Self::default();
        let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); links];
        for (number, path) in paths.enumerate() {
            new.links.extend_from_slice(path);
            new.ends.push(new.links.len() as u32);
            for link in path {
                crossing[*link as usize].push(number as u32);
            }
        }
        for paths in &crossing {
            new.crossing.extend_from_slice(paths);
            new.crossing_ends.push(new.crossing.len() as u32);
        }
        new
    }

    /// Returns the distinct paths of some, and the number of each one's.
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

    pub fn links(&self, path: usize) -> &[u32] {
        part(&self.links, &self.ends, path)
    }

    /// Divides `residual` among flows, `flows` of each path and `users` on each link, and sets each path's rate of one flow. A link that is
    /// `closed` has nothing.
    ///
    /// This is progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2). The link with the smallest share is found without looking
    /// at all: shares of links only grow while others are given theirs.
    pub fn share(
        &mut self,
        residual: &mut [u64],
        closed: impl Fn(usize, u64) -> bool,
        flows: &[u32],
        users: &[u64],
        rates: &mut Vec<u64>,
    ) {
        rates.clear();
        rates.resize(flows.len(), 0);
        let Self { ends, links, crossing_ends, crossing, open, left, tightest } = self;
        open.clear();
        open.extend_from_slice(flows);
        left.clear();
        left.extend(residual.iter().copied().zip(users.iter().copied()));
        tightest.clear();
        for (link, (left, users)) in left.iter().enumerate().filter(|(_, (_, users))| *users > 0) {
            let share = if closed(link, *left) { 0 } else { left / users };
            tightest.push(Reverse((share, link as u32)));
        }
        while let Some(Reverse((known, link))) = tightest.pop() {
            let (of_link, users) = left[link as usize];
            if users == 0 {
                continue;
            }
            let share = if known == 0 { 0 } else { of_link / users };
            if share > known {
                tightest.push(Reverse((share, link)));
                continue;
            }
            for path in part(crossing, crossing_ends, link as usize) {
                let flows = u64::from(std::mem::take(&mut open[*path as usize]));
                if flows == 0 {
                    continue;
                }
                rates[*path as usize] = share;
                for link in part(links, ends, *path as usize) {
                    let (left, users) = &mut left[*link as usize];
                    *left -= share * flows;
                    *users -= flows;
                }
            }
        }
        for (residual, (left, _)) in residual.iter_mut().zip(left) {
            *residual = *left;
        }
    }
}
