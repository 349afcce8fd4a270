//! Native code for a program's flow, one function from a start to the end. What stands between the branches is in
//! `straight`.
//!
//! An action's code is made once for each node that may follow it, so that its end is a plain jump; an `exit` that
//! was met is part of the program point too. All values are kept in the slot array, as the interpreter does, which is
//! what callbacks and later runs read; Cranelift forwards a value from a store to the loads behind it.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    types, AliasRegion, Block, InstBuilder, JumpTableData, MemFlags, SigRef, Signature, Type, Value,
};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::frame::{offset, status};
use crate::program::{Op, Pc, Program, Slot};

/// Maximum number of instructions of one parser, pipeline or condition, counted as often as they are compiled. A longer
/// one is interpreted, so that loading takes bounded time.
const MAX_OPS: usize = 20_000;

/// Longest select whose cases are compared one by one in the code.
const MAX_CASES: usize = 32;

/// An instruction, and what the code from it on depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ProgramPoint {
    pc: Pc,
    /// In an action: the node that follows its table.
    after: Option<Pc>,
    /// The action has called `exit`.
    exited: bool,
}

pub(super) struct Translation<'a> {
    pub(super) program: &'a Program,
    pub(super) b: FunctionBuilder<'a>,
    pub(super) frame: Value,
    pub(super) slots: Value,
    steps: Variable,
    callback: SigRef,
    /// Returns [`status::TRAPPED`].
    pub(super) trapped: Block,
    blocks: HashMap<ProgramPoint, Block>,
    work: Vec<ProgramPoint>,
    /// By instruction: whether something jumps there.
    leaders: Vec<bool>,
    translated: usize,
}

/// Makes the function that runs from `start`, of (frame, slots, steps). `None` when it would be too long.
pub(super) fn translate(
    program: &Program,
    start: Pc,
    mut b: FunctionBuilder<'_>,
    signature: &Signature,
) -> Option<()> {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let (frame, slots, max_steps) =
        (b.block_params(entry)[0], b.block_params(entry)[1], b.block_params(entry)[2]);
    let steps = Variable::from_u32(0);
    b.declare_var(steps, types::I32);
    b.def_var(steps, max_steps);
    let mut callback = Signature::new(signature.call_conv);
    callback.params.extend([types::I64, types::I32].map(cranelift_codegen::ir::AbiParam::new));
    callback.returns.push(cranelift_codegen::ir::AbiParam::new(types::I64));
    let callback = b.import_signature(callback);
    let trapped = b.create_block();
    let mut t = Translation {
        program,
        frame,
        slots,
        steps,
        callback,
        trapped,
        blocks: HashMap::new(),
        work: Vec::new(),
        leaders: leaders(program),
        translated: 0,
        b,
    };
    let first = t.block(ProgramPoint { pc: start, after: None, exited: false });
    t.b.ins().jump(first, &[]);
    while let Some(point) = t.work.pop() {
        let block = t.blocks[&point];
        t.b.switch_to_block(block);
        t.walk(point)?;
        if t.translated > MAX_OPS {
            return None;
        }
    }
    t.b.switch_to_block(trapped);
    t.b.set_cold_block(trapped);
    t.end(status::TRAPPED);
    t.b.seal_all_blocks();
    t.b.finalize();
    Some(())
}

/// Marks every instruction that is jumped to.
fn leaders(program: &Program) -> Vec<bool> {
    let mut leaders = vec![false; program.ops().len()];
    let mut mark = |pc: Pc| leaders[pc as usize] = true;
    for op in program.ops() {
        let mut op = *op;
        if let Some(to) = op.target_mut() {
            mark(*to);
        }
    }
    for table in program.match_tables() {
        mark(table.next_none);
        for action in &table.actions {
            [action.pc, action.next_hit, action.next_miss].into_iter().for_each(&mut mark);
        }
    }
    for select in program.selects() {
        (0..=select.cases.len()).for_each(|case| mark(select.target(case)));
    }
    leaders
}

/// Memory of the slots.
fn slot_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Heap))
}

/// Memory of the frame.
pub(super) fn frame_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

fn slot_offset(slot: Slot) -> i32 {
    // The loader's limits keep a packet far below 2^28 slots.
    8 * slot as i32
}

pub(super) fn load_slot(b: &mut FunctionBuilder<'_>, slots: Value, slot: Slot) -> Value {
    b.ins().load(types::I64, slot_flags(), slots, slot_offset(slot))
}

pub(super) fn store_slot(b: &mut FunctionBuilder<'_>, slots: Value, slot: Slot, value: Value) {
    b.ins().store(slot_flags(), value, slots, slot_offset(slot));
}

