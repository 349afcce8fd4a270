//! Random changes of an input, from a seed: simple fuzzing without a fuzzer. libFuzzer, guided by coverage, finds more.

/// A sequence of numbers from a seed (xorshift64*, Vigna 2016).
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// Creates the sequence of `seed`, which must not be 0.
    pub fn new(seed: u64) -> Self {
        assert_ne!(seed, 0, "xorshift stays at 0");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

/// Changes `input` in one to four places: changes, inserts, removes or repeats bytes, or inserts a piece of `other`.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], draws: &mut Draws) {
    for _ in 0..=draws.below(4) {
        let at = draws.below(input.len() + 1);
        let count = 1 + draws.below(8);
        match draws.below(6) {
            0 => input.insert(at, draws.below(256) as u8),
            1 => drop(input.drain(at..input.len().min(at + count))),
            2 => {
                let piece = input[at..input.len().min(at + count)].to_vec();
                input.splice(at..at, piece);
            }
            3 if !other.is_empty() => {
                let from = draws.below(other.len());
                let piece = other[from..other.len().min(from + 16)].to_vec();
                input.splice(at..at, piece);
            }
            4 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << draws.below(8);
                }
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = [0, 1, 0x7f, 0x80, 0xff, draws.below(256) as u8][draws.below(6)];
                }
            }
        }
    }
}
