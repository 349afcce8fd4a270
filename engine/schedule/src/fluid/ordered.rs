//! [`crate::ordered`] in a fluid run.

use super::pool::Pool;
use super::stock::Stock;
use super::Rates;
use crate::flows::{least, rate_within, take};
use crate::ordered::Order;

pub(super) struct Ordered {
    order: Order,
    pool: Pool,
}

impl Ordered {
    pub fn new(order: Order, stock: &Stock) -> Self {
        Self { order, pool: Pool::new(stock) }
    }

    fn key(&self, stock: &Stock, number: u32) -> u128 {
        match self.order {
            Order::Bottleneck => stock.span(number, &stock.capacity, false, 0).unwrap_or(u128::MAX),
            Order::Length => stock.members(number).map(|flow| stock.left(flow)).max().unwrap_or(0),
            Order::Remaining => stock.transfers[number as usize].left_in_all as u128,
            Order::Total => stock.transfers[number as usize].volume,
        }
    }
}

impl Rates for Ordered {
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        self.pool.arrive(stock, flow);
    }

    fn end(&mut self, stock: &Stock, flow: u32) {
        self.pool.end(stock, flow);
    }

    fn allocate(&mut self, stock: &mut Stock) {
        let mut order: Vec<(u128, Option<u64>, u32)> = Vec::new();
        for number in stock.open.clone() {
            order.push((self.key(stock, number), stock.transfers[number as usize].sequence, number));
        }
        order.sort_unstable();
        let mut residual = stock.capacity.clone();
        let mut skipped = Vec::new();
        for (_, _, number) in &order {
            let Some(span) = stock.span(*number, &residual, false, 0) else {
                skipped.push(*number);
                continue;
            };
            let fits = |stock: &Stock| {
                let transfer = &stock.transfers[*number as usize];
                let base = transfer.together.iter().flat_map(|together| &together.base);
                base.zip(&transfer.links).all(|(base, link)| *base <= residual[*link as usize])
            };
            if stock.is_together(*number, span) && fits(stock) {
                stock.take_more(*number, span);
                let transfer = &stock.transfers[*number as usize];
                let base = transfer.together.iter().flat_map(|together| &together.base);
                for (base, link) in base.zip(&transfer.links) {
                    residual[*link as usize] -= base;
                }
            } else {
                stock.give_together(*number, span, |left, path| {
                    let rate = rate_within(left, span).min(least(&residual, path));
                    take(&mut residual, path, rate);
                    rate
                });
            }
        }
        self.pool.share(stock, &mut skipped, &mut residual);
        order.sort_unstable_by_key(|(_, sequence, _)| *sequence);
        for (_, _, number) in &order {
            stock.fill(*number, &mut residual, |flow| self.pool.odd.push(flow));
        }
    }
}
