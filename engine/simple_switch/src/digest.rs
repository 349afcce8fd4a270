//! Digests: the samples that `digest()` sends to the controller.

use std::collections::VecDeque;

/// Maximum number of unread digests; the oldest are lost first. BMv2 also buffers 1024 samples.
const DIGEST_LIMIT: usize = 1024;

/// One call of `digest()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Id of the learn list in the program's JSON.
    pub learn_list: u64,
    /// The values in the order of the learn list, big-endian, each padded to whole bytes.
    pub sample: Vec<u8>,
}

/// Digests waiting to be read.
#[derive(Default)]
pub(crate) struct Digests {
    waiting: VecDeque<Digest>,
}

impl Digests {
    /// Adds a digest. Returns whether an unread one was lost.
    pub(crate) fn push(&mut self, digest: Digest) -> bool {
        let full = self.waiting.len() >= DIGEST_LIMIT;
        if full {
            self.waiting.pop_front();
        }
        self.waiting.push_back(digest);
        full
    }

    pub(crate) fn pop(&mut self) -> Option<Digest> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_digests_give_way_to_later_ones_and_the_loss_is_told() {
        let mut digests = Digests::default();
        let number = |n: usize| Digest { learn_list: 1, sample: n.to_be_bytes().to_vec() };
        for n in 0..DIGEST_LIMIT {
            assert!(!digests.push(number(n)));
        }
        assert!(digests.push(number(DIGEST_LIMIT)));
        assert_eq!(digests.pop(), Some(number(1)));
    }
}
