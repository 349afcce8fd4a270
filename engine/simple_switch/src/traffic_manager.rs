//! Queues and links: the packets that wait at each port, and the time for which the wire is busy.
//!
//! A port has one queue per priority. The highest priority with a packet is served first, unless queues of the port take turns
//! ([`RoundRobin`]). Each queue is first in, first out. A frame occupies the link for its bytes plus overhead at the link's rate;
//! the next frame leaves its queue when the last bit has left. A packet on the wire is not in the queue.
//!
//! Control frames, which the switch recognizes, wait in their own queues ([`MESSAGES`], [`MAC_CONTROL`]). These are
//! served before all others, without limit or pace, and no pause of a queue holds them.
//!
//! A queue may be paced, as by BMv2's `set_queue_rate`: packets of any size leave it at least the inverse of its rate apart. The
//! earliest departure of a packet is fixed when it arrives. Pacing is per queue, and applies in addition to the link's rate.
//!
//! This module does not know P4 and does not decide when a port is served: the switch calls [`TrafficManager::due`] and
//! keeps the agenda.

use std::collections::VecDeque;

use units::{Bytes, DataRate, Duration, Time};

use crate::config::{PortConfig, MAX_PRIORITIES, PORT_COUNT};
use crate::packet::{PacketId, QueuePosition};
use crate::round_robin::RoundRobin;
use crate::stats::PortStats;

/// The queue of congestion notification messages, in place of a priority.
pub(crate) const MESSAGES: usize = MAX_PRIORITIES;
/// The queue of MAC control frames, in place of a priority; it is served first.
pub(crate) const MAC_CONTROL: usize = MESSAGES + 1;

/// The link of an attached port.
#[derive(Clone, Copy, Debug)]
struct Link {
    rate: Option<DataRate>,
    overhead: Bytes,
}

#[derive(Debug)]
struct Waiting {
    packet: PacketId,
    bytes: u32,
    /// The earliest departure by the queue's pace. Never decreases within a queue.
    not_before: Time,
}

#[derive(Debug)]
struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    limit_packets: usize,
    /// Minimum time between two departures; zero without a rate.
    spacing: Duration,
    /// The earliest departure of the last packet that arrived since the queue was paced.
    last_paced: Option<Time>,
    next_sequence: u64,
    /// One more than the highest sequence number sent.
    sent_up_to: u64,
}

#[derive(Debug, Default)]
struct Port {
    link: Option<Link>,
    limit_bytes: u64,
    queues: Vec<Queue>,
    /// The queues of messages and of MAC control frames.
    control: [Queue; 2],
    /// The turns of queues with a quantum; `None`: all queues are strict.
    turns: Option<Box<RoundRobin>>,
    /// Whether one of the queues has, or had, a rate. If not, `not_before` need not be checked.
    is_paced: bool,
    packets: usize,
    bytes: u64,
    /// When a packet last arrived at an empty port.
    waiting_since: Time,
    busy_until: Time,
    /// Whether the port is in [`TrafficManager::changed`].
    is_changed: bool,
    stats: PortStats,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            limit_packets: usize::MAX,
            spacing: Duration::ZERO,
            last_paced: None,
            next_sequence: 0,
            sent_up_to: 0,
        }
    }
}

impl Port {
    /// Returns all queues, or the queue of one priority.
    fn chosen(&mut self, priority: Option<usize>) -> &mut [Queue] {
        match priority {
            Some(priority) => &mut self.queues[priority..=priority],
            None => &mut self.queues,
        }
    }

    /// Returns the queue of a priority, of messages or of MAC control frames.
    #[inline]
    fn queue(&self, priority: usize) -> &Queue {
        match priority.checked_sub(MESSAGES) {
            None => &self.queues[priority],
            Some(control) => &self.control[control],
        }
    }

    /// Returns [`Port::queue`] for changes.
    #[inline]
    fn queue_mut(&mut self, priority: usize) -> &mut Queue {
        match priority.checked_sub(MESSAGES) {
            None => &mut self.queues[priority],
            Some(control) => &mut self.control[control],
        }
    }

    #[inline]
    fn has_control(&self) -> bool {
        self.control.iter().any(|queue| !queue.waiting.is_empty())
    }
}

