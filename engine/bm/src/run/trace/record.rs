//! Derives a trace's events from instructions: from each instruction before it runs, and from its changes afterwards.

use super::{Event, Hit, KeyMatch, Lvalue, Trace};
use crate::program::{ColdOp, Field, Mark, Op, Pc, Program, Slot};
use crate::run::calculate::output;
use crate::run::observe::{Moment, Observer};
use crate::run::phv::Phv;
use crate::tables::Outcome;

/// The last instruction, if its effect is only known after it has run.
#[derive(Debug)]
pub(super) enum Pending {
    Nothing,
    Extract { header: u32, offset: usize },
    Count { counter: u32, index: u64 },
    Meter { meter: u32, index: u64, to: Slot },
    Hash { to: Slot, base: u64, size: u64 },
    Random { low: u64, high: u64, to: Slot },
}

/// A condition whose instructions are running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undecided {
    begin: Pc,
    holds_at: Pc,
    /// Pipeline and conditional; `None` for a condition inside an action.
    of: Option<(u32, u32)>,
}

/// Returns the value of an lvalue, whose low word comes first; the low 128 bits of a wider one.
pub(super) fn value(slots: &[u64], slot: Slot, words: u32) -> u128 {
    let at = slot as usize;
    u128::from(slots[at]) | if words == 2 { u128::from(slots[at + 1]) << 64 } else { 0 }
}

impl Observer for Trace {
    const WATCHES: bool = true;

    fn before(&mut self, moment: &Moment<'_>) {
        self.settle(moment, Some(moment.pc as Pc));
        for mark in moment.program.marks_at(moment.pc as Pc) {
            self.begin(moment, *mark);
        }
        self.announce(moment);
        self.slots.clear();
        self.slots.extend_from_slice(&moment.phv.slots);
    }

    fn end(&mut self, moment: &Moment<'_>) {
        self.settle(moment, None);
        self.condition = None;
        self.slots.clear();
    }
}

impl Trace {
    /// Starts to watch for changes that no instruction makes: checksums, and writes of the switch itself.
    pub(crate) fn watch(&mut self, phv: &Phv) {
        self.slots.clear();
        self.slots.extend_from_slice(&phv.slots);
    }

    /// Records the changes since the last instruction, or since [`Trace::watch`].
    pub(crate) fn write_changes(&mut self, phv: &Phv) {
        for &(lvalue, slot, words) in &self.lvalues {
            let (old, new) = (value(&self.slots, slot, words), value(&phv.slots, slot, words));
            if old != new {
                self.events.push(Event::Set { lvalue, old, new });
            }
        }
    }

