//! What a schedule refuses. What is refused changes nothing.

use units::Time;

use crate::{FlowId, MAX_FLOWS, MAX_PATH, MAX_TRANSFERS, MAX_VOLUME_BITS};

/// Why an event is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// It has not arrived, or has ended already.
    #[error("flow {} of transfer {}: is not under way; announce it before its end", .id.flow, .id.transfer)]
    UnknownFlow {
        /// The flow.
        id: FlowId,
    },
    /// It is under way.
    #[error("flow {} of transfer {}: is under way already; new data is a flow with a number of its own", .id.flow, .id.transfer)]
    DuplicateFlow {
        /// The flow.
        id: FlowId,
    },
    /// Nothing, or more than a petabyte.
    #[error("flow {} of transfer {}: a volume of {bits} bits; it must be 1 to {MAX_VOLUME_BITS}", .id.flow, .id.transfer)]
    Volume {
        /// The flow.
        id: FlowId,
        /// What was announced.
        bits: u64,
    },
    /// A path crosses at least one link and at most [`MAX_PATH`].
    #[error("flow {} of transfer {}: a path of {links} links; it must have 1 to {MAX_PATH}", .id.flow, .id.transfer)]
    PathLength {
        /// The flow.
        id: FlowId,
        /// How many links it has.
        links: usize,
    },
    /// The link does not exist.
    #[error("flow {} of transfer {}: no link number {link}: there are {count}", .id.flow, .id.transfer)]
    UnknownLink {
        /// The flow.
        id: FlowId,
        /// The number given.
        link: u32,
        /// How many there are.
        count: usize,
    },
    /// A path crosses a link once.
    #[error("flow {} of transfer {}: crosses link {link} twice; a path has no loop", .id.flow, .id.transfer)]
    RepeatedLink {
        /// The flow.
        id: FlowId,
        /// The link.
        link: u32,
    },
    /// Events come in order of time.
    #[error("an event at {at} comes too late: the schedule is at {now} already")]
    Late {
        /// The event's time.
        at: Time,
        /// The schedule's.
        now: Time,
    },
    /// See [`MAX_FLOWS`].
    #[error("{MAX_FLOWS} flows are under way; a schedule takes no more")]
    TooManyFlows,
    /// See [`MAX_TRANSFERS`].
    #[error("{MAX_TRANSFERS} transfers are not closed; close those that have ended")]
    TooManyTransfers,
    /// It has no flow yet, or is closed.
    #[error("transfer {transfer}: is not known; it begins with its first flow")]
    UnknownTransfer {
        /// The transfer.
        transfer: u64,
    },
    /// Its flows must end before.
    #[error("transfer {transfer}: has {flows} flows under way; it can be closed when they have ended")]
    OpenTransfer {
        /// The transfer.
        transfer: u64,
        /// How many of its flows are under way.
        flows: usize,
    },
}
