//! Loads declarations other than headers and control flow: errors, enums, lists, arrays, calculations, checksums, value sets.

use std::collections::HashSet;

use super::json::Json;
use super::{add_name, look_up, new_name, Ids, Loader, Result};
use crate::error::clip;
use crate::number::{parse_cut, words};
use crate::program::{
    join_fields, Algorithm, Calculation, Checksum, CoreErrors, CounterInfo, Field, FieldList, FieldListInfo,
    Input, MeterInfo, Op, ParseVsetInfo, RegisterInfo, UNLISTED_ERROR,
};

fn load_constants(json: &Json<'_>, key: &str) -> Result<Vec<(String, u64)>> {
    let (mut names, mut values) = (Ids::new(), HashSet::new());
    let mut constants = Vec::new();
    for entry in json.list(key)? {
        let parts = entry.array()?;
        let [name, value, ..] = &parts[..] else {
            return Err(entry.error("a constant is [name, value]"));
        };
        let number = value.number(u64::from(UNLISTED_ERROR) - 1)?;
        add_name(&mut names, &entry, name.str()?)?;
        if !values.insert(number) {
            return Err(value.error(format!("{number} is there twice; give each name its own value")));
        }
        constants.push((name.str()?.to_owned(), number));
    }
    Ok(constants)
}

/// Returns the program's errors, and the values of the core library's among them.
pub(super) fn load_errors(root: &Json<'_>) -> Result<(Vec<(String, u64)>, CoreErrors)> {
    let entries = load_constants(root, "errors")?;
    let value =
        |name: &str| entries.iter().find(|(n, _)| n == name).map_or(UNLISTED_ERROR, |&(_, v)| v as u32);
    let core = CoreErrors {
        no_error: value("NoError"),
        packet_too_short: value("PacketTooShort"),
        stack_out_of_bounds: value("StackOutOfBounds"),
        header_too_short: value("HeaderTooShort"),
        parser_timeout: value("ParserTimeout"),
        parser_invalid_argument: value("ParserInvalidArgument"),
    };
    Ok((entries, core))
}

/// Checks the enums; instructions contain their values.
pub(super) fn check_enums(root: &Json<'_>) -> Result<()> {
    let mut names = Ids::new();
    for json in root.list("enums")? {
        new_name(&mut names, &json)?;
        load_constants(&json, "entries")?;
    }
    Ok(())
}

