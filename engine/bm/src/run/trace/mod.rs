//! Traces of one packet through parser and pipelines, as lists of events.
//!
//! A [`Trace`] observes runs of the instructions (`State::parse_traced`, `State::run_traced`, ...) and records what they read,
//! decide and change. Events hold dense numbers; [`Event::named`] resolves their names. Only a program loaded with
//! [`Program::from_json_for_tracing`] maps events to source constructs; other programs give the same events without states,
//! conditions, actions and statements.
//!
//! Tracing allocates and is slow. A switch without traces pays nothing for it: see `observe`.

mod names;
mod record;

use crate::program::Program;
use crate::run::phv::Phv;
use crate::tables::CounterValue;
pub use names::{NamedEvent, NamedHit, NamedMatch, NamedValue, SelectKey};
use record::Pending;

/// A part of the packet that instructions can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lvalue {
    /// A field of metadata or of a header: indices of the header, and of the field in its type.
    Field {
        /// Header instance.
        header: u32,
        /// Field of its type.
        field: u32,
    },
    /// The validity of a header.
    Valid {
        /// Header instance.
        header: u32,
    },
}

/// The entry that a packet hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its handle.
    pub handle: u64,
    /// Value and mask of each key field; first and last value of a range.
    pub key: Vec<KeyMatch>,
    /// Prefix length, in an lpm table.
    pub prefix_length: Option<u32>,
    /// Priority (the lowest number wins), in a ternary or range table.
    pub priority: Option<u32>,
}

/// The match of an entry on one key field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch {
    /// The value under the mask.
    Masked(u128, u128),
    /// First and last value.
    Range(u128, u128),
}

/// One event. Numbers are indices into the lists of [`Program`], unless a comment says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A parse state begins.
    State {
        /// Parser.
        parser: u32,
        /// State of that parser, in the order of the JSON.
        state: u32,
    },
    /// A header was extracted.
    Extract {
        /// Header instance.
        header: u32,
        /// Its position in the packet, in bytes.
        offset: usize,
        /// Its length in bytes.
        bytes: usize,
        /// Its fields; for a variable-length field, its length in bytes.
        fields: Vec<u128>,
    },
    /// The parser branches on a key.
    Select {
        /// The fields of the key; `None` for a lookahead or the field of a stack.
        fields: Vec<Option<Lvalue>>,
        /// Their values.
        values: Vec<u128>,
    },
    /// A conditional was decided.
    Condition {
        /// Pipeline.
        pipeline: u32,
        /// Conditional of that pipeline, in the order of the JSON.
        conditional: u32,
        /// Whether it holds.
        holds: bool,
    },
    /// A table was looked up.
    Table {
        /// Table.
        table: u32,
        /// The packet's values of the key fields.
        key: Vec<u128>,
        /// The entry; `None` for a miss.
        hit: Option<Hit>,
        /// Group of the action profile, and the number of its members that the selector may choose.
        group: Option<(u32, usize)>,
        /// The hash that the selector computed for the packet.
        hash: Option<u64>,
        /// Member of the action profile.
        member: Option<u32>,
    },
    /// An action begins.
    Action {
        /// Action.
        action: u32,
        /// Values of its parameters.
        params: Vec<u128>,
    },
    /// A primitive of an action begins.
    Statement {
        /// Action.
        action: u32,
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
        /// The changed part.
        lvalue: Lvalue,
        /// The old value.
        old: u128,
        /// The new value.
        new: u128,
    },
    /// A register cell was read.
    RegisterRead {
        /// Array.
        register: u32,
        /// Cell.
        index: u64,
        /// The value; `None` if the index is beyond the array, where nothing is read.
        value: Option<u128>,
    },
    /// A register cell was written.
    RegisterWrite {
        /// Array.
        register: u32,
        /// Cell.
        index: u64,
        /// Old and new value; `None` if the index is beyond the array, where nothing is written.
        change: Option<(u128, u128)>,
    },
    /// A cell of an indirect counter counted the packet.
    Count {
        /// Array.
        counter: u32,
        /// Cell.
        index: u64,
        /// The cell's new value; `None` if the index is beyond the array.
        value: Option<CounterValue>,
    },
    /// An indirect meter coloured the packet.
    Meter {
        /// Array.
        meter: u32,
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
    /// Every lvalue of the program, with its first slot and its number of words.
    lvalues: Vec<(Lvalue, u32, u32)>,
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
        for (id, header) in (0u32..).zip(program.headers()) {
            let fields = &program.header_type(header.type_id).fields;
            for (at, field) in (0u32..).zip(fields).filter(|(_, field)| field.width > 0 || field.variable) {
                let words = if field.width > 64 { 2 } else { 1 };
                lvalues.push((Lvalue::Field { header: id, field: at }, header.base + field.off, words));
            }
            if !header.metadata {
                lvalues.push((Lvalue::Valid { header: id }, header.valid, 1));
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

    /// Returns every field and validity bit that is not zero now, in the order of the program.
    pub fn values(&self, phv: &Phv) -> Vec<(Lvalue, u128)> {
        let value =
            |&(lvalue, slot, words): &(Lvalue, u32, u32)| (lvalue, record::value(&phv.slots, slot, words));
        self.lvalues.iter().map(value).filter(|(_, value)| *value != 0).collect()
    }
}
