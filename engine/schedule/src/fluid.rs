//! A fluid model of flows, without packets: each flow sends at its rate, and ends when it has sent its volume.
//!
//! Time advances from event to event: an arrival, an end, or a change that the scheduler has announced. The model has no
//! propagation delay, slow start or loss; a rate takes effect when it is decided.
//!
//! The rates equal those of the schedulers of [`crate::Schedule`], except for the rounding to whole bits per second. Those
//! schedulers look at all flows at every event; here the cost of an event depends on the flows that it changes:
//!
//! * flows of a transfer that end together keep their rates until the time of that end changes;
//! * flows with the same path that share max-min fairly get one rate, and are visited when it changes;
//! * a link with at most 1/65,536 of its capacity left has nothing for flows that share residual capacity.
//!
//! `tests/it/fluid_beside_schedule.rs` compares both.

use std::collections::BTreeMap;

use units::{DataRate, Duration, Time};

use crate::schedule::check_flow;
use crate::{fca, FlowId, Name, ScheduleError, MAX_FLOWS, MAX_TRANSFERS};

mod chasing;
mod dclas;
mod ordered;
mod pool;
mod sharing;
mod stock;

use stock::Stock;

/// A flow that will arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of arrival.
    pub at: Time,
    /// The flow's id.
    pub id: FlowId,
    /// The flow's volume in bits.
    pub volume_bits: u64,
    /// Links of its path.
    pub path: Vec<u32>,
}

/// How a run treats time and decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Events happen at multiples of this step; an event between two of them is handled at the later one. Without a step,
    /// events have exact times in picoseconds.
    pub step: Option<Duration>,
    /// Whether rates are decided only after the end of a whole transfer (as in CoflowSim), not of each flow. Arrivals lead to a
    /// decision in both cases.
    pub only_whole_transfers: bool,
}

/// A transfer that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The transfer.
    pub transfer: u64,
    /// Arrival of its first flow.
    pub began: Time,
    /// End of its last flow.
    pub ended: Time,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// End of each flow, by id.
    pub flows: BTreeMap<FlowId, Time>,
    /// Transfers, by number.
    pub transfers: Vec<Completion>,
    /// Number of flows that got no rate on arrival.
    pub without_rate: u64,
}

/// Decides the rates of flows, which are numbered in the order of (transfer, flow); times are in picoseconds.
trait Rates {
    /// Handles the arrival of a flow; its rate is 0.
    fn arrive(&mut self, _stock: &mut Stock, _flow: u32) {}

    /// Handles the end of a flow.
    fn end(&mut self, _stock: &Stock, _flow: u32) {}

    /// Assigns a rate to every flow.
    fn allocate(&mut self, stock: &mut Stock);

    /// Returns the time when rates must be decided again even if no flow arrives or ends.
    fn next_change(&self, _stock: &Stock) -> Option<u64> {
        None
    }
}

/// Returns the decisions of a scheduler for the flows of a stock.
fn rates_of(name: Name, options: fca::Options, stock: &Stock) -> Box<dyn Rates> {
    match (name, name.order(options)) {
        (_, Some(order)) => Box::new(ordered::Ordered::new(order, stock)),
        (Name::Fair, _) => Box::new(pool::Pool::new(stock)),
        (Name::Dclas, _) => Box::new(dclas::Attained::new(stock)),
        (Name::Fca | Name::Sebf | Name::Scf, _) => Box::new(chasing::Chasing::new(options)),
    }
}

/// Assigns all rates, and returns the number of flows among `arrived` that get none.
fn decide(stock: &mut Stock, rates: &mut dyn Rates, arrived: &[u32]) -> u64 {
    rates.allocate(stock);
    stock.settle();
    arrived.iter().filter(|flow| stock.flows[**flow as usize].rate == 0).count() as u64
}

/// Runs all flows from arrival to end, by time and then by place in the list; `options` are the settings of flow chasing.
pub fn run(
    links: &[DataRate],
    name: Name,
    options: fca::Options,
    arrivals: &[Arrival],
    time: Options,
) -> Result<Outcome, ScheduleError> {
    run_watched(links, name, options, arrivals, time, &mut |_| true)
}

