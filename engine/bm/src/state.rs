//! The mutable state of one switch, and the packet path through it. The runtime interface is in `control`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::Fault;
use crate::executable::Executable;
use crate::native::Native;
use crate::program::{DeparserId, Op, ParserId, Pc, PipelineId, Program};
use crate::run::trace::Trace;
use crate::run::{calculated, execute, Context, Detached, Externs, Observer, Phv, Trap, Unwatched};
use crate::tables::{Cells, Change};

/// The entries, counters, meters, registers and value sets of one switch.
#[derive(Debug, Clone)]
pub struct State {
    pub(crate) program: Arc<Executable>,
    pub(crate) cells: Cells,
    /// Ports that are up, for members with a watch port. A reset keeps them: it does not change a link.
    pub(crate) ports_up: BTreeSet<u16>,
    /// The changes of an open batch, oldest first.
    pub(crate) undo: Option<Vec<Change>>,
    /// Whether native code runs, if it exists.
    native: bool,
}

/// The packet path.
impl State {
    /// Creates the initial state of a switch: constant entries and default actions are set, every cell is zero.
    pub fn new(program: &Arc<Executable>) -> State {
        program.compile();
        State {
            program: Arc::clone(program),
            cells: Cells::new(program),
            ports_up: BTreeSet::new(),
            undo: None,
            native: true,
        }
    }

    /// Makes the interpreter run all further packets, with the same results but more slowly: the reference for native code.
    pub fn interpret(&mut self) {
        self.native = false;
    }

    /// Returns whether native code runs packets.
    pub fn is_native(&self) -> bool {
        self.native().is_some()
    }

    #[inline]
    fn native(&self) -> Option<&Native> {
        native(&self.program, self.native)
    }

    /// Restores the initial state of the switch. Parameters of CRCs are kept, as in BMv2.
    pub fn reset_state(&mut self) {
        let crcs = std::mem::take(&mut self.cells.crcs);
        let program: &Program = &self.program;
        self.cells = Cells { crcs, ..Cells::new(program) };
    }

    /// Returns a copy with the same entries, counters and meters, but with zero registers, as if no packet had arrived. The
    /// copy has no open batch.
    pub fn without_packets(&self) -> State {
        let mut copy = State { undo: None, ..self.clone() };
        copy.cells.registers.reset_all();
        copy
    }

    /// Returns the program.
    pub fn program(&self) -> &Arc<Executable> {
        &self.program
    }

    /// Parses `packet` into a reset `phv`, and records events in `trace`, if given. Returns the parser error; the program's value
    /// of `NoError`, usually 0, means success.
    ///
    /// In cases where BMv2 would stop the switch (a failed `assert`, a division by zero, a stack index out of bounds), the
    /// packet gets `ParserInvalidArgument`. A parser that exceeds its step limit gives `ParserTimeout`.
    #[inline]
    pub fn parse(
        &mut self,
        parser: ParserId,
        phv: &mut Phv,
        packet: &[u8],
        trace: Option<&mut Trace>,
    ) -> u32 {
        match trace {
            None => self.parse_watched(parser, phv, packet, &mut Unwatched),
            Some(trace) => self.parse_watched(parser, phv, packet, trace),
        }
    }

    fn parse_watched<O: Observer>(
        &mut self,
        parser: ParserId,
        phv: &mut Phv,
        packet: &[u8],
        observer: &mut O,
    ) -> u32 {
        let program = &*self.program;
        let mut externs = Detached;
        let mut context = Context {
            packet,
            parsing: true,
            max_steps: program.code.max_parser_steps,
            ..Context::new(program, &mut self.cells, &mut externs, native(program, self.native))
        };
        let ended = execute(&mut context, phv, program.code.parsers[parser.0 as usize].pc, observer);
        phv.payload_offset = context.cursor;
        match ended {
            Ok(()) => program.code.core_errors.no_error,
            Err(Trap::ParserError(code)) => code,
            Err(Trap::Fault(Fault::StepLimit)) => program.code.core_errors.parser_timeout,
            Err(Trap::Fault(_)) => program.code.core_errors.parser_invalid_argument,
        }
    }

