//! The hop log: a stream of events at hops, with what happened to each packet at each port, in order, in bounded memory.
//!
//! [`crate::Switch::record_hops`] starts recording with a [`HopFilter`], and [`crate::Switch::take_hops`] returns the
//! log. A fabric of several switches joins their logs with [`HopLog::absorb`], and gives each packet one number for all
//! its hops. A switch tests whether it records hops only where it tests whether it follows a packet (`journey`).
//! Recording does not change what happens to a packet.
//!
//! The values of the fields that the filter names show what a program decided. They are read after ingress
//! ([`Hop::Judged`]) and after egress ([`Hop::Sent`], [`Hop::Dropped`]).

use std::collections::{BTreeMap, VecDeque};

use bm::{Field, Phv, Program};
use serde::Deserialize;
use units::{Bytes, Time};
use wire::FiveTuple;

use crate::config::{refuse, ConfigError};
use crate::frame::Frame;
use crate::packet::PacketId;
use crate::stats::DropCause;

/// Maximum number of fields in a filter.
pub const MAX_HOP_FIELDS: usize = 16;

/// Maximum number of events in one log, whatever the limit of its filter.
pub const MAX_HOP_EVENTS: usize = 1 << 24;

/// Maximum number of flows that are distinguished. Packets of further flows are recorded without a flow.
pub const MAX_HOP_FLOWS: usize = 1 << 16;

/// The number of a packet that is not recorded, such as one that arrived before the recording began.
pub const UNKNOWN_PACKET: u64 = u64::MAX;

/// No flow, or no values.
pub const NONE: u32 = u32::MAX;

/// The first number of copies and of packets without an assigned number; lower numbers come from [`HopLog::expect`].
const OWN_NUMBERS: u64 = 1 << 40;

/// The contents of a port's queues, without the packet of the event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Bytes of the frame, without FCS.
    pub bytes: u32,
    /// Priority of the queue.
    pub priority: u8,
    /// The other packets that wait.
    pub depth: Depth,
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The switch dropped it.
    Switch(DropCause),
    /// The link behind the port was down.
    LinkDown,
    /// A host's NIC dropped it.
    Nic,
}

/// What happened. `bytes` is the length of the frame without FCS; `values` is the index of the first value in [`HopLog::values`],
/// or [`NONE`]; `frame_at` and `frame_len` are the position and length of the frame's beginning in [`HopLog::frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields that variants share are described above.
pub enum Hop {
    /// A host offered the packet to its NIC.
    Offered { bytes: u32 },
    /// It arrived on this port.
    Arrived { bytes: u32 },
    /// Ingress ended with these values.
    Judged { bytes: u32, values: u32 },
    /// It was made as a copy of the packet with the number `of`.
    Copied { of: u64 },
    /// It entered the queue of this port.
    Queued(Waiting),
    /// It waits in the queue for the port's gate, which opens at `until`: the link sleeps or wakes.
    Held { waiting: Waiting, until: Time },
    /// The port's PHY began to go to sleep; it was asleep at `until`.
    Slept { until: Time },
    /// The port's PHY began to wake; it was awake at `until`.
    Woke { until: Time },
    /// It left the queue and recirculates; it reaches ingress at `until`.
    Recirculated { bytes: u32, depth: Depth, until: Time },
    /// It left the queue; its last bit leaves the port at `until`. `depth` is what it left behind.
    Sent { bytes: u32, depth: Depth, until: Time, values: u32, frame_at: u32, frame_len: u16 },
    /// It was lost.
    Dropped { bytes: u32, depth: Depth, cause: Cause, values: u32, frame_at: u32, frame_len: u16 },
    /// It arrived at its destination host.
    Delivered { bytes: u32 },
    /// A TCP sender of the host lowered its congestion window, in bytes; the flow is the one of its data.
    Slowed { before: Bytes, after: Bytes },
    /// It waits in the queue for the gate of its class, which opens at `until`: the queue is paused.
    Paused { waiting: Waiting, until: Time },
}

impl Hop {
    /// Creates a [`Hop::Sent`]; the log fills in the rest.
    pub const fn sent(bytes: u32, depth: Depth, until: Time) -> Self {
        Self::Sent { bytes, depth, until, values: NONE, frame_at: 0, frame_len: 0 }
    }

    /// Creates a [`Hop::Dropped`]; the log fills in the rest.
    pub const fn dropped(bytes: u32, depth: Depth, cause: Cause) -> Self {
        Self::Dropped { bytes, depth, cause, values: NONE, frame_at: 0, frame_len: 0 }
    }
}

