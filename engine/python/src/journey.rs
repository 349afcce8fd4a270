//! A followed packet's journey as JSON: the engine's steps and events under their names.

use serde_json::{json, Map, Value};
use simple_switch::{Journey, Step, What};
use units::Time;

/// The whole journey; what its members mean is in `eeon_engine/_engine.pyi`.
pub(crate) fn to_json(journey: &Journey, program: &bm::Program) -> String {
    let steps: Vec<Value> = journey.steps.iter().map(|step| of_step(step, program)).collect();
    json!({"steps": steps, "is_cut": journey.is_cut, "inside": journey.inside}).to_string()
}

fn of_step(step: &Step, program: &bm::Program) -> Value {
    let mut object = Map::new();
    object.insert("packet".into(), json!(step.packet));
    object.insert("at_ps".into(), json!(step.at.as_ps()));
    let (name, members) = of_what(&step.what, program);
    object.insert("step".into(), json!(name));
    if let Value::Object(members) = members {
        object.extend(members);
    }
    Value::Object(object)
}

fn of_what(what: &What, program: &bm::Program) -> (&'static str, Value) {
    let events =
        |events: &[bm::trace::Event]| -> Vec<Value> { events.iter().map(|e| e.to_json(program)).collect() };
    match what {
        What::Arrived { port, frame } => ("arrived", json!({"port": port, "frame": hex(frame)})),
        What::Parsed { events: parsed, error, checksums_hold } => (
            "parsed",
            json!({
                "events": events(parsed),
                "error": error_name(program, *error),
                "checksums_hold": checksums_hold,
            }),
        ),
        What::Ran { egress, events: ran, values, fault } => {
            let values: Map<String, Value> =
                values.iter().map(|(place, value)| (place.name(program), json!(value))).collect();
            (
                if *egress { "egress" } else { "ingress" },
                json!({
                    "events": events(ran),
                    "values": values,
                    "fault": fault.as_ref().map(ToString::to_string),
                }),
            )
        }
        What::Copied { to } => ("copied", json!({"to": to})),
        What::NotCopied { cause } => ("not_copied", json!({"cause": cause.name()})),
        What::Clone { session, egress } => ("clone", json!({"session": session, "egress": egress})),
        What::NoCloneSession { session } => ("no_clone_session", json!({"session": session})),
        What::Replica { group, rid, port } => ("replica", json!({"group": group, "rid": rid, "port": port})),
        What::Resubmitted => ("resubmitted", json!({})),
        What::Queued { port, priority, packets_ahead, bytes_ahead, gate_opens, wire_free } => (
            "queued",
            json!({
                "port": port,
                "priority": priority,
                "packets_ahead": packets_ahead,
                "bytes_ahead": bytes_ahead,
                "gate_opens_ps": (*gate_opens != Time::MAX).then(|| gate_opens.as_ps()),
                "wire_free_ps": wire_free.as_ps(),
            }),
        ),
        What::Dequeued { port } => ("dequeued", json!({"port": port})),
        What::Deparsed { events: changes } => ("deparsed", json!({"events": events(changes)})),
        What::Recirculated { back_at } => ("recirculated", json!({"back_at_ps": back_at.as_ps()})),
        What::Dropped { port, cause } => ("dropped", json!({"port": port, "cause": cause.name()})),
        What::Sent { port, wire_time, frame } => {
            ("sent", json!({"port": port, "wire_time_ps": wire_time.as_ps(), "frame": hex(frame)}))
        }
    }
}

/// The program's name of a parser error; BMv2's number for one that the program does not list.
fn error_name(program: &bm::Program, code: u32) -> String {
    let found = program.errors().entries.iter().find(|(_, value)| *value == u64::from(code));
    found.map_or_else(|| format!("error {code}"), |(name, _)| name.clone())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