    /// Returns whether every checksum that the program verifies is correct, and records the comparisons in `trace`, if given.
    /// `packet` is the parsed packet.
    #[inline]
    pub fn verify_checksums(&mut self, phv: &mut Phv, packet: &[u8], mut trace: Option<&mut Trace>) -> bool {
        let State { program, cells, native: wanted, .. } = self;
        let native = native(program, *wanted);
        let payload = packet.get(phv.payload_offset..).unwrap_or_default();
        let mut hold = true;
        for (at, checksum) in (0u32..).zip(&program.code.checksums).filter(|(_, c)| c.verify) {
            let is_due = phv.slots[checksum.valid as usize] != 0
                && condition_holds(program, cells, phv, native, checksum.condition);
            let computed =
                is_due.then(|| calculated(program, native, &cells.crcs, phv, checksum.calculation, payload));
            let found = phv.get_wide(checksum.target);
            if let Some(trace) = &mut trace {
                trace.checksum(at, false, computed, found);
            }
            hold &= computed.is_none_or(|computed| u128::from(computed) == found);
        }
        hold
    }

    /// Runs one pipeline, and records events in `trace`, if given.
    #[inline]
    pub fn run<T: Externs>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        externs: &mut T,
        trace: Option<&mut Trace>,
    ) -> Result<(), Fault> {
        let program = &*self.program;
        let pc = program.code.pipelines[pipeline.0 as usize].pc;
        let mut context = Context::new(program, &mut self.cells, externs, native(program, self.native));
        let ended = match trace {
            None => execute(&mut context, phv, pc, &mut Unwatched),
            Some(trace) => execute(&mut context, phv, pc, trace),
        };
        match ended {
            Err(Trap::Fault(fault)) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Computes and stores the checksums that the program updates, and records the changes in `trace`, if given. `payload` is the
    /// part of the packet after the headers.
    #[inline]
    pub fn update_checksums(&mut self, phv: &mut Phv, payload: &[u8], mut trace: Option<&mut Trace>) {
        let State { program, cells, native: wanted, .. } = self;
        let native = native(program, *wanted);
        if let Some(trace) = &mut trace {
            trace.watch(phv);
        }
        for (at, checksum) in (0u32..).zip(&program.code.checksums).filter(|(_, c)| c.update) {
            let computed = condition_holds(program, cells, phv, native, checksum.condition)
                .then(|| calculated(program, native, &cells.crcs, phv, checksum.calculation, payload));
            if let Some(trace) = &mut trace {
                trace.checksum(at, true, computed, phv.get_wide(checksum.target));
            }
            if let Some(computed) = computed {
                phv.set(checksum.target, computed);
            }
        }
        if let Some(trace) = trace {
            trace.write_changes(phv);
        }
    }

    /// Appends the valid headers to `out` in the deparser's order, without the payload.
    pub fn deparse(&self, deparser: DeparserId, phv: &mut Phv, out: &mut Vec<u8>) {
        let program = &*self.program;
        if let Some(writer) = self.native().and_then(|native| native.deparser(deparser.0)) {
            return writer.append(&phv.slots, &phv.vl, out);
        }
        for &header in &program.code.deparsers[deparser.0 as usize].headers {
            if phv.slots[program.header(header).valid as usize] != 0 {
                phv.deparse_header(program, header, out);
            }
        }
    }
}

/// Returns the program's native code, if it is wanted and exists.
#[inline]
fn native(program: &Executable, wanted: bool) -> Option<&Native> {
    if wanted {
        program.native()
    } else {
        None
    }
}

/// Returns whether a checksum's condition holds. A condition that faults does not hold.
fn condition_holds(
    program: &Program,
    cells: &mut Cells,
    phv: &mut Phv,
    native: Option<&Native>,
    condition: Option<Pc>,
) -> bool {
    let Some(pc) = condition else { return true };
    // Most conditions check that one header is valid, which needs no run.
    if let [Op::Mov { w: 64, d, a }, Op::Halt, ..] = program.code.ops[pc as usize..] {
        phv.slots[d as usize] = phv.slots[a as usize];
        return phv.slots[program.packet.condition_slot as usize] != 0;
    }
    let mut externs = Detached;
    let mut context = Context::new(program, cells, &mut externs, native);
    execute(&mut context, phv, pc, &mut Unwatched).is_ok()
        && phv.slots[program.packet.condition_slot as usize] != 0
}
