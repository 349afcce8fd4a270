//! One switch's mutable state, and a packet's way through it. The runtime interface is in `runtime`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::action_profile::ActionProfile;
use crate::calculation::Crcs;
use crate::counter::Counters;
use crate::error::Fault;
use crate::execute::{execute, Context, Stop};
use crate::match_table::Entries;
use crate::meter::Meter;
use crate::native::Native;
use crate::observe::{Observer, Unwatched};
use crate::op::Op;
use crate::phv::Phv;
use crate::program::{ActionId, DeparserId, ParserId, PipelineId, Program};
use crate::register::Registers;
use crate::target::{LogMessage, Target};
use crate::trace::Trace;

/// Names one entry of a table, as BMv2 does: the lowest free row in 24 bits, and above them, in eight, how many entries of
/// that row have been deleted.
pub type EntryHandle = u64;
/// Names one member of an action profile.
pub type MemberHandle = u64;
/// Names one group of an action profile.
pub type GroupHandle = u64;
/// Values of an action's parameters: big-endian bytes, leading zeros free, each checked against its width.
pub type ActionData = Vec<Vec<u8>>;

/// One field of a match key. Values are big-endian bytes, leading zeros free, checked against the field's width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchKeyParam {
    /// Equal.
    Exact(Vec<u8>),
    /// A prefix: value and prefix length in bits. Bits beyond the prefix must be zero.
    Lpm(Vec<u8>, u32),
    /// Value and mask. Bits of the value outside the mask must be zero.
    Ternary(Vec<u8>, Vec<u8>),
    /// First and last value, both included.
    Range(Vec<u8>, Vec<u8>),
    /// Header validity.
    Valid(bool),
}

/// What an entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MtAction {
    /// An action with its data (direct tables).
    Action(ActionId, ActionData),
    /// A member of the table's action profile.
    Member(MemberHandle),
    /// A group of the table's action profile.
    Group(GroupHandle),
}

/// What a table does on a miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtDefault {
    /// Nothing set: the table does nothing.
    pub action: Option<MtAction>,
}

/// One entry as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtEntry {
    /// Its handle.
    pub handle: EntryHandle,
    /// Its key as given, values padded to whole bytes of the field's width.
    pub key: Vec<MatchKeyParam>,
    /// BMv2 priority: the low number wins. 0 for exact and lpm tables.
    pub priority: u32,
    /// What it does.
    pub action: MtAction,
}

/// A member as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberInfo {
    /// Handle.
    pub handle: MemberHandle,
    /// Action.
    pub action: ActionId,
    /// Its data.
    pub data: ActionData,
}

/// A group as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// Handle.
    pub handle: GroupHandle,
    /// Members in the order in which the selector counts them, those that it passes over now included.
    pub members: Vec<MemberHandle>,
}

/// Everything that packets and the control plane change.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub(crate) tables: Vec<Entries>,
    pub(crate) profiles: Vec<ActionProfile>,
    pub(crate) registers: Registers,
    /// Indirect counters; empty for direct ones, which are with their entries.
    pub(crate) counters: Counters,
    /// Indirect meters; empty for direct ones.
    pub(crate) meters: Vec<Vec<Meter>>,
    /// Values with their low word first.
    pub(crate) vsets: Vec<BTreeSet<Vec<u64>>>,
    /// A reset leaves them, as in BMv2.
    pub(crate) crcs: Crcs,
    /// Where keys of more than two words are put together.
    pub(crate) scratch: Vec<u64>,
    /// Where keys are put together as value sets hold them.
    pub(crate) joined: Vec<u64>,
}

impl Cells {
    pub(crate) fn new(program: &Program) -> Cells {
        Cells {
            tables: program.match_tables.iter().map(Entries::new).collect(),
            profiles: vec![ActionProfile::default(); program.action_profiles.len()],
            registers: Registers::new(&program.register_arrays),
            counters: Counters::new(&program.counter_arrays),
            meters: program
                .meter_arrays
                .iter()
                .map(|m| vec![Meter::default(); if m.direct_table.is_some() { 0 } else { m.size }])
                .collect(),
            vsets: vec![BTreeSet::new(); program.parse_vsets.len()],
            crcs: Crcs::default(),
            scratch: Vec::new(),
            joined: Vec::new(),
        }
    }
}

