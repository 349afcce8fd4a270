//! Liveness analysis of a packet's words: the words that must be saved while the packet waits.
//!
//! The analysis goes backwards over the instructions of a pipeline (a word is needed if it may be read before it is written),
//! from the words that the deparser, the updated checksums, field lists and the caller read at its end. It is conservative: an
//! instruction whose header is only known at run time reads everything, and one that writes only sometimes writes nothing. For
//! a pipeline that would take too long to analyse, all words are kept.
//!
//! Words that are read only if their header is valid (by the deparser, checksums and header assignments) are needed only if it
//! is valid now: a header becomes valid by zeroing, or by copying another valid one. This does not hold if a program writes
//! validity itself; the words of such a header are always kept.

use std::ops::Range;

use crate::number::words;
use crate::program::{
    flow, Binary, Calculation, ColdOp, DeparserId, Extracted, Field, FlowNode, Header, Input, LogValue, Op,
    Operation, Pc, PipelineId, Program, Request, Slot, Wide,
};

/// Maximum number of words of all sets together.
const MAX_SET_WORDS: usize = 1 << 21;

/// Maximum number of passes over the instructions, so that loading takes bounded time. Loops need the most passes.
const MAX_ROUNDS: usize = 64;

/// Gaps of up to this many words between two runs are copied or zeroed as well: a run costs as much as some words.
const GAP: usize = 12;

/// Headers of up to this many words are saved regardless of their validity.
const SMALL: usize = 10;

/// The words of a packet that [`crate::Phv::save`] saves, for one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Words that are always saved, in ascending order.
    pub(crate) always: Vec<Range<usize>>,
    /// Words that are saved if the word in this slot, which is in `always`, is not zero.
    pub(crate) if_valid: Vec<(usize, Range<usize>)>,
}

impl Kept {
    fn everything(program: &Program) -> Kept {
        Kept { always: std::iter::once(0..program.packet.reset_end).collect(), if_valid: Vec::new() }
    }
}

#[derive(Debug, Default)]
struct Node {
    reads: Vec<Range<Slot>>,
    writes: Vec<Slot>,
    next: Vec<usize>,
}

/// Determines the words that instructions and stages read, always or only in valid headers.
struct Reader<'a> {
    program: &'a Program,
    /// By header: whether its words are read if it is valid.
    guarded: Vec<bool>,
}

impl Program {
    /// Returns whether the index in this slot is always within the register array: a constant below its size, or a metadata
    /// field too narrow for larger values.
    fn is_cell(&self, register: u32, index: Slot) -> bool {
        let size = self.register_array(register).size as u64;
        let cannot_exceed = |header: &Header| {
            let fields = &self.header_type(header.type_id).fields;
            let field = fields.iter().find(|field| header.base + field.off == index && field.width > 0);
            field.is_some_and(|field| !field.signed && field.width < 64 && 1 << field.width <= size)
        };
        match self.constant(index) {
            Some(index) => index < size,
            None => self.packet.headers.iter().filter(|header| header.metadata).any(cannot_exceed),
        }
    }

    /// Returns the words to save before this pipeline, which checksum updates and this deparser follow. The caller may read the
    /// fields of `read` at any time, and sets the fields of `written` just before the pipeline. It resets metadata except field
    /// lists when a packet is cloned or starts again.
    pub fn kept_ahead_of(
        &self,
        pipeline: PipelineId,
        deparser: DeparserId,
        read: &[Field],
        written: &[Field],
    ) -> Kept {
        // A trace shows every word.
        let analysed = if self.is_marked() { None } else { kept(self, pipeline, deparser, read, written) };
        analysed.unwrap_or_else(|| Kept::everything(self))
    }
}

