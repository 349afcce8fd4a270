//! [`crate::dclas`] in a fluid run.

use super::sharing::Paths;
use super::stock::{Status, Stock, Transfer};
use super::Rates;
use crate::dclas::Dclas;
use crate::flows::is_used_up;

pub(super) struct Attained {
    queues: Dclas,
    transfers: Vec<Sharers>,
    rates: Vec<u64>,
}

/// The flows of a transfer, over its own links.
struct Sharers {
    /// The first of them.
    first: u32,
    paths: Paths,
    /// 1 for those under way.
    counts: Vec<u32>,
    /// What they shared when they were last given rates, on each of the transfer's links. `None` when others are under way since then.
    shared: Option<Vec<u64>>,
}

impl Attained {
    pub fn new(queues: Dclas, stock: &Stock) -> Self {
        let flows: Vec<u32> = (0..stock.flows.len() as u32).collect();
        let of_transfers =
            flows.chunk_by(|a, b| stock.flows[*a as usize].transfer == stock.flows[*b as usize].transfer);
        let sharers = |(transfer, flows): (&Transfer, &[u32])| Sharers {
            first: flows[0],
            paths: Paths::new(transfer.links.len(), flows.iter().map(|flow| stock.places(*flow))),
            counts: vec![0; flows.len()],
            shared: None,
        };
        let transfers = stock.transfers.iter().zip(of_transfers).map(sharers).collect();
        Self { queues, transfers, rates: Vec::new() }
    }

    fn change(&mut self, stock: &Stock, flow: u32) {
        let one = &stock.flows[flow as usize];
        let sharers = &mut self.transfers[one.transfer as usize];
        sharers.shared = None;
        sharers.counts[(flow - sharers.first) as usize] = u32::from(one.status == Status::UnderWay);
    }
}

fn sent(transfer: &Transfer) -> u128 {
    transfer.volume - transfer.left_in_all as u128
}

impl Rates for Attained {
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        self.change(stock, flow);
    }

    fn end(&mut self, stock: &Stock, flow: u32) {
        self.change(stock, flow);
    }

    fn allocate(&mut self, stock: &mut Stock) {
        let place = |number: &u32| {
            let transfer = &stock.transfers[*number as usize];
            (self.queues.queue(sent(transfer)), transfer.sequence, *number)
        };
        let mut order: Vec<_> = stock.open.iter().map(place).collect();
        order.sort_unstable();
        let mut residual = stock.capacity.clone();
        for (_, _, number) in order {
            let sharers = &mut self.transfers[number as usize];
            let transfer = &stock.transfers[number as usize];
            let shared: Vec<u64> = transfer.links.iter().map(|link| residual[*link as usize]).collect();
            if sharers.shared.as_ref() != Some(&shared) {
                let closed =
                    |place: usize, left| is_used_up(left, stock.capacity[transfer.links[place] as usize]);
                let Sharers { first, paths, counts, .. } = sharers;
                paths.share(&mut shared.clone(), closed, counts, &transfer.users, &mut self.rates);
                for (place, _) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                    stock.set_rate(*first + place as u32, self.rates[place]);
                }
                sharers.shared = Some(shared);
            }
            let transfer = &stock.transfers[number as usize];
            for (link, own) in transfer.links.iter().zip(&transfer.own) {
                residual[*link as usize] -= own;
            }
        }
    }

    fn next_change(&self, stock: &Stock) -> Option<u64> {
        let spans = stock.open.iter().filter_map(|number| {
            let transfer = &stock.transfers[*number as usize];
            self.queues.until_next(sent(transfer), transfer.rate)
        });
        stock.now.checked_add(u64::try_from(spans.min()?).ok()?)
    }
}