/// One switch's entries, counters, meters, registers and value sets.
#[derive(Debug, Clone)]
pub struct State {
    pub(crate) program: Arc<Program>,
    pub(crate) cells: Cells,
    /// Ports that are up, for members that watch one. A reset leaves them: it does not change a link.
    pub(crate) ports_up: BTreeSet<u16>,
    /// Whether native code runs, where there is some.
    native: bool,
}

/// The target of a parser and of conditions, which have no side effects on a switch; `log_msg` there is not shown.
pub(crate) struct Detached;

impl Target for Detached {
    fn drop_port(&self) -> u64 {
        0
    }
    fn now_ps(&self) -> u64 {
        0
    }
    fn random(&mut self, lo: u64, _hi: u64) -> u64 {
        lo
    }
    fn clone_ingress(&mut self, _phv: &Phv, _session: u64, _field_list: u64) {}
    fn clone_egress(&mut self, _phv: &Phv, _session: u64, _field_list: u64) {}
    fn resubmit(&mut self, _phv: &Phv, _field_list: u64) {}
    fn recirculate(&mut self, _phv: &Phv, _field_list: u64) {}
    fn generate_digest(&mut self, _phv: &Phv, _receiver: u64, _learn_list: u64) {}
    fn truncate(&mut self, _phv: &Phv, _bytes: u64) {}
    fn log_msg(&mut self, _message: LogMessage<'_>) {}
}

/// The packet path.
impl State {
    /// The state a switch starts with: const entries and default actions set, every cell zero.
    pub fn new(program: &Arc<Program>) -> State {
        program.native.get_or_init(|| Native::compile(program));
        State {
            program: Arc::clone(program),
            cells: Cells::new(program),
            ports_up: BTreeSet::new(),
            native: true,
        }
    }

    /// From now on the interpreter runs packets, which does the same more slowly: the reference for native code.
    pub fn interpret(&mut self) {
        self.native = false;
    }

    /// Whether packets are run by native code.
    pub fn is_native(&self) -> bool {
        self.native().is_some()
    }

    #[inline]
    fn native(&self) -> Option<&Native> {
        native(&self.program, self.native)
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Parses `packet` into a reset `phv`. Returns the parser error (`NoError` is the program's value for it, usually 0).
    ///
    /// Where BMv2 would stop the switch (a failed `assert`, a division by zero, a stack index out of bounds) the
    /// packet gets `ParserInvalidArgument`; a parser that does not come to an end gets `ParserTimeout`.
    pub fn parse(&mut self, parser: ParserId, phv: &mut Phv, packet: &[u8]) -> u32 {
        self.parse_watched(parser, phv, packet, &mut Unwatched)
    }

    /// As [`State::parse`], and writes down what happens.
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
            target: &mut Detached,
            packet,
            cursor: 0,
            parsing: true,
            max_steps: program.max_parser_steps,
            native: native(program, self.native),
        };
        let stop = execute(&mut context, phv, program.parsers[parser.0 as usize].pc, observer);
        phv.payload_offset = context.cursor;
        match stop {
            Ok(Stop::Done) => program.core_errors.no_error,
            Ok(Stop::ParserError(code)) => code,
            Err(Fault::StepLimit) => program.core_errors.parser_timeout,
            Err(_) => program.core_errors.parser_invalid_argument,
        }
    }

    /// Whether every checksum that the program verifies holds. `packet` is what was parsed.
    pub fn verify_checksums(&mut self, phv: &mut Phv, packet: &[u8]) -> bool {
        let State { program, cells, native: wanted, .. } = self;
        let native = native(program, *wanted);
        let payload = packet.get(phv.payload_offset..).unwrap_or_default();
        let mut hold = true;
        for checksum in program.checksums.iter().filter(|c| c.verify) {
            if phv.slots[checksum.valid as usize] == 0
                || !condition_holds(program, cells, phv, native, checksum.condition)
            {
                continue;
            }
            let computed = calculated(program, native, &cells.crcs, phv, checksum.calculation, payload);
            hold &= u128::from(computed) == phv.get_wide(checksum.target);
        }
        hold
    }

