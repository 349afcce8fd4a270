//! Seeded streams of random numbers. The numbers of a stream depend on the seed and the purpose only, never on earlier
//! events: a change of timing changes no draw.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use units::Duration;

/// The purpose of a stream. Published results depend on the order: append new ones.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    HeartbeatPhase,
    Replicas,
    MapNoise,
    ReduceNoise,
    FetchOrder,
    OutputCopies,
    Pairs,
    Gaps,
    Places,
    ComputeNoise,
    Sizes,
    StartJitter,
}

/// One random stream.
#[derive(Clone)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Creates the stream of `purpose` for the object with the indices `place`, outermost first.
    pub(crate) fn new(seed: u64, purpose: Purpose, place: &[u64]) -> Self {
        let parts = [purpose as u64].into_iter().chain(place.iter().copied());
        Self(Xoshiro256PlusPlus::seed_from_u64(parts.fold(mix(seed), |state, part| mix(state ^ mix(part)))))
    }

    /// Draws a uniform number below `bound`, which must not be zero. The bias is less than 2^-32 for a `bound` of 32 bits.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws a uniform number in (0, 1].
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draws an exponential time with the mean `mean`, at least a picosecond.
    pub(crate) fn exponential(&mut self, mean: Duration) -> Duration {
        let gap = -libm::log(self.unit()) * mean.as_ps() as f64;
        Duration::from_ps((gap as u64).max(1))
    }

    /// Draws exp(`sigma` x) for a standard normal x (Box and Muller 1958).
    pub(crate) fn log_normal(&mut self, sigma: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        let normal = radius * libm::cos(2.0 * std::f64::consts::PI * self.unit());
        libm::exp(sigma * normal)
    }

    /// Draws `count` different numbers below `bound`, in random order; all numbers if `count` exceeds `bound`.
    pub(crate) fn choose(&mut self, count: usize, bound: usize) -> Vec<u32> {
        let count = count.min(bound);
        let mut chosen: Vec<u32> = Vec::with_capacity(count);
        if 2 * count > bound {
            chosen.extend(0..bound as u32);
            for place in 0..count {
                let other = place + self.below((bound - place) as u64) as usize;
                chosen.swap(place, other);
            }
            chosen.truncate(count);
            return chosen;
        }
        while chosen.len() < count {
            let number = self.below(bound as u64) as u32;
            if !chosen.contains(&number) {
                chosen.push(number);
            }
        }
        chosen
    }
}

/// Mixes a value.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

/// Converts seconds to a duration, rounded to a picosecond. NaN and negative values become zero; too large values become the maximum.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_ps((seconds * 1e12).round() as u64)
}
