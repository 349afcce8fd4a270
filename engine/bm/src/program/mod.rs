//! A loaded program, immutable and shared between switches. It keeps names for the runtime interface and for error messages;
//! packets use dense ids only.
//!
//! This module knows neither the JSON, nor the contents of tables, nor packets.

mod algorithm;
mod calculation;
mod cold_op;
mod field;
mod flow;
mod header;
mod info;
mod key;
mod layout;
mod liveness;
mod mark;
mod match_table;
mod op;
mod select;

use std::collections::HashMap;

pub use algorithm::CrcParameters;
pub(crate) use algorithm::{Algorithm, Crc};
pub(crate) use calculation::{join_fields, Calculation, Checksum, HashCall, Input};
pub(crate) use cold_op::{ColdOp, Extracted, Operation, Wide};
pub use field::Field;
pub(crate) use flow::{flow, FlowNode};
pub(crate) use header::{Header, HeaderType, Stack, Union, UnionType, VlStore};
pub use info::{
    ActionId, ActionInfo, ActionProfileInfo, CounterInfo, DeparserId, FieldList, FieldListInfo, MatchType,
    MeterInfo, ParamInfo, ParseVsetInfo, ParserId, PipelineId, RegisterInfo, TableInfo, TableKeyInfo,
    TableType,
};
pub(crate) use key::{ones_128, KeyField, KeyPlan};
#[cfg(test)]
pub(crate) use layout::tests::bits_at;
pub(crate) use layout::{FieldDef, Layout, Piece};
pub use liveness::Kept;
pub(crate) use mark::Mark;
pub(crate) use match_table::{ActionCall, Bound, MatchTable, PackedKey, TableAction};
pub(crate) use op::{Binary, Comparison, LogCall, Op, Pc, Slot, Unary};
pub use op::{LogValue, Request};
pub(crate) use select::{Case, Select, Test};

/// A deparser: its headers in the order of emission.
#[derive(Debug)]
pub(crate) struct Deparser {
    pub(crate) name: String,
    pub(crate) headers: Vec<u32>,
}

/// The start of a parser or pipeline in the instructions.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) pc: Pc,
}

/// A loaded program.
#[derive(Debug)]
pub struct Program {
    pub(crate) packet: PacketLayout,
    pub(crate) code: Code,
    pub(crate) declared: Declared,
}

/// The location of headers, metadata, parameters and constants in a packet's slots.
#[derive(Debug, Default)]
pub(crate) struct PacketLayout {
    pub(crate) header_types: Vec<HeaderType>,
    pub(crate) headers: Vec<Header>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) unions: Vec<Union>,
    pub(crate) vl_stores: Vec<VlStore>,
    /// Total number of bytes of variable-length fields.
    pub(crate) vl_bytes: usize,
    /// The end of metadata, which comes first.
    pub(crate) metadata_end: usize,
    /// The end of headers, which come next: a reset zeroes all slots up to here.
    pub(crate) reset_end: usize,
    /// The start of the parameters of the running action.
    pub(crate) param_base: usize,
    /// The start of the constants, which come last.
    pub(crate) const_base: usize,
    pub(crate) constants: Vec<u64>,
    /// The slot for the condition of a checksum.
    pub(crate) condition_slot: Slot,
    /// Field lists and learn lists.
    pub(crate) lists: Vec<Vec<Field>>,
}

impl PacketLayout {
    /// Returns a field by name, as [`Program::field`] does.
    pub(crate) fn field(&self, names: &Names, header: &str, field: &str) -> Option<Field> {
        if let Some(&aliased) = names.aliases.get(&(header.to_owned(), field.to_owned())) {
            return Some(aliased);
        }
        let h = &self.headers[*names.headers.get(header)? as usize];
        if field == "$valid$" {
            return Some(Field { slot: h.shown.unwrap_or(h.valid), width: 1, signed: false });
        }
        let f = self.header_types[h.type_id as usize].field(field).filter(|f| f.width > 0)?;
        Some(Field { slot: h.base + f.off, width: f.width as u16, signed: f.signed })
    }
}

