//! Derives a trace's events from instructions: from each instruction before it runs, and from its changes afterwards.

use super::{Event, Hit, Lvalue, NamedMatch, NamedValue, SelectKey, Trace};
use crate::program::{ColdOp, KeyField, Mark, Op, Pc, Program, Slot, TableKeyInfo};
use crate::run::calculate::output;
use crate::run::headers::target;
use crate::run::observe::{Moment, Observer};
use crate::run::phv::{value, Phv};
use crate::tables::{Group, Outcome};

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

/// Records a change. Instructions write the words of a wide value one after another, low word first; that is one change.
fn push_set(events: &mut Vec<Event>, lvalue: &Lvalue, old: u128, new: u128) {
    if let Some(Event::Set { field, old: first, new: last, .. }) = events.last_mut() {
        let is_high_word = *first >> 64 == *last >> 64 && old as u64 == new as u64;
        if *field == lvalue.name && *last == old && is_high_word {
            *last = new;
            return;
        }
    }
    events.push(Event::Set { field: lvalue.name.clone(), width: lvalue.width, old, new });
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

    /// Records the changes since the last instruction, or since [`Trace::watch`], and ends the watch: the next run may be another
    /// packet's.
    pub(crate) fn write_changes(&mut self, phv: &Phv) {
        for lvalue in &self.lvalues {
            let (old, new) = (lvalue.value(&self.slots), lvalue.value(&phv.slots));
            if old != new {
                push_set(&mut self.events, lvalue, old, new);
            }
        }
        self.slots.clear();
    }

    /// Records the effect of the last instruction.
    fn settle(&mut self, moment: &Moment<'_>, next: Option<Pc>) {
        if let (Some(condition), Some(next)) = (self.condition, next) {
            if !(condition.begin..condition.holds_at).contains(&next) {
                let holds = next == condition.holds_at;
                self.condition = None;
                self.events.push(match condition.of {
                    Some((pipeline, conditional)) => {
                        let pipeline = moment.program.code.pipelines[pipeline as usize].name.clone();
                        Event::Condition { pipeline, conditional, holds }
                    }
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
                    let fields = fields.iter().map(|f| named(&f.name, f.width, &phv.slots, h.base + f.off));
                    self.events.push(Event::Extract {
                        header: h.name.clone(),
                        offset,
                        bytes: cursor - offset,
                        fields: fields.collect(),
                    });
                }
                return;
            }
            Pending::Count { counter, index } => {
                let cells = &cells.counters[counter as usize];
                let value = usize::try_from(index).ok().and_then(|at| cells.get(at));
                let (packets, bytes) = (value.map(|v| v.packets), value.map(|v| v.bytes));
                let counter = program.counter_array(counter).name.clone();
                self.events.push(Event::Count { counter, index, packets, bytes });
            }
            Pending::Meter { meter, index, to } => {
                let there = usize::try_from(index).is_ok_and(|at| at < cells.meters[meter as usize].len());
                let colour = there.then(|| phv.slots[to as usize]);
                let meter = program.meter_array(meter).name.clone();
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
            Mark::State { parser, state } => {
                let parser = moment.program.code.parsers[parser as usize].name.clone();
                self.events.push(Event::State { parser, state });
            }
            Mark::Condition { pipeline, conditional, end } => {
                self.condition =
                    Some(Undecided { begin: here, holds_at: end, of: Some((pipeline, conditional)) });
            }
            Mark::Action { action, called } => {
                let info = moment.program.action(action);
                let mut params = Vec::new();
                if called {
                    let mut slot = moment.program.packet.param_base as Slot;
                    for param in &info.params {
                        params.push(named(&param.name, param.bitwidth, &moment.phv.slots, slot));
                        slot += crate::number::words(param.bitwidth);
                    }
                }
                self.events.push(Event::Action { action: info.name.clone(), action_index: action, params });
            }
            Mark::Statement { action, primitive, holds_at } => {
                self.events.push(Event::Statement { action_index: action, primitive });
                if let Some(holds_at) = holds_at {
                    self.condition = Some(Undecided { begin: here, holds_at, of: None });
                }
            }
        }
    }

    /// Records what the next instruction will read, and notes what to check after it.
    fn announce(&mut self, moment: &Moment<'_>) {
        let Moment { program, phv, cursor, .. } = *moment;
        let slot = |at: Slot| phv.slots[at as usize];
        let mut request = |primitive, arguments: &[Slot]| {
            let arguments = arguments.iter().map(|at| slot(*at)).collect();
            self.events.push(Event::Request { primitive, arguments });
        };
        match program.code.ops[moment.pc] {
            Op::RegisterRead { r, idx, .. } => self.read(moment, r, slot(idx)),
            Op::RegisterWrite { r, idx, a } => self.write(moment, r, slot(idx), u128::from(slot(a))),
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
            Op::Extract { header } => self.pending = Pending::Extract { header, offset: cursor },
            Op::Cold { at } => match *program.cold_op(at) {
                ColdOp::Extract { to, .. } => {
                    let header = target(program, phv, to);
                    header.into_iter().for_each(|header| {
                        self.pending = Pending::Extract { header, offset: cursor };
                    });
                }
                ColdOp::RegisterRead { r, idx, .. } => self.read(moment, r, slot(idx)),
                ColdOp::RegisterWrite { r, idx, a, .. } => self.write(moment, r, slot(idx), phv.pair(a)),
                _ => {}
            },
            Op::Select { select } => {
                let key = &program.select(select).key;
                key.wide(&phv.slots, &mut self.scratch);
                let part = |(at, part): (usize, &KeyField)| {
                    let lvalue = self.lvalues.iter().find(|lvalue| lvalue.slot == part.field.slot);
                    SelectKey {
                        name: lvalue.map(|lvalue| lvalue.name.clone()),
                        width: lvalue.map(|lvalue| lvalue.width),
                        value: key.unpack(&self.scratch, at),
                    }
                };
                let key = key.fields.iter().enumerate().map(part).collect();
                self.events.push(Event::Select { key });
            }
            Op::Apply { table } => self.table(moment, table),
            Op::MarkToDrop { .. } => request("mark_to_drop", &[]),
            Op::Request { request: asked, a, b } => request(asked.name(), asked.arguments(&[a, b])),
            Op::Exit => self.events.push(Event::Exit),
            _ => {}
        }
    }

    fn read(&mut self, moment: &Moment<'_>, register: u32, index: u64) {
        let value = moment.cells.registers.get_wide(register, index);
        let register = moment.program.register_array(register).name.clone();
        self.events.push(Event::RegisterRead { register, index, value });
    }

    fn write(&mut self, moment: &Moment<'_>, register: u32, index: u64, value: u128) {
        let registers = &moment.cells.registers;
        let ones = crate::program::ones_128(registers.array(register).width);
        let old = registers.get_wide(register, index);
        let new = old.map(|_| value & ones);
        let register = moment.program.register_array(register).name.clone();
        self.events.push(Event::RegisterWrite { register, index, old, new });
    }

    /// Performs the lookup that the next instruction will do, and records its result.
    fn table(&mut self, moment: &Moment<'_>, table: u32) {
        let Moment { program, cells, phv, .. } = *moment;
        let (info, fixed) = (program.table(table), program.match_table(table));
        let entries = &cells.tables[table as usize];
        let found = entries.unit.lookup(&fixed.key, &phv.slots, &mut self.scratch);
        fixed.key.wide(&phv.slots, &mut self.scratch);
        let part = |(at, k): (usize, &TableKeyInfo)| NamedValue {
            name: k.name.clone(),
            width: k.bitwidth,
            value: fixed.key.unpack(&self.scratch, at),
        };
        let key = info.key.iter().enumerate().map(part).collect();
        let outcome = match found {
            Some(at) => Some(entries.outcomes[at as usize]),
            None => entries.default.outcome(),
        };
        let (mut group, mut members, mut hash, mut member) = (None, None, None, None);
        match outcome {
            Some(Outcome::Member(chosen)) => member = Some(chosen),
            Some(Outcome::Group(chosen)) => {
                let profile = fixed.profile.unwrap_or_default() as usize;
                let active = cells.profiles[profile].groups.get(chosen).map_or(&[][..], Group::active);
                (group, members) = (Some(chosen), Some(active.len()));
                let selector = program.selector(profile as u32);
                let computed = selector.map_or(0, |s| output(s, program, &mut phv.clone(), None, &[], None));
                hash = Some(computed & u64::from(u32::MAX));
                member = crate::run::look_up::member_of_group(active, computed);
            }
            Some(Outcome::Action(_)) | None => {}
        }
        let hit = found.and_then(|at| Self::hit(program, table, entries.keys[at as usize].as_ref()?));
        let (table, profile) = (info.name.clone(), info.action_profile.clone());
        self.events.push(Event::Table { table, key, hit, profile, group, members, hash, member });
    }

    fn hit(program: &Program, table: u32, entry: &crate::tables::EntryKey) -> Option<Hit> {
        let fixed = program.match_table(table);
        let masked = |at| NamedMatch::Masked {
            value: fixed.key.unpack(&entry.key.value, at),
            mask: fixed.key.unpack(&entry.key.mask, at),
        };
        let mut key: Vec<NamedMatch> = (0..fixed.key.fields.len()).map(masked).collect();
        for bound in &entry.key.bounds {
            let low =
                |value: &[u64]| u128::from(value[0]) | u128::from(value.get(1).copied().unwrap_or(0)) << 64;
            key[bound.field] = NamedMatch::Range { first: low(&bound.first), last: low(&bound.last) };
        }
        use crate::program::MatchType::{Lpm, Range, Ternary};
        Some(Hit {
            handle: entry.handle,
            key,
            prefix_length: (fixed.match_type == Lpm).then_some(entry.key.prefix_length),
            priority: matches!(fixed.match_type, Ternary | Range).then_some(entry.key.priority),
        })
    }
}

fn named(name: &str, width: u32, slots: &[u64], slot: Slot) -> NamedValue {
    NamedValue { name: name.to_owned(), width, value: value(slots, slot, width) }
}
