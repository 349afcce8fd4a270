//! Reaction points: how the rate of one flow at its sender answers congestion.
//!
//! * [`Qcn`] answers congestion notification messages of switches (IEEE 802.1Q-2022 clauses 30 to 33, first IEEE 802.1Qau-2010);
//! * [`Dcqcn`] answers congestion notification packets of the flow's receiver (Zhu et al., SIGCOMM 2015, section 3).
//!
//! Both cut the rate by what they are told and win it back by the same [`recovery`]. They are state machines without clock: times and
//! bytes go in, a rate comes out. What is due is done when time is told, in order of time, so that a caller may look at any
//! moment. Rates are whole bits per second on the wire; nothing is drawn at random.

mod dcqcn;
mod qcn;
mod recovery;

pub use dcqcn::{Dcqcn, DcqcnSettings};
pub use qcn::{Qcn, QcnScope, QcnSettings, MAX_FEEDBACK};

/// A setting of a reaction point that is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {value}: {reason}")]
pub struct SettingsError {
    /// The setting.
    pub name: &'static str,
    /// What it is.
    pub value: u64,
    /// What it may be.
    pub reason: &'static str,
}

/// Shortest period of a timer, in picoseconds: 1 us.
const MIN_PERIOD_PS: u64 = 1_000_000;
/// Longest one: 1000 s.
const MAX_PERIOD_PS: u64 = 1_000_000_000_000_000;
/// Highest rate that is added in one step: 1 Tb/s.
const MAX_INCREASE_BPS: u64 = 1_000_000_000_000;

/// Refuses a value outside of its range.
fn within(
    name: &'static str,
    value: u64,
    range: std::ops::RangeInclusive<u64>,
    reason: &'static str,
) -> Result<(), SettingsError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SettingsError { name, value, reason })
}

/// Checks the settings that both kinds have.
fn check_recovery(rules: &recovery::Rules, min_bps: u64) -> Result<(), SettingsError> {
    within("cycle_bytes", rules.cycle_bytes, 1_000..=u64::MAX >> 1, "must be at least 1000")?;
    within("timer_ps", rules.cycle.as_ps(), MIN_PERIOD_PS..=MAX_PERIOD_PS, "must be from 1 us to 1000 s")?;
    within("fast_cycles", rules.fast_cycles.into(), 1..=1_000, "must be from 1 to 1000")?;
    within("active_bps", rules.active_bps, 1..=MAX_INCREASE_BPS, "must be from 1 to 10^12")?;
    within("hyper_bps", rules.hyper_bps, 1..=MAX_INCREASE_BPS, "must be from 1 to 10^12")?;
    within("min_bps", min_bps, 1..=MAX_INCREASE_BPS, "must be from 1 to 10^12")
}
