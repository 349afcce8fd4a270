//! A stream of events by hop: what happened to each packet at each port, in order, in bounded memory.
//!
//! [`crate::Switch::record_hops`] starts it with a [`HopFilter`], [`crate::Switch::take_hops`] hands it out. A fabric of several
//! switches joins their streams with [`HopLog::absorb`], and gives packets the numbers by which one is known on all its hops.
//! A switch that records nothing tests for it where it tests whether it follows a packet (`journey`), and nowhere else.
//! Nothing here changes what happens to a packet.
//!
//! What a program decided is known by the values of fields that the filter names. They are read after ingress
//! ([`HopKind::Judged`]) and after egress ([`HopKind::Sent`], [`HopKind::Dropped`]).

use std::collections::{BTreeMap, VecDeque};

use bm::{Field, Phv, Program};
use units::Time;
use wire::FiveTuple;

use crate::packet::PacketId;
use crate::stats::DropCause;

/// Most fields that a filter may name.
pub const MAX_HOP_FIELDS: usize = 16;

/// Most events that one log keeps, whatever its filter says.
pub const MAX_HOP_EVENTS: usize = 1 << 24;

/// Flows that are told apart. Packets of further ones are recorded without a flow.
pub const MAX_HOP_FLOWS: usize = 1 << 16;

/// The number of a packet that came before the recording began.
pub const UNKNOWN_PACKET: u64 = u64::MAX;

/// No flow, no values.
pub const NONE: u32 = u32::MAX;

/// Numbers from here on are of copies, and of packets that nobody has numbered; those below come from [`HopLog::expect`].
const OWN_NUMBERS: u64 = 1 << 40;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum HopKind {
    /// A host offered the packet to its NIC.
    Offered,
    /// It came in by this port.
    Arrived,
    /// Ingress ended with these values.
    Judged,
    /// A copy of the packet `until_ps` was made, which has this number.
    Copied,
    /// It entered the queue of this port; depths are without it.
    Queued,
    /// It has to wait in the queue for the port's gate, which opens at `until_ps`: the link sleeps or wakes.
    Held,
    /// The port's PHY began to go to sleep; it was asleep at `until_ps`.
    Slept,
    /// The port's PHY began to wake; it was awake at `until_ps`.
    Woke,
    /// It left the queue and goes round to ingress, where it is at `until_ps`.
    Recirculated,
    /// It left the queue, and its last bit the port at `until_ps`; depths are what it left behind.
    Sent,
    /// It was lost, for the reason `cause`.
    Dropped,
    /// It arrived at the host that it was for.
    Delivered,
    /// A TCP sender of the host lowered its congestion window, from `bytes` to `queue_bytes`; the flow is that of its data.
    Slowed,
    /// It has to wait in the queue for the gate of its class, which opens at `until_ps`: the queue is paused.
    Paused,
}

impl HopKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [HopKind; 14] = [
        HopKind::Offered,
        HopKind::Arrived,
        HopKind::Judged,
        HopKind::Copied,
        HopKind::Queued,
        HopKind::Held,
        HopKind::Slept,
        HopKind::Woke,
        HopKind::Recirculated,
        HopKind::Sent,
        HopKind::Dropped,
        HopKind::Delivered,
        HopKind::Slowed,
        HopKind::Paused,
    ];

    /// Returns the name in filters and reports.
    pub const fn name(self) -> &'static str {
        match self {
            HopKind::Offered => "offered",
            HopKind::Arrived => "arrived",
            HopKind::Judged => "judged",
            HopKind::Copied => "copied",
            HopKind::Queued => "queued",
            HopKind::Held => "held",
            HopKind::Slept => "slept",
            HopKind::Woke => "woke",
            HopKind::Recirculated => "recirculated",
            HopKind::Sent => "sent",
            HopKind::Dropped => "dropped",
            HopKind::Delivered => "delivered",
            HopKind::Slowed => "slowed",
            HopKind::Paused => "paused",
        }
    }
}

