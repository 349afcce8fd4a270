//! PyO3 glue between the engine's crates and the Python package `eeon_engine`, without logic of its own.
//!
//! Classes and methods are documented for Python users in `eeon_engine/_engine.pyi`.

#![forbid(unsafe_code)]

use pyo3::prelude::*;

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

/// Provides the engine itself, in Rust. Times are in picoseconds of virtual time, sizes in bytes without FCS.
///
/// All classes may be used from any thread. Calls into the engine release the GIL; a control call waits at most a few
/// milliseconds, for the current slice of the run loop.
#[pymodule]
mod _engine {
    use super::convert::Names;

    #[pymodule_export]
    use super::{
        handle::SwitchHandle,
        program::{json_version, Program},
        quantity::{parse_data_rate, parse_size},
        schedule::run_fluid,
        switch::{Port, Switch},
        twin::Twin,
        workload::check_workload,
    };
    #[cfg(all(target_os = "linux", feature = "live-ports"))]
    #[pymodule_export]
    use super::{live::LiveSwitch, traffic::Traffic};

    /// The classes of `eeon_engine.exceptions` that the extension raises, by name.
    #[pymodule_export]
    const EXCEPTIONS: Names = Names(super::error::CLASSES);

    /// The values of `algorithm` in a `json_types.TcpSpec`.
    #[pymodule_export]
    const TCP_NAMES: Names = Names(&netsim::TCP_NAMES);

    /// SHA-256, in hexadecimal, of the Rust sources from which this extension was built.
    #[pymodule_export]
    const SOURCE_DIGEST: &str = env!("EEON_SOURCE_DIGEST");
}
