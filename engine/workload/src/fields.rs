//! How the fields of a description are read and checked, for every kind of application.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use units::{Bytes, DataRate};

use crate::error::WorkloadError;
use crate::random::{Purpose, Stream};

/// Latest time in a description: 26 days, as long as any run lasts.
pub(crate) const MAX_TIME_PS: u64 = u64::MAX >> 3;

/// Maximum size of one transfer in bytes: 1 PB.
pub(crate) const MAX_TRANSFER_BYTES: u64 = 1_000_000_000_000_000;

/// Returns the payload of a question whose description says no other.
pub(crate) fn default_request_bytes() -> u64 {
    280
}

/// A host, as far as applications need to know it.
#[derive(Clone, Debug)]
pub struct HostInfo {
    /// Name.
    pub name: String,
    /// Rate of its link.
    pub rate: DataRate,
    /// What its link adds to each frame.
    pub overhead: Bytes,
}

/// The hosts by name and number.
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

    /// Returns the hosts that a transfer goes from and to; `place` is that of the field of this name.
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

/// What a description is checked against.
pub(crate) struct Context<'a> {
    pub(crate) hosts: &'a Hosts<'a>,
    pub(crate) seed: u64,
    /// The application's number.
    pub(crate) number: u64,
    pub(crate) background: bool,
}

impl Context<'_> {
    /// Returns a stream of the application.
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

/// What all kinds have.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Head<'a> {
    /// Which kind of application it is.
    #[serde(borrow)]
    pub(crate) kind: Cow<'a, str>,
    /// Name, unlike every other application's.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// Whether a run ends without waiting for it. Default no.
    #[serde(default)]
    pub(crate) background: bool,
    /// Its own TCP, in place of the common one.
    #[serde(borrow, default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::tcp"))]
    pub(crate) tcp: Option<&'a RawValue>,
    /// DSCP of all packets of its connections, in both directions, 0 to 63: which class of a fabric with classes they belong to. Default 0.
    #[serde(default)]
    pub(crate) dscp: u8,
    /// Each transfer begins later than it would by a time that is drawn for it, uniform below this. Not of kinds that draw when
    /// their transfers begin. Default 0.
    #[serde(default)]
    pub(crate) start_jitter_ps: u64,
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

/// Returns a value that is there, `null` included, told from one that is not.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
