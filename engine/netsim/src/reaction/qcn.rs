//! The reaction point of quantized congestion notification.

use serde::Deserialize;
use units::{Duration, Time};

use super::recovery::{Recovery, Rules};
use super::{check_recovery, within};
use crate::spec::SpecError;

/// The maximum feedback: six bits.
pub const MAX_FEEDBACK: u8 = 63;

/// Settings of QCN at a sender, with the defaults of IEEE8021-CN-MIB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QcnSettings {
    /// `rpgByteReset`: bytes of a cycle. Default 150000.
    pub cycle_bytes: u64,
    /// `rpgTimeReset`: time of a cycle. Default 15 ms.
    pub timer_ps: u64,
    /// `rpgThreshold`: cycles until the target rises. Default 5.
    pub fast_cycles: u32,
    /// `rpgAiRate`: increase of the target per cycle of active increase. Default 5 Mb/s.
    pub active_bps: u64,
    /// `rpgHaiRate`: increase per cycle of hyper-active increase, times the number of these cycles so far. Default 50 Mb/s.
    pub hyper_bps: u64,
    /// `rpgGd`: feedback f cuts the rate by f / 2^n of it. Default 7.
    pub gain_shift: u32,
    /// `rpgMinDecFac`: minimum that one cut leaves of the rate, in percent. Default 50.
    pub min_decrease_percent: u32,
    /// `rpgMinRate`: the minimum rate. Default 5 Mb/s.
    pub min_bps: u64,
    /// Whether further cuts within the first cycle of bytes keep the target of the first cut. Default true.
    pub extra_fast_recovery: bool,
    /// Whether cycles after fast recovery are half as long (Alizadeh et al., Allerton 2008). Default true.
    pub halved_cycles: bool,
    /// The flows of a host that share a reaction point. Default flow.
    pub scope: QcnScope,
}

/// The flows of a host that share a reaction point, and are slowed down together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum QcnScope {
    /// Each 5-tuple has its own.
    #[default]
    Flow,
    /// All flows to one address.
    Pair,
    /// All flows.
    Host,
}

impl Default for QcnSettings {
    fn default() -> Self {
        Self {
            cycle_bytes: 150_000,
            timer_ps: 15_000_000_000,
            fast_cycles: 5,
            active_bps: 5_000_000,
            hyper_bps: 50_000_000,
            gain_shift: 7,
            min_decrease_percent: 50,
            min_bps: 5_000_000,
            extra_fast_recovery: true,
            halved_cycles: true,
            scope: QcnScope::Flow,
        }
    }
}

impl QcnSettings {
    /// Checks that the settings at `place` of a spec are within their ranges.
    pub(crate) fn check(&self, place: &str) -> Result<(), SpecError> {
        check_recovery(place, &self.rules(), self.min_bps)?;
        // Below 6, a strong feedback would cut more than the whole rate.
        within(place, "gain_shift", self.gain_shift.into(), 6..=30, "must be from 6 to 30")?;
        let percent = self.min_decrease_percent.into();
        within(place, "min_decrease_percent", percent, 1..=100, "must be from 1 to 100")
    }

    pub(super) fn rules(&self) -> Rules {
        Rules {
            cycle_bytes: self.cycle_bytes,
            cycle: Duration::from_ps(self.timer_ps),
            fast_cycles: self.fast_cycles,
            hyper_above: self.fast_cycles.saturating_sub(1),
            active_bps: self.active_bps,
            hyper_bps: self.hyper_bps,
            are_halved: self.halved_cycles,
            is_far_target_cut: true,
        }
    }

    /// Cuts the rate by a feedback of 0 to [`MAX_FEEDBACK`]; 0 changes nothing.
    pub(super) fn cut(&self, recovery: &mut Recovery, now: Time, feedback: u8) {
        if feedback == 0 {
            return;
        }
        let rate = recovery.rate_bps;
        if recovery.byte_stage > 0 || !self.extra_fast_recovery {
            recovery.retarget();
        }
        let of_rate = |numerator: u64, denominator: u64| {
            (u128::from(rate) * u128::from(numerator) / u128::from(denominator)) as u64
        };
        let cut = of_rate(feedback.min(MAX_FEEDBACK).into(), 1 << self.gain_shift);
        let least = of_rate(self.min_decrease_percent.into(), 100);
        recovery.restart(now, (rate - cut).max(least).max(self.min_bps.min(rate)));
    }
}
