//! What an instruction belongs to in the source; only of a program that is loaded for tracing.

use super::op::Pc;

/// What begins at an instruction. Numbers are indices into the lists of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A parse state.
    State { parser: u32, state: u32 },
    /// A conditional of a pipeline. Its instructions end before `end`, and go on there when it holds.
    Condition { pipeline: u32, conditional: u32, end: Pc },
    /// An action. `called` by a table; otherwise it stands in its place and has no parameters.
    Action { action: u32, called: bool },
    /// A primitive of an action. One that branches goes on at `holds_at` when its condition holds.
    Statement { action: u32, primitive: u32, holds_at: Option<Pc> },
}
