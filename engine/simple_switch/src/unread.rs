//! What the control plane has not read yet: digests, and messages of `log_msg`.

use std::collections::VecDeque;

/// Maximum number of unread items of a kind; the oldest are lost first. BMv2 also buffers 1024 samples.
const LIMIT: usize = 1024;

/// One call of `digest()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Id of the learn list in the program's JSON.
    pub learn_list: u64,
    /// The values in the order of the learn list, big-endian, each padded to whole bytes.
    pub sample: Vec<u8>,
}

/// Items waiting to be read.
pub(crate) struct Unread<T> {
    waiting: VecDeque<T>,
    /// Number of items that later ones have displaced.
    pub(crate) lost: u64,
}

impl<T> Unread<T> {
    pub(crate) const EMPTY: Self = Self { waiting: VecDeque::new(), lost: 0 };

    pub(crate) fn push(&mut self, item: T) {
        if self.waiting.len() >= LIMIT {
            self.waiting.pop_front();
            self.lost += 1;
        }
        self.waiting.push_back(item);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_items_give_way_to_later_ones_and_the_loss_is_counted() {
        let mut unread = Unread::EMPTY;
        (0..LIMIT).for_each(|item| unread.push(item));
        assert_eq!(unread.lost, 0);
        unread.push(LIMIT);
        assert_eq!((unread.pop(), unread.lost), (Some(1), 1));
    }
}
