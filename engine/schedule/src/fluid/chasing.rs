//! [`crate::fca`] in a fluid run.

use std::collections::BTreeMap;

use super::stock::{Status, Stock, Transfer};
use super::Rates;
use crate::fca::{Options, Volume};
use crate::flows::{is_used_up, least, rate_by, rate_within, take};

pub(super) struct Chasing {
    options: Options,
    /// The last time when flows were slowed down to end with their transfers, if no rate was decided since.
    shrunk_at: Option<u64>,
    /// The unassigned capacity since then, by link.
    residual: Vec<u64>,
    /// Transfers with arrivals since then.
    chased: BTreeMap<u32, Chased>,
}

/// A transfer with arriving flows.
struct Chased {
    /// Its flows with a rate.
    rated: Vec<u32>,
    /// The time until the last of these ends, in picoseconds.
    end: u128,
}

impl Chased {
    fn new(stock: &Stock, number: u32) -> Self {
        let rated: Vec<u32> =
            stock.members(number).filter(|flow| stock.flows[*flow as usize].rate > 0).collect();
        let end = rated.iter().map(|flow| span(stock, *flow)).max().unwrap_or(0);
        Self { rated, end }
    }
}

/// Returns the time that a flow with a rate needs, in picoseconds.
fn span(stock: &Stock, flow: u32) -> u128 {
    stock.left(flow).div_ceil(u128::from(stock.flows[flow as usize].rate))
}

/// Returns the time until the last flow of a transfer ends; `None` if one of its flows has no rate.
fn last_end(stock: &mut Stock, number: u32) -> Option<u128> {
    let transfer = &stock.transfers[number as usize];
    if transfer.without_rate > 0 {
        return None;
    }
    let stays = transfer.last.filter(|(flow, rate)| {
        let flow = &stock.flows[*flow as usize];
        flow.status == Status::UnderWay && flow.rate == *rate
    });
    let last = stays
        .map(|(flow, _)| flow)
        .or_else(|| stock.members(number).max_by_key(|flow| span(stock, *flow)))?;
    stock.transfers[number as usize].last = Some((last, stock.flows[last as usize].rate));
    Some(span(stock, last))
}

fn change(residual: &mut [u64], transfer: &Transfer, change: impl Fn(u64, u64) -> u64) {
    for (link, own) in transfer.links.iter().zip(&transfer.own) {
        residual[*link as usize] = change(residual[*link as usize], *own);
    }
}

fn residual(stock: &Stock) -> Vec<u64> {
    let mut residual = stock.capacity.clone();
    for number in &stock.open {
        change(&mut residual, &stock.transfers[*number as usize], |residual, own| residual - own);
    }
    residual
}

impl Chasing {
    pub fn new(options: Options) -> Self {
        Self { options, shrunk_at: None, residual: Vec::new(), chased: BTreeMap::new() }
    }

    /// Slows down every flow to end with the last one of its transfer (paper, algorithm 1, lines 1 to 6).
    fn shrink(stock: &mut Stock) {
        for number in stock.open.clone() {
            if stock.transfers[number as usize].without_rate > 0 {
                continue;
            }
            let members: Vec<u32> = stock.members(number).collect();
            let longest = members.iter().map(|flow| span(stock, *flow)).max().unwrap_or(0);
            for flow in members {
                let rate = rate_by(stock.left(flow), longest).min(stock.flows[flow as usize].rate);
                stock.set_rate(flow, rate);
            }
            stock.transfers[number as usize].last = None;
        }
    }

