//! Constructs that are too rare for an instruction of their own: header unions, comparison of variable-length fields,
//! values wider than 128 bits. [`crate::op::Op::Rare`] points at one of these; operands are slots, as in `op`.

use crate::error::Fault;
use crate::execute::{assign_header, extract, extract_vl, lookahead, swap_headers, Context, Trap};
use crate::header::UnionStack;
use crate::number::words;
use crate::op::Slot;
use crate::phv::Phv;
use crate::program::Program;
use crate::wide::Wide;

/// One construct. `d` is the destination; a union or header is given by a slot with its id unless it is fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rare {
    /// `d` = id of the element of a stack of unions; faults beyond its size.
    UnionAt {
        d: Slot,
        stack: u32,
        idx: Slot,
    },
    /// `d` = id of the element filled last; faults (in a parser: StackOutOfBounds) when the stack is empty.
    UnionLast {
        d: Slot,
        stack: u32,
    },
    /// `d` = id of the header that is this member of the union.
    UnionMember {
        d: Slot,
        union: Slot,
        member: u32,
    },
    /// `d` = whether some member is valid.
    UnionValid {
        d: Slot,
        union: Slot,
    },
    /// `d` = whether the same member is valid in both, and equal.
    UnionEq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// Makes the other members of the header's union invalid: stands after its extraction.
    UnionOnly {
        header: u32,
    },
    AssignUnion {
        d: Slot,
        s: Slot,
    },
    AssignUnionStack {
        d: u32,
        s: u32,
    },
    ShiftUnionStack {
        stack: u32,
        n: Slot,
        push: bool,
    },
    /// Extracts a member of the next element. With `len` (a slot with bits) and `max` (bytes) it is of variable length.
    ExtractUnionStack {
        stack: u32,
        member: u32,
        len: Option<Slot>,
        max: u32,
    },
    /// Arithmetic beyond 128 bits.
    Wide(Wide),
    /// A cell into `words` words at `d`; beyond the array they stay.
    RegisterRead {
        d: Slot,
        words: u32,
        r: u32,
        idx: Slot,
    },
    RegisterWrite {
        r: u32,
        words: u32,
        idx: Slot,
        a: Slot,
    },
    /// `w` bits ahead of the cursor, from `bit` on, into the words they take.
    Lookahead {
        d: Slot,
        w: u32,
        bit: u32,
    },
    /// `d` = whether the variable-length fields of two headers are equal.
    VarbitEq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
}

