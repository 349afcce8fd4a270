//! Flows of many transfers that share the residual capacity max-min fairly. Flows with the same path have the same rate, and
//! only the flows of a path whose rate has changed are visited.
//!
//! With all transfers and all capacity, this is [`crate::fair`] in a fluid run.

use super::sharing::Paths;
use super::stock::{Status, Stock};
use super::Rates;
use crate::flows::is_used_up;

pub(super) struct Pool {
    paths: Paths,
    /// Path of each flow.
    path_of: Vec<u32>,
    /// Flows in the pool, by path.
    members: Vec<Vec<u32>>,
    /// Transfers in the pool, by number.
    transfers: Vec<u32>,
    /// Flows whose rate may differ from their path's rate, such as those that get capacity beyond their share.
    pub odd: Vec<u32>,
    /// Flows about to change their rate, with the new rate.
    to_change: Vec<(u32, u64)>,
}

impl Pool {
    pub fn new(stock: &Stock) -> Self {
        let links = stock.capacity.len();
        let all = (0..stock.flows.len() as u32).map(|flow| stock.path(flow));
        let (paths, path_of) = Paths::distinct(links, all);
        Self {
            members: vec![Vec::new(); paths.len()],
            transfers: Vec::new(),
            odd: Vec::new(),
            to_change: Vec::new(),
            path_of,
            paths,
        }
    }

    fn add(&mut self, flow: u32) {
        let path = self.path_of[flow as usize] as usize;
        self.members[path].push(flow);
        self.paths.add(path);
        self.odd.push(flow);
    }

    fn remove(&mut self, flow: u32) {
        let path = self.path_of[flow as usize] as usize;
        let Some(at) = self.members[path].iter().position(|member| *member == flow) else { return };
        self.members[path].swap_remove(at);
        self.paths.remove(path);
    }

    /// Assigns their shares to the flows of these transfers; flows that cross a used-up link get nothing.
    pub fn share(&mut self, stock: &mut Stock, transfers: &mut Vec<u32>, residual: &mut [u64]) {
        transfers.sort_unstable();
        if *transfers != self.transfers {
            let before = std::mem::take(&mut self.transfers);
            for leaves in before.iter().filter(|number| !transfers.contains(number)) {
                stock.members(*leaves).for_each(|flow| self.remove(flow));
            }
            for comes in transfers.iter().filter(|number| !before.contains(number)) {
                stock.part(*comes);
                stock.members(*comes).for_each(|flow| self.add(flow));
            }
            self.transfers.clone_from(transfers);
        }
        if transfers.is_empty() {
            self.odd.clear();
            return;
        }
        let closed = |link: usize, left| is_used_up(left, stock.capacity[link]);
        self.paths.share(residual, closed);
        // Flows are scattered in memory: a loop that only reads them overlaps many fetches.
        for (path, rate) in self.paths.changed() {
            let others = self.members[path as usize].iter();
            let others = others.filter(|flow| stock.flows[**flow as usize].rate != rate);
            self.to_change.extend(others.map(|flow| (*flow, rate)));
        }
        for (flow, rate) in self.to_change.drain(..) {
            stock.set_rate(flow, rate);
        }
        for flow in self.odd.drain(..) {
            let one = &stock.flows[flow as usize];
            if one.status == Status::UnderWay && self.transfers.binary_search(&one.transfer).is_ok() {
                stock.set_rate(flow, self.paths.rate(self.path_of[flow as usize] as usize));
            }
        }
    }
}

impl Rates for Pool {
    /// Adds the flow if its transfer is in the pool.
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        if self.transfers.contains(&stock.flows[flow as usize].transfer) {
            self.add(flow);
        }
    }

    fn end(&mut self, _: &Stock, flow: u32) {
        self.remove(flow);
    }

    fn allocate(&mut self, stock: &mut Stock) {
        let (mut all, mut residual) = (stock.open.clone(), stock.capacity.clone());
        self.share(stock, &mut all, &mut residual);
    }
}
