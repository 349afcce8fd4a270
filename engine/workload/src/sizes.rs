//! Distributions of flow sizes.

use serde::Deserialize;

use crate::error::WorkloadError;
use crate::fields::{FieldPath, MAX_TRANSFER_BYTES};
use crate::random::Stream;

/// Maximum number of points of a distribution.
const MAX_POINTS: usize = 1 << 16;

const MAX_BYTES: f64 = MAX_TRANSFER_BYTES as f64;

/// Distribution of flow sizes.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum SizesSpec {
    /// A cumulative distribution: sizes in bytes, and the fraction of flows with at most that size. Both are
    /// non-decreasing, and the last fraction is 1. Between two points the size is linear in the fraction.
    #[cfg_attr(feature = "schema", schemars(title = "SizesByPoints"))]
    Points(Vec<[f64; 2]>),
    /// Exponential sizes.
    #[cfg_attr(feature = "schema", schemars(title = "ExponentialSizes"))]
    Exponential {
        /// Mean.
        mean_bytes: f64,
    },
    /// Lognormal sizes.
    #[cfg_attr(feature = "schema", schemars(title = "LognormalSizes"))]
    Lognormal {
        /// Mean.
        mean_bytes: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Pareto sizes.
    #[cfg_attr(feature = "schema", schemars(title = "ParetoSizes"))]
    Pareto {
        /// Mean.
        mean_bytes: f64,
        /// Exponent of the tail, above 1.
        shape: f64,
    },
}

impl SizesSpec {
    /// Checks that the distribution is valid. Returns its mean in bytes.
    pub(crate) fn check(&self, at: &FieldPath<'_>) -> Result<f64, WorkloadError> {
        let mean = match self {
            SizesSpec::Points(points) => mean_of(points, at)?,
            SizesSpec::Exponential { mean_bytes } => *mean_bytes,
            SizesSpec::Lognormal { mean_bytes, sigma } => {
                at.number("sizes.lognormal.sigma", *sigma, 0.0, 10.0)?;
                *mean_bytes
            }
            SizesSpec::Pareto { mean_bytes, shape } => {
                at.number("sizes.pareto.shape", *shape, 1.01, 100.0)?;
                *mean_bytes
            }
        };
        at.number("sizes: mean in bytes", mean, 1.0, MAX_BYTES)?;
        Ok(mean)
    }

    /// Draws a size of at least one byte.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        let bytes = match self {
            SizesSpec::Points(points) => size_at(points, stream.unit()),
            SizesSpec::Exponential { mean_bytes } => -libm::log(stream.unit()) * mean_bytes,
            SizesSpec::Lognormal { mean_bytes, sigma } => {
                mean_bytes * libm::exp(-sigma * sigma / 2.0) * stream.log_normal(*sigma)
            }
            SizesSpec::Pareto { mean_bytes, shape } => {
                mean_bytes * (shape - 1.0) / shape * libm::pow(stream.unit(), -1.0 / shape)
            }
        };
        (bytes.round() as u64).clamp(1, MAX_TRANSFER_BYTES)
    }
}

fn mean_of(points: &[[f64; 2]], at: &FieldPath<'_>) -> Result<f64, WorkloadError> {
    at.count("sizes.points", points.len() as u64, 2, MAX_POINTS as u64)?;
    let mut mean = points[0][0] * points[0][1];
    for (index, [bytes, share]) in points.iter().enumerate() {
        let place = |part: usize| format!("sizes.points[{index}][{part}]");
        at.number(&place(0), *bytes, 0.0, MAX_BYTES)?;
        at.number(&place(1), *share, 0.0, 1.0)?;
        if let Some([before, below]) = index.checked_sub(1).map(|index| points[index]) {
            for (part, falls) in [*bytes < before, *share < below].into_iter().enumerate() {
                if falls {
                    let reason = "is below the point before; a cumulative distribution never falls";
                    return Err(at.wrong(&place(part), points[index][part], reason));
                }
            }
            mean += (share - below) * (bytes + before) / 2.0;
        }
    }
    let last = points.len() - 1;
    if points[last][1] != 1.0 {
        let reason = "is the last share; a cumulative distribution ends at 1";
        return Err(at.wrong(&format!("sizes.points[{last}][1]"), points[last][1], reason));
    }
    Ok(mean)
}

fn size_at(points: &[[f64; 2]], share: f64) -> f64 {
    let above = points.partition_point(|[_, below]| *below < share).min(points.len() - 1);
    let [bytes, end] = points[above];
    let Some([before, begin]) = above.checked_sub(1).map(|index| points[index]) else { return bytes };
    before + (bytes - before) * (share - begin) / (end - begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_before_the_first_point_has_its_size_and_a_jump_has_one_size() {
        let points = [[100.0, 0.5], [300.0, 0.7], [300.0, 0.9], [400.0, 1.0]];
        let sizes = [0.1, 0.5, 0.6, 0.8, 0.95, 1.0].map(|share| size_at(&points, share).round());
        assert_eq!(sizes, [100.0, 100.0, 200.0, 300.0, 350.0, 400.0]);
    }
}
