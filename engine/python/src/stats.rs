//! The engine's counts as dictionaries, under the engine's names.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simple_switch::{Drops, PortStats, SwitchStats};

/// Counts of one switch.
pub(crate) fn of_switch<'py>(
    py: Python<'py>,
    stats: &SwitchStats,
    p4_passes: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("received", stats.received)?;
    dict.set_item("copies", stats.copies)?;
    dict.set_item("sent", stats.sent)?;
    dict.set_item("in_flight", stats.in_flight)?;
    dict.set_item("recirculated", stats.recirculated)?;
    dict.set_item("resubmitted", stats.resubmitted)?;
    dict.set_item("clone_sessions_missing", stats.clone_sessions_missing)?;
    dict.set_item("digests_lost", stats.digests_lost)?;
    dict.set_item("log_messages_lost", stats.log_messages_lost)?;
    dict.set_item("parser_errors", stats.parser_errors)?;
    dict.set_item("p4_passes", p4_passes)?;
    dict.set_item("drops", of_drops(py, &stats.drops)?)?;
    Ok(dict)
}

/// Counts of one port.
pub(crate) fn of_port<'py>(py: Python<'py>, stats: &PortStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("rx_packets", stats.rx_packets)?;
    dict.set_item("rx_bytes", stats.rx_bytes)?;
    dict.set_item("tx_packets", stats.tx_packets)?;
    dict.set_item("tx_bytes", stats.tx_bytes)?;
    dict.set_item("reordered", stats.reordered)?;
    dict.set_item("max_queue_packets", stats.max_queue_packets)?;
    dict.set_item("max_queue_bytes", stats.max_queue_bytes)?;
    dict.set_item("drops", of_drops(py, &stats.drops)?)?;
    Ok(dict)
}

fn of_drops<'py>(py: Python<'py>, drops: &Drops) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (cause, count) in drops.iter() {
        dict.set_item(cause.name(), count)?;
    }
    Ok(dict)
}
