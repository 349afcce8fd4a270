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

    /// Creates an error without a place, which a caller adds with [`LoadError::at`].
    pub(crate) fn unplaced(reason: impl Into<String>) -> Self {
        LoadError::new("", reason)
    }

    /// Returns the error with this place, unless it has one.
    pub(crate) fn at(self, place: &str) -> Self {
        if self.place.is_empty() {
            LoadError::new(place, self.reason)
        } else {
            self
        }
    }
}

/// The kinds of refusals. Each has an exception of its own in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No object of this kind has this name.
    NoSuchObject,
    /// No entry, member, group, node or session has this handle or id.
    NoSuchHandle,
    /// There is already an entry with the same key, or a member or group with the same id.
    Duplicate,
    /// The object has as many entries as it can hold.
    Full,
    /// The program declares the object constant.
    Immutable,
    /// Another object refers to this one.
    InUse,
    /// An index is beyond an array's size, or a range is empty or reversed.
    OutOfRange,
    /// A key, parameter or value does not suit the object.
    InvalidValue,
}

/// A refused call of the runtime interface; the state is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct RuntimeError {
    /// Its kind.
    pub refusal: Refusal,
    /// BMv2's name for it, from the enumerations of its Thrift interface; [`NO_CODE`] if it has none.
    pub code: &'static str,
    /// The object, the value, the limit and the next step.
    pub text: String,
}

/// The code of errors without a name in BMv2.
pub const NO_CODE: &str = "ERROR";

impl RuntimeError {
    /// Creates an error.
    pub fn new(refusal: Refusal, code: &'static str, text: String) -> Self {
        Self { refusal, code, text }
    }
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
