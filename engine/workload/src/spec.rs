//! The description of a workload: the part common to all applications. Each kind reads and checks its own part.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use units::Time;

use crate::application::Application;
use crate::coflows::CoflowsSpec;
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, Head, HostInfo, Hosts, MAX_TIME_PS};
use crate::flows::FlowsSpec;
use crate::incast::IncastSpec;
use crate::jitter::Jitter;
use crate::mapreduce::MapReduceSpec;
use crate::phases::PhasesSpec;
use crate::poisson::PoissonSpec;
use crate::rpc::RpcSpec;
use crate::scatter_gather::ScatterGatherSpec;

/// Maximum length of a description.
pub const MAX_JSON_BYTES: usize = 256 << 20;

/// Maximum number of applications of a workload.
pub const MAX_APPLICATIONS: usize = 256;

/// Maximum DSCP: it has six bits (RFC 2474).
const MAX_DSCP: u64 = 63;

/// An application, checked and ready to start.
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Path and JSON of its TCP settings.
    pub(crate) tcp: (String, Option<String>),
    pub(crate) kind: &'static str,
    pub(crate) background: bool,
    pub(crate) dscp: u8,
    pub(crate) jitter: Option<Jitter>,
    pub(crate) application: Box<dyn Application>,
    pub(crate) finished_at: Option<Time>,
}

/// Applications that run over a fabric, and their settings.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WorkloadSpec"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Top<'a> {
    /// Seed of all random draws.
    seed: u64,
    /// TCP settings of all applications without their own.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::tcp"))]
    tcp: Option<&'a RawValue>,
    /// The applications.
    #[serde(borrow)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ApplicationSpec<'a>>"))]
    applications: Vec<&'a RawValue>,
}

/// Adds the schemas of a workload's description, except `TcpSpec`, which belongs to the crate that runs TCP.
#[cfg(feature = "schema")]
pub fn add_to_schema(generator: &mut schemars::SchemaGenerator) {
    generator.subschema_for::<Top<'_>>();
}

/// One application, of one kind.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code)] // Used only for the schema.
enum ApplicationSpec<'a> {
    MapReduce(MapReduceSpec),
    Coflows(CoflowsSpec<'a>),
    Flows(FlowsSpec<'a>),
    Incast(IncastSpec),
    Rpc(RpcSpec),
    Poisson(PoissonSpec),
    ScatterGather(ScatterGatherSpec),
    Phases(PhasesSpec),
}

/// Reads JSON; `place` is its position, with a leading space.
fn read<'a, T: Deserialize<'a>>(json: &'a str, place: &str) -> Result<T, WorkloadError> {
    serde_json::from_str(json)
        .map_err(|error| WorkloadError::Json { place: place.to_owned(), reason: error.to_string() })
}

pub(crate) fn parse(json: &[u8], hosts: &[HostInfo]) -> Result<Vec<Entry>, WorkloadError> {
    if json.len() > MAX_JSON_BYTES {
        let reason = format!("bytes of JSON, more than {MAX_JSON_BYTES}");
        return Err(WorkloadError::value("as a whole", json.len(), reason));
    }
    let text = std::str::from_utf8(json)
        .map_err(|error| WorkloadError::Json { place: String::new(), reason: error.to_string() })?;
    let top: Top<'_> = read(text, "")?;
    if !(1..=MAX_APPLICATIONS).contains(&top.applications.len()) {
        let reason = format!("there must be 1 to {MAX_APPLICATIONS}");
        return Err(WorkloadError::value("applications", top.applications.len(), reason));
    }
    let hosts = Hosts::new(hosts);
    let mut names = BTreeSet::new();
    let mut applications = Vec::with_capacity(top.applications.len());
    for (index, raw) in top.applications.iter().enumerate() {
        let parsed = application(raw.get(), index, &top, &hosts)?;
        if !names.insert(parsed.name.clone()) {
            let place = format!("applications[{index}].name");
            return Err(WorkloadError::value(place, parsed.name, "another application has this name"));
        }
        applications.push(parsed);
    }
    Ok(applications)
}

fn application(json: &str, index: usize, top: &Top<'_>, hosts: &Hosts<'_>) -> Result<Entry, WorkloadError> {
    let place = format!("applications[{index}]");
    let head: Head<'_> = read(json, &format!(" {place}"))?;
    if head.name.is_empty() || head.name.len() > 200 {
        let reason = "must have 1 to 200 bytes";
        return Err(WorkloadError::value(format!("{place}.name"), &head.name, reason));
    }
    let json_place = format!(" {place} ({})", head.name);
    let at = FieldPath(&place);
    at.count("start_jitter_ps", head.start_jitter_ps, 0, MAX_TIME_PS)?;
    at.count("dscp", head.dscp.into(), 0, MAX_DSCP)?;
    let context = Context { hosts, seed: top.seed, number: index as u64, background: head.background };
    let (kind, application): (_, Box<dyn Application>) = match &*head.kind {
        "mapreduce" => {
            ("mapreduce", Box::new(read::<MapReduceSpec>(json, &json_place)?.check(&at, &context)?))
        }
        "coflows" => ("coflows", Box::new(read::<CoflowsSpec<'_>>(json, &json_place)?.check(&at, &context)?)),
        "flows" => ("flows", Box::new(read::<FlowsSpec<'_>>(json, &json_place)?.check(&at, &context)?)),
        "incast" => ("incast", Box::new(read::<IncastSpec>(json, &json_place)?.check(&at, &context)?)),
        "rpc" => ("rpc", Box::new(read::<RpcSpec>(json, &json_place)?.check(&at, &context)?)),
        "poisson" => ("poisson", Box::new(read::<PoissonSpec>(json, &json_place)?.check(&at, &context)?)),
        "scatter_gather" => {
            ("scatter_gather", Box::new(read::<ScatterGatherSpec>(json, &json_place)?.check(&at, &context)?))
        }
        "phases" => ("phases", Box::new(read::<PhasesSpec>(json, &json_place)?.check(&at, &context)?)),
        other => {
            let reason =
                "there are mapreduce, coflows, flows, incast, rpc, poisson, scatter_gather and phases";
            return Err(at.wrong("kind", other, reason));
        }
    };
    let tcp = match head.tcp {
        Some(own) => (format!(" {place}.tcp"), Some(own)),
        None => (" tcp".to_owned(), top.tcp),
    };
    Ok(Entry {
        name: head.name.into_owned(),
        tcp: (tcp.0, tcp.1.map(|json| json.get().to_owned())),
        kind,
        background: head.background,
        dscp: head.dscp,
        jitter: Jitter::new(top.seed, index as u64, head.start_jitter_ps),
        application,
        finished_at: None,
    })
}
