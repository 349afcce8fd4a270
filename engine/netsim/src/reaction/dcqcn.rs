//! The reaction point of DCQCN.

use serde::Deserialize;
use units::{Duration, Time};

use super::recovery::{Recovery, Rules};
use super::{check_recovery, within, MAX_PERIOD_PS, MIN_PERIOD_PS};
use crate::spec::SpecError;

/// Settings of DCQCN at a sender, with the values that Zhu et al. (SIGCOMM 2015) deployed, as far as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DcqcnSettings {
    /// B: bytes of a cycle. Default 10 MB.
    pub cycle_bytes: u64,
    /// T: time of a cycle. Default 55 us.
    pub timer_ps: u64,
    /// F: cycles until the target rises. Default 5.
    pub fast_cycles: u32,
    /// Increase of the target per cycle of additive increase. Default 40 Mb/s.
    pub active_bps: u64,
    /// Increase per cycle of hyper increase, times the number of these cycles so far. Not published; default 400 Mb/s,
    /// ten times `active_bps` as in QCN.
    pub hyper_bps: u64,
    /// g is 2^-n. Default 8.
    pub gain_shift: u32,
    /// K: time without a notification after which the estimate of congestion decays. Default 55 us.
    pub alpha_timer_ps: u64,
    /// The minimum rate. Default 5 Mb/s.
    pub min_bps: u64,
}

impl Default for DcqcnSettings {
    fn default() -> Self {
        Self {
            cycle_bytes: 10_000_000,
            timer_ps: 55_000_000,
            fast_cycles: 5,
            active_bps: 40_000_000,
            hyper_bps: 400_000_000,
            gain_shift: 8,
            alpha_timer_ps: 55_000_000,
            min_bps: 5_000_000,
        }
    }
}

impl DcqcnSettings {
    /// Checks that the settings at `place` of a spec are within their ranges.
    pub(crate) fn check(&self, place: &str) -> Result<(), SpecError> {
        check_recovery(place, &self.rules(), self.min_bps)?;
        within(place, "gain_shift", self.gain_shift.into(), 1..=16, "must be from 1 to 16")?;
        let period = MIN_PERIOD_PS..=MAX_PERIOD_PS;
        within(place, "alpha_timer_ps", self.alpha_timer_ps, period, "must be from 1 us to 1000 s")
    }

    pub(super) fn rules(&self) -> Rules {
        Rules {
            cycle_bytes: self.cycle_bytes,
            cycle: Duration::from_ps(self.timer_ps),
            fast_cycles: self.fast_cycles,
            hyper_above: self.fast_cycles,
            active_bps: self.active_bps,
            hyper_bps: self.hyper_bps,
            are_halved: false,
            is_far_target_cut: false,
        }
    }
}

/// An estimate of 1.
const ONE: u64 = 1 << 32;

/// The estimate of a flow's congestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    settings: DcqcnSettings,
    /// In parts of [`ONE`].
    pub(super) alpha: u64,
    /// When it decays next; never before the first notification.
    decay_at: Time,
}

impl Estimate {
    /// Creates an estimate of 1.
    pub(super) fn new(settings: DcqcnSettings) -> Self {
        Self { settings, alpha: ONE, decay_at: Time::MAX }
    }

    /// Cuts the rate at a congestion notification packet (equation 1).
    pub(super) fn cut(&mut self, recovery: &mut Recovery, now: Time) {
        let rate = recovery.rate_bps;
        recovery.retarget();
        let cut = (u128::from(rate) * u128::from(self.alpha) / u128::from(2 * ONE)) as u64;
        recovery.restart(now, (rate - cut).max(self.settings.min_bps.min(rate)));
        self.alpha = self.alpha - self.decay() + (ONE >> self.settings.gain_shift);
        self.decay_at = now + Duration::from_ps(self.settings.alpha_timer_ps);
    }

    /// Runs the timer due by `now` (equation 2).
    pub(super) fn advance(&mut self, now: Time) {
        while self.decay() > 0 && self.decay_at <= now {
            self.alpha -= self.decay();
            self.decay_at += Duration::from_ps(self.settings.alpha_timer_ps);
        }
    }

    /// Returns the decrease of the estimate when its timer expires: finally 0, when the estimate is below 2^-16.
    fn decay(&self) -> u64 {
        self.alpha >> self.settings.gain_shift
    }
}
