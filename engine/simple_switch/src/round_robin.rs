//! Deficit-weighted round robin among the queues of a port (Shreedhar and Varghese, IEEE/ACM Transactions on Networking
//! 4(3), 1996).
//!
//! Queues with a quantum take turns. At its turn a queue gets its quantum of bytes in addition to what it has left,
//! sends frames as long as the first one fits, and keeps the rest for its next turn. A queue that runs empty loses the
//! rest, as does a queue whose gate or pace stops it during its turn: no credit is saved up. So the bytes of queues
//! that always have frames to send are in the ratio of their quanta, within one quantum and one frame.
//!
//! Bytes are frame bytes as queues count them. Queues without a quantum are strict; the queues with a quantum are
//! served at the priority of the highest of them.

use std::num::NonZeroU32;

use crate::config::{Quanta, MAX_PRIORITIES};

/// The turns of one port.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    quanta: [Option<NonZeroU32>; MAX_PRIORITIES],
    /// Bytes that a queue may send before its next turn.
    deficits: [u64; MAX_PRIORITIES],
    /// The highest queue with a quantum.
    highest: usize,
    /// The queue whose turn it is; it has a quantum.
    turn: usize,
}

impl RoundRobin {
    /// Creates the turns of a port's queues; `None` if all queues are strict.
    pub(crate) fn new(quanta: &Quanta) -> Option<Self> {
        let highest = quanta.iter().rposition(Option::is_some)?;
        // Before the first packet the turn of the lowest has ended, so the highest is next.
        let turn = quanta.iter().position(Option::is_some)?;
        Some(Self { quanta: *quanta, deficits: [0; MAX_PRIORITIES], highest, turn })
    }

    /// Returns the queue whose first frame leaves now, if any. `first` gives the bytes of a queue's first frame if it may leave now.
    pub(crate) fn next(&mut self, first: impl Fn(usize) -> Option<u32>) -> Option<usize> {
        for priority in (0..MAX_PRIORITIES).rev() {
            if priority == self.highest {
                let chosen = self.next_in_turn(&first);
                if chosen.is_some() {
                    return chosen;
                }
            } else if self.quanta[priority].is_none() && first(priority).is_some() {
                return Some(priority);
            }
        }
        None
    }

    fn next_in_turn(&mut self, first: &impl Fn(usize) -> Option<u32>) -> Option<usize> {
        // A frame of zero bytes after `truncate` counts as one byte, so that its queue's turn ends.
        let cost = |priority: usize| first(priority).map(|bytes| u64::from(bytes).max(1));
        match cost(self.turn) {
            Some(bytes) if bytes <= self.deficits[self.turn] => {
                self.deficits[self.turn] -= bytes;
                return Some(self.turn);
            }
            Some(_) => {}
            None => self.deficits[self.turn] = 0,
        }
        loop {
            // Minimum number of rounds until a first frame fits, counted from the end of this one.
            let mut rounds_left: Option<u64> = None;
            for step in 1..=MAX_PRIORITIES {
                let priority = (self.turn + MAX_PRIORITIES - step) % MAX_PRIORITIES;
                let Some(quantum) = self.quanta[priority] else { continue };
                let Some(bytes) = cost(priority) else { continue };
                let deficit = self.deficits[priority] + u64::from(quantum.get());
                if bytes <= deficit {
                    self.deficits[priority] = deficit - bytes;
                    self.turn = priority;
                    return Some(priority);
                }
                self.deficits[priority] = deficit;
                let rounds = (bytes - deficit).div_ceil(u64::from(quantum.get()));
                rounds_left = Some(rounds_left.map_or(rounds, |least| least.min(rounds)));
            }
            // Takes all rounds but the last at once, so that a quantum of one byte takes no longer than one of a frame.
            let skipped = rounds_left? - 1;
            for priority in (0..MAX_PRIORITIES).filter(|priority| cost(*priority).is_some()) {
                let quantum = self.quanta[priority].map_or(0, NonZeroU32::get);
                self.deficits[priority] += skipped * u64::from(quantum);
            }
        }
    }

