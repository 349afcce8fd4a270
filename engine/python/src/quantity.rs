//! Numbers with units, in the notation for users.

use pyo3::prelude::*;
use units::{Bytes, DataRate};

use crate::error::Error;

/// Returns a rate with its unit, such as 10Gbps, in bits per second. Raises `ConfigError`.
#[pyfunction]
pub(crate) fn parse_data_rate(text: &str) -> PyResult<u64> {
    let rate: DataRate = text.parse().map_err(Error::config)?;
    Ok(rate.as_bps())
}

/// Returns a size with its unit, such as 300KB (300 000) or 64KiB, in bytes. Raises `ConfigError`.
#[pyfunction]
pub(crate) fn parse_size(text: &str) -> PyResult<u64> {
    let size: Bytes = text.parse().map_err(Error::config)?;
    Ok(size.get())
}