/// A packet taken from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dequeued {
    pub(crate) packet: PacketId,
    pub(crate) priority: usize,
    /// Packets left in its queue.
    pub(crate) depth: usize,
}

/// The queue is full; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// Queues and links of all ports. Every port number has queues, with or without a link: BMv2 runs egress for any port,
/// and drops packets without an interface only afterwards.
pub(crate) struct TrafficManager {
    ports: Vec<Port>,
    /// Limit in packets of the queues of ports that are attached without their own limit.
    default_limit_packets: usize,
    /// Ports whose queues have grown or shrunk since [`TrafficManager::poll_changed`] last returned them.
    changed: Vec<u16>,
}

impl TrafficManager {
    pub(crate) fn new(priorities: usize) -> Self {
        let port = || Port {
            limit_bytes: u64::MAX,
            queues: (0..priorities).map(|_| Queue::default()).collect(),
            ..Port::default()
        };
        // The last element counts for all nonexistent port numbers.
        Self {
            ports: (0..=PORT_COUNT).map(|_| port()).collect(),
            default_limit_packets: usize::MAX,
            changed: Vec::new(),
        }
    }

    /// Attaches a port or changes its link. Queued packets stay, a transmission in progress continues, and turns start anew.
    pub(crate) fn attach(&mut self, config: &PortConfig) {
        let limit_packets = config.queue_limit_packets.unwrap_or(self.default_limit_packets);
        let port = &mut self.ports[usize::from(config.port)];
        port.link = Some(Link { rate: config.rate, overhead: config.overhead });
        port.queues.iter_mut().for_each(|queue| queue.limit_packets = limit_packets);
        port.limit_bytes = config.queue_limit_bytes.map_or(u64::MAX, Bytes::get);
        port.turns = RoundRobin::new(&config.quanta).map(Box::new);
    }

    /// Returns all ports, or one.
    fn chosen(&mut self, port: Option<u16>) -> &mut [Port] {
        match port.map(usize::from) {
            Some(port) => &mut self.ports[port..=port],
            None => &mut self.ports,
        }
    }

    /// Sets the maximum number of packets in queues: of one priority or of all, of one port or of all. Given for all, it
    /// also holds for ports attached later without their own limit. Waiting packets stay.
    pub(crate) fn set_depth(&mut self, port: Option<u16>, priority: Option<usize>, packets: usize) {
        if (port, priority) == (None, None) {
            self.default_limit_packets = packets;
        }
        let queues = self.chosen(port).iter_mut().flat_map(|port| port.chosen(priority));
        queues.for_each(|queue| queue.limit_packets = packets);
    }

    /// Sets the pace of queues, chosen likewise; zero ends it. Packets that wait already keep their times.
    pub(crate) fn set_spacing(&mut self, port: Option<u16>, priority: Option<usize>, spacing: Duration) {
        for port in self.chosen(port) {
            port.is_paced |= !spacing.is_zero();
            port.chosen(priority).iter_mut().for_each(|queue| queue.spacing = spacing);
        }
    }

    pub(crate) fn detach(&mut self, port: u16) {
        self.port_mut(port).link = None;
    }

    pub(crate) fn is_attached(&self, port: u16) -> bool {
        self.port(port).link.is_some()
    }

    /// Returns the counts of a port. All nonexistent port numbers share one set.
    pub(crate) fn stats(&self, port: u16) -> &PortStats {
        &self.port(port).stats
    }

    pub(crate) fn stats_mut(&mut self, port: u16) -> &mut PortStats {
        &mut self.port_mut(port).stats
    }

    /// Returns the counts of every port, and the set that nonexistent port numbers share.
    pub(crate) fn all_stats(&self) -> impl Iterator<Item = &PortStats> {
        self.ports.iter().map(|port| &port.stats)
    }

    pub(crate) fn queue_bytes(&self, port: u16) -> Bytes {
        Bytes::new(self.port(port).bytes)
    }

    pub(crate) fn queue_packets(&self, port: u16) -> usize {
        self.port(port).packets
    }

