//! A loaded program: immutable, shared between switches by `Arc`. Names are kept for the runtime interface and for
//! error messages; packets use dense ids only.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::calculation::{Calculation, HashCall};
use crate::checksum::Checksum;
use crate::error::LoadError;
use crate::header::{Header, HeaderType, Stack, Union, UnionStack, VlStore};
use crate::limits::Limits;
use crate::match_table::MatchTable;
use crate::native::Native;
use crate::observe::Mark;
use crate::op::{Op, Pc, Slot};
use crate::parser::Select;
use crate::phv::Field;
use crate::rare::Rare;
use crate::target::LogValue;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);
    };
}
id!(
    /// A parser of the program.
    ParserId
);
id!(
    /// A deparser of the program.
    DeparserId
);
id!(
    /// A pipeline of the program: v1model has `ingress` and `egress`.
    PipelineId
);
id!(
    /// An action: an index into [`Program::actions`].
    ActionId
);
id!(
    /// A field list or learn list, resolved.
    FieldList
);

impl ActionId {
    /// Index into [`Program::actions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How one key field, or a table as a whole, matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchType {
    /// Equal.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Under a mask, by priority. P4's `optional` arrives as this.
    Ternary,
    /// Between two bounds, by priority.
    Range,
    /// Header validity (P4_14's `valid`).
    Valid,
}

/// How a table finds its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableType {
    /// An action in each entry.
    Simple,
    /// A member of an action profile in each entry.
    Indirect,
    /// A member or a group of an action profile in each entry; the selector picks among a group's members.
    IndirectWs,
}

/// One key field of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableKeyInfo {
    /// Name as the runtime interface and P4Info show it.
    pub name: String,
    /// How it matches.
    pub match_type: MatchType,
    /// Width in bits.
    pub bitwidth: u32,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Fully qualified name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Match type of the whole table.
    pub match_type: MatchType,
    /// Direct or through an action profile.
    pub table_type: TableType,
    /// Key fields in order.
    pub key: Vec<TableKeyInfo>,
    /// Actions it may call.
    pub actions: Vec<ActionId>,
    /// Largest number of entries.
    pub max_size: usize,
    /// Name of its action profile, for indirect tables.
    pub action_profile: Option<String>,
    /// Whether entries carry counters.
    pub with_counters: bool,
    /// Name of its direct meter array.
    pub direct_meter: Option<String>,
    /// Whether entries keep the time of their last hit and may have a time-out.
    pub support_timeout: bool,
    /// Entries come from the program and cannot be changed.
    pub const_entries: bool,
    /// The default action (and its data) cannot be changed.
    pub const_default: bool,
}

/// One parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamInfo {
    /// Name.
    pub name: String,
    /// Width in bits.
    pub bitwidth: u32,
}

/// An action. Several may share a name (`NoAction`); a table's action list tells them apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionInfo {
    /// Fully qualified name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Runtime data, in order.
    pub params: Vec<ParamInfo>,
}

/// An action profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionProfileInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Largest number of members (0: no limit).
    pub max_size: usize,
    /// Whether it has a selector and so groups.
    pub with_selector: bool,
}

/// A register array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Cells.
    pub size: usize,
    /// Width of a cell in bits.
    pub bitwidth: u32,
}

/// A counter array. BMv2 counters count packets and bytes both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Cells (of an indirect counter).
    pub size: usize,
    /// Table whose entries it counts, if direct.
    pub direct_table: Option<String>,
}

/// A meter array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Cells (of an indirect meter).
    pub size: usize,
    /// Meters bytes; otherwise packets.
    pub bytes: bool,
    /// Rates a meter has: 2 for v1model.
    pub rate_count: usize,
    /// Table whose entries it meters, if direct.
    pub direct_table: Option<String>,
}

/// A parser value set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseVsetInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Width of a value without padding, in bits.
    pub bitwidth: u32,
}

/// A field list (what a clone, resubmit or recirculation keeps).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldListInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON: what the primitive passes.
    pub id: u32,
    /// Its fields.
    pub list: FieldList,
}

/// A learn list (what a digest samples).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnListInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON: what the primitive passes.
    pub id: u32,
    /// Its fields.
    pub list: FieldList,
    /// Widths of its elements in bits.
    pub bitwidths: Vec<u32>,
}

/// An enum, or the program's errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumInfo {
    /// Name.
    pub name: String,
    /// Constants and their values.
    pub entries: Vec<(String, u64)>,
}

