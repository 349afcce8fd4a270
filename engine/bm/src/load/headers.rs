//! Loads header types, header instances and stacks, and determines the order of a packet's slots.

use std::collections::HashMap;

use super::compile::expression::HeaderRef;
use super::compile::Compiler;
use super::json::Json;
use super::limits::Limits;
use super::{actions, look_up, new_name, unions, Loader, Result};
use crate::error::clip;
use crate::number::words;
use crate::program::{
    Code, Declared, Field, FieldDef, Header, HeaderType, Layout, Names, PacketLayout, Slot, VlStore,
};

/// Maximum length of a header with a variable-length field, in bytes.
const MAX_VARIABLE_BYTES: u64 = 65_536;

impl<'a> Loader<'a> {
    /// Lays out the packet: metadata, headers, stacks, then space for conditions, parameters and temporaries.
    pub(super) fn with_headers(root: &Json<'a>) -> Result<Loader<'a>> {
        let limits = root.limits;
        let mut header_types = Vec::new();
        let mut header_type_ids = HashMap::new();
        for json in root.list("header_types")? {
            let name = new_name(&mut header_type_ids, &json)?;
            header_types.push(load_type(name, &json)?);
        }

        let (mut stacks, mut stack_ids) = (Vec::new(), HashMap::new());
        let instances = unions::instances(root, false, &header_type_ids, &mut stacks, &mut stack_ids)?;
        let mut names = Names::default();
        let mut headers: Vec<Header> = Vec::new();
        for (json, type_id) in &instances.list {
            let name = new_name(&mut names.headers, json)?;
            let metadata = json.get("metadata")?.bool()?;
            headers.push(Header { name, type_id: *type_id, metadata, ..Header::default() });
        }

        let (union_types, union_type_ids) = unions::load_types(root, &header_type_ids)?;
        let union_instances = unions::instances(root, true, &union_type_ids, &mut stacks, &mut stack_ids)?;
        let (unions, union_ids) = unions::load(&union_instances, &union_types, &headers, &instances)?;
        for (id, union) in (0..).zip(&unions) {
            union.members.iter().for_each(|&member| headers[member as usize].union = Some(id));
        }

        let mut next: Slot = 0;
        let too_large = || {
            root.error(format!("headers need more than {} machine words, the limit", limits.max_phv_words))
        };
        let mut take = |words: u32| {
            let slot = next;
            next = next.checked_add(words).filter(|&n| n as usize <= limits.max_phv_words)?;
            Some(slot)
        };
        for header in headers.iter_mut().filter(|h| h.metadata) {
            header.base = take(header_types[header.type_id as usize].words).ok_or_else(too_large)?;
        }
        let metadata_end = take(0).ok_or_else(too_large)?;
        // The words that are saved for most packets are adjacent: validity first, then headers by ascending length.
        for header in headers.iter_mut().filter(|h| !h.metadata) {
            header.valid = take(1).ok_or_else(too_large)?;
        }
        for stack in &mut stacks {
            stack.next = take(1).ok_or_else(too_large)?;
        }
        let words = |header: &Header| header_types[header.type_id as usize].words;
        let mut by_length: Vec<&mut Header> = headers.iter_mut().filter(|h| !h.metadata).collect();
        by_length.sort_by_key(|header| words(header));
        for header in by_length {
            header.base = take(words(header)).ok_or_else(too_large)?;
        }
        let mut vl_stores = Vec::new();
        let mut vl_bytes = 0;
        for header in &mut headers {
            let ty = &header_types[header.type_id as usize];
            if let Some((field, _)) = &ty.variable {
                header.vl = Some(vl_stores.len() as u32);
                let capacity = (ty.max_bytes - ty.fixed_bytes()) as usize;
                let length = header.base + ty.fields[*field].off;
                vl_stores.push(VlStore { start: vl_bytes, capacity, length });
                vl_bytes += capacity;
                if vl_bytes / 8 > limits.max_phv_words {
                    return Err(too_large());
                }
            }
        }
        for json in set_as_fields(root)? {
            let id = look_up(&names.headers, "header", &json)?;
            let in_stack = stacks.iter().any(|s| !s.of_unions && (s.first..s.first + s.size).contains(&id));
            let header = &mut headers[id as usize];
            if header.metadata || header.union.is_some() || in_stack {
                return Err(json.error(
                    "validity of metadata, and of elements of stacks and unions, is not set as a field",
                ));
            }
            if header.shown.is_none() {
                header.shown = Some(take(1).ok_or_else(too_large)?);
            }
        }
        let reset_end = take(0).ok_or_else(too_large)?;
        let condition_slot = take(2).ok_or_else(too_large)?;
        let param_base = condition_slot + 2;
        let (action_sources, action_ids, infos, param_words) = actions::load_signatures(root, param_base)?;
        take(param_words).ok_or_else(too_large)?;
        let unused_slot = take(1).ok_or_else(too_large)?;
        let mut compiler = Compiler::new(unused_slot + 1, limits.max_instructions);
        // Metadata is always valid.
        let one = compiler.constant(1);
        for header in headers.iter_mut().filter(|h| h.metadata) {
            header.valid = one;
        }

        let packet = PacketLayout {
            header_types,
            headers,
            stacks,
            unions,
            vl_stores,
            vl_bytes,
            metadata_end: metadata_end as usize,
            reset_end: reset_end as usize,
            param_base: param_base as usize,
            condition_slot,
            ..PacketLayout::default()
        };
        let Limits { max_steps, max_parser_steps, .. } = *limits;
        Ok(Loader {
            compiler,
            packet,
            code: Code { max_steps, max_parser_steps, ..Code::default() },
            declared: Declared { names, actions: infos, ..Declared::default() },
            union_types,
            unused_slot,
            stack_ids,
            union_ids,
            action_sources,
            action_ids,
            asserts: 0,
            cells: 0,
        })
    }

    /// Loads the names that a target uses for fields with other names in the program.
    pub(super) fn load_aliases(&mut self, root: &Json<'_>) -> Result<()> {
        for json in root.list("field_aliases")? {
            let [alias, target] = json.tuple()?;
            let name = alias.str()?;
            let Some((header, field)) = name.rsplit_once('.') else {
                return Err(alias.error(format!("'{}' is not of the form header.field", clip(name))));
            };
            let (field_place, _) = self.field(&target)?;
            let alias = (header.to_owned(), field.to_owned());
            if self
                .declared
                .names
                .aliases
                .insert(alias, field_place)
                .is_some_and(|other| other != field_place)
            {
                return Err(json.error("another alias of this name is of another field; keep one of them"));
            }
        }
        Ok(())
    }

    /// Returns the id of a header, and its field of this name, if it has one.
    pub(super) fn member(&self, header: &Json<'_>, member: &Json<'_>) -> Result<(u32, Option<&FieldDef>)> {
        let id = look_up(&self.declared.names.headers, "header", header)?;
        let ty = &self.packet.header_types[self.packet.headers[id as usize].type_id as usize];
        Ok((id, ty.field(member.str()?)))
    }

    /// Returns the field that a `[header, member]` tuple names, and its header.
    pub(super) fn field(&self, json: &Json<'_>) -> Result<(Field, u32)> {
        let [header, member] = json.tuple()?;
        let (id, field) = self.member(&header, &member)?;
        let h = &self.packet.headers[id as usize];
        let name = member.str()?;
        if name == "$valid$" {
            return Ok((Field { slot: h.shown.unwrap_or(h.valid), width: 1, signed: false }, id));
        }
        let f = field
            .ok_or_else(|| json.error(format!("header '{}' has no field '{}'", clip(&h.name), clip(name))))?;
        if f.variable {
            return Err(json.error(format!(
                "'{}.{}' has a variable length and has no value here; it can be assigned with assign_VL, \
                 deparsed and covered by a calculation",
                clip(&h.name),
                clip(name)
            )));
        }
        if f.width == 0 {
            return Err(json.error(format!(
                "'{}.{}' has no bits, and can be extracted, deparsed, read, assigned and hashed only",
                clip(&h.name),
                clip(name)
            )));
        }
        Ok((Field { slot: h.base + f.off, width: f.width as u16, signed: f.signed }, id))
    }

    /// Returns the field if it is a `bit<0>`, without bits; it is 0 regardless of assignments. Returns `None` for other fields.
    pub(super) fn empty_field(&self, header: &Json<'_>, member: &Json<'_>) -> Result<Option<Field>> {
        let found = self.member(header, member)?.1.filter(|f| f.width == 0 && !f.variable);
        Ok(found.map(|_| Field { slot: self.unused_slot, width: 0, signed: false }))
    }

    /// Returns the slots of a header's validity and of its shown validity, if a parser sets its validity as a field.
    pub(super) fn shown(&self, header: &HeaderRef) -> Option<(Slot, Slot)> {
        let HeaderRef::Fixed(id) = header else { return None };
        let header = &self.packet.headers[*id as usize];
        header.shown.map(|shown| (header.valid, shown))
    }
}

/// Returns the headers whose validity a parser sets as a field; p4c generated `setValid` in this form until 2018. In BMv2 only
/// conditions read that validity: such a header is not deparsed.
fn set_as_fields<'a>(root: &Json<'a>) -> Result<Vec<Json<'a>>> {
    let mut found = Vec::new();
    for parser in root.list("parsers")? {
        for state in parser.list("parse_states")? {
            for op in state.instructions("parser_ops")? {
                if op.get("op")?.str()? != "set" {
                    continue;
                }
                let [to, _] = op.get("parameters")?.tuple()?;
                let to = to.get("value")?;
                let [header, member] = to.tuple()?;
                if member.value.as_str() == Some("$valid$") {
                    found.push(header);
                }
            }
        }
    }
    Ok(found)
}

