//! Headers in a packet's slots: extracts them at the cursor, compares and copies them, and moves them within stacks.

use super::context::{Context, Trap};
use super::phv::Phv;
use crate::program::{Extracted, Program, Slot};

/// Extracts a fixed-size header at the cursor.
#[inline]
pub(crate) fn extract<T>(context: &mut Context<'_, T>, phv: &mut Phv, header: u32) -> Result<(), Trap> {
    let program = context.program;
    let h = program.header(header);
    let ty = program.header_type(h.type_id);
    let data = &context.packet[context.cursor..];
    let length = ty.before.bytes as usize;
    if data.len() < length {
        return Err(Trap::ParserError(program.code.core_errors.packet_too_short));
    }
    ty.before.extract(data, &mut phv.slots[h.base as usize..(h.base + ty.words) as usize]);
    phv.slots[h.valid as usize] = 1;
    context.cursor += length;
    Ok(())
}

/// Extracts a header with a variable-length field of `bits`.
pub(crate) fn extract_vl<T>(
    context: &mut Context<'_, T>,
    phv: &mut Phv,
    header: u32,
    bits: u64,
    max: u32,
) -> Result<(), Trap> {
    let program = context.program;
    let errors = program.code.core_errors;
    let h = program.header(header);
    let ty = program.header_type(h.type_id);
    let (Some(vl), Some((field, after))) = (h.vl, &ty.variable) else {
        return extract(context, phv, header);
    };
    if bits % 8 != 0 {
        return Err(Trap::ParserError(errors.parser_invalid_argument));
    }
    let data = &context.packet[context.cursor..];
    let variable = usize::try_from(bits / 8).unwrap_or(usize::MAX);
    let total = variable.saturating_add(ty.fixed_bytes() as usize);
    if data.len() < total {
        return Err(Trap::ParserError(errors.packet_too_short));
    }
    let store = program.vl_store(vl);
    if variable > store.capacity || max != 0 && total > max as usize {
        return Err(Trap::ParserError(errors.header_too_short));
    }
    let slots = &mut phv.slots[h.base as usize..(h.base + ty.words) as usize];
    let before = ty.before.bytes as usize;
    ty.before.extract(data, slots);
    after.extract(&data[before + variable..], slots);
    slots[ty.fields[*field].off as usize] = variable as u64;
    phv.vl[store.start..store.start + variable].copy_from_slice(&data[before..before + variable]);
    phv.slots[h.valid as usize] = 1;
    context.cursor += total;
    Ok(())
}

/// Returns the header that an extraction fills; `None` if the stack is full.
pub(super) fn target(program: &Program, phv: &Phv, to: Extracted) -> Option<u32> {
    let next = |stack: u32| {
        let stack = program.stack(stack);
        let next = phv.slots[stack.next as usize];
        (next < u64::from(stack.size)).then(|| stack.first + next as u32)
    };
    match to {
        Extracted::Header(header) => Some(header),
        Extracted::Stack(stack) => next(stack),
        Extracted::UnionStack(stack, member) => {
            next(stack).map(|union| program.union(union).members[member as usize])
        }
    }
}

/// Returns the `width` bits that start `bit` bits after the cursor; `width` is 1 to 64.
pub(crate) fn lookahead<T>(context: &Context<'_, T>, bit: u32, width: u32) -> Result<u64, Trap> {
    let data = &context.packet[context.cursor..];
    let (first, end) = (bit as usize / 8, (bit + width).div_ceil(8) as usize);
    let Some(bytes) = data.get(first..end) else {
        return Err(Trap::ParserError(context.program.code.core_errors.packet_too_short));
    };
    let surplus = (8 - (bit + width) % 8) % 8;
    let mut value = 0u128;
    for (at, &byte) in bytes.iter().enumerate() {
        let last = at + 1 == bytes.len();
        let (bits, keep) = if last { (byte >> surplus, 8 - surplus) } else { (byte, 8) };
        value = value << keep | u128::from(bits);
    }
    Ok(value as u64 & u64::MAX >> (64 - width))
}