/// Runs one construct.
#[inline(never)]
pub(crate) fn run<T>(context: &mut Context<'_, T>, phv: &mut Phv, at: u32) -> Result<(), Trap> {
    let program = context.program;
    let value = |phv: &Phv, slot: Slot| phv.slots[slot as usize];
    match program.rare[at as usize] {
        Rare::UnionAt { d, stack, idx } => {
            let stack = &program.union_stacks[stack as usize];
            let index = value(phv, idx);
            if index >= u64::from(stack.size) {
                return Err(Fault::StackIndex.into());
            }
            phv.slots[d as usize] = u64::from(stack.first) + index;
        }
        Rare::UnionLast { d, stack } => {
            let stack = &program.union_stacks[stack as usize];
            let next = value(phv, stack.next);
            if next == 0 {
                return Err(context.empty_stack());
            }
            phv.slots[d as usize] = u64::from(stack.first) + next - 1;
        }
        Rare::UnionMember { d, union, member } => {
            let union = &program.unions[value(phv, union) as usize];
            phv.slots[d as usize] = u64::from(union.members[member as usize]);
        }
        Rare::UnionValid { d, union } => {
            let valid = valid_member(program, phv, value(phv, union)).is_some();
            phv.slots[d as usize] = u64::from(valid);
        }
        Rare::UnionEq { d, a, b } => {
            let (a, b) = (value(phv, a), value(phv, b));
            let equal = match (valid_member(program, phv, a), valid_member(program, phv, b)) {
                (Some(i), Some(j)) if i == j => {
                    let member = |union: u64| program.unions[union as usize].members[i] as usize;
                    crate::execute::headers_equal(program, phv, member(a), member(b))
                }
                _ => false,
            };
            phv.slots[d as usize] = u64::from(equal);
        }
        Rare::UnionOnly { header } => only_valid(program, phv, header as usize),
        Rare::AssignUnion { d, s } => assign_union(program, phv, value(phv, d), value(phv, s)),
        Rare::AssignUnionStack { d, s } => {
            let (to, from) = (&program.union_stacks[d as usize], &program.union_stacks[s as usize]);
            phv.slots[to.next as usize] = value(phv, from.next);
            for at in 0..to.size.min(from.size) {
                assign_union(program, phv, u64::from(to.first + at), u64::from(from.first + at));
            }
        }
        Rare::ShiftUnionStack { stack, n, push } => {
            let stack = &program.union_stacks[stack as usize];
            shift_stack(program, phv, stack, value(phv, n), push);
        }
        Rare::ExtractUnionStack { stack, member, len, max } => {
            let stack = &program.union_stacks[stack as usize];
            let next = value(phv, stack.next);
            if next >= u64::from(stack.size) {
                return Err(Trap::ParserError(program.core_errors.stack_out_of_bounds));
            }
            let header = program.unions[stack.first as usize + next as usize].members[member as usize];
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
        Rare::Wide(wide) => crate::wide::run(&mut phv.slots, wide)?,
        Rare::RegisterRead { d, words, r, idx } => {
            if let Some(cell) = context.cells.registers.cell(r, value(phv, idx)) {
                let target = &mut phv.slots[d as usize..(d + words) as usize];
                target.fill(0);
                target[..cell.len()].copy_from_slice(cell);
            }
        }
        Rare::RegisterWrite { r, words, idx, a } => {
            let index = value(phv, idx);
            context.cells.registers.set_cell(r, index, &phv.slots[a as usize..(a + words) as usize]);
        }
        Rare::Lookahead { d, w, bit } => {
            // Word by word; the highest holds what is left of the bits, and comes first.
            let mut ahead = bit;
            for at in (0..words(w)).rev() {
                let width = (w - 64 * at).min(64);
                phv.slots[(d + at) as usize] = lookahead(context, ahead, width)? as u64;
                ahead += width;
            }
        }
        Rare::VarbitEq { d, a, b } => {
            let equal = phv.varbits_equal(program, value(phv, a) as usize, value(phv, b) as usize);
            phv.slots[d as usize] = u64::from(equal);
        }
    }
    Ok(())
}

/// Which member of a union is valid.
fn valid_member(program: &Program, phv: &Phv, union: u64) -> Option<usize> {
    let members = &program.unions[union as usize].members;
    members.iter().position(|&member| {
        let valid = program.headers[member as usize].valid;
        phv.slots[valid as usize] != 0
    })
}

/// Makes every other member of the header's union invalid, if it is in one.
pub(crate) fn only_valid(program: &Program, phv: &mut Phv, header: usize) {
    let Some(union) = program.headers[header].union else { return };
    for &member in &program.unions[union as usize].members {
        if member as usize != header {
            let valid = program.headers[member as usize].valid;
            phv.slots[valid as usize] = 0;
        }
    }
}

fn assign_union(program: &Program, phv: &mut Phv, to: u64, from: u64) {
    let (to, from) = (&program.unions[to as usize], &program.unions[from as usize]);
    for (&to, &from) in to.members.iter().zip(&from.members) {
        assign_header(program, phv, to as usize, from as usize);
    }
}

/// `push_front` and `pop_front` of a stack of unions. BMv2 moves the elements by swapping them, as for headers, but
/// leaves those that appear as the swaps left them: it makes no union invalid (`HeaderUnion::mark_invalid`).
fn shift_stack(program: &Program, phv: &mut Phv, stack: &UnionStack, by: u64, push: bool) {
    let size = u64::from(stack.size);
    let next = phv.slots[stack.next as usize];
    let swap = |phv: &mut Phv, a: u64, b: u64| {
        let members = |at: u64| &program.unions[stack.first as usize + at as usize].members;
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
