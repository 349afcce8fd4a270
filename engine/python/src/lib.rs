//! PyO3 glue between the engine's crates and the Python package `eeon_engine`, without logic of its own.
//!
//! Classes and methods are documented for Python users in `eeon_engine/_engine.pyi`.

#![forbid(unsafe_code)]

use pyo3::prelude::*;
use pyo3::types::PyTuple;

mod convert;
mod error;
mod handle;
mod handle_bmv2;
mod handle_client;
mod hops;
#[cfg(all(target_os = "linux", feature = "live-ports"))]
mod live;
mod program;
mod quantity;
mod schedule;
mod switch;
mod switch_host;
#[cfg(all(target_os = "linux", feature = "live-ports"))]
mod traffic;
mod twin;
mod workload;

/// Provides the engine to Python.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::check_classes(module.py())?;
    module.add_class::<program::Program>()?;
    module.add_class::<handle::SwitchHandle>()?;
    module.add_class::<switch::Port>()?;
    module.add_class::<switch::Switch>()?;
    module.add_class::<twin::Twin>()?;
    #[cfg(all(target_os = "linux", feature = "live-ports"))]
    {
        module.add_class::<live::LiveSwitch>()?;
        module.add_class::<traffic::Traffic>()?;
    }
    module.add_function(wrap_pyfunction!(quantity::parse_data_rate, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_size, module)?)?;
    module.add_function(wrap_pyfunction!(schedule::run_fluid, module)?)?;
    module.add_function(wrap_pyfunction!(workload::check_workload, module)?)?;
    module.add("EXCEPTIONS", PyTuple::new(module.py(), error::CLASSES)?)?;
    let (major, minor) = bm::JSON_VERSION;
    module.add("JSON_VERSION", format!("{major}.{minor}"))?;
    module.add("TCP_NAMES", PyTuple::new(module.py(), netsim::TCP_NAMES)?)?;
    module.add("SOURCE_DIGEST", env!("EEON_SOURCE_DIGEST"))?;
    Ok(())
}