/// A deparser: headers in the order of emission.
#[derive(Debug)]
pub(crate) struct Deparser {
    pub(crate) name: String,
    pub(crate) headers: Vec<u32>,
}

/// A parser or pipeline: where its instructions begin.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) pc: Pc,
}

/// One `log_msg` call.
#[derive(Debug)]
pub(crate) struct LogCall {
    pub(crate) format: String,
    /// In slots.
    pub(crate) values: Vec<LogValue>,
}

/// A loaded program.
#[derive(Debug)]
pub struct Program {
    pub(crate) header_types: Vec<HeaderType>,
    pub(crate) headers: Vec<Header>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) unions: Vec<Union>,
    pub(crate) union_stacks: Vec<UnionStack>,
    pub(crate) vl_stores: Vec<VlStore>,
    pub(crate) vl_bytes: usize,
    pub(crate) metadata_end: usize,
    pub(crate) reset_end: usize,
    pub(crate) param_base: usize,
    pub(crate) const_base: usize,
    pub(crate) constants: Vec<u64>,
    pub(crate) condition_slot: Slot,
    pub(crate) ops: Vec<Op>,
    /// What begins at which instruction, in order; only of a program loaded for tracing. See `observe`.
    pub(crate) marks: Option<Vec<(Pc, Mark)>>,
    pub(crate) rare: Vec<Rare>,
    pub(crate) selects: Vec<Select>,
    pub(crate) hash_calls: Vec<HashCall>,
    pub(crate) log_calls: Vec<LogCall>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) checksums: Vec<Checksum>,
    pub(crate) parsers: Vec<Start>,
    pub(crate) pipelines: Vec<Start>,
    pub(crate) deparsers: Vec<Deparser>,
    pub(crate) core_errors: CoreErrors,
    pub(crate) match_tables: Vec<MatchTable>,
    pub(crate) profile_selectors: Vec<Option<Calculation>>,
    pub(crate) lists: Vec<Vec<Field>>,
    pub(crate) max_steps: u32,
    pub(crate) max_parser_steps: u32,
    pub(crate) names: Names,
    pub(crate) tables: Vec<TableInfo>,
    pub(crate) actions: Vec<ActionInfo>,
    pub(crate) action_profiles: Vec<ActionProfileInfo>,
    pub(crate) register_arrays: Vec<RegisterInfo>,
    pub(crate) counter_arrays: Vec<CounterInfo>,
    pub(crate) meter_arrays: Vec<MeterInfo>,
    pub(crate) parse_vsets: Vec<ParseVsetInfo>,
    pub(crate) field_lists: Vec<FieldListInfo>,
    pub(crate) learn_lists: Vec<LearnListInfo>,
    pub(crate) enums: Vec<EnumInfo>,
    pub(crate) errors: EnumInfo,
    /// The instructions as native code, made with the first [`crate::State`]; `None` where there can be none.
    pub(crate) native: OnceLock<Option<Native>>,
}

/// Names to dense ids, for load and the runtime interface.
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

/// Values of the core library's parser errors. BMv2 gives those that the program does not list the reserved 2^31 - 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CoreErrors {
    pub(crate) no_error: u32,
    pub(crate) packet_too_short: u32,
    pub(crate) stack_out_of_bounds: u32,
    pub(crate) header_too_short: u32,
    pub(crate) parser_timeout: u32,
    pub(crate) parser_invalid_argument: u32,
}

/// What BMv2 reserves for a core error without a value.
pub(crate) const UNLISTED_ERROR: u32 = i32::MAX as u32;

impl Program {
    /// Loads a BMv2 JSON with the default [`Limits`].
    pub fn from_json(json: &[u8]) -> Result<Program, LoadError> {
        Program::from_json_with(json, &Limits::default())
    }

    /// Loads a BMv2 JSON.
    pub fn from_json_with(json: &[u8], limits: &Limits) -> Result<Program, LoadError> {
        crate::load::load(json, limits, false)
    }

    /// Loads a BMv2 JSON so that a [`crate::trace::Trace`] can say what of the source each event belongs to. It does to packets
    /// what the same JSON loaded otherwise does, and is compiled without passes that merge or drop instructions.
    pub fn from_json_for_tracing(json: &[u8]) -> Result<Program, LoadError> {
        crate::load::load(json, &Limits::default(), true)
    }

    /// The parser of this name (v1model: "parser").
    pub fn parser(&self, name: &str) -> Option<ParserId> {
        position(&self.parsers, |p| p.name == name).map(ParserId)
    }

