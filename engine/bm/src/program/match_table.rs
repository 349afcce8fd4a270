//! Match tables: the program's declaration of each table, and the keys of entries.

use super::field::Field;
use super::info::MatchType;
use super::key::KeyPlan;
use super::op::Pc;

/// The program's declaration of a table.
#[derive(Debug)]
pub(crate) struct MatchTable {
    pub(crate) key: KeyPlan,
    pub(crate) match_type: MatchType,
    pub(crate) actions: Vec<TableAction>,
    /// Next node if the table misses and has no default action.
    pub(crate) next_none: Pc,
    /// Number of words of action data in each entry.
    pub(crate) stride: usize,
    pub(crate) profile: Option<u32>,
    /// Direct meter: its array, and the field for the colour. The array determines its kind.
    pub(crate) direct_meter: Option<(u32, Field)>,
    pub(crate) default: Option<ActionCall>,
    pub(crate) const_default_action: bool,
    /// Whether entries record the time of their last hit.
    pub(crate) ages: bool,
    pub(crate) const_entries: Vec<(PackedKey, ActionCall)>,
}

/// An action that a table may call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableAction {
    /// Index into the program's actions.
    pub(crate) action: u32,
    /// The first of the program's actions with this name and these parameters. p4c copies an action for each table that uses
    /// it, and a member of a profile shared by tables must be found under each of the copies.
    pub(crate) named: u32,
    pub(crate) pc: Pc,
    pub(crate) words: u32,
    pub(crate) next_hit: Pc,
    pub(crate) next_miss: Pc,
}

/// An action of a table by local index, with its data as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionCall {
    pub(crate) local: u32,
    pub(crate) data: Vec<u64>,
}

/// The bounds of a field, both inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Index into the key's fields.
    pub(crate) field: usize,
    /// Low word first, with as many words as the field has.
    pub(crate) first: Vec<u64>,
    pub(crate) last: Vec<u64>,
}

/// An entry's key, packed for its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedKey {
    pub(crate) value: Vec<u64>,
    /// All ones for exact fields, a prefix for lpm, zero for ranges.
    pub(crate) mask: Vec<u64>,
    pub(crate) bounds: Vec<Bound>,
    /// Prefix length, in an lpm table.
    pub(crate) prefix_length: u32,
    /// Priority, in a ternary or range table.
    pub(crate) priority: u32,
}
