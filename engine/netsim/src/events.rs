//! What happens next: a schedule of event sources, totally ordered by (time, sequence).
//!
//! A fabric has a fixed set of things that can happen next (this NIC sends, the first frame on that link
//! arrives, that switch wakes up), and each has at most one next time. So the schedule is a tournament over
//! the sources, not a heap of events: setting a time costs one walk from a leaf to the root, nothing is ever
//! allocated after the start, and there are no cancelled events to step over.

use units::Time;

/// One thing that can happen next; numbered by the schedule's owner from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(pub u32);

/// When a source is due. The sequence number makes the order total: of two sources due at the same time, the
/// one that was given this time first comes first.
///
/// The two that meet in a match lie side by side in one cache line.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(32))]
struct Due {
    time: Time,
    sequence: u64,
    source: u32,
}

impl Due {
    fn never(source: u32) -> Due {
        Due { time: Time::MAX, sequence: u64::MAX, source }
    }

    fn is_never(&self) -> bool {
        (self.time, self.sequence) == (Time::MAX, u64::MAX)
    }

    /// Of two that are never due it does not matter which.
    fn is_before(&self, other: &Due) -> bool {
        (self.time, self.sequence) < (other.time, other.sequence)
    }
}

/// The next time of every source.
pub struct Schedule {
    /// A complete binary tree: node `n` has children `2n` and `2n + 1`; the leaves are the sources, padded to a power of
    /// two with some that are never due. Each node holds the first to be due below it, so node 1 is what happens next.
    tree: Vec<Due>,
    next_sequence: u64,
}

impl Schedule {
    /// A schedule of `sources` sources, none of them due.
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let mut tree = vec![Due::never(0); 2 * leaves];
        for (leaf, due) in tree[leaves..].iter_mut().enumerate() {
            due.source = u32::try_from(leaf).expect("a fabric has fewer than 2^32 event sources");
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node];
        }
        Self { tree, next_sequence: 0 }
    }

    fn leaf(&self, source: Source) -> usize {
        self.tree.len() / 2 + source.0 as usize
    }

    /// The source is due at `time`, whatever it was before. A source that was due at `time` already keeps its
    /// place among those due at the same time.
    #[inline]
    pub fn set(&mut self, source: Source, time: Time) {
        let leaf = self.leaf(source);
        let old = self.tree[leaf];
        if old.time == time && !old.is_never() {
            return;
        }
        let due = Due { time, sequence: self.next_sequence, source: source.0 };
        self.next_sequence += 1;
        self.play(leaf, due);
    }

    /// The source is not due.
    #[inline]
    pub fn clear(&mut self, source: Source) {
        let leaf = self.leaf(source);
        if !self.tree[leaf].is_never() {
            self.play(leaf, Due::never(source.0));
        }
    }

    /// [`Schedule::set`] or [`Schedule::clear`].
    #[inline]
    pub fn set_or_clear(&mut self, source: Source, time: Option<Time>) {
        match time {
            Some(time) => self.set(source, time),
            None => self.clear(source),
        }
    }

    /// The source that is due first, and when.
    #[inline]
    pub fn peek(&self) -> Option<(Time, Source)> {
        let first = &self.tree[1];
        (!first.is_never()).then_some((first.time, Source(first.source)))
    }

    /// Puts `due` at a leaf and plays its matches again, up to the root.
    #[inline]
    fn play(&mut self, leaf: usize, due: Due) {
        self.tree[leaf] = due;
        let (mut node, mut winner) = (leaf, due);
        while node > 1 {
            let other = self.tree[node ^ 1];
            if other.is_before(&winner) {
                winner = other;
            }
            node /= 2;
            // A match that this source neither won nor wins now changes nothing further up.
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn nothing_is_due_at_the_start() {
        for sources in [0, 1, 2, 3, 500] {
            assert_eq!(Schedule::new(sources).peek(), None);
        }
    }

    #[test]
    fn at_the_same_time_the_source_set_first_comes_first() {
        let mut schedule = Schedule::new(3);
        schedule.set(Source(2), at(5));
        schedule.set(Source(0), at(5));
        assert_eq!(schedule.peek(), Some((at(5), Source(2))));
        schedule.set(Source(2), at(5)); // Keeps its place.
        assert_eq!(schedule.peek(), Some((at(5), Source(2))));
        schedule.set(Source(2), at(6));
        schedule.set(Source(2), at(5)); // Has lost it.
        assert_eq!(schedule.peek(), Some((at(5), Source(0))));
    }

    proptest! {
        #[test]
        fn any_history_leaves_the_smallest_time_and_sequence_on_top(
            steps in prop::collection::vec((0..9_u32, prop::option::of(0..20_u64)), 1..200),
        ) {
            let mut schedule = Schedule::new(9);
            let mut due: Vec<Option<(u64, usize)>> = vec![None; 9];
            for (sequence, (source, time)) in steps.into_iter().enumerate() {
                schedule.set_or_clear(Source(source), time.map(at));
                let slot = &mut due[source as usize];
                *slot = match (time, *slot) {
                    (Some(time), Some((old, kept))) if old == time => Some((old, kept)),
                    (Some(time), _) => Some((time, sequence)),
                    (None, _) => None,
                };
                let first = (0..9_u32).filter_map(|s| due[s as usize].map(|key| (key, s))).min();
                prop_assert_eq!(schedule.peek(), first.map(|((time, _), s)| (at(time), Source(s))));
            }
        }
    }
}