/// One event. What its kind has no use for is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopEvent {
    /// When, in picoseconds.
    pub at_ps: u64,
    /// The packet's number; 0 for what happens to a port.
    pub packet: u64,
    /// A second time, in picoseconds, or the number of the packet that was copied; see [`HopKind`].
    pub until_ps: u64,
    /// Bytes waiting at the port, this packet excluded.
    pub queue_bytes: u64,
    /// Packets waiting at the port, this one excluded.
    pub queue_packets: u32,
    /// Bytes of the frame, without FCS.
    pub bytes: u32,
    /// Index into [`HopLog::flows`], or [`NONE`].
    pub flow: u32,
    /// Index of the first value in [`HopLog::values`], or [`NONE`].
    pub values: u32,
    /// First byte of the frame's beginning in [`HopLog::frames`].
    pub frame_at: u32,
    /// How many bytes of it are there.
    pub frame_len: u16,
    /// The node: a number that the log's owner gives; a switch alone is 0.
    pub node: u16,
    /// Port.
    pub port: u16,
    /// Queue of the port.
    pub priority: u8,
    /// What.
    pub kind: HopKind,
    /// Index into [`DropCause::ALL`], or [`OTHER_CAUSE`] or [`LINK_DOWN_CAUSE`].
    pub cause: u8,
}

/// A cause of a drop outside [`DropCause`]: a NIC's.
pub const OTHER_CAUSE: u8 = u8::MAX;

/// Another: the link behind the port was down.
pub const LINK_DOWN_CAUSE: u8 = OTHER_CAUSE - 1;

impl HopEvent {
    /// Creates an event of `kind` at a port.
    pub fn new(at: Time, kind: HopKind, port: u16) -> Self {
        Self {
            at_ps: at.as_ps(),
            packet: 0,
            until_ps: 0,
            queue_bytes: 0,
            queue_packets: 0,
            bytes: 0,
            flow: NONE,
            values: NONE,
            frame_at: 0,
            frame_len: 0,
            node: 0,
            port,
            priority: 0,
            kind,
            cause: 0,
        }
    }
}

/// A 5-tuple of which any part may be left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowFilter {
    /// Source address.
    pub source: Option<std::net::IpAddr>,
    /// Destination address.
    pub destination: Option<std::net::IpAddr>,
    /// IP protocol.
    pub protocol: Option<u8>,
    /// Source port.
    pub source_port: Option<u16>,
    /// Destination port.
    pub destination_port: Option<u16>,
}

impl FlowFilter {
    fn admits(&self, flow: Option<&FiveTuple>) -> bool {
        if *self == Self::default() {
            return true;
        }
        let Some(flow) = flow else { return false };
        self.source.is_none_or(|source| source == flow.source)
            && self.destination.is_none_or(|destination| destination == flow.destination)
            && self.protocol.is_none_or(|protocol| protocol == flow.protocol)
            && self.source_port.is_none_or(|port| port == flow.source_port)
            && self.destination_port.is_none_or(|port| port == flow.destination_port)
    }
}

/// Which events are kept, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopFilter {
    /// Kinds.
    pub kinds: Vec<HopKind>,
    /// Nodes and ports; none stands for all.
    pub ports: Vec<(u16, u16)>,
    /// Events before this time are left out.
    pub from: Time,
    /// Events from this time on are left out.
    pub until: Time,
    /// Packets of other flows are left out.
    pub flow: FlowFilter,
    /// Events that are kept; of what follows only the number is.
    pub limit: usize,
    /// Bytes that are kept of each frame, with its sending or its drop; 0 for none.
    pub snap_bytes: u16,
    /// Header and name of fields whose values are kept, at most [`MAX_HOP_FIELDS`].
    pub fields: Vec<(String, String)>,
    /// Which of the fields says after ingress for which port the program has decided; decisions and drops of ingress belong to
    /// that port then. Without one they belong to the port by which the packet came.
    pub port_field: Option<usize>,
}

impl Default for HopFilter {
    fn default() -> Self {
        Self {
            kinds: HopKind::ALL.to_vec(),
            ports: Vec::new(),
            from: Time::ZERO,
            until: Time::MAX,
            flow: FlowFilter::default(),
            limit: 1 << 20,
            snap_bytes: 0,
            fields: Vec::new(),
            port_field: None,
        }
    }
}

/// Why a filter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HopError {
    /// The program has no such field.
    #[error("hops: the program has no field {0}.{1} of at most 64 bits")]
    NoField(String, String),
    /// Too many fields.
    #[error("hops: {0} fields, at most {MAX_HOP_FIELDS}")]
    TooManyFields(usize),
    /// The list of fields has no such index.
    #[error("hops: port_field {0}, there are {1} fields")]
    PortField(usize, usize),
    /// Too many events.
    #[error("hops: a limit of {0} events, at most {MAX_HOP_EVENTS}")]
    Limit(usize),
}