fn kept(
    program: &Program,
    pipeline: PipelineId,
    deparser: DeparserId,
    read: &[Field],
    written: &[Field],
) -> Option<Kept> {
    let mut reader = Reader { program, guarded: vec![false; program.packet.headers.len()] };
    let sets = Sets::new(program.packet.reset_end);
    let mut at_end = sets.of_updated_checksums(&mut reader)?;
    always_needed(program, &sets, read, &mut at_end);
    for &header in &program.code.deparsers[deparser.0 as usize].headers {
        reader.guarded[header as usize] = true;
    }
    let nodes = walk(&mut reader, program.code.pipelines[pipeline.0 as usize].pc)?;
    // Metadata is always valid; a header whose validity is written like a field may become valid with its present words.
    for (header, guarded) in program.packet.headers.iter().zip(&mut reader.guarded) {
        let is_written = || nodes.iter().any(|node| node.writes.contains(&header.valid));
        if *guarded && (header.metadata || is_written()) {
            *guarded = false;
            sets.add(&mut at_end, header_words(program, header));
        }
    }
    let mut always = sets.solve(&nodes, &at_end)?;
    let kept_by_caller = |slot: Slot| read.iter().any(|field| words_of(*field).contains(&slot));
    for slot in written.iter().flat_map(|field| words_of(*field)).filter(|&slot| !kept_by_caller(slot)) {
        sets.take(&mut always, slot);
    }
    let guarded = || {
        let headers = program.packet.headers.iter().zip(&reader.guarded);
        headers.filter(|(_, guarded)| **guarded).map(|(header, _)| (header, header_words(program, header)))
    };
    // Validity is always saved: it determines which other words are saved.
    guarded().for_each(|(header, _)| sets.add(&mut always, header.valid..header.valid + 1));
    program.packet.vl_stores.iter().for_each(|store| sets.add(&mut always, store.length..store.length + 1));
    for (_, words) in guarded() {
        // Words of a header that are saved anyway would otherwise be saved twice if it is valid.
        if words.len() <= SMALL || words.clone().any(|slot| sets.has(&always, slot)) {
            sets.add(&mut always, words);
        }
    }
    let always = sets.runs(&always, GAP);
    let if_valid = guarded()
        .map(|(header, words)| (header.valid as usize, words.start as usize..words.end as usize))
        .filter(|(_, words)| !always.iter().any(|run| run.start <= words.start && words.end <= run.end))
        .collect();
    Some(Kept { always, if_valid })
}

/// Adds the words that are needed at the end of every pipeline.
fn always_needed(program: &Program, sets: &Sets, read: &[Field], needed: &mut [u64]) {
    for field in read {
        sets.add(needed, words_of(*field));
    }
    // Validity bits, lengths and stack indices are few words, and determine the meaning of the others.
    for header in &program.packet.headers {
        sets.add(needed, header.valid..header.valid + 1);
    }
    program.packet.stacks.iter().for_each(|stack| sets.add(needed, stack.next..stack.next + 1));
    program.packet.vl_stores.iter().for_each(|store| sets.add(needed, store.length..store.length + 1));
    // A clone starts a pipeline again with the headers that are kept here, so only its field list is added.
    let starts_again = |op: &Op| matches!(op, Op::Request { request, .. } if *request != Request::Truncate);
    if program.code.ops.iter().any(starts_again) {
        let fields = program.packet.lists.iter().flatten();
        fields.for_each(|field| sets.add(needed, words_of(*field)));
    }
}

fn words_of(field: Field) -> Range<Slot> {
    field.slot..field.slot + field.words() as Slot
}

fn header_words(program: &Program, header: &Header) -> Range<Slot> {
    header.base..header.base + program.header_type(header.type_id).words
}

/// Returns every instruction reachable from `start`, which comes first, with the words that it reads and writes.
fn walk(reader: &mut Reader<'_>, start: Pc) -> Option<Vec<Node>> {
    let program = reader.program;
    let node = |flow: FlowNode| {
        let mut node = Node { next: flow.next, ..Node::default() };
        reader.operands(program.code.ops[flow.pc as usize], &mut node);
        node
    };
    Some(flow(program, start)?.into_iter().map(node).collect())
}

