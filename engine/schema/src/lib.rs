//! One JSON Schema of every type that crosses between Rust and Python, made of the Rust types themselves.
//!
//! The types have one definition, in Rust: the crates that own them derive their schema under the feature `schema`, which nothing
//! that ships turns on. `schema.json` beside this crate is what [`document`] gives, and `python_types.py` makes the Python types
//! of it (`engine/python/eeon_engine/json_types.py`). `make reference` writes both, and a test of each fails when it is old.
//!
//! A type appears as Python sees it: what Python writes may leave out members that have a default, what Rust writes may leave
//! out only what it says it leaves out.

#![forbid(unsafe_code)]

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{json, Map, Value};

/// Returns the schema of all types, by name.
///
/// # Panics
///
/// When two types that differ have one name: they would be one class in Python.
pub fn document() -> Value {
    let mut specs = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    netsim::schema::add_specs(&mut specs);
    let mut reports = SchemaSettings::draft2020_12().for_serialize().into_generator();
    netsim::schema::add_report(&mut reports);
    reports.subschema_for::<traffic::playback::PlaybackReport>();
    reports.subschema_for::<simple_switch::Journey>();
    reports.subschema_for::<simple_switch::SwitchStats>();
    reports.subschema_for::<simple_switch::PortStats>();
    reports.subschema_for::<live::LiveCounts>();
    let mut definitions = Map::new();
    for (name, schema) in taken(&mut specs).into_iter().chain(taken(&mut reports)) {
        let known = definitions.insert(name.clone(), schema.clone());
        assert!(known.is_none_or(|known| known == schema), "two types are named {name}; rename one of them");
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What crosses between Rust and Python",
        "$defs": definitions,
    })
}

fn taken(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut definitions = generator.take_definitions(true);
    definitions.values_mut().for_each(name_variants);
    definitions
}

/// Names what a tag tells apart: a step "not_copied" becomes the class `NotCopiedStep`.
fn name_variants(definition: &mut Value) {
    let variants = definition.get_mut("oneOf").and_then(Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        for (tag, kind) in [("step", "Step"), ("event", "Event"), ("mode", "Aqm")] {
            let Some(value) = variant["properties"][tag]["const"].as_str() else { continue };
            let words = value.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
            variant["title"] = (words.collect::<String>() + kind).into();
        }
    }
}

/// Returns [`document`] as it stands in the file.
pub fn text() -> String {
    format!("{:#}\n", document())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_in_the_repository_is_that_of_the_types() {
        let differs = include_str!("../schema.json") != super::text();
        assert!(
            !differs,
            "schema/schema.json is not of the Rust types: run `make reference` and commit what it writes"
        );
    }
}
