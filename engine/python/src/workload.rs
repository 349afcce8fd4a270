//! Checks of workloads without a fabric.

use ::workload::{HostInfo, Workload};
use pyo3::prelude::*;
use units::{Bytes, DataRate};

use crate::error::Error;

/// Checks a workload, the JSON of a `WorkloadSpec`. Each host has its name, its link's rate in bits per
/// second, and the link's overhead per frame in bytes. Raises `ConfigError` with the place in it.
#[pyfunction]
pub(crate) fn check_workload(py: Python<'_>, spec: &str, hosts: Vec<(String, u64, u64)>) -> PyResult<()> {
    let host = |(name, rate_bps, overhead): (String, u64, u64)| {
        let rate = DataRate::new(rate_bps)?;
        Some(HostInfo { name, rate, overhead: Bytes::new(overhead) })
    };
    let hosts: Option<Vec<_>> = hosts.into_iter().map(host).collect();
    let hosts = hosts.ok_or_else(|| Error::Config("rate 0 of a host: must be more than zero".to_owned()))?;
    let checked = py.detach(|| Workload::from_json(spec.as_bytes(), &hosts).map(drop));
    Ok(checked.map_err(Error::config)?)
}
