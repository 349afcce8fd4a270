//! A scheduler of applications' flows: it learns of them after a delay, and its decisions reach the senders' limiters after
//! another delay.
//!
//! Until a flow's first rate arrives, it sends as without a scheduler. When it ends, its host removes its limiter at once.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use schedule::fca::Options;
use schedule::{Floor, FlowId, NewFlow, Schedule};
use units::{DataRate, Duration, Time};

use super::Parts;
use crate::events::{Event, EventQueue};
use crate::network::{Network, Paths};
use crate::report::SchedulerReport;
use crate::spec::SchedulerSpec;
use crate::transport::Side;

/// Divides the volume of a flow that has not ended when it should have; the result is what it is assumed to have left.
const LATE_SHARE: u64 = 64;

/// A flow that begins.
pub(super) struct Beginning {
    pub(super) side: Side,
    /// The receiving host.
    pub(super) to: usize,
    pub(super) application: u32,
    pub(super) group: Option<u64>,
    pub(super) bytes: u64,
    /// Payload of a full segment, in bytes.
    pub(super) mss: u64,
}

/// A report to the scheduler.
enum Report {
    Begins {
        id: FlowId,
        volume_bits: u64,
        path: Vec<u32>,
    },
    Ends(FlowId),
    /// No more flows of a transfer will come.
    Closes(u64),
}

/// A flow in progress, as its host knows it.
struct Live {
    side: Side,
    transfer: u64,
    stands_alone: bool,
    limiter: Option<NonZeroU32>,
}

/// A scheduler with its delays; see the module.
pub(super) struct Scheduling {
    schedule: Schedule,
    mice_bytes: u64,
    report_delay: Duration,
    /// Delay from a report to the limiters.
    answer_delay: Duration,
    /// Flows by number.
    flows: BTreeMap<u64, Live>,
    /// Transfers by application and by its number for the group.
    groups: BTreeMap<(u32, u64), u64>,
    next_flow: u64,
    last_transfer: u64,
    reports: VecDeque<(Time, Report)>,
    /// Rates on their way to hosts: arrival, number of the flow, bits per second.
    orders: VecDeque<(Time, u64, u64)>,
    pub(super) counts: SchedulerReport,
}

impl Scheduling {
    pub(super) fn new(spec: &SchedulerSpec, network: &Network) -> Self {
        let SchedulerSpec { kind, order, work_conserving, preempt, .. } = *spec;
        let scheduler = kind.scheduler(Options { order, work_conserving, preempt });
        let given_out = |rate: DataRate| {
            let bps = u128::from(rate.as_bps()) * u128::from(spec.capacity_ppm) / 1_000_000;
            DataRate::from_bps((bps as u64).max(1))
        };
        let rates: Vec<DataRate> = network.directions.iter().map(|one| given_out(one.rate)).collect();
        let floor = (spec.floor_bps > 0)
            .then(|| Floor { rate: DataRate::from_bps(spec.floor_bps), reserve_ppm: spec.floor_reserve_ppm });
        Self {
            schedule: Schedule::new(&rates, scheduler, floor),
            mice_bytes: spec.mice_bytes,
            report_delay: Duration::from_ps(spec.report_delay_ps),
            answer_delay: Duration::from_ps(spec.decide_delay_ps + spec.enforce_delay_ps),
            flows: BTreeMap::new(),
            groups: BTreeMap::new(),
            next_flow: 1,
            last_transfer: 0,
            reports: VecDeque::new(),
            orders: VecDeque::new(),
            counts: SchedulerReport::default(),
        }
    }

    /// Begins a flow. Returns its number, or 0 if the flow is not reported to the scheduler.
    pub(super) fn begin(&mut self, parts: &Parts<'_>, paths: &mut Paths, new: &Beginning) -> u64 {
        if new.bytes < self.mice_bytes {
            self.counts.mice += 1;
            return 0;
        }
        let (probe, headers) = parts.transport.endpoints.probe(new.side);
        let Some(path) = paths.find(parts.network, new.side.host, new.to, &probe) else {
            self.counts.without_path += 1;
            return 0;
        };
        let number = self.next_flow;
        self.next_flow += 1;
        // A group's later flows belong to the transfer of its first.
        let next = self.last_transfer + 1;
        let known = new.group.map(|group| *self.groups.entry((new.application, group)).or_insert(next));
        let transfer = known.unwrap_or(next);
        self.last_transfer = self.last_transfer.max(transfer);
        let live = Live { side: new.side, transfer, stands_alone: new.group.is_none(), limiter: None };
        self.flows.insert(number, live);
        self.counts.flows += 1;
        // The headers of each segment count with preamble, FCS and gap, as on the first link.
        let headers = headers + parts.network.directions[new.side.host].overhead.get();
        let bytes = u128::from(new.bytes) + u128::from(new.bytes.div_ceil(new.mss)) * u128::from(headers);
        let volume_bits = u64::try_from(bytes * 8).unwrap_or(u64::MAX);
        let id = FlowId { transfer, flow: number };
        self.report(parts.events.now(), Report::Begins { id, volume_bits, path });
        number
    }

