//! How JSON Schemas differ from what serde reads: a description is read in two steps, what all kinds have and then the rest by
//! kind; in its schema both are one object for each kind.

use schemars::{json_schema, Schema, SchemaGenerator};
use serde_json::{json, Value};

use crate::fields::Head;

/// Puts what [`Head`] reads of `kind` into its schema.
pub(crate) fn application(kind: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let head = SchemaGenerator::default().into_root_schema_for::<Head<'_>>();
        let (Some(Value::Object(shared)), Some(Value::Object(own))) =
            (head.get("properties").cloned(), schema.get_mut("properties"))
        else {
            return;
        };
        // A kind has no field that it does not name.
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

/// Adds to a report's schema which kind it is of. The report of every application has its kind beside what the kind measures.
pub(crate) fn kind(name: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        if let Some(Value::Object(own)) = schema.get_mut("properties") {
            own.insert("kind".into(), json!({"const": name, "type": "string"}));
        }
    }
}

/// Returns the schema of TCP's settings: the reader is the crate that runs it.
pub(crate) fn tcp(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"$ref": "#/$defs/TcpSpec"}, {"type": "null"}]})
}