/// The executable part: instructions, their starting points, and the objects that they refer to.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    /// The constructs that begin at instructions, in order; only for a program loaded for tracing. See `run::observe`.
    pub(crate) marks: Option<Vec<(Pc, Mark)>>,
    pub(crate) cold_ops: Vec<ColdOp>,
    pub(crate) selects: Vec<Select>,
    pub(crate) hash_calls: Vec<HashCall>,
    pub(crate) log_calls: Vec<LogCall>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) checksums: Vec<Checksum>,
    pub(crate) match_tables: Vec<MatchTable>,
    /// Selectors, by action profile.
    pub(crate) selectors: Vec<Option<Calculation>>,
    pub(crate) parsers: Vec<Start>,
    pub(crate) pipelines: Vec<Start>,
    pub(crate) deparsers: Vec<Deparser>,
    pub(crate) core_errors: CoreErrors,
    /// Maximum number of backward jumps and table applications in one pipeline run.
    pub(crate) max_steps: u32,
    /// Maximum number of parse states that one packet may enter.
    pub(crate) max_parser_steps: u32,
}

/// The declarations of the program.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) names: Names,
    pub(crate) tables: Vec<TableInfo>,
    pub(crate) actions: Vec<ActionInfo>,
    pub(crate) action_profiles: Vec<ActionProfileInfo>,
    pub(crate) register_arrays: Vec<RegisterInfo>,
    pub(crate) counter_arrays: Vec<CounterInfo>,
    pub(crate) meter_arrays: Vec<MeterInfo>,
    pub(crate) parse_vsets: Vec<ParseVsetInfo>,
    pub(crate) field_lists: Vec<FieldListInfo>,
    pub(crate) learn_lists: Vec<FieldListInfo>,
    pub(crate) errors: Vec<(String, u64)>,
}

/// Dense ids by name, for the loader and the runtime interface.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) headers: HashMap<String, u32>,
    pub(crate) aliases: HashMap<(String, String), Field>,
    pub(crate) tables: HashMap<String, u32>,
    pub(crate) profiles: HashMap<String, u32>,
    pub(crate) registers: HashMap<String, u32>,
    pub(crate) counters: HashMap<String, u32>,
    pub(crate) meters: HashMap<String, u32>,
    pub(crate) vsets: HashMap<String, u32>,
    pub(crate) calculations: HashMap<String, u32>,
}

/// Values of the core library's parser errors. BMv2 uses the reserved value 2^31 - 1 for errors that the program does not list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CoreErrors {
    pub(crate) no_error: u32,
    pub(crate) packet_too_short: u32,
    pub(crate) stack_out_of_bounds: u32,
    pub(crate) header_too_short: u32,
    pub(crate) parser_timeout: u32,
    pub(crate) parser_invalid_argument: u32,
}

/// BMv2's value for a core error that the program does not list.
pub(crate) const UNLISTED_ERROR: u32 = i32::MAX as u32;

impl Program {
    /// Returns the parser with this name (v1model: "parser").
    pub fn parser(&self, name: &str) -> Option<ParserId> {
        position(&self.code.parsers, |p| p.name == name).map(ParserId)
    }

    /// Returns the deparser with this name (v1model: "deparser").
    pub fn deparser(&self, name: &str) -> Option<DeparserId> {
        position(&self.code.deparsers, |d| d.name == name).map(DeparserId)
    }

    /// Returns the pipeline with this name (v1model: "ingress", "egress").
    pub fn pipeline(&self, name: &str) -> Option<PipelineId> {
        position(&self.code.pipelines, |p| p.name == name).map(PipelineId)
    }

    /// Returns the field of a header instance; field aliases have precedence, as in BMv2. Returns `None` for variable-length
    /// fields.
    pub fn field(&self, header: &str, field: &str) -> Option<Field> {
        self.packet.field(&self.declared.names, header, field)
    }

    /// Returns the field list with this JSON id; no field list has id 0.
    pub fn field_list(&self, id: u64) -> Option<FieldList> {
        self.declared.field_lists.iter().find(|l| u64::from(l.id) == id && id != 0).map(|l| l.list)
    }

    /// Returns the learn list with this JSON id; no learn list has id 0.
    pub fn learn_list(&self, id: u64) -> Option<&FieldListInfo> {
        self.declared.learn_lists.iter().find(|l| u64::from(l.id) == id && id != 0)
    }

    /// Returns the value of an error constant of the program, such as "PacketTooShort".
    pub fn error_code(&self, name: &str) -> Option<u32> {
        self.declared.errors.iter().find(|(n, _)| n == name).map(|&(_, value)| value as u32)
    }

