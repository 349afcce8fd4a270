//! Queues and links: what waits at each port, and how long the wire is busy.
//!
//! A port has one queue per priority; the highest priority that has a packet is served first, first come first
//! served within it. A frame occupies the link for its bytes plus overhead at the link's rate, and the next one
//! leaves its queue when the last bit has left. A packet on the wire is not in the queue.
//!
//! Nothing here knows P4 or decides when a port is served: the switch asks [`TrafficManager::due`] and keeps
//! the agenda.

use std::collections::VecDeque;

use units::{Bytes, DataRate, Duration, Time};

use crate::config::{PortConfig, PORT_COUNT};
use crate::packet::{FirstPlace, PacketId};
use crate::stats::PortStats;

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
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    next_sequence: u64,
    /// One more than the highest sequence number sent.
    sent_up_to: u64,
}

#[derive(Debug)]
struct Port {
    link: Option<Link>,
    limit_packets: usize,
    limit_bytes: u64,
    queues: Vec<Queue>,
    packets: usize,
    bytes: u64,
    busy_until: Time,
    /// Whether it stands in [`TrafficManager::changed`].
    is_changed: bool,
    stats: PortStats,
}

/// A packet taken from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dequeued {
    pub(crate) packet: PacketId,
    pub(crate) priority: usize,
    /// Packets that its queue still holds.
    pub(crate) depth: usize,
}

/// The queue had no room; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// Queues and links of all ports. Every port number has queues, whether or not a link is attached: BMv2 runs
/// egress for any port, and drops what no interface takes only afterwards.
pub(crate) struct TrafficManager {
    ports: Vec<Port>,
    /// Ports whose queues have grown or shrunk since [`TrafficManager::poll_changed`] last named them.
    changed: Vec<u16>,
}

impl TrafficManager {
    pub(crate) fn new(priorities: usize) -> Self {
        let port = || Port {
            link: None,
            limit_packets: usize::MAX,
            limit_bytes: u64::MAX,
            queues: (0..priorities).map(|_| Queue::default()).collect(),
            packets: 0,
            bytes: 0,
            busy_until: Time::ZERO,
            is_changed: false,
            stats: PortStats::default(),
        };
        // The last place keeps the books of port numbers that do not exist.
        Self { ports: (0..=PORT_COUNT).map(|_| port()).collect(), changed: Vec::new() }
    }

    /// Attaches a port or changes its link. What is queued stays, as does a transmission under way.
    pub(crate) fn attach(&mut self, config: &PortConfig) {
        let port = &mut self.ports[usize::from(config.port)];
        port.link = Some(Link { rate: config.rate, overhead: config.overhead });
        port.limit_packets = config.queue_limit_packets.unwrap_or(usize::MAX);
        port.limit_bytes = config.queue_limit_bytes.map_or(u64::MAX, Bytes::get);
    }

    pub(crate) fn detach(&mut self, port: u16) {
        self.port_mut(port).link = None;
    }

    pub(crate) fn is_attached(&self, port: u16) -> bool {
        self.port(port).link.is_some()
    }

    /// Counts of a port; those of all numbers that do not exist are one.
    pub(crate) fn stats(&self, port: u16) -> &PortStats {
        &self.port(port).stats
    }

    pub(crate) fn stats_mut(&mut self, port: u16) -> &mut PortStats {
        &mut self.port_mut(port).stats
    }

    /// Counts of every port, and of the numbers that do not exist.
    pub(crate) fn all_stats(&self) -> impl Iterator<Item = &PortStats> {
        self.ports.iter().map(|port| &port.stats)
    }

    pub(crate) fn queue_bytes(&self, port: u16) -> Bytes {
        Bytes::new(self.port(port).bytes)
    }

    pub(crate) fn queue_packets(&self, port: u16) -> usize {
        self.port(port).packets
    }

    /// A port whose queues have grown or shrunk since it was last named here.
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

    /// Packets in one queue.
    #[inline]
    pub(crate) fn depth(&self, port: u16, priority: usize) -> usize {
        self.port(port).queues[priority].waiting.len()
    }

    /// The next sequence number of a queue, for a packet that comes to it for the first time.
    #[inline]
    pub(crate) fn first_place(&mut self, port: u16, priority: usize) -> FirstPlace {
        let queue = &mut self.port_mut(port).queues[priority];
        let sequence = queue.next_sequence;
        queue.next_sequence += 1;
        FirstPlace { port, priority: priority as u8, sequence }
    }