/// Returns a slot's value; a constant is put into the code.
pub(super) fn value_of(b: &mut FunctionBuilder<'_>, program: &Program, slots: Value, slot: Slot) -> Value {
    match program.constant(slot) {
        Some(constant) => b.ins().iconst(types::I64, constant as i64),
        None => load_slot(b, slots, slot),
    }
}

impl Translation<'_> {
    pub(super) fn get(&mut self, slot: Slot) -> Value {
        value_of(&mut self.b, self.program, self.slots, slot)
    }

    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        store_slot(&mut self.b, self.slots, slot, value);
    }

    pub(super) fn number(&mut self, value: u64) -> Value {
        self.b.ins().iconst(types::I64, value as i64)
    }

    /// Sets a slot to the low `w` bits.
    pub(super) fn set_cut(&mut self, slot: Slot, value: Value, w: u8) {
        let value = self.cut(value, w);
        self.set(slot, value);
    }

    pub(super) fn cut(&mut self, value: Value, w: u8) -> Value {
        if w >= 64 {
            return value;
        }
        self.b.ins().band_imm(value, (u64::MAX >> (64 - w)) as i64)
    }

    pub(super) fn frame_word(&mut self, ty: Type, offset: i32) -> Value {
        self.b.ins().load(ty, frame_flags(), self.frame, offset)
    }

    /// Returns the block of a point, to be filled in its turn.
    fn block(&mut self, point: ProgramPoint) -> Block {
        if let Some(&block) = self.blocks.get(&point) {
            return block;
        }
        let block = self.b.create_block();
        self.blocks.insert(point, block);
        self.work.push(point);
        block
    }

    fn jump(&mut self, point: ProgramPoint) {
        let block = self.block(point);
        self.b.ins().jump(block, &[]);
    }

    /// Goes to `to` if `condition` is not zero, and on at `point` otherwise.
    fn branch(&mut self, condition: Value, to: Pc, point: ProgramPoint) {
        let taken = self.block(ProgramPoint { pc: to, ..point });
        let next = self.block(point);
        self.b.ins().brif(condition, taken, &[], next, &[]);
    }

    pub(super) fn compare(&mut self, condition: IntCC, a: Slot, b: Slot) -> Value {
        let (a, b) = (self.get(a), self.get(b));
        self.b.ins().icmp(condition, a, b)
    }

    /// Leaves the function.
    fn end(&mut self, status: i64) {
        let status = self.b.ins().iconst(types::I64, status);
        self.b.ins().return_(&[status]);
    }

    /// Leaves the function if `condition` is not zero.
    pub(super) fn end_if(&mut self, condition: Value, status: i64) {
        let (leave, stay) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, leave, &[], stay, &[]);
        self.b.set_cold_block(leave);
        self.b.switch_to_block(leave);
        self.end(status);
        self.b.switch_to_block(stay);
    }

    pub(super) fn parser_error(code: u32) -> i64 {
        status::PARSER_ERROR | i64::from(code) << status::CODE_SHIFT
    }

    pub(super) fn take_step(&mut self, status: i64) {
        let left = self.b.use_var(self.steps);
        let none = self.b.ins().icmp_imm(IntCC::Equal, left, 0);
        self.end_if(none, status);
        let left = self.b.ins().iadd_imm(left, -1);
        self.b.def_var(self.steps, left);
    }

    pub(super) fn call(&mut self, callback: i32, index: u32) -> Value {
        let callee = self.frame_word(types::I64, callback);
        let index = self.b.ins().iconst(types::I32, i64::from(index));
        let call = self.b.ins().call_indirect(self.callback, callee, &[self.frame, index]);
        self.b.inst_results(call)[0]
    }

    /// Translates from `point` to the next branch.
    fn walk(&mut self, mut point: ProgramPoint) -> Option<()> {
        loop {
            let at = point.pc;
            let op = *self.program.ops().get(at as usize)?;
            point.pc += 1;
            self.translated += 1;
            match op {
                Op::EndInline if !point.exited => {}
                Op::Exit => point.exited = true,
                _ if self.leave(op, point)? => return Some(()),
                _ => self.straight(op, at),
            }
            if self.leaders.get(point.pc as usize).is_some_and(|&leader| leader) {
                self.jump(point);
                return Some(());
            }
        }
    }

    /// Translates an instruction that does not simply go on to the next, `point`; `false` if this is none.
    fn leave(&mut self, op: Op, point: ProgramPoint) -> Option<bool> {
        match op {
            Op::Jmp { to } => self.jump(ProgramPoint { pc: to, ..point }),
            Op::Jz { a, to } | Op::Jnz { a, to } => {
                let a = self.get(a);
                let equal = if matches!(op, Op::Jz { .. }) { IntCC::Equal } else { IntCC::NotEqual };
                let condition = self.b.ins().icmp_imm(equal, a, 0);
                self.branch(condition, to, point);
            }
            Op::JEq { a, b, to } => self.compare_and_branch(IntCC::Equal, a, b, to, point),
            Op::JNe { a, b, to } => self.compare_and_branch(IntCC::NotEqual, a, b, to, point),
            Op::JLtU { a, b, to } => self.compare_and_branch(IntCC::UnsignedLessThan, a, b, to, point),
            Op::JGeU { a, b, to } => {
                self.compare_and_branch(IntCC::UnsignedGreaterThanOrEqual, a, b, to, point)
            }
            Op::JLtS { a, b, to } => self.compare_and_branch(IntCC::SignedLessThan, a, b, to, point),
            Op::JGeS { a, b, to } => {
                self.compare_and_branch(IntCC::SignedGreaterThanOrEqual, a, b, to, point)
            }
            Op::Halt => self.end(status::DONE),
            Op::Ret | Op::EndInline if point.exited => self.end(status::DONE),
            Op::Ret => self.jump(ProgramPoint { pc: point.after?, after: None, exited: false }),
            Op::Apply { table } => self.apply(table, point),
            Op::Select { select } => self.select(select, point),
            _ => return Some(false),
        }
        Some(true)
    }

    fn compare_and_branch(&mut self, condition: IntCC, a: Slot, b: Slot, to: Pc, point: ProgramPoint) {
        let condition = self.compare(condition, a, b);
        self.branch(condition, to, point);
    }

    fn apply(&mut self, table: u32, point: ProgramPoint) {
        self.take_step(status::STEP_LIMIT);
        let outcome = self.call(offset::APPLY, table);
        let table = &self.program.match_table(table);
        // On its way to an action, its parameters are copied in.
        let mut entrances = Vec::new();
        for action in &table.actions {
            for next in [action.next_miss, action.next_hit] {
                let entrance = self.b.create_block();
                entrances.push((entrance, action, next));
            }
        }
        let none = self.block(ProgramPoint { pc: table.next_none, after: None, ..point });
        self.switch(outcome, entrances.iter().map(|(entrance, ..)| *entrance), none);
        for (entrance, action, next) in entrances {
            self.b.switch_to_block(entrance);
            let data = self.frame_word(types::I64, offset::DATA);
            for word in 0..action.words {
                let value = self.b.ins().load(types::I64, MemFlags::trusted(), data, slot_offset(word));
                self.set(self.program.param_base() as Slot + word, value);
            }
            self.jump(ProgramPoint { pc: action.pc, after: Some(next), ..point });
        }
    }

    /// Goes to the block of this number, or to `other` when there are fewer.
    fn switch(&mut self, number: Value, blocks: impl Iterator<Item = Block>, other: Block) {
        let call = |block| self.b.func.dfg.block_call(block, &[]);
        let calls: Vec<_> = blocks.chain([other]).map(call).collect();
        let (other, calls) = (calls[calls.len() - 1], &calls[..calls.len() - 1]);
        let table = self.b.create_jump_table(JumpTableData::new(other, calls));
        let number = self.b.ins().ireduce(types::I32, number);
        self.b.ins().br_table(number, table);
    }

    fn select(&mut self, id: u32, point: ProgramPoint) {
        self.take_step(Self::parser_error(self.program.core_errors().parser_timeout));
        let program = self.program;
        let select = program.select(id);
        let to: Vec<ProgramPoint> =
            (0..=select.cases.len()).map(|case| ProgramPoint { pc: select.target(case), ..point }).collect();
        let (default, cases) = (to[select.cases.len()], &to[..select.cases.len()]);
        let Some(narrow) = select.narrow.as_ref().filter(|cases| cases.len() <= MAX_CASES) else {
            let case = self.call(offset::SELECT, id);
            let blocks: Vec<Block> = cases.iter().map(|&point| self.block(point)).collect();
            let default = self.block(default);
            return self.switch(case, blocks.into_iter(), default);
        };
        let mut key = self.number(0);
        for part in &select.key.parts {
            let value = self.get(part.slot);
            let value = self.b.ins().band_imm(value, part.mask as i64);
            let value = self.b.ins().ishl_imm(value, i64::from(part.shift));
            key = self.b.ins().bor(key, value);
        }
        for (&(value, mask), &to) in narrow.iter().zip(cases) {
            let masked = self.b.ins().band_imm(key, mask as i64);
            let fits = self.b.ins().icmp_imm(IntCC::Equal, masked, value as i64);
            let (taken, next) = (self.block(to), self.b.create_block());
            self.b.ins().brif(fits, taken, &[], next, &[]);
            self.b.switch_to_block(next);
        }
        self.jump(default);
    }
}
