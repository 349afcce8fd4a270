//! Runs the operations of `program::cold_op`.

use super::context::{Context, Trap};
use super::headers::{
    assign_header, extract, extract_vl, headers_equal, lookahead, only_valid, swap_headers,
};
use super::phv::Phv;
use crate::error::Fault;
use crate::number::words;
use crate::program::{ColdOp, Program, Slot, UnionStack};

/// Runs one operation.
#[inline(never)]
pub(super) fn run<T>(context: &mut Context<'_, T>, phv: &mut Phv, at: u32) -> Result<(), Trap> {
    let program = context.program;
    let value = |phv: &Phv, slot: Slot| phv.slots[slot as usize];
    match *program.cold_op(at) {
        ColdOp::UnionAt { d, stack, idx } => {
            let stack = program.union_stack(stack);
            let index = value(phv, idx);
            if index >= u64::from(stack.size) {
                return Err(Fault::StackIndex.into());
            }
            phv.slots[d as usize] = u64::from(stack.first) + index;
        }
        ColdOp::UnionLast { d, stack } => {
            let stack = program.union_stack(stack);
            let next = value(phv, stack.next);
            if next == 0 {
                return Err(context.empty_stack());
            }
            phv.slots[d as usize] = u64::from(stack.first) + next - 1;
        }
        ColdOp::UnionMember { d, union, member } => {
            let union = program.union(value(phv, union) as u32);
            phv.slots[d as usize] = u64::from(union.members[member as usize]);
        }
        ColdOp::UnionValid { d, union } => {
            let valid = valid_member(program, phv, value(phv, union)).is_some();
            phv.slots[d as usize] = u64::from(valid);
        }
        ColdOp::UnionEq { d, a, b } => {
            let (a, b) = (value(phv, a), value(phv, b));
            let equal = match (valid_member(program, phv, a), valid_member(program, phv, b)) {
                (Some(i), Some(j)) if i == j => {
                    let member = |union: u64| program.union(union as u32).members[i] as usize;
                    headers_equal(program, phv, member(a), member(b))
                }
                _ => false,
            };
            phv.slots[d as usize] = u64::from(equal);
        }
        ColdOp::UnionOnly { header } => only_valid(program, phv, header as usize),
        ColdOp::AssignUnion { d, s } => assign_union(program, phv, value(phv, d), value(phv, s)),
        ColdOp::AssignUnionStack { d, s } => {
            let (to, from) = (program.union_stack(d), program.union_stack(s));
            phv.slots[to.next as usize] = value(phv, from.next);
            for at in 0..to.size.min(from.size) {
                assign_union(program, phv, u64::from(to.first + at), u64::from(from.first + at));
            }
        }
        ColdOp::ShiftUnionStack { stack, n, push } => {
            let stack = program.union_stack(stack);
            shift_stack(program, phv, stack, value(phv, n), push);
        }
        ColdOp::ExtractUnionStack { stack, member, len, max } => {
            let stack = program.union_stack(stack);
            let next = value(phv, stack.next);
            if next >= u64::from(stack.size) {
                return Err(Trap::ParserError(program.code.core_errors.stack_out_of_bounds));
            }
            let header = program.union(stack.first + next as u32).members[member as usize];
            match len {
                Some(len) => {
                    let bits = value(phv, len);
                    extract_vl(context, phv, header, bits, max)?;
                }
                None => extract(context, phv, header)?,
            }
            only_valid(program, phv, header as usize);
            phv.slots[stack.next as usize] = next + 1;
        }
        ColdOp::Wide(wide) => super::wide::run(&mut phv.slots, wide)?,
        ColdOp::RegisterRead { d, words, r, idx } => {
            if let Some(cell) = context.cells.registers.cell(r, value(phv, idx)) {
                let target = &mut phv.slots[d as usize..(d + words) as usize];
                target.fill(0);
                target[..cell.len()].copy_from_slice(cell);
            }
        }
        ColdOp::RegisterWrite { r, words, idx, a } => {
            let index = value(phv, idx);
            context.cells.registers.set_cell(r, index, &phv.slots[a as usize..(a + words) as usize]);
        }
        ColdOp::Lookahead { d, w, bit } => {
            // Word by word, from the highest, which comes first and holds the remaining bits.
            let mut ahead = bit;
            for at in (0..words(w)).rev() {
                let width = (w - 64 * at).min(64);
                phv.slots[(d + at) as usize] = lookahead(context, ahead, width)?;
                ahead += width;
            }
        }
        ColdOp::VarbitEq { d, a, b } => {
            let equal = phv.varbits_equal(program, value(phv, a) as usize, value(phv, b) as usize);
            phv.slots[d as usize] = u64::from(equal);
        }
    }
    Ok(())
}

/// Returns the index of the union's valid member, if any.
fn valid_member(program: &Program, phv: &Phv, union: u64) -> Option<usize> {
    let members = &program.union(union as u32).members;
    members.iter().position(|&member| {
        let valid = program.header(member).valid;
        phv.slots[valid as usize] != 0
    })
}

fn assign_union(program: &Program, phv: &mut Phv, to: u64, from: u64) {
    let (to, from) = (program.union(to as u32), program.union(from as u32));
    for (&to, &from) in to.members.iter().zip(&from.members) {
        assign_header(program, phv, to as usize, from as usize);
    }
}

/// Runs `push_front` or `pop_front` of a stack of unions. As for headers, BMv2 swaps elements to move them, but it leaves the
/// new elements as the swaps left them: it does not invalidate them (`HeaderUnion::mark_invalid`).
fn shift_stack(program: &Program, phv: &mut Phv, stack: &UnionStack, by: u64, push: bool) {
    let size = u64::from(stack.size);
    let next = phv.slots[stack.next as usize];
    let swap = |phv: &mut Phv, a: u64, b: u64| {
        let members = |at: u64| &program.union(stack.first + at as u32).members;
        for (&a, &b) in members(a).iter().zip(members(b)) {
            swap_headers(program, phv, a as usize, b as usize);
        }
    };
    if push {
        (by..size).rev().for_each(|at| swap(phv, at, at - by));
        phv.slots[stack.next as usize] = next.saturating_add(by).min(size);
    } else {
        (0..size.saturating_sub(by)).for_each(|at| swap(phv, at, at + by));
        phv.slots[stack.next as usize] = next.saturating_sub(by);
    }
}
