//! Runs instructions. One loop serves pipelines, parser and conditions; nothing in it allocates, looks a name up or recurses.

use crate::action_profile::Group;
use crate::error::Fault;
use crate::match_table::Outcome;
use crate::native::Native;
use crate::observe::{Moment, Observer};
use crate::op::{Op, Pc, Slot, WideOp};
use crate::parser::{Case, Select};
use crate::phv::Phv;
use crate::program::{Program, TableType};
use crate::rare::only_valid;
use crate::state::{calculated, Cells};
use crate::target::{LogMessage, Target};

/// Why the loop ended, when nothing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Done,
    /// A parser error with this code.
    ParserError(u32),
}

/// What a packet's instructions may touch besides its [`Phv`].
pub(crate) struct Context<'a, T> {
    pub(crate) program: &'a Program,
    pub(crate) cells: &'a mut Cells,
    pub(crate) target: &'a mut T,
    /// The packet, for a parser; empty otherwise.
    pub(crate) packet: &'a [u8],
    /// The parser's place in the packet.
    pub(crate) cursor: usize,
    pub(crate) parsing: bool,
    pub(crate) max_steps: u32,
    /// The instructions as native code; `None` to interpret them.
    pub(crate) native: Option<&'a Native>,
}

impl<T> Context<'_, T> {
    /// What it means to ask for the last element of an empty stack: in a parser P4's StackOutOfBounds. BMv2 stops the
    /// switch in both places.
    pub(crate) fn empty_stack(&self) -> Trap {
        if self.parsing {
            Trap::ParserError(self.program.core_errors.stack_out_of_bounds)
        } else {
            Fault::StackIndex.into()
        }
    }
}

/// What a conditional stop inside an instruction means to the loop.
pub(crate) enum Trap {
    Fault(Fault),
    ParserError(u32),
}

impl From<Fault> for Trap {
    fn from(fault: Fault) -> Trap {
        Trap::Fault(fault)
    }
}

#[inline(always)]
fn cut(value: u64, width: u8) -> u64 {
    value & u64::MAX >> (64 - width)
}

#[inline(always)]
fn sign_extend(value: u64, width: u8) -> u64 {
    let unused = 64 - width;
    ((value << unused) as i64 >> unused) as u64
}

fn cut_wide(value: u128, width: u8) -> u128 {
    value & u128::MAX >> (128 - width)
}

impl<T> Context<'_, T> {
    fn moment<'a>(&'a self, phv: &'a Phv, pc: usize) -> Moment<'a> {
        Moment { program: self.program, cells: self.cells, phv, pc, cursor: self.cursor }
    }
}

/// Runs from `pc` to the end: as native code where there is some and nobody watches.
pub(crate) fn execute<T: Target, O: Observer>(
    context: &mut Context<'_, T>,
    phv: &mut Phv,
    pc: Pc,
    observer: &mut O,
) -> Result<Stop, Fault> {
    let native = context.native.filter(|_| !O::WATCHES).and_then(|native| native.at(pc));
    let ended = match native {
        Some(entry) => entry.run(context, phv),
        None => run(context, phv, pc, observer),
    };
    if O::WATCHES {
        observer.end(&context.moment(phv, pc as usize));
    }
    match ended {
        Ok(()) => Ok(Stop::Done),
        Err(Trap::ParserError(code)) => Ok(Stop::ParserError(code)),
        Err(Trap::Fault(fault)) => Err(fault),
    }
}

