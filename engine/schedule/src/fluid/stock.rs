//! Flows and transfers of a fluid run. The cost of an event depends on the flows that it changes.
//!
//! A flow's remaining volume is recorded when its rate changes; until the next change it follows from the rate. A transfer's
//! remaining volume is summed per link.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use crate::flows::is_used_up;
use crate::fluid::Arrival;
use crate::BIT;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
    #[default]
    ToCome,
    UnderWay,
    Ended,
}

/// Consecutive flows in the order of serving whose paths end with the same link.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The place of that link among the transfer's links.
    pub last: usize,
    pub flows: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Transfer {
    /// The transfer's number in the order in which first flows arrive; `None` before.
    pub sequence: Option<u64>,
    pub runs: Vec<Run>,
    pub under_way: usize,
    pub without_rate: usize,
    /// Number of flows that have ended since `runs` was last swept.
    swept: usize,
    pub links: Vec<u32>,
    /// The remaining volume of the flows under way on each of `links`.
    pub left: Vec<i128>,
    /// The sum of their rates on each of `links`.
    pub own: Vec<u64>,
    /// The number of flows on each of `links`.
    pub users: Vec<u64>,
    pub left_in_all: i128,
    pub rate: u128,
    /// The volume of all arrived flows.
    pub volume: u128,
    pub together: Option<Together>,
    /// The flow that ends last and its rate, if known. It stays the last one while its rate is the same and others only get more.
    pub last: Option<(u32, u64)>,
    /// A flow that new rates would not let end earlier than [`Transfer::last`], from the last check.
    pub late: Option<u32>,
    /// Whether rounding down left a flow without a rate in that check.
    pub is_rounded_up: bool,
}

/// Rates with which the flows of a transfer end at the same time.
#[derive(Clone, Debug)]
pub(super) struct Together {
    /// The time of that end.
    pub end: u64,
    /// The sum of these rates on each link of the transfer.
    pub base: Vec<u64>,
    /// Flows with more than these rates.
    pub more: Vec<u32>,
}

/// The part of a flow that rates need. It fills one cache line: an event changes the rates of thousands of scattered flows.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(super) struct Flow {
    /// Its remaining volume at `since`; before it arrives, its volume.
    left: u128,
    since: u64,
    pub rate: u64,
    /// Its rate according to [`Together`].
    pub base: u64,
    pub end: u64,
    pub transfer: u32,
    /// The start of its links in [`Stock::paths`].
    path: u32,
    /// The number of its links.
    links: u8,
    pub status: Status,
    /// Whether it is in [`Together::more`].
    has_more: bool,
    is_touched: bool,
}

const _: () = assert!(size_of::<Flow>() == 64 && crate::MAX_PATH <= u8::MAX as usize);

impl Flow {
    /// Returns the range of its links in [`Stock::paths`] and [`Stock::local`].
    fn span(&self) -> Range<usize> {
        self.path as usize..self.path as usize + usize::from(self.links)
    }
}

#[derive(Default)]
pub(super) struct Stock {
    pub now: u64,
    pub capacity: Vec<u64>,
    pub flows: Vec<Flow>,
    pub transfers: Vec<Transfer>,
    /// Transfers with flows under way, by number.
    pub open: Vec<u32>,
    paths: Vec<u32>,
    /// The same links, as places in their transfers' `links`.
    local: Vec<u32>,
    /// Ends, including outdated ones.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    touched: Vec<u32>,
    sequences: u64,
}

impl Stock {
    /// Creates the stock of all arrivals, in order of (transfer, flow). The order of serving, in which the flows of a transfer
    /// are assigned rates, is by number, or else `by_volume`, then by number.
    pub fn new(capacity: &[u64], arrivals: &[&Arrival], by_volume: bool) -> Self {
        let mut stock = Self {
            capacity: capacity.to_vec(),
            flows: Vec::with_capacity(arrivals.len()),
            ..Self::default()
        };
        for of_one in arrivals.chunk_by(|a, b| a.id.transfer == b.id.transfer) {
            stock.add(of_one, by_volume);
        }
        stock
    }