    /// Runs one pipeline.
    pub fn run<T: Target>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        target: &mut T,
    ) -> Result<(), Fault> {
        self.run_watched(pipeline, phv, target, &mut Unwatched)
    }

    /// As [`State::run`], and writes down what happens.
    pub fn run_traced<T: Target>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        target: &mut T,
        trace: &mut Trace,
    ) -> Result<(), Fault> {
        self.run_watched(pipeline, phv, target, trace)
    }

    fn run_watched<T: Target, O: Observer>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        target: &mut T,
        observer: &mut O,
    ) -> Result<(), Fault> {
        let program = &*self.program;
        let mut context = Context {
            program,
            cells: &mut self.cells,
            target,
            packet: &[],
            cursor: 0,
            parsing: false,
            max_steps: program.max_steps,
            native: native(program, self.native),
        };
        execute(&mut context, phv, program.pipelines[pipeline.0 as usize].pc, observer).map(|_| ())
    }

    /// Computes and stores the checksums that the program updates. `payload` is what follows the headers.
    pub fn update_checksums(&mut self, phv: &mut Phv, payload: &[u8]) {
        let State { program, cells, native: wanted, .. } = self;
        let native = native(program, *wanted);
        for checksum in program.checksums.iter().filter(|c| c.update) {
            if condition_holds(program, cells, phv, native, checksum.condition) {
                let computed = calculated(program, native, &cells.crcs, phv, checksum.calculation, payload);
                phv.set(checksum.target, computed);
            }
        }
    }

    /// As [`State::update_checksums`], and writes down what changes.
    pub fn update_checksums_traced(&mut self, phv: &mut Phv, payload: &[u8], trace: &mut Trace) {
        trace.watch(phv);
        self.update_checksums(phv, payload);
        trace.write_changes(phv);
    }

    /// Appends the valid headers in the deparser's order to `out` (not the payload).
    pub fn deparse(&self, deparser: DeparserId, phv: &mut Phv, out: &mut Vec<u8>) {
        let program = &*self.program;
        if let Some(writer) = self.native().and_then(|native| native.deparser(deparser.0)) {
            return writer.append(phv, out);
        }
        for &header in &program.deparsers[deparser.0 as usize].headers {
            if phv.slots[program.headers[header as usize].valid as usize] != 0 {
                phv.deparse_header(program, header, out);
            }
        }
    }
}

/// The program's native code, if it is wanted and there is some.
#[inline]
fn native(program: &Program, wanted: bool) -> Option<&Native> {
    program.native.get().filter(|_| wanted)?.as_ref()
}

/// The result of one of the program's calculations, with the parameters that the switch has for it.
pub(crate) fn calculated(
    program: &Program,
    native: Option<&Native>,
    crcs: &Crcs,
    phv: &mut Phv,
    calculation: u32,
    payload: &[u8],
) -> u64 {
    let writer = native.and_then(|native| native.calculation(calculation));
    let set = crcs.get(calculation);
    program.calculations[calculation as usize].output(program, phv, writer, payload, set)
}

/// A checksum's condition; one that cannot be computed does not hold.
fn condition_holds(
    program: &Program,
    cells: &mut Cells,
    phv: &mut Phv,
    native: Option<&Native>,
    condition: Option<crate::op::Pc>,
) -> bool {
    let Some(pc) = condition else { return true };
    // Mostly it is that a header is valid, which is not worth a run.
    if let [Op::Mov { w: 64, d, a }, Op::Halt, ..] = program.ops[pc as usize..] {
        phv.slots[d as usize] = phv.slots[a as usize];
        return phv.slots[program.condition_slot as usize] != 0;
    }
    let mut context = Context {
        program,
        cells,
        target: &mut Detached,
        packet: &[],
        cursor: 0,
        parsing: false,
        max_steps: program.max_steps,
        native,
    };
    execute(&mut context, phv, pc, &mut Unwatched).is_ok() && phv.slots[program.condition_slot as usize] != 0
}
