//! The JSON Schemas of a fabric's inputs and reports, from which the Python types are generated.

use schemars::SchemaGenerator;

use crate::{FabricSpec, Report};

/// Adds the inputs: a fabric, a workload, TCP's settings.
pub fn add_specs(generator: &mut SchemaGenerator) {
    generator.subschema_for::<FabricSpec>();
    generator.subschema_for::<tcp::Config>();
    workload::add_to_schema(generator);
}

/// Adds the output: a run's report.
pub fn add_report(generator: &mut SchemaGenerator) {
    generator.subschema_for::<Report>();
}
