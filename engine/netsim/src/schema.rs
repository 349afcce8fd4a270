//! The JSON Schemas of what a fabric is made of and what it reports, of which the Python types are made.

use schemars::SchemaGenerator;

use crate::transport::tcp_spec::TcpSpec;
use crate::{FabricSpec, Report};

/// Adds everything that is read: a fabric, a workload, TCP's settings.
pub fn add_specs(generator: &mut SchemaGenerator) {
    generator.subschema_for::<FabricSpec>();
    generator.subschema_for::<TcpSpec>();
    workload::add_to_schema(generator);
}

/// Adds everything that is written: a run's report.
pub fn add_report(generator: &mut SchemaGenerator) {
    generator.subschema_for::<Report>();
}
