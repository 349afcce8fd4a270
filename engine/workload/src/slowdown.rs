//! Slowdown: the duration of a transfer divided by the minimum time on its path, by size class.

use serde::Serialize;
use units::{Duration, Histogram};

/// Upper bounds of the size classes in bytes; the last class has none.
pub const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Picoseconds that represent a slowdown of 1: slowdowns are stored as durations.
const ONE: u64 = 1_000_000;

/// Returns the class of a size: its index in [`SIZES`].
pub fn class_of(bytes: u64) -> usize {
    SIZES.iter().position(|size| bytes <= *size).unwrap_or(SIZES.len())
}

/// Slowdowns of transfers.
#[derive(Default)]
pub struct Slowdowns {
    by_size: [Histogram; SIZES.len() + 1],
}

/// Slowdowns of one size class, or of all. The quantiles are accurate to 0.2 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowdownReport {
    /// Upper bound of the class; absent for the last class and for all classes together.
    pub up_to_bytes: Option<u64>,
    /// Number of transfers.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Minimum.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
}

impl Slowdowns {
    /// Records a transfer of `bytes` that took `time`, with a minimum of `ideal`.
    pub fn record(&mut self, bytes: u64, time: Duration, ideal: Duration) {
        let ratio = u128::from(time.as_ps()) * u128::from(ONE) / u128::from(ideal.as_ps().max(1));
        let ratio = Duration::from_ps(u64::try_from(ratio).unwrap_or(u64::MAX));
        self.by_size[class_of(bytes)].record(ratio);
    }

    /// Returns the slowdowns of each class, and of all together.
    pub fn report(&self) -> (Vec<SlowdownReport>, SlowdownReport) {
        let mut all = Histogram::default();
        self.by_size.iter().for_each(|class| all.add(class));
        let classes = self.by_size.iter().enumerate();
        (classes.map(|(index, class)| of(SIZES.get(index).copied(), class)).collect(), of(None, &all))
    }
}

fn of(up_to_bytes: Option<u64>, class: &Histogram) -> SlowdownReport {
    let ratio = |scaled: Duration| scaled.as_ps() as f64 / ONE as f64;
    let quantile = |per_mille| class.quantile(per_mille).map(ratio);
    SlowdownReport {
        up_to_bytes,
        count: class.count(),
        mean: class.mean().map(ratio),
        min: class.min().map(ratio),
        p50: quantile(500),
        p95: quantile(950),
        p99: quantile(990),
        p999: quantile(999),
    }
}
