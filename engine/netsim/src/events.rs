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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    sequence: u64,
}

impl Key {
    /// Not due at all.
    const NEVER: Key = Key { time: Time::MAX, sequence: u64::MAX };
}

/// The next time of every source.
pub struct Schedule {
    /// By source, padded with [`Key::NEVER`] to a power of two.
    keys: Vec<Key>,
    /// A complete binary tree: node `n` has children `2n` and `2n + 1`; the leaves are the sources. Each node
    /// holds the source with the smallest key below it, so node 1 is what happens next.
    winners: Vec<u32>,
    next_sequence: u64,
}

impl Schedule {
    /// A schedule of `sources` sources, none of them due.
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for (leaf, winner) in winners[leaves..].iter_mut().enumerate() {
            *winner = u32::try_from(leaf).expect("a fabric has fewer than 2^32 event sources");
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Self { keys: vec![Key::NEVER; leaves], winners, next_sequence: 0 }
    }

    /// The source is due at `time`, whatever it was before. A source that was due at `time` already keeps its
    /// place among those due at the same time.
    #[inline]
    pub fn set(&mut self, source: Source, time: Time) {
        let key = &mut self.keys[source.0 as usize];
        if key.time == time && *key != Key::NEVER {
            return;
        }
        *key = Key { time, sequence: self.next_sequence };
        self.next_sequence += 1;
        self.play(source);
    }

    /// The source is not due.
    #[inline]
    pub fn clear(&mut self, source: Source) {
        let key = &mut self.keys[source.0 as usize];
        if *key != Key::NEVER {
            *key = Key::NEVER;
            self.play(source);
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
        let winner = self.winners[1];
        let key = self.keys[winner as usize];
        (key != Key::NEVER).then_some((key.time, Source(winner)))
    }

    /// Plays the source's matches again, from its leaf to the root.
    #[inline]
    fn play(&mut self, source: Source) {
        let mut node = (self.keys.len() + source.0 as usize) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            let right_first = self.keys[right as usize] < self.keys[left as usize];
            let winner = if right_first { right } else { left };
            // A match that this source neither won nor wins now changes nothing further up.
            if winner != source.0 && self.winners[node] == winner {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
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
