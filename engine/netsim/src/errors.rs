//! The errors of a fabric.

use simple_switch::ConfigError;
use units::Time;

use crate::limits::{MAX_FRAME_BYTES, MAX_PENDING};
use crate::spec::SpecError;

/// Why a fabric cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// The spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A switch cannot be created from its settings and the program.
    #[error("switch {name}: {error}")]
    Switch {
        /// The switch.
        name: String,
        /// The cause.
        error: ConfigError,
    },
}

/// Why a flow cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FlowError(pub(crate) String);

/// Why a frame is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The frame is out of the order of time, or in the past.
    #[error(
        "a frame at {at} comes too late: the fabric is at {not_before} already; feed frames in order of time"
    )]
    Late {
        /// The requested time.
        at: Time,
        /// The earliest possible time.
        not_before: Time,
    },
    /// See [`MAX_PENDING`].
    #[error("{MAX_PENDING} frames wait to be sent; run the fabric before feeding more")]
    TooMany,
    /// No fabric or no frame is like that. The text has the value and the limit.
    #[error("{0}")]
    Impossible(String),
}

impl SendError {
    pub(crate) fn no_such(kind: &str, index: usize, count: usize) -> Self {
        Self::Impossible(format!("no {kind} number {index}: the fabric has {count}"))
    }

    pub(crate) fn length(captured: usize, wire_len: usize) -> Self {
        Self::Impossible(format!(
            "a frame of {wire_len} bytes, {captured} of them given: a frame has 14 to {MAX_FRAME_BYTES} bytes, and no more are given than it has"
        ))
    }
}
