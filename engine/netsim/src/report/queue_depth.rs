//! Queue depth over time: per queue, the maximum number of bytes that waited in each of a bounded number of equal periods.
//!
//! When the periods run out, their length doubles and each two become one. So a run of any length is covered from its
//! start with at least half the number of samples, and no peak is lost.

use units::{Duration, Time};

/// The series of all queues, sampled together.
pub struct QueueDepth {
    period: Duration,
    max_samples: usize,
    /// End of the current period.
    period_end: Time,
    /// Finished periods.
    finished: usize,
    queues: Vec<Series>,
}

#[derive(Clone, Default)]
struct Series {
    /// Peak of each finished period; those beyond the end are zero.
    peaks: Vec<u64>,
    /// Peak of the current period so far.
    peak: u64,
    /// Depth now.
    depth: u64,
}

impl QueueDepth {
    /// Creates the series of `queues` queues with at most `max_samples` finished samples, at first of `period` each.
    ///
    /// # Panics
    /// If the period is zero, or the number of samples is odd or zero.
    pub fn new(queues: usize, period: Duration, max_samples: usize) -> Self {
        assert!(!period.is_zero(), "queue depth needs a period");
        assert!(max_samples >= 2 && max_samples % 2 == 0, "queue depth needs an even number of samples");
        Self {
            period,
            max_samples,
            period_end: Time::ZERO + period,
            finished: 0,
            queues: vec![Series::default(); queues],
        }
    }

    /// Finishes the periods before `now`. Callers do this before the depths change at `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        while now >= self.period_end {
            self.finish_period();
        }
    }

    /// Sets the depth of a queue from now on.
    #[inline]
    pub fn observe(&mut self, queue: usize, depth: u64) {
        let series = &mut self.queues[queue];
        series.depth = depth;
        series.peak = series.peak.max(depth);
    }

    fn finish_period(&mut self) {
        if self.finished == self.max_samples {
            // The current period began after an even number of periods, so its longer form began there too, and lasts
            // for another period.
            self.period_end += self.period;
            self.double();
            return;
        }
        for series in &mut self.queues {
            // Zeros at the end are not stored: most queues of a fabric are empty most of the time.
            if series.peak > 0 {
                series.peaks.resize(self.finished, 0);
                series.peaks.push(series.peak);
            }
            series.peak = series.depth;
        }
        self.finished += 1;
        self.period_end += self.period;
    }

    /// Joins each two periods.
    fn double(&mut self) {
        for series in &mut self.queues {
            let joined = series.peaks.chunks(2).map(|pair| pair.iter().copied().max().unwrap_or(0)).collect();
            series.peaks = joined;
        }
        self.finished = self.max_samples / 2;
        self.period = self.period * 2;
    }

    /// Returns the length of a period.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Returns the peaks of a queue from the start of the run on, in bytes. The last is the peak of the current period.
    /// Zeros at the end are left out.
    pub fn samples(&self, queue: usize) -> Vec<u64> {
        let series = &self.queues[queue];
        let mut samples = series.peaks.clone();
        if series.peak > 0 {
            samples.resize(self.finished, 0);
            samples.push(series.peak);
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ns: u64) -> Time {
        Time::ZERO + Duration::from_ns(ns)
    }

    fn series() -> QueueDepth {
        QueueDepth::new(1, Duration::from_ns(10), 4)
    }

    /// Makes the depth `depth` from `at` on.
    fn change(series: &mut QueueDepth, at: u64, depth: u64) {
        series.advance(ns(at));
        series.observe(0, depth);
    }

    #[test]
    fn a_change_at_a_border_belongs_to_the_later_period() {
        let mut series = series();
        change(&mut series, 10, 7);
        series.advance(ns(20));
        assert_eq!(series.samples(0), [0, 7, 7]);
    }

    #[test]
    fn periods_double_when_they_run_out_and_keep_the_peaks() {
        let mut series = series();
        for (at, depth) in [(1, 1), (11, 2), (21, 3), (31, 4), (41, 5)] {
            change(&mut series, at, depth);
        }
        assert_eq!((series.samples(0), series.period()), (vec![1, 2, 3, 4, 5], Duration::from_ns(10)));
        change(&mut series, 51, 6);
        change(&mut series, 52, 0);
        assert_eq!((series.samples(0), series.period()), (vec![2, 4, 6], Duration::from_ns(20)));
        series.advance(ns(60));
        assert_eq!((series.samples(0), series.period()), (vec![2, 4, 6], Duration::from_ns(20)));
    }

    #[test]
    fn a_long_silence_costs_no_memory_and_loses_no_peak() {
        let mut series = series();
        change(&mut series, 5, 9);
        change(&mut series, 6, 0);
        change(&mut series, 10_000_000_000, 3);
        let samples = series.samples(0);
        assert!(samples.len() <= 5, "{samples:?}");
        assert_eq!((samples[0], samples.last()), (9, Some(&3)));
    }
}
