//! Points and spans of virtual time, in integer picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::{self, ParseError};

/// A point in time: picoseconds since the start of the run, also in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Time(u64);

/// A span of time: picoseconds, also in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// A time later than every event.
    pub const MAX: Time = Time(u64::MAX);

    /// Returns the time `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, rounded to a double: for display and plots only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// Returns the time since `earlier`.
    ///
    /// # Panics
    /// When `earlier` is later than this.
    pub fn since(self, earlier: Time) -> Duration {
        self - earlier
    }

    /// Returns this time plus `span`, or `None` on overflow.
    pub const fn checked_add(self, span: Duration) -> Option<Time> {
        match self.0.checked_add(span.0) {
            Some(ps) => Some(Time(ps)),
            None => None,
        }
    }

    /// Returns this time plus `span`, at most [`Time::MAX`].
    pub const fn saturating_add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest span.
    pub const MAX: Duration = Duration(u64::MAX);

    /// Returns a span of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns a span of `ns` nanoseconds.
    ///
    /// # Panics
    /// If the span exceeds 213 days, as in the other `from_` functions.
    pub const fn from_ns(ns: u64) -> Self {
        Self::scaled(ns, 1_000)
    }

    /// Returns a span of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self::scaled(us, 1_000_000)
    }

    /// Returns a span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self::scaled(ms, 1_000_000_000)
    }

    /// Returns a span of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self::scaled(s, 1_000_000_000_000)
    }

    const fn scaled(count: u64, ps_each: u64) -> Self {
        match count.checked_mul(ps_each) {
            Some(ps) => Self(ps),
            None => panic!("a duration is longer than 64 bits of picoseconds (213 days)"),
        }
    }

    /// Returns the picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds, rounded to a double: for display and plots only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// Returns whether the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the sum, at most [`Duration::MAX`].
    pub const fn saturating_add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }

    /// Returns the difference, at least zero.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// Returns `count` times this span, at most [`Duration::MAX`].
    pub const fn saturating_mul(self, count: u64) -> Duration {
        Duration(self.0.saturating_mul(count))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        self.checked_add(span).expect("time runs past 64 bits of picoseconds (213 days)")
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time(self.0.checked_sub(span.0).expect("time runs back before the start of the run"))
    }
}

impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        Duration(self.0.checked_sub(earlier.0).expect("the earlier time is later than the later one"))
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(
            self.0.checked_add(other.0).expect("a duration is longer than 64 bits of picoseconds (213 days)"),
        )
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.checked_sub(other.0).expect("a duration is negative"))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, count: u64) -> Duration {
        Duration::scaled(count, self.0)
    }
}

/// Returns how many whole times the divisor fits: a time in ticks is `duration / tick`.
impl Div for Duration {
    type Output = u64;
    fn div(self, by: Duration) -> u64 {
        assert!(by.0 != 0, "a duration is divided by one of no length");
        self.0 / by.0
    }
}

/// Units of time, largest first; the factor is in picoseconds.
const UNITS: [(&str, u64); 6] = [
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
    ("min", 60_000_000_000_000),
];

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_exact(f, self.0, &UNITS[..5])
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

impl FromStr for Duration {
    type Err = ParseError;
    /// Parses "120us", "4.48 us", "1s"; accepts `µs` for `us`.
    fn from_str(s: &str) -> Result<Self, ParseError> {
        text::parse(s, "duration", &UNITS).map(Duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_prints_in_the_largest_unit_that_divides_it_or_with_an_exact_fraction() {
        for (span, text) in [
            (Duration::from_us(120), "120us"),
            (Duration::from_ns(4480), "4.48us"),
            (Duration::from_secs(2), "2s"),
            (Duration::from_ps(999), "999ps"),
            (Duration::ZERO, "0ps"),
            (Duration::from_ps(1_000_001), "1.000001us"),
        ] {
            assert_eq!(span.to_string(), text);
            assert_eq!(text.parse::<Duration>().unwrap(), span);
        }
    }

    #[test]
    fn micro_sign_space_and_minutes_are_read() {
        assert_eq!("16.5 µs".parse::<Duration>().unwrap(), Duration::from_ns(16_500));
        assert_eq!("2min".parse::<Duration>().unwrap(), Duration::from_secs(120));
    }

    #[test]
    fn ticks_are_whole_and_round_down() {
        assert_eq!(Duration::from_ns(2_999) / Duration::from_us(1), 2);
    }

    #[test]
    #[should_panic(expected = "later")]
    fn a_negative_span_panics_instead_of_wrapping() {
        let _ = Time::from_ps(1) - Time::from_ps(2);
    }

    #[test]
    fn saturating_forms_stop_at_the_ends() {
        assert_eq!(Time::MAX.saturating_add(Duration::from_ps(1)), Time::MAX);
        assert_eq!(Time::MAX.checked_add(Duration::from_ps(1)), None);
        assert_eq!(Time::ZERO.saturating_since(Time::from_ps(5)), Duration::ZERO);
    }
}
