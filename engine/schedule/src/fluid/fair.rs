//! [`crate::fair`] in a fluid run: flows with the same path have the same rate, and a heap per path orders them by their ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sharing::Paths;
use super::{Arrival, Model};
use crate::BIT;

/// Flows with the same path.
#[derive(Default)]
struct Path {
    /// The amount that a flow would have sent if it had been on the path from the start.
    served: u128,
    rate: u64,
    /// Flows by the value of `served` at which they end.
    flows: BinaryHeap<Reverse<(u128, u32)>>,
    /// The remaining volume of the first of them.
    left: u128,
}

impl Path {
    fn find_left(&mut self) {
        self.left = self.flows.peek().map_or(0, |Reverse((end, _))| end.saturating_sub(self.served));
    }
}

pub(super) struct Fair {
    now: u64,
    capacity: Vec<u64>,
    paths: Vec<Path>,
    /// Path and volume of each flow.
    flows: Vec<(u32, u128)>,
    /// Paths with flows.
    open: Vec<u32>,
    under_way: usize,
    all: Paths,
}

impl Fair {
    pub fn new(capacity: &[u64], arrivals: &[&Arrival]) -> Self {
        let (all, numbers) =
            Paths::distinct(capacity.len(), arrivals.iter().map(|arrival| &arrival.path[..]));
        let volumes = arrivals.iter().map(|arrival| u128::from(arrival.volume_bits) * BIT);
        let mut paths = Vec::new();
        paths.resize_with(all.len(), Path::default);
        Self {
            now: 0,
            capacity: capacity.to_vec(),
            flows: numbers.into_iter().zip(volumes).collect(),
            open: Vec::new(),
            under_way: 0,
            paths,
            all,
        }
    }
}

impl Model for Fair {
    fn under_way(&self) -> usize {
        self.under_way
    }

    fn advance(&mut self, now: u64) {
        let span = u128::from(now - self.now);
        self.now = now;
        for number in &self.open {
            let path = &mut self.paths[*number as usize];
            let sent = u128::from(path.rate) * span;
            path.served += sent;
            path.left = path.left.saturating_sub(sent);
        }
    }

    fn arrive(&mut self, flow: u32) {
        let (number, volume) = self.flows[flow as usize];
        let path = &mut self.paths[number as usize];
        if path.flows.is_empty() {
            path.rate = 0;
            let at = self.open.partition_point(|open| *open < number);
            self.open.insert(at, number);
        }
        path.flows.push(Reverse((path.served + volume, flow)));
        path.find_left();
        self.under_way += 1;
        self.all.add(number as usize);
    }

    fn next_end(&mut self) -> Option<u64> {
        let paths = self.open.iter().map(|number| &self.paths[*number as usize]);
        let with_rate = paths.filter(|path| path.rate > 0);
        let first = with_rate.min_by(|a, b| {
            let span = |path: &Path| path.left as f64 / path.rate as f64;
            span(a).total_cmp(&span(b))
        })?;
        self.now.checked_add(u64::try_from(first.left.div_ceil(u128::from(first.rate))).ok()?)
    }

    fn end(&mut self) -> Vec<u32> {
        let mut ended = Vec::new();
        for number in &self.open {
            let path = &mut self.paths[*number as usize];
            if path.left > 0 {
                continue;
            }
            while let Some(Reverse((end, flow))) = path.flows.peek() {
                if *end > path.served {
                    break;
                }
                ended.push(*flow);
                path.flows.pop();
                self.all.remove(*number as usize);
            }
            path.find_left();
        }
        let Self { open, paths, .. } = self;
        open.retain(|number| !paths[*number as usize].flows.is_empty());
        self.under_way -= ended.len();
        ended.sort_unstable();
        ended
    }

    fn next_change(&self) -> Option<u64> {
        None
    }

    fn allocate(&mut self) {
        let mut residual = self.capacity.clone();
        self.all.share(&mut residual, |_, _| false);
        for (path, rate) in self.all.changed() {
            self.paths[path as usize].rate = rate;
        }
    }

    fn has_rate(&self, flow: u32) -> bool {
        self.paths[self.flows[flow as usize].0 as usize].rate > 0
    }
}
