//! The description of a workload: what is the same for all applications. Each kind reads and checks its own part.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::application::Application;
use crate::coflows::CoflowsSpec;
use crate::mapreduce::MapReduceSpec;
use crate::{HostInfo, WorkloadError};

/// Longest description.
pub const MAX_JSON_BYTES: usize = 256 << 20;

/// Most applications of a workload.
pub const MAX_APPLICATIONS: usize = 256;

/// Latest time in a description: 26 days, as long as any run lasts.
pub(crate) const MAX_TIME_PS: u64 = u64::MAX >> 3;

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Top<'a> {
    seed: u64,
    #[serde(borrow, default)]
    tcp: Option<&'a RawValue>,
    #[serde(borrow)]
    applications: Vec<&'a RawValue>,
}

/// What all kinds have.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default)]
    background: bool,
    #[serde(borrow, default)]
    tcp: Option<&'a RawValue>,
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
    let (kind, application): (_, Box<dyn Application>) = match &*head.kind {
        "mapreduce" => {
            let spec: MapReduceSpec = read(json, &json_place)?;
            ("mapreduce", Box::new(spec.check(&place, top.seed, index as u64, hosts)?))
        }
        "coflows" => {
            let spec: CoflowsSpec<'_> = read(json, &json_place)?;
            ("coflows", Box::new(spec.check(&place, hosts)?))
        }
        other => {
            let reason = "there are mapreduce and coflows";
            return Err(WorkloadError::value(format!("{place}.kind"), other, reason));
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
    check: impl FnOnce(T, &Hosts<'_>) -> Result<A, WorkloadError>,
) -> Result<A, WorkloadError> {
    check(read(json, "")?, &Hosts::new(hosts))
}

/// A value that is there, `null` included, told from one that is not.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
