//! A schedule turns events of flows into rates.

use units::{DataRate, Time};

use crate::flows::{Flow, Flows, Transfer};
use crate::{FlowId, ScheduleError, BIT, MAX_FLOWS, MAX_HOSTS, MAX_PATH, MAX_TRANSFERS, MAX_VOLUME_BITS};

/// Decides the rates of flows. Events of one instant are delivered one by one, followed by one call of `allocate`.
pub trait Scheduler: Send {
    /// Handles the arrival of a flow; its rate is 0.
    fn arrive(&mut self, _flows: &mut Flows, _id: FlowId) {}

    /// Assigns a rate to every flow.
    fn allocate(&mut self, flows: &mut Flows);

    /// Returns the time when rates must be decided again even if no flow arrives or ends.
    fn next_change(&self, _flows: &Flows) -> Option<Time> {
        None
    }
}

/// A new flow.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow<'a> {
    /// Its id.
    pub id: FlowId,
    /// Its volume in bits, 1 to [`MAX_VOLUME_BITS`].
    pub volume_bits: u64,
    /// Numbers of the links of its path, each once.
    pub path: &'a [u32],
}

/// A minimum rate of every flow, even if the scheduler assigns none: a TCP connection that cannot send would time out.
///
/// A share of every link is withheld from the scheduler and divided among the link's flows. No flow gets more than `rate`, and
/// the flows of one link together get no more than the share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Maximum rate of one flow from the reserve.
    pub rate: DataRate,
    /// Share of a link, in millionths of its capacity; values above one million count as one million.
    pub reserve_ppm: u32,
}

/// A flow's new rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// The flow.
    pub id: FlowId,
    /// Bits per second on the wire.
    pub rate_bps: u64,
}

/// Flows under way, and the scheduler that decides their rates.
pub struct Schedule {
    flows: Flows,
    scheduler: Box<dyn Scheduler>,
    floor: Option<u64>,
    /// The part of each link that is reserved for floors, in bits per second.
    reserve: Vec<u64>,
    free: Vec<u32>,
    transfers_seen: u64,
    changes: Vec<RateChange>,
}

impl Schedule {
    /// Returns a schedule without flows, at time 0. `links` are the capacities of the links, which are numbered from 0.
    pub fn new(links: &[DataRate], scheduler: Box<dyn Scheduler>, floor: Option<Floor>) -> Self {
        let ppm = floor.map_or(0, |floor| floor.reserve_ppm.min(1_000_000));
        let reserve = |capacity: u64| (u128::from(capacity) * u128::from(ppm) / 1_000_000) as u64;
        let all = || links.iter().map(|rate| rate.as_bps());
        Self {
            flows: Flows::new(all().map(|capacity| capacity - reserve(capacity)).collect()),
            scheduler,
            floor: floor.map(|floor| floor.rate.as_bps()),
            reserve: all().map(reserve).collect(),
            free: Vec::new(),
            transfers_seen: 0,
            changes: Vec::new(),
        }
    }

