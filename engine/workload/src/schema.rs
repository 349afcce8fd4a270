//! Differences between JSON Schemas and what serde reads. A description is read in two steps, first the common fields
//! and then those of its kind; in its schema, each kind is one object.

use schemars::{json_schema, Schema, SchemaGenerator};
use serde_json::{json, Value};

use crate::fields::Head;

/// Adds the fields that [`Head`] reads to the schema of `kind`.
pub(crate) fn application(kind: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let head = SchemaGenerator::default().into_root_schema_for::<Head<'_>>();
        let (Some(Value::Object(shared)), Some(Value::Object(own))) =
            (head.get("properties").cloned(), schema.get_mut("properties"))
        else {
            return;
        };
        // A kind has only the common fields that it lists.
        own.extend(shared.into_iter().filter(|(name, _)| own.contains_key(name)).collect::<Vec<_>>());
        if let Some(Value::Object(member)) = own.get_mut("kind") {
            member.insert("const".into(), json!(kind));
        }
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut names = vec![json!("kind"), json!("name")];
        names.extend(required.into_iter().filter(|name| name != "kind" && name != "name"));
        schema.insert("required".into(), Value::Array(names));
    }
}

/// Adds the kind to a report's schema. In the report of an application, the kind is beside its measurements.
pub(crate) fn kind(name: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        if let Some(Value::Object(own)) = schema.get_mut("properties") {
            own.insert("kind".into(), json!({"const": name, "type": "string"}));
        }
    }
}

/// Returns a reference to the schema of TCP settings, which the crate that runs TCP defines.
pub(crate) fn tcp(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"$ref": "#/$defs/TcpSpec"}, {"type": "null"}]})
}