    /// Returns the program's errors with their values.
    pub fn errors(&self) -> &[(String, u64)] {
        &self.declared.errors
    }

    /// Returns whether a checksum covers the payload; apart from parsers, nothing else reads it.
    pub fn reads_payloads(&self) -> bool {
        self.code.checksums.iter().any(|c| self.code.calculations[c.calculation as usize].payload)
    }

    /// Returns the dense index of a register array (0-based), for [`crate::State::register_cell`].
    pub fn register_index(&self, name: &str) -> Option<usize> {
        self.declared.names.registers.get(name).map(|&at| at as usize)
    }

    pub(crate) fn list_fields(&self, list: FieldList) -> &[Field] {
        &self.packet.lists[list.0 as usize]
    }

    #[inline]
    pub(crate) fn vl_store(&self, id: u32) -> VlStore {
        self.packet.vl_stores[id as usize]
    }

    /// Returns the value of a slot, if it holds a constant.
    #[inline]
    pub(crate) fn constant(&self, slot: Slot) -> Option<u64> {
        self.packet.constants.get((slot as usize).checked_sub(self.packet.const_base)?).copied()
    }

    /// Returns the id of the header that a slot names, if the slot is constant.
    pub(crate) fn constant_header(&self, slot: Slot) -> Option<u32> {
        let id = u32::try_from(self.constant(slot)?).ok()?;
        ((id as usize) < self.packet.headers.len()).then_some(id)
    }

    /// Returns the selector's calculation of an action profile, if it has one.
    #[inline]
    pub(crate) fn selector(&self, profile: u32) -> Option<&Calculation> {
        self.code.selectors[profile as usize].as_ref()
    }

    /// Returns whether the program was loaded for tracing.
    pub(crate) fn is_marked(&self) -> bool {
        self.code.marks.is_some()
    }

    /// Returns the constructs that begin at an instruction.
    pub(crate) fn marks_at(&self, pc: Pc) -> impl Iterator<Item = &Mark> {
        let marks = self.code.marks.as_deref().unwrap_or_default();
        let first = marks.partition_point(|(at, _)| *at < pc);
        marks[first..].iter().take_while(move |(at, _)| *at == pc).map(|(_, mark)| mark)
    }

    pub(crate) fn slots(&self) -> usize {
        self.packet.const_base + self.packet.constants.len()
    }
}

/// Defines methods that return an element of a list by its id.
macro_rules! by_id {
    ($($name:ident: $element:ty = $part:ident.$list:ident;)*) => {
        impl Program {
            $(#[inline]
            pub(crate) fn $name(&self, id: u32) -> &$element {
                &self.$part.$list[id as usize]
            })*
        }
    };
}

by_id! {
    header: Header = packet.headers;
    header_type: HeaderType = packet.header_types;
    stack: Stack = packet.stacks;
    union: Union = packet.unions;
    cold_op: ColdOp = code.cold_ops;
    select: Select = code.selects;
    hash_call: HashCall = code.hash_calls;
    log_call: LogCall = code.log_calls;
    calculation: Calculation = code.calculations;
    match_table: MatchTable = code.match_tables;
    table: TableInfo = declared.tables;
    action: ActionInfo = declared.actions;
    action_profile: ActionProfileInfo = declared.action_profiles;
    register_array: RegisterInfo = declared.register_arrays;
    counter_array: CounterInfo = declared.counter_arrays;
    meter_array: MeterInfo = declared.meter_arrays;
    parse_vset: ParseVsetInfo = declared.parse_vsets;
}

/// Defines methods that return the program's declarations of a kind.
macro_rules! declarations {
    ($($list:ident: $element:ty = $what:literal;)*) => {
        impl Program {
            $(#[doc = concat!("Returns the ", $what, " in dense order.")]
            pub fn $list(&self) -> &[$element] {
                &self.declared.$list
            })*
        }
    };
}

declarations! {
    tables: TableInfo = "tables";
    actions: ActionInfo = "actions";
    action_profiles: ActionProfileInfo = "action profiles";
    register_arrays: RegisterInfo = "register arrays";
    counter_arrays: CounterInfo = "counter arrays";
    meter_arrays: MeterInfo = "meter arrays";
    parse_vsets: ParseVsetInfo = "parser value sets";
}

fn position<T>(items: &[T], found: impl FnMut(&T) -> bool) -> Option<u32> {
    items.iter().position(found).map(|at| at as u32)
}