    /// Returns the flows under way.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Starts a flow. The next [`Schedule::allocate`] decides its rate.
    pub fn arrive(&mut self, now: Time, new: &NewFlow<'_>) -> Result<(), ScheduleError> {
        let NewFlow { id, volume_bits, path } = *new;
        self.check_time(now)?;
        if self.flows.by_id.contains_key(&id) {
            return Err(ScheduleError::duplicate(id));
        }
        check_flow(id, volume_bits, path, self.flows.capacity.len())?;
        if self.flows.len() >= MAX_FLOWS {
            return Err(ScheduleError::too_many_flows());
        }
        let is_new = !self.flows.transfers.contains_key(&id.transfer);
        if is_new && self.flows.transfers.len() >= MAX_TRANSFERS {
            return Err(ScheduleError::too_many_transfers());
        }
        self.flows.advance(now);
        let volume = u128::from(volume_bits) * BIT;
        let flow =
            Flow { id, path: path.into(), volume, remaining: volume, rate: 0, enforced: 0, told: None };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.flows.slots.push(None);
            (self.flows.slots.len() - 1) as u32
        });
        self.flows.slots[slot as usize] = Some(flow);
        self.flows.by_id.insert(id, slot);
        let place = self.place_in_transfer(id);
        let sequence = self.transfers_seen;
        let transfer = self.flows.transfers.entry(id.transfer).or_insert_with(|| {
            self.transfers_seen += 1;
            Transfer { sequence, flows: Vec::new(), volume: 0, ended: 0 }
        });
        transfer.flows.insert(place, slot);
        transfer.volume = transfer.volume.saturating_add(volume);
        self.scheduler.arrive(&mut self.flows, id);
        Ok(())
    }

    /// Ends a flow, even if it has a remaining volume in the schedule.
    pub fn end(&mut self, now: Time, id: FlowId) -> Result<(), ScheduleError> {
        let slot = self.find(now, id)?;
        self.flows.advance(now);
        let place = self.place_in_transfer(id);
        self.flows.by_id.remove(&id);
        let flow = self.flows.slots[slot as usize].take().expect("a flow that is known has a slot");
        self.free.push(slot);
        let transfer = self.flows.transfers.get_mut(&id.transfer).expect("a flow's transfer is known");
        transfer.flows.remove(place);
        transfer.ended = transfer.ended.saturating_add(flow.volume);
        Ok(())
    }

    /// Replaces a flow's remaining volume with its sender's report, in bits. A value above its volume counts as its volume.
    pub fn progress(&mut self, now: Time, id: FlowId, remaining_bits: u64) -> Result<(), ScheduleError> {
        let slot = self.find(now, id)?;
        self.flows.advance(now);
        let flow = self.flows.get_mut(slot);
        flow.remaining = (u128::from(remaining_bits) * BIT).min(flow.volume);
        Ok(())
    }

    /// Closes a transfer without further flows, and forgets it.
    pub fn close(&mut self, transfer: u64) -> Result<(), ScheduleError> {
        let refuse = |reason: String| Err(ScheduleError(format!("transfer {transfer}: {reason}")));
        let Some(open) = self.flows.transfers.get(&transfer) else {
            return refuse("is not known; it begins with its first flow".to_owned());
        };
        let count = open.flows.len();
        if count > 0 {
            return refuse(format!("has {count} flows under way; it can be closed when they have ended"));
        }
        self.flows.transfers.remove(&transfer);
        Ok(())
    }

    /// Decides all rates after the events of this instant. Returns the rates that have changed, by (transfer, flow).
    pub fn allocate(&mut self, now: Time) -> Result<&[RateChange], ScheduleError> {
        self.check_time(now)?;
        self.flows.advance(now);
        self.scheduler.allocate(&mut self.flows);
        self.apply_floor();
        self.changes.clear();
        let Flows { by_id, slots, .. } = &mut self.flows;
        for (id, slot) in by_id {
            let flow = slots[*slot as usize].as_mut().expect("a flow that is known has a slot");
            if flow.told != Some(flow.enforced) {
                flow.told = Some(flow.enforced);
                self.changes.push(RateChange { id: *id, rate_bps: flow.enforced });
            }
        }
        Ok(&self.changes)
    }

    /// Returns the time when [`Schedule::allocate`] must be called again if no flow arrives or ends before.
    pub fn next_change(&self) -> Option<Time> {
        self.scheduler.next_change(&self.flows)
    }

    fn apply_floor(&mut self) {
        let Some(most) = self.floor else {
            for flow in self.flows.slots.iter_mut().flatten() {
                flow.enforced = flow.rate;
            }
            return;
        };
        let mut users = vec![0_u64; self.reserve.len()];
        for flow in self.flows.slots.iter().flatten() {
            for link in &flow.path {
                users[*link as usize] += 1;
            }
        }
        for flow in self.flows.slots.iter_mut().flatten() {
            let share =
                flow.path.iter().map(|link| self.reserve[*link as usize] / users[*link as usize]).min();
            flow.enforced = flow.rate.max(share.unwrap_or(0).min(most));
        }
    }

    /// Returns the present or future place of a flow among the flows of its transfer.
    fn place_in_transfer(&self, id: FlowId) -> usize {
        let Some(transfer) = self.flows.transfers.get(&id.transfer) else { return 0 };
        transfer.flows.partition_point(|slot| self.flows.get(*slot).id.flow < id.flow)
    }

    fn check_time(&self, at: Time) -> Result<(), ScheduleError> {
        if at < self.flows.now {
            let now = self.flows.now;
            let reason = format!("an event at {at} comes too late: the schedule is at {now} already");
            return Err(ScheduleError(reason));
        }
        Ok(())
    }

    /// Returns the slot of a flow to which an event happens.
    fn find(&self, now: Time, id: FlowId) -> Result<u32, ScheduleError> {
        self.check_time(now)?;
        let reason = "is not under way; announce it before its end";
        self.flows.by_id.get(&id).copied().ok_or_else(|| ScheduleError::of_flow(id, reason))
    }
}

/// Returns the links of hosts around one non-blocking switch: host h sends over link 2 h and receives over link 2 h + 1.
pub fn star(hosts: u32, rate: DataRate) -> Result<Vec<DataRate>, ScheduleError> {
    if !(1..=MAX_HOSTS).contains(&hosts) {
        return Err(ScheduleError(format!("a star of {hosts} hosts; it must have 1 to {MAX_HOSTS}")));
    }
    Ok(vec![rate; 2 * hosts as usize])
}

/// Checks a flow against the limits of a schedule with `count` links.
pub(crate) fn check_flow(
    id: FlowId,
    volume_bits: u64,
    path: &[u32],
    count: usize,
) -> Result<(), ScheduleError> {
    let refuse = |reason: String| Err(ScheduleError::of_flow(id, reason));
    if volume_bits == 0 || volume_bits > MAX_VOLUME_BITS {
        return refuse(format!("a volume of {volume_bits} bits; it must be 1 to {MAX_VOLUME_BITS}"));
    }
    if path.is_empty() || path.len() > MAX_PATH {
        return refuse(format!("a path of {} links; it must have 1 to {MAX_PATH}", path.len()));
    }
    for (place, link) in path.iter().enumerate() {
        if *link as usize >= count {
            return refuse(format!("no link number {link}: there are {count}"));
        }
        if path[..place].contains(link) {
            return refuse(format!("crosses link {link} twice; a path has no loop"));
        }
    }
    Ok(())
}
