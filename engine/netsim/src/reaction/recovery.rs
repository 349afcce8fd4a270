//! How a rate that was cut comes back: cycles of bytes and of time, each of which brings the rate half of the way to its target.
//!
//! A counter of bytes and a timer each count their cycles since the last cut: the *stages*. Until one of them has made a number of cycles the
//! target stays (fast recovery); then each cycle raises it (active increase), and more when both have (hyper-active increase).

use units::{Duration, Time};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Bytes of a cycle.
    pub(super) cycle_bytes: u64,
    /// Time of a cycle.
    pub(super) cycle: Duration,
    /// The target stays while both stages are lower.
    pub(super) fast_cycles: u32,
    /// Both stages must be higher for hyper-active increase, whose step grows by how much.
    pub(super) hyper_above: u32,
    /// Added to the target in active increase, bits per second.
    pub(super) active_bps: u64,
    /// Added in hyper-active increase for each stage above.
    pub(super) hyper_bps: u64,
    /// Cycles after fast recovery are half as long.
    pub(super) are_halved: bool,
    /// A target above ten times the rate is brought nearer at the end of a first cycle, to an eighth.
    pub(super) is_far_target_cut: bool,
}

/// The rate of a flow, its target, and the stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    rules: Rules,
    line_bps: u64,
    /// Neither rate is above `line_bps`, nor the rate above its target.
    pub(super) target_bps: u64,
    pub(super) rate_bps: u64,
    bytes_left: u64,
    byte_stage: u32,
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

    /// Returns whether the rate is that of the line.
    pub(super) fn is_complete(&self) -> bool {
        self.rate_bps == self.line_bps
    }

    pub(super) fn byte_stage(&self) -> u32 {
        self.byte_stage
    }

    /// Restarts the cycle of the byte counter.
    pub(super) fn restart_bytes(&mut self) {
        self.bytes_left = self.rules.cycle_bytes;
    }

    /// Restarts both stages and the timer at the rate that was cut to.
    pub(super) fn restart(&mut self, now: Time, rate_bps: u64) {
        (self.byte_stage, self.time_stage) = (0, 0);
        self.rate_bps = rate_bps;
        self.timer_at = now + self.rules.cycle;
    }

    /// Returns when the timer expires; `None` when there is nothing to recover.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        (!self.is_complete()).then_some(self.timer_at)
    }

    /// Handles the timer that has expired at `at`.
    pub(super) fn expire(&mut self, at: Time) {
        self.time_stage = self.time_stage.saturating_add(1);
        let halved = self.rules.are_halved && self.time_stage >= self.rules.fast_cycles;
        let cycle = self.rules.cycle.as_ps() >> u32::from(halved);
        self.timer_at = at + Duration::from_ps(cycle);
        self.increase();
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
        // Rounded up, so that a rate arrives at its target.
        self.rate_bps += (self.target_bps - self.rate_bps).div_ceil(2);
    }
}