impl Reader<'_> {
    fn everything(&self) -> Range<Slot> {
        0..self.program.packet.reset_end as Slot
    }

    /// Returns the words that a calculation covers.
    fn calculation(&mut self, calculation: &Calculation) -> Vec<Range<Slot>> {
        let mut reads = Vec::new();
        for input in &calculation.inputs {
            let (valid, words) = match input {
                Input::Field { field, valid } => (*valid, vec![words_of(*field)]),
                Input::Fields { layout, valid } => {
                    let pieces = layout.chunks.iter().flat_map(|chunk| &chunk.pieces);
                    (*valid, pieces.map(|piece| piece.off..piece.off + 1).collect())
                }
                // Bytes and lengths of variable-length fields are always saved.
                Input::Variable { valid, .. } => (*valid, Vec::new()),
                Input::Constant { .. } => continue,
                Input::Header { header, valid } => {
                    (*valid, vec![header_words(self.program, self.program.header(*header))])
                }
            };
            reads.push(valid..valid + 1);
            for words in words {
                let of = |header: &Header| {
                    let all = header_words(self.program, header);
                    header.valid == valid
                        && !header.metadata
                        && all.start <= words.start
                        && words.end <= all.end
                };
                match self.program.packet.headers.iter().position(of) {
                    Some(header) => self.guarded[header] = true,
                    None => reads.push(words),
                }
            }
        }
        reads
    }

    /// Adds to a node the words that an instruction may read and those that it always writes. If the instruction makes headers
    /// valid other than by zeroing or copying them completely, it writes their validity.
    fn operands(&mut self, op: Op, node: &mut Node) {
        let program = self.program;
        let reads = &mut node.reads;
        let mut one = |slot: Slot| reads.push(slot..slot + 1);
        match op {
            Op::Mov { d, a, .. } | Op::Unary { d, a, .. } => {
                one(a);
                node.writes.push(d);
            }
            Op::Binary { d, a, b, .. } | Op::Sar { d, a, b, .. } | Op::Compare { d, a, b, .. } => {
                [a, b].into_iter().for_each(one);
                node.writes.push(d);
            }
            Op::Jmp { .. } | Op::Step | Op::Exit | Op::Ret | Op::EndInline | Op::Halt => {}
            Op::JumpIf { a, b, .. } => [a, b].into_iter().for_each(one),
            Op::RegisterRead { d, r, idx, .. } => {
                one(idx);
                if !program.is_cell(r, idx) {
                    // If the index is beyond the array, the old value stays.
                    one(d);
                }
                node.writes.push(d);
            }
            Op::ExecuteMeter { d, idx, .. } => {
                [d, idx].into_iter().for_each(one);
                node.writes.push(d);
            }
            Op::Rng { d, lo, hi, .. } => {
                [d, lo, hi].into_iter().for_each(one);
                node.writes.push(d);
            }
            Op::RegisterWrite { idx, a, .. } => [idx, a].into_iter().for_each(one),
            Op::Count { idx, .. } => one(idx),
            Op::Hash { call } => {
                let call = program.hash_call(call);
                [call.base, call.size].into_iter().for_each(&mut one);
                reads.extend(self.calculation(program.calculation(call.calculation)));
                node.writes.push(call.d);
            }
            Op::MarkToDrop { egress_spec, mcast_grp, .. } => node.writes.extend([egress_spec, mcast_grp]),
            Op::Request { a, b, .. } => [a, b].into_iter().for_each(one),
            Op::Assert { a, .. } => one(a),
            Op::Log { call } => {
                let words = |value: &LogValue| value.first as Slot..(value.first + value.count) as Slot;
                reads.extend(program.log_call(call).values.iter().map(words));
            }
            Op::IsValid { d, h } => match program.constant_header(h) {
                Some(header) => {
                    one(program.header(header).valid);
                    node.writes.push(d);
                }
                None => reads.push(self.everything()),
            },
            Op::Load { d, h, off } => match program.constant_header(h) {
                Some(header) => {
                    one(program.header(header).base + off);
                    node.writes.push(d);
                }
                None => reads.push(self.everything()),
            },
            // The instruction reads the header's validity and length, which are kept.
            Op::AddHeader { h } | Op::RemoveHeader { h } if program.constant_header(h).is_some() => {}
            Op::AssignHeader { d, s } => match (program.constant_header(d), program.constant_header(s)) {
                (Some(_), Some(source)) if !program.header(source).metadata => {
                    self.guarded[source as usize] = true;
                }
                _ => reads.push(self.everything()),
            },
            Op::Apply { table } => {
                let table = program.match_table(table);
                table.key.parts.iter().for_each(|part| one(part.slot));
                let selector = table.profile.and_then(|at| program.selector(at));
                if let Some(selector) = selector {
                    reads.extend(self.calculation(selector));
                }
            }
            Op::Extract { header } => node.writes.extend(header_words(program, program.header(header))),
            Op::Lookahead { d, .. } => node.writes.push(d),
            Op::Verify { a, error } => [a, error].into_iter().for_each(one),
            Op::Advance { a } => one(a),
            Op::Select { select } => program.select(select).key.parts.iter().for_each(|part| one(part.slot)),
            Op::Cold { at } => match *program.cold_op(at) {
                ColdOp::Wide(Wide { operation, words: n, w, d, a, b }) => {
                    let (of_a, written) = match operation {
                        Operation::Extend { .. } => (words(w).min(n), n),
                        Operation::Binary(Binary::Div | Binary::Mod) => (n, 2 * n),
                        Operation::Eq | Operation::Lt => (n, 1),
                        _ => (n, n),
                    };
                    reads.extend([a..a + of_a, b..b + n]);
                    node.writes.extend(d..d + written);
                }
                ColdOp::Extract { to, len, .. } => {
                    len.into_iter().for_each(one);
                    match to {
                        Extracted::Header(header) if program.header(header).union.is_none() => {
                            node.writes.extend(header_words(program, program.header(header)));
                        }
                        // The instruction writes a whole element.
                        Extracted::Stack(_) => {}
                        _ => reads.push(self.everything()),
                    }
                }
                ColdOp::Lookahead { d, w, .. } => node.writes.extend(d..d + words(w)),
                _ => reads.push(self.everything()),
            },
            _ => reads.push(self.everything()),
        }
    }
}

