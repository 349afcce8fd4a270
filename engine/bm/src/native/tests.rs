//! Compares native code with the interpreter: the same instructions, slots, registers and ends.

use std::sync::Arc;

use proptest::prelude::*;

use crate::error::Fault;
use crate::executable::Executable;
use crate::program::{Op, Pc, Program, Slot};
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
    (0..39u8, 1..=64u8, 0..WORDS - 1, a, b, 0..length).prop_map(|(kind, w, d, a, b, to)| match kind {
        0 | 1 => Op::Mov { w, d, a },
        2 => Op::Add { w, d, a, b },
        3 => Op::Sub { w, d, a, b },
        4 => Op::Mul { w, d, a, b },
        5 => Op::And { w, d, a, b },
        6 => Op::Or { w, d, a, b },
        7 => Op::Xor { w, d, a, b },
        8 => Op::Not { w, d, a },
        9 => Op::Shl { w, d, a, b },
        10 => Op::Shr { w, d, a, b },
        11 => Op::Sar { w, d, a, b },
        12 => Op::Div { w, d, a, b },
        13 => Op::Mod { w, d, a, b },
        14 => Op::TwoComp { w, d, a },
        15 => Op::Sat { w, d, a },
        16 => Op::USatSigned { w, d, a },
        17 => Op::USat { w, d, a },
        18 => Op::Eq { d, a, b },
        19 => Op::Ne { d, a, b },
        20 => Op::LtU { d, a, b },
        21 => Op::LtS { d, a, b },
        22 => Op::MovIf { d, c: b, a },
        // Native code calls back for these two.
        23 => Op::Rng { w, d, lo: a, hi: b },
        38 => Op::Assert { a, id: 0 },
        24 => Op::Jz { a, to },
        25 => Op::Jnz { a, to },
        26 => Op::JEq { a, b, to },
        27 => Op::JNe { a, b, to },
        28 => Op::JLtU { a, b, to },
        29 => Op::JGeU { a, b, to },
        30 => Op::JLtS { a, b, to },
        31 => Op::JGeS { a, b, to },
        32 => Op::RegisterRead { w, d, r: 0, idx: a },
        33 => Op::RegisterWrite { r: 0, idx: a, a: b },
        34 => Op::RegisterWrite { r: 1, idx: a, a: b },
        35 => Op::Exit,
        36 => Op::EndInline,
        _ => Op::Jmp { to },
    })
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
        Op::Mov { a, .. }
        | Op::Not { a, .. }
        | Op::TwoComp { a, .. }
        | Op::Sat { a, .. }
        | Op::USatSigned { a, .. }
        | Op::USat { a, .. }
        | Op::Assert { a, .. }
        | Op::Jz { a, .. }
        | Op::Jnz { a, .. } => moved(a),
        Op::Add { a, b, .. }
        | Op::Sub { a, b, .. }
        | Op::Mul { a, b, .. }
        | Op::And { a, b, .. }
        | Op::Or { a, b, .. }
        | Op::Xor { a, b, .. }
        | Op::Shl { a, b, .. }
        | Op::Shr { a, b, .. }
        | Op::Sar { a, b, .. }
        | Op::Div { a, b, .. }
        | Op::Mod { a, b, .. }
        | Op::Eq { a, b, .. }
        | Op::Ne { a, b, .. }
        | Op::LtU { a, b, .. }
        | Op::LtS { a, b, .. }
        | Op::JEq { a, b, .. }
        | Op::JNe { a, b, .. }
        | Op::JLtU { a, b, .. }
        | Op::JGeU { a, b, .. }
        | Op::JLtS { a, b, .. }
        | Op::JGeS { a, b, .. }
        | Op::MovIf { a, c: b, .. }
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
