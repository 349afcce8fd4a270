//! Conversions between Python and the engine: from tuples of `eeon_engine.values` to `bm`'s types, and back.

use bm::{CounterValue, MatchKeyParam, MeterRate, MtAction, MtEntry};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// One field of a match key, as passed from Python.
pub(crate) struct KeyParam(pub(crate) MatchKeyParam);

impl<'py> FromPyObject<'py> for KeyParam {
    fn extract_bound(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let tuple = object
            .downcast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("a match parameter is a tuple such as ('exact', b'\\x0a')"))?;
        let kind: String = tuple.get_item(0)?.extract()?;
        let bytes = |index: usize| -> PyResult<Vec<u8>> {
            Ok(tuple.get_item(index)?.extract::<PyBackedBytes>()?.to_vec())
        };
        Ok(KeyParam(match (kind.as_str(), tuple.len()) {
            ("exact", 2) => MatchKeyParam::Exact(bytes(1)?),
            ("lpm", 3) => MatchKeyParam::Lpm(bytes(1)?, tuple.get_item(2)?.extract()?),
            ("ternary", 3) => MatchKeyParam::Ternary(bytes(1)?, bytes(2)?),
            ("range", 3) => MatchKeyParam::Range(bytes(1)?, bytes(2)?),
            ("valid", 2) => MatchKeyParam::Valid(tuple.get_item(1)?.extract()?),
            (kind, length) => {
                return Err(PyValueError::new_err(format!(
                    "a match parameter of {length} items starting with '{kind}'; see eeon_engine.values.MatchParam"
                )))
            }
        }))
    }
}

/// Converts a match key for the engine.
pub(crate) fn key(params: Vec<KeyParam>) -> Vec<MatchKeyParam> {
    params.into_iter().map(|param| param.0).collect()
}

/// Converts action data for the engine.
pub(crate) fn data(values: Vec<PyBackedBytes>) -> Vec<Vec<u8>> {
    values.iter().map(|value| value.to_vec()).collect()
}

/// Returns an entry as read back: handle, key, priority, action.
pub(crate) fn entry<'py>(
    py: Python<'py>,
    program: &bm::Program,
    entry: &MtEntry,
) -> PyResult<Bound<'py, PyTuple>> {
    let params: Vec<_> = entry.key.iter().map(|param| key_param(py, param)).collect::<PyResult<_>>()?;
    let action = action(py, program, &entry.action)?;
    (entry.handle, PyList::new(py, params)?, entry.priority, action).into_pyobject(py)
}

/// Returns the action of an entry.
pub(crate) fn action<'py>(
    py: Python<'py>,
    program: &bm::Program,
    action: &MtAction,
) -> PyResult<Bound<'py, PyTuple>> {
    match action {
        MtAction::Action(id, values) => {
            let name = &program.actions()[id.index()].name;
            let values = PyList::new(py, values.iter().map(|value| PyBytes::new(py, value)))?;
            ("action", name, values).into_pyobject(py)
        }
        MtAction::Member(handle) => ("member", handle).into_pyobject(py),
        MtAction::Group(handle) => ("group", handle).into_pyobject(py),
    }
}

pub(crate) fn key_param<'py>(py: Python<'py>, param: &MatchKeyParam) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = |value: &[u8]| PyBytes::new(py, value);
    match param {
        MatchKeyParam::Exact(value) => ("exact", bytes(value)).into_pyobject(py),
        MatchKeyParam::Lpm(value, length) => ("lpm", bytes(value), length).into_pyobject(py),
        MatchKeyParam::Ternary(value, mask) => ("ternary", bytes(value), bytes(mask)).into_pyobject(py),
        MatchKeyParam::Range(low, high) => ("range", bytes(low), bytes(high)).into_pyobject(py),
        MatchKeyParam::Valid(valid) => ("valid", valid).into_pyobject(py),
    }
}

/// Returns a counter cell: bytes and packets.
pub(crate) fn cell(value: CounterValue) -> (u64, u64) {
    (value.bytes, value.packets)
}

/// Returns the rates of a meter, lowest first: units per microsecond, and burst.
pub(crate) fn rates(rates: Vec<MeterRate>) -> Vec<(f64, u32)> {
    rates.iter().map(|rate| (rate.info_rate, rate.burst_size)).collect()
}

/// Converts meter rates for the engine.
pub(crate) fn meter_rates(rates: &[(f64, u32)]) -> Vec<MeterRate> {
    rates.iter().map(|&(info_rate, burst_size)| MeterRate { info_rate, burst_size }).collect()
}
