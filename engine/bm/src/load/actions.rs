//! Actions: loads their parameters, and compiles their primitives into instructions.

use std::collections::HashMap;

use super::compile::expression::{Binary, Bool, Expr, HeaderRef, Int, Range, Representation};
use super::compile::Label;
use super::expressions::Params;
use super::json::Json;
use super::{look_up, ActionSource, Loader, Result};
use crate::error::{clip, LoadError};
use crate::number::{self, words};
use crate::program::{
    ActionInfo, ColdOp, Field, HashCall, LogCall, LogValue, Mark, Op, ParamInfo, Request, Slot,
};

/// Primitives that a parser may call: those without effect on a switch or its state.
const PARSER_PRIMITIVES: [&str; 13] = [
    "assign",
    "assign_VL",
    "assign_header",
    "assign_union",
    "assign_header_stack",
    "assign_union_stack",
    "add_header",
    "remove_header",
    "push",
    "pop",
    "assert",
    "assume",
    "log_msg",
];

/// The target of an assignment: a field with its first slot, or, in a header that is determined at run time, its offset.
struct Lvalue {
    header: Option<HeaderRef>,
    at: u32,
    width: u32,
    signed: bool,
}

impl Lvalue {
    fn fixed(field: Field) -> Lvalue {
        Lvalue { header: None, at: field.slot, width: field.width(), signed: field.signed }
    }

    fn value(&self) -> Expr {
        let Lvalue { ref header, at, width, signed } = *self;
        match header {
            None => Expr::Slot { slot: at, width, signed },
            Some(header) => Expr::Field { header: header.clone(), off: at, width, signed },
        }
    }
}

type Signatures<'a> = (Vec<ActionSource<'a>>, HashMap<u64, u32>, Vec<ActionInfo>, u32);

/// Returns the parameters of every action, and the number of slots of the largest parameter set.
pub(super) fn load_signatures<'a>(root: &Json<'a>, param_base: Slot) -> Result<Signatures<'a>> {
    let mut sources = Vec::new();
    let mut ids = HashMap::new();
    let mut infos = Vec::new();
    let mut max_words = 0;
    for json in root.list("actions")? {
        let id = json.id()?;
        ids.insert(u64::from(id), sources.len() as u32);
        let mut params = Vec::new();
        let mut infos_of = Vec::new();
        let mut words = 0;
        for param in json.list("runtime_data")? {
            let width = param.get("bitwidth")?.width("parameters")?;
            params.push(Field { slot: param_base + words, width: width as u16, signed: false });
            words += number::words(width);
            infos_of.push(ParamInfo { name: param.get("name")?.str()?.to_owned(), bitwidth: width });
        }
        max_words = max_words.max(words);
        infos.push(ActionInfo { name: json.get("name")?.str()?.to_owned(), id, params: infos_of });
        sources.push(ActionSource { json, params, words, pc: None });
    }
    Ok((sources, ids, infos, max_words))
}

