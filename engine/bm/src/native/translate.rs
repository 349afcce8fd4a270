//! Native code for a program's control flow: one function from a start to the end. `straight` handles the instructions between
//! branches.
//!
//! An action's code is generated once for each node that may follow it, as in `program::flow`, so that its end is a plain jump.
//! All values are stored in the slot array, as in the interpreter, because callbacks and later runs read them there; Cranelift
//! forwards a value from a store to later loads.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    types, AliasRegion, Block, InstBuilder, JumpTableData, MemFlags, SigRef, Signature, Type, Value,
};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::frame::{offset, status};
use super::layout::low_bits;
use crate::program::{flow, Comparison, FlowNode, Op, Pc, Program, Slot};

/// Maximum number of cases of a select that the code compares one by one.
const MAX_CASES: usize = 32;

pub(super) struct Translation<'a> {
    pub(super) program: &'a Program,
    pub(super) b: FunctionBuilder<'a>,
    pub(super) frame: Value,
    pub(super) slots: Value,
    steps: Variable,
    callback: SigRef,
    /// The block that returns [`status::TRAPPED`].
    pub(super) trapped: Block,
    /// By node: the start of its code; `None` if the code directly follows the only node that leads to it.
    blocks: Vec<Option<Block>>,
}

/// Generates the function of (frame, slots, steps) that runs from `start`; `None` if it would be too long.
pub(super) fn translate(
    program: &Program,
    start: Pc,
    mut b: FunctionBuilder<'_>,
    signature: &Signature,
) -> Option<()> {
    let nodes = flow(program, start)?;
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
    let blocks = blocks(program, &nodes, &mut b);
    let mut t = Translation { program, frame, slots, steps, callback, trapped, blocks, b };
    let first = t.block(0);
    t.b.ins().jump(first, &[]);
    for at in 0..nodes.len() {
        if let Some(block) = t.blocks[at] {
            t.b.switch_to_block(block);
            t.run_on(&nodes, at);
        }
    }
    t.b.switch_to_block(trapped);
    t.b.set_cold_block(trapped);
    t.end(status::TRAPPED);
    t.b.seal_all_blocks();
    t.b.finalize();
    Some(())
}

/// Creates the blocks of the first node, of nodes with several predecessors, and of branch targets.
fn blocks(program: &Program, nodes: &[FlowNode], b: &mut FunctionBuilder<'_>) -> Vec<Option<Block>> {
    let mut ways_in = vec![0; nodes.len()];
    ways_in[0] = 2;
    for node in nodes {
        let op = program.code.ops[node.pc as usize];
        let branches = matches!(op, Op::Apply { .. } | Op::Select { .. }) || node.next.len() > 1;
        node.next.iter().for_each(|&next| ways_in[next] += if branches { 2 } else { 1 });
    }
    ways_in.iter().map(|&ways| (ways > 1).then(|| b.create_block())).collect()
}

/// Returns the flags for accesses to the slots' memory.
fn slot_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Heap))
}

/// Returns the flags for accesses to the frame's memory.
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

