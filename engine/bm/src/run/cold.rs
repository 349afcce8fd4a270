//! Instructions that are too rare for the main loop and for native code of their own: native code calls back to run them.

use super::calculate::calculated;
use super::cold_op;
use super::context::{Context, Trap};
use super::externs::{Externs, LogMessage};
use super::headers::{assign_header, assign_union, headers_equal, lookahead, only_valid, shift_stack};
use super::phv::Phv;
use crate::error::Fault;
use crate::number::cut_word;
use crate::program::{Op, Slot};

/// Runs a cold instruction, which neither jumps nor looks up a table.
#[inline(never)]
pub(crate) fn execute_cold<T: Externs>(
    context: &mut Context<'_, T>,
    phv: &mut Phv,
    op: Op,
) -> Result<(), Trap> {
    let program = context.program;
    let value = |phv: &Phv, slot: Slot| phv.slots[slot as usize];
    match op {
        Op::Count { c, idx } => {
            let at = usize::try_from(value(phv, idx)).unwrap_or(usize::MAX);
            if let Some(cell) = context.cells.counters[c as usize].get_mut(at) {
                cell.count(phv.ingress_length);
            }
        }
        Op::StackAt { d, stack, idx } => {
            let stack = program.stack(stack);
            let index = value(phv, idx);
            if index >= u64::from(stack.size) {
                return Err(Fault::StackIndex.into());
            }
            phv.slots[d as usize] = u64::from(stack.first) + index;
        }
        Op::StackLast { d, stack } => {
            let stack = program.stack(stack);
            let next = value(phv, stack.next);
            if next == 0 {
                return Err(context.empty_stack());
            }
            phv.slots[d as usize] = u64::from(stack.first) + next - 1;
        }
        Op::Load { d, h, off } => {
            let base = program.header(value(phv, h) as u32).base;
            phv.slots[d as usize] = value(phv, base + off);
        }
        Op::Store { h, off, a } => {
            let base = program.header(value(phv, h) as u32).base;
            phv.slots[(base + off) as usize] = value(phv, a);
        }
        Op::IsValid { d, h } => {
            let valid = program.header(value(phv, h) as u32).valid;
            phv.slots[d as usize] = value(phv, valid);
        }
        Op::HeaderEq { d, a, b } => {
            let equal = headers_equal(program, phv, value(phv, a) as usize, value(phv, b) as usize);
            phv.slots[d as usize] = u64::from(equal);
        }
        Op::AddHeader { h } => {
            let id = value(phv, h) as u32;
            let h = program.header(id);
            if value(phv, h.valid) == 0 {
                let words = program.header_type(h.type_id).words;
                let length = h.vl.map(|vl| (vl, phv.vl_bytes(program.vl_store(vl)).len()));
                phv.slots[h.base as usize..(h.base + words) as usize].fill(0);
                if let Some((vl, length)) = length {
                    // BMv2 zeroes a variable-length field but keeps its length.
                    let store = program.vl_store(vl);
                    phv.vl[store.start..store.start + length].fill(0);
                    phv.slots[store.length as usize] = length as u64;
                }
                phv.slots[h.valid as usize] = 1;
                only_valid(program, phv, id as usize);
                phv.packet_length = phv.packet_length.wrapping_add(phv.header_bytes(program, id));
            }
        }
        Op::RemoveHeader { h } => {
            let id = value(phv, h) as u32;
            let valid = program.header(id).valid;
            if value(phv, valid) != 0 {
                phv.packet_length = phv.packet_length.wrapping_sub(phv.header_bytes(program, id));
                phv.slots[valid as usize] = 0;
            }
        }
        Op::AssignHeader { d, s } => {
            assign_header(program, phv, value(phv, d) as usize, value(phv, s) as usize)
        }
        Op::AssignStack { d, s } => {
            let (to, from) = (program.stack(d), program.stack(s));
            phv.slots[to.next as usize] = value(phv, from.next);
            for at in 0..to.size.min(from.size) {
                let (d, s) = (to.first + at, from.first + at);
                match to.of_unions {
                    true => assign_union(program, phv, d, s),
                    false => assign_header(program, phv, d as usize, s as usize),
                }
            }
        }
        Op::ShiftStack { push, stack, n } => shift_stack(program, phv, stack, value(phv, n), push),
        Op::AssignVl { d, s } => {
            phv.copy_vl(program.vl_store(d), program.vl_store(s));
        }
        Op::ExecuteMeter { w, d, m, idx } => {
            let at = usize::try_from(value(phv, idx)).unwrap_or(usize::MAX);
            if let Some(meter) = context.cells.meters[m as usize].get_mut(at) {
                let amount = if program.meter_array(m).bytes { phv.ingress_length } else { 1 };
                let colour = meter.execute(amount, context.externs.now_ps());
                phv.slots[d as usize] = cut_word(colour, w);
            }
        }
        Op::Hash { call } => {
            let call = program.hash_call(call);
            let crcs = &context.cells.crcs;
            let hash = calculated(program, context.native, crcs, phv, call.calculation, &[]);
            // BMv2 treats a size of 0 as 1.
            let size = value(phv, call.size).max(1);
            phv.slots[call.d as usize] = (hash % size).wrapping_add(value(phv, call.base));
        }
        Op::Rng { w, d, lo, hi } => {
            // As in BMv2, reversed bounds write nothing.
            let (lo, hi) = (value(phv, lo), value(phv, hi));
            if lo <= hi {
                phv.slots[d as usize] = cut_word(context.externs.random(lo, hi), w);
            }
        }
        Op::MarkToDrop { w, egress_spec, mcast_grp } => {
            phv.slots[egress_spec as usize] = cut_word(context.externs.drop_port(), w);
            phv.slots[mcast_grp as usize] = 0;
        }
        Op::Request { request, a, b } => context.externs.request(request, [value(phv, a), value(phv, b)]),
        Op::Log { call } => {
            let call = program.log_call(call);
            let (texts, values) = (&call.texts, &call.values);
            context.externs.log_msg(LogMessage { texts, values, words: &phv.slots });
        }
        Op::Assert { a, id } => {
            if value(phv, a) == 0 {
                return Err(Fault::Assert(id).into());
            }
        }
        Op::Lookahead { w, d, bit } => {
            phv.slots[d as usize] = lookahead(context, bit, u32::from(w))?;
        }
        Op::Verify { a, error } => {
            if value(phv, a) == 0 {
                return Err(Trap::ParserError(value(phv, error) as u32));
            }
        }
        Op::Advance { a } => {
            let bits = value(phv, a);
            if bits % 8 != 0 {
                return Err(Trap::ParserError(program.code.core_errors.parser_invalid_argument));
            }
            let bytes = usize::try_from(bits / 8).unwrap_or(usize::MAX);
            if context.packet.len() - context.cursor < bytes {
                return Err(Trap::ParserError(program.code.core_errors.packet_too_short));
            }
            context.cursor += bytes;
        }
        Op::Cold { at } => cold_op::run(context, phv, at)?,
        _ => unreachable!("the loop runs every other instruction itself"),
    }
    Ok(())
}