    fn report(&mut self, now: Time, what: Report) {
        self.reports.push_back((now + self.report_delay, what));
    }

    /// Ends a flow; number 0 is a flow that was not reported to the scheduler.
    pub(super) fn end(&mut self, parts: &mut Parts<'_>, number: u64) {
        let Some(live) = self.flows.remove(&number) else { return };
        if let Some(limiter) = live.limiter {
            parts.transport.endpoints.set_limiter(live.side, None);
            parts.network.remove_limiter(parts.events, live.side.host, limiter);
        }
        let now = parts.events.now();
        self.report(now, Report::Ends(FlowId { transfer: live.transfer, flow: number }));
        if live.stands_alone {
            self.report(now, Report::Closes(live.transfer));
        }
    }

    /// Closes a group that has had its last transfer.
    pub(super) fn end_group(&mut self, now: Time, application: u32, group: u64) {
        if let Some(transfer) = self.groups.remove(&(application, group)) {
            self.report(now, Report::Closes(transfer));
        }
    }

    /// Returns when [`Scheduling::handle_timer`] must run next.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let report = self.reports.front().map(|(at, _)| *at);
        let order = self.orders.front().map(|(at, _, _)| *at);
        [report, order, self.schedule.next_change()].into_iter().flatten().min()
    }

    /// Handles [`Event::SchedulerTimer`].
    pub(super) fn handle_timer(&mut self, parts: &mut Parts<'_>) {
        let now = parts.events.now();
        let mut must_decide = self.schedule.next_change().is_some_and(|change| change <= now);
        while self.reports.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, report)) = self.reports.pop_front() else { break };
            must_decide |= !matches!(report, Report::Closes(_));
            let heard = match report {
                Report::Begins { id, volume_bits, ref path } => {
                    self.schedule.arrive(now, &NewFlow { id, volume_bits, path })
                }
                Report::Ends(id) => self.schedule.end(now, id),
                Report::Closes(transfer) => self.schedule.close(transfer),
            };
            self.counts.refused += u64::from(heard.is_err());
        }
        if must_decide {
            self.counts.decisions += 1;
            self.keep_late_flows(now);
            let at = now + self.answer_delay;
            // Only a time before the last call would be refused, and time has not gone back.
            for change in self.schedule.allocate(now).unwrap_or_default() {
                self.counts.rates += 1;
                self.orders.push_back((at, change.id.flow, change.rate_bps));
            }
        }
        while self.orders.front().is_some_and(|(at, _, _)| *at <= now) {
            let Some((_, flow, rate_bps)) = self.orders.pop_front() else { break };
            self.enforce(parts, flow, rate_bps);
        }
        self.schedule_timer(parts.events);
    }

    /// Keeps flows that should have ended and have not, because they lag behind their rates. Each counts as having a
    /// part of its volume left; otherwise it would get no rate and never end.
    fn keep_late_flows(&mut self, now: Time) {
        let late: Vec<(FlowId, u64)> = self
            .schedule
            .flows()
            .iter()
            .filter(|flow| flow.remaining_bits() == 0)
            .map(|flow| (flow.id(), (flow.volume_bits() / LATE_SHARE).max(1)))
            .collect();
        for (id, left) in late {
            let known = self.schedule.progress(now, id, left);
            self.counts.refused += u64::from(known.is_err());
        }
    }

    /// Schedules the next timer.
    pub(super) fn schedule_timer(&self, events: &mut EventQueue) {
        let due = self.next_timeout().map(|due| due.max(events.now()));
        events.set(Event::SchedulerTimer, due);
    }

    fn enforce(&mut self, parts: &mut Parts<'_>, flow: u64, rate_bps: u64) {
        let Parts { events, network, transport } = parts;
        let Some(live) = self.flows.get_mut(&flow) else {
            self.counts.late += 1;
            return;
        };
        if let Some(limiter) = live.limiter {
            return network.set_limiter(events, live.side.host, limiter, rate_bps);
        }
        live.limiter = network.add_limiter(events, live.side.host, rate_bps);
        match live.limiter {
            None => self.counts.without_limiter += 1,
            limiter => transport.endpoints.set_limiter(live.side, limiter),
        }
    }
}
