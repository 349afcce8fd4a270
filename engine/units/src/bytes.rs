//! Sizes.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::{self, ParseError};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// Returns a size of `count` bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.checked_add(other.0).expect("a byte count exceeds 64 bits"))
    }
}

/// Decimal units first (`KB` = 1000, as in papers and link rates), then the binary ones.
const UNITS: [(&str, u64); 7] = [
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_exact(f, self.0, &UNITS[..4])
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    /// Parses "300KB" (300 000), "97.5kB", "64KiB" (65 536), "1500B".
    fn from_str(s: &str) -> Result<Self, ParseError> {
        text::parse(s, "size", &UNITS).map(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units_differ() {
        assert_eq!("300KB".parse::<Bytes>().unwrap(), Bytes::new(300_000));
        assert_eq!("97.5kB".parse::<Bytes>().unwrap(), Bytes::new(97_500));
        assert_eq!("64KiB".parse::<Bytes>().unwrap(), Bytes::new(65_536));
    }

    #[test]
    fn sizes_print_exactly() {
        assert_eq!(Bytes::new(97_500).to_string(), "97.5KB");
        assert_eq!(Bytes::ZERO.to_string(), "0B");
    }
}
