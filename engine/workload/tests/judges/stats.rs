//! Statistics of random samples. Seeds are fixed, so a test that passes once always passes.

/// Maximum deviation of a sample's mean or index, in standard deviations.
pub(crate) const DEVIATIONS: f64 = 5.0;

pub(crate) fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

pub(crate) fn variance(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    sample.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (sample.len() - 1) as f64
}

/// Returns the differences of neighbours.
pub(crate) fn gaps(times: &[u64]) -> Vec<f64> {
    times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

/// Checks that a sample's mean is within [`DEVIATIONS`] standard errors of the expected mean.
pub(crate) fn check_mean(sample: &[f64], expected: f64, what: &str) {
    let error = (variance(sample) / sample.len() as f64).sqrt();
    let off = (mean(sample) - expected).abs();
    assert!(off < DEVIATIONS * error, "{what}: mean {} for {expected}, standard error {error}", mean(sample));
}

/// Checks a sample against its expected distribution: the Kolmogorov-Smirnov distance is below the value that one
/// sample in a thousand exceeds. `below` is the cumulative distribution function.
pub(crate) fn check_distribution(sample: &[f64], below: impl Fn(f64) -> f64, what: &str) {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let distance = |(place, one): (usize, &f64)| {
        let share = below(*one);
        (share - place as f64 / count).abs().max((share - (place + 1) as f64 / count).abs())
    };
    let most = sorted.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(most < 1.95 / count.sqrt(), "{what}: distance {most} with {count} values");
}

/// Checks the index of dispersion (variance divided by mean) of the numbers of events in intervals of equal length.
pub(crate) fn check_dispersion(times: &[u64], span: u64, spans: usize, expected: f64, what: &str) {
    let mut counts = vec![0.0; spans];
    times.iter().filter_map(|at| usize::try_from(at / span).ok()).for_each(|place| {
        if let Some(count) = counts.get_mut(place) {
            *count += 1.0;
        }
    });
    let index = variance(&counts) / mean(&counts);
    let error = expected * (2.0 / (spans - 1) as f64).sqrt();
    assert!((index - expected).abs() < DEVIATIONS * error, "{what}: index {index} for {expected}");
}

/// Checks that all outcomes are equally frequent, by chi squared, whose cube root is nearly normal (Wilson and Hilferty
/// 1931).
pub(crate) fn check_even(outcomes: impl IntoIterator<Item = usize>, of: usize, what: &str) {
    let mut counts = vec![0.0; of];
    outcomes.into_iter().for_each(|outcome| counts[outcome] += 1.0);
    let expected = counts.iter().sum::<f64>() / of as f64;
    let chi: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    let degrees = (of - 1) as f64;
    let spread = 2.0 / 9.0 / degrees;
    let deviations = ((chi / degrees).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(deviations < DEVIATIONS, "{what}: {counts:?}, chi squared {chi}");
}

/// Returns the cumulative distribution function of an exponential distribution.
pub(crate) fn exponential(mean: f64) -> impl Fn(f64) -> f64 {
    move |value| 1.0 - (-value / mean).exp()
}

/// Returns the cumulative distribution function of a lognormal distribution.
pub(crate) fn lognormal(median: f64, sigma: f64) -> impl Fn(f64) -> f64 {
    move |value| 0.5 * libm::erfc(-(value / median).ln() / sigma / std::f64::consts::SQRT_2)
}
