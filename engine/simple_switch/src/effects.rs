//! The requests of a pipeline run to the switch: calls of v1model primitives, collected until the run has ended.

use bm::{Externs, LogMessage, Request};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Time;

use crate::unread::Unread;

/// A requested clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CloneRequest {
    pub(crate) session: u16,
    pub(crate) field_list: u64,
}

/// The requests of one run. If a primitive is called several times, the last call counts, as in BMv2, where each call writes the
/// same packet register; for `truncate` the shortest length counts. Field and learn lists count from 1; 0 is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    pub(crate) clone: Option<CloneRequest>,
    pub(crate) digest: u64,
    pub(crate) resubmit: u64,
    pub(crate) recirculate: u64,
    pub(crate) truncate_to: u64,
}

impl Requests {
    const NONE: Requests =
        Requests { clone: None, digest: 0, resubmit: 0, recirculate: 0, truncate_to: u64::MAX };
}

/// The switch as the program's primitives see it.
pub(crate) struct Effects {
    requests: Requests,
    drop_port: u64,
    now: Time,
    random: Xoshiro256PlusPlus,
    pub(crate) log: Unread<String>,
}

impl Effects {
    /// Creates the effects of a switch. `seed` and `device_id` together select the random stream.
    pub(crate) fn new(drop_port: u16, seed: u64, device_id: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&device_id.to_le_bytes());
        // xoshiro must not start from zeros, and few seed bits mix slowly: the text fills the rest.
        bytes[16..].copy_from_slice(b"simple_switch rn");
        let mut random = Xoshiro256PlusPlus::from_seed(bytes);
        for _ in 0..16 {
            random.next_u64();
        }
        Self {
            requests: Requests::NONE,
            drop_port: u64::from(drop_port),
            now: Time::ZERO,
            random,
            log: Unread::EMPTY,
        }
    }

    /// Clears the requests of the last run, and sets the time of the next run.
    pub(crate) fn start(&mut self, now: Time) {
        self.requests = Requests::NONE;
        self.now = now;
    }

    /// Returns the requests of the run.
    pub(crate) fn requests(&self) -> Requests {
        self.requests
    }
}

impl Externs for Effects {
    fn drop_port(&self) -> u64 {
        self.drop_port
    }

    fn now_ps(&self) -> u64 {
        self.now.as_ps()
    }

    fn random(&mut self, lo: u64, hi: u64) -> u64 {
        let Some(span) = (hi - lo).checked_add(1) else { return self.random.next_u64() };
        // Multiply-and-reject (Lemire 2019, section 4): all values are equally likely.
        let reject_below = span.wrapping_neg() % span;
        loop {
            let wide = u128::from(self.random.next_u64()) * u128::from(span);
            if wide as u64 >= reject_below {
                return lo + (wide >> 64) as u64;
            }
        }
    }

    fn request(&mut self, request: Request, [first, last]: [u64; 2]) {
        let requests = &mut self.requests;
        match request {
            Request::CloneIngress | Request::CloneEgress => {
                // BMv2 keeps the session in 15 bits; the sixteenth means "clone called".
                let session = (first & 0x7fff) as u16;
                requests.clone = Some(CloneRequest { session, field_list: last });
            }
            Request::Resubmit => requests.resubmit = first,
            Request::Recirculate => requests.recirculate = first,
            Request::Digest => requests.digest = last,
            Request::Truncate => requests.truncate_to = requests.truncate_to.min(first),
        }
    }

    fn log_msg(&mut self, message: LogMessage<'_>) {
        self.log.push(message.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64, device_id: u64, lo: u64, hi: u64, count: usize) -> Vec<u64> {
        let mut effects = Effects::new(511, seed, device_id);
        (0..count).map(|_| effects.random(lo, hi)).collect()
    }

    #[test]
    fn the_same_seed_and_device_draw_the_same_numbers_and_others_draw_others() {
        let numbers = draws(1, 2, 0, u64::MAX, 8);
        assert_eq!(draws(1, 2, 0, u64::MAX, 8), numbers);
        assert_ne!(draws(2, 2, 0, u64::MAX, 8), numbers);
        assert_ne!(draws(1, 3, 0, u64::MAX, 8), numbers);
    }

    #[test]
    fn each_value_is_equally_likely() {
        // 60000 draws of 6 values: the standard deviation of each count is about 91.
        let numbers = draws(3, 0, 1, 6, 60_000);
        assert!(numbers.iter().all(|number| (1..=6).contains(number)));
        for value in 1..=6 {
            let count = numbers.iter().filter(|number| **number == value).count();
            assert!((9_500..=10_500).contains(&count), "{value}: {count}");
        }
    }
}