/// What is known of a packet that is inside.
#[derive(Clone, Copy, Debug)]
struct Known {
    packet: u64,
    flow: u32,
    /// Values after egress, if it has been there.
    left_with: u32,
    /// The port that ingress decided about.
    port: Option<u16>,
}

const STRANGER: Known = Known { packet: UNKNOWN_PACKET, flow: NONE, left_with: NONE, port: None };

/// Events that were recorded, and what is needed to record more.
#[derive(Debug)]
pub struct HopLog {
    filter: HopFilter,
    kinds: u16,
    /// The node of events that are recorded here.
    node: u16,
    fields: Vec<Field>,
    events: Vec<HopEvent>,
    values: Vec<u64>,
    frames: Vec<u8>,
    flows: Vec<FiveTuple>,
    flow_numbers: BTreeMap<FiveTuple, u32>,
    lost: u64,
    /// By [`PacketId`].
    inside: Vec<Known>,
    /// The number of the next packet that arrives, if its owner has said one.
    expected: Option<u64>,
    /// Numbers of packets that were sent, for the owner.
    sent: VecDeque<u64>,
    tells_sent: bool,
    own: u64,
}

impl HopLog {
    /// Creates an empty log of a switch that is `node`, and runs `program` if it reads fields.
    pub fn new(program: &Program, filter: HopFilter, node: u16) -> Result<Self, HopError> {
        if filter.fields.len() > MAX_HOP_FIELDS {
            return Err(HopError::TooManyFields(filter.fields.len()));
        }
        if filter.limit > MAX_HOP_EVENTS {
            return Err(HopError::Limit(filter.limit));
        }
        if let Some(place) = filter.port_field.filter(|place| *place >= filter.fields.len()) {
            return Err(HopError::PortField(place, filter.fields.len()));
        }
        let named = |(header, name): &(String, String)| {
            let field = program.field(header, name).filter(|field| field.width() <= 64);
            field.ok_or_else(|| HopError::NoField(header.clone(), name.clone()))
        };
        let fields = filter.fields.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            kinds: filter.kinds.iter().fold(0, |kinds, kind| kinds | 1 << *kind as u16),
            node,
            fields,
            events: Vec::new(),
            values: Vec::new(),
            frames: Vec::new(),
            flows: Vec::new(),
            flow_numbers: BTreeMap::new(),
            lost: 0,
            inside: Vec::new(),
            expected: None,
            sent: VecDeque::new(),
            tells_sent: false,
            own: OWN_NUMBERS * (u64::from(node) + 1),
            filter,
        })
    }

    /// Returns the events in the order in which they were recorded; a fabric's are to be sorted by time.
    pub fn events(&self) -> &[HopEvent] {
        &self.events
    }

    /// Returns values of fields, as many for each event that has some as the filter names.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Beginnings of frames.
    pub fn frames(&self) -> &[u8] {
        &self.frames
    }

    /// Returns the flows, by the number that events have.
    pub fn flows(&self) -> &[FiveTuple] {
        &self.flows
    }

    /// Returns the number of events that the filter admits and the limit does not.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns what is kept.
    pub fn filter(&self) -> &HopFilter {
        &self.filter
    }

    /// Sorts the events by time; those of one instant stay in order.
    pub fn sort(&mut self) {
        self.events.sort_by_key(|event| event.at_ps);
    }

    /// Says which number the next packet that arrives has.
    pub fn expect(&mut self, packet: u64) {
        self.expected = Some(packet);
    }

    /// Keeps from now on the numbers of packets that are sent, for [`HopLog::next_sent`]: the owner must take them.
    pub fn tell_sent(&mut self) {
        self.tells_sent = true;
    }

    /// Returns the number of the next packet in the order of [`crate::Switch::poll_transmit`].
    pub fn next_sent(&mut self) -> u64 {
        self.sent.pop_front().unwrap_or(UNKNOWN_PACKET)
    }

    /// Moves the events of another log with the same fields to this one.
    pub fn absorb(&mut self, other: &mut HopLog) {
        self.lost += std::mem::take(&mut other.lost);
        let room = self.filter.limit - self.events.len().min(self.filter.limit);
        self.lost += other.events.len().saturating_sub(room) as u64;
        for mut event in other.events.drain(..).take(room) {
            if event.flow != NONE {
                event.flow = self.flow_number(&other.flows[event.flow as usize]);
            }
            if event.values != NONE {
                let from = event.values as usize;
                event.values = self.values.len() as u32;
                self.values.extend_from_slice(&other.values[from..from + self.filter.fields.len()]);
            }
            if event.frame_len > 0 {
                let from = event.frame_at as usize;
                event.frame_at = self.frames.len() as u32;
                self.frames.extend_from_slice(&other.frames[from..from + usize::from(event.frame_len)]);
            }
            self.events.push(event);
        }
        other.frames.clear();
        // Of packets that are inside, values after egress may still be asked for at this instant only.
        other.values.clear();
    }

    fn flow_number(&mut self, flow: &FiveTuple) -> u32 {
        if let Some(number) = self.flow_numbers.get(flow) {
            return *number;
        }
        if self.flows.len() >= MAX_HOP_FLOWS {
            return NONE;
        }
        let number = self.flows.len() as u32;
        self.flows.push(*flow);
        self.flow_numbers.insert(*flow, number);
        number
    }

    /// Returns the flow of a frame: a number, or `None` when the filter leaves its packets out.
    pub fn flow_of(&mut self, frame: &[u8]) -> Option<u32> {
        self.number_of(FiveTuple::of(frame).as_ref())
    }

    /// Returns the number of a flow that is known.
    pub fn number_of(&mut self, flow: Option<&FiveTuple>) -> Option<u32> {
        if !self.filter.flow.admits(flow) {
            return None;
        }
        Some(flow.map_or(NONE, |flow| self.flow_number(flow)))
    }

    /// Keeps an event, and the beginning of its frame if one is given, if the filter admits it and there is room; whether it did.
    pub fn push(&mut self, mut event: HopEvent, frame: Option<&[u8]>) -> bool {
        let filter = &self.filter;
        let (from, until) = (filter.from.as_ps(), filter.until.as_ps());
        let is_wanted = self.kinds & (1 << event.kind as u16) != 0
            && (from..until).contains(&event.at_ps)
            && (filter.ports.is_empty() || filter.ports.contains(&(event.node, event.port)));
        if !is_wanted {
            return false;
        }
        if self.events.len() >= filter.limit {
            self.lost += 1;
            return false;
        }
        if let Some(frame) = frame.filter(|_| filter.snap_bytes > 0) {
            let kept = &frame[..frame.len().min(usize::from(filter.snap_bytes))];
            event.frame_at = self.frames.len() as u32;
            event.frame_len = kept.len() as u16;
            self.frames.extend_from_slice(kept);
        }
        self.events.push(event);
        true
    }

    fn known(&self, id: PacketId) -> Option<Known> {
        self.inside.get(id as usize).copied().filter(|known| known.packet != UNKNOWN_PACKET)
    }

    fn set(&mut self, id: PacketId, known: Known) {
        let at = id as usize;
        if self.inside.len() <= at {
            self.inside.resize(at + 1, STRANGER);
        }
        self.inside[at] = known;
    }

    /// Stops recording values and packets that are inside: their program is gone.
    pub(crate) fn forget_fields(&mut self) {
        self.fields.clear();
        self.filter.port_field = None;
        self.inside.clear();
    }

    /// Returns whether a packet is recorded.
    pub(crate) fn knows(&self, id: PacketId) -> bool {
        self.known(id).is_some()
    }

    fn number(&mut self) -> u64 {
        self.own += 1;
        self.own
    }

    /// Records a frame that has come in, with an id unless it was refused at once.
    pub(crate) fn arrived(
        &mut self,
        id: Option<PacketId>,
        at: Time,
        port: u16,
        frame: &[u8],
        bytes: usize,
    ) -> u64 {
        let packet = match self.expected.take() {
            Some(packet) => packet,
            None => self.number(),
        };
        let flow = if packet == UNKNOWN_PACKET { None } else { self.flow_of(frame) };
        let Some(flow) = flow else {
            // A slot of the store is used again and again.
            if let Some(id) = id {
                self.set(id, STRANGER);
            }
            return UNKNOWN_PACKET;
        };
        if let Some(id) = id {
            self.set(id, Known { packet, flow, left_with: NONE, port: None });
        }
        let event = HopEvent { packet, flow, bytes: bytes as u32, ..self.event(at, HopKind::Arrived, port) };
        self.push(event, None);
        packet
    }

    fn event(&self, at: Time, kind: HopKind, port: u16) -> HopEvent {
        HopEvent { node: self.node, ..HopEvent::new(at, kind, port) }
    }

    /// Records a frame that was refused before it had an id.
    pub(crate) fn refused(&mut self, at: Time, port: u16, frame: &[u8], bytes: usize, cause: DropCause) {
        let packet = self.arrived(None, at, port, frame, bytes);
        if packet != UNKNOWN_PACKET {
            let event = self.event(at, HopKind::Dropped, port);
            let event = HopEvent { packet, bytes: bytes as u32, cause: cause as u8, ..event };
            self.push(event, Some(frame));
        }
    }

    /// Marks the packet with this id as one that did not arrive from outside.
    pub(crate) fn forget(&mut self, id: PacketId) {
        self.set(id, STRANGER);
    }

    /// Records that a packet was copied.
    pub(crate) fn copied(&mut self, id: PacketId, copy: PacketId, at: Time, port: u16) {
        let Some(original) = self.known(id) else { return self.set(copy, STRANGER) };
        let packet = self.number();
        self.set(copy, Known { packet, flow: original.flow, left_with: NONE, port: None });
        let event = self.event(at, HopKind::Copied, port);
        self.push(HopEvent { packet, flow: original.flow, until_ps: original.packet, ..event }, None);
    }

    /// Ingress or egress has run.
    pub(crate) fn ran(&mut self, id: PacketId, at: Time, port: u16, egress: bool, phv: &Phv, bytes: usize) {
        let Some(known) = self.known(id) else { return };
        let port = match self.filter.port_field {
            Some(place) if !egress => u16::try_from(phv.get(self.fields[place])).unwrap_or(port),
            _ => port,
        };
        self.inside[id as usize].port = Some(port);
        // Values that no event is kept with would stay for ever.
        if self.fields.is_empty()
            || self.events.len() >= self.filter.limit
            || !(self.filter.from..self.filter.until).contains(&at)
        {
            return;
        }
        let values = self.values.len() as u32;
        self.values.extend(self.fields.iter().map(|field| phv.get(*field)));
        if egress {
            self.inside[id as usize].left_with = values;
            return;
        }
        let event = self.event(at, HopKind::Judged, port);
        let event = HopEvent { packet: known.packet, flow: known.flow, values, bytes: bytes as u32, ..event };
        if !self.push(event, None) {
            self.values.truncate(values as usize);
        }
    }

    /// Returns the port for which the program meant a packet that is known, once ingress or egress has run.
    pub(crate) fn meant_for(&self, id: PacketId) -> Option<u16> {
        self.known(id).and_then(|known| known.port)
    }

    /// Completes an event of a packet and keeps it.
    pub(crate) fn note(&mut self, id: PacketId, event: HopEvent, frame: &[u8]) {
        let Some(known) = self.known(id) else { return };
        let mut event = HopEvent { packet: known.packet, flow: known.flow, node: self.node, ..event };
        let is_gone = matches!(event.kind, HopKind::Sent | HopKind::Dropped);
        if is_gone {
            event.values = known.left_with;
            self.set(id, STRANGER);
        }
        let is_kept = self.push(event, is_gone.then_some(frame));
        if is_gone && !is_kept && known.left_with != NONE {
            self.values.truncate(known.left_with as usize);
        }
    }

    /// Counts a packet that was sent; to be called for all of them, before [`HopLog::note`].
    pub(crate) fn count_sent(&mut self, id: PacketId) {
        if self.tells_sent {
            self.sent.push_back(self.known(id).map_or(UNKNOWN_PACKET, |known| known.packet));
        }
    }

    /// Records a packet at a queue: how deep it is without it, when the port's gate opens and when its pause ends.
    #[allow(clippy::too_many_arguments)] // The queue as it is, and nothing that they would be called together.
    pub(crate) fn queued(
        &mut self,
        id: PacketId,
        at: Time,
        port: u16,
        priority: u8,
        bytes: u32,
        queue: (u64, usize),
        [gate, pause]: [Time; 2],
    ) {
        let (queue_bytes, queue_packets) = (queue.0, queue.1 as u32);
        let event = self.event(at, HopKind::Queued, port);
        let event = HopEvent { bytes, queue_bytes, queue_packets, priority, ..event };
        self.note(id, event, &[]);
        for (kind, opens) in [(HopKind::Held, gate), (HopKind::Paused, pause)] {
            if opens > at {
                let until_ps = if opens == Time::MAX { u64::MAX } else { opens.as_ps() };
                self.note(id, HopEvent { kind, until_ps, ..event }, &[]);
            }
        }
    }
}
