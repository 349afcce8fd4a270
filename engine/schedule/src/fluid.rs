//! Flows without packets: each sends at its rate, and ends when its volume has been sent.
//!
//! Time goes from event to event: an arrival, an end, a change that the scheduler has announced. The model has no propagation, no
//! slow start and no loss; a rate holds from the instant at which it is decided.
//!
//! The rates are those of the schedulers of [`crate::Schedule`], to the rounding of rates to whole bits per second, at a cost that an event's
//! changes have and not the number of flows under way. A scheduler looks at all flows at every event. Here
//!
//! * flows of a transfer that end together keep their rates while the time of that end stays;
//! * flows that share a path max-min fairly are one;
//! * a link that is used up to a 65,536th part of its capacity has nothing for flows that share what is left.
//!
//! `tests/fluid_beside_schedule.rs` runs both.

use std::collections::BTreeMap;

use units::{Duration, Time};

use crate::dclas::Dclas;
use crate::name::DCLAS_LIMIT_BITS;
use crate::ordered::Order;
use crate::schedule::check_flow;
use crate::{fca, FlowId, Links, Name, ScheduleError, MAX_FLOWS, MAX_TRANSFERS};

mod chasing;
mod dclas;
mod fair;
mod ordered;
mod pool;
mod sharing;
mod stock;

use stock::{Serving, Stock};

/// A flow that will arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// Its name.
    pub id: FlowId,
    /// Bits.
    pub volume_bits: u64,
    /// Links that it crosses.
    pub path: Vec<u32>,
}

/// How time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Events happen at multiples of this; what happens between two is noticed at the later one. Without it they happen at their
    /// times, to the picosecond.
    pub step: Option<Duration>,
    /// Whether rates are decided again only when a whole transfer has ended, not each flow (as CoflowSim does); arrivals count in
    /// both cases.
    pub only_whole_transfers: bool,
}

/// A transfer that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The transfer.
    pub transfer: u64,
    /// When its first flow arrived.
    pub began: Time,
    /// When its last flow ended.
    pub ended: Time,
}

/// What has become of the flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When each ended, by name.
    pub flows: BTreeMap<FlowId, Time>,
    /// By number.
    pub transfers: Vec<Completion>,
    /// Flows that were given no rate when they arrived.
    pub without_rate: u64,
    /// How often rates were decided.
    pub decisions: u64,
}

/// Why a run ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FluidError {
    /// An arrival is refused.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The next event is beyond what time can say.
    #[error("at {at}: {flows} flows are under way and none of them ends within 213 days; give links more capacity or flows less volume")]
    Endless {
        /// The time.
        at: Time,
        /// How many.
        flows: usize,
    },
    /// The observer ended the run.
    #[error("stopped after {ended} flows had ended")]
    Stopped {
        /// How many.
        ended: usize,
    },
}

/// Decides the rates of flows.
trait Rates {
    /// Handles the arrival of a flow; its rate is 0.
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        let _ = (stock, flow);
    }

    /// Handles the end of a flow.
    fn end(&mut self, stock: &Stock, flow: u32) {
        let _ = (stock, flow);
    }

    /// Gives every flow its rate.
    fn allocate(&mut self, stock: &mut Stock);

    /// Returns when rates must be decided again although no flow has arrived or ended.
    fn next_change(&self, stock: &Stock) -> Option<u64> {
        let _ = stock;
        None
    }
}

/// Flows with their rates. Flows are numbers in the order of (transfer, flow), times picoseconds.
trait Model {
    fn under_way(&self) -> usize;
    fn advance(&mut self, now: u64);
    fn arrive(&mut self, flow: u32);
    fn next_end(&mut self) -> Option<u64>;
    /// Ends the flows that have sent everything.
    fn end(&mut self) -> Vec<u32>;
    fn next_change(&self) -> Option<u64>;
    fn allocate(&mut self);
    fn has_rate(&self, flow: u32) -> bool;
}

struct OfTransfers<R> {
    stock: Stock,
    rates: R,
}

impl<R: Rates> Model for OfTransfers<R> {
    fn under_way(&self) -> usize {
        self.stock.open.iter().map(|number| self.stock.transfers[*number as usize].under_way).sum()
    }

    fn advance(&mut self, now: u64) {
        self.stock.advance(now);
    }

    fn arrive(&mut self, flow: u32) {
        self.stock.arrive(flow);
        self.rates.arrive(&mut self.stock, flow);
    }

    fn next_end(&mut self) -> Option<u64> {
        self.stock.next_end()
    }

    fn end(&mut self) -> Vec<u32> {
        let ended = self.stock.end();
        for flow in &ended {
            self.rates.end(&self.stock, *flow);
        }
        ended
    }

    fn next_change(&self) -> Option<u64> {
        self.rates.next_change(&self.stock)
    }

    fn allocate(&mut self) {
        self.rates.allocate(&mut self.stock);
        self.stock.settle();
    }

    fn has_rate(&self, flow: u32) -> bool {
        self.stock.flows[flow as usize].rate > 0
    }
}

fn model(capacity: &[u64], name: Name, options: fca::Options, arrivals: &[&Arrival]) -> Box<dyn Model> {
    fn of<R: Rates + 'static>(stock: Stock, rates: R) -> Box<dyn Model> {
        Box::new(OfTransfers { stock, rates })
    }
    let stock = |serving| Stock::new(capacity, arrivals, serving);
    let ordered = |order| {
        let stock = stock(Serving::Number);
        let rates = ordered::Ordered::new(order, &stock);
        of(stock, rates)
    };
    match (name, options.order) {
        (Name::Fair, _) => Box::new(fair::Fair::new(capacity, arrivals)),
        (Name::Sebf, _) => ordered(Order::Bottleneck),
        (Name::Scf, _) => ordered(Order::Length),
        (Name::Dclas, _) => {
            let stock = stock(Serving::Number);
            let rates = dclas::Attained::new(Dclas::new(DCLAS_LIMIT_BITS), &stock);
            of(stock, rates)
        }
        (Name::Fca, fca::Volume::Total) if options.preempt => ordered(Order::Total),
        (Name::Fca, fca::Volume::Remaining) if options.preempt => ordered(Order::Remaining),
        (Name::Fca, _) => of(stock(Serving::Volume), chasing::Chasing::new(options)),
    }
}

