//! Pieces of a stream: a bounded number of disjoint ranges of offsets, in order.

/// Maximum number of ranges, so that a peer cannot make an endpoint's memory grow: 16 KiB in each direction.
pub(crate) const MAX_RANGES: usize = 1024;

/// Ascending ranges `[start, end)` that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<(u64, u64)>,
    bytes: u64,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the number of offsets in all ranges.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Returns the end of the last range, or 0.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.1)
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.bytes = 0;
    }

    /// Adds `[start, end)` and returns how many of its offsets are new; `None` if the number of ranges would exceed the limit.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Option<u64> {
        debug_assert!(start < end, "an empty range");
        // All ranges that overlap or touch it: those that end at `start` or later and start at `end` or earlier.
        let first = self.ranges.partition_point(|range| range.1 < start);
        let last = first + self.ranges[first..].partition_point(|range| range.0 <= end);
        if first == last {
            if self.ranges.len() >= MAX_RANGES {
                return None;
            }
            self.ranges.insert(first, (start, end));
            self.bytes += end - start;
            return Some(end - start);
        }
        let merged = (start.min(self.ranges[first].0), end.max(self.ranges[last - 1].1));
        let held: u64 = self.ranges[first..last].iter().map(|range| range.1 - range.0).sum();
        self.ranges[first] = merged;
        if last > first + 1 {
            self.ranges.drain(first + 1..last);
        }
        let added = merged.1 - merged.0 - held;
        self.bytes += added;
        Some(added)
    }

    /// Removes everything below `offset`.
    #[inline]
    pub(crate) fn remove_below(&mut self, offset: u64) {
        if self.ranges.first().is_none_or(|range| range.0 >= offset) {
            return;
        }
        let whole = self.ranges.partition_point(|range| range.1 <= offset);
        self.bytes -= self.ranges.drain(..whole).map(|range| range.1 - range.0).sum::<u64>();
        if let Some(range) = self.ranges.first_mut().filter(|range| range.0 < offset) {
            self.bytes -= offset - range.0;
            range.0 = offset;
        }
    }

    /// Returns the range that contains `offset`.
    pub(crate) fn containing(&self, offset: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|range| range.1 <= offset);
        self.ranges.get(index).copied().filter(|range| range.0 <= offset)
    }

    /// Returns the first gap at or after `offset`: its start, and its end if a range follows.
    pub(crate) fn gap_from(&self, offset: u64) -> (u64, Option<u64>) {
        let index = self.ranges.partition_point(|range| range.1 <= offset);
        match self.ranges.get(index) {
            Some(&(start, end)) if start <= offset => (end, self.ranges.get(index + 1).map(|range| range.0)),
            next => (offset, next.map(|range| range.0)),
        }
    }

    /// Returns the number of offsets below `offset` that are in ranges.
    pub(crate) fn bytes_below(&self, offset: u64) -> u64 {
        if offset >= self.end() {
            return self.bytes;
        }
        let below = self.ranges.iter().take_while(|range| range.0 < offset);
        below.map(|range| range.1.min(offset) - range.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_range_too_many_is_refused_but_a_known_one_may_grow() {
        let mut ranges = Ranges::default();
        for index in 0..MAX_RANGES as u64 {
            assert_eq!(ranges.insert(3 * index, 3 * index + 1), Some(1));
        }
        assert_eq!(ranges.insert(1_000_000, 1_000_001), None);
        assert_eq!(ranges.insert(1, 2), Some(1));
        assert_eq!(ranges.bytes(), MAX_RANGES as u64 + 1);
    }

    proptest! {
        #[test]
        fn any_history_is_that_of_a_set_of_offsets(
            steps in prop::collection::vec((any::<bool>(), 0..60_u64, 1..12_u64), 1..60),
            probe in 0..80_u64,
        ) {
            let (mut ranges, mut set) = (Ranges::default(), [false; 80]);
            for (insert, at, len) in steps {
                if insert {
                    let span = &mut set[at as usize..(at + len) as usize];
                    let new = span.iter().filter(|held| !**held).count() as u64;
                    span.fill(true);
                    prop_assert_eq!(ranges.insert(at, at + len), Some(new));
                } else {
                    set[..at as usize].fill(false);
                    ranges.remove_below(at);
                }
                let slice = ranges.as_slice();
                prop_assert!(slice.iter().all(|range| range.0 < range.1));
                prop_assert!(slice.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert_eq!(ranges.bytes(), set.iter().filter(|held| **held).count() as u64);
                prop_assert_eq!(ranges.end(), set.iter().rposition(|held| *held).map_or(0, |at| at as u64 + 1));
            }
            let place = probe as usize;
            prop_assert_eq!(ranges.containing(probe).is_some(), set[place]);
            prop_assert_eq!(ranges.bytes_below(probe), set[..place].iter().filter(|held| **held).count() as u64);
            let gap = (place..80).find(|at| !set[*at]).map_or(80, |at| at as u64);
            let next = (gap as usize..80).find(|at| set[*at]).map(|at| at as u64);
            prop_assert_eq!(ranges.gap_from(probe), (gap, next));
        }
    }
}
