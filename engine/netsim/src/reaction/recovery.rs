//! Recovery of a rate after a cut: cycles of bytes and of time, each of which moves the rate half of the way to its target.
//!
//! A byte counter and a timer each count their cycles since the last cut: the *stages*. The target stays until one of them has made a given
//! number of cycles (fast recovery); then each cycle raises it (active increase), and by more when both have (hyper-active increase).

use units::{Duration, Time};

/// The parameters of a recovery; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Bytes of a cycle.
    pub(super) cycle_bytes: u64,
    /// Time of a cycle.
    pub(super) cycle: Duration,
    /// The target stays while both stages are lower.
    pub(super) fast_cycles: u32,
    /// Both stages must be higher for hyper-active increase, whose step grows with the difference.
    pub(super) hyper_above: u32,
    /// Increase of the target in active increase, in bits per second.
    pub(super) active_bps: u64,
    /// Increase in hyper-active increase, for each stage above `hyper_above`.
    pub(super) hyper_bps: u64,
    /// Whether cycles after fast recovery are half as long.
    pub(super) are_halved: bool,
    /// Whether a target above ten times the rate is cut to an eighth at the end of a first cycle.
    pub(super) is_far_target_cut: bool,
}

/// The rate of a flow, its target, and the stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    rules: Rules,
    line_bps: u64,
    /// Neither rate is above `line_bps`, and the rate is not above its target.
    pub(super) target_bps: u64,
    pub(super) rate_bps: u64,
    bytes_left: u64,
    pub(super) byte_stage: u32,
    time_stage: u32,
    timer_at: Time,
}

impl Recovery {
    /// Creates a recovery at line rate, with nothing to recover.
    pub(super) fn new(rules: Rules, line_bps: u64) -> Self {
        Self {
            rules,
            line_bps,
            target_bps: line_bps,
            rate_bps: line_bps,
            bytes_left: rules.cycle_bytes,
            byte_stage: 0,
            time_stage: 0,
            timer_at: Time::MAX,
        }
    }

    /// Returns whether the rate is the line rate.
    pub(super) fn is_complete(&self) -> bool {
        self.rate_bps == self.line_bps
    }

    /// Makes the rate before a cut the target, and restarts the cycle of the byte counter.
    pub(super) fn retarget(&mut self) {
        self.target_bps = self.rate_bps;
        self.bytes_left = self.rules.cycle_bytes;
    }

    /// Restarts both stages and the timer, with the rate after a cut.
    pub(super) fn restart(&mut self, now: Time, rate_bps: u64) {
        (self.byte_stage, self.time_stage) = (0, 0);
        self.rate_bps = rate_bps;
        self.timer_at = now + self.rules.cycle;
    }

    /// Returns when the timer expires; never if there is nothing to recover.
    pub(super) fn next_timeout(&self) -> Time {
        if self.is_complete() {
            Time::MAX
        } else {
            self.timer_at
        }
    }

    /// Runs the timer due by `now`.
    pub(super) fn advance(&mut self, now: Time) {
        while !self.is_complete() && self.timer_at <= now {
            self.time_stage = self.time_stage.saturating_add(1);
            let halved = self.rules.are_halved && self.time_stage >= self.rules.fast_cycles;
            self.timer_at += Duration::from_ps(self.rules.cycle.as_ps() >> u32::from(halved));
            self.increase();
        }
    }

    /// Counts bytes that the flow has sent.
    pub(super) fn sent(&mut self, mut bytes: u64) {
        if self.is_complete() {
            return;
        }
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.byte_stage = self.byte_stage.saturating_add(1);
            let halved = self.rules.are_halved && self.byte_stage >= self.rules.fast_cycles;
            self.bytes_left = self.rules.cycle_bytes >> u32::from(halved);
            self.increase();
        }
        self.bytes_left -= bytes;
    }

    fn increase(&mut self) {
        let (lower, higher) = (self.byte_stage.min(self.time_stage), self.byte_stage.max(self.time_stage));
        let is_first = self.byte_stage == 1 || self.time_stage == 1;
        if self.rules.is_far_target_cut && is_first && self.target_bps / 10 > self.rate_bps {
            self.target_bps /= 8;
        } else if lower > self.rules.hyper_above {
            let step = self.rules.hyper_bps.saturating_mul(u64::from(lower - self.rules.hyper_above));
            self.target_bps = self.target_bps.saturating_add(step).min(self.line_bps);
        } else if higher >= self.rules.fast_cycles {
            self.target_bps = self.target_bps.saturating_add(self.rules.active_bps).min(self.line_bps);
        }
        // Rounded up, so that a rate reaches its target.
        self.rate_bps += (self.target_bps - self.rate_bps).div_ceil(2);
    }
}
