//! The Energy Efficient Ethernet PHY of one transmitter (IEEE 802.3az, clause 78): its true state over time. Its inputs
//! are the transmissions, and the times for which frames held back by a pause or a limiter kept it awake.
//!
//! ```text
//!  transmitting | stall  | sleep Ts | LPI ............. | wake Tw | transmitting
//!  full power   | full   | full     | lpi_fraction      | full    | full
//! ```
//!
//! The PHY is independent of the sender (the P4 program, a NIC): a transmission that starts before the PHY can be awake
//! is a *violation*, which is counted and never corrected. A sleep transition that has begun is not aborted. A wake-up
//! ends when the transmission starts, which is when it was needed: a sender that opens its gate and then does not send
//! appears here as a later wake-up.
//!
//! Each direction sleeps by itself. (1000BASE-T may sleep only when both are idle; that is not modelled.) Two further
//! accounts need no state: *legacy* (always at full power) and *ideal* (Ts = Tw = 0: low power whenever nothing is on
//! the wire).

use units::{Duration, Time};

use crate::spec::PhySpec;

/// Time spent in each state. The four times add up exactly to the observed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateTimes {
    /// Awake: transmitting, or idle without having gone to sleep.
    pub active: Duration,
    /// In the transition to sleep.
    pub sleep: Duration,
    /// In low-power idle.
    pub lpi: Duration,
    /// Waking up.
    pub wake: Duration,
}

impl StateTimes {
    /// Returns the sum of all four.
    pub fn total(&self) -> Duration {
        self.active + self.sleep + self.lpi + self.wake
    }
}

/// Energy in joules under three assumptions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// What the PHY used.
    pub used: f64,
    /// What a PHY that never sleeps would have used for the same transmissions.
    pub legacy: f64,
    /// What a PHY that sleeps and wakes in no time would have used for the same transmissions.
    pub ideal: f64,
}

/// A sleep of a PHY that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// Start of the transition to sleep.
    pub since: Time,
    /// When it was in low-power idle; not later than the requested time.
    pub asleep: Time,
    /// Its wake time, limited to the time since the sleep began.
    pub wake: Duration,
}

/// One transmitter's PHY, observed from [`Time::ZERO`] on; it starts awake and idle.
#[derive(Clone, Debug)]
pub struct Phy {
    kind: PhySpec,
    /// Idle time before the PHY goes to sleep; `None`: it never does (EEE off).
    stall: Option<Duration>,
    tolerance: Duration,
    /// End of the last transmission.
    idle_since: Time,
    /// Time in each state up to `idle_since`.
    until_idle: StateTimes,
    transmitting: Duration,
    wakes: u64,
    violations: u64,
}

impl Phy {
    /// Creates a PHY that sleeps after `stall` without transmission, or never.
    ///
    /// `tolerance` is the permitted error of the sender's clock: an idle time that exceeds the stall by less than this
    /// counts as awake, and a wake-up that is early by no more than this is not a violation. A sender that counts in
    /// ticks is off by up to two of them (one when it reads the start of a transmission, one when it computes its end).
    pub fn new(kind: PhySpec, stall: Option<Duration>, tolerance: Duration) -> Self {
        Self {
            kind,
            stall,
            tolerance,
            idle_since: Time::ZERO,
            until_idle: StateTimes::default(),
            transmitting: Duration::ZERO,
            wakes: 0,
            violations: 0,
        }
    }

    /// Transmits from `start` on, for `wire_time`.
    ///
    /// # Panics
    /// If the last transmission has not ended: a wire carries one frame at a time.
    #[inline]
    pub fn transmit(&mut self, start: Time, wire_time: Duration) {
        assert!(start >= self.idle_since, "two transmissions overlap on one wire");
        self.end_idle(start);
        self.until_idle.active += wire_time;
        self.transmitting += wire_time;
        self.idle_since = start + wire_time;
    }

    /// Keeps the PHY awake: it could have sent from `since` on and sends nothing until `until`, because frames have to
    /// wait for a reason other than the PHY.
    pub fn stay_awake(&mut self, since: Time, until: Time) {
        let since = since.max(self.idle_since);
        if until <= since {
            return;
        }
        self.end_idle(since);
        self.until_idle.active += until - since;
        self.idle_since = until;
    }

    /// Accounts for the idle time that ends at `now`.
    fn end_idle(&mut self, now: Time) {
        let sleep = self.sleep_at(now);
        let times = &mut self.until_idle;
        let Some(Sleep { since, asleep, wake }) = sleep else {
            times.active += now - self.idle_since;
            return;
        };
        self.wakes += 1;
        let transitions = self.kind.sleep + self.kind.wake;
        if now - since + self.tolerance < transitions {
            self.violations += 1;
        }
        times.active += since - self.idle_since;
        times.sleep += asleep - since;
        times.wake += wake;
        times.lpi += (now - since).saturating_sub(transitions);
    }

    /// Returns the sleep of the PHY if it is asleep, or in transition, at `now` and nothing is sent before: what
    /// [`Phy::transmit`] at `now` would count as a wake.
    pub fn sleep_at(&self, now: Time) -> Option<Sleep> {
        let stall = self.stall?;
        let gap = now.saturating_since(self.idle_since);
        if gap.is_zero() || gap < stall + self.tolerance {
            return None;
        }
        let asleep = gap - stall;
        // The time that is missing for both transitions (in a violation, or within the tolerance) is taken from the sleep transition.
        let wake = self.kind.wake.min(asleep);
        let since = self.idle_since + stall;
        Some(Sleep { since, asleep: since + self.kind.sleep.min(asleep - wake), wake })
    }