/// Defines the kinds, and the kind of each [`Hop`].
macro_rules! kinds {
    ($($kind:ident $name:literal,)*) => {
        crate::stats::named! {
        /// The kinds of [`Hop`], for filters and reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[allow(missing_docs)] // See `Hop`.
        HopKind { $($kind $name,)* }
        }

        impl Hop {
            /// Returns the kind.
            pub const fn kind(&self) -> HopKind {
                match self {
                    $(Hop::$kind { .. } => HopKind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    Offered "offered",
    Arrived "arrived",
    Judged "judged",
    Copied "copied",
    Queued "queued",
    Held "held",
    Slept "slept",
    Woke "woke",
    Recirculated "recirculated",
    Sent "sent",
    Dropped "dropped",
    Delivered "delivered",
    Slowed "slowed",
    Paused "paused",
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopEvent {
    /// Time.
    pub at: Time,
    /// The packet's number; 0 for an event of a port.
    pub packet: u64,
    /// Index into [`HopLog::flows`], or [`NONE`].
    pub flow: u32,
    /// The node: a number that the log's owner assigns; 0 for a single switch.
    pub node: u16,
    /// Port.
    pub port: u16,
    /// What happened.
    pub hop: Hop,
}

/// A 5-tuple in which any part may be left open.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
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

/// Selects the events to keep, and how much of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopFilter {
    /// Kinds.
    pub kinds: Vec<HopKind>,
    /// Nodes and ports; empty: all.
    pub ports: Vec<(u16, u16)>,
    /// Events before this time are left out.
    pub from: Time,
    /// Events from this time on are left out.
    pub until: Time,
    /// Packets of other flows are left out.
    pub flow: FlowFilter,
    /// Maximum number of events kept; further ones are only counted.
    pub limit: usize,
    /// Bytes kept of each frame that is sent or dropped; 0: none.
    pub snap_bytes: u16,
    /// Header and name of the fields whose values are kept, at most [`MAX_HOP_FIELDS`].
    pub fields: Vec<(String, String)>,
    /// Index of the field that holds, after ingress, the port that the program chose. Decisions and drops of ingress
    /// are recorded at that port; without an index, at the port of arrival.
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

/// What the log knows about a packet inside the switch.
#[derive(Clone, Copy, Debug)]
struct Known {
    packet: u64,
    flow: u32,
    /// Index of its values after egress, or [`NONE`].
    left_with: u32,
    /// The port at which the last run was recorded.
    port: Option<u16>,
}

const STRANGER: Known = Known { packet: UNKNOWN_PACKET, flow: NONE, left_with: NONE, port: None };

/// Recorded events, and the state for recording more.
#[derive(Debug, Default)]
pub struct HopLog {
    /// The filter.
    pub filter: HopFilter,
    kinds: u16,
    /// The node of the events recorded here.
    node: u16,
    fields: Vec<Field>,
    /// The events in the order of recording; a fabric must sort them by time.
    pub events: Vec<HopEvent>,
    /// The values of fields; each event with values has one for each field of the filter.
    pub values: Vec<u64>,
    /// The beginnings of frames.
    pub frames: Vec<u8>,
    /// The flows, indexed by [`HopEvent::flow`].
    pub flows: Vec<FiveTuple>,
    flow_numbers: BTreeMap<FiveTuple, u32>,
    /// The number of events that the filter admits but the limit does not.
    pub lost: u64,
    /// Indexed by [`PacketId`].
    inside: Vec<Known>,
    /// The number of the next packet that arrives, if the owner has set one.
    expected: Option<u64>,
    /// Numbers of sent packets, for the owner.
    sent: VecDeque<u64>,
    tells_sent: bool,
    own: u64,
}

impl HopLog {
    /// Creates an empty log of the switch `node`; the fields of the filter are those of `program`.
    pub fn new(program: &Program, filter: HopFilter, node: u16) -> Result<Self, ConfigError> {
        if filter.fields.len() > MAX_HOP_FIELDS {
            return refuse(format!("hops: {} fields, at most {MAX_HOP_FIELDS}", filter.fields.len()));
        }
        if filter.limit > MAX_HOP_EVENTS {
            return refuse(format!("hops: a limit of {} events, at most {MAX_HOP_EVENTS}", filter.limit));
        }
        if let Some(place) = filter.port_field.filter(|place| *place >= filter.fields.len()) {
            return refuse(format!("hops: port_field {place}, there are {} fields", filter.fields.len()));
        }
        let named = |(header, name): &(String, String)| {
            let field = program.field(header, name).filter(|field| field.width() <= 64);
            let missing = || format!("hops: the program has no field {header}.{name} of at most 64 bits");
            field.ok_or_else(|| ConfigError(missing()))
        };
        let fields = filter.fields.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            kinds: filter.kinds.iter().fold(0, |kinds, kind| kinds | 1 << *kind as u16),
            node,
            fields,
            own: OWN_NUMBERS * (u64::from(node) + 1),
            filter,
            ..Self::default()
        })
    }

    /// Sets the number of the next packet that arrives.
    pub fn expect(&mut self, packet: u64) {
        self.expected = Some(packet);
    }

    /// Stores from now on the numbers of sent packets for [`HopLog::next_sent`]; the owner must take them.
    pub fn tell_sent(&mut self) {
        self.tells_sent = true;
    }

    /// Returns the number of the next sent packet, in the order of [`crate::Switch::poll_transmit`].
    pub fn next_sent(&mut self) -> u64 {
        self.sent.pop_front().unwrap_or(UNKNOWN_PACKET)
    }

    /// Moves the events of another log with the same fields into this one.
    pub fn absorb(&mut self, other: &mut HopLog) {
        self.lost += std::mem::take(&mut other.lost);
        let room = self.filter.limit - self.events.len().min(self.filter.limit);
        self.lost += other.events.len().saturating_sub(room) as u64;
        for mut event in other.events.drain(..).take(room) {
            if event.flow != NONE {
                event.flow = self.flow_number(&other.flows[event.flow as usize]);
            }
            if let Hop::Judged { values, .. } | Hop::Sent { values, .. } | Hop::Dropped { values, .. } =
                &mut event.hop
            {
                if *values != NONE {
                    let from = std::mem::replace(values, self.values.len() as u32) as usize;
                    self.values.extend_from_slice(&other.values[from..from + self.filter.fields.len()]);
                }
            }
            if let Hop::Sent { frame_at, frame_len, .. } | Hop::Dropped { frame_at, frame_len, .. } =
                &mut event.hop
            {
                if *frame_len > 0 {
                    let from = std::mem::replace(frame_at, self.frames.len() as u32) as usize;
                    self.frames.extend_from_slice(&other.frames[from..from + usize::from(*frame_len)]);
                }
            }
            self.events.push(event);
        }
        other.frames.clear();
        // A packet inside can use its values after egress only at this instant, so they can go.
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

    /// Returns the number of a frame's flow; `None` if the filter excludes its packets.
    pub fn flow_of(&mut self, frame: &[u8]) -> Option<u32> {
        self.number_of(FiveTuple::of(frame).as_ref())
    }

    /// Returns the number of a parsed flow as [`HopLog::flow_of`] does.
    pub fn number_of(&mut self, flow: Option<&FiveTuple>) -> Option<u32> {
        if !self.filter.flow.admits(flow) {
            return None;
        }
        Some(flow.map_or(NONE, |flow| self.flow_number(flow)))
    }

    /// Keeps an event if the filter and the limit admit it, with the beginning of the frame if it was sent or dropped.
    /// Returns whether the event was kept.
    pub fn push(&mut self, mut event: HopEvent, frame: &[u8]) -> bool {
        let filter = &self.filter;
        let is_wanted = self.kinds & (1 << event.hop.kind() as u16) != 0
            && (filter.from..filter.until).contains(&event.at)
            && (filter.ports.is_empty() || filter.ports.contains(&(event.node, event.port)));
        if !is_wanted {
            return false;
        }
        if self.events.len() >= filter.limit {
            self.lost += 1;
            return false;
        }
        if let Hop::Sent { frame_at, frame_len, .. } | Hop::Dropped { frame_at, frame_len, .. } =
            &mut event.hop
        {
            if filter.snap_bytes > 0 {
                let kept = &frame[..frame.len().min(usize::from(filter.snap_bytes))];
                (*frame_at, *frame_len) = (self.frames.len() as u32, kept.len() as u16);
                self.frames.extend_from_slice(kept);
            }
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

    /// Stops recording values and the packets that are inside: their program is gone.
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

    /// Records the arrival of a frame, with an id unless it was refused at once. Returns its number.
    pub(crate) fn arrived(&mut self, id: Option<PacketId>, at: Time, port: u16, frame: &Frame) -> u64 {
        let packet = match self.expected.take() {
            Some(packet) => packet,
            None => self.number(),
        };
        let flow = if packet == UNKNOWN_PACKET { None } else { self.flow_of(frame) };
        // Slots of the store are reused, so a packet without a flow overwrites the slot too.
        let known = flow.map(|flow| Known { packet, flow, left_with: NONE, port: None });
        if let Some(id) = id {
            self.set(id, known.unwrap_or(STRANGER));
        }
        let Some(known) = known else { return UNKNOWN_PACKET };
        self.push_of(known, at, port, Hop::Arrived { bytes: frame.len() as u32 }, &[]);
        packet
    }

    /// Keeps an event of a known packet as [`HopLog::push`] does.
    fn push_of(&mut self, known: Known, at: Time, port: u16, hop: Hop, frame: &[u8]) -> bool {
        let Known { packet, flow, .. } = known;
        self.push(HopEvent { at, packet, flow, node: self.node, port, hop }, frame)
    }

    /// Records a frame that was refused before it had an id.
    pub(crate) fn refused(&mut self, at: Time, port: u16, frame: &Frame, cause: DropCause) {
        let packet = self.arrived(None, at, port, frame);
        if packet != UNKNOWN_PACKET {
            let hop = Hop::dropped(frame.len() as u32, Depth::default(), Cause::Switch(cause));
            self.push_of(Known { packet, ..STRANGER }, at, port, hop, frame);
        }
    }

    /// Marks the packet with this id as not recorded: it did not arrive from outside.
    pub(crate) fn forget(&mut self, id: PacketId) {
        self.set(id, STRANGER);
    }

    /// Records a copy of a packet.
    pub(crate) fn copied(&mut self, id: PacketId, copy: PacketId, at: Time, port: u16) {
        let Some(original) = self.known(id) else { return self.set(copy, STRANGER) };
        let known = Known { packet: self.number(), left_with: NONE, port: None, ..original };
        self.set(copy, known);
        self.push_of(known, at, port, Hop::Copied { of: original.packet }, &[]);
    }

    /// Records a run of ingress or egress.
    pub(crate) fn ran(&mut self, id: PacketId, at: Time, port: u16, egress: bool, phv: &Phv, bytes: usize) {
        let Some(known) = self.known(id) else { return };
        let port = match self.filter.port_field {
            Some(place) if !egress => u16::try_from(phv.get(self.fields[place])).unwrap_or(port),
            _ => port,
        };
        self.inside[id as usize].port = Some(port);
        // Values without a kept event would stay forever.
        if self.fields.is_empty()
            || self.events.len() >= self.filter.limit
            || !(self.filter.from..self.filter.until).contains(&at)
        {
            return;
        }
        let values = self.values.len() as u32;
        self.values.extend(self.fields.iter().map(|field| phv.get_wide(*field) as u64));
        if egress {
            self.inside[id as usize].left_with = values;
            return;
        }
        if !self.push_of(known, at, port, Hop::Judged { bytes: bytes as u32, values }, &[]) {
            self.values.truncate(values as usize);
        }
    }

    /// Returns the port that the program chose for a known packet, once ingress or egress has run.
    pub(crate) fn meant_for(&self, id: PacketId) -> Option<u16> {
        self.known(id).and_then(|known| known.port)
    }

    /// Completes an event of a packet and records it.
    pub(crate) fn note(&mut self, id: PacketId, at: Time, port: u16, mut hop: Hop, frame: &[u8]) {
        let Some(known) = self.known(id) else { return };
        let (Hop::Sent { values, .. } | Hop::Dropped { values, .. }) = &mut hop else {
            self.push_of(known, at, port, hop, &[]);
            return;
        };
        *values = known.left_with;
        self.set(id, STRANGER);
        if !self.push_of(known, at, port, hop, frame) && known.left_with != NONE {
            self.values.truncate(known.left_with as usize);
        }
    }

    /// Counts a sent packet. Must be called for every packet that is sent, before [`HopLog::note`].
    pub(crate) fn count_sent(&mut self, id: PacketId) {
        if self.tells_sent {
            self.sent.push_back(self.known(id).map_or(UNKNOWN_PACKET, |known| known.packet));
        }
    }
}

const _: () = assert!(std::mem::size_of::<HopEvent>() == 64, "many are kept");