/// Returns a boolean; p4c emits 0 for the sign of a bool field.
fn flag(json: &Json<'_>) -> Result<bool> {
    match json.value.as_u64() {
        Some(number @ 0..=1) => Ok(number == 1),
        _ => json.bool(),
    }
}

fn load_type(name: String, json: &Json<'_>) -> Result<HeaderType> {
    if json.opt("length_exp")?.is_some() {
        return Err(json.error("'length_exp' (P4-14 variable-length headers) is not supported"));
    }
    let mut fields: Vec<FieldDef> = Vec::new();
    let mut index = HashMap::new();
    let mut off = 0;
    let mut variable = None;
    for f in json.list("fields")? {
        let parts = f.array()?;
        let [field_name, width, rest @ ..] = &parts[..] else {
            return Err(f.error("a field is [name, width] or [name, width, signed]"));
        };
        let signed = rest.first().map_or(Ok(false), flag)?;
        if rest.get(1).map_or(Ok(false), flag)? {
            return Err(f.error("saturating fields are not supported"));
        }
        let field_name = field_name.str()?;
        let is_variable = width.value.as_str() == Some("*");
        let bits = if is_variable { 0 } else { width.u64()? };
        let widest = json.limits.widest();
        if !is_variable && bits > widest {
            return Err(f.error(format!(
                "field '{}' is {bits} bits wide; fields of up to {widest} bits are supported",
                clip(field_name)
            )));
        }
        if is_variable && variable.replace(fields.len()).is_some() {
            return Err(f.error("a second variable-length field in one header type"));
        }
        if index.insert(field_name.to_owned(), fields.len()).is_some() {
            return Err(f.error(format!("the field '{}' is there twice", clip(field_name))));
        }
        fields.push(FieldDef {
            name: field_name.to_owned(),
            width: bits as u32,
            signed,
            off,
            variable: is_variable,
        });
        off += words(bits as u32);
    }
    let split = variable.unwrap_or(fields.len());
    let bits = |part: &[FieldDef]| part.iter().map(|f| f.width).sum::<u32>();
    let before_bits = bits(&fields[..split]);
    let after = &fields[(split + 1).min(fields.len())..];
    let whole_bytes = before_bits % 8 == 0 && bits(after) % 8 == 0;
    if variable.is_some() && !whole_bytes {
        return Err(
            json.error("a variable-length field that does not begin and end at whole bytes is not supported")
        );
    }
    let before = Layout::new(&fields[..split]);
    let after = Layout::new(after);
    let mut max_bytes = 0;
    if variable.is_some() {
        let given = json.get("max_length")?;
        max_bytes = given.number(MAX_VARIABLE_BYTES)? as u32;
        if max_bytes < before.bytes + after.bytes {
            return Err(given.error("is less than the header's fixed fields need"));
        }
    }
    Ok(HeaderType {
        name,
        words: off,
        before,
        variable: variable.map(|at| (at, after)),
        max_bytes,
        whole_bytes,
        index,
        fields,
    })
}
