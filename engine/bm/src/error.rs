//! What can go wrong: loading a program, the runtime interface, one packet. Nothing here is about a port or a clock.

use thiserror::Error;

/// A program that cannot be loaded, with the place in the JSON and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {reason}")]
pub struct LoadError {
    /// Where in the JSON, for example `actions[12] 'EeonIngress.admit' primitives[3]`.
    pub place: String,
    /// What is wrong there and what would be right.
    pub reason: String,
}

impl LoadError {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        LoadError { place: place.into(), reason: reason.into() }
    }
}

/// A runtime-interface call that was refused; the state is unchanged.
///
/// The variants follow BMv2's `MatchErrorCode` and friends, so that a Thrift or P4Runtime server can map them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// No object of that kind has this name.
    #[error("no {kind} named '{name}'{hint}")]
    NoSuchObject {
        /// What was looked for: "table", "register", ...
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// What there is instead, when the list is short.
        hint: String,
    },
    /// The name exists but the object is of another type (indirect call on a direct table, ...).
    #[error("{object}: {reason}")]
    WrongType {
        /// The object, as in "table 'MyIngress.ipv4_lpm'".
        object: String,
        /// What it is and which call suits it.
        reason: String,
    },
    /// The calculation is not a CRC of that width with parameters that can be set.
    #[error(
        "calculation '{calculation}': is not of type crc{width}_custom, whose parameters alone can be set"
    )]
    WrongCalculation {
        /// Its name.
        calculation: String,
        /// Width asked for, in bits.
        width: u32,
    },
    /// The match key does not suit the table.
    #[error("table '{table}' key '{key}': {reason}")]
    BadMatchKey {
        /// Table name.
        table: String,
        /// Key field name, or "*" for the key as a whole.
        key: String,
        /// Value, limit, next step.
        reason: String,
    },
    /// Action parameters do not suit the action.
    #[error("action '{action}': {reason}")]
    BadActionData {
        /// Action name.
        action: String,
        /// Value, limit, next step.
        reason: String,
    },
    /// The table or action profile cannot call this action.
    #[error("{object} has no action '{action}'; it has {actions}")]
    InvalidActionName {
        /// The object, as in "table 'MyIngress.ipv4_lpm'".
        object: String,
        /// Action asked for.
        action: String,
        /// The table's actions.
        actions: String,
    },
    /// The table or action profile is full.
    #[error("{object} is full: it holds {limit} entries")]
    Full {
        /// The object.
        object: String,
        /// Its size from the program.
        limit: u64,
    },
    /// An entry with the same key (and priority) is already there.
    #[error("table '{table}': an entry with the same key is already there (handle {handle})")]
    DuplicateEntry {
        /// Table name.
        table: String,
        /// Handle of the entry that is there.
        handle: u64,
    },
    /// The handle is of no entry, member or group.
    #[error("{object}: no {kind} has handle {handle}")]
    BadHandle {
        /// The object.
        object: String,
        /// "entry", "member" or "group".
        kind: &'static str,
        /// The handle asked for.
        handle: u64,
    },
    /// No member or group has this id.
    #[error("{object} has no {kind} {id}; insert it first")]
    NoSuchId {
        /// The action profile.
        object: String,
        /// "member" or "group".
        kind: &'static str,
        /// The id asked for.
        id: u32,
    },
    /// A client has given this id to another member or group.
    #[error("{object}: {kind} {id} is there already")]
    DuplicateId {
        /// The action profile.
        object: String,
        /// "member" or "group".
        kind: &'static str,
        /// The id.
        id: u32,
    },
    /// The handle is of an entry that has been deleted; another one has its place.
    #[error("{object}: the entry of handle {handle} has been deleted and another one has its place")]
    ExpiredHandle {
        /// The table.
        object: String,
        /// The handle asked for.
        handle: u64,
    },
    /// A direct counter was asked for, and the table has none.
    #[error("{object}: it has no direct counter")]
    CountersDisabled {
        /// The table.
        object: String,
    },
    /// A direct meter was asked for, and the table has none.
    #[error("{object}: it has no direct meter")]
    MetersDisabled {
        /// The table.
        object: String,
    },
    /// An entry for a table without a key.
    #[error("{object}: it has no key; set its default action instead")]
    NoTableKey {
        /// The table.
        object: String,
    },
    /// A group of an action profile without a selector.
    #[error("{object}: it has no selector and so no groups")]
    NoSelector {
        /// The action profile.
        object: String,
    },
    /// A group without members cannot be pointed at, nor can a group in use lose its last member.
    #[error("{object}: {reason}")]
    EmptyGroup {
        /// The action profile and group.
        object: String,
        /// What would be empty.
        reason: String,
    },
    /// The member is in the group already.
    #[error("{object}: member {member} is in group {group} already")]
    AlreadyInGroup {
        /// The action profile.
        object: String,
        /// The member.
        member: u64,
        /// The group.
        group: u64,
    },
    /// The member is not in the group.
    #[error("{object}: member {member} is not in group {group}")]
    NotInGroup {
        /// The action profile.
        object: String,
        /// The member.
        member: u64,
        /// The group.
        group: u64,
    },
    /// The default entry, or its action, is constant.
    #[error("{object} cannot be changed: the program declares its default {part} const")]
    ConstDefault {
        /// The table.
        object: String,
        /// "entry" or "action".
        part: &'static str,
    },
    /// Too few or too many rates for a meter.
    #[error("{object}: {given} rates given, it has {wanted}")]
    RateCount {
        /// The meter.
        object: String,
        /// How many were given.
        given: usize,
        /// How many it has.
        wanted: usize,
    },
    /// The program declares this constant.
    #[error("{object} cannot be changed: {reason}")]
    Immutable {
        /// The object.
        object: String,
        /// What in the program says so.
        reason: String,
    },
    /// The member or group is still in use.
    #[error("{object}: {reason}")]
    InUse {
        /// The object.
        object: String,
        /// "member" or "group".
        kind: &'static str,
        /// By what.
        reason: String,
    },
    /// An index beyond an array's size, or a range that is empty or reversed.
    #[error("{object}: index {index} is out of range, the array has {size} cells")]
    IndexOutOfRange {
        /// The array.
        object: String,
        /// The index asked for.
        index: u64,
        /// Its size.
        size: u64,
    },
    /// A value that does not fit, rates in the wrong order, and so on.
    #[error("{object}: {reason}")]
    BadValue {
        /// The object.
        object: String,
        /// Value, limit, next step.
        reason: String,
    },
}

/// A packet that could not be run to its end. The caller drops it and counts it; state written so far stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// More backward jumps and table applications than [`crate::Limits::max_steps`].
    #[error("the packet took more steps than the limit allows: an endless loop in an action?")]
    StepLimit,
    /// `assert` or `assume` did not hold. BMv2 aborts the switch here.
    #[error("assertion {0} of the program failed")]
    Assert(u32),
    /// `/` or `%` by zero, or of a negative number. BMv2 stops the switch here.
    #[error("division by zero or of a negative number")]
    Division,
    /// A header stack was indexed beyond its size. BMv2 stops the switch here.
    #[error("header stack index out of bounds")]
    StackIndex,
}

/// Returns the first characters of a text that may be long or hostile, for messages.
pub(crate) fn clip(text: &str) -> String {
    if text.chars().count() <= 60 {
        text.to_owned()
    } else {
        text.chars().take(57).chain("...".chars()).collect()
    }
}
