//! Entries, members and groups as the control plane gives them and reads them back.

use crate::program::ActionId;

/// Names one entry of a table, as BMv2 does: the lowest free row in 24 bits, and above them, in eight, how many entries of
/// that row have been deleted.
pub type EntryHandle = u64;
/// Names one member of an action profile.
pub type MemberHandle = u64;
/// Names one group of an action profile.
pub type GroupHandle = u64;
/// Values of an action's parameters: big-endian bytes, leading zeros free, each checked against its width.
pub type ActionData = Vec<Vec<u8>>;

/// One field of a match key. Values are big-endian bytes, leading zeros free, checked against the field's width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchKeyParam {
    /// Equal.
    Exact(Vec<u8>),
    /// A prefix: value and prefix length in bits. Bits beyond the prefix must be zero.
    Lpm(Vec<u8>, u32),
    /// Value and mask. Bits of the value outside the mask must be zero.
    Ternary(Vec<u8>, Vec<u8>),
    /// First and last value, both included.
    Range(Vec<u8>, Vec<u8>),
    /// Header validity.
    Valid(bool),
}

/// What an entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MtAction {
    /// An action with its data (direct tables).
    Action(ActionId, ActionData),
    /// A member of the table's action profile.
    Member(MemberHandle),
    /// A group of the table's action profile.
    Group(GroupHandle),
}

/// What a table does on a miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtDefault {
    /// Nothing set: the table does nothing.
    pub action: Option<MtAction>,
}

/// One entry as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtEntry {
    /// Its handle.
    pub handle: EntryHandle,
    /// Its key as given, values padded to whole bytes of the field's width.
    pub key: Vec<MatchKeyParam>,
    /// BMv2 priority: the low number wins. 0 for exact and lpm tables.
    pub priority: u32,
    /// What it does.
    pub action: MtAction,
}

/// A member as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberInfo {
    /// Handle.
    pub handle: MemberHandle,
    /// Action.
    pub action: ActionId,
    /// Its data.
    pub data: ActionData,
}

/// A group as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// Handle.
    pub handle: GroupHandle,
    /// Members in the order in which the selector counts them, those that it passes over now included.
    pub members: Vec<MemberHandle>,
}
