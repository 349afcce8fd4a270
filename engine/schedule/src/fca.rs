//! The flow chasing algorithm (Ren and Wang, KSII TIIS 10(4), 2016, section 4).
//!
//! An arriving flow *chases* its transfer: it gets the rate with which it ends together with the transfer's last flow. If its
//! links have less left, it gets all of that; the transfer then ends later, and its other flows release the capacity that they
//! no longer need. An arrival never delays the end of another transfer. Residual capacity is shared in two steps: first transfers
//! are sped up, in order of volume; then flows take the capacity left on their paths.
//!
//! The paper leaves two cases open. Here, a flow whose links have nothing left gets no rate for now, and its transfer keeps its
//! rates. Where step one divides the residual capacity among the flows of a transfer, each flow gets exactly the rate that it
//! needs to end with the transfer, so no rate needs a later reduction.

use crate::flows::{is_used_up, least, longest, rate_by, rate_within, span_at, take, Demand, Flows};
use crate::schedule::Scheduler;
use crate::FlowId;
use serde::Deserialize;
use units::Time;

/// The volume that orders transfers in flow chasing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SchedulerOrder"))]
#[serde(rename_all = "snake_case")]
pub enum Volume {
    /// All announced bytes, as in the paper's testbed (5.2).
    #[default]
    Total,
    /// The remaining bytes, as in the paper's algorithm (4.3).
    Remaining,
}

/// Settings of flow chasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The order in which residual capacity is shared.
    pub order: Volume,
    /// Whether flows take capacity that no transfer needs (step two). Without it the algorithm is the paper's myopic one.
    pub work_conserving: bool,
    /// Whether smaller transfers preempt larger ones. Not in the paper: transfers are then served in `order`, with MADD.
    pub preempt: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { order: Volume::Total, work_conserving: true, preempt: false }
    }
}

/// The flow chasing scheduler.
#[derive(Clone, Debug)]
pub struct Fca {
    options: Options,
    demand: Demand,
    /// The last time when flows were slowed down to end together, if no rate was decided since; repeating that at the same
    /// instant would change nothing.
    shrunk_at: Option<Time>,
    /// The unassigned capacity since then, by link.
    residual: Vec<u64>,
}

impl Fca {
    /// Returns a scheduler with these settings, which do not preempt.
    pub fn new(options: Options) -> Self {
        Self { options, demand: Demand::default(), shrunk_at: None, residual: Vec::new() }
    }

    /// Slows down every flow to end with the last one of its transfer (paper, algorithm 1, lines 1 to 6).
    fn shrink(flows: &mut Flows) {
        let Flows { transfers, slots, .. } = flows;
        for transfer in transfers.values() {
            let flow = |slot: &u32| slots[*slot as usize].as_ref().expect("slots of transfers have flows");
            let span = longest(transfer.flows.iter().map(|slot| flow(slot).span()));
            let Some(span) = span.filter(|span| *span > 0) else { continue };
            for slot in &transfer.flows {
                let flow = slots[*slot as usize].as_mut().expect("slots of transfers have flows");
                // With a floor the flow may have sent faster than its assigned rate: slowing down must not raise that rate.
                flow.rate = flow.rate.min(rate_by(flow.remaining, span));
            }
        }
    }

    /// Returns the transfers by volume: the order in which residual capacity is shared.
    fn order(&self, flows: &Flows) -> Vec<(u128, u64)> {
        let open = flows.transfers.iter().filter(|(_, transfer)| !transfer.flows.is_empty());
        let mut order: Vec<_> = open
            .map(|(number, transfer)| match self.options.order {
                Volume::Total => (transfer.volume, *number),
                Volume::Remaining => (flows.remaining(transfer), *number),
            })
            .collect();
        order.sort_unstable();
        order
    }

