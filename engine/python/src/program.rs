//! A loaded program as Python sees it.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

use crate::error::Error;

/// A compiled P4 program: immutable, shared by the switches that run it.
#[pyclass(frozen, module = "eeon_engine._engine")]
pub(crate) struct Program {
    pub(crate) inner: Arc<bm::Program>,
    json: Vec<u8>,
}

#[pymethods]
impl Program {
    #[new]
    fn new(py: Python<'_>, json: &[u8]) -> PyResult<Self> {
        let json = json.to_vec();
        let inner = py.detach(|| bm::Program::from_json(&json)).map_err(Error::from)?;
        Ok(Self { inner: Arc::new(inner), json })
    }

    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.json)
    }

    #[getter]
    fn digest(&self) -> String {
        Sha256::digest(&self.json).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Program {
    /// Whether this is the program `inner` was loaded from.
    pub(crate) fn is(&self, inner: &Arc<bm::Program>) -> bool {
        Arc::ptr_eq(&self.inner, inner)
    }
}
