//! Data rates.

use std::fmt;
use std::str::FromStr;

use crate::text::{self, ParseError};
use crate::{Bytes, Duration};

/// A data rate in bits per second, never zero: the absence of a rate is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u64);

const PS_PER_SECOND: u128 = 1_000_000_000_000;

impl DataRate {
    /// Returns a rate of `bps` bits per second.
    ///
    /// # Panics
    /// When `bps` is zero; use [`DataRate::new`] for values from outside.
    pub const fn from_bps(bps: u64) -> Self {
        assert!(bps > 0, "a data rate must be more than zero");
        Self(bps)
    }

    /// Returns a rate of `bps` bits per second, or `None` if it is zero.
    pub const fn new(bps: u64) -> Option<Self> {
        if bps == 0 {
            None
        } else {
            Some(Self(bps))
        }
    }

    /// Returns the bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the time that `size` occupies the wire, rounded up to a picosecond so that back-to-back frames never overlap.
    /// Saturates at [`Duration::MAX`] if the time exceeds 213 days.
    #[inline]
    pub fn transmit_time(self, size: Bytes) -> Duration {
        // Frames are small: 2^20 bytes * 8 * 1e12 still fits into 64 bits, and a 64-bit division is much cheaper.
        const NARROW: u64 = u64::MAX / (8 * PS_PER_SECOND as u64);
        let bytes = size.get();
        if bytes <= NARROW {
            return Duration::from_ps((bytes * 8 * PS_PER_SECOND as u64).div_ceil(self.0));
        }
        let ps = (u128::from(bytes) * 8 * PS_PER_SECOND).div_ceil(u128::from(self.0));
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Units of rate; the factor is in bits per second (decimal, as for link rates).
const UNITS: [(&str, u64); 5] =
    [("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("Kbps", 1_000), ("bps", 1)];

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_exact(f, self.0, &UNITS)
    }
}

impl FromStr for DataRate {
    type Err = ParseError;
    /// Parses "10Gbps", "300 Mbps", "1.5Mbps"; ignores the case of the unit.
    fn from_str(s: &str) -> Result<Self, ParseError> {
        let bps = text::parse(s, "data rate", &UNITS)?;
        DataRate::new(bps).ok_or_else(|| ParseError::zero(s, "data rate"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_time_is_rounded_up_to_a_picosecond() {
        // 8 bits at 3 bit/s = 2.666... s.
        assert_eq!(DataRate::from_bps(3).transmit_time(Bytes::new(1)), Duration::from_ps(2_666_666_666_667));
    }

    #[test]
    fn the_narrow_and_the_wide_path_agree_at_their_border() {
        let rate = DataRate::from_bps(9_999_999_937);
        for bytes in 2_305_840..2_305_846_u64 {
            let exact = (u128::from(bytes) * 8 * PS_PER_SECOND).div_ceil(u128::from(rate.as_bps()));
            assert_eq!(u128::from(rate.transmit_time(Bytes::new(bytes)).as_ps()), exact, "{bytes} bytes");
        }
    }

    #[test]
    fn an_endless_transmission_saturates() {
        assert_eq!(DataRate::from_bps(1).transmit_time(Bytes::new(u64::MAX)), Duration::MAX);
    }

    #[test]
    fn rates_print_and_parse() {
        for text in ["10Gbps", "300Mbps", "1.5Mbps", "97bps"] {
            assert_eq!(text.parse::<DataRate>().unwrap().to_string(), text);
        }
        assert_eq!("100gbps".parse::<DataRate>().unwrap(), DataRate::from_bps(100_000_000_000));
    }

    #[test]
    fn a_rate_of_zero_is_refused() {
        assert!("0Gbps".parse::<DataRate>().unwrap_err().to_string().contains("more than zero"));
        assert_eq!(DataRate::new(0), None);
    }
}
