//! Connections over one bottleneck: a queue with a byte limit and a marking threshold in packets, a link of exact rate,
//! delays, and faults by a rule of the test.
//!
//! Data and ACKs of the opening side go through the queue; segments of the other side are only delayed. On request, an
//! independent judge reassembles the arrivals at each end, byte by byte.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tcp::{Connection, Segment, Settings};
use units::{Bytes, DataRate, Duration, Time};
use wire::Ecn;

/// Ethernet, IPv4, FCS, preamble and gap: the bytes of a segment on the wire besides the segment.
const FRAMING: u64 = 14 + 20 + 4 + 8 + 12;

/// The fate of a segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    Lost,
    Twice,
    /// After this additional delay.
    Late(Duration),
    /// With CE, if it is ECN-capable.
    Marked,
}

/// The direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the opening side.
    There,
    Back,
}

/// The rule for the fate of segments. Its arguments are the segment, its direction, and the number of earlier segments in that direction.
pub type Rule = Box<dyn FnMut(&Segment, Way, u64) -> Fate>;

pub struct Channel {
    pub rate: DataRate,
    /// One-way delay, equal in both directions.
    pub delay: Duration,
    /// Maximum number of waiting bytes, as on the wire.
    pub buffer: u64,
    /// A packet is marked if it finds more than this number in the queue.
    pub threshold: Option<usize>,
    pub rule: Rule,
}

impl Channel {
    /// Returns a path with the round-trip time `rtt` (without queue) and an unlimited buffer.
    pub fn new(gbps: u64, rtt: Duration) -> Self {
        Self {
            rate: DataRate::from_bps(gbps * 1_000_000_000),
            delay: Duration::from_ps(rtt.as_ps() / 2),
            buffer: u64::MAX,
            threshold: None,
            rule: Box::new(|_, _, _| Fate::Arrives),
        }
    }

