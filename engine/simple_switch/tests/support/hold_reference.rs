//! The EEE hold of one port by the rules of docs/models/eee_hold.md: the effect of an admitted packet and of a departing one. Not
//! a test, and not derived from the P4 program: plain integers that never wrap, a queue that is a list.
//!
//! Tick 0 is when the wire became idle. The caller decides when packets leave; the reference gives the earliest time.

use std::collections::VecDeque;

pub use crate::support::eeon::Eee as Settings;

/// One packet: when it is admitted, its frame bytes, its ticks on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub at: u64,
    pub bytes: u64,
    pub wire: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Active,
    Hold,
    Wake,
}

/// The current sleep, or the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// *a*: the end of the sleep transition.
    pub asleep: u64,
    pub wake_start: u64,
    pub gate: u64,
}

/// A port, its link and its queue.
#[derive(Clone, Debug, Default)]
pub struct Port {
    settings: Settings,
    pub state: State,
    pub busy_until: u64,
    pub sleep: Option<Sleep>,
    pub held_packets: u64,
    pub held_bytes: u64,
    pub lpi: u64,
    pub wakes: u64,
    pub queue: VecDeque<Packet>,
    /// The neighbour's pause: nothing leaves before its end, and nothing else changes.
    pub paused_until: u64,
}

impl Port {
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Returns the tick before which nothing may leave, while there is a gate.
    pub fn gate(&self) -> Option<u64> {
        self.sleep.filter(|_| self.state != State::Active).map(|sleep| sleep.gate)
    }

    /// Returns when the first of the queue may leave: it is present, the wire is free, the gate is open, and no pause is active.
    pub fn next_departure(&self) -> Option<u64> {
        (!self.queue.is_empty()).then(|| self.unpaused_departure().max(self.paused_until))
    }

    /// Returns when it might leave without pauses.
    ///
    /// # Panics
    /// If the queue is empty.
    pub fn unpaused_departure(&self) -> u64 {
        self.queue[0].at.max(self.busy_until).max(self.gate().unwrap_or(0))
    }

    pub fn admit(&mut self, packet: Packet) {
        let Settings { sleep, wake, stall, hold, .. } = self.settings;
        let t = packet.at;
        match self.state {
            State::Active if self.queue.is_empty() && t >= self.busy_until + stall => {
                let a = self.busy_until + stall + sleep;
                let coalesces = hold != 0 && !self.is_trigger(1, packet.bytes);
                let wake_start = if coalesces { a.max(t + hold) } else { a.max(t) };
                self.sleep = Some(Sleep { asleep: a, wake_start, gate: wake_start + wake });
                self.state = if coalesces { State::Hold } else { State::Wake };
                if coalesces {
                    (self.held_packets, self.held_bytes) = (1, packet.bytes);
                }
            }
            State::Active | State::Wake => {}
            State::Hold => {
                self.held_packets += 1;
                self.held_bytes += packet.bytes;
                if self.is_trigger(self.held_packets, self.held_bytes) {
                    self.state = State::Wake;
                    let going_on = self.sleep.as_mut().expect("a port that holds sleeps");
                    going_on.wake_start = going_on.wake_start.min(t.max(going_on.asleep));
                    going_on.gate = going_on.wake_start + wake;
                }
            }
        }
        self.queue.push_back(packet);
    }

    /// Sends the first packet of the queue at `t`, which is not before [`Port::next_departure`].
    pub fn depart(&mut self, t: u64) {
        let packet = self.queue.pop_front().expect("a packet that leaves was queued");
        if self.state != State::Active {
            let over = self.sleep.expect("a port that holds or wakes slept");
            self.lpi += over.wake_start - over.asleep;
            self.wakes += 1;
            self.state = State::Active;
            (self.held_packets, self.held_bytes) = (0, 0);
        }
        self.busy_until = self.busy_until.max(t) + packet.wire;
    }

    fn is_trigger(&self, packets: u64, bytes: u64) -> bool {
        let Settings { trigger_packets, trigger_bytes, .. } = self.settings;
        (trigger_packets != 0 && packets >= trigger_packets) || (trigger_bytes != 0 && bytes >= trigger_bytes)
    }
}

/// The ticks up to the end of the last packet, by state, as observed from outside: from arrivals and departures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub sleeps: u64,
    /// Negative if a link was woken before it was asleep.
    pub low_power: i64,
    pub transition: i64,
    /// Sending, or awake and idle.
    pub active: i64,
    pub elapsed: i64,
}

/// Returns what an observer concludes from `departures`, if the first packet after each sleep leaves at the end of the wake.
pub fn account(settings: Settings, packets: &[Packet], departures: &[u64]) -> Account {
    let signed = |ticks: u64| i64::try_from(ticks).expect("shorter than 2^63 ticks");
    let mut seen = Account::default();
    let mut idle_since = 0;
    for (packet, departure) in packets.iter().zip(departures) {
        if packet.at >= idle_since + settings.stall {
            seen.sleeps += 1;
            seen.low_power +=
                signed(departure - settings.wake) - signed(idle_since + settings.stall + settings.sleep);
            seen.transition += signed(settings.sleep + settings.wake);
            seen.active += signed(settings.stall + packet.wire);
        } else {
            seen.active += signed(departure - idle_since + packet.wire);
        }
        idle_since = departure + packet.wire;
    }
    seen.elapsed = signed(idle_since);
    seen
}

/// Returns the maximum wait of packet `k`: hold, the rest of the sleep transition, the wake, and the bytes ahead of it;
/// only the bytes ahead if the link is awake.
pub fn longest_wait(settings: Settings, packets: &[Packet], departures: &[u64], k: usize) -> u64 {
    let Settings { sleep, wake, stall, hold, .. } = settings;
    let t = packets[k].at;
    let ends = |i: usize| departures[i] + packets[i].wire;
    let ahead = (0..k).map(|i| ends(i).saturating_sub(t).min(packets[i].wire)).sum::<u64>();
    let sleeps_at = (0..k).rev().find(|i| departures[*i] <= t).map_or(0, ends) + stall;
    if t < sleeps_at {
        return ahead;
    }
    hold + (sleeps_at + sleep).saturating_sub(t) + wake + ahead
}
