//! The hook through which a run of instructions can be observed.
//!
//! The loop in `execute` calls [`Observer::before`] before every instruction. The loop is generic over the observer, so the
//! compiler removes the call and its arguments for [`Unwatched`]. An observer only reads; it cannot change the result of a
//! packet.
//!
//! Other ways of execution (instructions that do the work of several, native code) have no such hook and need none: an observed
//! run always uses the loop in `execute`. A program with [`Program::marks`](crate::Program) has been compiled one instruction
//! after another, in the order of the JSON. Passes that merge, move or drop instructions must not change such a program.

use super::phv::Phv;
use crate::program::Program;
use crate::tables::Cells;

/// The next instruction, and all the data that it can access.
pub(crate) struct Moment<'a> {
    pub(crate) program: &'a Program,
    pub(crate) cells: &'a Cells,
    pub(crate) phv: &'a Phv,
    /// The next instruction.
    pub(crate) pc: usize,
    /// The parser's position in the packet, in bytes.
    pub(crate) cursor: usize,
}

/// Observes a run.
pub(crate) trait Observer {
    /// Whether the observer needs calls. `false` removes the calls from the loop.
    const WATCHES: bool;
    /// Observes the next instruction before it runs.
    fn before(&mut self, moment: &Moment<'_>);
    /// Observes the end of the run, after the last instruction.
    fn end(&mut self, moment: &Moment<'_>);
}

/// The observer of a run that is not observed.
pub(crate) struct Unwatched;

impl Observer for Unwatched {
    const WATCHES: bool = false;
    #[inline(always)]
    fn before(&mut self, _moment: &Moment<'_>) {}
    #[inline(always)]
    fn end(&mut self, _moment: &Moment<'_>) {}
}