/// Runs all flows as [`run`] does. After every decision, `watch` gets the number of ended flows and returns whether to continue.
pub fn run_watched(
    links: &[DataRate],
    name: Name,
    options: fca::Options,
    arrivals: &[Arrival],
    time: Options,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Result<Outcome, ScheduleError> {
    for Arrival { id, volume_bits, path, .. } in arrivals {
        check_flow(*id, *volume_bits, path, links.len())?;
    }
    let mut by_name: Vec<u32> = (0..arrivals.len() as u32).collect();
    by_name.sort_by_key(|at| arrivals[*at as usize].id);
    let sorted: Vec<&Arrival> = by_name.iter().map(|at| &arrivals[*at as usize]).collect();
    if let Some(twice) = sorted.windows(2).find(|two| two[0].id == two[1].id) {
        return Err(ScheduleError::duplicate(twice[0].id));
    }
    // For each transfer, in order of number as in the stock: the number of its flows that have not ended.
    let mut left: Vec<usize> = Vec::new();
    let mut outcome = Outcome::default();
    for flows in sorted.chunk_by(|a, b| a.id.transfer == b.id.transfer) {
        let began = flows.iter().map(|flow| flow.at).min().unwrap_or(Time::ZERO);
        outcome.transfers.push(Completion { transfer: flows[0].id.transfer, began, ended: began });
        left.push(flows.len());
    }
    if left.len() > MAX_TRANSFERS {
        return Err(ScheduleError::too_many_transfers());
    }
    // By time, then by place in the list.
    let mut order: Vec<u32> = (0..arrivals.len() as u32).collect();
    order.sort_by_key(|flow| (sorted[*flow as usize].at, by_name[*flow as usize]));
    let mut to_come = order.into_iter().peekable();
    let capacities: Vec<u64> = links.iter().map(|rate| rate.as_bps()).collect();
    let by_volume = name == Name::Fca && name.order(options).is_none();
    let mut stock = Stock::new(&capacities, &sorted, by_volume);
    let mut rates = rates_of(name, options, &stock);
    let mut arrived: Vec<u32> = Vec::new();
    let (mut now, mut is_settled) = (Time::ZERO, true);
    loop {
        let next_arrival = to_come.peek().map(|flow| sorted[*flow as usize].at);
        let next_change = rates.next_change(&stock).map(Time::from_ps);
        let next_end = stock.next_end().map(Time::from_ps);
        let Some(next) = [next_arrival, next_end, next_change].into_iter().flatten().min() else {
            if stock.under_way() == 0 {
                break;
            }
            if is_settled {
                return Err(endless(now, &stock));
            }
            // Rates were last decided before a flow ended, and no other event would lead to a decision for the remaining flows.
            outcome.without_rate += decide(&mut stock, &mut *rates, &arrived);
            is_settled = true;
            continue;
        };
        let next = round_up(next.max(now), time.step);
        let next = next.ok_or_else(|| endless(now, &stock))?;
        let must_decide = next_change.is_some_and(|change| change <= next);
        now = next;
        stock.advance(now.as_ps());
        arrived.clear();
        let mut whole = false;
        for flow in stock.end() {
            rates.end(&stock, flow);
            outcome.flows.insert(sorted[flow as usize].id, now);
            let transfer = stock.flows[flow as usize].transfer as usize;
            outcome.transfers[transfer].ended = now;
            left[transfer] -= 1;
            whole |= left[transfer] == 0;
        }
        while let Some(flow) = to_come.next_if(|flow| sorted[*flow as usize].at <= now) {
            if stock.under_way() >= MAX_FLOWS {
                return Err(ScheduleError::too_many_flows());
            }
            stock.arrive(flow);
            rates.arrive(&mut stock, flow);
            arrived.push(flow);
        }
        is_settled = must_decide || !arrived.is_empty() || whole || !time.only_whole_transfers;
        if is_settled {
            outcome.without_rate += decide(&mut stock, &mut *rates, &arrived);
            if !watch(outcome.flows.len()) {
                return Err(ScheduleError(format!("stopped after {} flows had ended", outcome.flows.len())));
            }
        }
    }
    Ok(outcome)
}

/// Returns the error of flows under way that get no rate while no event follows, or whose next event is later than any
/// representable time.
fn endless(at: Time, stock: &Stock) -> ScheduleError {
    let flows = stock.under_way();
    ScheduleError(format!(
        "at {at}: {flows} flows are under way and none of them ends within 213 days; give links more capacity or flows less volume"
    ))
}

fn round_up(time: Time, step: Option<Duration>) -> Option<Time> {
    let Some(step) = step.filter(|step| !step.is_zero()) else { return Some(time) };
    let steps = time.as_ps().div_ceil(step.as_ps());
    steps.checked_mul(step.as_ps()).map(Time::from_ps)
}
