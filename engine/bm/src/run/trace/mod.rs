//! Traces of one packet through parser and pipelines, as lists of events.
//!
//! A [`Trace`] observes runs of the instructions ([`crate::State::parse`], [`crate::State::run`], ...) and records what they read,
//! decide and change. Only a program loaded with [`Program::from_json_for_tracing`] maps events to source constructs; other
//! programs give the same events without states, conditions, actions and statements.
//!
//! Tracing allocates and is slow. A switch without traces pays nothing for it: see `observe`.

mod record;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::program::{Program, Slot};
use crate::run::phv::{value, Phv};
use record::Pending;

/// A part of the packet that instructions can change.
#[derive(Debug)]
struct Lvalue {
    /// Its name as in the JSON, for example `ipv4.ttl` or `ipv4.$valid$`.
    name: String,
    /// Its width in bits; 0 for a field of variable length, whose value is its length in bytes.
    width: u32,
    /// Its first word.
    slot: Slot,
}

impl Lvalue {
    fn value(&self, slots: &[u64]) -> u128 {
        value(slots, self.slot, self.width)
    }
}

/// A value of the packet, with its name in the JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedValue {
    /// Name within its header, action or key.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// Value.
    pub value: u128,
}

/// A part of the key of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectKey {
    /// The field; `None` for a lookahead or the field of a stack.
    pub name: Option<String>,
    /// Its width in bits.
    pub width: Option<u32>,
    /// Value.
    pub value: u128,
}

/// The match of an entry on one key field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum NamedMatch {
    /// The value under the mask.
    #[cfg_attr(feature = "schema", schemars(title = "MaskedMatch"))]
    Masked {
        /// Value.
        value: u128,
        /// Mask.
        mask: u128,
    },
    /// A range.
    #[cfg_attr(feature = "schema", schemars(title = "RangeMatch"))]
    Range {
        /// First value.
        first: u128,
        /// Last value.
        last: u128,
    },
}

/// The entry that a packet hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TableHit"))]
pub struct Hit {
    /// Its handle.
    pub handle: u64,
    /// Its match on each key field.
    pub key: Vec<NamedMatch>,
    /// Prefix length, in an lpm table.
    pub prefix_length: Option<u32>,
    /// Priority (the lowest number wins), in a ternary or range table.
    pub priority: Option<u32>,
}

