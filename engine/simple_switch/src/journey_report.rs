//! A journey as it is written: the engine's steps and events under their names.

use std::collections::BTreeMap;

use bm::trace::NamedEvent;
use bm::Program;
use serde::Serialize;
use units::Time;

use crate::{Journey, Step, What};

/// What became of the followed packets since `follow`. Times are picoseconds, frames hexadecimal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Journey"))]
pub struct JourneyReport<'a> {
    /// In order of time.
    pub steps: Vec<StepReport<'a>>,
    /// Whether more steps happened than are kept.
    pub is_cut: bool,
    /// How many followed packets are still in the switch.
    pub inside: usize,
}

/// One thing that happened to one packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "JourneyStep"))]
pub struct StepReport<'a> {
    /// The packet: 0 for the first frame, a number more for each further frame and copy.
    pub packet: u32,
    /// When.
    pub at_ps: u64,
    /// What.
    #[serde(flatten)]
    pub what: NamedWhat<'a>,
}

/// What can happen to a packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum NamedWhat<'a> {
    /// It came in.
    #[cfg_attr(feature = "schema", schemars(title = "ArrivedStep"))]
    Arrived {
        /// Port.
        port: u16,
        /// The frame.
        frame: String,
    },
    /// It was parsed and its checksums verified.
    #[cfg_attr(feature = "schema", schemars(title = "ParsedStep"))]
    Parsed {
        /// What the parser did.
        events: Vec<NamedEvent<'a>>,
        /// The parser's error, by the program's name; BMv2's number for one that the program does not list.
        error: String,
        /// Whether every checksum that the program verifies is right.
        checksums_hold: bool,
    },
    /// It went through ingress.
    #[cfg_attr(feature = "schema", schemars(title = "IngressStep"))]
    Ingress {
        /// What the pipeline did.
        events: Vec<NamedEvent<'a>>,
        /// Everything that is not zero after it.
        values: BTreeMap<String, u128>,
        /// Why it stopped, if the program failed.
        fault: Option<String>,
    },
    /// It went through egress.
    #[cfg_attr(feature = "schema", schemars(title = "EgressStep"))]
    Egress {
        /// What the pipeline did.
        events: Vec<NamedEvent<'a>>,
        /// Everything that is not zero after it.
        values: BTreeMap<String, u128>,
        /// Why it stopped, if the program failed.
        fault: Option<String>,
    },
    /// A copy of it was made.
    #[cfg_attr(feature = "schema", schemars(title = "CopiedStep"))]
    Copied {
        /// The copy.
        to: u32,
    },
    /// No copy could be made.
    #[cfg_attr(feature = "schema", schemars(title = "NotCopiedStep"))]
    NotCopied {
        /// Why.
        cause: &'static str,
    },
    /// It is a clone.
    #[cfg_attr(feature = "schema", schemars(title = "CloneStep"))]
    Clone {
        /// Session.
        session: u16,
        /// Made after egress; otherwise after ingress.
        egress: bool,
    },
    /// A clone was asked for in a session that does not exist.
    #[cfg_attr(feature = "schema", schemars(title = "NoCloneSessionStep"))]
    NoCloneSession {
        /// Session.
        session: u16,
    },
    /// It is one of the packets that a multicast group makes.
    #[cfg_attr(feature = "schema", schemars(title = "ReplicaStep"))]
    Replica {
        /// Group.
        group: u16,
        /// Replication id.
        rid: u16,
        /// Port that it goes to.
        port: u16,
    },
    /// It runs through ingress again at once.
    #[cfg_attr(feature = "schema", schemars(title = "ResubmittedStep"))]
    Resubmitted,
    /// It entered a queue.
    #[cfg_attr(feature = "schema", schemars(title = "QueuedStep"))]
    Queued {
        /// Port.
        port: u16,
        /// Priority of the queue.
        priority: usize,
        /// Packets before it in that queue.
        packets_ahead: usize,
        /// Bytes waiting in all queues of the port, this packet excluded.
        bytes_ahead: u64,
        /// When the port's gate opens: now or before when it is open, none when it never does.
        gate_opens_ps: Option<u64>,
        /// When the pause of the queue ends (priority flow control): now or before when there is none.
        pause_ends_ps: u64,
        /// When the wire has sent what it is sending.
        wire_free_ps: u64,
    },
    /// It left the queue.
    #[cfg_attr(feature = "schema", schemars(title = "DequeuedStep"))]
    Dequeued {
        /// Port.
        port: u16,
    },
    /// It was put together again; checksums were computed.
    #[cfg_attr(feature = "schema", schemars(title = "DeparsedStep"))]
    Deparsed {
        /// Fields that changed.
        events: Vec<NamedEvent<'a>>,
    },
    /// It went round to ingress.
    #[cfg_attr(feature = "schema", schemars(title = "RecirculatedStep"))]
    Recirculated {
        /// When it is there.
        back_at_ps: u64,
    },
    /// It was lost.
    #[cfg_attr(feature = "schema", schemars(title = "DroppedStep"))]
    Dropped {
        /// Port that counts it.
        port: u16,
        /// Why.
        cause: &'static str,
    },
    /// It left.
    #[cfg_attr(feature = "schema", schemars(title = "SentStep"))]
    Sent {
        /// Port.
        port: u16,
        /// How long the wire is busy with it.
        wire_time_ps: u64,
        /// The frame.
        frame: String,
    },
}

