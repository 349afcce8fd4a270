//! The hook by which a run of instructions can be watched, and the marks that say what an instruction belongs to.
//!
//! The loop in `execute` calls [`Observer::before`] ahead of every instruction. It is generic over the observer, so
//! with [`Unwatched`] the call and its arguments are gone when the code is compiled. An observer reads; nothing that
//! it does can change what a packet does.
//!
//! Whatever else comes to execute a program (instructions that do the work of several, machine code) has no such
//! hook and needs none: a watched run goes through the loop in `execute`, always, and a program whose
//! [`Program::marks`](crate::Program) are there has been compiled one instruction after the other, as the JSON says. Passes
//! that merge, move or drop instructions must leave such a program alone.

use super::phv::Phv;
use crate::program::Program;
use crate::tables::Cells;

/// What is about to run, and all that it can touch.
pub(crate) struct Moment<'a> {
    pub(crate) program: &'a Program,
    pub(crate) cells: &'a Cells,
    pub(crate) phv: &'a Phv,
    /// The next instruction.
    pub(crate) pc: usize,
    /// The parser's place in the packet, in bytes.
    pub(crate) cursor: usize,
}

/// Watches a run.
pub(crate) trait Observer {
    /// Whether there is anything to call. `false` takes the calls out of the loop.
    const WATCHES: bool;
    /// Observes an instruction that is about to run.
    fn before(&mut self, moment: &Moment<'_>);
    /// Observes the end of the run, after the instruction that was announced last.
    fn end(&mut self, moment: &Moment<'_>);
}

/// Nobody watches.
pub(crate) struct Unwatched;

impl Observer for Unwatched {
    const WATCHES: bool = false;
    #[inline(always)]
    fn before(&mut self, _moment: &Moment<'_>) {}
    #[inline(always)]
    fn end(&mut self, _moment: &Moment<'_>) {}
}