/// Bit sets of the words that a reset zeroes.
struct Sets {
    words: usize,
    slots: Slot,
}

impl Sets {
    fn new(slots: usize) -> Sets {
        Sets { words: slots.div_ceil(64), slots: slots as Slot }
    }

    fn empty(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    /// Adds a range to a set, except scratch and constants, which follow the packet's words.
    fn add(&self, set: &mut [u64], range: Range<Slot>) {
        let (start, end) = (range.start, range.end.min(self.slots));
        if start >= end {
            return;
        }
        let (first, last) = (start as usize / 64, (end as usize - 1) / 64);
        for (word, bits) in set.iter_mut().enumerate().take(last + 1).skip(first) {
            let above = if word == first { u64::MAX << (start % 64) } else { u64::MAX };
            let below = if word == last { u64::MAX >> (63 - (end - 1) % 64) } else { u64::MAX };
            *bits |= above & below;
        }
    }

    fn take(&self, set: &mut [u64], slot: Slot) {
        if slot < self.slots {
            set[slot as usize / 64] &= !(1 << (slot % 64));
        }
    }

    fn has(&self, set: &[u64], slot: Slot) -> bool {
        set[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Returns the words that updated checksums cover, and the words that their conditions read.
    fn of_updated_checksums(&self, reader: &mut Reader<'_>) -> Option<Vec<u64>> {
        let program = reader.program;
        let mut set = self.empty();
        for checksum in program.code.checksums.iter().filter(|checksum| checksum.update) {
            let mut reads = reader.calculation(program.calculation(checksum.calculation));
            if let Some(pc) = checksum.condition {
                for node in walk(reader, pc)? {
                    reads.extend(node.reads);
                }
            }
            reads.into_iter().for_each(|range| self.add(&mut set, range));
        }
        Some(set)
    }

    /// Returns the words needed before the first node if `at_end` is needed at every end; `None` if that takes too long.
    fn solve(&self, nodes: &[Node], at_end: &[u64]) -> Option<Vec<u64>> {
        if nodes.len() * self.words > MAX_SET_WORDS {
            return None;
        }
        let mut needed = vec![0; nodes.len() * self.words];
        let mut here = self.empty();
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for (number, node) in nodes.iter().enumerate().rev() {
                if node.next.is_empty() {
                    here.copy_from_slice(at_end);
                } else {
                    here.fill(0);
                }
                for &next in &node.next {
                    let there = &needed[next * self.words..][..self.words];
                    here.iter_mut().zip(there).for_each(|(here, there)| *here |= there);
                }
                node.writes.iter().for_each(|&slot| self.take(&mut here, slot));
                node.reads.iter().for_each(|range| self.add(&mut here, range.clone()));
                let old = &mut needed[number * self.words..][..self.words];
                if *old != here[..] {
                    old.copy_from_slice(&here);
                    changed = true;
                }
            }
            if !changed {
                needed.truncate(self.words);
                return Some(needed);
            }
        }
        None
    }

    /// Returns the set as runs. Gaps of up to `gap` words are filled.
    fn runs(&self, set: &[u64], gap: usize) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for slot in (0..self.slots).filter(|&slot| self.has(set, slot)) {
            let at = slot as usize;
            match runs.last_mut() {
                Some(run) if at - run.end <= gap => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Comparison;

    const PROBE: &[u8] = include_bytes!("../../../simple_switch/tests/p4/probe.json");
    /// Words of metadata further apart than `GAP`; words in small gaps are kept with their neighbours.
    const A: Slot = 0;
    const B: Slot = 20;
    const C: Slot = 40;

    fn kept(program: &Program) -> Kept {
        let (egress, deparser) = (program.pipeline("egress").unwrap(), program.deparser("deparser").unwrap());
        program.kept_ahead_of(egress, deparser, &[], &[])
    }

    /// Returns the probe program with another egress pipeline.
    fn program(ops: &[Op]) -> Program {
        let mut program = Program::from_json(PROBE).unwrap();
        assert!(program.packet.metadata_end > C as usize, "the words are metadata");
        let egress = program.pipeline("egress").unwrap();
        program.code.pipelines[egress.0 as usize].pc = 0;
        program.code.ops = ops.to_vec();
        program
    }

    fn is_kept(kept: &Kept, slot: Slot) -> bool {
        kept.always.iter().any(|run| run.contains(&(slot as usize)))
    }

    fn which(ops: &[Op]) -> [bool; 3] {
        let kept = kept(&program(ops));
        [A, B, C].map(|slot| is_kept(&kept, slot))
    }

    fn copy(d: Slot, a: Slot) -> Op {
        Op::Mov { w: 64, d, a }
    }

    #[test]
    fn a_word_is_kept_if_it_may_be_read_before_it_is_written() {
        assert_eq!(which(&[Op::Halt]), [false, false, false]);
        assert_eq!(which(&[copy(A, B), copy(C, A), Op::Halt]), [false, true, false]);
        assert_eq!(which(&[copy(C, A), copy(A, B), Op::Halt]), [true, true, false]);
    }

    #[test]
    fn a_word_that_only_one_branch_writes_is_kept() {
        let branch = Op::JumpIf { op: Comparison::Eq, a: C, b: C, to: 2 };
        assert_eq!(which(&[branch, copy(A, C), copy(C, A), Op::Halt]), [true, false, true]);
    }

    #[test]
    fn a_word_that_a_register_is_read_into_is_kept_unless_the_index_is_surely_a_cell() {
        let with_index = |index: Slot, size: usize| {
            let read = Op::RegisterRead { w: 8, d: A, r: 0, idx: index };
            let mut program = program(&[read, copy(C, A), Op::Halt]);
            program.declared.register_arrays[0].size = size;
            is_kept(&kept(&program), A)
        };
        let probe = program(&[Op::Halt]);
        let one = (0..).find(|&slot| probe.constant(slot) == Some(1)).unwrap();
        assert!(!with_index(one, 2));
        assert!(with_index(one, 1));
        let port = probe.field("standard_metadata", "egress_port").unwrap();
        assert!(!with_index(port.slot, 1 << port.width));
        assert!(with_index(port.slot, (1 << port.width) - 1));
        let in_header = probe.packet.headers.iter().find(|header| !header.metadata).unwrap().base;
        assert!(with_index(in_header, usize::MAX));
    }

    #[test]
    fn a_header_known_only_at_run_time_may_be_any() {
        let load = Op::Load { d: A, h: B, off: 0 };
        assert_eq!(which(&[load, Op::Halt]), [true, true, true]);
    }

    #[test]
    fn field_lists_are_kept_where_a_packet_may_begin_again() {
        for (request, expected) in [(Request::Recirculate, true), (Request::Truncate, false)] {
            let mut program = program(&[Op::Request { request, a: C, b: C }, Op::Halt]);
            program.packet.lists = vec![vec![Field { slot: B, width: 8, signed: false }]];
            assert_eq!(is_kept(&kept(&program), B), expected);
        }
    }

    #[test]
    fn a_deparsed_header_is_kept_if_it_is_valid_and_always_where_validity_is_written_as_a_field() {
        let words = |program: &Program, h: &Header| {
            let words = header_words(program, h);
            words.start as usize..words.end as usize
        };
        let mut untouched = program(&[Op::Halt]);
        // The probe's large header.
        let of = |program: &Program| {
            let headers = program.packet.headers.iter().filter(|h| !h.metadata);
            headers.max_by_key(|h| words(program, h).len()).cloned().unwrap()
        };
        let report = of(&untouched);
        assert!(words(&untouched, &report).len() > SMALL);
        let now = kept(&untouched);
        assert!(now.if_valid.contains(&(report.valid as usize, words(&untouched, &report))));
        assert!(is_kept(&now, report.valid));

        untouched.code.ops = vec![copy(report.valid, A), Op::Halt];
        let now = kept(&untouched);
        assert!(words(&untouched, &report).all(|slot| is_kept(&now, slot as Slot)));

        untouched.code.ops = vec![copy(A, report.base), Op::Halt];
        let now = kept(&untouched);
        assert!(words(&untouched, &report).all(|slot| is_kept(&now, slot as Slot)));
        assert!(!now.if_valid.iter().any(|(valid, _)| *valid == report.valid as usize), "not twice");
    }

    #[test]
    fn the_e_eon_program_forgets_temporaries_of_ingress() {
        let program = Program::from_json(include_bytes!("../../../../p4src/compiled/eeon.json")).unwrap();
        let kept = kept(&program);
        let words: usize = kept.always.iter().map(ExactSizeIterator::len).sum();
        assert!(words < program.packet.reset_end * 2 / 3, "{words} of {}", program.packet.reset_end);
    }

    #[test]
    fn a_program_for_tracing_keeps_everything() {
        let program = Program::from_json_for_tracing(PROBE).unwrap();
        assert_eq!(kept(&program), Kept::everything(&program));
    }
}