/// Lets all flows arrive, in order of time and of the list, and end; `options` are those of flow chasing.
pub fn run(
    links: &Links,
    name: Name,
    options: fca::Options,
    arrivals: &[Arrival],
    time: Options,
) -> Result<Outcome, FluidError> {
    run_watched(links, name, options, arrivals, time, &mut |_| true)
}

/// Returns the same; `watch` hears after every decision how many flows have ended, and says whether to go on.
pub fn run_watched(
    links: &Links,
    name: Name,
    options: fca::Options,
    arrivals: &[Arrival],
    time: Options,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Result<Outcome, FluidError> {
    check(links, arrivals)?;
    let mut by_name: Vec<u32> = (0..arrivals.len() as u32).collect();
    by_name.sort_by_key(|at| arrivals[*at as usize].id);
    let sorted: Vec<&Arrival> = by_name.iter().map(|at| &arrivals[*at as usize]).collect();
    if let Some(twice) = sorted.windows(2).find(|two| two[0].id == two[1].id) {
        return Err(ScheduleError::DuplicateFlow { id: twice[0].id }.into());
    }
    // Flows of each transfer that have not ended, when its first arrived, and when its last ended.
    let mut transfers: BTreeMap<u64, (usize, Time, Time)> = BTreeMap::new();
    for arrival in arrivals {
        let (flows, began, _) = transfers.entry(arrival.id.transfer).or_insert((0, arrival.at, Time::ZERO));
        *flows += 1;
        *began = arrival.at.min(*began);
    }
    if transfers.len() > MAX_TRANSFERS {
        return Err(ScheduleError::TooManyTransfers.into());
    }
    // By time, then by place in the list.
    let mut order: Vec<u32> = (0..arrivals.len() as u32).collect();
    order.sort_by_key(|flow| (sorted[*flow as usize].at, by_name[*flow as usize]));
    let mut to_come = order.into_iter().peekable();
    let mut model = model(links.capacities(), name, options, &sorted);
    let mut outcome = Outcome::default();
    let mut arrived: Vec<u32> = Vec::new();
    let (mut now, mut is_settled) = (Time::ZERO, true);
    loop {
        let next_arrival = to_come.peek().map(|flow| sorted[*flow as usize].at);
        let next_change = model.next_change().map(Time::from_ps);
        let next_end = model.next_end().map(Time::from_ps);
        let Some(next) = [next_arrival, next_end, next_change].into_iter().flatten().min() else {
            if model.under_way() == 0 {
                break;
            }
            if is_settled {
                return Err(FluidError::Endless { at: now, flows: model.under_way() });
            }
            // Rates were last decided before some flow ended: what is left waits for no event but this.
            decide(&mut *model, &mut outcome, &arrived);
            is_settled = true;
            continue;
        };
        let next = round_up(next.max(now), time.step);
        let next = next.ok_or(FluidError::Endless { at: now, flows: model.under_way() })?;
        let must_decide = next_change.is_some_and(|change| change <= next);
        now = next;
        model.advance(now.as_ps());
        arrived.clear();
        let mut whole = false;
        for flow in model.end() {
            let id = sorted[flow as usize].id;
            outcome.flows.insert(id, now);
            let (left, _, end) =
                transfers.get_mut(&id.transfer).expect("every flow's transfer has been counted");
            *left -= 1;
            *end = now;
            whole |= *left == 0;
        }
        while let Some(flow) = to_come.next_if(|flow| sorted[*flow as usize].at <= now) {
            if model.under_way() >= MAX_FLOWS {
                return Err(ScheduleError::TooManyFlows.into());
            }
            model.arrive(flow);
            arrived.push(flow);
        }
        is_settled = must_decide || !arrived.is_empty() || whole || !time.only_whole_transfers;
        if is_settled {
            decide(&mut *model, &mut outcome, &arrived);
            if !watch(outcome.flows.len()) {
                return Err(FluidError::Stopped { ended: outcome.flows.len() });
            }
        }
    }
    let completion = |(transfer, (_, began, ended)): (&u64, &(usize, Time, Time))| Completion {
        transfer: *transfer,
        began: *began,
        ended: *ended,
    };
    outcome.transfers = transfers.iter().map(completion).collect();
    Ok(outcome)
}

fn decide(model: &mut dyn Model, outcome: &mut Outcome, arrived: &[u32]) {
    model.allocate();
    outcome.decisions += 1;
    outcome.without_rate += arrived.iter().filter(|flow| !model.has_rate(**flow)).count() as u64;
}

/// Refuses what no schedule takes.
fn check(links: &Links, arrivals: &[Arrival]) -> Result<(), ScheduleError> {
    let count = links.capacities().len();
    for Arrival { id, volume_bits, path, .. } in arrivals {
        check_flow(*id, *volume_bits, path, count)?;
    }
    Ok(())
}

fn round_up(time: Time, step: Option<Duration>) -> Option<Time> {
    let Some(step) = step.filter(|step| !step.is_zero()) else { return Some(time) };
    let steps = time.as_ps().div_ceil(step.as_ps());
    steps.checked_mul(step.as_ps()).map(Time::from_ps)
}
