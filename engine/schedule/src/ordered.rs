//! One transfer after another: MADD and backfill, after Varys (Chowdhury, Zhong, Stoica, SIGCOMM 2014).

use crate::fair;
use crate::flows::{least, rate_within, take, Demand, Flows, Transfer};
use crate::schedule::Scheduler;

/// The transfer that is served first; among equals, the one that arrived first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one whose bottleneck would be free first if it were alone (SEBF).
    Bottleneck,
    /// The one whose longest flow has the least left (SCF; a coflow's length is the length of its longest flow: Varys, 2.2).
    Length,
    /// The one with the least left.
    Remaining,
    /// The one with the least total volume.
    Total,
}

/// Serves transfers in an order. Each gets the rates with which all its flows end together as early as the residual capacity
/// allows (MADD), or none if a link has nothing left. Then the flows of transfers without rates share the residual capacity
/// max-min fairly. The rest goes to flows in the order of their transfers' arrival (the backfill of CoflowSim).
#[derive(Clone, Debug)]
pub struct Ordered {
    order: Order,
    demand: Demand,
}

impl Ordered {
    /// Returns a scheduler with this order.
    pub fn new(order: Order) -> Self {
        Self { order, demand: Demand::default() }
    }

    fn key(&mut self, flows: &Flows, transfer: &Transfer) -> u128 {
        match self.order {
            Order::Bottleneck => {
                self.demand.span(flows, &transfer.flows, &flows.capacity, 0).unwrap_or(u128::MAX)
            }
            Order::Length => transfer.flows.iter().map(|slot| flows.get(*slot).remaining).max().unwrap_or(0),
            Order::Remaining => flows.remaining(transfer),
            Order::Total => transfer.volume,
        }
    }
}

impl Scheduler for Ordered {
    fn allocate(&mut self, flows: &mut Flows) {
        for flow in flows.slots.iter_mut().flatten() {
            flow.rate = 0;
        }
        let open = flows.transfers.iter().filter(|(_, transfer)| !transfer.flows.is_empty());
        let mut order: Vec<(u128, u64, u64)> = Vec::new();
        for (number, transfer) in open {
            order.push((self.key(flows, transfer), transfer.sequence, *number));
        }
        order.sort_unstable();
        let mut residual = flows.capacity.clone();
        let mut skipped = Vec::new();
        for (_, _, number) in &order {
            let slots = std::mem::take(&mut flows.transfer_mut(*number).flows);
            if let Some(span) = self.demand.span(flows, &slots, &residual, 0) {
                for slot in &slots {
                    let flow = flows.get_mut(*slot);
                    flow.rate = rate_within(flow.remaining, span).min(least(&residual, &flow.path));
                    take(&mut residual, &flow.path, flow.rate);
                }
            } else {
                skipped.extend_from_slice(&slots);
            }
            flows.transfer_mut(*number).flows = slots;
        }
        fair::fill(flows, &skipped, &mut residual);
        order.sort_unstable_by_key(|(_, sequence, _)| *sequence);
        for (_, _, number) in &order {
            let slots = std::mem::take(&mut flows.transfer_mut(*number).flows);
            for slot in &slots {
                let flow = flows.get_mut(*slot);
                let more = least(&residual, &flow.path);
                flow.rate += more;
                take(&mut residual, &flow.path, more);
            }
            flows.transfer_mut(*number).flows = slots;
        }
    }
}