fn run<T: Target, O: Observer>(
    context: &mut Context<'_, T>,
    phv: &mut Phv,
    start: Pc,
    observer: &mut O,
) -> Result<(), Trap> {
    let program = context.program;
    let ops = &program.ops[..];
    let mut steps = context.max_steps;
    let mut pc = start as usize;
    let mut next_node = 0;
    let mut exit = false;

    macro_rules! s {
        ($slot:expr) => {
            phv.slots[$slot as usize]
        };
    }
    macro_rules! jump_if {
        ($condition:expr, $to:expr) => {
            if $condition {
                pc = $to as usize;
            }
        };
    }

    loop {
        if O::WATCHES {
            observer.before(&context.moment(phv, pc));
        }
        let op = &ops[pc];
        pc += 1;
        match *op {
            Op::Mov { w, d, a } => s!(d) = cut(s!(a), w),
            Op::Add { w, d, a, b } => s!(d) = cut(s!(a).wrapping_add(s!(b)), w),
            Op::Sub { w, d, a, b } => s!(d) = cut(s!(a).wrapping_sub(s!(b)), w),
            Op::Mul { w, d, a, b } => s!(d) = cut(s!(a).wrapping_mul(s!(b)), w),
            Op::And { w, d, a, b } => s!(d) = cut(s!(a) & s!(b), w),
            Op::Or { w, d, a, b } => s!(d) = cut(s!(a) | s!(b), w),
            Op::Xor { w, d, a, b } => s!(d) = cut(s!(a) ^ s!(b), w),
            Op::Not { w, d, a } => s!(d) = cut(!s!(a), w),
            Op::Shl { w, d, a, b } => {
                let by = s!(b);
                s!(d) = if by < 64 { cut(s!(a) << by, w) } else { 0 };
            }
            Op::Shr { w, d, a, b } => {
                let by = s!(b);
                s!(d) = if by < 64 { cut(s!(a) >> by, w) } else { 0 };
            }
            Op::Sar { w, d, a, b } => {
                let by = s!(b).min(63);
                s!(d) = cut((s!(a) as i64 >> by) as u64, w);
            }
            Op::Div { w, d, a, b } => s!(d) = cut(s!(a).checked_div(s!(b)).ok_or(Fault::Division)?, w),
            Op::Mod { w, d, a, b } => s!(d) = cut(s!(a).checked_rem(s!(b)).ok_or(Fault::Division)?, w),
            Op::TwoComp { w, d, a } => s!(d) = sign_extend(s!(a), w),
            Op::Sat { w, d, a } => {
                let limit = i64::MAX >> (64 - w);
                s!(d) = (s!(a) as i64).clamp(!limit, limit) as u64;
            }
            Op::USatSigned { w, d, a } => {
                let value = (s!(a) as i64).max(0) as u64;
                s!(d) = value.min(u64::MAX >> (64 - w));
            }
            Op::USat { w, d, a } => s!(d) = s!(a).min(u64::MAX >> (64 - w)),
            Op::Eq { d, a, b } => s!(d) = u64::from(s!(a) == s!(b)),
            Op::Ne { d, a, b } => s!(d) = u64::from(s!(a) != s!(b)),
            Op::LtU { d, a, b } => s!(d) = u64::from(s!(a) < s!(b)),
            Op::LtS { d, a, b } => s!(d) = u64::from((s!(a) as i64) < s!(b) as i64),
            Op::MovIf { d, c, a } => {
                if s!(c) != 0 {
                    s!(d) = s!(a);
                }
            }

            Op::Jmp { to } => pc = to as usize,
            Op::Jz { a, to } => jump_if!(s!(a) == 0, to),
            Op::Jnz { a, to } => jump_if!(s!(a) != 0, to),
            Op::JEq { a, b, to } => jump_if!(s!(a) == s!(b), to),
            Op::JNe { a, b, to } => jump_if!(s!(a) != s!(b), to),
            Op::JLtU { a, b, to } => jump_if!(s!(a) < s!(b), to),
            Op::JGeU { a, b, to } => jump_if!(s!(a) >= s!(b), to),
            Op::JLtS { a, b, to } => jump_if!((s!(a) as i64) < s!(b) as i64, to),
            Op::JGeS { a, b, to } => jump_if!(s!(a) as i64 >= s!(b) as i64, to),
            Op::Step => steps = steps.checked_sub(1).ok_or(Fault::StepLimit)?,

            Op::RegisterRead { w, d, r, idx } => {
                if let Some(value) = context.cells.registers.get(r, s!(idx)) {
                    s!(d) = cut(value, w);
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
                steps = steps.checked_sub(1).ok_or(Trap::ParserError(program.core_errors.parser_timeout))?;
                let select = &program.selects[select as usize];
                pc = select.target(branch(context, phv, select)) as usize;
            }
            other => seldom(context, phv, other)?,
        }
    }
}

/// 128-bit arithmetic.
fn wide(phv: &mut Phv, op: WideOp, w: u8, d: Slot, a: Slot, b: Slot) -> Result<(), Fault> {
    let single = |slot: Slot| phv.slots[slot as usize];
    let pair = |slot: Slot| phv.pair(slot);
    let signed_limit = || i128::MAX >> (128 - u32::from(w));
    let value = match op {
        WideOp::Zext => u128::from(single(a)),
        WideOp::Sext => single(a) as i64 as u128,
        WideOp::Mov => cut_wide(pair(a), w),
        WideOp::Add => cut_wide(pair(a).wrapping_add(pair(b)), w),
        WideOp::Sub => cut_wide(pair(a).wrapping_sub(pair(b)), w),
        WideOp::Mul => cut_wide(pair(a).wrapping_mul(pair(b)), w),
        WideOp::And => cut_wide(pair(a) & pair(b), w),
        WideOp::Or => cut_wide(pair(a) | pair(b), w),
        WideOp::Xor => cut_wide(pair(a) ^ pair(b), w),
        WideOp::Not => cut_wide(!pair(a), w),
        WideOp::Shl => cut_wide(if single(b) < 128 { pair(a) << single(b) } else { 0 }, w),
        WideOp::Shr => cut_wide(if single(b) < 128 { pair(a) >> single(b) } else { 0 }, w),
        WideOp::Sar => (pair(a) as i128 >> single(b).min(127)) as u128,
        WideOp::Div => pair(a).checked_div(pair(b)).ok_or(Fault::Division)?,
        WideOp::Mod => pair(a).checked_rem(pair(b)).ok_or(Fault::Division)?,
        WideOp::TwoComp => {
            let unused = 128 - u32::from(w);
            ((pair(a) << unused) as i128 >> unused) as u128
        }
        WideOp::Sat => (pair(a) as i128).clamp(!signed_limit(), signed_limit()) as u128,
        WideOp::USatSigned => ((pair(a) as i128).max(0) as u128).min(crate::key::ones_128(u32::from(w))),
        WideOp::USat => pair(a).min(crate::key::ones_128(u32::from(w))),
        WideOp::Eq => return one(phv, d, pair(a) == pair(b)),
        WideOp::LtU => return one(phv, d, pair(a) < pair(b)),
        WideOp::LtS => return one(phv, d, (pair(a) as i128) < pair(b) as i128),
    };
    phv.set_pair(d, value);
    Ok(())
}

fn one(phv: &mut Phv, d: Slot, value: bool) -> Result<(), Fault> {
    phv.slots[d as usize] = u64::from(value);
    Ok(())
}

/// Looks a table up, copies the action's data in, and says where the action is and what comes after.
#[inline]
fn apply<T: Target>(context: &mut Context<'_, T>, phv: &mut Phv, table: u32) -> (usize, usize) {
    let program = context.program;
    let found = look_up(context, phv, table);
    let table = &program.match_tables[table as usize];
    match found {
        Some(Found { local, is_hit, data }) => {
            let action = &table.actions[local];
            let base = program.param_base;
            phv.slots[base..base + data.len()].copy_from_slice(data);
            (action.pc as usize, if is_hit { action.next_hit } else { action.next_miss } as usize)
        }
        None => (table.next_none as usize, table.next_none as usize),
    }
}

/// What a table says is to be run.
pub(crate) struct Found<'a> {
    /// Index into the table's actions.
    pub(crate) local: usize,
    pub(crate) is_hit: bool,
    /// The action's parameters.
    pub(crate) data: &'a [u64],
}