    fn add(&mut self, arrivals: &[&Arrival], by_volume: bool) {
        let transfer = self.transfers.len() as u32;
        let first = self.flows.len() as u32;
        let mut places = BTreeMap::new();
        let mut links = Vec::new();
        for arrival in arrivals {
            let begin = self.paths.len() as u32;
            for link in &arrival.path {
                let place = *places.entry(*link).or_insert_with(|| {
                    links.push(*link);
                    links.len() as u32 - 1
                });
                self.paths.push(*link);
                self.local.push(place);
            }
            self.flows.push(Flow {
                left: u128::from(arrival.volume_bits) * BIT,
                end: u64::MAX,
                transfer,
                path: begin,
                links: arrival.path.len() as u8,
                ..Flow::default()
            });
        }
        let mut order: Vec<u32> = (first..self.flows.len() as u32).collect();
        if by_volume {
            order.sort_by_key(|flow| self.flows[*flow as usize].left);
        }
        let last = |flow: &u32| self.local[self.flows[*flow as usize].span().end - 1] as usize;
        let runs = order.chunk_by(|a, b| last(a) == last(b));
        let runs = runs.map(|flows| Run { last: last(&flows[0]), flows: flows.to_vec() }).collect();
        self.transfers.push(Transfer {
            runs,
            left: vec![0; links.len()],
            own: vec![0; links.len()],
            users: vec![0; links.len()],
            links,
            ..Transfer::default()
        });
    }

    /// Returns the number of flows under way.
    pub fn under_way(&self) -> usize {
        self.open.iter().map(|number| self.transfers[*number as usize].under_way).sum()
    }

    pub fn path(&self, flow: u32) -> &[u32] {
        &self.paths[self.flows[flow as usize].span()]
    }

    /// Returns the links of a flow, as places among the links of its transfer.
    pub fn places(&self, flow: u32) -> &[u32] {
        &self.local[self.flows[flow as usize].span()]
    }