    /// The deparser of this name (v1model: "deparser").
    pub fn deparser(&self, name: &str) -> Option<DeparserId> {
        position(&self.deparsers, |d| d.name == name).map(DeparserId)
    }

    /// The pipeline of this name (v1model: "ingress", "egress").
    pub fn pipeline(&self, name: &str) -> Option<PipelineId> {
        position(&self.pipelines, |p| p.name == name).map(PipelineId)
    }

    /// A field by header instance and member; field aliases are looked at first, as BMv2 does.
    /// Variable-length fields have none.
    pub fn field(&self, header: &str, field: &str) -> Option<Field> {
        if let Some(&aliased) = self.names.aliases.get(&(header.to_owned(), field.to_owned())) {
            return Some(aliased);
        }
        let h = &self.headers[*self.names.headers.get(header)? as usize];
        if field == "$valid$" {
            return Some(Field { slot: h.valid, width: 1, signed: false });
        }
        let f = self.header_types[h.type_id as usize].field(field).filter(|f| !f.variable)?;
        Some(Field { slot: h.base + f.off, width: f.width as u16, signed: f.signed })
    }

    /// The field list with this JSON id; 0 is never one.
    pub fn field_list(&self, id: u64) -> Option<FieldList> {
        self.field_lists.iter().find(|l| u64::from(l.id) == id && id != 0).map(|l| l.list)
    }

    /// The learn list with this JSON id; 0 is never one.
    pub fn learn_list(&self, id: u64) -> Option<&LearnListInfo> {
        self.learn_lists.iter().find(|l| u64::from(l.id) == id && id != 0)
    }

    /// The value of an error constant, such as "PacketTooShort", that the program lists.
    pub fn error_code(&self, name: &str) -> Option<u32> {
        self.errors.entries.iter().find(|(n, _)| n == name).map(|&(_, value)| value as u32)
    }

    /// Tables in dense order.
    pub fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    /// Actions in dense order.
    pub fn actions(&self) -> &[ActionInfo] {
        &self.actions
    }

    /// Action profiles in dense order.
    pub fn action_profiles(&self) -> &[ActionProfileInfo] {
        &self.action_profiles
    }

    /// Register arrays in dense order.
    pub fn register_arrays(&self) -> &[RegisterInfo] {
        &self.register_arrays
    }

    /// Counter arrays in dense order.
    pub fn counter_arrays(&self) -> &[CounterInfo] {
        &self.counter_arrays
    }

    /// Meter arrays in dense order.
    pub fn meter_arrays(&self) -> &[MeterInfo] {
        &self.meter_arrays
    }

    /// Parser value sets in dense order.
    pub fn parse_vsets(&self) -> &[ParseVsetInfo] {
        &self.parse_vsets
    }

    /// Field lists in dense order.
    pub fn field_lists(&self) -> &[FieldListInfo] {
        &self.field_lists
    }

    /// Learn lists in dense order.
    pub fn learn_lists(&self) -> &[LearnListInfo] {
        &self.learn_lists
    }

    /// Enums.
    pub fn enums(&self) -> &[EnumInfo] {
        &self.enums
    }

    /// The program's errors.
    pub fn errors(&self) -> &EnumInfo {
        &self.errors
    }

    /// Whether a checksum covers what follows the headers; nothing else but a parser looks at it.
    pub fn reads_payloads(&self) -> bool {
        self.checksums.iter().any(|c| self.calculations[c.calculation as usize].payload)
    }

    /// Dense index of a register array (0-based), for [`crate::State::register_cell`].
    pub fn register_index(&self, name: &str) -> Option<usize> {
        self.names.registers.get(name).map(|&at| at as usize)
    }

    pub(crate) fn list_fields(&self, list: FieldList) -> &[Field] {
        &self.lists[list.0 as usize]
    }

    /// What begins at an instruction.
    pub(crate) fn marks_at(&self, pc: Pc) -> impl Iterator<Item = &Mark> {
        let marks = self.marks.as_deref().unwrap_or_default();
        let first = marks.partition_point(|(at, _)| *at < pc);
        marks[first..].iter().take_while(move |(at, _)| *at == pc).map(|(_, mark)| mark)
    }

    pub(crate) fn slots(&self) -> usize {
        self.const_base + self.constants.len()
    }
}

fn position<T>(items: &[T], found: impl FnMut(&T) -> bool) -> Option<u32> {
    items.iter().position(found).map(|at| at as u32)
}
