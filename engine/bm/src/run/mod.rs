//! Packet processing: a packet's data, and the execution of the program's instructions on them.
//!
//! This module knows neither names nor a control plane. It enters native code, but does not generate it.

mod calculate;
mod cold;
mod cold_op;
mod context;
mod enter;
mod execute;
mod externs;
mod headers;
mod look_up;
mod observe;
mod phv;
mod saved_phv;
pub mod trace;
mod wide;

pub(crate) use calculate::calculated;
pub(crate) use context::{Context, Trap};
pub(crate) use execute::execute;
pub use externs::{Detached, Externs, LogMessage};
pub(crate) use observe::{Observer, Unwatched};
pub use phv::Phv;
pub use saved_phv::SavedPhv;