    /// Returns the flows of a transfer that are under way, in the order of serving.
    pub fn members(&self, transfer: u32) -> impl Iterator<Item = u32> + '_ {
        let all = self.transfers[transfer as usize].runs.iter().flat_map(|run| run.flows.iter().copied());
        all.filter(|flow| self.flows[*flow as usize].status == Status::UnderWay)
    }

    /// Returns the present remaining volume of a flow.
    pub fn left(&self, flow: u32) -> u128 {
        let flow = &self.flows[flow as usize];
        flow.left.saturating_sub(u128::from(flow.rate) * u128::from(self.now - flow.since))
    }

    /// Advances time.
    pub fn advance(&mut self, now: u64) {
        let span = i128::from(now - self.now);
        self.now = now;
        if span == 0 {
            return;
        }
        for number in &self.open {
            let transfer = &mut self.transfers[*number as usize];
            for (left, own) in transfer.left.iter_mut().zip(&transfer.own) {
                *left -= i128::from(*own) * span;
            }
            transfer.left_in_all -= transfer.rate as i128 * span;
        }
    }

    pub fn arrive(&mut self, flow: u32) {
        let one = &mut self.flows[flow as usize];
        (one.status, one.since) = (Status::UnderWay, self.now);
        let transfer = &mut self.transfers[one.transfer as usize];
        if transfer.sequence.is_none() {
            transfer.sequence = Some(self.sequences);
            self.sequences += 1;
        }
        if transfer.under_way == 0 {
            let at = self.open.partition_point(|open| *open < one.transfer);
            self.open.insert(at, one.transfer);
        }
        transfer.under_way += 1;
        transfer.without_rate += 1;
        transfer.volume += one.left;
        transfer.left_in_all += one.left as i128;
        for place in &self.local[one.span()] {
            transfer.left[*place as usize] += one.left as i128;
            transfer.users[*place as usize] += 1;
        }
        (transfer.together, transfer.last) = (None, None);
    }

    /// Returns the time when the next flow ends at present rates.
    pub fn next_end(&mut self) -> Option<u64> {
        while let Some(Reverse((end, flow))) = self.ends.peek() {
            let one = &self.flows[*flow as usize];
            if one.status == Status::UnderWay && one.end == *end {
                return Some(*end);
            }
            self.ends.pop();
        }
        None
    }

    /// Ends all flows that have sent their whole volume by now, and returns their numbers.
    pub fn end(&mut self) -> Vec<u32> {
        let mut ended = Vec::new();
        while self.next_end().is_some_and(|end| end <= self.now) {
            let Some(Reverse((_, flow))) = self.ends.pop() else { break };
            let one = &mut self.flows[flow as usize];
            one.status = Status::Ended;
            // The transfer has also been charged for the time after the flow's end.
            let left = one.left as i128 - i128::from(one.rate) * i128::from(self.now - one.since);
            let transfer = &mut self.transfers[one.transfer as usize];
            for place in &self.local[one.span()] {
                let place = *place as usize;
                transfer.left[place] -= left;
                transfer.own[place] -= one.rate;
                transfer.users[place] -= 1;
                if let Some(together) = &mut transfer.together {
                    together.base[place] -= one.base;
                }
            }
            transfer.left_in_all -= left;
            transfer.rate -= u128::from(one.rate);
            transfer.under_way -= 1;
            transfer.swept += 1;
            if transfer.late == Some(flow) {
                transfer.late = None;
            }
            if one.has_more {
                one.has_more = false;
                if let Some(together) = &mut transfer.together {
                    together.more.retain(|other| *other != flow);
                }
            }
            ended.push(flow);
        }
        ended.sort_unstable();
        let Self { open, transfers, flows, .. } = self;
        for flow in &ended {
            let transfer = &mut transfers[flows[*flow as usize].transfer as usize];
            if transfer.swept > transfer.under_way / 8 {
                transfer.swept = 0;
                for run in &mut transfer.runs {
                    run.flows.retain(|flow| flows[*flow as usize].status != Status::Ended);
                }
                transfer.runs.retain(|run| !run.flows.is_empty());
            }
        }
        open.retain(|number| transfers[*number as usize].under_way > 0);
        ended
    }

    /// Sets a flow's rate; the caller must call [`Stock::settle`] afterwards.
    pub fn set_rate(&mut self, flow: u32, rate: u64) {
        let one = &mut self.flows[flow as usize];
        if one.rate == rate {
            return;
        }
        one.left = one.left.saturating_sub(u128::from(one.rate) * u128::from(self.now - one.since));
        one.since = self.now;
        let transfer = &mut self.transfers[one.transfer as usize];
        for place in &self.local[one.span()] {
            let own = &mut transfer.own[*place as usize];
            *own = *own - one.rate + rate;
        }
        transfer.rate = transfer.rate - u128::from(one.rate) + u128::from(rate);
        match (one.rate, rate) {
            (0, _) => transfer.without_rate -= 1,
            (_, 0) => transfer.without_rate += 1,
            _ => {}
        }
        one.rate = rate;
        if !std::mem::replace(&mut one.is_touched, true) {
            self.touched.push(flow);
        }
    }

    /// Updates the ends of the flows whose rates have changed.
    pub fn settle(&mut self) {
        for flow in self.touched.drain(..) {
            let one = &mut self.flows[flow as usize];
            one.is_touched = false;
            one.end = match one.rate {
                0 => u64::MAX,
                rate => {
                    let span = u64::try_from(one.left.div_ceil(u128::from(rate)));
                    span.map_or(u64::MAX, |span| one.since.saturating_add(span))
                }
            };
            if one.end < u64::MAX {
                self.ends.push(Reverse((one.end, flow)));
            }
        }
        if self.ends.len() > 4 * self.under_way() + 256 {
            let Self { flows, ends, .. } = self;
            ends.retain(|Reverse((end, flow))| {
                let one = &flows[*flow as usize];
                one.status == Status::UnderWay && one.end == *end
            });
        }
    }

    /// Returns the shortest time in which all flows of a transfer can end together, if they may use `residual` and, with `own`,
    /// their present rates; `None` if a link is used up. `spare` bits per second for each flow are not used.
    ///
    /// This is the maximum, over their links, of their remaining volume divided by the usable rate (Ren and Wang, equations 7
    /// to 9, and Varys' bottleneck).
    pub fn span(&self, transfer: u32, residual: &[u64], own: bool, spare: u64) -> Option<u128> {
        let transfer = &self.transfers[transfer as usize];
        let usable = |place: usize| {
            let link = transfer.links[place] as usize;
            (residual[link] + if own { transfer.own[place] } else { 0 })
                .saturating_sub(spare * transfer.users[place])
        };
        let (mut longest, mut tightest) = (0.0, None);
        for (place, left) in transfer.left.iter().enumerate() {
            if *left <= 0 {
                continue;
            }
            let usable = usable(place);
            if is_used_up(usable, self.capacity[transfer.links[place] as usize]) {
                return None;
            }
            let span = *left as f64 / usable as f64;
            if span > longest {
                (longest, tightest) = (span, Some(place));
            }
        }
        let Some(place) = tightest else { return Some(0) };
        Some((transfer.left[place] as u128).div_ceil(u128::from(usable(place))))
    }

    /// Sets the rates with which a transfer's flows end together, `span` from now. `rate` returns a flow's rate from its
    /// remaining volume and its path, and is called for every flow under way in the order of serving.
    pub fn give_together(&mut self, number: u32, span: u128, mut rate: impl FnMut(u128, &[u32]) -> u64) {
        let end = u64::try_from(span).ok().and_then(|span| self.now.checked_add(span));
        let runs = std::mem::take(&mut self.transfers[number as usize].runs);
        for flow in runs.iter().flat_map(|run| &run.flows) {
            if self.flows[*flow as usize].status == Status::UnderWay {
                let given = rate(self.left(*flow), self.path(*flow));
                let one = &mut self.flows[*flow as usize];
                (one.base, one.has_more) = (given, false);
                self.set_rate(*flow, given);
            }
        }
        let transfer = &mut self.transfers[number as usize];
        transfer.runs = runs;
        transfer.last = None;
        transfer.together = end.map(|end| Together { end, base: transfer.own.clone(), more: Vec::new() });
    }

    /// Returns whether all flows of a transfer end together `span` from now, except for rounding and for flows with more.
    pub fn is_together(&self, number: u32, span: u128) -> bool {
        let together = self.transfers[number as usize].together.as_ref();
        let ends = together.and_then(|together| together.end.checked_sub(self.now)).map(u128::from);
        ends.is_some_and(|left| left.abs_diff(span) <= rounding(span))
    }

    /// Reduces flows with more to the rates that they need to end `span` from now.
    pub fn take_more(&mut self, number: u32, span: u128) {
        let Some(mut together) = self.transfers[number as usize].together.take() else { return };
        for flow in together.more.drain(..) {
            let left = self.left(flow);
            let one = &mut self.flows[flow as usize];
            one.has_more = false;
            let base = crate::flows::rate_within(left, span).max(1).min(one.base);
            for place in &self.local[one.span()] {
                together.base[*place as usize] -= one.base - base;
            }
            one.base = base;
            self.set_rate(flow, base);
        }
        self.transfers[number as usize].together = Some(together);
    }

    /// Raises a flow's rate by `more`.
    pub fn give_more(&mut self, flow: u32, more: u64) {
        self.set_rate(flow, self.flows[flow as usize].rate + more);
        let one = &mut self.flows[flow as usize];
        if let Some(together) = &mut self.transfers[one.transfer as usize].together {
            if !std::mem::replace(&mut one.has_more, true) {
                together.more.push(flow);
            }
        }
    }

    /// Discards the common end of a transfer's flows.
    pub fn part(&mut self, number: u32) {
        if let Some(together) = self.transfers[number as usize].together.take() {
            for flow in together.more {
                self.flows[flow as usize].has_more = false;
            }
        }
    }

    /// Assigns the residual capacity of their paths to flows in the order of serving; calls `tell` for each that gets some.
    pub fn fill(&mut self, number: u32, residual: &mut [u64], mut tell: impl FnMut(u32)) {
        let runs = std::mem::take(&mut self.transfers[number as usize].runs);
        for run in &runs {
            let last = self.transfers[number as usize].links[run.last] as usize;
            for flow in &run.flows {
                if residual[last] == 0 {
                    break;
                }
                if self.give_what_is_left(*flow, residual) {
                    tell(*flow);
                }
            }
        }
        self.transfers[number as usize].runs = runs;
    }

    /// Assigns the residual capacity of its path to a flow, and returns whether there was any.
    pub fn give_what_is_left(&mut self, flow: u32, residual: &mut [u64]) -> bool {
        let more = crate::flows::least(residual, self.path(flow));
        let gets = more > 0 && self.flows[flow as usize].status == Status::UnderWay;
        if gets {
            crate::flows::take(residual, self.path(flow), more);
            self.give_more(flow, more);
        }
        gets
    }
}

/// Returns the tolerance for equal times that were computed in two ways: rates are whole bits per second.
pub(super) fn rounding(span: u128) -> u128 {
    (span >> 20).max(1)
}
