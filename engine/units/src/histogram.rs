//! Histograms of durations, in bounded memory.
//!
//! A bucket is 1/256 as wide as its lower bound (durations below 256 ps are exact), in the manner of Gil Tene's HdrHistogram.
//! A percentile is the midpoint of its bucket, so its error is at most 1/512 = 0.2 % of its value.
//! Count, sum (hence the mean), minimum and maximum are exact.

use crate::Duration;

/// Number of buckets per power of two.
const SUB_BUCKETS: u64 = 1 << SUB_BITS;
const SUB_BITS: u32 = 8;
const BUCKETS: usize = ((64 - SUB_BITS as usize) + 1) << SUB_BITS;

/// A histogram of durations.
#[derive(Clone)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum_ps: u128,
    min: Duration,
    max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            sum_ps: 0,
            min: Duration::MAX,
            max: Duration::ZERO,
        }
    }
}

impl Histogram {
    /// Records a duration.
    #[inline]
    pub fn record(&mut self, value: Duration) {
        self.counts[bucket(value.as_ps())] += 1;
        self.count += 1;
        self.sum_ps += u128::from(value.as_ps());
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the durations that another histogram has recorded.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count += more;
        }
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Returns the number of recorded durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, rounded down to a picosecond; `None` if the histogram is empty.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ps.checked_div(u128::from(self.count))?;
        Some(Duration::from_ps(u64::try_from(mean).expect("a mean lies between its values")))
    }

    /// Returns the smallest duration; `None` if the histogram is empty.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest duration; `None` if the histogram is empty.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the duration that `per_mille` thousandths of them do not exceed (nearest rank); `None` if the histogram is empty.
    pub fn quantile(&self, per_mille: u32) -> Option<Duration> {
        let rank = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1000).max(1);
        let mut seen = 0_u128;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= rank {
                let (low, width) = range(bucket);
                let middle = Duration::from_ps(low + (width - 1) / 2);
                return Some(middle.clamp(self.min, self.max));
            }
        }
        None
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    if value < SUB_BUCKETS {
        return value as usize;
    }
    let shift = value.ilog2() - SUB_BITS;
    // The top SUB_BITS + 1 bits; the highest is always set.
    let sub = (value >> shift) - SUB_BUCKETS;
    ((shift as usize + 1) << SUB_BITS) + sub as usize
}

/// Returns the smallest value of a bucket, and the number of values that fall into it.
fn range(bucket: usize) -> (u64, u64) {
    let (group, sub) = (bucket >> SUB_BITS, (bucket as u64) & (SUB_BUCKETS - 1));
    match group.checked_sub(1) {
        None => (sub, 1),
        Some(shift) => ((sub + SUB_BUCKETS) << shift, 1 << shift),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ps(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(Duration::from_ps(*value));
        }
        histogram
    }

    #[test]
    fn an_empty_histogram_knows_nothing() {
        let empty = Histogram::default();
        assert_eq!(
            (empty.count(), empty.mean(), empty.min(), empty.max(), empty.quantile(500)),
            (0, None, None, None, None)
        );
    }

    #[test]
    fn small_values_are_exact() {
        let histogram = ps(&[1, 2, 3, 4, 100]);
        assert_eq!(histogram.quantile(500), Some(Duration::from_ps(3)));
        assert_eq!(histogram.quantile(990), Some(Duration::from_ps(100)));
        assert_eq!(histogram.quantile(0), Some(Duration::from_ps(1)));
        assert_eq!(histogram.mean(), Some(Duration::from_ps(22)));
    }

    #[test]
    fn every_bucket_starts_where_the_one_before_ends() {
        let mut next = 0;
        for index in 0..BUCKETS {
            let (low, width) = range(index);
            assert_eq!((low, bucket(low), bucket(low + (width - 1))), (next, index, index));
            next = low.wrapping_add(width);
        }
        assert_eq!(next, 0, "the last bucket ends with the last value");
    }

    proptest! {
        #[test]
        fn two_histograms_added_are_one_of_all_values(
            first in prop::collection::vec(0..u64::MAX / 4, 0..50), second in prop::collection::vec(0..u64::MAX / 4, 0..50),
        ) {
            let mut sum = ps(&first);
            sum.add(&ps(&second));
            let all = ps(&[first, second].concat());
            prop_assert_eq!((sum.count(), sum.mean(), sum.min(), sum.max()), (all.count(), all.mean(), all.min(), all.max()));
            for per_mille in [1, 500, 990, 1000] {
                prop_assert_eq!(sum.quantile(per_mille), all.quantile(per_mille));
            }
        }

        #[test]
        fn a_quantile_is_within_a_512th_of_the_exact_one(
            mut values in prop::collection::vec(0..u64::MAX / 4, 1..300), per_mille in 1..=1000_u32,
        ) {
            let histogram = ps(&values);
            values.sort_unstable();
            let rank = (values.len() as u64 * u64::from(per_mille)).div_ceil(1000);
            let exact = values[rank as usize - 1];
            let told = histogram.quantile(per_mille).unwrap().as_ps();
            prop_assert!(told.abs_diff(exact) <= exact / 512 + 1, "{told} for {exact}");
        }
    }
}