    /// Speeds up a transfer (step one) if its rates and the residual capacity let it end earlier than before.
    fn speed_up(stock: &mut Stock, number: u32, residual: &mut [u64]) {
        let before = last_end(stock, number);
        // Rates are rounded down, so the end is a little later than possible. If that leaves a flow without a rate, rates are
        // rounded up, with 1 bit/s per flow set aside for that.
        for (spare, rate) in [(0, rate_within as fn(u128, u128) -> u64), (1, rate_by)] {
            let Some(span) = stock.span(number, residual, true, spare).filter(|span| *span > 0) else {
                return;
            };
            let takes = |stock: &Stock, flow: u32| {
                let left = stock.left(flow);
                Some(rate(left, span)).filter(|rate| *rate > 0).map(|rate| left.div_ceil(u128::from(rate)))
            };
            let is_late = |takes: u128| before.is_some_and(|before| takes >= before);
            // Of a thousand flows usually one is late, and usually the same one as before.
            let late = stock.transfers[number as usize].late;
            if late.and_then(|flow| takes(stock, flow)).is_some_and(is_late) {
                if spare == 0 && stock.transfers[number as usize].is_rounded_up {
                    continue;
                }
                return;
            }
            let mut late = None;
            let mut gets_nothing = false;
            for flow in stock.members(number) {
                match takes(stock, flow) {
                    None => gets_nothing = true,
                    Some(takes) if is_late(takes) => late = Some(flow),
                    Some(_) => {}
                }
            }
            let transfer = &mut stock.transfers[number as usize];
            transfer.late = late;
            if spare == 0 {
                transfer.is_rounded_up = gets_nothing;
            }
            if gets_nothing {
                continue;
            }
            if late.is_none() {
                change(residual, transfer, |residual, own| residual + own);
                stock.give_together(number, span, |left, _| rate(left, span));
                change(residual, &stock.transfers[number as usize], |residual, own| residual - own);
            }
            return;
        }
    }

    /// Assigns the residual capacity of their paths to the flows of a transfer, the smallest first (step two).
    fn fill(&self, stock: &mut Stock, number: u32, residual: &mut [u64]) {
        match self.options.order {
            Volume::Total => stock.fill(number, residual, |_| {}),
            Volume::Remaining => {
                let rest = stock.members(number).filter(|flow| least(residual, stock.path(*flow)) > 0);
                let mut order: Vec<(u128, u32)> = rest.map(|flow| (stock.left(flow), flow)).collect();
                order.sort_unstable();
                for (_, flow) in order {
                    stock.give_what_is_left(flow, residual);
                }
            }
        }
    }
}

impl Rates for Chasing {
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        if self.shrunk_at != Some(stock.now) {
            Self::shrink(stock);
            self.residual = residual(stock);
            self.shrunk_at = Some(stock.now);
            self.chased.clear();
        }
        let number = stock.flows[flow as usize].transfer;
        let path = stock.path(flow);
        if path.iter().any(|link| is_used_up(self.residual[*link as usize], stock.capacity[*link as usize])) {
            return;
        }
        let volume = stock.left(flow);
        let available = least(&self.residual, path);
        let alone = volume.div_ceil(u128::from(available));
        let chased = self.chased.entry(number).or_insert_with(|| Chased::new(stock, number));
        // The end follows from assigned rates. Flows without a rate do not count.
        let rate = if alone > chased.end {
            for other in &chased.rated {
                let rate = stock.flows[*other as usize].rate;
                let less = rate.min(rate_by(stock.left(*other), alone));
                for link in stock.path(*other) {
                    self.residual[*link as usize] += rate - less;
                }
                stock.set_rate(*other, less);
            }
            chased.end = chased.rated.iter().map(|other| span(stock, *other)).max().unwrap_or(0);
            available
        } else {
            rate_by(volume, chased.end)
        };
        take(&mut self.residual, stock.path(flow), rate);
        stock.set_rate(flow, rate);
        chased.end = chased.end.max(volume.div_ceil(u128::from(rate)));
        chased.rated.push(flow);
    }

    fn allocate(&mut self, stock: &mut Stock) {
        self.shrunk_at = None;
        let mut residual = residual(stock);
        let place = |number: &u32| {
            let transfer = &stock.transfers[*number as usize];
            let volume = match self.options.order {
                Volume::Total => transfer.volume,
                Volume::Remaining => transfer.left_in_all as u128,
            };
            (volume, *number)
        };
        let mut order: Vec<(u128, u32)> = stock.open.iter().map(place).collect();
        order.sort_unstable();
        for (_, number) in &order {
            Self::speed_up(stock, *number, &mut residual);
        }
        if self.options.work_conserving {
            for (_, number) in &order {
                self.fill(stock, *number, &mut residual);
            }
        }
    }
}
