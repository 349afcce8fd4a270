//! Events with names instead of dense numbers, for readers.

use serde::Serialize;

use super::{Event, Hit, KeyMatch, Lvalue};
use crate::program::Program;

fn name<'a, T>(items: &'a [T], at: u32, of: impl Fn(&'a T) -> &'a str) -> &'a str {
    items.get(at as usize).map_or("?", of)
}

impl Lvalue {
    /// Returns the name as in the JSON, for example `ipv4.ttl` or `ipv4.$valid$`.
    pub fn name(self, program: &Program) -> String {
        match self {
            Lvalue::Field { header, field } => {
                let h = program.header(header);
                let fields = &program.header_type(h.type_id).fields;
                format!("{}.{}", h.name, name(fields, field, |f| &f.name))
            }
            Lvalue::Valid { header } => format!("{}.$valid$", program.header(header).name),
        }
    }

    /// Returns the width in bits; 0 for a field of variable length, whose value is its length in bytes.
    pub fn width(self, program: &Program) -> u32 {
        match self {
            Lvalue::Field { header, field } => {
                let h = program.header(header);
                program.header_type(h.type_id).fields[field as usize].width
            }
            Lvalue::Valid { .. } => 1,
        }
    }
}

/// A value of the packet, with its name in the JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedValue<'a> {
    /// Name within its header, action or key.
    pub name: &'a str,
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
pub struct NamedHit {
    /// Its handle.
    pub handle: u64,
    /// Its match on each key field.
    pub key: Vec<NamedMatch>,
    /// Prefix length, in an lpm table.
    pub prefix_length: Option<u32>,
    /// Priority (the lowest number wins), in a ternary or range table.
    pub priority: Option<u32>,
}

