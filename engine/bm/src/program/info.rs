//! What a program declares, as the control plane and the switch around it see it: names, ids, sizes.

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
    /// Returns the index into [`Program::actions`].
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
