//! The context of a run of instructions, and the ways in which it can stop early.

use super::observe::Moment;
use super::phv::Phv;
use crate::error::Fault;
use crate::native::Native;
use crate::program::Program;
use crate::tables::Cells;

/// The data that a packet's instructions may access besides its [`Phv`].
pub(crate) struct Context<'a, T> {
    pub(crate) program: &'a Program,
    pub(crate) cells: &'a mut Cells,
    pub(crate) externs: &'a mut T,
    /// The packet, in a parser; empty otherwise.
    pub(crate) packet: &'a [u8],
    /// The parser's position in the packet, in bytes.
    pub(crate) cursor: usize,
    pub(crate) parsing: bool,
    pub(crate) max_steps: u32,
    /// The instructions as native code; `None` to interpret them.
    pub(crate) native: Option<&'a Native>,
}

impl<'a, T> Context<'a, T> {
    /// Returns the context of a pipeline or a condition; a parser's differs in three fields.
    #[inline]
    pub(crate) fn new(
        program: &'a Program,
        cells: &'a mut Cells,
        externs: &'a mut T,
        native: Option<&'a Native>,
    ) -> Context<'a, T> {
        let max_steps = program.code.max_steps;
        Context { program, cells, externs, packet: &[], cursor: 0, parsing: false, max_steps, native }
    }

    pub(super) fn moment<'m>(&'m self, phv: &'m Phv, pc: usize) -> Moment<'m> {
        Moment { program: self.program, cells: self.cells, phv, pc, cursor: self.cursor }
    }

    /// Returns the trap for access to the last element of an empty stack: P4's StackOutOfBounds in a parser, a fault elsewhere.
    /// BMv2 stops the switch in both cases.
    pub(crate) fn empty_stack(&self) -> Trap {
        if self.parsing {
            Trap::ParserError(self.program.code.core_errors.stack_out_of_bounds)
        } else {
            Fault::StackIndex.into()
        }
    }
}

/// The reason why an instruction stops the loop early.
pub(crate) enum Trap {
    Fault(Fault),
    ParserError(u32),
}

impl From<Fault> for Trap {
    fn from(fault: Fault) -> Trap {
        Trap::Fault(fault)
    }
}
