//! Parsers and deparsers. A parse state becomes its operations followed by a jump or a select. Cycles are allowed, because
//! every backward jump and every select counts a step.

use super::compile::expression::{Bool, HeaderRef, UnionRef};
use super::compile::Label;
use super::json::Json;
use super::{look_up, new_name, Ids, Loader, Result};
use crate::error::clip;
use crate::number::{cut, ones, parse_hex, words};
use crate::program::{Case, ColdOp, Deparser, Extracted, Field, KeyPlan, Mark, Op, Select, Start, Test};

/// A field of a transition's key, without a mask of its own.
type KeyPart = (Field, Option<Vec<u64>>);

/// The labels of one parser's states.
#[derive(Default)]
struct States {
    ids: Ids,
    labels: Vec<Label>,
}

impl States {
    fn of(&self, name: &Json<'_>) -> Result<Label> {
        look_up(&self.ids, "parse state", name).map(|id| self.labels[id as usize])
    }
}

/// A select whose targets do not have their places yet: those of its cases, and its default.
type PendingSelect = (usize, Vec<Option<Label>>, Option<Label>);

impl Loader<'_> {
    pub(super) fn load_parsers(&mut self, root: &Json<'_>) -> Result<()> {
        let mut names = Ids::new();
        for json in root.list("parsers")? {
            let name = new_name(&mut names, &json)?;
            let states = json.list("parse_states")?;
            let mut labels = States::default();
            for state in &states {
                new_name(&mut labels.ids, state)?;
                labels.labels.push(self.compiler.label());
            }
            let pc = self.compiler.pc();
            let init = json.get("init_state")?;
            if init.is_null() {
                self.compiler.emit(Op::Halt)?;
            } else {
                let label = labels.of(&init)?;
                self.compiler.jump(label)?;
            }
            let mut pending = Vec::new();
            for (at, state) in (0u32..).zip(&states) {
                self.compiler.place(labels.labels[at as usize]);
                let parser = self.code.parsers.len() as u32;
                self.mark(self.compiler.pc(), Mark::State { parser, state: at });
                for op in state.instructions("parser_ops")? {
                    self.compiler.release_temps();
                    op.placed(self.parser_op(&op))?;
                }
                self.compiler.release_temps();
                state.placed(self.transition(state, &labels, &mut pending))?;
            }
            let end = self.compiler.pc();
            self.compiler.emit(Op::Halt)?;
            // The targets of selects are known only after every state has its place.
            let pc_of = |label: Option<Label>| label.and_then(|l| self.compiler.target(l)).unwrap_or(end);
            for (select, targets, default) in pending {
                let select: &mut Select = &mut self.code.selects[select];
                select.default = pc_of(default);
                for (case, target) in select.cases.iter_mut().zip(targets) {
                    case.to = pc_of(target);
                }
                select.narrow = narrow_cases(select);
            }
            self.code.parsers.push(Start { name, pc });
        }
        Ok(())
    }

    fn parser_op(&mut self, json: &Json<'_>) -> Result<()> {
        let arguments = json.get("parameters")?;
        match json.get("op")?.str()? {
            "extract" => {
                let [target] = arguments.tuple()?;
                self.extract(&target, None)
            }
            "extract_VL" => {
                let [target, length] = arguments.tuple()?;
                self.extract(&target, Some(&length))
            }
            "set" => self.set(json),
            "verify" => {
                let [condition, error] = arguments.tuple()?;
                let condition = self.condition(&condition, &[])?;
                // The common "verify(true, ...)" needs no instruction.
                if condition == Bool::Const(true) {
                    return Ok(());
                }
                let a = self.compiler.boolean(&condition)?;
                let error = self.scalar(&error, &[])?;
                self.compiler.emit(Op::Verify { a, error })
            }
            "advance" => {
                let [bits] = arguments.tuple()?;
                let a = self.scalar(&bits, &[])?;
                self.compiler.emit(Op::Advance { a })
            }
            "shift" => {
                let [bytes] = arguments.tuple()?;
                let bits = bytes.number(1 << 32)? * 8;
                let a = self.compiler.constant(bits);
                self.compiler.emit(Op::Advance { a })
            }
            "primitive" => {
                let [primitive] = arguments.tuple()?;
                self.parser_primitive(&primitive)
            }
            other => Err(json.error(format!("parser operation '{}' is not supported", clip(other)))),
        }
    }

    /// Compiles an extraction; `length` gives the bits of a variable-length field, if the header has one.
    fn extract(&mut self, target: &Json<'_>, length: Option<&Json<'_>>) -> Result<()> {
        let (to, type_id) = self.extracted(target)?;
        let ty = &self.packet.header_types[type_id as usize];
        match (&ty.variable, length) {
            (Some((field, _)), None) => {
                return Err(target.error(format!(
                    "has the variable-length field '{}'; extract_VL gives its length",
                    clip(&ty.fields[*field].name)
                )))
            }
            (None, Some(_)) => return Err(target.error("has no variable-length field")),
            _ => {}
        }
        let max = ty.max_bytes;
        let len = length.map(|length| self.scalar(length, &[])).transpose()?;
        let header = match to {
            Extracted::Header(id) => Some(id),
            _ => None,
        };
        match header {
            Some(header) if len.is_none() && self.packet.headers[header as usize].union.is_none() => {
                self.compiler.emit(Op::Extract { header })?;
            }
            _ => self.compiler.emit_cold(ColdOp::Extract { to, len, max })?,
        }
        header.map_or(Ok(()), |header| self.show_validity(&HeaderRef::Fixed(header)))
    }

    fn extracted(&self, json: &Json<'_>) -> Result<(Extracted, u32)> {
        let value = json.get("value")?;
        let (extracted, type_id) = match json.get("type")?.str()? {
            "regular" => {
                let id = look_up(&self.declared.names.headers, "header", &value)?;
                if self.packet.headers[id as usize].metadata {
                    return Err(json.error("is metadata, which is not extracted from a packet"));
                }
                (Extracted::Header(id), self.packet.headers[id as usize].type_id)
            }
            "stack" => {
                let id = self.stack(&value, false)?;
                (Extracted::Stack(id), self.packet.stacks[id as usize].type_id)
            }
            "union_stack" => {
                let [stack, member] = value.tuple()?;
                let stack = self.stack(&stack, true)?;
                let (member, type_id) = self.union_stack_member(stack, &member)?;
                (Extracted::UnionStack(stack, member), type_id)
            }
            other => return Err(json.error(format!("extraction to a '{}' is not supported", clip(other)))),
        };
        let ty = &self.packet.header_types[type_id as usize];
        if !ty.whole_bytes {
            return Err(json.error(format!("header type '{}' is not whole bytes", clip(&ty.name))));
        }
        Ok((extracted, type_id))
    }

    fn set(&mut self, json: &Json<'_>) -> Result<()> {
        let [to, value] = json.get("parameters")?.tuple()?;
        if value.get("type")?.str()? == "lookahead" {
            let (field, _) = self.field(&to.get("value")?)?;
            let found = self.lookahead(&value)?;
            let expr = super::expressions::field_value(found);
            return self.compiler.store(field.slot, field.width(), field.signed, &expr);
        }
        let target = to.get("value")?;
        let [header, member] = target.tuple()?;
        let is_variable = self.member(&header, &member)?.1.is_some_and(|f| f.variable);
        let op = if is_variable { "assign_VL" } else { "assign" };
        self.primitive(json, op, &[])
    }

    /// Emits a lookahead, and returns the temporary that receives its bits.
    fn lookahead(&mut self, json: &Json<'_>) -> Result<Field> {
        let value = json.get("value")?;
        let [offset, width] = value.tuple()?;
        let bit = offset.number(1 << 20)? as u32;
        let bits = width.width("lookaheads")?;
        let d = self.compiler.temp(words(bits))?;
        if bits > 64 {
            self.compiler.emit_cold(ColdOp::Lookahead { d, w: bits, bit })?;
        } else {
            self.compiler.emit(Op::Lookahead { w: bits as u8, d, bit })?;
        }
        Ok(Field { slot: d, width: bits as u16, signed: false })
    }

    fn transition(
        &mut self,
        state: &Json<'_>,
        labels: &States,
        pending: &mut Vec<PendingSelect>,
    ) -> Result<()> {
        let mut key = Vec::new();
        for part in state.list("transition_key")? {
            key.push((self.key_part(&part)?, None));
        }
        let plan = KeyPlan::new(&key);
        let (mut cases, mut targets, mut default) = (Vec::new(), Vec::new(), None);
        for transition in state.list("transitions")? {
            let next = transition.get("next_state")?;
            let label = if next.is_null() { None } else { Some(labels.of(&next)?) };
            // p4c put the default of a select into the value until April 2020; BMv2 accepts it with or without a type.
            let kind = transition.opt("type")?.map_or(Ok("hexstr"), |kind| kind.str())?;
            let value = transition.opt("value")?.and_then(|value| value.value.as_str());
            let kind = if (kind, value) == ("hexstr", Some("default")) { "default" } else { kind };
            let mask = transition.opt("mask")?.map(|mask| self.padded(&mask, &key));
            let test = match kind {
                "default" => {
                    default = label;
                    continue;
                }
                "hexstr" if !key.is_empty() => {
                    let value = plan.pack(self.padded(&transition.get("value")?, &key)?);
                    let all = || Ok(key.iter().map(|(f, _)| ones(f.width())).collect());
                    let mask = plan.pack(mask.unwrap_or_else(all)?);
                    let value = value.iter().zip(&mask).map(|(v, m)| v & m).collect();
                    Test::Value { value, mask }
                }
                "parse_vset" if !key.is_empty() => {
                    let given = transition.get("value")?;
                    let vset = look_up(&self.declared.names.vsets, "parse_vset", &given)?;
                    let bits: u32 = key.iter().map(|(f, _): &KeyPart| f.width()).sum();
                    let declared = self.declared.parse_vsets[vset as usize].bitwidth;
                    if bits != declared {
                        return Err(
                            given.error(format!("holds values of {declared} bits, but the key has {bits}"))
                        );
                    }
                    let joined = |mask: Vec<Vec<u64>>| {
                        let mut joined = Vec::new();
                        plan.concatenated(&plan.pack(mask), &mut joined);
                        joined
                    };
                    Test::Vset { vset, mask: mask.transpose()?.map(joined) }
                }
                "hexstr" | "parse_vset" => {
                    return Err(transition.error("compares a key, but the state has none"));
                }
                other => {
                    return Err(
                        transition.error(format!("transition type '{}' is not supported", clip(other)))
                    )
                }
            };
            cases.push(Case { test, to: 0 });
            targets.push(label);
        }
        if cases.is_empty() {
            return match default {
                None => self.compiler.emit(Op::Halt),
                Some(label) => {
                    if self.compiler.target(label).is_some() {
                        self.compiler.emit(Op::Step)?;
                    }
                    self.compiler.jump(label)
                }
            };
        }
        let select = self.code.selects.len();
        self.code.selects.push(Select { key: plan, cases, narrow: None, default: 0 });
        pending.push((select, targets, default));
        self.compiler.emit(Op::Select { select: select as u32 })
    }

    fn key_part(&mut self, part: &Json<'_>) -> Result<Field> {
        let value = part.get("value")?;
        match part.get("type")?.str()? {
            "field" => Ok(self.field(&value)?.0),
            "lookahead" => self.lookahead(part),
            "stack_field" => {
                let [stack, member] = value.tuple()?;
                let stack = self.stack(&stack, false)?;
                self.found_key_part(&HeaderRef::Last(stack), &member)
            }
            "union_stack_field" => {
                let [stack, member, field] = value.tuple()?;
                let stack = self.stack(&stack, true)?;
                let (member, _) = self.union_stack_member(stack, &member)?;
                self.found_key_part(&HeaderRef::Member(UnionRef::Last(stack), member), &field)
            }
            other => Err(part.error(format!("a transition key of type '{}' is not supported", clip(other)))),
        }
    }

    /// Loads a field of a header that is determined at run time into a temporary, and returns that.
    fn found_key_part(&mut self, header: &HeaderRef, member: &Json<'_>) -> Result<Field> {
        let ty = &self.packet.header_types[self.type_of(header) as usize];
        let name = member.str()?;
        let f = ty
            .field(name)
            .filter(|f| !f.variable)
            .ok_or_else(|| member.error(format!("the stack's type has no field '{}'", clip(name))))?;
        let (off, width, signed) = (f.off, f.width, f.signed);
        let slot = self.compiler.load(header, off, words(width))?;
        Ok(Field { slot, width: width as u16, signed })
    }

    /// Returns one value per key field from a hexstr in which every field is padded to whole bytes.
    fn padded(&self, json: &Json<'_>, key: &[KeyPart]) -> Result<Vec<Vec<u64>>> {
        let text = json.str()?;
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let length: usize = key.iter().map(|(f, _)| f.width().div_ceil(8) as usize * 2).sum();
        let significant = digits.trim_start_matches('0');
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) || significant.len() > length {
            return Err(json.error(format!("'{}' is not {} bytes in hexadecimal", clip(text), length / 2)));
        }
        let padded = format!("{significant:0>length$}");
        let mut at = 0;
        key.iter()
            .map(|(f, _)| {
                let digits = f.width().div_ceil(8) as usize * 2;
                let part = &padded[at..at + digits];
                at += digits;
                parse_hex(part).map(|(_, value)| cut(value, f.width())).map_err(|e| json.error(e))
            })
            .collect()
    }

    pub(super) fn load_deparsers(&mut self, root: &Json<'_>) -> Result<()> {
        let mut names = Ids::new();
        for json in root.list("deparsers")? {
            let name = new_name(&mut names, &json)?;
            if let Some(first) = json.list("primitives")?.first() {
                return Err(first.error("operations in a deparser are not supported"));
            }
            let mut headers = Vec::new();
            for header in json.list("order")? {
                let id = look_up(&self.declared.names.headers, "header", &header)?;
                let h = &self.packet.headers[id as usize];
                if h.metadata || !self.packet.header_types[h.type_id as usize].whole_bytes {
                    return Err(header.error("is metadata, or not whole bytes, and cannot be deparsed"));
                }
                headers.push(id);
            }
            self.code.deparsers.push(Deparser { name, headers });
        }
        Ok(())
    }
}

/// Returns the cases of a one-word key without value sets, in a flat form for speed.
fn narrow_cases(select: &Select) -> Option<Vec<(u64, u64)>> {
    if select.key.words != 1 {
        return None;
    }
    select
        .cases
        .iter()
        .map(|case| match &case.test {
            Test::Value { value, mask } => Some((value[0], mask[0])),
            Test::Vset { .. } => None,
        })
        .collect()
}