    /// Speeds up a transfer (step one) if its rates and the residual capacity let it end earlier than before.
    fn speed_up(&mut self, flows: &mut Flows, number: u64, residual: &mut [u64]) {
        let slots = std::mem::take(&mut flows.transfer_mut(number).flows);
        let all = slots.iter().map(|slot| flows.get(*slot));
        let before = longest(all.map(|flow| span_at(flow.remaining, flow.rate)));
        // Rates are rounded down, so the end is a little later than possible. If that leaves a flow without a rate, rates are
        // rounded up, with 1 bit/s per flow set aside for that.
        for (spare, rate) in [(0, rate_within as fn(u128, u128) -> u64), (1, rate_by)] {
            let Some(span) = self.demand.span(flows, &slots, residual, spare).filter(|span| *span > 0) else {
                break;
            };
            let volumes = slots.iter().map(|slot| flows.get(*slot).remaining);
            let after = longest(volumes.map(|volume| span_at(volume, rate(volume, span))));
            let Some(after) = after else { continue };
            if before.is_none_or(|before| after < before) {
                for slot in &slots {
                    let flow = flows.get(*slot);
                    for link in &flow.path {
                        residual[*link as usize] += flow.rate;
                    }
                }
                for slot in &slots {
                    let flow = flows.get_mut(*slot);
                    flow.rate = rate(flow.remaining, span);
                    take(residual, &flow.path, flow.rate);
                }
            }
            break;
        }
        flows.transfer_mut(number).flows = slots;
    }

    /// Assigns the residual capacity of their paths to the flows of a transfer, the smallest first (step two).
    fn fill(&self, flows: &mut Flows, number: u64, residual: &mut [u64]) {
        let mut order: Vec<(u128, u32)> = flows.transfers[&number]
            .flows
            .iter()
            .map(|slot| {
                let flow = flows.get(*slot);
                let volume = match self.options.order {
                    Volume::Total => flow.volume,
                    Volume::Remaining => flow.remaining,
                };
                (volume, *slot)
            })
            .collect();
        // The sort is stable: among equals, the flow with the lower number is first.
        order.sort_by_key(|(volume, _)| *volume);
        for (_, slot) in order {
            let flow = flows.get_mut(slot);
            let more = least(residual, &flow.path);
            if more > 0 {
                flow.rate += more;
                take(residual, &flow.path, more);
            }
        }
    }
}

impl Scheduler for Fca {
    fn arrive(&mut self, flows: &mut Flows, id: FlowId) {
        if self.shrunk_at != Some(flows.now) {
            Self::shrink(flows);
            self.residual = flows.residual();
            self.shrunk_at = Some(flows.now);
        }
        let slot = flows.by_id[&id];
        let flow = flows.get(slot);
        let volume = flow.remaining;
        let available = least(&self.residual, &flow.path);
        if flow
            .path
            .iter()
            .any(|link| is_used_up(self.residual[*link as usize], flows.capacity[*link as usize]))
        {
            return;
        }
        let alone = volume.div_ceil(u128::from(available));
        let transfer = &flows.transfers[&id.transfer];
        let others: Vec<u32> = transfer.flows.iter().copied().filter(|other| *other != slot).collect();
        // The end follows from assigned rates, not from floors. Flows without a rate do not count.
        let spans = others.iter().map(|other| flows.get(*other)).filter(|other| other.rate > 0);
        let end = spans.map(|other| other.remaining.div_ceil(u128::from(other.rate))).max().unwrap_or(0);
        let rate = if alone > end {
            for other in others {
                let other = flows.get_mut(other);
                let less = other.rate.min(rate_by(other.remaining, alone));
                for link in &other.path {
                    self.residual[*link as usize] += other.rate - less;
                }
                other.rate = less;
            }
            available
        } else {
            rate_by(volume, end)
        };
        let flow = flows.get_mut(slot);
        flow.rate = rate;
        take(&mut self.residual, &flow.path, rate);
    }

    fn allocate(&mut self, flows: &mut Flows) {
        self.shrunk_at = None;
        let mut residual = flows.residual();
        let order = self.order(flows);
        for (_, number) in &order {
            self.speed_up(flows, *number, &mut residual);
        }
        if self.options.work_conserving {
            for (_, number) in &order {
                self.fill(flows, *number, &mut residual);
            }
        }
    }
}
