//! The flows under way, their transfers, and the links that they share: the input of every scheduler.

use std::collections::BTreeMap;

use units::{Duration, Time};

use crate::{FlowId, BIT};

/// A flow under way.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(crate) id: FlowId,
    pub(crate) path: Box<[u32]>,
    pub(crate) volume: u128,
    pub(crate) remaining: u128,
    /// The rate that the scheduler has assigned.
    pub(crate) rate: u64,
    /// The rate in effect: the assigned rate, or the floor if that is higher.
    pub(crate) enforced: u64,
    /// The last rate that was reported to its sender.
    pub(crate) told: Option<u64>,
}

impl Flow {
    /// Returns the flow's id.
    pub fn id(&self) -> FlowId {
        self.id
    }

    /// Returns the links of its path.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// Returns its volume in bits at its arrival.
    pub fn volume_bits(&self) -> u64 {
        (self.volume / BIT) as u64
    }

    /// Returns its remaining bits, rounded up.
    pub fn remaining_bits(&self) -> u64 {
        self.remaining.div_ceil(BIT) as u64
    }

    /// Returns its rate in bits per second.
    pub fn rate_bps(&self) -> u64 {
        self.enforced
    }

    /// Returns the time that it needs at its rate, at most 213 days; `None` without a rate.
    pub fn time_left(&self) -> Option<Duration> {
        self.span().map(|span| Duration::from_ps(u64::try_from(span).unwrap_or(u64::MAX)))
    }

    /// Returns the time that it needs at its rate, in picoseconds; `None` without a rate.
    pub(crate) fn span(&self) -> Option<u128> {
        span_at(self.remaining, self.enforced)
    }
}

/// A transfer that is not closed.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    /// The number of the transfer, in the order in which first flows arrive.
    pub(crate) sequence: u64,
    /// Slots of its flows under way, by flow number.
    pub(crate) flows: Vec<u32>,
    /// The volume of all its flows so far.
    pub(crate) volume: u128,
    /// The amount sent by its ended flows.
    pub(crate) ended: u128,
}

/// All flows, transfers and links.
#[derive(Clone, Debug)]
pub struct Flows {
    pub(crate) now: Time,
    /// The assignable capacity of each link, in bits per second.
    pub(crate) capacity: Vec<u64>,
    pub(crate) slots: Vec<Option<Flow>>,
    pub(crate) by_id: BTreeMap<FlowId, u32>,
    pub(crate) transfers: BTreeMap<u64, Transfer>,
}

impl Flows {
    pub(crate) fn new(capacity: Vec<u64>) -> Self {
        Self {
            now: Time::ZERO,
            capacity,
            slots: Vec::new(),
            by_id: BTreeMap::new(),
            transfers: BTreeMap::new(),
        }
    }

    /// Returns the flows under way, by (transfer, flow).
    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.by_id.values().map(|slot| self.get(*slot))
    }

    /// Returns a flow under way.
    pub fn flow(&self, id: FlowId) -> Option<&Flow> {
        self.by_id.get(&id).map(|slot| self.get(*slot))
    }

    pub(crate) fn transfer_mut(&mut self, number: u64) -> &mut Transfer {
        self.transfers.get_mut(&number).expect("the order names transfers that are known")
    }

    /// Returns the number of flows under way.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns whether no flow is under way.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(crate) fn get(&self, slot: u32) -> &Flow {
        self.slots[slot as usize].as_ref().expect("slots of transfers have flows")
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Flow {
        self.slots[slot as usize].as_mut().expect("slots of transfers have flows")
    }

    /// Subtracts the amount sent until `now` from the remaining volumes.
    pub(crate) fn advance(&mut self, now: Time) {
        let span = u128::from(now.saturating_since(self.now).as_ps());
        self.now = now;
        if span > 0 {
            for flow in self.slots.iter_mut().flatten() {
                flow.remaining = flow.remaining.saturating_sub(u128::from(flow.enforced) * span);
            }
        }
    }

    /// Returns the unassigned capacity of each link.
    pub(crate) fn residual(&self) -> Vec<u64> {
        let mut residual = self.capacity.clone();
        for flow in self.slots.iter().flatten() {
            for link in &flow.path {
                let left = &mut residual[*link as usize];
                *left = left.checked_sub(flow.rate).expect("rates on a link are within its capacity");
            }
        }
        residual
    }

    pub(crate) fn remaining(&self, transfer: &Transfer) -> u128 {
        transfer.flows.iter().map(|slot| self.get(*slot).remaining).sum()
    }

    /// Returns the time when the first flow ends at present rates; `None` if no flow has a rate.
    pub fn next_end(&self) -> Option<Time> {
        let spans = self.slots.iter().flatten().filter_map(Flow::span);
        let span = u64::try_from(spans.min()?).ok()?;
        self.now.checked_add(Duration::from_ps(span))
    }
}

