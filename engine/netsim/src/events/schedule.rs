//! A schedule of event sources, totally ordered by (time, sequence).
//!
//! A fabric has a fixed set of things that can happen next (this NIC sends, the first frame on that link arrives, that
//! switch wakes up), and each has at most one next time. The schedule is therefore a heap of sources, not of events: a
//! source's time is changed in place, nothing is allocated after the start, and there are no cancelled events to skip.
//! Only due sources are in it: a large fabric with little to do touches little memory.

use units::Time;

/// One thing that can happen next, numbered from 0 by the schedule's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(pub u32);

/// When a source is due: its time, and a sequence number that makes the order total. Of two sources due at the same
/// time, the one that got this time first comes first.
type Due = (u64, u64);

/// Later than everything that is due.
const NEVER: u64 = u64::MAX;

/// Four places of the heap with the same parent, in one cache line: times and sequence numbers.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Siblings {
    times: [u64; 4],
    sequences: [u64; 4],
}

impl Siblings {
    /// Returns the place of the first of the four.
    #[inline(always)]
    fn first(&self) -> usize {
        let [a, b, c, d] = self.times;
        let (left, left_time) = if b < a { (1, b) } else { (0, a) };
        let (right, right_time) = if d < c { (3, d) } else { (2, c) };
        let (first, time) = if right_time < left_time { (right, right_time) } else { (left, left_time) };
        let equal = u8::from(a == time) + u8::from(b == time) + u8::from(c == time) + u8::from(d == time);
        if equal == 1 {
            first
        } else {
            self.first_of_equals(time)
        }
    }

    fn first_of_equals(&self, time: u64) -> usize {
        let equals = (0..4).filter(|at| self.times[*at] == time);
        equals.min_by_key(|at| self.sequences[*at]).unwrap_or(0)
    }
}

/// The place of the first due source. The children of place `p` are the four from `4 (p - 2)` on, and so begin a cache
/// line.
const ROOT: usize = 3;

/// The place of a source that is not due.
const ABSENT: u32 = 0;

/// The next time of every source.
pub struct Schedule {
    /// A heap with four children per place. Entries behind its end are never due.
    dues: Vec<Siblings>,
    /// The source at each place.
    sources: Vec<u32>,
    /// The place of each source, or [`ABSENT`].
    places: Vec<u32>,
    /// The first free place.
    end: usize,
    next_sequence: u64,
}

impl Schedule {
    /// Creates a schedule of `sources` sources, none of them due.
    pub fn new(sources: usize) -> Self {
        let groups = (ROOT + sources) / 4 + 1;
        assert!(u32::try_from(4 * groups).is_ok(), "a fabric has fewer than 2^32 event sources");
        Self {
            dues: vec![Siblings { times: [NEVER; 4], sequences: [NEVER; 4] }; groups],
            sources: vec![0; 4 * groups],
            places: vec![ABSENT; sources],
            end: ROOT,
            next_sequence: 0,
        }
    }

    #[inline]
    fn due(&self, place: usize) -> Due {
        let group = &self.dues[place / 4];
        (group.times[place % 4], group.sequences[place % 4])
    }

    /// Makes the source due at `time`, whatever it was before. A source that was already due at `time` keeps its turn
    /// among those due at that time.
    #[inline]
    pub fn set(&mut self, source: Source, time: Time) {
        let mut place = self.places[source.0 as usize] as usize;
        let due = (time.as_ps(), self.next_sequence);
        if place == ABSENT as usize {
            place = self.end;
            self.end += 1;
        } else {
            let old = self.due(place);
            if old.0 == due.0 {
                return;
            }
            if old < due {
                self.next_sequence += 1;
                return self.sink(place, due, source.0);
            }
        }
        self.next_sequence += 1;
        self.rise(place, due, source.0);
    }

    /// Makes the source not due.
    #[inline]
    pub fn clear(&mut self, source: Source) {
        let place = self.places[source.0 as usize];
        if place != ABSENT {
            self.remove(place as usize, source);
        }
    }

    fn remove(&mut self, place: usize, source: Source) {
        self.places[source.0 as usize] = ABSENT;
        // The last source takes the place.
        self.end -= 1;
        let (removed, due, last) = (self.due(place), self.due(self.end), self.sources[self.end]);
        let group = &mut self.dues[self.end / 4];
        (group.times[self.end % 4], group.sequences[self.end % 4]) = (NEVER, NEVER);
        if place < self.end {
            if removed < due {
                self.sink(place, due, last);
            } else {
                self.rise(place, due, last);
            }
        }
    }

    /// Calls [`Schedule::set`] or [`Schedule::clear`].
    #[inline]
    pub fn set_or_clear(&mut self, source: Source, time: Option<Time>) {
        match time {
            Some(time) => self.set(source, time),
            None => self.clear(source),
        }
    }

    /// Returns the first due source and its time.
    #[inline]
    pub fn peek(&self) -> Option<(Time, Source)> {
        (self.end > ROOT).then(|| (Time::from_ps(self.due(ROOT).0), Source(self.sources[ROOT])))
    }

    /// Returns the number of due sources.
    pub fn len(&self) -> usize {
        self.end - ROOT
    }

    #[inline]
    fn put(&mut self, place: usize, due: Due, source: u32) {
        let group = &mut self.dues[place / 4];
        (group.times[place % 4], group.sequences[place % 4]) = due;
        self.sources[place] = source;
        self.places[source as usize] = place as u32;
    }

    /// Puts a source at a free place, or further up.
    fn rise(&mut self, mut place: usize, due: Due, source: u32) {
        while place > ROOT {
            let parent = place / 4 + 2;
            let above = self.due(parent);
            if above < due {
                break;
            }
            self.put(place, above, self.sources[parent]);
            place = parent;
        }
        self.put(place, due, source);
    }

    /// Puts a source at a free place, or further down.
    fn sink(&mut self, mut place: usize, due: Due, source: u32) {
        while 4 * (place - 2) < self.end {
            let children = &self.dues[place - 2];
            let first = children.first();
            let below = (children.times[first], children.sequences[first]);
            if due < below {
                break;
            }
            let child = 4 * (place - 2) + first;
            self.put(place, below, self.sources[child]);
            place = child;
        }
        self.put(place, due, source);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
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
