//! QCN or DCQCN at a NIC: messages from switches or notifications from receivers, and the limiters of the flows that they name.
//!
//! A flow is a 5-tuple, as in the bytes that a message carries. The first message creates a limiter for the flow and moves the flow's
//! frames from the FIFO into it. The flow's reaction point sets the limiter's rate until it is the link's again. Flows with a limiter of
//! another owner keep that one. With a reaction point per pair or host, a message about one flow affects all flows that share it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;

use units::{DataRate, Time};
use wire::FiveTuple;

use crate::reaction::{QcnScope, ReactionPoint, ReactionSettings};
use crate::report::QcnReport;

/// IEEE 802.1Q-2022 table 30-1.
const ETHERTYPE: u16 = 0x22E7;
/// Ethernet header and PDU, without the bytes of the sampled frame.
const HEADER_BYTES: usize = 38;
const MAX_CARRIED_BYTES: usize = 64;

/// Returns whether a frame is a congestion notification message.
#[inline]
pub(super) fn is_message(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ETHERTYPE.to_be_bytes())
}

/// The contents of a message: the flow, and the strength of the feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) flow: FiveTuple,
    /// QCN's feedback. A notification of DCQCN has no strength: 1.
    pub(super) feedback: u8,
}

/// Represents all flows of a host.
const ALL_FLOWS: FiveTuple = FiveTuple {
    source: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    protocol: 0,
    source_port: 0,
    destination_port: 0,
};

impl QcnScope {
    /// Returns the key of all flows that share a flow's reaction point.
    pub(super) fn of(self, flow: FiveTuple) -> FiveTuple {
        match self {
            Self::Flow => flow,
            Self::Pair => FiveTuple { source: flow.source, destination: flow.destination, ..ALL_FLOWS },
            Self::Host => ALL_FLOWS,
        }
    }
}

impl Message {
    /// Parses a frame of [`ETHERTYPE`]; `None` if it is malformed.
    pub(super) fn of(frame: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
        let (first, length) = (word(14)?, usize::from(word(36)?));
        let carried = frame.get(HEADER_BYTES..HEADER_BYTES + length)?;
        if first >> 12 != 0 || length > MAX_CARRIED_BYTES {
            return None;
        }
        // The carried bytes follow the addresses of the sampled frame.
        let mut sampled = [0; 12 + MAX_CARRIED_BYTES];
        sampled[12..12 + length].copy_from_slice(carried);
        let flow = FiveTuple::of_beginning(&sampled[..12 + length])?;
        Some(Self { flow, feedback: (first & 0x3F) as u8 })
    }
}

/// A flow with a limiter.
struct Limited {
    flow: FiveTuple,
    point: ReactionPoint,
}

/// The reaction points of a NIC.
pub(super) struct Reactions {
    settings: ReactionSettings,
    pub(super) scope: QcnScope,
    line: DataRate,
    /// Addresses of the host.
    own: [Option<IpAddr>; 2],
    /// Limiters by flow.
    numbers: BTreeMap<FiveTuple, NonZeroU32>,
    /// Flows, indexed by the limiter's number less one.
    limited: Vec<Option<Limited>>,
    /// When a rate may change by itself; sometimes too early, never too late.
    due: Time,
    /// Rate changes by timers that have not been applied.
    changes: VecDeque<Change>,
    pub(super) counts: QcnReport,
}

/// The effect of a message or a timer on the rate of a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Rate(NonZeroU32, u64),
    /// The flow has the link's rate again.
    Release(NonZeroU32),
}

impl Reactions {
    pub(super) fn new(settings: ReactionSettings, line: DataRate, own: [Option<IpAddr>; 2]) -> Self {
        Self {
            settings,
            scope: match settings {
                ReactionSettings::Qcn(settings) => settings.scope,
                ReactionSettings::Dcqcn(_) => QcnScope::Flow,
            },
            line,
            own,
            numbers: BTreeMap::new(),
            limited: Vec::new(),
            due: Time::MAX,
            changes: VecDeque::new(),
            counts: QcnReport::default(),
        }
    }

