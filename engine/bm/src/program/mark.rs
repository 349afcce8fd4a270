//! Source constructs of instructions, only for a program loaded for tracing.

use super::op::Pc;

/// The construct that begins at an instruction. Numbers are indices into the lists of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A parse state.
    State { parser: u32, state: u32 },
    /// A conditional of a pipeline. Its instructions end before `end`, where execution continues if it holds.
    Condition { pipeline: u32, conditional: u32, end: Pc },
    /// An action. Tables call it if `called`; otherwise it is inlined and has no parameters.
    Action { action: u32, called: bool },
    /// A primitive of an action. If it branches, execution continues at `holds_at` when its condition holds.
    Statement { action: u32, primitive: u32, holds_at: Option<Pc> },
}