    /// Clears the deficit of a queue that has sent its last frame.
    pub(crate) fn emptied(&mut self, priority: usize) {
        self.deficits[priority] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what leaves queues of these frames, in order, each as (priority, bytes).
    fn order(quanta: &[(usize, u32)], frames: &[(usize, &[u32])]) -> Vec<(usize, u32)> {
        let mut all = [None; MAX_PRIORITIES];
        quanta.iter().for_each(|(priority, bytes)| all[*priority] = NonZeroU32::new(*bytes));
        let mut turns = RoundRobin::new(&all).unwrap();
        let mut queues: [Vec<u32>; MAX_PRIORITIES] = Default::default();
        frames.iter().for_each(|(priority, bytes)| queues[*priority] = bytes.iter().rev().copied().collect());
        let mut left = Vec::new();
        while let Some(priority) = turns.next(|priority| queues[priority].last().copied()) {
            left.push((priority, queues[priority].pop().unwrap()));
            if queues[priority].is_empty() {
                turns.emptied(priority);
            }
        }
        assert!(queues.iter().all(Vec::is_empty));
        left
    }

    /// Checks the queues of the paper's figures 2 and 3, each with a quantum of 500.
    #[test]
    fn what_is_left_of_a_quantum_is_kept_for_the_next_turn() {
        let quanta = [(3, 500), (2, 500), (1, 500), (0, 500)];
        let frames: [(usize, &[u32]); 4] =
            [(3, &[200, 750, 20]), (2, &[500, 500]), (1, &[600, 100, 400]), (0, &[50, 700, 180])];
        let turns: [&[(usize, u32)]; 8] = [
            &[(3, 200)], // 300 are left
            &[(2, 500)],
            &[], // 600 do not fit
            &[(0, 50)],
            &[(3, 750), (3, 20)], // 800: 30 are lost with the last frame
            &[(2, 500)],
            &[(1, 600), (1, 100)],
            &[(0, 700), (0, 180)], // 950
        ];
        let expected: Vec<_> = [turns.concat(), vec![(1, 400)]].concat();
        assert_eq!(order(&quanta, &frames), expected);
    }

    #[test]
    fn strict_queues_stand_before_and_behind_those_with_a_quantum() {
        let frames: [(usize, &[u32]); 4] = [(7, &[9, 9]), (5, &[100, 100]), (4, &[9]), (3, &[100, 100])];
        let expected = [(7, 9), (7, 9), (5, 100), (3, 100), (5, 100), (3, 100), (4, 9)];
        assert_eq!(order(&[(5, 100), (3, 100)], &frames), expected);
    }

    #[test]
    fn a_quantum_of_a_byte_beside_one_of_gigabytes_has_its_turns() {
        let left = order(&[(1, 1), (0, u32::MAX)], &[(1, &[1_500; 3]), (0, &[1_500; 10])]);
        assert!(left[..10].iter().all(|(priority, _)| *priority == 0));
        let left = order(&[(1, 1), (0, 3)], &[(1, &[1_500; 3]), (0, &[1_500; 9])]);
        let priorities: Vec<_> = left.iter().map(|(priority, _)| *priority).collect();
        assert_eq!(priorities, [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn rounds_in_which_nobody_could_send_take_no_time() {
        let looks = std::cell::Cell::new(0);
        let mut turns = RoundRobin::new(&[NonZeroU32::new(1); MAX_PRIORITIES]).unwrap();
        let first = |_| {
            looks.set(looks.get() + 1);
            Some(65_535)
        };
        assert_eq!(turns.next(first), Some(7));
        assert!(looks.get() < 40, "{}", looks.get());
    }

    #[test]
    fn frames_without_bytes_do_not_keep_the_turn_for_ever() {
        let left = order(&[(1, 2), (0, 2)], &[(1, &[0; 4]), (0, &[0; 4])]);
        let priorities: Vec<_> = left.iter().map(|(priority, _)| *priority).collect();
        assert_eq!(priorities, [1, 1, 0, 0, 1, 1, 0, 0]);
    }
}
