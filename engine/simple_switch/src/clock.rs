//! The switch's clock: converts virtual time to the ticks that the program sees, and ticks to virtual time.

use units::{Duration, Time};

/// Converts between time and ticks. The clock holds no current time: callers pass it in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    tick: Duration,
    /// The clock's value at [`Time::ZERO`].
    start: u64,
}

impl Clock {
    pub(crate) fn new(tick: Duration, start: u64) -> Self {
        Self { tick, start }
    }

    /// Returns the whole ticks at `time`. A field that stores them keeps as many low bits as it has.
    #[inline]
    pub(crate) fn ticks(&self, time: Time) -> u64 {
        (time.as_ps() / self.tick.as_ps()).wrapping_add(self.start)
    }

    /// Returns the first instant at which the clock showed `ticks`, the value of a `width`-bit field, as seen at `now`.
    /// Returns `now` if `ticks` is ahead of the clock.
    pub(crate) fn time_since(&self, ticks: u64, width: u32, now: Time) -> Time {
        let unused = 64 - width.clamp(1, 64);
        let shown = now.as_ps() / self.tick.as_ps();
        let behind = (self.ticks(now).wrapping_sub(ticks) << unused) as i64 >> unused;
        let Ok(behind) = u64::try_from(behind) else { return now };
        Time::from_ps(shown.saturating_sub(behind) * self.tick.as_ps())
    }

    /// Returns the clock's value at `time` in whole microseconds, whatever the tick is.
    pub(crate) fn microseconds(&self, time: Time) -> u64 {
        let shown = u128::from(self.start) * u128::from(self.tick.as_ps()) + u128::from(time.as_ps());
        (shown / u128::from(Duration::from_us(1).as_ps())) as u64
    }

    /// Returns when the clock first shows `ticks`, the value of a `width`-bit field, as seen at `now`: [`Time::ZERO`]
    /// if it has shown it, [`Time::MAX`] if it never will.
    ///
    /// Values up to half the field's range behind the clock are past, the other half is in the future; so the
    /// comparison holds when the field wraps.
    #[inline]
    pub(crate) fn time_of(&self, ticks: u64, width: u32, now: Time) -> Time {
        let unused = 64 - width.clamp(1, 64);
        let shown = now.as_ps() / self.tick.as_ps();
        let ahead = (ticks.wrapping_sub(shown.wrapping_add(self.start)) << unused) as i64 >> unused;
        let Ok(ahead) = u64::try_from(ahead) else { return Time::ZERO };
        if ahead == 0 {
            return Time::ZERO;
        }
        let due = shown.checked_add(ahead).and_then(|ticks| ticks.checked_mul(self.tick.as_ps()));
        due.map_or(Time::MAX, Time::from_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const US: Duration = Duration::from_us(1);

    #[test]
    fn microseconds_do_not_depend_on_the_tick() {
        assert_eq!(Clock::new(Duration::from_ns(1), 5_000).microseconds(Time::from_ps(2_999_999)), 7);
    }

    #[test]
    fn a_time_that_has_passed_is_the_first_instant_the_clock_showed_it() {
        let clock = Clock::new(US, (1 << 48) - 2);
        let now = Time::from_ps(5_500_000); // shows 3
        assert_eq!(clock.time_since(1, 48, now), Time::from_ps(3_000_000));
        assert_eq!(clock.time_since((1 << 48) - 1, 48, now), Time::from_ps(1_000_000));
        assert_eq!(clock.time_since(3, 48, now), Time::from_ps(5_000_000));
        assert_eq!(clock.time_since(4, 48, now), now);
    }

    #[test]
    fn a_time_beyond_the_end_of_the_run_never_comes() {
        let clock = Clock::new(US, 0);
        assert_eq!(clock.time_of((1 << 47) - 1, 48, Time::ZERO), Time::MAX);
    }

    proptest! {
        #[test]
        fn the_clock_shows_the_ticks_at_their_time_and_not_just_before(
            tick in 1..5_000_000u64, start in any::<u64>(), now in 0..1u64 << 60, ahead in 1..1u64 << 30
        ) {
            let clock = Clock::new(Duration::from_ps(tick), start);
            let now = Time::from_ps(now);
            let mask = (1u64 << 48) - 1;
            let value = clock.ticks(now).wrapping_add(ahead) & mask;
            let due = clock.time_of(value, 48, now);
            prop_assert_eq!(clock.ticks(due) & mask, value);
            prop_assert!(clock.ticks(due - Duration::from_ps(1)) & mask != value);
        }
    }
}