impl Loader<'_> {
    /// Loads field lists or learn lists.
    pub(super) fn load_lists(&mut self, root: &Json<'_>, kind: &str) -> Result<Vec<FieldListInfo>> {
        let lists = root.list(kind)?;
        let load = |json: &Json<'_>| {
            let (id, name) = (json.id()?, json.get("name")?.str()?.to_owned());
            Ok(FieldListInfo { name, id, list: self.load_list(json)? })
        };
        lists.iter().map(load).collect()
    }

    fn load_list(&mut self, json: &Json<'_>) -> Result<FieldList> {
        let mut fields = Vec::new();
        for element in json.list("elements")? {
            match element.get("type")?.str()? {
                "field" => fields.push(self.field(&element.get("value")?)?.0),
                // A constant is nothing that the packet has; p4c copies it to a field first.
                other => {
                    return Err(
                        element.error(format!("an element of type '{}' is not supported", clip(other)))
                    );
                }
            }
        }
        self.packet.lists.push(fields);
        Ok(FieldList(self.packet.lists.len() as u32 - 1))
    }

    /// Loads registers, counters and meters.
    pub(super) fn load_arrays(&mut self, root: &Json<'_>) -> Result<()> {
        for json in root.list("register_arrays")? {
            let name = new_name(&mut self.declared.names.registers, &json)?;
            let bitwidth = json.get("bitwidth")?.width("registers")?;
            let size = json.get("size")?.number(json.limits.max_cells as u64)? as usize;
            self.take_cells(&json, size.saturating_mul(words(bitwidth) as usize))?;
            self.declared.register_arrays.push(RegisterInfo { name, id: json.id()?, size, bitwidth });
        }
        for json in root.list("counter_arrays")? {
            let name = new_name(&mut self.declared.names.counters, &json)?;
            let (size, direct_table) = self.size_or_table(&json)?;
            self.declared.counter_arrays.push(CounterInfo { name, id: json.id()?, size, direct_table });
        }
        for json in root.list("meter_arrays")? {
            let name = new_name(&mut self.declared.names.meters, &json)?;
            let (size, direct_table) = self.size_or_table(&json)?;
            let kind = json.get("type")?;
            let bytes = match kind.str()? {
                "bytes" => true,
                "packets" => false,
                other => return Err(kind.error(format!("'{}' is neither bytes nor packets", clip(other)))),
            };
            let rate_count = json.get("rate_count")?.number(16)? as usize;
            let id = json.id()?;
            self.declared.meter_arrays.push(MeterInfo { name, id, size, bytes, rate_count, direct_table });
        }
        Ok(())
    }

    fn size_or_table(&mut self, json: &Json<'_>) -> Result<(usize, Option<String>)> {
        if json.get("is_direct")?.bool()? {
            return Ok((0, Some(json.get("binding")?.str()?.to_owned())));
        }
        let size = json.get("size")?.number(json.limits.max_cells as u64)? as usize;
        self.take_cells(json, size)?;
        Ok((size, None))
    }

    pub(super) fn load_calculations(&mut self, root: &Json<'_>) -> Result<()> {
        for json in root.list("calculations")? {
            new_name(&mut self.declared.names.calculations, &json)?;
            let calculation = self.load_calculation(&json)?;
            self.code.calculations.push(calculation);
        }
        Ok(())
    }

    /// Loads a calculation; action selectors use it, too.
    pub(super) fn load_calculation(&self, json: &Json<'_>) -> Result<Calculation> {
        let given = json.get("algo")?;
        let algorithm = Algorithm::named(given.str()?).ok_or_else(|| {
            given.error(format!(
                "hash '{}' is not supported; these are: {}",
                clip(given.str().unwrap_or("")),
                Algorithm::NAMES
            ))
        })?;
        let mut inputs = Vec::new();
        let mut payload = false;
        for input in json.list("input")? {
            if payload {
                return Err(input.error("an input after the payload is not supported"));
            }
            match input.get("type")?.str()? {
                "field" => inputs.extend(self.load_field_input(&input)?),
                "hexstr" => {
                    let bits = input.get("bitwidth")?.width("constants")?;
                    let value = parse_cut(input.get("value")?.str()?, bits).map_err(|e| input.error(e))?;
                    inputs.push(Input::Constant { value, width: bits });
                }
                "header" => {
                    let header = look_up(&self.declared.names.headers, "header", &input.get("value")?)?;
                    let h = &self.packet.headers[header as usize];
                    if !self.packet.header_types[h.type_id as usize].whole_bytes {
                        return Err(input.error(format!("header '{}' is not whole bytes", clip(&h.name))));
                    }
                    inputs.push(Input::Header { header, valid: h.valid });
                }
                "payload" => payload = true,
                other => {
                    return Err(input.error(format!("an input of type '{}' is not supported", clip(other))))
                }
            }
        }
        Ok(Calculation { algorithm, inputs: join_fields(&inputs), payload })
    }

    /// Returns the input for a field, or `None` for a field without bits.
    fn load_field_input(&self, input: &Json<'_>) -> Result<Option<Input>> {
        let target = input.get("value")?;
        let [header, member] = target.tuple()?;
        let (id, field) = self.member(&header, &member)?;
        let h = &self.packet.headers[id as usize];
        match h.vl {
            Some(store) if field.is_some_and(|f| f.variable) => {
                Ok(Some(Input::Variable { store, valid: h.valid }))
            }
            _ if self.empty_field(&header, &member)?.is_some() => Ok(None),
            _ => Ok(Some(Input::Field { field: self.field(&target)?.0, valid: h.valid })),
        }
    }

    pub(super) fn load_checksums(&mut self, root: &Json<'_>) -> Result<()> {
        for json in root.list("checksums")? {
            let kind = json.get("type")?;
            if kind.str()? != "generic" {
                return Err(kind.error(format!("checksum type '{}' is not supported", clip(kind.str()?))));
            }
            let (target, header): (Field, u32) = self.field(&json.get("target")?)?;
            let calculation =
                look_up(&self.declared.names.calculations, "calculation", &json.get("calculation")?)?;
            let (update, verify) = (json.flag("update", true)?, json.flag("verify", true)?);
            let condition = match json.opt("if_cond")? {
                None => None,
                Some(condition) => {
                    let pc = self.compiler.pc();
                    self.compiler.release_temps();
                    let parsed = self.condition(&condition, &[])?;
                    let a = condition.placed(self.compiler.boolean(&parsed))?;
                    let d = self.packet.condition_slot;
                    self.compiler.emit(Op::Mov { w: 64, d, a })?;
                    self.compiler.emit(Op::Halt)?;
                    Some(pc)
                }
            };
            let valid = self.packet.headers[header as usize].valid;
            self.code.checksums.push(Checksum { target, valid, calculation, update, verify, condition });
        }
        Ok(())
    }

    pub(super) fn load_vsets(&mut self, root: &Json<'_>) -> Result<()> {
        for json in root.list("parse_vsets")? {
            let name = new_name(&mut self.declared.names.vsets, &json)?;
            let bitwidth = json.get("compressed_bitwidth")?.width("value sets")?;
            self.declared.parse_vsets.push(ParseVsetInfo { name, id: json.id()?, bitwidth });
        }
        Ok(())
    }
}
