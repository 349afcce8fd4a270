//! Flows without packets: each sends at its rate, and ends when its volume has been sent.
//!
//! Time goes from event to event: an arrival, an end, a change that the scheduler has announced. There is no propagation, no
//! slow start and no loss; a rate holds from the instant at which it is decided.

use std::collections::BTreeMap;

use units::{Duration, Time};

use crate::{Floor, FlowId, Links, NewFlow, Schedule, ScheduleError, Scheduler};

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
    /// Whoever watched did not want more.
    #[error("stopped after {ended} flows had ended")]
    Stopped {
        /// How many.
        ended: usize,
    },
}

/// Lets all flows arrive, in order of time and of the list, and end.
pub fn run(
    links: &Links,
    scheduler: Box<dyn Scheduler>,
    floor: Option<Floor>,
    arrivals: &[Arrival],
    options: Options,
) -> Result<Outcome, FluidError> {
    run_watched(links, scheduler, floor, arrivals, options, &mut |_| true)
}

/// The same; `watch` hears after every decision how many flows have ended, and says whether to go on.
pub fn run_watched(
    links: &Links,
    scheduler: Box<dyn Scheduler>,
    floor: Option<Floor>,
    arrivals: &[Arrival],
    options: Options,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Result<Outcome, FluidError> {
    let mut order: Vec<&Arrival> = arrivals.iter().collect();
    order.sort_by_key(|arrival| arrival.at);
    let mut to_come = order.into_iter().peekable();
    // Flows of each transfer that have not ended, when its first arrived, and when its last ended.
    let mut transfers: BTreeMap<u64, (usize, Time, Time)> = BTreeMap::new();
    for arrival in arrivals {
        transfers.entry(arrival.id.transfer).or_insert((0, arrival.at, Time::ZERO)).0 += 1;
    }
    let mut schedule = Schedule::new(links, scheduler, floor);
    let mut outcome = Outcome::default();
    let mut arrived = Vec::new();
    let (mut now, mut is_settled) = (Time::ZERO, true);
    loop {
        let next =
            [to_come.peek().map(|arrival| arrival.at), schedule.flows().next_end(), schedule.next_change()];
        let Some(next) = next.into_iter().flatten().min() else {
            if schedule.flows().is_empty() {
                break;
            }
            if is_settled {
                return Err(FluidError::Endless { at: now, flows: schedule.flows().len() });
            }
            // Rates were last decided before some flow ended: what is left waits for no event but this.
            decide(&mut schedule, now, &mut outcome, &arrived)?;
            is_settled = true;
            continue;
        };
        let next = round_up(next.max(now), options.step);
        let next = next.ok_or(FluidError::Endless { at: now, flows: schedule.flows().len() })?;
        let must_decide = schedule.next_change().is_some_and(|change| change <= next);
        now = next;
        arrived.clear();
        let ends = ended(&schedule, now);
        let mut whole = false;
        for id in &ends {
            schedule.end(now, *id)?;
            outcome.flows.insert(*id, now);
            let (left, _, end) =
                transfers.get_mut(&id.transfer).expect("every flow's transfer has been counted");
            *left -= 1;
            *end = now;
            if *left == 0 {
                whole = true;
                schedule.close(id.transfer)?;
            }
        }
        while let Some(arrival) = to_come.next_if(|arrival| arrival.at <= now) {
            let Arrival { id, volume_bits, ref path, at } = *arrival;
            schedule.arrive(now, &NewFlow { id, volume_bits, path })?;
            let (_, began, _) =
                transfers.get_mut(&id.transfer).expect("every flow's transfer has been counted");
            *began = at.min(*began);
            arrived.push(id);
        }
        is_settled = must_decide || !arrived.is_empty() || whole || !options.only_whole_transfers;
        if is_settled {
            decide(&mut schedule, now, &mut outcome, &arrived)?;
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

fn decide(
    schedule: &mut Schedule,
    now: Time,
    outcome: &mut Outcome,
    arrived: &[FlowId],
) -> Result<(), FluidError> {
    schedule.allocate(now)?;
    outcome.decisions += 1;
    let none = arrived.iter().filter_map(|id| schedule.flows().flow(*id)).filter(|flow| flow.rate_bps() == 0);
    outcome.without_rate += none.count() as u64;
    Ok(())
}

/// Flows that have sent everything by `now`, by name.
fn ended(schedule: &Schedule, now: Time) -> Vec<FlowId> {
    let flows = schedule.flows();
    let span = u128::from(now.saturating_since(flows.now).as_ps());
    let ended = |flow: &&crate::Flow| flow.remaining <= u128::from(flow.enforced) * span;
    flows.iter().filter(ended).map(crate::Flow::id).collect()
}

fn round_up(time: Time, step: Option<Duration>) -> Option<Time> {
    let Some(step) = step.filter(|step| !step.is_zero()) else { return Some(time) };
    let steps = time.as_ps().div_ceil(step.as_ps());
    steps.checked_mul(step.as_ps()).map(Time::from_ps)
}
