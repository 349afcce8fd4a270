//! [`crate::dclas`] in a fluid run.

use super::sharing::Paths;
use super::stock::{Status, Stock, Transfer};
use super::Rates;
use crate::dclas::{queue, until_next};
use crate::flows::is_used_up;

/// The sharers of each transfer.
pub(super) struct Attained(Vec<Sharers>);

/// The flows of a transfer, which share the transfer's own links.
struct Sharers {
    /// The number of the first of these flows.
    first: u32,
    /// One path per flow.
    paths: Paths,
}

impl Attained {
    pub fn new(stock: &Stock) -> Self {
        let flows: Vec<u32> = (0..stock.flows.len() as u32).collect();
        let of_transfers =
            flows.chunk_by(|a, b| stock.flows[*a as usize].transfer == stock.flows[*b as usize].transfer);
        let sharers = |(transfer, flows): (&Transfer, &[u32])| Sharers {
            first: flows[0],
            paths: Paths::new(transfer.links.len(), flows.iter().map(|flow| stock.places(*flow))),
        };
        Self(stock.transfers.iter().zip(of_transfers).map(sharers).collect())
    }

    /// Returns the sharers of a flow's transfer, and the flow's place among them.
    fn sharers(&mut self, stock: &Stock, flow: u32) -> (&mut Paths, usize) {
        let sharers = &mut self.0[stock.flows[flow as usize].transfer as usize];
        (&mut sharers.paths, (flow - sharers.first) as usize)
    }
}

fn sent(transfer: &Transfer) -> u128 {
    transfer.volume - transfer.left_in_all as u128
}

impl Rates for Attained {
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        let (paths, place) = self.sharers(stock, flow);
        paths.add(place);
    }

    fn end(&mut self, stock: &Stock, flow: u32) {
        let (paths, place) = self.sharers(stock, flow);
        paths.remove(place);
    }

    fn allocate(&mut self, stock: &mut Stock) {
        let place = |number: &u32| {
            let transfer = &stock.transfers[*number as usize];
            (queue(sent(transfer)), transfer.sequence, *number)
        };
        let mut order: Vec<_> = stock.open.iter().map(place).collect();
        order.sort_unstable();
        let mut residual = stock.capacity.clone();
        for (_, _, number) in order {
            let Sharers { first, paths } = &mut self.0[number as usize];
            let links = &stock.transfers[number as usize].links;
            let mut shared: Vec<u64> = links.iter().map(|link| residual[*link as usize]).collect();
            let closed = |place: usize, left| is_used_up(left, stock.capacity[links[place] as usize]);
            paths.share(&mut shared, closed);
            for (place, rate) in paths.changed() {
                if stock.flows[(*first + place) as usize].status == Status::UnderWay {
                    stock.set_rate(*first + place, rate);
                }
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
            until_next(sent(transfer), transfer.rate)
        });
        stock.now.checked_add(u64::try_from(spans.min()?).ok()?)
    }
}