    pub fn seeded(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    /// Returns the number of full packets of 1460 bytes that fit in the path without queue: C x RTT.
    pub fn bandwidth_delay_packets(&self) -> f64 {
        2.0 * self.delay.as_secs_f64() / self.packet_time().as_secs_f64()
    }

    pub fn packet_time(&self) -> Duration {
        self.rate.transmit_time(Bytes::new(1460 + 20 + FRAMING))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrives { end: usize, place: usize },
    Departs,
    Timer { end: usize },
    Starts { flow: usize },
}

/// Connections over a channel. The ends of flow `f` are `2 f`, which opens and sends, and `2 f + 1`.
pub struct Net {
    pub channel: Channel,
    pub now: Time,
    pub ends: Vec<Connection>,
    events: BinaryHeap<Reverse<(Time, u64, What)>>,
    sequence: u64,
    /// Segments in flight, by index; free indices.
    under_way: Vec<Segment>,
    free: Vec<usize>,
    queue: VecDeque<(usize, Segment, u64)>,
    queued_bytes: u64,
    busy: bool,
    timers: Vec<Time>,
    isns: Vec<u32>,
    counts: [u64; 2],
    pub timer_events: u64,
    pub drops: u64,
    pub marks: u64,
    /// Minimum and maximum number of packets in the queue since [`Net::watch`].
    pub queue_range: (usize, usize),
    watching: bool,
    /// Arrivals at each end, by byte of its peer's stream, and the number of bytes in order.
    judges: Vec<(Vec<bool>, usize)>,
    /// Whether the passive sides close once the other side has closed.
    pub close_in_turn: bool,
}

impl Net {
    /// Creates flows of `bytes` each that start at the given times; `isn` is the first sequence number.
    pub fn new(channel: Channel, settings: &Settings, flows: &[(Time, u64)], isn: u32) -> Self {
        let mut net = Self {
            channel,
            now: Time::ZERO,
            ends: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            under_way: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::new(),
            queued_bytes: 0,
            busy: false,
            timers: vec![Time::MAX; 2 * flows.len()],
            isns: Vec::new(),
            counts: [0; 2],
            timer_events: 0,
            drops: 0,
            marks: 0,
            queue_range: (usize::MAX, 0),
            watching: false,
            judges: Vec::new(),
            close_in_turn: false,
        };
        for (flow, (start, bytes)) in flows.iter().enumerate() {
            let isns = [isn.wrapping_add(flow as u32), isn.wrapping_mul(3)];
            let mut client = Connection::connect(settings, isns[0]);
            client.send(*bytes).unwrap();
            net.ends.push(client);
            net.ends.push(Connection::listen(settings, isns[1]));
            net.isns.extend(isns);
            net.at(*start, What::Starts { flow });
        }
        net
    }

    fn at(&mut self, time: Time, what: What) {
        self.events.push(Reverse((time, self.sequence, what)));
        self.sequence += 1;
    }

    /// Runs all events until `end`. Returns `false` if none are left.
    pub fn run_until(&mut self, end: Time) -> bool {
        while let Some(Reverse((time, _, _))) = self.events.peek() {
            if *time > end {
                self.now = end;
                return true;
            }
            let Some(Reverse((time, _, what))) = self.events.pop() else { break };
            self.now = time;
            self.happen(what);
        }
        false
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Starts { flow } => self.drain(2 * flow),
            What::Arrives { end, place } => {
                let segment = self.under_way[place];
                self.free.push(place);
                self.ends[end].handle_segment(self.now, &segment);
                self.judge(end, &segment);
                if self.close_in_turn && end % 2 == 1 && self.ends[end].peer_has_closed() {
                    self.ends[end].close();
                }
                self.drain(end);
            }
            What::Timer { end } => {
                self.timers[end] = Time::MAX;
                if self.ends[end].next_timeout().is_some_and(|due| due <= self.now) {
                    self.timer_events += 1;
                    self.ends[end].handle_timeout(self.now);
                    let next = self.ends[end].next_timeout();
                    self.drain(end);
                    assert!(next.is_none_or(|due| due > self.now), "a timer that does not move on");
                } else {
                    self.set_timer(end);
                }
            }
            What::Departs => {
                let (end, segment, bytes) = self.queue.pop_front().expect("a packet departs");
                self.queued_bytes -= bytes;
                self.note_depth();
                let (now, delay) = (self.now, self.channel.delay);
                self.deliver(now + delay, end, segment);
                self.serve();
            }
        }
    }

    /// Sends the segments of an end after an action of its application.
    pub fn drain(&mut self, end: usize) {
        while let Some(segment) = self.ends[end].poll_transmit(self.now) {
            let way = if end % 2 == 0 { Way::There } else { Way::Back };
            let number = &mut self.counts[way as usize];
            *number += 1;
            let fate = (self.channel.rule)(&segment, way, *number - 1);
            let (other, mut segment, mut late) = (end ^ 1, segment, Duration::ZERO);
            match fate {
                Fate::Lost => {
                    self.drops += 1;
                    continue;
                }
                Fate::Marked if segment.ecn != Ecn::NotEct => segment.ecn = Ecn::Ce,
                Fate::Late(by) => late = by,
                Fate::Twice => self.send(way, other, segment, Duration::ZERO),
                Fate::Marked | Fate::Arrives => {}
            }
            self.send(way, other, segment, late);
        }
        self.set_timer(end);
    }

    fn send(&mut self, way: Way, end: usize, mut segment: Segment, late: Duration) {
        if way == Way::Back || !late.is_zero() {
            let at = self.now + self.channel.delay + late;
            return self.deliver(at, end, segment);
        }
        let bytes = FRAMING + segment.header_len() as u64 + u64::from(segment.payload_len);
        if self.queued_bytes + bytes > self.channel.buffer {
            self.drops += 1;
            return;
        }
        if segment.ecn != Ecn::NotEct && self.channel.threshold.is_some_and(|k| self.queue.len() > k) {
            segment.ecn = Ecn::Ce;
            self.marks += 1;
        }
        self.queue.push_back((end, segment, bytes));
        self.queued_bytes += bytes;
        if !self.busy {
            self.serve();
        }
    }

    fn serve(&mut self) {
        self.busy = false;
        if let Some((_, _, bytes)) = self.queue.front() {
            self.busy = true;
            let done = self.now + self.channel.rate.transmit_time(Bytes::new(*bytes));
            self.at(done, What::Departs);
        }
    }

    fn deliver(&mut self, at: Time, end: usize, segment: Segment) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.under_way.push(segment);
            self.under_way.len() - 1
        });
        self.under_way[place] = segment;
        self.at(at, What::Arrives { end, place });
    }

    fn set_timer(&mut self, end: usize) {
        if let Some(due) = self.ends[end].next_timeout() {
            let due = due.max(self.now);
            if due < self.timers[end] {
                self.timers[end] = due;
                self.at(due, What::Timer { end });
            }
        }
    }

    /// Lets a judge follow streams of at most `bytes` bytes whose receivers accept everything at once.
    pub fn judge_all(&mut self, bytes: usize) {
        self.judges = vec![(vec![false; bytes], 0); self.ends.len()];
    }

    fn judge(&mut self, end: usize, segment: &Segment) {
        let Some((bytes, in_order)) = self.judges.get_mut(end) else { return };
        // The peer's first byte follows its SYN.
        let first = self.isns[end ^ 1].wrapping_add(1);
        let start = segment.sequence.wrapping_sub(first) as usize;
        if segment.payload_len > 0 {
            bytes[start..start + segment.payload_len as usize].fill(true);
        }
        *in_order += bytes[*in_order..].iter().take_while(|arrived| **arrived).count();
        // An endpoint may refuse a segment that has arrived (RFC 7323, 5.3), but must not report bytes that have not.
        let received = self.ends[end].bytes_received();
        assert!(received <= *in_order as u64, "end {end} has {received} bytes, of {in_order} in order");
    }

    fn note_depth(&mut self) {
        if self.watching {
            let depth = self.queue.len();
            self.queue_range = (self.queue_range.0.min(depth), self.queue_range.1.max(depth));
        }
    }

    /// Starts to record the queue's depth.
    pub fn watch(&mut self) {
        (self.watching, self.queue_range) = (true, (usize::MAX, 0));
    }

    /// Returns the payload bytes that have arrived, by flow.
    pub fn received(&self) -> Vec<u64> {
        self.ends.iter().skip(1).step_by(2).map(Connection::bytes_received).collect()
    }

    pub fn random(rng: &mut impl RngCore, one_in: u32) -> bool {
        one_in > 0 && rng.next_u32() % one_in == 0
    }
}

/// Returns Jain's fairness index.
pub fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}
