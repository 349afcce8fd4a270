//! Numbers with units, in the notation for users.

use pyo3::prelude::*;
use units::{Bytes, DataRate};

use crate::error::Error;

/// Parses "10Gbps" into bits per second.
#[pyfunction]
pub(crate) fn parse_data_rate(text: &str) -> PyResult<u64> {
    let rate: DataRate = text.parse().map_err(Error::config)?;
    Ok(rate.as_bps())
}

/// Parses "300KB" into bytes.
#[pyfunction]
pub(crate) fn parse_size(text: &str) -> PyResult<u64> {
    let size: Bytes = text.parse().map_err(Error::config)?;
    Ok(size.get())
}