/// Looks a table up; `None` when there is no action.
#[inline]
pub(crate) fn look_up<'c, T: Target>(
    context: &'c mut Context<'_, T>,
    phv: &mut Phv,
    table: u32,
) -> Option<Found<'c>> {
    let program = context.program;
    let static_part = &program.match_tables[table as usize];
    let cells = &mut *context.cells;
    let entries = &mut cells.tables[table as usize];
    let hit = entries.unit.lookup(&static_part.key, phv, &mut cells.scratch);
    let (outcome, data) = match hit {
        Some(at) => {
            let at = at as usize;
            entries.counters[at].count(phv.ingress_length);
            if static_part.ages {
                entries.ages[at].hit(context.target.now_ps());
            }
            if let Some((meter, target)) = static_part.direct_meter {
                let amount = if program.meter_arrays[meter as usize].bytes { phv.ingress_length } else { 1 };
                let colour = entries.meters[at].execute(amount, context.target.now_ps());
                phv.set(target, colour);
            }
            (entries.outcomes[at], &entries.data[at * static_part.stride..][..static_part.stride])
        }
        None => match &entries.default {
            Some((outcome, data)) => {
                entries.default_counter.count(phv.ingress_length);
                if let (Some((meter, target)), true) =
                    (static_part.direct_meter, entries.default_meter.is_configured())
                {
                    let bytes = program.meter_arrays[meter as usize].bytes;
                    let amount = if bytes { phv.ingress_length } else { 1 };
                    phv.set(target, entries.default_meter.execute(amount, context.target.now_ps()));
                }
                (*outcome, &data[..])
            }
            None => return None,
        },
    };
    let (local, data) = match outcome {
        Outcome::Action(local) => (Some(local as usize), data),
        Outcome::Member(_) | Outcome::Group(_) => {
            debug_assert!(static_part.table_type != TableType::Simple);
            let profile_id = static_part.profile.unwrap_or_default() as usize;
            let profile = &cells.profiles[profile_id];
            let member = match outcome {
                Outcome::Member(member) => Some(member),
                Outcome::Group(group) => {
                    profile.group(group).map(Group::active).filter(|m| !m.is_empty()).and_then(|members| {
                        let hash = match &program.profile_selectors[profile_id] {
                            // Of one, every hash selects it.
                            Some(selector) if members.len() > 1 => {
                                let writer = context.native.and_then(|native| native.selector(profile_id));
                                selector.output(program, phv, writer, &[], None)
                            }
                            _ => 0,
                        };
                        member_of_group(members, hash)
                    })
                }
                Outcome::Action(_) => None,
            };
            match member.and_then(|m| profile.member(m)) {
                Some(m) => (static_part.actions.iter().position(|a| a.named == m.action), &m.data[..]),
                None => (None, &[][..]),
            }
        }
    };
    let local = local?;
    let words = static_part.actions[local].words as usize;
    Some(Found { local, is_hit: hit.is_some(), data: &data[..words] })
}

