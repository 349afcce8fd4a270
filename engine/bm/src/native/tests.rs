//! Compares native code with the interpreter: the same instructions, slots, registers and ends.

use std::sync::Arc;

use proptest::prelude::*;

use crate::error::Fault;
use crate::executable::Executable;
use crate::program::{Binary, Comparison, Op, Pc, Program, Slot, Unary};
use crate::run::{execute, Context, Detached, Phv, Stop, Unwatched};
use crate::state::State;

/// Number of packet words that random instructions use.
const WORDS: u32 = 8;

/// Returns a program with two registers and a counter, with the instructions `ops` and these constants.
fn program(ops: Vec<Op>, constants: &[u64]) -> Arc<Executable> {
    let program = Program::from_json(include_bytes!("../../tests/programs/actions.json")).unwrap();
    assert!(program.register_arrays().len() >= 2 && program.packet.reset_end >= WORDS as usize);
    Executable::new(program.with_ops(ops, constants, 20))
}

/// Returns slots with packet data, occasionally an index within small arrays, or a constant.
fn source(const_base: Slot, constants: u32) -> impl Strategy<Value = Slot> {
    prop_oneof![3 => 0..WORDS, 1 => const_base..const_base + constants]
}

/// Returns any instruction that a list of this length may contain.
fn op(const_base: Slot, constants: u32, length: Pc) -> impl Strategy<Value = Op> {
    let a = source(const_base, constants);
    let b = source(const_base, constants);
    (0..23u8, unary(), binary(), comparison(), 1..=64u8, 0..WORDS - 1, a, b, 0..length).prop_map(
        |(kind, unary, binary, comparison, w, d, a, b, to)| match kind {
            0 => Op::Mov { w, d, a },
            1..=3 => Op::Unary { op: unary, w, d, a },
            4..=9 => Op::Binary { op: binary, w, d, a, b },
            10 => Op::Sar { w, d, a, b },
            11 | 12 => Op::Compare { op: comparison, d, a, b },
            13..=16 => Op::JumpIf { op: comparison, a, b, to },
            // Native code calls back for these two.
            17 => Op::Rng { w, d, lo: a, hi: b },
            18 => Op::Assert { a, id: 0 },
            19 => Op::RegisterRead { w, d, r: 0, idx: a },
            20 => Op::RegisterWrite { r: u32::from(w % 2), idx: a, a: b },
            21 => [Op::Exit, Op::EndInline][usize::from(w % 2)],
            _ => Op::Jmp { to },
        },
    )
}

fn unary() -> impl Strategy<Value = Unary> {
    use Unary::*;
    prop::sample::select(vec![Not, TwoComp, Sat, USatSigned, USat])
}

fn binary() -> impl Strategy<Value = Binary> {
    use Binary::*;
    prop::sample::select(vec![Add, Sub, Mul, Div, Mod, And, Or, Xor, Shl, Shr])
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::*;
    prop::sample::select(vec![Eq, Ne, LtU, GeU, LtS, GeS])
}

/// Returns the instructions with a step before each, so that loops end.
fn with_steps(ops: Vec<Op>) -> Vec<Op> {
    let mut spaced = Vec::new();
    for mut op in ops {
        spaced.push(Op::Step);
        if let Some(to) = op.target_mut() {
            *to *= 2;
        }
        spaced.push(op);
    }
    spaced.push(Op::Halt);
    spaced
}

/// The final state of a run.
type Ran = (Result<Stop, Fault>, Vec<u64>, Vec<u64>);

fn run(program: &Arc<Executable>, words: &[u64], native: bool) -> Ran {
    let mut state = State::new(program);
    let mut phv = Phv::new(program);
    phv.slots[..words.len()].copy_from_slice(words);
    let compiled = program.native().expect("this machine has a code generator");
    assert!(compiled.at(0).is_some(), "the instructions are compiled");
    let native = native.then_some(compiled);
    let mut externs = Detached;
    let mut context = Context::new(program, &mut state.cells, &mut externs, native);
    let ended = execute(&mut context, &mut phv, 0, &mut Unwatched);
    (ended, phv.slots, state.cells.registers.words)
}

fn word() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..70u64, Just(1 << 63), Just(u64::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn random_instructions_leave_the_same_slots_registers_and_end(
        ops in prop::collection::vec(op(1_000_000, 4, 24), 24),
        words in prop::collection::vec(word(), WORDS as usize),
        constants in prop::collection::vec(word(), 4),
    ) {
        let const_base = program(Vec::new(), &constants).packet.const_base as Slot;
        let ops = ops.into_iter().map(|op| at_const_base(op, const_base)).collect();
        let program = program(with_steps(ops), &constants);
        prop_assert_eq!(run(&program, &words, true), run(&program, &words, false));
    }
}

/// Moves the constants to their place in the program: random instructions are drawn before that place is known.
fn at_const_base(mut op: Op, const_base: Slot) -> Op {
    let moved = |slot: &mut Slot| {
        if *slot >= 1_000_000 {
            *slot = *slot - 1_000_000 + const_base;
        }
    };
    match &mut op {
        Op::Mov { a, .. } | Op::Unary { a, .. } | Op::Assert { a, .. } => moved(a),
        Op::Binary { a, b, .. }
        | Op::Sar { a, b, .. }
        | Op::Compare { a, b, .. }
        | Op::JumpIf { a, b, .. }
        | Op::Rng { lo: a, hi: b, .. }
        | Op::RegisterWrite { idx: a, a: b, .. } => {
            moved(a);
            moved(b);
        }
        Op::RegisterRead { idx, .. } => moved(idx),
        _ => {}
    }
    op
}
