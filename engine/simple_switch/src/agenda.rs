//! The agenda: the time of the next event of each port, of the recirculation loop and of each queue's timer.
//!
//! It is a binary heap with one place per key, so that the time of a key can be changed in place. The order is by time,
//! then by key; it does not depend on the order of the calls.

use units::Time;

/// Marks a key that is not in the heap.
const ABSENT: u16 = u16::MAX;

/// One time per key, for keys `0..keys`.
pub(crate) struct Agenda {
    /// Keys, as a binary heap by (time, key).
    heap: Vec<u16>,
    /// Index of each key in `heap`, or [`ABSENT`].
    place: Vec<u16>,
    /// The time of each key that is in `heap`.
    time: Vec<Time>,
}

impl Agenda {
    /// Creates an empty agenda for `keys` keys.
    pub(crate) fn new(keys: usize) -> Self {
        assert!(keys < usize::from(ABSENT), "an agenda holds fewer than 65535 keys");
        Self { heap: Vec::with_capacity(keys), place: vec![ABSENT; keys], time: vec![Time::MAX; keys] }
    }

    /// Returns the earliest time and its key; among equal times the lowest key.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, usize)> {
        self.heap.first().map(|key| (self.time[usize::from(*key)], usize::from(*key)))
    }

    /// Sets the time of `key`, or removes the key.
    pub(crate) fn set(&mut self, key: usize, time: Option<Time>) {
        let place = self.place[key];
        match (time, place) {
            (None, ABSENT) => {}
            (None, place) => {
                let place = usize::from(place);
                self.heap.swap_remove(place);
                self.place[key] = ABSENT;
                if place < self.heap.len() {
                    let moved = self.heap[place];
                    self.place[usize::from(moved)] = place as u16;
                    self.settle(place);
                }
            }
            (Some(time), ABSENT) => {
                self.time[key] = time;
                self.place[key] = self.heap.len() as u16;
                self.heap.push(key as u16);
                self.settle(self.heap.len() - 1);
            }
            (Some(time), place) => {
                if self.time[key] != time {
                    self.time[key] = time;
                    self.settle(usize::from(place));
                }
            }
        }
    }

    fn is_before(&self, a: u16, b: u16) -> bool {
        (self.time[usize::from(a)], a) < (self.time[usize::from(b)], b)
    }

    /// Moves the key at `place` up or down until the heap order holds again.
    fn settle(&mut self, mut place: usize) {
        let key = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_before(key, self.heap[parent]) {
                break;
            }
            self.put(self.heap[parent], place);
            place = parent;
        }
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.is_before(self.heap[child + 1], self.heap[child]) {
                child += 1;
            }
            if !self.is_before(self.heap[child], key) {
                break;
            }
            self.put(self.heap[child], place);
            place = child;
        }
        self.put(key, place);
    }

    fn put(&mut self, key: u16, place: usize) {
        self.heap[place] = key;
        self.place[usize::from(key)] = place as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_smallest_after_any_changes(
            changes in prop::collection::vec((0..20usize, prop::option::of(0..10u64)), 1..200)
        ) {
            let mut agenda = Agenda::new(20);
            let mut plain = [None; 20];
            for (key, ps) in changes {
                let time = ps.map(Time::from_ps);
                agenda.set(key, time);
                plain[key] = time;
                let expected = plain.iter().enumerate().filter_map(|(key, time)| time.map(|t| (t, key))).min();
                prop_assert_eq!(agenda.first(), expected);
            }
        }
    }
}