/// Returns the smallest residual capacity on a path.
pub(crate) fn least(residual: &[u64], path: &[u32]) -> u64 {
    path.iter().map(|link| residual[*link as usize]).min().unwrap_or(0)
}

/// Returns whether a link is used up, within rounding. Rates are whole bits per second, so a link that transfers fill up keeps
/// a few. As a transfer's bottleneck, or as the whole rate of a flow, these would take years.
pub(crate) fn is_used_up(left: u64, capacity: u64) -> bool {
    left <= capacity >> 16
}

/// Subtracts `rate` from every link of a path.
pub(crate) fn take(residual: &mut [u64], path: &[u32], rate: u64) {
    for link in path {
        residual[*link as usize] -= rate;
    }
}

/// The demand of some flows on the links of their paths. It is reused between calls, so that only links in use are touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// Remaining volume, present rate and spare rate of these flows, by link.
    sums: Vec<(u128, u64, u64)>,
    links: Vec<u32>,
}

impl Demand {
    /// Returns the shortest time in which all `slots` can end together, in picoseconds, if they may use their present rates and
    /// `residual`; `None` if a link is used up ([`is_used_up`]).
    ///
    /// This is the maximum, over their links, of their remaining volume divided by the usable rate (paper, equations 7 to 9,
    /// and Varys' bottleneck). `spare` bits per second for each flow are not used, so that rates can be rounded up.
    pub(crate) fn span(
        &mut self,
        flows: &Flows,
        slots: &[u32],
        residual: &[u64],
        spare: u64,
    ) -> Option<u128> {
        self.sums.resize(residual.len(), (0, 0, 0));
        for flow in slots.iter().map(|slot| flows.get(*slot)) {
            for link in &flow.path {
                let sums = &mut self.sums[*link as usize];
                if *sums == (0, 0, 0) {
                    self.links.push(*link);
                }
                *sums = (sums.0 + flow.remaining, sums.1 + flow.rate, sums.2 + spare);
            }
        }
        let mut longest = Some(0);
        for link in self.links.drain(..) {
            let at = link as usize;
            let (remaining, own, spare) = std::mem::take(&mut self.sums[at]);
            let usable = (residual[at] + own).saturating_sub(spare);
            longest = match longest {
                _ if remaining > 0 && is_used_up(usable, flows.capacity[at]) => None,
                Some(span) if usable > 0 => Some(remaining.div_ceil(usable.into()).max(span)),
                other => other,
            };
        }
        longest
    }
}

/// Returns the time that `remaining` needs at a rate, in picoseconds; `None` without a rate.
pub(crate) fn span_at(remaining: u128, rate: u64) -> Option<u128> {
    match rate {
        _ if remaining == 0 => Some(0),
        0 => None,
        rate => Some(remaining.div_ceil(u128::from(rate))),
    }
}

/// Returns the longest of these times; `None` if one of them is not known.
pub(crate) fn longest(mut spans: impl Iterator<Item = Option<u128>>) -> Option<u128> {
    spans.try_fold(0, |longest, span| Some(span?.max(longest)))
}

/// Returns the rate that sends `remaining` in `span` picoseconds, rounded down.
pub(crate) fn rate_within(remaining: u128, span: u128) -> u64 {
    u64::try_from(remaining / span.max(1)).unwrap_or(u64::MAX)
}

/// Returns the rate that sends `remaining` in `span` picoseconds, rounded up.
pub(crate) fn rate_by(remaining: u128, span: u128) -> u64 {
    u64::try_from(remaining.div_ceil(span.max(1))).unwrap_or(u64::MAX)
}