    /// Returns a port whose queues have grown or shrunk since it was last returned.
    #[inline]
    pub(crate) fn poll_changed(&mut self) -> Option<u16> {
        let port = self.changed.pop()?;
        self.port_mut(port).is_changed = false;
        Some(port)
    }

    fn note_change(&mut self, port: u16) {
        if !std::mem::replace(&mut self.port_mut(port).is_changed, true) {
            self.changed.push(port);
        }
    }

    /// Returns the number of packets in one queue.
    #[inline]
    pub(crate) fn depth(&self, port: u16, priority: usize) -> usize {
        self.port(port).queue(priority).waiting.len()
    }

    /// Returns the next sequence number of a queue, for a packet that enters it for the first time.
    #[inline]
    pub(crate) fn next_position(&mut self, port: u16, priority: usize) -> QueuePosition {
        let queue = self.port_mut(port).queue_mut(priority);
        let sequence = queue.next_sequence;
        queue.next_sequence += 1;
        QueuePosition { port, queue: priority as u8, sequence }
    }

    /// Appends a packet of `bytes` bytes to a queue.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        port: u16,
        priority: usize,
        packet: PacketId,
        bytes: u32,
        now: Time,
    ) -> Result<(), QueueFull> {
        let number = port;
        let port = self.port_mut(port);
        let (limit_bytes, is_paced) = (port.limit_bytes, port.is_paced);
        let is_data = priority < MESSAGES;
        let queue = port.queue_mut(priority);
        let queue_bytes = queue.bytes + u64::from(bytes);
        if is_data && (queue.waiting.len() >= queue.limit_packets || queue_bytes > limit_bytes) {
            return Err(QueueFull);
        }
        let mut not_before = Time::ZERO;
        if is_data && is_paced {
            let next = queue.last_paced.map_or(now, |last| last.saturating_add(queue.spacing));
            not_before = now.max(next);
            queue.last_paced = Some(not_before);
        }
        queue.waiting.push_back(Waiting { packet, bytes, not_before });
        queue.bytes = queue_bytes;
        if port.packets == 0 {
            port.waiting_since = now;
        }
        port.packets += 1;
        port.bytes += u64::from(bytes);
        port.stats.max_queue_packets = port.stats.max_queue_packets.max(port.packets as u64);
        port.stats.max_queue_bytes = port.stats.max_queue_bytes.max(port.bytes);
        self.note_change(number);
        Ok(())
    }

    /// Returns when the port must be served next: not before `now`, its `gate`, the end of the transmission in progress, and the time at
    /// which the pace and the gate of a queue let its first packet leave. `None` if no packet waits or no gate ever opens.
    ///
    /// `class_gate` gives the time at which the gate of a queue opens; `None`: queues have no gates.
    #[inline]
    pub(crate) fn due(
        &self,
        port: u16,
        now: Time,
        gate: Time,
        class_gate: Option<impl Fn(usize) -> Time>,
    ) -> Option<Time> {
        let port = self.port(port);
        if port.packets == 0 || gate == Time::MAX {
            return None;
        }
        let due = now.max(port.busy_until).max(gate);
        if !port.is_paced && class_gate.is_none() {
            return Some(due);
        }
        if port.has_control() {
            return Some(due);
        }
        let of_queue = |(priority, queue): (usize, &Queue)| {
            let first = queue.waiting.front()?.not_before;
            let opens = class_gate.as_ref().map_or(Time::ZERO, |gate| gate(priority));
            (opens != Time::MAX).then(|| first.max(opens))
        };
        let first = port.queues.iter().enumerate().filter_map(of_queue).min();
        first.map(|first| due.max(first))
    }

    /// Returns since when a packet has waited and the wire has been free, regardless of paused queues.
    pub(crate) fn ready_since(&self, port: u16) -> Time {
        let port = self.port(port);
        port.waiting_since.max(port.busy_until)
    }

    /// Returns when the wire becomes free.
    pub(crate) fn wire_free(&self, port: u16) -> Time {
        self.port(port).busy_until
    }

    /// Takes the packet whose turn it is at `now`. For `class_gate` see [`TrafficManager::due`].
    #[inline]
    pub(crate) fn dequeue(
        &mut self,
        port: u16,
        now: Time,
        class_gate: Option<impl Fn(usize) -> Time>,
    ) -> Option<Dequeued> {
        let number = port;
        let port = self.port_mut(port);
        let is_ready = |priority: usize, queue: &Queue| {
            queue.waiting.front().is_some_and(|first| first.not_before <= now)
                && class_gate.as_ref().is_none_or(|gate| gate(priority) <= now)
        };
        let has_control = port.has_control();
        let (priority, queue) = match &mut port.turns {
            _ if has_control => {
                let mut queues = port.control.iter_mut().enumerate();
                let (control, queue) = queues.rfind(|(_, queue)| !queue.waiting.is_empty())?;
                (MESSAGES + control, queue)
            }
            None => {
                let mut queues = port.queues.iter_mut().enumerate().rev();
                queues.find(|(priority, queue)| is_ready(*priority, queue))?
            }
            Some(turns) => {
                let first = |priority: usize| {
                    let queue = port.queues.get(priority).filter(|queue| is_ready(priority, queue))?;
                    queue.waiting.front().map(|first| first.bytes)
                };
                let priority = turns.next(first)?;
                (priority, &mut port.queues[priority])
            }
        };
        let Waiting { packet, bytes, .. } = queue.waiting.pop_front()?;
        queue.bytes -= u64::from(bytes);
        port.packets -= 1;
        port.bytes -= u64::from(bytes);
        let depth = queue.waiting.len();
        if let Some(turns) = port.turns.as_mut().filter(|_| depth == 0 && priority < MESSAGES) {
            turns.emptied(priority);
        }
        self.note_change(number);
        Some(Dequeued { packet, priority, depth })
    }

    /// Puts a frame of `bytes` bytes on the wire at `now`. Returns how long the wire is busy with it.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        port: u16,
        now: Time,
        bytes: usize,
        first: Option<QueuePosition>,
    ) -> Duration {
        let number = port;
        let port = self.port_mut(port);
        let bytes = bytes as u64;
        let wire_time = port.link.map_or(Duration::ZERO, |link| {
            link.rate.map_or(Duration::ZERO, |rate| rate.transmit_time(Bytes::new(bytes) + link.overhead))
        });
        port.busy_until = now.saturating_add(wire_time);
        port.stats.tx_packets += 1;
        port.stats.tx_bytes += bytes;
        if let Some(first) = first.filter(|first| first.port == number) {
            let queue = port.queue_mut(usize::from(first.queue));
            if first.sequence < queue.sent_up_to {
                port.stats.reordered += 1;
            } else {
                queue.sent_up_to = first.sequence + 1;
            }
        }
        wire_time
    }

    fn port(&self, port: u16) -> &Port {
        &self.ports[usize::from(port).min(PORT_COUNT)]
    }

    fn port_mut(&mut self, port: u16) -> &mut Port {
        &mut self.ports[usize::from(port).min(PORT_COUNT)]
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;
    use crate::config::{Quanta, MAX_PRIORITIES};

    const NO_CLASS_GATE: Option<fn(usize) -> Time> = None;

    const OPEN: Time = Time::ZERO;
    const NOW: Time = Time::ZERO;

    fn at_rate(rate: &str) -> TrafficManager {
        let mut tm = TrafficManager::new(2);
        tm.attach(&PortConfig::ethernet(1, rate.parse().unwrap()));
        tm
    }

    #[test]
    fn an_idle_port_has_been_ready_since_its_first_packet_came() {
        let mut tm = at_rate("1Gbps");
        tm.enqueue(1, 0, 7, 1476, NOW).unwrap();
        tm.dequeue(1, NOW, NO_CLASS_GATE).unwrap();
        assert_eq!(tm.transmit(1, NOW, 1476, None), Duration::from_us(12));
        let later = [20, 21].map(|us| NOW + Duration::from_us(us));
        for at in later {
            tm.enqueue(1, 0, 9, 100, at).unwrap();
        }
        assert_eq!(tm.ready_since(1), later[0]);
    }

    #[test]
    fn control_frames_leave_before_every_queue_whatever_is_full_paused_or_has_its_turn() {
        let mut tm = TrafficManager::new(2);
        let mut quanta = Quanta::default();
        quanta[1] = NonZeroU32::new(100);
        let limit = Some(1);
        tm.attach(&PortConfig { quanta, queue_limit_packets: limit, ..PortConfig::unlimited(1) });
        for (packet, queue) in [(1, 1), (2, MESSAGES), (3, MAC_CONTROL), (4, MESSAGES), (5, MAC_CONTROL)] {
            tm.enqueue(1, queue, packet, 100, NOW).unwrap();
        }
        let paused = Some(|_: usize| Time::MAX);
        let mut left = Vec::new();
        while tm.due(1, NOW, OPEN, paused).is_some() {
            left.extend(tm.dequeue(1, NOW, paused).map(|dequeued| dequeued.packet));
        }
        assert_eq!(left, [3, 5, 2, 4]);
        assert_eq!(tm.dequeue(1, NOW, NO_CLASS_GATE).map(|dequeued| dequeued.packet), Some(1));
    }

    #[test]
    fn limits_of_packets_and_bytes_are_exact_and_per_queue() {
        let mut tm = TrafficManager::new(2);
        tm.attach(&PortConfig {
            queue_limit_packets: Some(3),
            queue_limit_bytes: Some(Bytes::new(250)),
            ..PortConfig::unlimited(1)
        });
        assert_eq!(tm.enqueue(1, 0, 1, 100, NOW), Ok(()));
        assert_eq!(tm.enqueue(1, 0, 2, 151, NOW), Err(QueueFull));
        assert_eq!(tm.enqueue(1, 0, 2, 150, NOW), Ok(()));
        assert_eq!(tm.enqueue(1, 0, 3, 1, NOW), Err(QueueFull));
        assert_eq!(tm.enqueue(1, 0, 3, 0, NOW), Ok(()));
        assert_eq!(tm.enqueue(1, 0, 4, 0, NOW), Err(QueueFull));
        assert_eq!(tm.enqueue(1, 1, 4, 250, NOW), Ok(()));
        assert_eq!((tm.queue_bytes(1), tm.queue_packets(1)), (Bytes::new(500), 4));
        assert_eq!((tm.stats(1).max_queue_bytes, tm.stats(1).max_queue_packets), (500, 4));
    }

    #[test]
    fn a_depth_is_set_for_one_queue_for_a_port_and_for_ports_to_come() {
        let mut tm = TrafficManager::new(2);
        tm.set_depth(None, None, 2);
        [1, 2].iter().for_each(|port| tm.attach(&PortConfig::unlimited(*port)));
        tm.set_depth(Some(1), Some(1), 1);
        let room = |tm: &mut TrafficManager, port, priority| {
            (0..9).take_while(|packet| tm.enqueue(port, priority, *packet, 10, NOW).is_ok()).count()
        };
        assert_eq!((room(&mut tm, 1, 0), room(&mut tm, 1, 1)), (2, 1));
        tm.set_depth(Some(1), None, 0);
        assert_eq!((room(&mut tm, 1, 0), tm.queue_packets(1)), (0, 3));
        tm.set_depth(Some(1), None, 4);
        assert_eq!((room(&mut tm, 1, 0), room(&mut tm, 1, 1)), (2, 3));
        assert_eq!(room(&mut tm, 2, 0), 2, "the other port keeps its depth");
        tm.set_depth(None, Some(1), 7);
        tm.attach(&PortConfig::unlimited(3));
        // One priority of all ports is not the default of those to come.
        assert_eq!((room(&mut tm, 2, 1), room(&mut tm, 3, 0)), (7, 2));
    }

    #[test]
    fn packets_of_a_paced_queue_leave_no_closer_than_its_rate_and_an_idle_one_sends_at_once() {
        let mut tm = TrafficManager::new(1);
        let ms = |count: u64| Time::ZERO + Duration::from_us(1000 * count);
        tm.set_spacing(Some(1), None, Duration::from_us(1000));
        for packet in 0..3 {
            tm.enqueue(1, 0, packet, 10, ms(10)).unwrap();
        }
        tm.set_spacing(Some(1), None, Duration::ZERO);
        tm.enqueue(1, 0, 3, 10, ms(10)).unwrap();
        let mut left = Vec::new();
        let mut now = ms(10);
        while let Some(due) = tm.due(1, now, OPEN, NO_CLASS_GATE) {
            now = due;
            left.push((now, tm.dequeue(1, now, NO_CLASS_GATE).unwrap().packet));
        }
        assert_eq!(left, [(ms(10), 0), (ms(11), 1), (ms(12), 2), (ms(12), 3)]);
        tm.enqueue(1, 0, 4, 10, ms(13)).unwrap();
        assert_eq!(tm.due(1, ms(13), OPEN, NO_CLASS_GATE), Some(ms(13)));
    }

    #[test]
    fn a_paced_high_priority_lets_the_low_one_go_while_it_waits() {
        let mut tm = TrafficManager::new(2);
        tm.set_spacing(Some(1), Some(1), Duration::from_us(10));
        for packet in 0..4 {
            tm.enqueue(1, packet as usize % 2, packet, 10, NOW).unwrap();
        }
        let mut left = Vec::new();
        let mut now = NOW;
        while let Some(due) = tm.due(1, now, OPEN, NO_CLASS_GATE) {
            now = due;
            left.push((now.as_ps(), tm.dequeue(1, now, NO_CLASS_GATE).unwrap().packet));
        }
        assert_eq!(left, [(0, 1), (0, 0), (0, 2), (10_000_000, 3)]);
    }

    #[test]
    fn a_port_is_named_once_for_all_changes_since_it_was_named_last() {
        let mut tm = TrafficManager::new(1);
        tm.enqueue(3, 0, 7, 10, NOW).unwrap();
        tm.enqueue(3, 0, 8, 10, NOW).unwrap();
        assert_eq!((tm.poll_changed(), tm.poll_changed()), (Some(3), None));
        tm.dequeue(3, NOW, NO_CLASS_GATE).unwrap();
        assert_eq!((tm.poll_changed(), tm.poll_changed()), (Some(3), None));
    }

    #[test]
    fn a_frame_sent_after_one_that_was_queued_later_counts_as_reordered() {
        let mut tm = at_rate("1Gbps");
        let positions: Vec<_> = (0..3).map(|_| tm.next_position(1, 0)).collect();
        for index in [1, 0, 2] {
            tm.transmit(1, Time::ZERO, 10, Some(positions[index]));
        }
        assert_eq!(tm.stats(1).reordered, 1);
    }

    /// Returns a manager of 8 queues a port, some of which have a quantum.
    fn with_quanta(of: &[(usize, u32)], port: PortConfig) -> TrafficManager {
        let mut quanta = Quanta::default();
        of.iter().for_each(|(priority, bytes)| quanta[*priority] = NonZeroU32::new(*bytes));
        let mut tm = TrafficManager::new(MAX_PRIORITIES);
        tm.attach(&PortConfig { quanta, ..port });
        tm
    }

    #[test]
    fn a_queue_whose_gate_closes_in_its_turn_loses_the_rest_of_it() {
        let mut tm = with_quanta(&[(1, 1_000), (0, 100)], PortConfig::unlimited(1));
        for packet in 0..60 {
            tm.enqueue(1, usize::from(packet < 30), packet, 100, NOW).unwrap();
        }
        let mut turn = |closed: usize| {
            let gate = |priority| if priority == closed { Time::from_ps(1) } else { Time::ZERO };
            tm.dequeue(1, NOW, Some(gate)).unwrap().priority
        };
        // Nine of ten frames are left of the first turn when its gate closes; the next one is of ten again.
        assert_eq!([9, 1, 1].map(&mut turn), [1, 0, 0]);
        assert_eq!([9; 12].map(&mut turn), [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
    }

    #[test]
    fn a_queue_that_has_run_empty_in_its_turn_waits_for_the_next_one() {
        let mut tm = with_quanta(&[(1, 1_000), (0, 100)], PortConfig::unlimited(1));
        let add = |tm: &mut TrafficManager, priority| tm.enqueue(1, priority, 7, 100, NOW).unwrap();
        [1, 0, 0].iter().for_each(|priority| add(&mut tm, *priority));
        let mut next = |come: Option<usize>| {
            let left = tm.dequeue(1, NOW, NO_CLASS_GATE).unwrap().priority;
            come.into_iter().for_each(|priority| add(&mut tm, priority));
            left
        };
        assert_eq!([Some(1), None, Some(1), None].map(&mut next), [1, 0, 1, 0]);
    }

    fn quanta() -> impl Strategy<Value = Vec<(usize, u32)>> {
        let one = prop_oneof![1..100_u32, 100..10_000_u32, 10_000..100_000_u32];
        prop::collection::btree_map(0..MAX_PRIORITIES, one, 1..MAX_PRIORITIES)
            .prop_map(|of| of.into_iter().collect())
    }

    const LONGEST: u64 = 1_514;

    proptest! {
        /// Checks Shreedhar and Varghese's lemma 2 and theorem 3, from the beginning to any time.
        #[test]
        fn bytes_of_queues_that_always_wait_are_in_the_ratio_of_their_quanta(
            of in quanta(),
            mut lengths in prop::collection::vec(1..=LONGEST as u32, 1..50),
            count in 1..2_000_usize,
        ) {
            let mut tm = with_quanta(&of, PortConfig::unlimited(1));
            let mut add = |tm: &mut TrafficManager, priority| {
                let bytes = lengths[0];
                lengths.rotate_left(1);
                tm.enqueue(1, priority, bytes, bytes, NOW).unwrap();
            };
            for (priority, _) in &of {
                (0..2).for_each(|_| add(&mut tm, *priority));
            }
            let mut sent = [0_u64; MAX_PRIORITIES];
            for _ in 0..count {
                let Dequeued { packet: bytes, priority, .. } = tm.dequeue(1, NOW, NO_CLASS_GATE).unwrap();
                sent[priority] += u64::from(bytes);
                add(&mut tm, priority);
                for (a, b) in of.iter().flat_map(|a| of.iter().map(move |b| (*a, *b))) {
                    let (quantum_a, quantum_b) = (u64::from(a.1), u64::from(b.1));
                    // In rounds: one is ahead by its turn, and the other has kept less than a frame.
                    let most = quantum_a * quantum_b + LONGEST * quantum_a;
                    prop_assert!(sent[a.0] * quantum_b <= sent[b.0] * quantum_a + most, "{:?} {:?} {:?}", a, b, sent);
                }
            }
        }

        /// Checks that a packet leaves whenever one may, the first of its queue, and that a strict queue above all turns goes
        /// first.
        #[test]
        fn with_turns_a_port_is_never_idle_and_each_queue_keeps_its_order(
            of in quanta(),
            steps in prop::collection::vec((any::<bool>(), 0..MAX_PRIORITIES, 0..3_000_u32, any::<u8>()), 1..300),
        ) {
            let mut tm = with_quanta(&of, PortConfig::unlimited(1));
            let mut waiting = vec![VecDeque::new(); MAX_PRIORITIES];
            let highest = of.iter().map(|(priority, _)| *priority).max().unwrap();
            for (packet, (is_arrival, priority, bytes, closed)) in steps.into_iter().enumerate() {
                if is_arrival {
                    tm.enqueue(1, priority, packet as PacketId, bytes, NOW).unwrap();
                    waiting[priority].push_back(packet as PacketId);
                    continue;
                }
                let gate = |priority: usize| if closed >> priority & 1 == 1 { Time::MAX } else { Time::ZERO };
                let may_leave = |priority: &usize| closed >> priority & 1 == 0 && !waiting[*priority].is_empty();
                let any = (0..MAX_PRIORITIES).any(|priority| may_leave(&priority));
                let strict = (highest + 1..MAX_PRIORITIES).rev().find(may_leave);
                let left = tm.dequeue(1, NOW, Some(gate));
                prop_assert_eq!(left.is_some(), any);
                let Some(Dequeued { packet, priority, depth }) = left else { continue };
                prop_assert!(closed >> priority & 1 == 0);
                prop_assert!(strict.is_none_or(|strict| strict == priority));
                prop_assert_eq!(Some(packet), waiting[priority].pop_front());
                prop_assert_eq!(depth, waiting[priority].len());
            }
        }
    }
}
