//! A loaded program for Python.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

use crate::error::Error;

/// Returns the newest version of BMv2's JSON that `Program` understands, such as 2.24.
#[pyfunction]
pub(crate) fn json_version() -> String {
    let (major, minor) = bm::JSON_VERSION;
    format!("{major}.{minor}")
}

/// A compiled P4 program: immutable, shared by the switches that run it.
///
/// `json` is the output of p4c-bm2-ss. A program loaded `for_tracing` does the same to packets, but slower,
/// and lets `SwitchHandle.take_journey` report the source position of each event. Raises `ProgramError` with
/// the place in the JSON if the engine cannot run it.
#[pyclass(frozen, module = "eeon_engine._engine")]
pub(crate) struct Program {
    pub(crate) inner: Arc<bm::Executable>,
    json: Vec<u8>,
    /// The same program, loaded for tracing, if a switch has requested it.
    traced: OnceLock<Arc<bm::Executable>>,
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (json, *, for_tracing=false))]
    fn new(py: Python<'_>, json: &[u8], for_tracing: bool) -> PyResult<Self> {
        let json = json.to_vec();
        let load = if for_tracing { bm::Program::from_json_for_tracing } else { bm::Program::from_json };
        let inner = py.detach(|| load(&json)).map_err(Error::from)?;
        Ok(Self { inner: bm::Executable::new(inner), json, traced: OnceLock::new() })
    }

    /// Returns the JSON from which it was loaded.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.json)
    }

    /// Returns the SHA-256 of `json`, in hexadecimal.
    #[getter]
    fn digest(&self) -> String {
        Sha256::digest(&self.json).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Program {
    /// Returns whether `inner` was loaded from this program.
    pub(crate) fn is(&self, inner: &Arc<bm::Executable>) -> bool {
        Arc::ptr_eq(&self.inner, inner) || self.traced.get().is_some_and(|traced| Arc::ptr_eq(traced, inner))
    }

    /// Returns the program for a switch that records all actions of packets.
    pub(crate) fn traced(&self) -> Result<Arc<bm::Executable>, Error> {
        if let Some(traced) = self.traced.get() {
            return Ok(Arc::clone(traced));
        }
        let loaded = bm::Executable::new(bm::Program::from_json_for_tracing(&self.json)?);
        Ok(Arc::clone(self.traced.get_or_init(|| loaded)))
    }
}
