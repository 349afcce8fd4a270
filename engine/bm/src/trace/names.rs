//! Names for events: the edge between dense numbers and readers.

use serde_json::{json, Value};

use super::{Event, Hit, KeyMatch, Place};
use crate::program::Program;

fn name<'a, T>(items: &'a [T], at: u32, of: impl Fn(&'a T) -> &'a str) -> &'a str {
    items.get(at as usize).map_or("?", of)
}

impl Place {
    /// As in the JSON: `ipv4.ttl`, `ipv4.$valid$`.
    pub fn name(self, program: &Program) -> String {
        match self {
            Place::Field { header, field } => {
                let h = &program.headers[header as usize];
                let fields = &program.header_types[h.type_id as usize].fields;
                format!("{}.{}", h.name, name(fields, field, |f| &f.name))
            }
            Place::Valid { header } => format!("{}.$valid$", program.headers[header as usize].name),
        }
    }

    /// Width in bits; 0 for a field of variable length, whose value is its length in bytes.
    pub fn width(self, program: &Program) -> u32 {
        match self {
            Place::Field { header, field } => {
                let h = &program.headers[header as usize];
                program.header_types[h.type_id as usize].fields[field as usize].width
            }
            Place::Valid { .. } => 1,
        }
    }
}

impl Event {
    /// An object whose member `event` says what it is. Numbers of the JSON's lists (`state`, `conditional`, `action_index`,
    /// `primitive`) let a reader find the place in the source; everything else is named.
    pub fn to_json(&self, program: &Program) -> Value {
        match self {
            Event::State { parser, state } => {
                json!({"event": "state", "parser": name(&program.parsers, *parser, |p| &p.name), "state": state})
            }
            Event::Extract { header, offset, bytes, fields } => {
                let h = &program.headers[*header as usize];
                let of = &program.header_types[h.type_id as usize].fields;
                let fields: Vec<Value> = of
                    .iter()
                    .zip(fields)
                    .map(|(f, value)| json!({"name": f.name, "width": f.width, "value": value}))
                    .collect();
                json!({"event": "extract", "header": h.name, "offset": offset, "bytes": bytes, "fields": fields})
            }
            Event::Select { fields, values } => {
                let parts: Vec<Value> = fields
                    .iter()
                    .zip(values)
                    .map(|(f, value)| {
                        json!({"name": f.map(|f| f.name(program)), "width": f.map(|f| f.width(program)), "value": value})
                    })
                    .collect();
                json!({"event": "select", "key": parts})
            }
            Event::Condition { pipeline, conditional, holds } => json!({
                "event": "condition",
                "pipeline": name(&program.pipelines, *pipeline, |p| &p.name),
                "conditional": conditional,
                "holds": holds,
            }),
            Event::Table { table, key, hit, group, hash, member } => {
                let info = &program.tables[*table as usize];
                let parts: Vec<Value> = info
                    .key
                    .iter()
                    .zip(key)
                    .map(|(k, value)| json!({"name": k.name, "width": k.bitwidth, "value": value}))
                    .collect();
                json!({
                    "event": "table",
                    "table": info.name,
                    "key": parts,
                    "hit": hit.as_ref().map(Hit::to_json),
                    "profile": info.action_profile,
                    "group": group.map(|(group, _)| group),
                    "members": group.map(|(_, members)| members),
                    "hash": hash,
                    "member": member,
                })
            }
            Event::Action { action, params } => {
                let info = &program.actions[*action as usize];
                let params: Vec<Value> = info
                    .params
                    .iter()
                    .zip(params)
                    .map(|(p, value)| json!({"name": p.name, "width": p.bitwidth, "value": value}))
                    .collect();
                json!({"event": "action", "action": info.name, "action_index": action, "params": params})
            }
            Event::Statement { action, primitive } => {
                json!({"event": "statement", "action_index": action, "primitive": primitive})
            }
            Event::Branch { holds } => json!({"event": "branch", "holds": holds}),
            Event::Set { place, old, new } => json!({
                "event": "set",
                "field": place.name(program),
                "width": place.width(program),
                "old": old,
                "new": new,
            }),
            Event::RegisterRead { register, index, value } => json!({
                "event": "register_read",
                "register": name(&program.register_arrays, *register, |r| &r.name),
                "index": index,
                "value": value,
            }),
            Event::RegisterWrite { register, index, change } => json!({
                "event": "register_write",
                "register": name(&program.register_arrays, *register, |r| &r.name),
                "index": index,
                "old": change.map(|(old, _)| old),
                "new": change.map(|(_, new)| new),
            }),
            Event::Count { counter, index, value } => json!({
                "event": "count",
                "counter": name(&program.counter_arrays, *counter, |c| &c.name),
                "index": index,
                "packets": value.map(|v| v.packets),
                "bytes": value.map(|v| v.bytes),
            }),
            Event::Meter { meter, index, colour } => json!({
                "event": "meter",
                "meter": name(&program.meter_arrays, *meter, |m| &m.name),
                "index": index,
                "colour": colour,
            }),
            Event::Hash { result, base, size } => {
                json!({"event": "hash", "result": result, "base": base, "size": size})
            }
            Event::Random { low, high, drawn } => {
                json!({"event": "random", "low": low, "high": high, "drawn": drawn})
            }
            Event::Request { primitive, arguments } => {
                json!({"event": "request", "primitive": primitive, "arguments": arguments})
            }
            Event::Exit => json!({"event": "exit"}),
        }
    }
}

impl Hit {
    fn to_json(&self) -> Value {
        let key: Vec<Value> = self
            .key
            .iter()
            .map(|k| match k {
                KeyMatch::Masked(value, mask) => json!({"value": value, "mask": mask}),
                KeyMatch::Range(first, last) => json!({"first": first, "last": last}),
            })
            .collect();
        json!({
            "handle": self.handle,
            "key": key,
            "prefix_length": self.prefix_length,
            "priority": self.priority,
        })
    }
}