/// An [`Event`] with its names; `event` is its kind. Indices into the JSON's lists (`state`, `conditional`, `action_index`,
/// `primitive`) identify the place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TraceEvent"))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum NamedEvent<'a> {
    /// A parse state begins.
    #[cfg_attr(feature = "schema", schemars(title = "StateEvent"))]
    State {
        /// Parser.
        parser: &'a str,
        /// State of that parser, in the order of the JSON.
        state: u32,
    },
    /// A header was extracted.
    #[cfg_attr(feature = "schema", schemars(title = "ExtractEvent"))]
    Extract {
        /// Header instance.
        header: &'a str,
        /// Its position in the packet, in bytes.
        offset: usize,
        /// Its length in bytes.
        bytes: usize,
        /// Its fields; for a variable-length field, its length in bytes.
        fields: Vec<NamedValue<'a>>,
    },
    /// The parser branches on a key.
    #[cfg_attr(feature = "schema", schemars(title = "SelectEvent"))]
    Select {
        /// The key's parts.
        key: Vec<SelectKey>,
    },
    /// A conditional was decided.
    #[cfg_attr(feature = "schema", schemars(title = "ConditionEvent"))]
    Condition {
        /// Pipeline.
        pipeline: &'a str,
        /// Conditional of that pipeline, in the order of the JSON.
        conditional: u32,
        /// Whether it holds.
        holds: bool,
    },
    /// A table was looked up.
    #[cfg_attr(feature = "schema", schemars(title = "TableEvent"))]
    Table {
        /// Table.
        table: &'a str,
        /// The packet's values of the key fields.
        key: Vec<NamedValue<'a>>,
        /// The entry; `None` for a miss.
        hit: Option<NamedHit>,
        /// Action profile, if the table has one.
        profile: Option<&'a str>,
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
    #[cfg_attr(feature = "schema", schemars(title = "ActionEvent"))]
    Action {
        /// Action.
        action: &'a str,
        /// Its index in the JSON's list.
        action_index: u32,
        /// Its parameters.
        params: Vec<NamedValue<'a>>,
    },
    /// A primitive of an action begins.
    #[cfg_attr(feature = "schema", schemars(title = "StatementEvent"))]
    Statement {
        /// Action: its index in the JSON's list.
        action_index: u32,
        /// Primitive of that action, in the order of the JSON.
        primitive: u32,
    },
    /// The statement's condition was decided.
    #[cfg_attr(feature = "schema", schemars(title = "BranchEvent"))]
    Branch {
        /// Whether it holds.
        holds: bool,
    },
    /// A value changed.
    #[cfg_attr(feature = "schema", schemars(title = "SetEvent"))]
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
    #[cfg_attr(feature = "schema", schemars(title = "RegisterReadEvent"))]
    RegisterRead {
        /// Array.
        register: &'a str,
        /// Cell.
        index: u64,
        /// The value; `None` if the index is beyond the array, where nothing is read.
        value: Option<u128>,
    },
    /// A register cell was written.
    #[cfg_attr(feature = "schema", schemars(title = "RegisterWriteEvent"))]
    RegisterWrite {
        /// Array.
        register: &'a str,
        /// Cell.
        index: u64,
        /// The old value; `None` if the index is beyond the array, where nothing is written.
        old: Option<u128>,
        /// The new value; `None` likewise.
        new: Option<u128>,
    },
    /// A cell of an indirect counter counted the packet.
    #[cfg_attr(feature = "schema", schemars(title = "CountEvent"))]
    Count {
        /// Array.
        counter: &'a str,
        /// Cell.
        index: u64,
        /// Its new number of packets; `None` if the index is beyond the array.
        packets: Option<u64>,
        /// Its new number of bytes; `None` likewise.
        bytes: Option<u64>,
    },
    /// An indirect meter coloured the packet.
    #[cfg_attr(feature = "schema", schemars(title = "MeterEvent"))]
    Meter {
        /// Array.
        meter: &'a str,
        /// Cell.
        index: u64,
        /// The colour; `None` if the index is beyond the array.
        colour: Option<u64>,
    },
    /// A hash was computed: `base + hash % size`.
    #[cfg_attr(feature = "schema", schemars(title = "HashEvent"))]
    Hash {
        /// The result.
        result: u64,
        /// The value that is added.
        base: u64,
        /// Modulus.
        size: u64,
    },
    /// A random number was drawn.
    #[cfg_attr(feature = "schema", schemars(title = "RandomEvent"))]
    Random {
        /// Minimum.
        low: u64,
        /// Maximum.
        high: u64,
        /// The number drawn.
        drawn: u64,
    },
    /// A primitive that requests an operation of the switch, with its arguments in order.
    #[cfg_attr(feature = "schema", schemars(title = "RequestEvent"))]
    Request {
        /// Its name in the JSON: `mark_to_drop`, `clone_ingress_pkt_to_egress`, `recirculate`, ...
        primitive: &'a str,
        /// Arguments.
        arguments: &'a [u64],
    },
    /// The pipeline ends after this action.
    #[cfg_attr(feature = "schema", schemars(title = "ExitEvent"))]
    Exit,
    /// A checksum was verified or updated.
    #[cfg_attr(feature = "schema", schemars(title = "ChecksumEvent"))]
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

impl Event {
    /// Returns the event with its names.
    pub fn named<'a>(&'a self, program: &'a Program) -> NamedEvent<'a> {
        match self {
            Event::State { parser, state } => {
                NamedEvent::State { parser: name(program.parsers(), *parser, |p| &p.name), state: *state }
            }
            Event::Extract { header, offset, bytes, fields } => {
                let h = program.header(*header);
                let of = &program.header_type(h.type_id).fields;
                let parts = of.iter().zip(fields);
                let fields = parts
                    .map(|(f, value)| NamedValue { name: &f.name, width: f.width, value: *value })
                    .collect();
                NamedEvent::Extract { header: &h.name, offset: *offset, bytes: *bytes, fields }
            }
            Event::Select { fields, values } => {
                let part = |(f, value): (&Option<Lvalue>, &u128)| SelectKey {
                    name: f.map(|f| f.name(program)),
                    width: f.map(|f| f.width(program)),
                    value: *value,
                };
                NamedEvent::Select { key: fields.iter().zip(values).map(part).collect() }
            }
            Event::Condition { pipeline, conditional, holds } => NamedEvent::Condition {
                pipeline: name(program.pipelines(), *pipeline, |p| &p.name),
                conditional: *conditional,
                holds: *holds,
            },
            Event::Table { table, key, hit, group, hash, member } => {
                let info = program.table(*table);
                let parts = info.key.iter().zip(key);
                NamedEvent::Table {
                    table: &info.name,
                    key: parts
                        .map(|(k, value)| NamedValue { name: &k.name, width: k.bitwidth, value: *value })
                        .collect(),
                    hit: hit.as_ref().map(Hit::named),
                    profile: info.action_profile.as_deref(),
                    group: group.map(|(group, _)| group),
                    members: group.map(|(_, members)| members),
                    hash: *hash,
                    member: *member,
                }
            }
            Event::Action { action, params } => {
                let info = program.action(*action);
                let parts = info.params.iter().zip(params);
                NamedEvent::Action {
                    action: &info.name,
                    action_index: *action,
                    params: parts
                        .map(|(p, value)| NamedValue { name: &p.name, width: p.bitwidth, value: *value })
                        .collect(),
                }
            }
            Event::Statement { action, primitive } => {
                NamedEvent::Statement { action_index: *action, primitive: *primitive }
            }
            Event::Branch { holds } => NamedEvent::Branch { holds: *holds },
            Event::Set { lvalue, old, new } => NamedEvent::Set {
                field: lvalue.name(program),
                width: lvalue.width(program),
                old: *old,
                new: *new,
            },
            Event::RegisterRead { register, index, value } => NamedEvent::RegisterRead {
                register: name(program.register_arrays(), *register, |r| &r.name),
                index: *index,
                value: *value,
            },
            Event::RegisterWrite { register, index, change } => NamedEvent::RegisterWrite {
                register: name(program.register_arrays(), *register, |r| &r.name),
                index: *index,
                old: change.map(|(old, _)| old),
                new: change.map(|(_, new)| new),
            },
            Event::Count { counter, index, value } => NamedEvent::Count {
                counter: name(program.counter_arrays(), *counter, |c| &c.name),
                index: *index,
                packets: value.map(|v| v.packets),
                bytes: value.map(|v| v.bytes),
            },
            Event::Meter { meter, index, colour } => NamedEvent::Meter {
                meter: name(program.meter_arrays(), *meter, |m| &m.name),
                index: *index,
                colour: *colour,
            },
            Event::Hash { result, base, size } => {
                NamedEvent::Hash { result: *result, base: *base, size: *size }
            }
            Event::Random { low, high, drawn } => {
                NamedEvent::Random { low: *low, high: *high, drawn: *drawn }
            }
            Event::Request { primitive, arguments } => NamedEvent::Request { primitive, arguments },
            Event::Exit => NamedEvent::Exit,
            Event::Checksum { checksum, update, computed, found } => NamedEvent::Checksum {
                checksum: *checksum,
                update: *update,
                computed: *computed,
                found: *found,
            },
        }
    }
}

impl Hit {
    fn named(&self) -> NamedHit {
        let key = self.key.iter().map(|k| match *k {
            KeyMatch::Masked(value, mask) => NamedMatch::Masked { value, mask },
            KeyMatch::Range(first, last) => NamedMatch::Range { first, last },
        });
        NamedHit {
            handle: self.handle,
            key: key.collect(),
            prefix_length: self.prefix_length,
            priority: self.priority,
        }
    }
}
