//! The description of a workload: what is the same for all applications. Each kind reads and checks its own part.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::application::Application;
use crate::coflows::CoflowsSpec;
use crate::incast::IncastSpec;
use crate::mapreduce::MapReduceSpec;
use crate::poisson::PoissonSpec;
use crate::random::{Purpose, Stream};
use crate::rpc::RpcSpec;
use crate::{HostInfo, WorkloadError};

/// Longest description.
pub const MAX_JSON_BYTES: usize = 256 << 20;

/// Maximum number of applications of a workload.
pub const MAX_APPLICATIONS: usize = 256;

/// Latest time in a description: 26 days, as long as any run lasts.
pub(crate) const MAX_TIME_PS: u64 = u64::MAX >> 3;

/// Maximum size of one transfer in bytes: 1 PB.
pub(crate) const MAX_TRANSFER_BYTES: u64 = 1_000_000_000_000_000;

/// An application, checked and ready to start.
pub(crate) struct Parsed {
    pub(crate) name: String,
    pub(crate) tcp: (String, Option<String>),
    pub(crate) kind: &'static str,
    pub(crate) background: bool,
    pub(crate) application: Box<dyn Application>,
}

/// The hosts by name and number.
pub(crate) struct Hosts<'a> {
    pub(crate) list: &'a [HostInfo],
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Hosts<'a> {
    fn new(list: &'a [HostInfo]) -> Self {
        let numbers =
            list.iter().enumerate().map(|(number, host)| (host.name.as_str(), number as u32)).collect();
        Self { list, numbers }
    }

    pub(crate) fn find(&self, name: &str, place: impl FnOnce() -> String) -> Result<u32, WorkloadError> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let reason = format!("no host has this name; the fabric has {} hosts", self.list.len());
            WorkloadError::value(place(), name, reason)
        })
    }
}

/// What a description is checked against.
pub(crate) struct Context<'a> {
    pub(crate) hosts: &'a Hosts<'a>,
    pub(crate) seed: u64,
    /// The application's number.
    pub(crate) number: u64,
    pub(crate) background: bool,
}

impl Context<'_> {
    /// A stream of the application.
    pub(crate) fn stream(&self, purpose: Purpose, place: &[u64]) -> Stream {
        let place: Vec<_> = [self.number].into_iter().chain(place.iter().copied()).collect();
        Stream::new(self.seed, purpose, &place)
    }
}

/// The path of a field's parent, which errors name.
pub(crate) struct FieldPath<'a>(pub(crate) &'a str);

impl FieldPath<'_> {
    pub(crate) fn of(&self, field: &str) -> String {
        format!("{}.{field}", self.0)
    }

    pub(crate) fn wrong(&self, field: &str, value: impl Display, reason: impl Into<String>) -> WorkloadError {
        WorkloadError::value(self.of(field), value, reason)
    }

    pub(crate) fn count(&self, field: &str, value: u64, least: u64, most: u64) -> Result<(), WorkloadError> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(self.wrong(field, value, format!("must be {least} to {most}")))
    }

    pub(crate) fn number(&self, field: &str, value: f64, least: f64, most: f64) -> Result<(), WorkloadError> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(self.wrong(field, value, format!("must be {least} to {most}")))
    }
}

/// Applications that run over a fabric, and their settings.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WorkloadSpec"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Top<'a> {
    /// Seed of everything that applications draw.
    seed: u64,
    /// TCP of all applications that have none of their own.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::tcp"))]
    tcp: Option<&'a RawValue>,
    /// The applications.
    #[serde(borrow)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::ApplicationSpec<'a>>"))]
    applications: Vec<&'a RawValue>,
}

/// What all kinds have.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Head<'a> {
    /// Which kind of application it is.
    #[serde(borrow)]
    kind: Cow<'a, str>,
    /// Name, unlike every other application's.
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// Whether a run ends without waiting for it. Default no.
    #[serde(default)]
    background: bool,
    /// Its own TCP, in place of the common one.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::tcp"))]
    tcp: Option<&'a RawValue>,
}

/// A field that [`Head`] has read. It stands in each kind's description because every other unknown field is refused there.
#[derive(Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub(crate) struct ReadByHead;

impl<'de> Deserialize<'de> for ReadByHead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// Reads JSON; `place` is where it stands, with a space in front.
fn read<'a, T: Deserialize<'a>>(json: &'a str, place: &str) -> Result<T, WorkloadError> {
    serde_json::from_str(json)
        .map_err(|error| WorkloadError::Json { place: place.to_owned(), reason: error.to_string() })
}

pub(crate) fn parse(json: &[u8], hosts: &[HostInfo]) -> Result<Vec<Parsed>, WorkloadError> {
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

fn application(json: &str, index: usize, top: &Top<'_>, hosts: &Hosts<'_>) -> Result<Parsed, WorkloadError> {
    let place = format!("applications[{index}]");
    let head: Head<'_> = read(json, &format!(" {place}"))?;
    if head.name.is_empty() || head.name.len() > 200 {
        let reason = "must have 1 to 200 bytes";
        return Err(WorkloadError::value(format!("{place}.name"), &head.name, reason));
    }
    let json_place = format!(" {place} ({})", head.name);
    let at = FieldPath(&place);
    let context = Context { hosts, seed: top.seed, number: index as u64, background: head.background };
    let (kind, application): (_, Box<dyn Application>) = match &*head.kind {
        "mapreduce" => {
            ("mapreduce", Box::new(read::<MapReduceSpec>(json, &json_place)?.check(&at, &context)?))
        }
        "coflows" => ("coflows", Box::new(read::<CoflowsSpec<'_>>(json, &json_place)?.check(&at, &context)?)),
        "incast" => ("incast", Box::new(read::<IncastSpec>(json, &json_place)?.check(&at, &context)?)),
        "rpc" => ("rpc", Box::new(read::<RpcSpec>(json, &json_place)?.check(&at, &context)?)),
        "poisson" => ("poisson", Box::new(read::<PoissonSpec>(json, &json_place)?.check(&at, &context)?)),
        other => {
            let reason = "there are mapreduce, coflows, incast, rpc and poisson";
            return Err(at.wrong("kind", other, reason));
        }
    };
    let tcp = match head.tcp {
        Some(own) => (format!(" {place}.tcp"), Some(own)),
        None => (" tcp".to_owned(), top.tcp),
    };
    Ok(Parsed {
        name: head.name.into_owned(),
        tcp: (tcp.0, tcp.1.map(|json| json.get().to_owned())),
        kind,
        background: head.background,
        application,
    })
}

/// Reads and checks the description of one application.
#[cfg(test)]
pub(crate) fn parse_one<'a, T: Deserialize<'a>, A>(
    json: &'a str,
    hosts: &[HostInfo],
    check: impl FnOnce(T, &FieldPath<'_>, &Context<'_>) -> Result<A, WorkloadError>,
) -> Result<A, WorkloadError> {
    let context = Context { hosts: &Hosts::new(hosts), seed: 7, number: 0, background: false };
    check(read(json, "")?, &FieldPath("it"), &context)
}

/// A value that is there, `null` included, told from one that is not.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
