//! The error of this crate. What is refused changes nothing.

use std::fmt::Display;

use crate::{FlowId, MAX_FLOWS, MAX_TRANSFERS};

/// The reason why an event, a run or a name is refused: what it is about, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScheduleError(pub(crate) String);

impl ScheduleError {
    pub(crate) fn of_flow(id: FlowId, reason: impl Display) -> Self {
        Self(format!("flow {} of transfer {}: {reason}", id.flow, id.transfer))
    }

    pub(crate) fn duplicate(id: FlowId) -> Self {
        Self::of_flow(id, "is under way already; new data is a flow with a number of its own")
    }

    pub(crate) fn too_many_flows() -> Self {
        Self(format!("{MAX_FLOWS} flows are under way; a schedule takes no more"))
    }

    pub(crate) fn too_many_transfers() -> Self {
        Self(format!("{MAX_TRANSFERS} transfers are not closed; close those that have ended"))
    }
}