/// One event, with the program's names; `event` is its kind. Indices into the JSON's lists (`state`, `conditional`,
/// `action_index`, `primitive`) identify the place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TraceEvent"))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A parse state begins.
    State {
        /// Parser.
        parser: String,
        /// State of that parser, in the order of the JSON.
        state: u32,
    },
    /// A header was extracted.
    Extract {
        /// Header instance.
        header: String,
        /// Its position in the packet, in bytes.
        offset: usize,
        /// Its length in bytes.
        bytes: usize,
        /// Its fields; for a variable-length field, its length in bytes.
        fields: Vec<NamedValue>,
    },
    /// The parser branches on a key.
    Select {
        /// The key's parts.
        key: Vec<SelectKey>,
    },
    /// A conditional was decided.
    Condition {
        /// Pipeline.
        pipeline: String,
        /// Conditional of that pipeline, in the order of the JSON.
        conditional: u32,
        /// Whether it holds.
        holds: bool,
    },
    /// A table was looked up.
    Table {
        /// Table.
        table: String,
        /// The packet's values of the key fields.
        key: Vec<NamedValue>,
        /// The entry; `None` for a miss.
        hit: Option<Hit>,
        /// Action profile, if the table has one.
        profile: Option<String>,
        /// Group of the action profile.
        group: Option<u32>,
        /// Number of members that the selector may choose.
        members: Option<usize>,
        /// The hash that the selector computed for the packet.
        hash: Option<u64>,
        /// Member of the action profile.
        member: Option<u32>,
    },
    /// An action begins.
    Action {
        /// Action.
        action: String,
        /// Its index in the JSON's list.
        action_index: u32,
        /// Its parameters.
        params: Vec<NamedValue>,
    },
    /// A primitive of an action begins.
    Statement {
        /// Action: its index in the JSON's list.
        action_index: u32,
        /// Primitive of that action, in the order of the JSON.
        primitive: u32,
    },
    /// The statement's condition was decided.
    Branch {
        /// Whether it holds.
        holds: bool,
    },
    /// A value changed.
    Set {
        /// The changed part, such as `ipv4.ttl` or `ipv4.$valid$`.
        field: String,
        /// Width in bits; 0 for a field of variable length, whose value is its length in bytes.
        width: u32,
        /// The old value.
        old: u128,
        /// The new value.
        new: u128,
    },
    /// A register cell was read.
    RegisterRead {
        /// Array.
        register: String,
        /// Cell.
        index: u64,
        /// The value; `None` if the index is beyond the array, where nothing is read.
        value: Option<u128>,
    },
    /// A register cell was written.
    RegisterWrite {
        /// Array.
        register: String,
        /// Cell.
        index: u64,
        /// The old value; `None` if the index is beyond the array, where nothing is written.
        old: Option<u128>,
        /// The new value; `None` likewise.
        new: Option<u128>,
    },
    /// A cell of an indirect counter counted the packet.
    Count {
        /// Array.
        counter: String,
        /// Cell.
        index: u64,
        /// Its new number of packets; `None` if the index is beyond the array.
        packets: Option<u64>,
        /// Its new number of bytes; `None` likewise.
        bytes: Option<u64>,
    },
    /// An indirect meter coloured the packet.
    Meter {
        /// Array.
        meter: String,
        /// Cell.
        index: u64,
        /// The colour; `None` if the index is beyond the array.
        colour: Option<u64>,
    },
    /// A hash was computed: `base + hash % size`.
    Hash {
        /// The result.
        result: u64,
        /// The value that is added.
        base: u64,
        /// Modulus.
        size: u64,
    },
    /// A random number was drawn.
    Random {
        /// Minimum.
        low: u64,
        /// Maximum.
        high: u64,
        /// The number drawn.
        drawn: u64,
    },
    /// A primitive that requests an operation of the switch, with its arguments in order.
    Request {
        /// Its name in the JSON: `mark_to_drop`, `clone_ingress_pkt_to_egress`, `recirculate`, ...
        primitive: &'static str,
        /// Arguments.
        arguments: Vec<u64>,
    },
    /// The pipeline ends after this action.
    Exit,
    /// A checksum was verified or updated.
    Checksum {
        /// Checksum, in the order of the JSON.
        checksum: u32,
        /// Whether it was updated; otherwise it was verified.
        update: bool,
        /// The computed value; `None` if the condition does not hold, or the header to be verified is not valid.
        computed: Option<u64>,
        /// The value in its field.
        found: u128,
    },
}

/// Observes one packet and records events.
#[derive(Debug)]
pub struct Trace {
    events: Vec<Event>,
    /// Every lvalue of the program.
    lvalues: Vec<Lvalue>,
    /// The packet's slots before the current instruction.
    slots: Vec<u64>,
    pending: Pending,
    /// The current condition: its instructions, the place where it continues if it holds, and the construct that it belongs to.
    condition: Option<record::Undecided>,
    scratch: Vec<u64>,
}

impl Trace {
    /// Returns a trace for packets of `program`.
    pub fn new(program: &Program) -> Trace {
        let mut lvalues = Vec::new();
        for header in &program.packet.headers {
            let fields = &program.header_type(header.type_id).fields;
            for field in fields.iter().filter(|field| field.width > 0 || field.variable) {
                let name = format!("{}.{}", header.name, field.name);
                lvalues.push(Lvalue { name, width: field.width, slot: header.base + field.off });
            }
            if !header.metadata {
                let name = format!("{}.$valid$", header.name);
                lvalues.push(Lvalue { name, width: 1, slot: header.valid });
            }
        }
        Trace {
            events: Vec::new(),
            lvalues,
            slots: Vec::new(),
            pending: Pending::Nothing,
            condition: None,
            scratch: Vec::new(),
        }
    }

    /// Removes and returns the events so far, in order.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Records a verified or updated checksum.
    pub(crate) fn checksum(&mut self, checksum: u32, update: bool, computed: Option<u64>, found: u128) {
        self.events.push(Event::Checksum { checksum, update, computed, found });
    }

    /// Returns the value of every field and validity bit that is not zero now, by name.
    pub fn values(&self, phv: &Phv) -> BTreeMap<String, u128> {
        let values = self.lvalues.iter().map(|lvalue| (lvalue.name.clone(), lvalue.value(&phv.slots)));
        values.filter(|(_, value)| *value != 0).collect()
    }
}
