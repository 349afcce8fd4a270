//! Entries, members and groups in the form of the control plane.

/// The handle of a table entry, as in BMv2: the row in the low 24 bits (the lowest free one), and the number of deleted entries
/// of that row in the eight bits above.
pub type EntryHandle = u64;
/// The handle of a member of an action profile.
pub type MemberHandle = u64;
/// The handle of a group of an action profile.
pub type GroupHandle = u64;
/// Values of an action's parameters: big-endian bytes with any number of leading zeros, each checked against its width.
pub type ActionData = Vec<Vec<u8>>;

/// One field of a match key. Values are big-endian bytes with any number of leading zeros, checked against the field's width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchKeyParam {
    /// An exact value.
    Exact(Vec<u8>),
    /// A prefix: value and prefix length in bits. Bits beyond the prefix are cleared.
    Lpm(Vec<u8>, u32),
    /// Value and mask. Bits of the value outside the mask are cleared.
    Ternary(Vec<u8>, Vec<u8>),
    /// First and last value, both inclusive.
    Range(Vec<u8>, Vec<u8>),
    /// Header validity.
    Valid(bool),
}

/// The action of an entry, by handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MtAction {
    /// An action with its data (in direct tables).
    Action(String, ActionData),
    /// A member of the table's action profile.
    Member(MemberHandle),
    /// A group of the table's action profile.
    Group(GroupHandle),
}

/// The default entry of a table as read back; `A` is [`MtAction`] or [`super::ClientAction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultEntry<A> {
    /// Its action. `None`: a miss runs no action.
    pub action: Option<A>,
    /// Opaque bytes of the client.
    pub note: Vec<u8>,
    /// Whether it has been set since the program was loaded or the entry was reset.
    pub is_set: bool,
}

/// One entry as read back; `A` is [`MtAction`] or [`super::ClientAction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<A> {
    /// Its handle.
    pub handle: EntryHandle,
    /// Its key, with values padded to whole bytes of the field's width.
    pub key: Vec<MatchKeyParam>,
    /// BMv2 priority: the lowest number wins. 0 in exact and lpm tables.
    pub priority: u32,
    /// Its action.
    pub action: A,
    /// Opaque bytes of the client.
    pub note: Vec<u8>,
    /// Its time-out in nanoseconds; 0 means never.
    pub ttl_ns: u64,
}

/// A member as read back; `N` is a [`MemberHandle`], or the id that the client chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberInfo<N> {
    /// Its handle or id.
    pub number: N,
    /// Action.
    pub action: String,
    /// Its data.
    pub data: ActionData,
}

/// A group as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// Handle.
    pub handle: GroupHandle,
    /// Members in the order in which the selector counts them, including those that it skips at present.
    pub members: Vec<MemberHandle>,
}
