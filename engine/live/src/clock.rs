//! The clock of a switch in real time.

use std::time::{Duration as StdDuration, Instant};

use units::Time;

/// The time since the start. It can be held back if the switch cannot keep up with its own work.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    held_back: StdDuration,
}

impl Clock {
    pub(crate) fn new(start: Instant) -> Self {
        Self { start, held_back: StdDuration::ZERO }
    }

    /// Returns the clock's time at `instant`; [`Time::MAX`] beyond 213 days, where 64 bits of picoseconds end.
    pub(crate) fn at(&self, instant: Instant) -> Time {
        let elapsed = instant.saturating_duration_since(self.start).saturating_sub(self.held_back);
        let ps = elapsed.as_nanos().saturating_mul(1_000);
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the wait from `instant` until the clock shows `time`.
    pub(crate) fn until(&self, time: Time, instant: Instant) -> StdDuration {
        let ahead_ps = time.saturating_since(self.at(instant)).as_ps();
        // Rounded up: a wait that ends early would have to be repeated.
        StdDuration::from_nanos(ahead_ps.div_ceil(1_000))
    }

    /// Holds the clock back so that it shows `time`, an earlier time, at `instant`.
    pub(crate) fn hold_back_to(&mut self, time: Time, instant: Instant) {
        let ahead = self.at(instant).saturating_since(time);
        self.held_back += StdDuration::from_nanos(ahead.as_ps() / 1_000);
    }

    /// Returns the total time by which the clock has been held back.
    pub(crate) fn held_back(&self) -> StdDuration {
        self.held_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_what_has_passed_since_its_start_less_what_it_was_held_back() {
        let start = Instant::now();
        let mut clock = Clock::new(start);
        let later = start + StdDuration::from_micros(50);
        assert_eq!(clock.at(later), Time::from_ps(50_000_000));
        clock.hold_back_to(Time::from_ps(20_000_000), later);
        assert_eq!(clock.at(later), Time::from_ps(20_000_000));
        assert_eq!(clock.held_back(), StdDuration::from_micros(30));
        assert_eq!(clock.until(Time::from_ps(21_000_500), later), StdDuration::from_nanos(1_001));
    }

    #[test]
    fn it_stops_at_the_end_of_representable_time() {
        let start = Instant::now();
        assert_eq!(Clock::new(start).at(start + StdDuration::from_secs(86_400 * 300)), Time::MAX);
    }
}
