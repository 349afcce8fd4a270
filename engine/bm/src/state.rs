//! The mutable state of one switch, and the packet path through it. The runtime interface is in `control`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::Fault;
use crate::executable::Executable;
use crate::native::Native;
use crate::program::{DeparserId, Field, Op, ParserId, Pc, PipelineId, Program};
use crate::run::trace::Trace;
use crate::run::{calculated, execute, Context, Detached, Externs, Observer, Phv, Stop, Unwatched};
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

    /// Parses `packet` into a reset `phv`. Returns the parser error; the program's value of `NoError`, usually 0, means success.
    ///
    /// In cases where BMv2 would stop the switch (a failed `assert`, a division by zero, a stack index out of bounds), the
    /// packet gets `ParserInvalidArgument`. A parser that exceeds its step limit gives `ParserTimeout`.
    pub fn parse(&mut self, parser: ParserId, phv: &mut Phv, packet: &[u8]) -> u32 {
        self.parse_watched(parser, phv, packet, &mut Unwatched)
    }

    /// Parses as [`State::parse`] does, and records events.
    pub fn parse_traced(&mut self, parser: ParserId, phv: &mut Phv, packet: &[u8], trace: &mut Trace) -> u32 {
        self.parse_watched(parser, phv, packet, trace)
    }

    fn parse_watched<O: Observer>(
        &mut self,
        parser: ParserId,
        phv: &mut Phv,
        packet: &[u8],
        observer: &mut O,
    ) -> u32 {
        let program = &*self.program;
        let mut context = Context {
            program,
            cells: &mut self.cells,
            externs: &mut Detached,
            packet,
            cursor: 0,
            parsing: true,
            max_steps: program.code.max_parser_steps,
            native: native(program, self.native),
        };
        let stop = execute(&mut context, phv, program.code.parsers[parser.0 as usize].pc, observer);
        phv.payload_offset = context.cursor;
        match stop {
            Ok(Stop::Done) => program.code.core_errors.no_error,
            Ok(Stop::ParserError(code)) => code,
            Err(Fault::StepLimit) => program.code.core_errors.parser_timeout,
            Err(_) => program.code.core_errors.parser_invalid_argument,
        }
    }

    /// Returns whether every checksum that the program verifies is correct. `packet` is the parsed packet.
    pub fn verify_checksums(&mut self, phv: &mut Phv, packet: &[u8]) -> bool {
        self.verify_checksums_watched(phv, packet, |_, _, _, _| {})
    }

    /// Verifies as [`State::verify_checksums`] does, and records the comparisons.
    pub fn verify_checksums_traced(&mut self, phv: &mut Phv, packet: &[u8], trace: &mut Trace) -> bool {
        self.verify_checksums_watched(phv, packet, |at, computed, phv, target| {
            trace.checksum(at, false, computed, phv.get_wide(target));
        })
    }

    /// Verifies checksums, and calls `watch` for each with the computed value and the checksum's field.
    #[inline]
    fn verify_checksums_watched(
        &mut self,
        phv: &mut Phv,
        packet: &[u8],
        mut watch: impl FnMut(u32, Option<u64>, &Phv, Field),
    ) -> bool {
        let State { program, cells, native: wanted, .. } = self;
        let native = native(program, *wanted);
        let payload = packet.get(phv.payload_offset..).unwrap_or_default();
        let mut hold = true;
        for (at, checksum) in (0u32..).zip(&program.code.checksums).filter(|(_, c)| c.verify) {
            if phv.slots[checksum.valid as usize] == 0
                || !condition_holds(program, cells, phv, native, checksum.condition)
            {
                watch(at, None, phv, checksum.target);
                continue;
            }
            let computed = calculated(program, native, &cells.crcs, phv, checksum.calculation, payload);
            watch(at, Some(computed), phv, checksum.target);
            hold &= u128::from(computed) == phv.get_wide(checksum.target);
        }
        hold
    }

    /// Runs one pipeline.
    pub fn run<T: Externs>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        externs: &mut T,
    ) -> Result<(), Fault> {
        self.run_watched(pipeline, phv, externs, &mut Unwatched)
    }

    /// Runs as [`State::run`] does, and records events.
    pub fn run_traced<T: Externs>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        externs: &mut T,
        trace: &mut Trace,
    ) -> Result<(), Fault> {
        self.run_watched(pipeline, phv, externs, trace)
    }

    fn run_watched<T: Externs, O: Observer>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        externs: &mut T,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let program = &*self.program;
        let mut context = Context {
            program,
            cells: &mut self.cells,
            externs,
            packet: &[],
            cursor: 0,
            parsing: false,
            max_steps: program.code.max_steps,
            native: native(program, self.native),
        };
        execute(&mut context, phv, program.code.pipelines[pipeline.0 as usize].pc, observer).map(|_| ())
    }

    /// Computes and stores the checksums that the program updates. `payload` is the part of the packet after the headers.
    pub fn update_checksums(&mut self, phv: &mut Phv, payload: &[u8]) {
        self.update_checksums_watched(phv, payload, |_, _, _, _| {});
    }

    /// Updates checksums, and calls `watch` for each with the computed value and the checksum's field, before the field
    /// changes.
    #[inline]
    fn update_checksums_watched(
        &mut self,
        phv: &mut Phv,
        payload: &[u8],
        mut watch: impl FnMut(u32, Option<u64>, &Phv, Field),
    ) {
        let State { program, cells, native: wanted, .. } = self;
        let native = native(program, *wanted);
        for (at, checksum) in (0u32..).zip(&program.code.checksums).filter(|(_, c)| c.update) {
            if condition_holds(program, cells, phv, native, checksum.condition) {
                let computed = calculated(program, native, &cells.crcs, phv, checksum.calculation, payload);
                watch(at, Some(computed), phv, checksum.target);
                phv.set(checksum.target, computed);
            } else {
                watch(at, None, phv, checksum.target);
            }
        }
    }

    /// Updates as [`State::update_checksums`] does, and records the changes.
    pub fn update_checksums_traced(&mut self, phv: &mut Phv, payload: &[u8], trace: &mut Trace) {
        trace.watch(phv);
        self.update_checksums_watched(phv, payload, |at, computed, phv, target| {
            trace.checksum(at, true, computed, phv.get_wide(target));
        });
        trace.write_changes(phv);
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
    let mut context = Context {
        program,
        cells,
        externs: &mut Detached,
        packet: &[],
        cursor: 0,
        parsing: false,
        max_steps: program.code.max_steps,
        native,
    };
    execute(&mut context, phv, pc, &mut Unwatched).is_ok()
        && phv.slots[program.packet.condition_slot as usize] != 0
}
