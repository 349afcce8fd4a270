//! The declarations of a program for the control plane and the switch: names, ids, sizes.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);)*
    };
}

ids! {
    /// A parser of the program.
    ParserId,
    /// A deparser of the program.
    DeparserId,
    /// A pipeline of the program: v1model has `ingress` and `egress`.
    PipelineId,
    /// An action: an index into [`Program::actions`].
    ActionId,
    /// A field list or learn list, resolved.
    FieldList,
}

impl ActionId {
    /// Returns the index into [`Program::actions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The way in which one key field, or a table as a whole, matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchType {
    /// Equality.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Ternary match under a mask, by priority. P4's `optional` is compiled to this.
    Ternary,
    /// Between two bounds, by priority.
    Range,
    /// Header validity (P4_14's `valid`).
    Valid,
}

/// The way in which a table's entries refer to actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableType {
    /// Each entry has an action.
    Simple,
    /// Each entry has a member of an action profile.
    Indirect,
    /// Each entry has a member or a group of an action profile; the selector picks among a group's members.
    IndirectWs,
}

/// One key field of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableKeyInfo {
    /// Name in the runtime interface and in P4Info.
    pub name: String,
    /// Its match type.
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
    /// Whether entries have actions or refer to an action profile.
    pub table_type: TableType,
    /// Key fields in order.
    pub key: Vec<TableKeyInfo>,
    /// The actions that it may call.
    pub actions: Vec<ActionId>,
    /// Maximum number of entries.
    pub max_size: usize,
    /// Name of its action profile, for indirect tables.
    pub action_profile: Option<String>,
    /// Whether entries have counters.
    pub with_counters: bool,
    /// Name of its direct meter array, if any.
    pub direct_meter: Option<String>,
    /// Whether entries record the time of their last hit and may have a time-out.
    pub support_timeout: bool,
    /// Whether the program defines the entries, so that they cannot be changed.
    pub const_entries: bool,
    /// Whether the default action (with its data) cannot be changed.
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

/// An action. Several actions may share a name (`NoAction`); a table's action list distinguishes them.
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
    /// Maximum number of members (0: no limit).
    pub max_size: usize,
    /// Whether it has a selector, and therefore groups.
    pub with_selector: bool,
}

/// A register array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Number of cells.
    pub size: usize,
    /// Width of a cell in bits.
    pub bitwidth: u32,
}

/// A counter array. BMv2's counters count both packets and bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Number of cells of an indirect counter.
    pub size: usize,
    /// Table whose entries it counts, if it is direct.
    pub direct_table: Option<String>,
}

/// A meter array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON.
    pub id: u32,
    /// Number of cells of an indirect meter.
    pub size: usize,
    /// Whether it meters bytes; otherwise it meters packets.
    pub bytes: bool,
    /// Number of rates of a meter: 2 for v1model.
    pub rate_count: usize,
    /// Table whose entries it meters, if it is direct.
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

/// A field list: the fields that a clone, resubmit or recirculation keeps, or (a learn list) that a digest samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldListInfo {
    /// Name.
    pub name: String,
    /// Id in the JSON, which the primitive passes.
    pub id: u32,
    /// Its fields.
    pub list: FieldList,
}