    /// Returns whether it reacts to messages of switches.
    pub(super) fn is_qcn(&self) -> bool {
        matches!(self.settings, ReactionSettings::Qcn(_))
    }

    /// Returns the limiter in which a flow's frames wait.
    #[inline]
    pub(super) fn limiter_of(&self, frame: &[u8]) -> Option<NonZeroU32> {
        if self.numbers.is_empty() {
            return None;
        }
        self.numbers.get(&self.scope.of(FiveTuple::of_beginning(frame)?)).copied()
    }

    /// Returns whether a message is about a flow of this host.
    pub(super) fn is_own(&self, message: &Message) -> bool {
        self.own.contains(&Some(message.flow.source))
    }

    /// Returns whether a message requires a new limiter.
    pub(super) fn is_new(&self, message: &Message) -> bool {
        message.feedback > 0 && !self.numbers.contains_key(&self.scope.of(message.flow))
    }

    /// Assigns a limiter to a flow, or to all flows that share its reaction point.
    pub(super) fn add(&mut self, flow: FiveTuple, number: NonZeroU32) {
        let flow = self.scope.of(flow);
        let place = number.get() as usize - 1;
        if self.limited.len() <= place {
            self.limited.resize_with(place + 1, || None);
        }
        self.limited[place] = Some(Limited { flow, point: ReactionPoint::new(self.settings, self.line) });
        self.numbers.insert(flow, number);
        self.counts.max_limiters = self.counts.max_limiters.max(self.numbers.len() as u64);
    }

    /// Handles a message. Returns the change to the rate of the flow's limiter.
    pub(super) fn handle(&mut self, now: Time, message: &Message) -> Option<Change> {
        let number = *self.numbers.get(&self.scope.of(message.flow))?;
        let limited = self.limited[number.get() as usize - 1].as_mut()?;
        limited.point.handle(now, message.feedback);
        self.due = self.due.min(limited.point.next_timeout());
        Some(Change::Rate(number, limited.point.rate_bps()))
    }

    /// Counts a frame that has left a limiter; `bytes` is its length on the wire. Returns the change to the rate, if any.
    pub(super) fn sent(&mut self, now: Time, number: NonZeroU32, bytes: u64) -> Option<Change> {
        let limited = self.limited.get_mut(number.get() as usize - 1)?.as_mut()?;
        let before = limited.point.rate_bps();
        limited.point.sent(now, bytes);
        Self::change(number, &limited.point, before)
    }

    fn change(number: NonZeroU32, point: &ReactionPoint, before: u64) -> Option<Change> {
        if point.is_at_line_rate() {
            return Some(Change::Release(number));
        }
        (point.rate_bps() != before).then(|| Change::Rate(number, point.rate_bps()))
    }

    /// Returns when [`Reactions::advance`] must run next.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        (self.due < Time::MAX).then_some(self.due)
    }

    /// Runs the timers of all reaction points due by `now`. [`Reactions::next_change`] returns the effects.
    pub(super) fn advance(&mut self, now: Time) {
        self.due = Time::MAX;
        for (place, limited) in self.limited.iter_mut().enumerate() {
            let Some(limited) = limited else { continue };
            let before = limited.point.rate_bps();
            limited.point.advance(now);
            self.due = self.due.min(limited.point.next_timeout());
            let number = NonZeroU32::MIN.saturating_add(place as u32);
            self.changes.extend(Self::change(number, &limited.point, before));
        }
    }

    /// Returns a rate change by a timer that has not been applied.
    pub(super) fn next_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Removes the limiter of a flow.
    pub(super) fn remove(&mut self, number: NonZeroU32) {
        if let Some(limited) = self.limited[number.get() as usize - 1].take() {
            self.numbers.remove(&limited.flow);
        }
    }
}
