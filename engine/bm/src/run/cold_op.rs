//! Runs the operations of `program::cold_op`.

use super::context::{Context, Trap};
use super::headers::{assign_union, extract, extract_vl, headers_equal, lookahead, only_valid, target};
use super::phv::Phv;
use crate::number::words;
use crate::program::{ColdOp, Extracted, Program, Slot};

/// Runs one operation.
#[inline(never)]
pub(super) fn run<T>(context: &mut Context<'_, T>, phv: &mut Phv, at: u32) -> Result<(), Trap> {
    let program = context.program;
    let value = |phv: &Phv, slot: Slot| phv.slots[slot as usize];
    match *program.cold_op(at) {
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
        ColdOp::AssignUnion { d, s } => {
            assign_union(program, phv, value(phv, d) as u32, value(phv, s) as u32)
        }
        ColdOp::Extract { to, len, max } => {
            let full = Trap::ParserError(program.code.core_errors.stack_out_of_bounds);
            let header = target(program, phv, to).ok_or(full)?;
            match len.map(|len| value(phv, len)) {
                Some(bits) => extract_vl(context, phv, header, bits, max)?,
                None => extract(context, phv, header)?,
            }
            only_valid(program, phv, header as usize);
            if let Extracted::Stack(stack) | Extracted::UnionStack(stack, _) = to {
                phv.slots[program.stack(stack).next as usize] += 1;
            }
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
