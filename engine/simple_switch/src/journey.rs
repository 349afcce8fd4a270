//! Following packets through the switch: what happened to a packet and its copies, in order.
//!
//! [`Switch::follow`] selects the frames by their tag; [`Switch::take_journey`] returns the recorded steps. While
//! nothing is followed, arrival, ingress and egress each check one `Option` per packet, as do the places that copy,
//! drop or recirculate one; the code that they then run was compiled without tracing, see `bm`'s `observe`. Following a
//! packet does not change what happens to it.

use std::collections::BTreeMap;

use bm::trace::{Event, Trace};
use bm::{Fault, Program};
use serde::{Serialize, Serializer};
use units::{Duration, Time};

use crate::frame::Frame;
use crate::packet::PacketId;
use crate::stats::DropCause;

/// Maximum number of recorded steps; further ones are left out, and [`Journey::is_cut`] is set. A packet that
/// recirculates while it waits makes several steps per round.
pub const MAX_STEPS: usize = 100_000;

/// What happened to the followed packets since `follow`, or since the last journey. Times are in picoseconds, frames in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Journey {
    /// The steps in order of time.
    pub steps: Vec<Step>,
    /// Whether more steps happened than were kept.
    pub is_cut: bool,
    /// Number of followed packets still in the switch.
    pub inside: usize,
}

/// One thing that happened to one packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "JourneyStep"))]
pub struct Step {
    /// The packet: 0 for the first frame, and the next number for each further frame or copy.
    pub packet: u32,
    /// Time.
    #[serde(rename = "at_ps")]
    pub at: Time,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What can happen to a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum What {
    /// It arrived.
    Arrived {
        /// Port.
        port: u16,
        /// The frame.
        #[serde(serialize_with = "hex")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame: Vec<u8>,
    },
    /// It was parsed and its checksums verified.
    Parsed {
        /// What the parser did.
        events: Vec<Event>,
        /// The parser's error by its name in the program, or BMv2's number if the program does not list it.
        error: String,
        /// Whether every checksum that the program verifies is right.
        checksums_hold: bool,
    },
    /// It went through ingress.
    Ingress(Ran),
    /// It went through egress.
    Egress(Ran),
    /// A copy of it was made.
    Copied {
        /// The copy.
        to: u32,
    },
    /// No copy could be made.
    NotCopied {
        /// Why.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        cause: DropCause,
    },
    /// It is a clone.
    Clone {
        /// Session.
        session: u16,
        /// Whether it was made after egress; otherwise after ingress.
        egress: bool,
    },
    /// A clone was requested in a session that does not exist.
    NoCloneSession {
        /// Session.
        session: u16,
    },
    /// It is a replica of a multicast group.
    Replica {
        /// Group.
        group: u16,
        /// Replication id.
        rid: u16,
        /// Port to which it goes.
        port: u16,
    },
    /// It runs through ingress again at the same instant.
    Resubmitted,
    /// It entered a queue.
    Queued {
        /// Port.
        port: u16,
        /// Priority of the queue.
        priority: usize,
        /// Packets ahead of it in that queue.
        packets_ahead: usize,
        /// Bytes waiting in all queues of the port, this packet excluded.
        bytes_ahead: u64,
        /// Time at which the port's gate opens: not after now if it is open, none if it never opens.
        #[serde(rename = "gate_opens_ps", serialize_with = "ps_or_never")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
        gate_opens: Time,
        /// Time at which the pause of the queue ends (priority flow control): not after now if there is none.
        #[serde(rename = "pause_ends_ps")]
        pause_ends: Time,
        /// Time at which the wire becomes free.
        #[serde(rename = "wire_free_ps")]
        wire_free: Time,
    },
    /// It left the queue.
    Dequeued {
        /// Port.
        port: u16,
    },
    /// It was deparsed, and its checksums were computed.
    Deparsed {
        /// Fields that changed.
        events: Vec<Event>,
    },
    /// It was recirculated.
    Recirculated {
        /// Time at which it reaches ingress.
        #[serde(rename = "back_at_ps")]
        back_at: Time,
    },
    /// It was lost.
    Dropped {
        /// Port at which the drop is counted.
        port: u16,
        /// Why.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        cause: DropCause,
    },
    /// It left.
    Sent {
        /// Port.
        port: u16,
        /// Time for which the wire is busy with it.
        #[serde(rename = "wire_time_ps")]
        wire_time: Duration,
        /// The frame.
        #[serde(serialize_with = "hex")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame: Vec<u8>,
    },
}

/// What a pipeline did to a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Ran {
    /// What the pipeline did.
    pub events: Vec<Event>,
    /// All values that are not zero after it.
    pub values: BTreeMap<String, u128>,
    /// The fault that ended the run, if the program failed.
    #[serde(serialize_with = "text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub fault: Option<Fault>,
}

/// Returns a parser error's name in the program, or BMv2's number if the program does not list it.
#[cold]
pub(crate) fn error_name(program: &Program, code: u32) -> String {
    let mut errors = program.errors().iter();
    let listed = errors.find(|(_, value)| *value == u64::from(code));
    listed.map_or_else(|| format!("error {code}"), |(name, _)| name.clone())
}

fn ps_or_never<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    (*time != Time::MAX).then_some(time).serialize(serializer)
}

fn text<S: Serializer>(fault: &Option<Fault>, serializer: S) -> Result<S::Ok, S::Error> {
    fault.as_ref().map(ToString::to_string).serialize(serializer)
}

fn hex<S: Serializer>(frame: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The followed packets, and the steps recorded of them.
pub(crate) struct Follower {
    tag: u64,
    pub(crate) trace: Trace,
    /// Followed packets that are inside the switch, with their numbers.
    followed: BTreeMap<PacketId, u32>,
    next: u32,
    journey: Journey,
}

impl Follower {
    /// Creates a follower of frames that arrive with this tag.
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

    /// Returns the number of steps not yet taken.
    pub(crate) fn steps(&self) -> usize {
        self.journey.steps.len()
    }

    /// Takes the steps recorded since the last call.
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

    /// Adds the steps of a frame that was refused before it had an id.
    pub(crate) fn refused(&mut self, at: Time, port: u16, frame: &Frame, cause: DropCause) {
        let packet = self.number();
        self.step(packet, at, What::Arrived { port, frame: frame.to_vec() });
        self.step(packet, at, What::Dropped { port, cause });
    }

    /// Adds the step of a copy and follows the copy, if the packet is followed.
    pub(crate) fn copied(&mut self, id: PacketId, copy: PacketId, at: Time) {
        if let Some(&packet) = self.followed.get(&id) {
            let to = self.number();
            self.followed.insert(copy, to);
            self.step(packet, at, What::Copied { to });
        }
    }

    /// Adds a step with what was traced since the last step, if the packet is followed.
    pub(crate) fn traced(&mut self, id: PacketId, at: Time, what: impl FnOnce(&mut Self) -> What) {
        if let Some(&packet) = self.followed.get(&id) {
            let what = what(self);
            self.step(packet, at, what);
        }
    }

    /// Returns the trace for a packet, if it is followed.
    pub(crate) fn trace(&mut self, id: PacketId) -> Option<&mut Trace> {
        self.follows(id).then_some(&mut self.trace)
    }
}
