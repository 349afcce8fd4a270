//! What a fabric refuses.

use simple_switch::ConfigError;
use units::Time;

use crate::limits::{LATEST, MAX_FLOWS, MAX_FRAME_BYTES, MAX_PENDING};
use crate::spec::SpecError;

/// Why a fabric cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// The spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A switch cannot be made of its settings and the program.
    #[error("switch {name}: {error}")]
    Switch {
        /// The switch.
        name: String,
        /// What is wrong.
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
        /// The number given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A flow needs two hosts.
    #[error("a flow from {host} to itself: it would not cross the fabric")]
    ToItself {
        /// The host.
        host: String,
    },
    /// One has only IPv4, the other only IPv6.
    #[error("{source_host} and {destination_host} have no IP version in common")]
    NoCommonIpVersion {
        /// The host that sends.
        source_host: String,
        /// The host that receives.
        destination_host: String,
    },
    /// In the past, or beyond what can be simulated.
    #[error("a flow that starts at {start}: the fabric is at {now}, and no run lasts longer than {limit}", limit = LATEST)]
    Start {
        /// When it should start.
        start: Time,
        /// The fabric's time.
        now: Time,
    },
    /// More than a connection carries.
    #[error(transparent)]
    Bytes {
        /// The endpoint's reason.
        error: tcp::SendError,
    },
    /// See [`MAX_FLOWS`](crate::MAX_FLOWS).
    #[error("a run has at most {MAX_FLOWS} flows")]
    TooMany,
}

/// Why a frame is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The node does not exist.
    #[error("no {kind} number {index}: the fabric has {count}")]
    NoSuchNode {
        /// Host or switch.
        kind: &'static str,
        /// The number given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Frames are fed in order of time, and not into the past.
    #[error(
        "a frame at {at} comes too late: the fabric is at {not_before} already; feed frames in order of time"
    )]
    Late {
        /// When it should be sent.
        at: Time,
        /// The earliest possible time.
        not_before: Time,
    },
    /// Later than a tag can say.
    #[error("a frame at {at} is beyond the longest run, {limit}", limit = LATEST)]
    BeyondEnd {
        /// When it should be sent.
        at: Time,
    },
    /// The lengths are not those of a frame.
    #[error("a frame of {wire_len} bytes, {captured} of them given: a frame has 14 to {MAX_FRAME_BYTES} bytes, and no more are given than it has")]
    Length {
        /// Bytes given.
        captured: usize,
        /// Bytes of the frame.
        wire_len: usize,
    },
    /// See [`MAX_PENDING`].
    #[error("{MAX_PENDING} frames wait to be sent; run the fabric before feeding more")]
    TooMany,
}