/// The one of a group's active members that a hash selects, of which BMv2 keeps 32 bits; none of none.
#[inline]
pub(crate) fn member_of_group(members: &[u32], hash: u64) -> Option<u32> {
    let at = (hash as u32 as usize).checked_rem(members.len())?;
    members.get(at).copied()
}

/// Extracts a fixed-size header at the cursor.
#[inline]
pub(crate) fn extract<T>(context: &mut Context<'_, T>, phv: &mut Phv, header: u32) -> Result<(), Trap> {
    let program = context.program;
    let h = &program.headers[header as usize];
    let ty = &program.header_types[h.type_id as usize];
    let data = &context.packet[context.cursor..];
    let length = ty.before.bytes as usize;
    if data.len() < length {
        return Err(Trap::ParserError(program.core_errors.packet_too_short));
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
    let errors = program.core_errors;
    let h = &program.headers[header as usize];
    let ty = &program.header_types[h.type_id as usize];
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
    let store = program.vl_stores[vl as usize];
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

/// The first case of a select that fits: its index, or one past the last for the default.
pub(crate) fn branch<T>(context: &mut Context<'_, T>, phv: &Phv, select: &Select) -> usize {
    if let Some(cases) = &select.narrow {
        let key = select.key.narrow(&phv.slots);
        return cases.iter().position(|(value, mask)| key & mask == *value).unwrap_or(cases.len());
    }
    let Cells { scratch, joined, vsets, .. } = &mut *context.cells;
    select.key.wide(&phv.slots, scratch);
    let fits = |case: &Case| match case {
        Case::Value { value, mask, .. } => scratch.iter().zip(mask).zip(value).all(|((k, m), v)| k & m == *v),
        Case::Vset { vset, mask, .. } => {
            joined.clear();
            select.key.concatenated(scratch, joined);
            let set = &vsets[*vset as usize];
            match mask {
                None => set.contains(&joined[..]),
                Some(mask) => set
                    .iter()
                    .any(|value| value.iter().zip(&joined[..]).zip(mask).all(|((v, k), m)| v & m == k & m)),
            }
        }
    };
    select.cases.iter().position(fits).unwrap_or(select.cases.len())
}

/// Runs one instruction that is not worth a place in the loop, and neither jumps nor looks a table up.
#[inline(never)]
pub(crate) fn seldom<T: Target>(context: &mut Context<'_, T>, phv: &mut Phv, op: Op) -> Result<(), Trap> {
    let program = context.program;
    let value = |phv: &Phv, slot: Slot| phv.slots[slot as usize];
    match op {
        Op::Wide { op, w, d, a, b } => wide(phv, op, w, d, a, b)?,
        Op::RegisterReadWide { d, r, idx } => {
            if let Some(value) = context.cells.registers.get_wide(r, value(phv, idx)) {
                phv.set_pair(d, value);
            }
        }
        Op::RegisterWriteWide { r, idx, a } => {
            context.cells.registers.set_wide(r, value(phv, idx), phv.pair(a));
        }
        Op::Count { c, idx } => {
            let at = usize::try_from(value(phv, idx)).unwrap_or(usize::MAX);
            if let Some(cell) = context.cells.counters[c as usize].get_mut(at) {
                cell.count(phv.ingress_length);
            }
        }
        Op::StackAt { d, stack, idx } => {
            let stack = &program.stacks[stack as usize];
            let index = value(phv, idx);
            if index >= u64::from(stack.size) {
                return Err(Fault::StackIndex.into());
            }
            phv.slots[d as usize] = u64::from(stack.first) + index;
        }
        Op::StackLast { d, stack } => {
            let stack = &program.stacks[stack as usize];
            let next = value(phv, stack.next);
            if next == 0 {
                return Err(context.empty_stack());
            }
            phv.slots[d as usize] = u64::from(stack.first) + next - 1;
        }
        Op::Load { d, h, off } => {
            let base = program.headers[value(phv, h) as usize].base;
            phv.slots[d as usize] = value(phv, base + off);
        }
        Op::Store { h, off, a } => {
            let base = program.headers[value(phv, h) as usize].base;
            phv.slots[(base + off) as usize] = value(phv, a);
        }
        Op::IsValid { d, h } => {
            let valid = program.headers[value(phv, h) as usize].valid;
            phv.slots[d as usize] = value(phv, valid);
        }
        Op::HeaderEq { d, a, b } => {
            let equal = headers_equal(program, phv, value(phv, a) as usize, value(phv, b) as usize);
            phv.slots[d as usize] = u64::from(equal);
        }
        Op::AddHeader { h } => {
            let id = value(phv, h) as u32;
            let h = &program.headers[id as usize];
            if value(phv, h.valid) == 0 {
                let words = program.header_types[h.type_id as usize].words;
                let length = h.vl.map(|vl| (vl, phv.vl_bytes(program.vl_stores[vl as usize]).len()));
                phv.slots[h.base as usize..(h.base + words) as usize].fill(0);
                if let Some((vl, length)) = length {
                    // BMv2 zeroes a field of variable length but leaves it as long as it was.
                    let store = program.vl_stores[vl as usize];
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
            let valid = program.headers[id as usize].valid;
            if value(phv, valid) != 0 {
                phv.packet_length = phv.packet_length.wrapping_sub(phv.header_bytes(program, id));
                phv.slots[valid as usize] = 0;
            }
        }
        Op::AssignHeader { d, s } => {
            assign_header(program, phv, value(phv, d) as usize, value(phv, s) as usize)
        }
        Op::AssignStack { d, s } => {
            let (to, from) = (&program.stacks[d as usize], &program.stacks[s as usize]);
            phv.slots[to.next as usize] = value(phv, from.next);
            for at in 0..to.size.min(from.size) {
                assign_header(program, phv, (to.first + at) as usize, (from.first + at) as usize);
            }
        }
        Op::Push { stack, n } => shift_stack(program, phv, stack, value(phv, n), true),
        Op::Pop { stack, n } => shift_stack(program, phv, stack, value(phv, n), false),
        Op::AssignVl { d, s } => {
            phv.copy_vl(program.vl_stores[d as usize], program.vl_stores[s as usize]);
        }
        Op::ExecuteMeter { w, d, m, idx } => {
            let at = usize::try_from(value(phv, idx)).unwrap_or(usize::MAX);
            if let Some(meter) = context.cells.meters[m as usize].get_mut(at) {
                let amount = if program.meter_arrays[m as usize].bytes { phv.ingress_length } else { 1 };
                let colour = meter.execute(amount, context.target.now_ps());
                phv.slots[d as usize] = cut(colour, w);
            }
        }
        Op::Hash { call } => {
            let call = program.hash_calls[call as usize];
            let crcs = &context.cells.crcs;
            let hash = calculated(program, context.native, crcs, phv, call.calculation, &[]);
            // BMv2 takes a size of 0 as 1.
            let size = value(phv, call.size).max(1);
            phv.slots[call.d as usize] = (hash % size).wrapping_add(value(phv, call.base));
        }
        Op::Rng { w, d, lo, hi } => {
            // As BMv2: without a write when the bounds are the wrong way round.
            let (lo, hi) = (value(phv, lo), value(phv, hi));
            if lo <= hi {
                phv.slots[d as usize] = cut(context.target.random(lo, hi), w);
            }
        }
        Op::MarkToDrop { w, egress_spec, mcast_grp } => {
            phv.slots[egress_spec as usize] = cut(context.target.drop_port(), w);
            phv.slots[mcast_grp as usize] = 0;
        }
        Op::CloneIngress { session, list } => {
            context.target.clone_ingress(phv, value(phv, session), value(phv, list));
        }
        Op::CloneEgress { session, list } => {
            context.target.clone_egress(phv, value(phv, session), value(phv, list));
        }
        Op::Resubmit { list } => context.target.resubmit(phv, value(phv, list)),
        Op::Recirculate { list } => context.target.recirculate(phv, value(phv, list)),
        Op::Digest { receiver, list } => {
            context.target.generate_digest(phv, value(phv, receiver), value(phv, list));
        }
        Op::Truncate { a } => context.target.truncate(phv, value(phv, a)),
        Op::Log { call } => {
            let call = &program.log_calls[call as usize];
            let (format, values) = (&call.format, &call.values);
            context.target.log_msg(LogMessage { format, values, words: &phv.slots });
        }
        Op::Assert { a, id } => {
            if value(phv, a) == 0 {
                return Err(Fault::Assert(id).into());
            }
        }
        Op::ExtractVl { header, len, max } => extract_vl(context, phv, header, value(phv, len), max)?,
        Op::ExtractStack { stack } => {
            let header = next_of_stack(context, phv, stack)?;
            extract(context, phv, header)?;
            phv.slots[program.stacks[stack as usize].next as usize] += 1;
        }
        Op::ExtractStackVl { stack, len, max } => {
            let header = next_of_stack(context, phv, stack)?;
            extract_vl(context, phv, header, value(phv, len), max)?;
            phv.slots[program.stacks[stack as usize].next as usize] += 1;
        }
        Op::Lookahead { w, d, bit } => {
            phv.slots[d as usize] = lookahead(context, bit, u32::from(w))? as u64;
        }
        Op::LookaheadWide { w, d, bit } => {
            let bits = lookahead(context, bit, u32::from(w))?;
            phv.set_pair(d, bits);
        }
        Op::Verify { a, error } => {
            if value(phv, a) == 0 {
                return Err(Trap::ParserError(value(phv, error) as u32));
            }
        }
        Op::Advance { a } => {
            let bits = value(phv, a);
            if bits % 8 != 0 {
                return Err(Trap::ParserError(program.core_errors.parser_invalid_argument));
            }
            let bytes = usize::try_from(bits / 8).unwrap_or(usize::MAX);
            if context.packet.len() - context.cursor < bytes {
                return Err(Trap::ParserError(program.core_errors.packet_too_short));
            }
            context.cursor += bytes;
        }
        Op::Rare { at } => crate::rare::run(context, phv, at)?,
        _ => unreachable!("the loop runs every other instruction itself"),
    }
    Ok(())
}

fn next_of_stack<T>(context: &Context<'_, T>, phv: &Phv, stack: u32) -> Result<u32, Trap> {
    let stack = &context.program.stacks[stack as usize];
    let next = phv.slots[stack.next as usize];
    if next >= u64::from(stack.size) {
        return Err(Trap::ParserError(context.program.core_errors.stack_out_of_bounds));
    }
    Ok(stack.first + next as u32)
}

/// `width` bits, `bit` bits after the cursor.
pub(crate) fn lookahead<T>(context: &Context<'_, T>, bit: u32, width: u32) -> Result<u128, Trap> {
    let data = &context.packet[context.cursor..];
    let (first, end) = (bit as usize / 8, (bit + width).div_ceil(8) as usize);
    let Some(bytes) = data.get(first..end) else {
        return Err(Trap::ParserError(context.program.core_errors.packet_too_short));
    };
    // Up to 128 bits may lie over 17 bytes: the surplus of the first falls out at the top.
    let surplus = (8 - (bit + width) % 8) % 8;
    let mut value = 0u128;
    for (at, &byte) in bytes.iter().enumerate() {
        let last = at + 1 == bytes.len();
        let (bits, keep) = if last { (byte >> surplus, 8 - surplus) } else { (byte, 8) };
        value = value << keep | u128::from(bits);
    }
    Ok(cut_wide(value, width as u8))
}

pub(crate) fn headers_equal(program: &Program, phv: &Phv, a: usize, b: usize) -> bool {
    let (left, right) = (&program.headers[a], &program.headers[b]);
    let words = program.header_types[left.type_id as usize].words;
    let of = |base: Slot| &phv.slots[base as usize..(base + words) as usize];
    let fields_equal = match (left.vl, right.vl) {
        (Some(x), Some(y)) => {
            // The length's word is compared by the value of the bytes instead.
            let length = (program.vl_stores[x as usize].length - left.base) as usize;
            debug_assert_eq!(length, (program.vl_stores[y as usize].length - right.base) as usize);
            of(left.base)[..length] == of(right.base)[..length]
                && of(left.base)[length + 1..] == of(right.base)[length + 1..]
                && phv.varbits_equal(program, a, b)
        }
        _ => of(left.base) == of(right.base),
    };
    phv.slots[left.valid as usize] != 0 && phv.slots[right.valid as usize] != 0 && fields_equal
}

/// Copies a header of the same type; an invalid source only invalidates.
pub(crate) fn assign_header(program: &Program, phv: &mut Phv, to: usize, from: usize) {
    let (target, source) = (&program.headers[to], &program.headers[from]);
    if phv.slots[source.valid as usize] == 0 {
        phv.slots[target.valid as usize] = 0;
        return;
    }
    phv.slots[target.valid as usize] = 1;
    only_valid(program, phv, to);
    let words = program.header_types[target.type_id as usize].words as usize;
    let first = source.base as usize;
    phv.slots.copy_within(first..first + words, target.base as usize);
    if let (Some(t), Some(f)) = (target.vl, source.vl) {
        phv.copy_vl(program.vl_stores[t as usize], program.vl_stores[f as usize]);
    }
}

/// Swaps two headers of one type with all they have: BMv2's `Header::swap_values`.
pub(crate) fn swap_headers(program: &Program, phv: &mut Phv, a: usize, b: usize) {
    let (a, b) = (&program.headers[a], &program.headers[b]);
    phv.slots.swap(a.valid as usize, b.valid as usize);
    if let (Some(x), Some(y)) = (a.vl, b.vl) {
        phv.swap_vl(program.vl_stores[x as usize], program.vl_stores[y as usize]);
    }
    for word in 0..program.header_types[a.type_id as usize].words {
        phv.slots.swap((a.base + word) as usize, (b.base + word) as usize);
    }
}

/// `push_front` and `pop_front` as P4-16 defines them: elements move, those that appear are invalid. They move by swapping, as
/// in BMv2, so that the fields of an invalid element are what they are there.
fn shift_stack(program: &Program, phv: &mut Phv, stack: u32, by: u64, push: bool) {
    let stack = &program.stacks[stack as usize];
    let size = u64::from(stack.size);
    let by = by.min(size);
    let next = phv.slots[stack.next as usize];
    let element = |at: u64| stack.first as usize + at as usize;
    let appear = if push {
        (by..size).rev().for_each(|at| swap_headers(program, phv, element(at), element(at - by)));
        phv.slots[stack.next as usize] = (next + by).min(size);
        0..by
    } else {
        (0..size - by).for_each(|at| swap_headers(program, phv, element(at), element(at + by)));
        phv.slots[stack.next as usize] = next.saturating_sub(by);
        size - by..size
    };
    for at in appear {
        let header = &program.headers[element(at)];
        phv.slots[header.valid as usize] = 0;
    }
}
