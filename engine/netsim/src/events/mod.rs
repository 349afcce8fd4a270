//! The events of a fabric, and the queue of due events.

mod schedule;

use units::Time;

use schedule::{Schedule, Source};

/// What can happen by itself. A fabric has a fixed set of events, and each is due at one time at most: a NIC sends one
/// frame at a time, a link delivers its frames in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The NIC of this host sends its next frame.
    NicSends(usize),
    /// The link of this host delivers its next frame to the switch.
    UplinkDelivers(usize),
    /// This wire, a direction of a link that leaves a switch, delivers its next frame.
    WireDelivers(usize),
    /// This switch has an event of its own.
    SwitchWakes(usize),
    /// A flow starts, or the timer of a TCP connection expires.
    TransportTimer,
    /// The timer of an application expires.
    WorkloadTimer,
    /// The scheduler of flows receives a report, or rates that it has decided reach hosts.
    SchedulerTimer,
    /// A link fails or comes back.
    LinksChange,
}

/// The number of each event in the schedule: all NICs, all uplinks, all wires, all switches, then the timers.
struct Numbers {
    first_uplink: usize,
    first_wire: usize,
    first_switch: usize,
    first_timer: usize,
    /// Events by number.
    events: Vec<Event>,
}

impl Numbers {
    fn new(hosts: usize, wires: usize, switches: usize) -> Self {
        use Event::{LinksChange, SchedulerTimer, TransportTimer, WorkloadTimer};
        let events = (0..hosts).map(Event::NicSends).chain((0..hosts).map(Event::UplinkDelivers));
        let events = events.chain((0..wires).map(Event::WireDelivers));
        let events = events.chain((0..switches).map(Event::SwitchWakes));
        let (first_wire, first_switch) = (2 * hosts, 2 * hosts + wires);
        Self {
            first_uplink: hosts,
            first_wire,
            first_switch,
            first_timer: first_switch + switches,
            events: events.chain([TransportTimer, WorkloadTimer, SchedulerTimer, LinksChange]).collect(),
        }
    }

    #[inline]
    fn source(&self, event: Event) -> Source {
        let number = match event {
            Event::NicSends(host) => host,
            Event::UplinkDelivers(host) => self.first_uplink + host,
            Event::WireDelivers(wire) => self.first_wire + wire,
            Event::SwitchWakes(switch) => self.first_switch + switch,
            Event::TransportTimer => self.first_timer,
            Event::WorkloadTimer => self.first_timer + 1,
            Event::SchedulerTimer => self.first_timer + 2,
            Event::LinksChange => self.first_timer + 3,
        };
        Source(number as u32)
    }
}

/// The clock of a fabric, and its due events, in order of (time, sequence).
pub(crate) struct EventQueue {
    now: Time,
    schedule: Schedule,
    numbers: Numbers,
}

impl EventQueue {
    /// Creates a queue at time zero, with nothing due.
    pub(crate) fn new(hosts: usize, wires: usize, switches: usize) -> Self {
        let numbers = Numbers::new(hosts, wires, switches);
        Self { now: Time::ZERO, schedule: Schedule::new(numbers.events.len()), numbers }
    }

    /// Returns the current time; everything before it has happened.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Moves the clock forward to `time`. An earlier time changes nothing: a control write can make something due in the past.
    #[inline]
    pub(crate) fn advance(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Returns the first due event and its time.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, Event)> {
        let (time, source) = self.schedule.peek()?;
        Some((time, self.numbers.events[source.0 as usize]))
    }

    /// Returns the number of due events.
    pub(crate) fn len(&self) -> usize {
        self.schedule.len()
    }

    /// Makes the event due at `time`, or not at all, whatever it was before. An event that was already due at `time`
    /// keeps its turn among those due at that time.
    #[inline(always)]
    pub(crate) fn set(&mut self, event: Event, time: Option<Time>) {
        self.schedule.set_or_clear(self.numbers.source(event), time);
    }

    /// Makes the event due at `time`, whatever it was before.
    #[inline(always)]
    pub(crate) fn set_due(&mut self, event: Event, time: Time) {
        self.schedule.set(self.numbers.source(event), time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_number_of_its_own_and_is_found_by_it() {
        for numbers in [Numbers::new(2, 3, 1), Numbers::new(0, 2, 1)] {
            for (number, event) in (0..).zip(&numbers.events) {
                assert_eq!(numbers.source(*event), Source(number));
            }
        }
        assert_eq!(Numbers::new(2, 3, 1).events.len(), 2 * 2 + 3 + 1 + 4);
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let mut events = EventQueue::new(1, 0, 0);
        events.advance(Time::from_ps(5));
        events.advance(Time::from_ps(3));
        assert_eq!(events.now(), Time::from_ps(5));
    }
}