pub(crate) fn headers_equal(program: &Program, phv: &Phv, a: usize, b: usize) -> bool {
    let (left, right) = (program.header(a as u32), program.header(b as u32));
    let words = program.header_type(left.type_id).words;
    let of = |base: Slot| &phv.slots[base as usize..(base + words) as usize];
    let fields_equal = match (left.vl, right.vl) {
        (Some(x), Some(y)) => {
            // Lengths are not compared as words: the comparison of the bytes covers them.
            let length = (program.vl_store(x).length - left.base) as usize;
            debug_assert_eq!(length, (program.vl_store(y).length - right.base) as usize);
            of(left.base)[..length] == of(right.base)[..length]
                && of(left.base)[length + 1..] == of(right.base)[length + 1..]
                && phv.varbits_equal(program, a, b)
        }
        _ => of(left.base) == of(right.base),
    };
    phv.slots[left.valid as usize] != 0 && phv.slots[right.valid as usize] != 0 && fields_equal
}

/// Copies a header of the same type. An invalid source only invalidates the target.
pub(crate) fn assign_header(program: &Program, phv: &mut Phv, to: usize, from: usize) {
    let (target, source) = (program.header(to as u32), program.header(from as u32));
    if phv.slots[source.valid as usize] == 0 {
        phv.slots[target.valid as usize] = 0;
        return;
    }
    phv.slots[target.valid as usize] = 1;
    only_valid(program, phv, to);
    let words = program.header_type(target.type_id).words as usize;
    let first = source.base as usize;
    phv.slots.copy_within(first..first + words, target.base as usize);
    if let (Some(t), Some(f)) = (target.vl, source.vl) {
        phv.copy_vl(program.vl_store(t), program.vl_store(f));
    }
}

/// Swaps all contents of two headers of one type: BMv2's `Header::swap_values`.
pub(crate) fn swap_headers(program: &Program, phv: &mut Phv, a: usize, b: usize) {
    let (a, b) = (program.header(a as u32), program.header(b as u32));
    phv.slots.swap(a.valid as usize, b.valid as usize);
    if let (Some(x), Some(y)) = (a.vl, b.vl) {
        phv.swap_vl(program.vl_store(x), program.vl_store(y));
    }
    for word in 0..program.header_type(a.type_id).words {
        phv.slots.swap((a.base + word) as usize, (b.base + word) as usize);
    }
}

pub(super) fn assign_union(program: &Program, phv: &mut Phv, to: u32, from: u32) {
    for (&to, &from) in program.union(to).members.iter().zip(&program.union(from).members) {
        assign_header(program, phv, to as usize, from as usize);
    }
}

/// Runs `push_front` or `pop_front` as P4_16 defines them: elements move, and new elements are invalid. Elements are swapped,
/// as in BMv2, so that the fields of an invalid element are the same as there. In a stack of unions, BMv2 leaves the new
/// elements as the swaps left them (`HeaderUnion::mark_invalid`).
pub(super) fn shift_stack(program: &Program, phv: &mut Phv, stack: u32, by: u64, push: bool) {
    let stack = program.stack(stack);
    let size = u64::from(stack.size);
    let by = by.min(size);
    let next = phv.slots[stack.next as usize];
    let element = |at: u64| stack.first + at as u32;
    let mut swap = |a: u64, b: u64| {
        let (a, b) = (element(a), element(b));
        if !stack.of_unions {
            return swap_headers(program, phv, a as usize, b as usize);
        }
        for (&a, &b) in program.union(a).members.iter().zip(&program.union(b).members) {
            swap_headers(program, phv, a as usize, b as usize);
        }
    };
    let (next, appear) = if push {
        (by..size).rev().for_each(|at| swap(at, at - by));
        ((next + by).min(size), 0..by)
    } else {
        (0..size - by).for_each(|at| swap(at, at + by));
        (next.saturating_sub(by), size - by..size)
    };
    phv.slots[stack.next as usize] = next;
    for at in appear.filter(|_| !stack.of_unions) {
        phv.slots[program.header(element(at)).valid as usize] = 0;
    }
}

/// Invalidates all other members of the header's union, if it is in one.
pub(crate) fn only_valid(program: &Program, phv: &mut Phv, header: usize) {
    let Some(union) = program.header(header as u32).union else { return };
    for &member in &program.union(union).members {
        if member as usize != header {
            let valid = program.header(member).valid;
            phv.slots[valid as usize] = 0;
        }
    }
}
