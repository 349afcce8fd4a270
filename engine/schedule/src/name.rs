//! Schedulers by name.

use std::fmt;

use serde::Deserialize;

use crate::dclas::Dclas;
use crate::fair::Fair;
use crate::fca::{self, Fca};
use crate::ordered::{Order, Ordered};
use crate::Scheduler;

/// The kind of scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SchedulerKind"))]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Max-min fairness among all flows.
    Fair,
    /// Flow chasing.
    Fca,
    /// Smallest effective bottleneck first, with MADD.
    Sebf,
    /// Transfers in order of their longest flow, with MADD.
    Scf,
    /// Least attained service in ten queues.
    Dclas,
}

impl Name {
    /// All names.
    pub const ALL: [Name; 5] = [Name::Fair, Name::Fca, Name::Sebf, Name::Scf, Name::Dclas];

    /// Returns the order in which transfers are served one after another; `None` if they are not.
    pub(crate) fn order(self, options: fca::Options) -> Option<Order> {
        match (self, options.order) {
            (Name::Sebf, _) => Some(Order::Bottleneck),
            (Name::Scf, _) => Some(Order::Length),
            (Name::Fca, fca::Volume::Total) if options.preempt => Some(Order::Total),
            (Name::Fca, fca::Volume::Remaining) if options.preempt => Some(Order::Remaining),
            (Name::Fair | Name::Fca | Name::Dclas, _) => None,
        }
    }

    /// Returns the scheduler; `options` are the settings of flow chasing.
    pub fn scheduler(self, options: fca::Options) -> Box<dyn Scheduler> {
        match (self, self.order(options)) {
            (_, Some(order)) => Box::new(Ordered::new(order)),
            (Name::Fair, _) => Box::new(Fair),
            (Name::Dclas, _) => Box::new(Dclas),
            (Name::Fca | Name::Sebf | Name::Scf, _) => Box::new(Fca::new(options)),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Name::Fair => "fair",
            Name::Fca => "fca",
            Name::Sebf => "sebf",
            Name::Scf => "scf",
            Name::Dclas => "dclas",
        })
    }
}