    /// Returns the time in each state up to `now`; an idle PHY is assumed to stay idle.
    pub fn times(&self, now: Time) -> StateTimes {
        let mut times = self.until_idle;
        if now < self.idle_since {
            times.active = times.active - (self.idle_since - now);
            return times;
        }
        let mut rest = now - self.idle_since;
        let mut spend = |at_most: Duration| {
            let spent = rest.min(at_most);
            rest = rest - spent;
            spent
        };
        times.active += spend(self.stall.unwrap_or(Duration::MAX));
        times.sleep += spend(self.kind.sleep);
        times.lpi += spend(Duration::MAX);
        times
    }

    /// Returns the time up to `now` during which something was on the wire.
    pub fn transmitting(&self, now: Time) -> Duration {
        self.transmitting - self.idle_since.saturating_since(now)
    }

    /// Returns the energy up to `now`.
    pub fn energy(&self, now: Time) -> Energy {
        let PhySpec { watts, lpi_fraction, .. } = self.kind;
        let elapsed = now.since(Time::ZERO).as_secs_f64();
        let joules = |low: Duration| watts * (elapsed - (1.0 - lpi_fraction) * low.as_secs_f64());
        Energy {
            used: joules(self.times(now).lpi),
            legacy: joules(Duration::ZERO),
            ideal: joules(now.since(Time::ZERO) - self.transmitting(now)),
        }
    }

    /// Returns the number of wakes.
    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Returns the number of transmissions that started before the PHY could be awake. If it is not 0, the sender is
    /// wrong.
    pub fn violations(&self) -> u64 {
        self.violations
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEN_GBASE_T: PhySpec = PhySpec {
        rate_bps: 10_000_000_000,
        watts: 2.5,
        lpi_fraction: 0.1,
        sleep: Duration::from_ns(2_880),
        wake: Duration::from_ns(4_480),
    };

    fn ns(ns: u64) -> Duration {
        Duration::from_ns(ns)
    }

    fn at(ns: u64) -> Time {
        Time::ZERO + Duration::from_ns(ns)
    }

    fn phy(stall: Option<u64>) -> Phy {
        Phy::new(TEN_GBASE_T, stall.map(ns), Duration::ZERO)
    }

    #[test]
    fn energy_is_power_by_time_and_beside_it_legacy_and_ideal() {
        let mut phy = phy(Some(0));
        phy.transmit(at(0), ns(1_000_000));
        let energy = phy.energy(at(2_000_000));
        assert!((energy.legacy - 2.5 * 2e-3).abs() < 1e-12);
        assert!((energy.ideal - 2.5 * 1e-3 * 1.1).abs() < 1e-12);
        assert!((energy.used - 2.5 * 1e-6 * (1000.0 + 2.88 + 0.1 * 997.12)).abs() < 1e-12);
    }

    #[test]
    fn a_transmission_that_comes_before_the_phy_can_be_awake_is_a_violation() {
        for (gap, violations) in [(7_360, 0), (7_359, 1), (4_000, 1), (1, 1), (0, 0)] {
            let mut phy = phy(Some(0));
            phy.transmit(at(0), ns(100));
            phy.transmit(at(100 + gap), ns(100));
            assert_eq!(phy.violations(), violations, "{gap} ns");
            assert_eq!(phy.times(at(200 + gap)).total(), ns(200 + gap));
        }
    }

    #[test]
    fn a_clock_of_coarse_ticks_is_forgiven_as_much_as_the_tolerance() {
        let mut phy = Phy::new(TEN_GBASE_T, Some(ns(0)), ns(2));
        phy.transmit(at(0), ns(100));
        phy.transmit(at(101), ns(100)); // Taken as back to back.
        phy.transmit(at(201 + 7_358), ns(100)); // Two nanoseconds short of both transitions.
        assert_eq!((phy.wakes(), phy.violations()), (1, 0));
        phy.transmit(at(201 + 7_358 + 100 + 7_357), ns(100));
        assert_eq!(phy.violations(), 1);
    }

    proptest! {
        #[test]
        fn the_states_add_up_to_the_time_that_has_passed_exactly(
            stall in prop::option::of(0..5_000_000_u64),
            tolerance in 0..3_000_u64,
            sends in prop::collection::vec((0..20_000_000_u64, 1..2_000_000_u64), 0..50),
            after in 0..20_000_000_u64,
            back in 0..2_000_000_u64,
        ) {
            let mut phy = Phy::new(TEN_GBASE_T, stall.map(Duration::from_ps), Duration::from_ps(tolerance));
            let mut now = Time::ZERO;
            for (gap, wire) in sends {
                phy.transmit(now + Duration::from_ps(gap), Duration::from_ps(wire));
                now = now + Duration::from_ps(gap) + Duration::from_ps(wire);
                // In the middle of the transmission, too.
                let middle = now - Duration::from_ps(back.min(wire));
                prop_assert_eq!(phy.times(middle).total(), middle.since(Time::ZERO));
            }
            now += Duration::from_ps(after);
            prop_assert_eq!(phy.times(now).total(), now.since(Time::ZERO));
            let energy = phy.energy(now);
            prop_assert!(energy.ideal <= energy.used + 1e-15 && energy.used <= energy.legacy);
        }
    }
}
