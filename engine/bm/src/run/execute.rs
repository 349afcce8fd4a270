//! Runs instructions. One loop serves pipelines, parsers and conditions; nothing in it allocates, looks up a name or recurses.

use super::cold::execute_cold;
use super::context::{Context, Trap};
use super::enter::enter;
use super::externs::Externs;
use super::headers::extract;
use super::look_up::{branch, look_up, Found};
use super::observe::Observer;
use super::phv::Phv;
use crate::error::Fault;
use crate::number::cut_word;
use crate::program::{Op, Pc};

/// Runs from `pc` to the end, as native code if it exists and no observer watches.
pub(crate) fn execute<T: Externs, O: Observer>(
    context: &mut Context<'_, T>,
    phv: &mut Phv,
    pc: Pc,
    observer: &mut O,
) -> Result<(), Trap> {
    let native = context.native.filter(|_| !O::WATCHES).and_then(|native| native.at(pc));
    let ended = match native {
        Some(entry) => enter(entry, context, phv),
        None => run(context, phv, pc, observer),
    };
    if O::WATCHES {
        observer.end(&context.moment(phv, pc as usize));
    }
    ended
}

fn run<T: Externs, O: Observer>(
    context: &mut Context<'_, T>,
    phv: &mut Phv,
    start: Pc,
    observer: &mut O,
) -> Result<(), Trap> {
    let program = context.program;
    let ops = &program.code.ops;
    let mut steps = context.max_steps;
    let mut pc = start as usize;
    let mut next_node = 0;
    let mut exit = false;

    macro_rules! s {
        ($slot:expr) => {
            phv.slots[$slot as usize]
        };
    }

    loop {
        if O::WATCHES {
            observer.before(&context.moment(phv, pc));
        }
        let op = &ops[pc];
        pc += 1;
        match *op {
            Op::Mov { w, d, a } => s!(d) = cut_word(s!(a), w),
            Op::Unary { op, w, d, a } => s!(d) = op.of_word(s!(a), w),
            Op::Binary { op, w, d, a, b } => {
                s!(d) = cut_word(op.of_words(s!(a), s!(b)).ok_or(Fault::Division)?, w);
            }
            Op::Sar { w, d, a, b } => {
                let by = s!(b).min(63);
                s!(d) = cut_word((s!(a) as i64 >> by) as u64, w);
            }
            Op::Compare { op, d, a, b } => s!(d) = u64::from(op.holds(s!(a), s!(b))),

            Op::Jmp { to } => pc = to as usize,
            Op::JumpIf { op, a, b, to } => {
                if op.holds(s!(a), s!(b)) {
                    pc = to as usize;
                }
            }
            Op::Step => steps = steps.checked_sub(1).ok_or(Fault::StepLimit)?,

            Op::RegisterRead { w, d, r, idx } => {
                if let Some(value) = context.cells.registers.get(r, s!(idx)) {
                    s!(d) = cut_word(value, w);
                }
            }
            Op::RegisterWrite { r, idx, a } => context.cells.registers.set(r, s!(idx), s!(a)),
            Op::Apply { table } => {
                steps = steps.checked_sub(1).ok_or(Fault::StepLimit)?;
                (pc, next_node) = apply(context, phv, table);
            }
            Op::Ret => {
                if exit {
                    return Ok(());
                }
                pc = next_node;
            }
            Op::EndInline => {
                if exit {
                    return Ok(());
                }
            }
            Op::Exit => exit = true,
            Op::Halt => return Ok(()),

            Op::Extract { header } => extract(context, phv, header)?,
            Op::Select { select } => {
                steps =
                    steps.checked_sub(1).ok_or(Trap::ParserError(program.code.core_errors.parser_timeout))?;
                let select = program.select(select);
                pc = select.target(branch(context, phv, select)) as usize;
            }
            other => execute_cold(context, phv, other)?,
        }
    }
}

/// Looks up a table, and copies the action's data into the parameters. Returns the action's position and the next node's.
#[inline]
fn apply<T: Externs>(context: &mut Context<'_, T>, phv: &mut Phv, table: u32) -> (usize, usize) {
    let program = context.program;
    let found = look_up(context, phv, table);
    let table = program.match_table(table);
    match found {
        Some(Found { local, is_hit, data }) => {
            let action = &table.actions[local];
            let base = program.packet.param_base;
            phv.slots[base..base + data.len()].copy_from_slice(data);
            (action.pc as usize, if is_hit { action.next_hit } else { action.next_miss } as usize)
        }
        None => (table.next_none as usize, table.next_none as usize),
    }
}