/// Returns a slot's value; a constant becomes an immediate value.
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
        let value = low_bits(&mut self.b, value, w);
        self.set(slot, value);
    }

    pub(super) fn frame_word(&mut self, ty: Type, offset: i32) -> Value {
        self.b.ins().load(ty, frame_flags(), self.frame, offset)
    }

    /// Returns the block of a branch target.
    fn block(&self, node: usize) -> Block {
        self.blocks[node].expect("every node that is branched to has a block")
    }

    pub(super) fn compare(&mut self, op: Comparison, a: Slot, b: Slot) -> Value {
        let (a, b) = (self.get(a), self.get(b));
        let condition = match op {
            Comparison::Eq => IntCC::Equal,
            Comparison::Ne => IntCC::NotEqual,
            Comparison::LtU => IntCC::UnsignedLessThan,
            Comparison::GeU => IntCC::UnsignedGreaterThanOrEqual,
            Comparison::LtS => IntCC::SignedLessThan,
            Comparison::GeS => IntCC::SignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(condition, a, b)
    }

    /// Returns from the function with `status`.
    fn end(&mut self, status: i64) {
        let status = self.b.ins().iconst(types::I64, status);
        self.b.ins().return_(&[status]);
    }

    /// Returns from the function with `status` if `condition` is not zero.
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

    /// Translates from a node to the next branch, or to the next node with a block.
    fn run_on(&mut self, nodes: &[FlowNode], mut at: usize) {
        loop {
            let FlowNode { pc, next } = &nodes[at];
            let op = self.program.code.ops[*pc as usize];
            match op {
                Op::Halt | Op::Ret | Op::EndInline | Op::Exit | Op::Jmp { .. } => {}
                _ if self.branch(op, next) => return,
                _ => self.straight(op, *pc),
            }
            let Some(&next) = next.first() else { return self.end(status::DONE) };
            if let Some(block) = self.blocks[next] {
                self.b.ins().jump(block, &[]);
                return;
            }
            at = next;
        }
    }

    /// Translates an instruction with several successors; returns `false` for any other instruction.
    fn branch(&mut self, op: Op, next: &[usize]) -> bool {
        match op {
            Op::JumpIf { op, a, b, .. } => {
                let condition = self.compare(op, a, b);
                let (next, taken) = (self.block(next[0]), self.block(next[1]));
                self.b.ins().brif(condition, taken, &[], next, &[]);
            }
            Op::Apply { table } => self.apply(table, next),
            Op::Select { select } => self.select(select, next),
            _ => return false,
        }
        true
    }

    fn apply(&mut self, table: u32, next: &[usize]) {
        self.take_step(status::STEP_LIMIT);
        let outcome = self.call(offset::APPLY, table);
        let actions = &self.program.match_table(table).actions;
        // The edge to an action copies its parameters.
        let entrances: Vec<Block> = next[1..].iter().map(|_| self.b.create_block()).collect();
        self.switch(outcome, &entrances, self.block(next[0]));
        for (number, (&entrance, &to)) in entrances.iter().zip(&next[1..]).enumerate() {
            self.b.switch_to_block(entrance);
            let data = self.frame_word(types::I64, offset::DATA);
            for word in 0..actions[number / 2].words {
                let value = self.b.ins().load(types::I64, MemFlags::trusted(), data, slot_offset(word));
                self.set(self.program.packet.param_base as Slot + word, value);
            }
            let to = self.block(to);
            self.b.ins().jump(to, &[]);
        }
    }

    /// Jumps to the block with this number, or to `other` if there is no such block.
    fn switch(&mut self, number: Value, blocks: &[Block], other: Block) {
        let mut call = |&block: &Block| self.b.func.dfg.block_call(block, &[]);
        let (calls, other): (Vec<_>, _) = (blocks.iter().map(&mut call).collect(), call(&other));
        let table = self.b.create_jump_table(JumpTableData::new(other, &calls));
        let number = self.b.ins().ireduce(types::I32, number);
        self.b.ins().br_table(number, table);
    }

    fn select(&mut self, id: u32, next: &[usize]) {
        self.take_step(Self::parser_error(self.program.code.core_errors.parser_timeout));
        let program = self.program;
        let select = program.select(id);
        let to: Vec<Block> = next.iter().map(|&node| self.block(node)).collect();
        let (&default, cases) = to.split_last().expect("a select has a default");
        let Some(narrow) = select.narrow.as_ref().filter(|cases| cases.len() <= MAX_CASES) else {
            let case = self.call(offset::SELECT, id);
            return self.switch(case, cases, default);
        };
        let mut key = self.number(0);
        for part in &select.key.parts {
            let value = self.get(part.slot);
            let value = self.b.ins().band_imm(value, part.mask as i64);
            let value = self.b.ins().ishl_imm(value, i64::from(part.shift));
            key = self.b.ins().bor(key, value);
        }
        for (&(value, mask), &taken) in narrow.iter().zip(cases) {
            let masked = self.b.ins().band_imm(key, mask as i64);
            let fits = self.b.ins().icmp_imm(IntCC::Equal, masked, value as i64);
            let next = self.b.create_block();
            self.b.ins().brif(fits, taken, &[], next, &[]);
            self.b.switch_to_block(next);
        }
        self.b.ins().jump(default, &[]);
    }
}