    /// Puts a packet of `bytes` bytes at the end of a queue.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        port: u16,
        priority: usize,
        packet: PacketId,
        bytes: u32,
    ) -> Result<(), QueueFull> {
        let number = port;
        let port = self.port_mut(port);
        let queue = &mut port.queues[priority];
        let queue_bytes = queue.bytes + u64::from(bytes);
        if queue.waiting.len() >= port.limit_packets || queue_bytes > port.limit_bytes {
            return Err(QueueFull);
        }
        queue.waiting.push_back(Waiting { packet, bytes });
        queue.bytes = queue_bytes;
        port.packets += 1;
        port.bytes += u64::from(bytes);
        port.stats.max_queue_packets = port.stats.max_queue_packets.max(port.packets as u64);
        port.stats.max_queue_bytes = port.stats.max_queue_bytes.max(port.bytes);
        self.note_change(number);
        Ok(())
    }

    /// When the port is to be served next, given when its gate opens: not before `now`, nor before the wire is
    /// free. `None` when nothing waits or the gate never opens.
    #[inline]
    pub(crate) fn due(&self, port: u16, now: Time, gate: Time) -> Option<Time> {
        let port = self.port(port);
        if port.packets == 0 || gate == Time::MAX {
            return None;
        }
        Some(now.max(port.busy_until).max(gate))
    }

    /// Takes the packet whose turn it is.
    #[inline]
    pub(crate) fn dequeue(&mut self, port: u16) -> Option<Dequeued> {
        let number = port;
        let port = self.port_mut(port);
        let (priority, queue) =
            port.queues.iter_mut().enumerate().rev().find(|(_, queue)| !queue.waiting.is_empty())?;
        let Waiting { packet, bytes } = queue.waiting.pop_front()?;
        queue.bytes -= u64::from(bytes);
        port.packets -= 1;
        port.bytes -= u64::from(bytes);
        let depth = queue.waiting.len();
        self.note_change(number);
        Some(Dequeued { packet, priority, depth })
    }

    /// Puts a frame of `bytes` bytes on the wire at `now` and returns how long the wire is busy with it.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        port: u16,
        now: Time,
        bytes: usize,
        first: Option<FirstPlace>,
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
            let queue = &mut port.queues[usize::from(first.priority)];
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
    use super::*;
    use proptest::prelude::*;

    const OPEN: Time = Time::ZERO;

    fn at_rate(rate: &str) -> TrafficManager {
        let mut tm = TrafficManager::new(2);
        tm.attach(&PortConfig::ethernet(1, rate.parse().unwrap()));
        tm
    }

    #[test]
    fn a_packet_waits_until_the_last_bit_of_the_one_before_has_left() {
        let mut tm = at_rate("1Gbps");
        let start = Time::from_ps(5);
        tm.enqueue(1, 0, 7, 1476).unwrap();
        assert_eq!(tm.due(1, start, OPEN), Some(start));
        tm.dequeue(1).unwrap();
        assert_eq!(tm.transmit(1, start, 1476, None), Duration::from_us(12));
        tm.enqueue(1, 0, 8, 100).unwrap();
        assert_eq!(tm.due(1, start, OPEN), Some(start + Duration::from_us(12)));
    }

    #[test]
    fn a_port_with_an_empty_queue_is_never_due() {
        let tm = at_rate("1Gbps");
        assert_eq!(tm.due(1, Time::ZERO, OPEN), None);
    }

    #[test]
    fn the_gate_delays_service_and_a_gate_that_never_opens_stops_it() {
        let mut tm = at_rate("1Gbps");
        tm.enqueue(1, 0, 7, 100).unwrap();
        assert_eq!(tm.due(1, Time::ZERO, Time::from_ps(9)), Some(Time::from_ps(9)));
        assert_eq!(tm.due(1, Time::ZERO, Time::MAX), None);
    }

    #[test]
    fn the_highest_priority_goes_first_and_each_is_first_come_first_served() {
        let mut tm = at_rate("1Gbps");
        for (packet, priority) in [(1, 0), (2, 1), (3, 0), (4, 1)] {
            tm.enqueue(1, priority, packet, 10).unwrap();
        }
        let order: Vec<_> =
            std::iter::from_fn(|| tm.dequeue(1)).map(|d| (d.packet, d.priority, d.depth)).collect();
        assert_eq!(order, [(2, 1, 1), (4, 1, 0), (1, 0, 1), (3, 0, 0)]);
    }

    #[test]
    fn limits_of_packets_and_bytes_are_exact_and_per_queue() {
        let mut tm = TrafficManager::new(2);
        tm.attach(&PortConfig {
            queue_limit_packets: Some(3),
            queue_limit_bytes: Some(Bytes::new(250)),
            ..PortConfig::unlimited(1)
        });
        assert_eq!(tm.enqueue(1, 0, 1, 100), Ok(()));
        assert_eq!(tm.enqueue(1, 0, 2, 151), Err(QueueFull));
        assert_eq!(tm.enqueue(1, 0, 2, 150), Ok(()));
        assert_eq!(tm.enqueue(1, 0, 3, 1), Err(QueueFull));
        assert_eq!(tm.enqueue(1, 0, 3, 0), Ok(()));
        assert_eq!(tm.enqueue(1, 0, 4, 0), Err(QueueFull));
        assert_eq!(tm.enqueue(1, 1, 4, 250), Ok(()));
        assert_eq!((tm.queue_bytes(1), tm.queue_packets(1)), (Bytes::new(500), 4));
        assert_eq!((tm.stats(1).max_queue_bytes, tm.stats(1).max_queue_packets), (500, 4));
    }

    #[test]
    fn a_port_is_named_once_for_all_changes_since_it_was_named_last() {
        let mut tm = TrafficManager::new(1);
        tm.enqueue(3, 0, 7, 10).unwrap();
        tm.enqueue(3, 0, 8, 10).unwrap();
        assert_eq!((tm.poll_changed(), tm.poll_changed()), (Some(3), None));
        tm.dequeue(3).unwrap();
        assert_eq!((tm.poll_changed(), tm.poll_changed()), (Some(3), None));
    }

    #[test]
    fn a_frame_sent_after_one_that_was_queued_later_counts_as_reordered() {
        let mut tm = at_rate("1Gbps");
        let places: Vec<_> = (0..3).map(|_| tm.first_place(1, 0)).collect();
        for index in [1, 0, 2] {
            tm.transmit(1, Time::ZERO, 10, Some(places[index]));
        }
        assert_eq!(tm.stats(1).reordered, 1);
    }

    /// Arrivals: time since the last (ps), bytes. Departures by the definition of a link: each starts when it has
    /// arrived and the one before has left.
    fn departures_of_a_fifo_link(arrivals: &[(u64, u64)], bps: u64, overhead: u64) -> Vec<u64> {
        let (mut now, mut free) = (0u128, 0u128);
        arrivals
            .iter()
            .map(|(gap, bytes)| {
                now += u128::from(*gap);
                let start = now.max(free);
                let bits = u128::from(bytes + overhead) * 8;
                free = start + (bits * 1_000_000_000_000).div_ceil(u128::from(bps));
                start as u64
            })
            .collect()
    }

    proptest! {
        #[test]
        fn departures_equal_those_of_an_ideal_link(
            arrivals in prop::collection::vec((0..20_000_000u64, 0..3000u64), 1..60),
            bps in 1_000_000..100_000_000_000u64,
        ) {
            let mut tm = TrafficManager::new(1);
            tm.attach(&PortConfig::ethernet(1, DataRate::from_bps(bps)));
            let mut times = Vec::new();
            let mut now = Time::ZERO;
            for (gap, _) in &arrivals {
                now += Duration::from_ps(*gap);
                times.push(now);
            }
            let (mut now, mut next, mut sent) = (Time::ZERO, 0, Vec::new());
            loop {
                let arrival = times.get(next).copied();
                match (tm.due(1, now, OPEN), arrival) {
                    (Some(due), arrival) if arrival.map_or(true, |arrival| due <= arrival) => {
                        now = due;
                        let packet = tm.dequeue(1).unwrap().packet as usize;
                        tm.transmit(1, now, arrivals[packet].1 as usize, None);
                        sent.push(now.as_ps());
                    }
                    (_, Some(arrival)) => {
                        now = arrival;
                        tm.enqueue(1, 0, next as PacketId, arrivals[next].1 as u32).unwrap();
                        next += 1;
                    }
                    (_, None) => break,
                }
            }
            prop_assert_eq!(sent, departures_of_a_fifo_link(&arrivals, bps, 24));
        }
    }
}