    /// Records the effect of the last instruction.
    fn settle(&mut self, moment: &Moment<'_>, next: Option<Pc>) {
        if let (Some(condition), Some(next)) = (self.condition, next) {
            if !(condition.begin..condition.holds_at).contains(&next) {
                let holds = next == condition.holds_at;
                self.condition = None;
                self.events.push(match condition.of {
                    Some((pipeline, conditional)) => Event::Condition { pipeline, conditional, holds },
                    None => Event::Branch { holds },
                });
            }
        }
        if self.slots.is_empty() {
            return;
        }
        let Moment { program, cells, phv, cursor, .. } = *moment;
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => {}
            Pending::Extract { header, offset } => {
                // A failed extraction does not move the parser.
                if cursor > offset {
                    let h = program.header(header);
                    let fields = &program.header_type(h.type_id).fields;
                    let of = |f: &crate::program::FieldDef| {
                        value(&phv.slots, h.base + f.off, if f.width > 64 { 2 } else { 1 })
                    };
                    let fields = fields.iter().map(of).collect();
                    self.events.push(Event::Extract { header, offset, bytes: cursor - offset, fields });
                }
                return;
            }
            Pending::Count { counter, index } => {
                let cells = &cells.counters[counter as usize];
                let value = usize::try_from(index).ok().and_then(|at| cells.get(at)).copied();
                self.events.push(Event::Count { counter, index, value });
            }
            Pending::Meter { meter, index, to } => {
                let there = usize::try_from(index).is_ok_and(|at| at < cells.meters[meter as usize].len());
                let colour = there.then(|| phv.slots[to as usize]);
                self.events.push(Event::Meter { meter, index, colour });
            }
            Pending::Hash { to, base, size } => {
                self.events.push(Event::Hash { result: phv.slots[to as usize], base, size });
            }
            Pending::Random { low, high, to } => {
                self.events.push(Event::Random { low, high, drawn: phv.slots[to as usize] });
            }
        }
        self.write_changes(phv);
    }

    /// Records the start of a source construct.
    fn begin(&mut self, moment: &Moment<'_>, mark: Mark) {
        let here = moment.pc as Pc;
        match mark {
            Mark::State { parser, state } => self.events.push(Event::State { parser, state }),
            Mark::Condition { pipeline, conditional, end } => {
                self.condition =
                    Some(Undecided { begin: here, holds_at: end, of: Some((pipeline, conditional)) });
            }
            Mark::Action { action, called } => {
                let mut params = Vec::new();
                if called {
                    let mut slot = moment.program.param_base() as Slot;
                    for param in &moment.program.action(action).params {
                        params.push(value(&moment.phv.slots, slot, if param.bitwidth > 64 { 2 } else { 1 }));
                        slot += crate::number::words(param.bitwidth);
                    }
                }
                self.events.push(Event::Action { action, params });
            }
            Mark::Statement { action, primitive, holds_at } => {
                self.events.push(Event::Statement { action, primitive });
                if let Some(holds_at) = holds_at {
                    self.condition = Some(Undecided { begin: here, holds_at, of: None });
                }
            }
        }
    }

    /// Records what the next instruction will read, and notes what to check after it.
    fn announce(&mut self, moment: &Moment<'_>) {
        let Moment { program, cells, phv, cursor, .. } = *moment;
        let slot = |at: Slot| phv.slots[at as usize];
        let mut request = |primitive, arguments: &[Slot]| {
            let arguments = arguments.iter().map(|at| slot(*at)).collect();
            self.events.push(Event::Request { primitive, arguments });
        };
        match program.ops()[moment.pc] {
            Op::RegisterRead { r, idx, .. } | Op::RegisterReadWide { r, idx, .. } => {
                let (index, value) = (slot(idx), cells.registers.get_wide(r, slot(idx)));
                self.events.push(Event::RegisterRead { register: r, index, value });
            }
            Op::RegisterWrite { r, idx, a } => self.write(moment, r, slot(idx), u128::from(slot(a))),
            Op::RegisterWriteWide { r, idx, a } => self.write(moment, r, slot(idx), phv.pair(a)),
            Op::Count { c, idx } => self.pending = Pending::Count { counter: c, index: slot(idx) },
            Op::ExecuteMeter { d, m, idx, .. } => {
                self.pending = Pending::Meter { meter: m, index: slot(idx), to: d };
            }
            Op::Hash { call } => {
                let call = program.hash_call(call);
                let (base, size) = (slot(call.base), slot(call.size).max(1));
                self.pending = Pending::Hash { to: call.d, base, size };
            }
            Op::Rng { d, lo, hi, .. } if slot(lo) <= slot(hi) => {
                self.pending = Pending::Random { low: slot(lo), high: slot(hi), to: d };
            }
            Op::Extract { header } | Op::ExtractVl { header, .. } => {
                self.pending = Pending::Extract { header, offset: cursor };
            }
            Op::ExtractStack { stack } | Op::ExtractStackVl { stack, .. } => {
                let stack = program.stack(stack);
                let next = slot(stack.next);
                if next < u64::from(stack.size) {
                    self.pending = Pending::Extract { header: stack.first + next as u32, offset: cursor };
                }
            }
            Op::Cold { at } => {
                if let ColdOp::ExtractUnionStack { stack, member, .. } = *program.cold_op(at) {
                    let stack = program.union_stack(stack);
                    let next = slot(stack.next);
                    if next < u64::from(stack.size) {
                        let header = program.union(stack.first + next as u32).members[member as usize];
                        self.pending = Pending::Extract { header, offset: cursor };
                    }
                }
            }
            Op::Select { select } => {
                let key = &program.select(select).key;
                key.wide(&phv.slots, &mut self.scratch);
                let values = (0..key.fields.len()).map(|at| key.unpack(&self.scratch, at)).collect();
                let fields = key.fields.iter().map(|f| self.lvalue(f.field)).collect();
                self.events.push(Event::Select { fields, values });
            }
            Op::Apply { table } => self.table(moment, table),
            Op::MarkToDrop { .. } => request("mark_to_drop", &[]),
            Op::CloneIngress { session, list } => request("clone_ingress_pkt_to_egress", &[session, list]),
            Op::CloneEgress { session, list } => request("clone_egress_pkt_to_egress", &[session, list]),
            Op::Resubmit { list } => request("resubmit", &[list]),
            Op::Recirculate { list } => request("recirculate", &[list]),
            Op::Digest { receiver, list } => request("generate_digest", &[receiver, list]),
            Op::Truncate { a } => request("truncate", &[a]),
            Op::Exit => self.events.push(Event::Exit),
            _ => {}
        }
    }

    fn write(&mut self, moment: &Moment<'_>, register: u32, index: u64, value: u128) {
        let registers = &moment.cells.registers;
        let ones = crate::program::ones_128(registers.array(register).width);
        let change = registers.get_wide(register, index).map(|old| (old, value & ones));
        self.events.push(Event::RegisterWrite { register, index, change });
    }

    /// Performs the lookup that the next instruction will do, and records its result.
    fn table(&mut self, moment: &Moment<'_>, table: u32) {
        let Moment { program, cells, phv, .. } = *moment;
        let fixed = program.match_table(table);
        let entries = &cells.tables[table as usize];
        let found = entries.unit.lookup(&fixed.key, &phv.slots, &mut self.scratch);
        fixed.key.wide(&phv.slots, &mut self.scratch);
        let key = (0..fixed.key.fields.len()).map(|at| fixed.key.unpack(&self.scratch, at)).collect();
        let outcome = match found {
            Some(at) => Some(entries.outcomes[at as usize]),
            None => entries.default.as_ref().map(|(outcome, _)| *outcome),
        };
        let (mut group, mut hash, mut member) = (None, None, None);
        match outcome {
            Some(Outcome::Member(chosen)) => member = Some(chosen),
            Some(Outcome::Group(chosen)) => {
                let profile = fixed.profile.unwrap_or_default() as usize;
                let members =
                    cells.profiles[profile].group(chosen).map_or(&[][..], crate::tables::Group::active);
                group = Some((chosen, members.len()));
                let selector = program.selector(profile as u32);
                let computed = selector.map_or(0, |s| output(s, program, &mut phv.clone(), None, &[], None));
                hash = Some(computed & u64::from(u32::MAX));
                member = crate::run::look_up::member_of_group(members, computed);
            }
            Some(Outcome::Action(_)) | None => {}
        }
        let hit = found.and_then(|at| self.hit(program, table, entries.keys[at as usize].as_ref()?));
        self.events.push(Event::Table { table, key, hit, group, hash, member });
    }

    fn hit(&self, program: &Program, table: u32, entry: &crate::tables::EntryKey) -> Option<Hit> {
        let fixed = program.match_table(table);
        let masked = |at| {
            KeyMatch::Masked(fixed.key.unpack(&entry.key.value, at), fixed.key.unpack(&entry.key.mask, at))
        };
        let mut key: Vec<KeyMatch> = (0..fixed.key.fields.len()).map(masked).collect();
        for bound in &entry.key.bounds {
            let low =
                |value: &[u64]| u128::from(value[0]) | u128::from(value.get(1).copied().unwrap_or(0)) << 64;
            key[bound.field] = KeyMatch::Range(low(&bound.first), low(&bound.last));
        }
        use crate::program::MatchType::{Lpm, Range, Ternary};
        Some(Hit {
            handle: entry.handle,
            key,
            prefix_length: (fixed.match_type == Lpm).then_some(entry.key.prefix_length),
            priority: matches!(fixed.match_type, Ternary | Range).then_some(entry.key.priority),
        })
    }

    fn lvalue(&self, field: Field) -> Option<Lvalue> {
        self.lvalues.iter().find(|(_, slot, _)| *slot == field.slot).map(|(lvalue, _, _)| *lvalue)
    }
}