impl Loader<'_> {
    /// Compiles every action for calls by tables.
    pub(super) fn compile_actions(&mut self) -> Result<()> {
        for at in 0..self.action_sources.len() {
            self.action_sources[at].pc = Some(self.compiler.pc());
            self.compile_action(at, true)?;
            self.compiler.emit(Op::Ret)?;
        }
        Ok(())
    }

    /// Compiles an action at the current place: for calls by tables if `called`, otherwise inlined at its only call.
    pub(super) fn compile_action(&mut self, action: usize, called: bool) -> Result<()> {
        self.mark(self.compiler.pc(), Mark::Action { action: action as u32, called });
        let json = self.action_sources[action].json.clone();
        let params = self.action_sources[action].params.clone();
        let primitives = json.instructions("primitives")?;
        let labels: Vec<Label> = (0..=primitives.len()).map(|_| self.compiler.label()).collect();
        for (at, primitive) in primitives.iter().enumerate() {
            self.compiler.place(labels[at]);
            self.compiler.release_temps();
            let op = primitive.get("op")?.str()?;
            let begin = self.compiler.pc();
            primitive.placed(match op {
                "_jump" | "_jump_if_zero" => self.jump(primitive, op, at, &labels, &params),
                _ => self.primitive(primitive, op, &params),
            })?;
            let end = self.compiler.pc();
            if op != "_jump" && begin < end {
                let holds_at = (op == "_jump_if_zero").then_some(end);
                let (action, primitive) = (action as u32, at as u32);
                self.mark(begin, Mark::Statement { action, primitive, holds_at });
            }
        }
        self.compiler.place(labels[primitives.len()]);
        Ok(())
    }

    /// Compiles a primitive of a parse state.
    pub(super) fn parser_primitive(&mut self, json: &Json<'_>) -> Result<()> {
        let op = json.get("op")?.str()?;
        if !PARSER_PRIMITIVES.contains(&op) {
            return Err(json.error(format!("primitive '{}' is not supported in a parser", clip(op))));
        }
        self.primitive(json, op, &[])
    }

    fn jump(
        &mut self,
        json: &Json<'_>,
        op: &str,
        at: usize,
        labels: &[Label],
        params: Params<'_>,
    ) -> Result<()> {
        let arguments = json.get("parameters")?;
        let (condition, target) = if op == "_jump" {
            let [target] = arguments.tuple()?;
            (None, target)
        } else {
            let [condition, target] = arguments.tuple()?;
            (Some(self.int(&condition, params)?), target)
        };
        let Expr::Const(Int { negative: false, magnitude }) = self.int(&target, params)? else {
            return Err(target.error("a jump needs a constant target"));
        };
        let to = usize::try_from(magnitude).ok().filter(|&to| to < labels.len()).ok_or_else(|| {
            target.error(format!("jumps to primitive {magnitude}; there are {}", labels.len() - 1))
        })?;
        let backward = to <= at;
        let condition = condition.map(|value| match value {
            Expr::FromBool(condition) => *condition,
            value => Bool::NonZero(value),
        });
        if let (Some(condition), false) = (&condition, backward) {
            return self.compiler.branch(condition, labels[to], false);
        }
        let on = self.compiler.label();
        if let Some(condition) = &condition {
            self.compiler.branch(condition, on, true)?;
        }
        if backward {
            self.compiler.emit(Op::Step)?;
        }
        self.compiler.jump(labels[to])?;
        self.compiler.place(on);
        Ok(())
    }

    pub(super) fn primitive(&mut self, json: &Json<'_>, op: &str, params: Params<'_>) -> Result<()> {
        let arguments = json.get("parameters")?;
        match op {
            "assign" | "modify_field" => {
                let [to, value] = arguments.tuple()?;
                let value = self.int(&value, params)?;
                let to = self.lvalue(&to, params)?;
                self.assign(&to, &value)
            }
            // p4c-bm, the P4_14 compiler, emitted arithmetic as primitives.
            "add_to_field" | "subtract_from_field" => {
                let [to, value] = arguments.tuple()?;
                let by = self.int(&value, params)?;
                let to = self.lvalue(&to, params)?;
                let op = if op == "add_to_field" { Binary::Add } else { Binary::Sub };
                let value = Expr::Binary(op, Box::new(to.value()), Box::new(by));
                self.assign(&to, &value)
            }
            "add" | "subtract" | "bit_and" | "bit_or" | "bit_xor" | "shift_left" | "shift_right" => {
                let [to, left, right] = arguments.tuple()?;
                let (left, right) = (self.int(&left, params)?, self.int(&right, params)?);
                let to = self.lvalue(&to, params)?;
                let op = match op {
                    "add" => Binary::Add,
                    "subtract" => Binary::Sub,
                    "bit_and" => Binary::And,
                    "bit_or" => Binary::Or,
                    "bit_xor" => Binary::Xor,
                    "shift_left" => Binary::Shl,
                    _ => Binary::Shr,
                };
                self.assign(&to, &Expr::Binary(op, Box::new(left), Box::new(right)))
            }
            "assign_VL" => {
                let [to, from] = arguments.tuple()?;
                let (d, s) = (self.variable_store(&to)?, self.variable_store(&from)?);
                let capacity = |store: u32| self.packet.vl_stores[store as usize].capacity;
                if capacity(d) < capacity(s) {
                    return Err(json.error("the destination is shorter than the source can be"));
                }
                self.compiler.emit(Op::AssignVl { d, s })
            }
            "assign_header" | "copy_header" => {
                let [to, from] = arguments.tuple()?;
                let from_ref = self.header_ref(&from, params)?;
                // Both are always valid: this is the copy of a metadata struct.
                let to_ref = if self.is_metadata(&from_ref) {
                    self.header_ref(&to, params)?
                } else {
                    self.writable_header(&to, params)?
                };
                if self.type_of(&to_ref) != self.type_of(&from_ref) {
                    return Err(json.error("the headers are of different types"));
                }
                let (d, s) = (self.compiler.header(&to_ref)?, self.compiler.header(&from_ref)?);
                self.compiler.emit(Op::AssignHeader { d, s })?;
                self.show_validity(&to_ref)
            }
            "assign_header_stack" | "assign_union_stack" => {
                let [to, from] = arguments.tuple()?;
                let (d, s) = (self.any_stack(&to)?, self.any_stack(&from)?);
                let [a, b] = [d, s].map(|stack| &self.packet.stacks[stack as usize]);
                if (a.of_unions, a.type_id, a.size) != (b.of_unions, b.type_id, b.size) {
                    return Err(json.error("the stacks are of different types or sizes"));
                }
                self.compiler.emit(Op::AssignStack { d, s })
            }
            "assign_union" => {
                let [to, from] = arguments.tuple()?;
                let (to, from) = (self.union_ref(&to, params)?, self.union_ref(&from, params)?);
                if self.union_type_of(&to) != self.union_type_of(&from) {
                    return Err(json.error("the header unions are of different types"));
                }
                let (d, s) = (self.compiler.union(&to)?, self.compiler.union(&from)?);
                self.compiler.emit_cold(ColdOp::AssignUnion { d, s })
            }
            "add_header" => {
                let [header] = arguments.tuple()?;
                let header = self.writable_header(&header, params)?;
                let h = self.compiler.header(&header)?;
                self.compiler.emit(Op::AddHeader { h })?;
                self.show_validity(&header)
            }
            "remove_header" => {
                let [header] = arguments.tuple()?;
                let header = self.writable_header(&header, params)?;
                let h = self.compiler.header(&header)?;
                if let Some((valid, shown)) = self.shown(&header) {
                    // Removing an invalid header has no effect, so its shown validity does not change.
                    let slot = |slot| Expr::Slot { slot, width: 1, signed: false };
                    let kept = Expr::Binary(
                        Binary::And,
                        Box::new(slot(shown)),
                        Box::new(Expr::FromBool(Box::new(Bool::Not(Box::new(Bool::NonZero(slot(valid))))))),
                    );
                    self.compiler.store(shown, 1, false, &kept)?;
                }
                self.compiler.emit(Op::RemoveHeader { h })
            }
            "push" | "pop" => {
                let [stack, count] = arguments.tuple()?;
                let stack = self.any_stack(&stack)?;
                let n = self.scalar(&count, params)?;
                self.compiler.emit(Op::ShiftStack { push: op == "push", stack, n })
            }
            "exit" => self.compiler.emit(Op::Exit),
            "assert" | "assume" => {
                let [condition] = arguments.tuple()?;
                let condition = self.condition(&condition, params)?;
                let a = self.compiler.boolean(&condition)?;
                let id = self.asserts;
                self.asserts += 1;
                self.compiler.emit(Op::Assert { a, id })
            }
            "log_msg" => self.log_msg(json, params),
            "count" => {
                let [counter, index] = arguments.tuple()?;
                let c = self.array(&counter, "counter_array")?;
                if self.declared.counter_arrays[c as usize].direct_table.is_some() {
                    return Err(counter.error("is a direct counter; those count by themselves"));
                }
                let idx = self.scalar(&index, params)?;
                self.compiler.emit(Op::Count { c, idx })
            }
            "execute_meter" => {
                let [meter, index, to] = arguments.tuple()?;
                let m = self.array(&meter, "meter_array")?;
                if self.declared.meter_arrays[m as usize].direct_table.is_some() {
                    return Err(meter.error("is a direct meter; those are executed by their table"));
                }
                let idx = self.scalar(&index, params)?;
                let to = self.lvalue(&to, params)?;
                self.write_lvalue(&to, |w, d| Op::ExecuteMeter { w, d, m, idx })
            }
            "register_read" => self.register_read(json, params),
            "register_write" => self.register_write(json, params),
            "modify_field_with_hash_based_offset" => self.hash(json, params),
            "modify_field_rng_uniform" => {
                let [to, lo, hi] = arguments.tuple()?;
                let (lo, hi) = (self.scalar(&lo, params)?, self.scalar(&hi, params)?);
                let to = self.lvalue(&to, params)?;
                self.write_lvalue(&to, |w, d| Op::Rng { w, d, lo, hi })
            }
            "mark_to_drop" => {
                let [header] = arguments.tuple()?;
                self.mark_to_drop(&header)
            }
            // p4c emitted this for mark_to_drop until 2019, and p4c-bm emitted it for drop.
            "drop" => self.drop(json),
            "no_op" => Ok(()),
            other => match Request::named(other) {
                Some(request) => self.request(json, request, params),
                None => Err(json.error(format!("primitive '{}' is not supported", clip(other)))),
            },
        }
    }

    fn request(&mut self, json: &Json<'_>, request: Request, params: Params<'_>) -> Result<()> {
        let arguments = json.get("parameters")?;
        let [a, b] = if request.arguments(&[(); 2]).len() == 1 {
            let [only] = arguments.tuple()?;
            [self.scalar(&only, params)?; 2]
        } else {
            let [first, last] = arguments.tuple()?;
            [self.scalar(&first, params)?, self.scalar(&last, params)?]
        };
        self.compiler.emit(Op::Request { request, a, b })
    }

    /// Copies a written header's validity to its shown validity, if it has one.
    pub(super) fn show_validity(&mut self, header: &HeaderRef) -> Result<()> {
        match self.shown(header) {
            Some((a, d)) => self.compiler.emit(Op::Mov { w: 1, d, a }),
            None => Ok(()),
        }
    }

    /// Compiles an unsigned value of up to 64 bits, and returns its slot.
    pub(super) fn scalar(&mut self, json: &Json<'_>, params: Params<'_>) -> Result<Slot> {
        let expr = self.int(json, params)?;
        if expr.range().representation() != Some(Representation::U64) {
            return Err(json.error("needs a value that is not negative and fits 64 bits"));
        }
        json.placed(self.compiler.exact64(&expr, "the value"))
    }

    fn writable_header(&self, json: &Json<'_>, params: Params<'_>) -> Result<HeaderRef> {
        let header = self.header_ref(json, params)?;
        if self.is_metadata(&header) {
            return Err(json.error("is metadata, whose validity cannot change"));
        }
        Ok(header)
    }

    fn is_metadata(&self, header: &HeaderRef) -> bool {
        matches!(header, HeaderRef::Fixed(id) if self.packet.headers[*id as usize].metadata)
    }

    fn any_stack(&self, json: &Json<'_>) -> Result<u32> {
        let value = json.get("value")?;
        match json.get("type")?.str()? {
            "header_stack" => self.stack(&value, false),
            "header_union_stack" => self.stack(&value, true),
            other => Err(json.error(format!("a header stack is needed, not '{}'", clip(other)))),
        }
    }

    /// Returns the index of an array of cells with the given JSON type.
    fn array(&self, json: &Json<'_>, kind: &'static str) -> Result<u32> {
        let given = json.get("type")?.str()?;
        if given != kind {
            return Err(json.error(format!("a '{kind}' is needed, not '{}'", clip(given))));
        }
        let names = match kind {
            "counter_array" => &self.declared.names.counters,
            "meter_array" => &self.declared.names.meters,
            "register_array" => &self.declared.names.registers,
            _ => &self.declared.names.calculations,
        };
        look_up(names, kind, &json.get("value")?)
    }

    /// Returns the index of the variable-length field that an argument names.
    fn variable_store(&self, json: &Json<'_>) -> Result<u32> {
        if json.get("type")?.str()? != "field" {
            return Err(json.error("assign_VL takes fields of headers that are not in a stack"));
        }
        let target = json.get("value")?;
        let [header, member] = target.tuple()?;
        let (id, field) = self.member(&header, &member)?;
        match (self.packet.headers[id as usize].vl, field) {
            (Some(store), Some(f)) if f.variable => Ok(store),
            _ => Err(json.error("is not a field of variable length")),
        }
    }

    fn lvalue(&self, json: &Json<'_>, params: Params<'_>) -> Result<Lvalue> {
        if json.get("type")?.str()? == "field" {
            let target = json.get("value")?;
            let [header, member] = target.tuple()?;
            if member.value.as_str() == Some("$valid$") {
                let id = look_up(&self.declared.names.headers, "header", &header)?;
                if self.packet.headers[id as usize].shown.is_none() {
                    return Err(json.error("validity is written with add_header and remove_header"));
                }
            }
            if let Some(field) = self.empty_field(&header, &member)? {
                return Ok(Lvalue::fixed(field));
            }
            return Ok(Lvalue::fixed(self.field(&target)?.0));
        }
        let first_param = params.first().map_or(Slot::MAX, |p| p.slot);
        match self.int(json, params)? {
            // Parameter slots come after header slots.
            Expr::Slot { slot, width, signed }
                if slot < first_param && (slot as usize) < self.packet.reset_end =>
            {
                Ok(Lvalue { header: None, at: slot, width, signed })
            }
            Expr::Field { header, off, width, signed } => {
                Ok(Lvalue { header: Some(header), at: off, width, signed })
            }
            _ => Err(json.error("is not an lvalue: it cannot be assigned to")),
        }
    }

    fn assign(&mut self, to: &Lvalue, value: &Expr) -> Result<()> {
        let Lvalue { ref header, at, width, signed } = *to;
        match header {
            _ if width == 0 => Ok(()),
            None => self.compiler.store(at, width, signed, value),
            Some(header) => {
                let words = number::words(width);
                let t = self.compiler.temp(words)?;
                self.compiler.store(t, width, signed, value)?;
                let h = self.compiler.header(header)?;
                let store = |word| Op::Store { h, off: at + word, a: t + word };
                (0..words).try_for_each(|word| self.compiler.emit(store(word)))
            }
        }
    }

    /// Emits an instruction that writes a value of at most 64 bits to an lvalue, or leaves the old value.
    fn write_lvalue(&mut self, to: &Lvalue, op: impl Fn(u8, Slot) -> Op) -> Result<()> {
        match to {
            Lvalue { header: None, at, width: 1..=64, signed: false } => {
                self.compiler.emit(op(to.width as u8, *at))
            }
            // The value is discarded, but the call may have a side effect.
            _ if to.width == 0 => self.compiler.emit(op(1, self.unused_slot)),
            _ => {
                let t = self.compiler.temp(1)?;
                let old = self.compiler.low64(&to.value(), to.width.min(64))?;
                self.compiler.emit(Op::Mov { w: 64, d: t, a: old })?;
                self.compiler.emit(op(to.width.min(64) as u8, t))?;
                self.assign(to, &Expr::Slot { slot: t, width: 64, signed: to.signed })
            }
        }
    }

    fn register_read(&mut self, json: &Json<'_>, params: Params<'_>) -> Result<()> {
        let [to, register, index] = json.get("parameters")?.tuple()?;
        let r = self.array(&register, "register_array")?;
        let to = self.lvalue(&to, params)?;
        let idx = self.scalar(&index, params)?;
        let width = self.declared.register_arrays[r as usize].bitwidth;
        if to.width == 0 {
            return Ok(());
        }
        if width <= 64 && to.width <= 64 {
            return self.write_lvalue(&to, |w, d| Op::RegisterRead { w, d, r, idx });
        }
        // An index out of range must leave the old value, regardless of its width.
        let words = number::words(width.max(to.width));
        let t = self.compiler.temp(words)?;
        self.compiler.store(t, 64 * words, false, &to.value())?;
        self.compiler.emit_cold(ColdOp::RegisterRead { d: t, words, r, idx })?;
        self.assign(&to, &Expr::Slot { slot: t, width: 64 * words, signed: false })
    }

    fn register_write(&mut self, json: &Json<'_>, params: Params<'_>) -> Result<()> {
        let [register, index, value] = json.get("parameters")?.tuple()?;
        let r = self.array(&register, "register_array")?;
        let idx = self.scalar(&index, params)?;
        let value = self.int(&value, params)?;
        let width = self.declared.register_arrays[r as usize].bitwidth;
        if width <= 64 {
            let a = self.compiler.low64(&value, width)?;
            return self.compiler.emit(Op::RegisterWrite { r, idx, a });
        }
        let words = number::words(width);
        let a = self.compiler.temp(words)?;
        self.compiler.store(a, 64 * words, false, &value)?;
        self.compiler.emit_cold(ColdOp::RegisterWrite { r, words, idx, a })
    }

    fn hash(&mut self, json: &Json<'_>, params: Params<'_>) -> Result<()> {
        let [to, base, calculation, size] = json.get("parameters")?.tuple()?;
        let id = self.array(&calculation, "calculation")?;
        if self.code.calculations[id as usize].payload {
            return Err(calculation.error("covers the payload, which is not supported in an action"));
        }
        let to = self.lvalue(&to, params)?;
        // BMv2 uses the low 64 bits of base and size.
        let low = |loader: &mut Self, argument: &Json<'_>| {
            let expr = loader.int(argument, params)?;
            let cut = loader.compiler.temp(1)?;
            argument.placed(loader.compiler.store(cut, 64, false, &expr))?;
            Ok::<Slot, LoadError>(cut)
        };
        let (base, size) = (low(self, &base)?, low(self, &size)?);
        let d = self.compiler.temp(1)?;
        let call = self.code.hash_calls.len() as u32;
        self.code.hash_calls.push(HashCall { calculation: id, d, base, size });
        self.compiler.emit(Op::Hash { call })?;
        self.assign(&to, &Expr::Slot { slot: d, width: 64, signed: false })
    }

    fn mark_to_drop(&mut self, header: &Json<'_>) -> Result<()> {
        let HeaderRef::Fixed(id) = self.header_ref(header, &[])? else {
            return Err(header.error("needs the standard metadata"));
        };
        let h = &self.packet.headers[id as usize];
        let ty = &self.packet.header_types[h.type_id as usize];
        let slot =
            |name: &str| ty.field(name).filter(|f| f.width <= 64).map(|f| (h.base + f.off, f.width as u8));
        let (egress_spec, w) = slot("egress_spec")
            .ok_or_else(|| header.error(format!("'{}' has no field 'egress_spec'", clip(&h.name))))?;
        let mcast_grp = slot("mcast_grp").map_or(self.unused_slot, |(slot, _)| slot);
        self.compiler.emit(Op::MarkToDrop { w, egress_spec, mcast_grp })
    }

    /// Emits a drop, with the field names that a target knows. It clears the multicast group if the program has that field.
    fn drop(&mut self, json: &Json<'_>) -> Result<()> {
        let named = |header, field| self.packet.field(&self.declared.names, header, field);
        let named = |header, field| named(header, field).filter(|f| f.width <= 64);
        let egress_spec = named("standard_metadata", "egress_spec")
            .ok_or_else(|| json.error("the program has no field 'standard_metadata.egress_spec'"))?;
        let mcast_grp = named("intrinsic_metadata", "mcast_grp").map_or(self.unused_slot, |f| f.slot);
        let (w, egress_spec) = (egress_spec.width as u8, egress_spec.slot);
        self.compiler.emit(Op::MarkToDrop { w, egress_spec, mcast_grp })
    }

    fn log_msg(&mut self, json: &Json<'_>, params: Params<'_>) -> Result<()> {
        let [format, values] = json.get("parameters")?.tuple()?;
        let format = format.get("value")?;
        let texts = log_texts(format.str()?).map_err(|e| format.error(e))?;
        let mut fields = Vec::new();
        // p4c emits {} for an empty list of values.
        let none = values.get("value")?.value.as_object().is_some_and(serde_json::Map::is_empty);
        let values = if none { Vec::new() } else { values.list("value")? };
        for value in values {
            let expr = self.int(&value, params)?;
            let Range { neg, pos } = expr.range();
            let signed = neg > 0;
            // Use whole words, so that the top bit is the sign of a signed value.
            let count = words(if signed { neg.max(pos + 1) } else { pos });
            let first = self.compiler.temp(count)?;
            value.placed(self.compiler.store(first, 64 * count, signed, &expr))?;
            fields.push(LogValue { first: first as usize, count: count as usize, signed });
        }
        let places = texts.len() - 1;
        if places != fields.len() {
            return Err(format.error(format!(
                "'{}' has {places} pairs of braces for {} values, and needs one for each; \\{{ and \\}} are braces of the text",
                clip(format.str()?),
                fields.len()
            )));
        }
        let call = self.code.log_calls.len() as u32;
        self.code.log_calls.push(LogCall { texts, values: fields });
        self.compiler.emit(Op::Log { call })
    }
}

