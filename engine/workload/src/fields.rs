//! Reading and checking of a description's fields, for every kind of application.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use units::{Bytes, DataRate};

use crate::error::WorkloadError;
use crate::random::{Purpose, Stream};

/// Maximum time in a description: 26 days, longer than any run.
pub(crate) const MAX_TIME_PS: u64 = u64::MAX >> 3;

/// Maximum size of one transfer in bytes: 1 PB.
pub(crate) const MAX_TRANSFER_BYTES: u64 = 1_000_000_000_000_000;

/// Returns the default payload of a request.
pub(crate) fn default_request_bytes() -> u64 {
    280
}

/// A host, as applications see it.
#[derive(Clone, Debug)]
pub struct HostInfo {
    /// Name.
    pub name: String,
    /// Rate of its link.
    pub rate: DataRate,
    /// Overhead of its link per frame.
    pub overhead: Bytes,
}

/// The hosts by name and by number.
pub(crate) struct Hosts<'a> {
    pub(crate) list: &'a [HostInfo],
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Hosts<'a> {
    pub(crate) fn new(list: &'a [HostInfo]) -> Self {
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

    /// Returns the sending and the receiving host of a transfer; `place` returns the path of a named field.
    pub(crate) fn pair(
        &self,
        source: &str,
        destination: &str,
        place: impl Fn(&str) -> String,
    ) -> Result<[u32; 2], WorkloadError> {
        let from = self.find(source, || place("source"))?;
        let to = self.find(destination, || place("destination"))?;
        if from == to {
            let reason = "is at both ends; a transfer needs two hosts";
            return Err(WorkloadError::value(place("destination"), destination, reason));
        }
        Ok([from, to])
    }
}

/// The context in which a description is checked.
pub(crate) struct Context<'a> {
    pub(crate) hosts: &'a Hosts<'a>,
    pub(crate) seed: u64,
    /// The application's number.
    pub(crate) number: u64,
    pub(crate) background: bool,
}

impl Context<'_> {
    /// Returns a random stream of the application.
    pub(crate) fn stream(&self, purpose: Purpose, place: &[u64]) -> Stream {
        let place: Vec<_> = [self.number].into_iter().chain(place.iter().copied()).collect();
        Stream::new(self.seed, purpose, &place)
    }
}

/// The path of a field's parent, for error messages.
pub(crate) struct FieldPath<'a>(pub(crate) &'a str);

impl FieldPath<'_> {
    pub(crate) fn of(&self, field: &str) -> String {
        format!("{}.{field}", self.0)
    }

    pub(crate) fn wrong(&self, field: &str, value: impl Display, reason: impl Into<String>) -> WorkloadError {
        WorkloadError::value(self.of(field), value, reason)
    }

    pub(crate) fn count(&self, field: &str, value: u64, min: u64, max: u64) -> Result<(), WorkloadError> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(self.wrong(field, value, format!("must be {min} to {max}")))
    }

    pub(crate) fn number(&self, field: &str, value: f64, min: f64, max: f64) -> Result<(), WorkloadError> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(self.wrong(field, value, format!("must be {min} to {max}")))
    }
}

/// The fields that all kinds have.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Head<'a> {
    /// The kind of application.
    #[serde(borrow)]
    pub(crate) kind: Cow<'a, str>,
    /// Name, unique among the applications.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// Whether a run ends without waiting for it. Default no.
    #[serde(default)]
    pub(crate) background: bool,
    /// TCP settings of this application, instead of the common ones.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::tcp"))]
    pub(crate) tcp: Option<&'a RawValue>,
    /// DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0.
    #[serde(default)]
    pub(crate) dscp: u8,
    /// Upper bound of a random delay of each transfer's start, drawn uniformly for each transfer. Not available for
    /// kinds that draw the start times of their transfers. Default 0.
    #[serde(default)]
    pub(crate) start_jitter_ps: u64,
}

/// A field that [`Head`] has read. Each kind's description lists it because all unknown fields are refused.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub(crate) struct ReadByHead;

impl<'de> Deserialize<'de> for ReadByHead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}
