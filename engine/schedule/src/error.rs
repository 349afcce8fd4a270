//! Errors of a schedule. A refused event changes nothing.

use units::Time;

use crate::{FlowId, MAX_FLOWS, MAX_PATH, MAX_TRANSFERS, MAX_VOLUME_BITS};

/// The reason why an event is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The flow has not arrived, or has ended already.
    #[error("flow {} of transfer {}: is not under way; announce it before its end", .id.flow, .id.transfer)]
    UnknownFlow {
        /// The flow.
        id: FlowId,
    },
    /// The flow is already under way.
    #[error("flow {} of transfer {}: is under way already; new data is a flow with a number of its own", .id.flow, .id.transfer)]
    DuplicateFlow {
        /// The flow.
        id: FlowId,
    },
    /// The volume is zero, or more than a petabyte.
    #[error("flow {} of transfer {}: a volume of {bits} bits; it must be 1 to {MAX_VOLUME_BITS}", .id.flow, .id.transfer)]
    Volume {
        /// The flow.
        id: FlowId,
        /// The announced volume.
        bits: u64,
    },
    /// A path must have at least one link and at most [`MAX_PATH`].
    #[error("flow {} of transfer {}: a path of {links} links; it must have 1 to {MAX_PATH}", .id.flow, .id.transfer)]
    PathLength {
        /// The flow.
        id: FlowId,
        /// The number of links in the path.
        links: usize,
    },
    /// The link does not exist.
    #[error("flow {} of transfer {}: no link number {link}: there are {count}", .id.flow, .id.transfer)]
    UnknownLink {
        /// The flow.
        id: FlowId,
        /// The link's number.
        link: u32,
        /// The number of links.
        count: usize,
    },
    /// A path crosses each link at most once.
    #[error("flow {} of transfer {}: crosses link {link} twice; a path has no loop", .id.flow, .id.transfer)]
    RepeatedLink {
        /// The flow.
        id: FlowId,
        /// The link.
        link: u32,
    },
    /// Events must be in order of time.
    #[error("an event at {at} comes too late: the schedule is at {now} already")]
    Late {
        /// The event's time.
        at: Time,
        /// The schedule's time.
        now: Time,
    },
    /// There are [`MAX_FLOWS`] flows already.
    #[error("{MAX_FLOWS} flows are under way; a schedule takes no more")]
    TooManyFlows,
    /// There are [`MAX_TRANSFERS`] transfers already.
    #[error("{MAX_TRANSFERS} transfers are not closed; close those that have ended")]
    TooManyTransfers,
    /// The transfer has had no flow yet, or is closed.
    #[error("transfer {transfer}: is not known; it begins with its first flow")]
    UnknownTransfer {
        /// The transfer.
        transfer: u64,
    },
    /// All flows of a transfer must end before it is closed.
    #[error("transfer {transfer}: has {flows} flows under way; it can be closed when they have ended")]
    OpenTransfer {
        /// The transfer.
        transfer: u64,
        /// The number of its flows under way.
        flows: usize,
    },
}
