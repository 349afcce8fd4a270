//! Errors of loading a program, of the runtime interface, and of one packet. None concerns a port or a clock.

use thiserror::Error;

/// A program that cannot be loaded: the place in the JSON, the reason, and the valid form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {reason}")]
pub struct LoadError {
    /// The place in the JSON, for example `actions[12] 'EeonIngress.admit' primitives[3]`.
    pub place: String,
    /// The reason, and the valid form.
    pub reason: String,
}

impl LoadError {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        LoadError { place: place.into(), reason: reason.into() }
    }
}

/// A refused call of the runtime interface; the state is unchanged.
///
/// The variants follow BMv2's `MatchErrorCode` and its relatives, so that a Thrift or P4Runtime server can map them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// No object of this kind has this name.
    #[error("no {kind} named '{name}'{hint}")]
    NoSuchObject {
        /// The kind of object: "table", "register", ...
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The existing names, if the list is short.
        hint: String,
    },
    /// The object has another type (an indirect call on a direct table, ...).
    #[error("{object}: {reason}")]
    WrongType {
        /// The object, as in "table 'MyIngress.ipv4_lpm'".
        object: String,
        /// Its type, and the call that suits it.
        reason: String,
    },
    /// The calculation is not a custom CRC of that width; the parameters of other calculations cannot be set.
    #[error(
        "calculation '{calculation}': is not of type crc{width}_custom, whose parameters alone can be set"
    )]
    WrongCalculation {
        /// The calculation's name.
        calculation: String,
        /// The requested width in bits.
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
        /// The requested action.
        action: String,
        /// The table's actions.
        actions: String,
    },
    /// The table or action profile is full.
    #[error("{object} is full: it holds {limit} entries")]
    Full {
        /// The object.
        object: String,
        /// Its size according to the program.
        limit: u64,
    },
    /// There is already an entry with the same key (and priority).
    #[error("table '{table}': an entry with the same key is already there (handle {handle})")]
    DuplicateEntry {
        /// Table name.
        table: String,
        /// Handle of the existing entry.
        handle: u64,
    },
    /// No entry, member or group has this handle.
    #[error("{object}: no {kind} has handle {handle}")]
    BadHandle {
        /// The object.
        object: String,
        /// "entry", "member" or "group".
        kind: &'static str,
        /// The requested handle.
        handle: u64,
    },
    /// No member or group has this id.
    #[error("{object} has no {kind} {id}; insert it first")]
    NoSuchId {
        /// The action profile.
        object: String,
        /// "member" or "group".
        kind: &'static str,
        /// The requested id.
        id: u32,
    },
    /// Another member or group has this id already.
    #[error("{object}: {kind} {id} is there already")]
    DuplicateId {
        /// The action profile.
        object: String,
        /// "member" or "group".
        kind: &'static str,
        /// The id.
        id: u32,
    },
    /// The entry of this handle has been deleted, and another one uses its place.
    #[error("{object}: the entry of handle {handle} has been deleted and another one has its place")]
    ExpiredHandle {
        /// The table.
        object: String,
        /// The requested handle.
        handle: u64,
    },
    /// A direct counter was requested, but the table has none.
    #[error("{object}: it has no direct counter")]
    CountersDisabled {
        /// The table.
        object: String,
    },
    /// A direct meter was requested, but the table has none.
    #[error("{object}: it has no direct meter")]
    MetersDisabled {
        /// The table.
        object: String,
    },
    /// A table without a key cannot have entries.
    #[error("{object}: it has no key; set its default action instead")]
    NoTableKey {
        /// The table.
        object: String,
    },
    /// An action profile without a selector cannot have groups.
    #[error("{object}: it has no selector and so no groups")]
    NoSelector {
        /// The action profile.
        object: String,
    },
    /// An entry cannot refer to a group without members, and a group in use cannot lose its last member.
    #[error("{object}: {reason}")]
    EmptyGroup {
        /// The action profile and group.
        object: String,
        /// The operation that would use or leave an empty group.
        reason: String,
    },
    /// The member is already in the group.
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
    /// The meter has another number of rates.
    #[error("{object}: {given} rates given, it has {wanted}")]
    RateCount {
        /// The meter.
        object: String,
        /// The given number of rates.
        given: usize,
        /// The meter's number of rates.
        wanted: usize,
    },
    /// A rate is no rate, or the rates do not rise.
    #[error("{object}: {reason}")]
    BadRates {
        /// The meter.
        object: String,
        /// The rate, and the limit.
        reason: String,
    },
    /// The program declares the object constant.
    #[error("{object} cannot be changed: {reason}")]
    Immutable {
        /// The object.
        object: String,
        /// The declaration in the program.
        reason: String,
    },
    /// The member or group is still in use.
    #[error("{object}: {reason}")]
    InUse {
        /// The object.
        object: String,
        /// "member" or "group".
        kind: &'static str,
        /// The user.
        reason: String,
    },
    /// An index is beyond an array's size, or a range is empty or reversed.
    #[error("{object}: index {index} is out of range, the array has {size} cells")]
    IndexOutOfRange {
        /// The array.
        object: String,
        /// The requested index.
        index: u64,
        /// Its size.
        size: u64,
    },
    /// A value does not fit, rates are in the wrong order, or similar.
    #[error("{object}: {reason}")]
    BadValue {
        /// The object.
        object: String,
        /// Value, limit, next step.
        reason: String,
    },
}

/// A packet whose run failed. The caller drops and counts it; state that it has written stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// More backward jumps and table applications than [`crate::Limits::max_steps`].
    #[error("the packet took more steps than the limit allows: an endless loop in an action?")]
    StepLimit,
    /// `assert` or `assume` failed. BMv2 aborts the switch here.
    #[error("assertion {0} of the program failed")]
    Assert(u32),
    /// `/` or `%` by zero, or of a negative number. BMv2 stops the switch here.
    #[error("division by zero or of a negative number")]
    Division,
    /// A header stack was indexed beyond its size. BMv2 stops the switch here.
    #[error("header stack index out of bounds")]
    StackIndex,
}

/// Returns the beginning of a text that may be long or hostile, for messages.
pub(crate) fn clip(text: &str) -> String {
    if text.chars().count() <= 60 {
        text.to_owned()
    } else {
        text.chars().take(57).chain("...".chars()).collect()
    }
}
