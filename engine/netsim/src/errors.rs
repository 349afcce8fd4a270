//! The errors of a fabric.

use simple_switch::ConfigError;
use units::Time;

use crate::limits::{LATEST, MAX_FLOWS, MAX_FRAME_BYTES, MAX_PENDING};
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
#[non_exhaustive]
pub enum FlowError {
    /// The host does not exist.
    #[error("no host number {index}: the fabric has {count}")]
    NoSuchHost {
        /// The given index.
        index: usize,
        /// The number of hosts.
        count: usize,
    },
    /// Source and destination are the same host.
    #[error("a flow from {host} to itself: it would not cross the fabric")]
    ToItself {
        /// The host.
        host: String,
    },
    /// One host has only IPv4, the other only IPv6.
    #[error("{source_host} and {destination_host} have no IP version in common")]
    NoCommonIpVersion {
        /// The sending host.
        source_host: String,
        /// The receiving host.
        destination_host: String,
    },
    /// The start is in the past, or beyond the longest run.
    #[error("a flow that starts at {start}: the fabric is at {now}, and no run lasts longer than {limit}", limit = LATEST)]
    Start {
        /// The requested start.
        start: Time,
        /// The fabric's time.
        now: Time,
    },
    /// The flow has more bytes than a connection can carry.
    #[error(transparent)]
    Bytes {
        /// The endpoint's reason.
        error: tcp::SendError,
    },
    /// See [`MAX_FLOWS`](crate::MAX_FLOWS).
    #[error("a run has at most {MAX_FLOWS} flows")]
    TooMany,
}

/// Why a frame is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The node does not exist.
    #[error("no {kind} number {index}: the fabric has {count}")]
    NoSuchNode {
        /// Host or switch.
        kind: &'static str,
        /// The given index.
        index: usize,
        /// The number of such nodes.
        count: usize,
    },
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
    /// The time is beyond the longest run.
    #[error("a frame at {at} is beyond the longest run, {limit}", limit = LATEST)]
    BeyondEnd {
        /// The requested time.
        at: Time,
    },
    /// The lengths are impossible for a frame.
    #[error("a frame of {wire_len} bytes, {captured} of them given: a frame has 14 to {MAX_FRAME_BYTES} bytes, and no more are given than it has")]
    Length {
        /// Bytes given.
        captured: usize,
        /// Length of the frame in bytes.
        wire_len: usize,
    },
    /// See [`MAX_PENDING`].
    #[error("{MAX_PENDING} frames wait to be sent; run the fabric before feeding more")]
    TooMany,
}