/// Returns the texts in front of, between and behind the places of a format string. A place is a pair of braces with anything
/// between them.
fn log_texts(format: &str) -> std::result::Result<Vec<String>, String> {
    let mut texts = Vec::new();
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '\\']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\\') {
            // A backslash in front of anything but a brace is text.
            let escape = usize::from(after.starts_with(['{', '}']));
            text.push_str(&rest[escape..=escape]);
            rest = &rest[escape + 1..];
        } else {
            let end = rest.find('}').ok_or_else(|| {
                format!(
                    "'{}' opens a brace that it does not close; write \\{{ for a brace of the text",
                    clip(format)
                )
            })?;
            texts.push(std::mem::take(&mut text));
            rest = &rest[end + 1..];
        }
    }
    text.push_str(rest);
    texts.push(text);
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::log_texts;

    #[test]
    fn a_place_is_a_pair_of_braces_with_all_that_is_between_them() {
        assert_eq!(log_texts("a {} b {name}.").unwrap(), ["a ", " b ", "."]);
        assert_eq!(log_texts("{{}} }").unwrap(), ["", "} }"]);
    }

    #[test]
    fn escaped_braces_and_other_backslashes_are_text() {
        assert_eq!(log_texts(r"\{x\} \n{}\").unwrap(), [r"{x} \n", r"\"]);
    }
}