impl Journey {
    /// Returns the journey under the names of the program that the packets ran through.
    pub fn named<'a>(&'a self, program: &'a Program) -> JourneyReport<'a> {
        let steps = self.steps.iter().map(|step| step.named(program)).collect();
        JourneyReport { steps, is_cut: self.is_cut, inside: self.inside }
    }
}

impl Step {
    fn named<'a>(&'a self, program: &'a Program) -> StepReport<'a> {
        StepReport { packet: self.packet, at_ps: self.at.as_ps(), what: self.what.named(program) }
    }
}

impl What {
    fn named<'a>(&'a self, program: &'a Program) -> NamedWhat<'a> {
        let named = |events: &'a [bm::trace::Event]| -> Vec<NamedEvent<'a>> {
            events.iter().map(|event| event.named(program)).collect()
        };
        match self {
            What::Arrived { port, frame } => NamedWhat::Arrived { port: *port, frame: hex(frame) },
            What::Parsed { events, error, checksums_hold } => NamedWhat::Parsed {
                events: named(events),
                error: error_name(program, *error),
                checksums_hold: *checksums_hold,
            },
            What::Ran { egress, events, values, fault } => {
                let events = named(events);
                let values = values.iter().map(|(lvalue, value)| (lvalue.name(program), *value)).collect();
                let fault = fault.as_ref().map(ToString::to_string);
                if *egress {
                    NamedWhat::Egress { events, values, fault }
                } else {
                    NamedWhat::Ingress { events, values, fault }
                }
            }
            What::Copied { to } => NamedWhat::Copied { to: *to },
            What::NotCopied { cause } => NamedWhat::NotCopied { cause: cause.name() },
            What::Clone { session, egress } => NamedWhat::Clone { session: *session, egress: *egress },
            What::NoCloneSession { session } => NamedWhat::NoCloneSession { session: *session },
            What::Replica { group, rid, port } => {
                NamedWhat::Replica { group: *group, rid: *rid, port: *port }
            }
            What::Resubmitted => NamedWhat::Resubmitted,
            What::Queued {
                port,
                priority,
                packets_ahead,
                bytes_ahead,
                gate_opens,
                pause_ends,
                wire_free,
            } => NamedWhat::Queued {
                port: *port,
                priority: *priority,
                packets_ahead: *packets_ahead,
                bytes_ahead: *bytes_ahead,
                gate_opens_ps: (*gate_opens != Time::MAX).then(|| gate_opens.as_ps()),
                pause_ends_ps: pause_ends.as_ps(),
                wire_free_ps: wire_free.as_ps(),
            },
            What::Dequeued { port } => NamedWhat::Dequeued { port: *port },
            What::Deparsed { events } => NamedWhat::Deparsed { events: named(events) },
            What::Recirculated { back_at } => NamedWhat::Recirculated { back_at_ps: back_at.as_ps() },
            What::Dropped { port, cause } => NamedWhat::Dropped { port: *port, cause: cause.name() },
            What::Sent { port, wire_time, frame } => {
                NamedWhat::Sent { port: *port, wire_time_ps: wire_time.as_ps(), frame: hex(frame) }
            }
        }
    }
}

/// The program's name of a parser error; BMv2's number for one that the program does not list.
fn error_name(program: &Program, code: u32) -> String {
    let found = program.errors().entries.iter().find(|(_, value)| *value == u64::from(code));
    found.map_or_else(|| format!("error {code}"), |(name, _)| name.clone())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
