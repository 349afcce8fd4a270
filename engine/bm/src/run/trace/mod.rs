//! One packet's way through parser and pipelines, as a list of events.
//!
//! A [`Trace`] watches runs of the instructions (`State::parse_traced`, `State::run_traced`, ...) and writes down what they
//! read, decide and change. Events hold dense numbers; [`Event::named`] gives them their names. What each
//! event belongs to in the source is known for a program loaded with [`Program::from_json_for_tracing`] only; other
//! programs give the same events without states, conditions, actions and statements.
//!
//! Tracing allocates and is slow. A switch that traces nothing does not pay for it: see `observe`.

mod names;
mod record;

use crate::program::Program;
use crate::run::phv::Phv;
use crate::tables::CounterValue;
pub use names::{NamedEvent, NamedHit, NamedMatch, NamedValue, SelectKey};
use record::Pending;

/// Something that a packet's instructions can change about the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lvalue {
    /// A field, of metadata or of a header: indices of the header and of the field in its type.
    Field {
        /// Header instance.
        header: u32,
        /// Field of its type.
        field: u32,
    },
    /// Whether a header is valid.
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
    /// Value and mask of each key field; a range has first and last instead.
    pub key: Vec<KeyMatch>,
    /// Prefix length, of an lpm table.
    pub prefix_length: Option<u32>,
    /// Priority (the low number wins), of a ternary or range table.
    pub priority: Option<u32>,
}

/// What an entry wants of one key field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch {
    /// The value under the mask.
    Masked(u128, u128),
    /// First and last.
    Range(u128, u128),
}

/// One thing that happened. Numbers without a word of their own are indices into the lists of [`Program`].
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
        /// Where it is in the packet, in bytes.
        offset: usize,
        /// Its length in bytes.
        bytes: usize,
        /// Its fields; of one of variable length, the bytes it has.
        fields: Vec<u128>,
    },
    /// The parser branches on a key.
    Select {
        /// The fields that make the key; none for a lookahead or the field of a stack.
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
        /// Which way.
        holds: bool,
    },
    /// A table was looked up.
    Table {
        /// Table.
        table: u32,
        /// The packet's values of the key fields.
        key: Vec<u128>,
        /// The entry; none for a miss.
        hit: Option<Hit>,
        /// Group of the action profile, and how many members the selector may choose from.
        group: Option<(u32, usize)>,
        /// What the selector made of the packet: its hash.
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
        /// Which way.
        holds: bool,
    },
    /// A value changed.
    Set {
        /// What.
        lvalue: Lvalue,
        /// Before.
        old: u128,
        /// Now.
        new: u128,
    },
    /// A register cell was read.
    RegisterRead {
        /// Array.
        register: u32,
        /// Cell.
        index: u64,
        /// None beyond the array, where nothing is read.
        value: Option<u128>,
    },
    /// A register cell was written.
    RegisterWrite {
        /// Array.
        register: u32,
        /// Cell.
        index: u64,
        /// Before and now; none beyond the array, where nothing is written.
        change: Option<(u128, u128)>,
    },
    /// A cell of an indirect counter counted the packet.
    Count {
        /// Array.
        counter: u32,
        /// Cell.
        index: u64,
        /// What it shows now; none beyond the array.
        value: Option<CounterValue>,
    },
    /// An indirect meter coloured the packet.
    Meter {
        /// Array.
        meter: u32,
        /// Cell.
        index: u64,
        /// The colour; none beyond the array.
        colour: Option<u64>,
    },
    /// A hash was computed: `base + hash % size`.
    Hash {
        /// The result.
        result: u64,
        /// Added.
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
        /// What came.
        drawn: u64,
    },
    /// A primitive that asks something of the switch, with its arguments in order.
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
        /// Updated; otherwise verified.
        update: bool,
        /// What was computed; none where its condition does not hold, or its header is not there to be verified.
        computed: Option<u64>,
        /// What its field had.
        found: u128,
    },
}

/// Watches one packet and writes events down.
#[derive(Debug)]
pub struct Trace {
    events: Vec<Event>,
    /// Every lvalue of the program: what it is, its first slot, its words.
    lvalues: Vec<(Lvalue, u32, u32)>,
    /// The packet's slots before the instruction under way.
    slots: Vec<u64>,
    pending: Pending,
    /// The condition under way: its instructions, where it goes on when it holds, and what it is of.
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

    /// Takes the events so far, in order.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Records a checksum that was verified or updated.
    pub(crate) fn checksum(&mut self, checksum: u32, update: bool, computed: Option<u64>, found: u128) {
        self.events.push(Event::Checksum { checksum, update, computed, found });
    }

    /// Returns every field and validity that is not zero now, in the order of the program.
    pub fn values(&self, phv: &Phv) -> Vec<(Lvalue, u128)> {
        let value =
            |&(lvalue, slot, words): &(Lvalue, u32, u32)| (lvalue, record::value(&phv.slots, slot, words));
        self.lvalues.iter().map(value).filter(|(_, value)| *value != 0).collect()
    }
}
