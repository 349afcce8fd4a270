//! Following packets through the switch: what happened to one, and to its copies, in order.
//!
//! [`Switch::follow`] says which frames to follow, by their tag; [`Switch::take_journey`] hands out what was written down.
//! While nothing is followed, arrival, ingress and egress each look at one `Option` per packet, and so do the places that
//! copy, drop or recirculate one; what they then run was compiled without any of this, see `bm`'s `observe`. Nothing here
//! changes what happens to a packet.

use std::collections::BTreeMap;

use bm::trace::{Event, Lvalue, Trace};
use bm::{Fault, Program};
use units::{Duration, Time};

use crate::frame::Frame;
use crate::packet::PacketId;
use crate::stats::DropCause;

/// Steps that are written down; what follows is left out and [`Journey::is_cut`] says so. A packet that recirculates while
/// it waits makes several steps a round.
pub const MAX_STEPS: usize = 100_000;

/// The way of the followed packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journey {
    /// In the order in which they happened.
    pub steps: Vec<Step>,
    /// Whether more than [`MAX_STEPS`] happened.
    pub is_cut: bool,
    /// Followed packets, copies included, that are still inside: queued, or on their way round the loop.
    pub inside: usize,
}

/// One thing that happened to one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The packet: a number for each frame received and for each copy, from 0.
    pub packet: u32,
    /// When.
    pub at: Time,
    /// What.
    pub what: What,
}

/// What can happen to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It came in by this port.
    Arrived {
        /// Port.
        port: u16,
        /// The frame.
        frame: Vec<u8>,
    },
    /// It was parsed and its checksums verified.
    Parsed {
        /// What the parser did.
        events: Vec<Event>,
        /// The parser's error, a value of the program's errors.
        error: u32,
        /// Whether every checksum that the program verifies is right.
        checksums_hold: bool,
    },
    /// It went through a pipeline.
    Ran {
        /// Egress; otherwise ingress.
        egress: bool,
        /// What the pipeline did.
        events: Vec<Event>,
        /// Everything that is not zero after it.
        values: Vec<(Lvalue, u128)>,
        /// Why it stopped, if the program failed.
        fault: Option<Fault>,
    },
    /// A copy of it was made, which has this number.
    Copied {
        /// The copy.
        to: u32,
    },
    /// No copy could be made.
    NotCopied {
        /// Why.
        cause: DropCause,
    },
    /// It is a clone, made in this session, in ingress or egress.
    Clone {
        /// Session.
        session: u16,
        /// Made after egress; otherwise after ingress.
        egress: bool,
    },
    /// A clone was asked for in a session that does not exist.
    NoCloneSession {
        /// Session.
        session: u16,
    },
    /// It is one of the packets that a multicast group makes.
    Replica {
        /// Group.
        group: u16,
        /// Replication id.
        rid: u16,
        /// Port that it goes to.
        port: u16,
    },
    /// It runs through ingress again at once.
    Resubmitted,
    /// It entered a queue.
    Queued {
        /// Port.
        port: u16,
        /// Priority of the queue.
        priority: usize,
        /// Packets before it in that queue.
        packets_ahead: usize,
        /// Bytes waiting in all queues of the port, this packet excluded.
        bytes_ahead: u64,
        /// When the port's gate opens: now or before when it is open, [`Time::MAX`] when it never does.
        gate_opens: Time,
        /// When the pause of the queue ends: now or before when there is none.
        pause_ends: Time,
        /// When the wire has sent what it is sending.
        wire_free: Time,
    },
    /// It left the queue.
    Dequeued {
        /// Port.
        port: u16,
    },
    /// It was put together again; checksums were computed.
    Deparsed {
        /// Fields that changed.
        events: Vec<Event>,
    },
    /// It went round to ingress.
    Recirculated {
        /// When it is there.
        back_at: Time,
    },
    /// It was lost.
    Dropped {
        /// Port that counts the drop.
        port: u16,
        /// Why.
        cause: DropCause,
    },
    /// It left.
    Sent {
        /// Port.
        port: u16,
        /// How long the wire is busy with it.
        wire_time: Duration,
        /// The frame.
        frame: Vec<u8>,
    },
}

/// The packets that are followed, and what was written down about them.
pub(crate) struct Follower {
    tag: u64,
    trace: Trace,
    /// Followed packets that are inside, with their numbers.
    followed: BTreeMap<PacketId, u32>,
    next: u32,
    journey: Journey,
}

impl Follower {
    /// Follows frames that arrive with this tag.
    pub(crate) fn new(program: &Program, tag: u64) -> Self {
        let trace = Trace::new(program);
        Self { tag, trace, followed: BTreeMap::new(), next: 0, journey: Journey::default() }
    }

    fn step(&mut self, packet: u32, at: Time, what: What) {
        if self.journey.steps.len() < MAX_STEPS {
            self.journey.steps.push(Step { packet, at, what });
        } else {
            self.journey.is_cut = true;
        }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Returns whether frames that arrive with this tag are followed.
    pub(crate) fn is_for(&self, tag: u64) -> bool {
        self.tag == tag
    }

    pub(crate) fn follows(&self, id: PacketId) -> bool {
        self.followed.contains_key(&id)
    }

    /// Returns how many steps wait to be taken.
    pub(crate) fn steps(&self) -> usize {
        self.journey.steps.len()
    }

    /// Takes what was written down since the last call.
    pub(crate) fn take(&mut self) -> Journey {
        Journey { inside: self.followed.len(), ..std::mem::take(&mut self.journey) }
    }

    /// Follows a packet from now on.
    pub(crate) fn add(&mut self, id: PacketId) {
        let number = self.number();
        self.followed.insert(id, number);
    }

    /// Adds a step of a packet, if it is followed.
    pub(crate) fn note(&mut self, id: PacketId, at: Time, what: What) {
        let Some(&packet) = self.followed.get(&id) else { return };
        if matches!(what, What::Dropped { .. } | What::Sent { .. }) {
            self.followed.remove(&id);
        }
        self.step(packet, at, what);
    }

    /// Adds a frame that was refused before it had an id.
    pub(crate) fn refused(&mut self, at: Time, port: u16, frame: &Frame, cause: DropCause) {
        let packet = self.number();
        self.step(packet, at, What::Arrived { port, frame: frame.to_vec() });
        self.step(packet, at, What::Dropped { port, cause });
    }

    /// Adds that a packet was copied, and follows the copy if the packet is followed.
    pub(crate) fn copied(&mut self, id: PacketId, copy: PacketId, at: Time) {
        if let Some(&packet) = self.followed.get(&id) {
            let to = self.number();
            self.followed.insert(copy, to);
            self.step(packet, at, What::Copied { to });
        }
    }

    /// Adds a step made of what has been traced of a packet since the last, if it is followed.
    pub(crate) fn traced(&mut self, id: PacketId, at: Time, what: impl FnOnce(&mut Trace) -> What) {
        if let Some(&packet) = self.followed.get(&id) {
            let what = what(&mut self.trace);
            self.step(packet, at, what);
        }
    }

    /// Returns what is to trace the packet, if it is followed.
    pub(crate) fn trace(&mut self, id: PacketId) -> Option<&mut Trace> {
        self.follows(id).then_some(&mut self.trace)
    }
}
