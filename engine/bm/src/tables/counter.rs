//! Counters: as in BMv2, each counts both packets and bytes.

use std::ops::{Index, IndexMut, Range};

use crate::program::CounterInfo;

/// A counter cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct CounterValue {
    /// Bytes of the packets as received.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl CounterValue {
    #[inline]
    pub(crate) fn count(&mut self, bytes: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(1);
    }
}

/// Returns the cells of each counter array of a program. Direct counters have none: they are stored with their entries.
pub(crate) fn counter_places(infos: &[CounterInfo]) -> Vec<Range<usize>> {
    let mut first = 0;
    let place = |info: &CounterInfo| {
        let cells = if info.direct_table.is_some() { 0 } else { info.size };
        let array = first..first + cells;
        first = array.end;
        array
    };
    infos.iter().map(place).collect()
}

/// All indirect counters of a switch, in one sequence of cells; each array is a slice.
#[derive(Debug, Clone)]
pub(crate) struct Counters {
    pub(crate) cells: Vec<CounterValue>,
    arrays: Vec<Range<usize>>,
}

impl Counters {
    pub(crate) fn new(infos: &[CounterInfo]) -> Counters {
        let arrays = counter_places(infos);
        Counters { cells: vec![CounterValue::default(); arrays.last().map_or(0, |last| last.end)], arrays }
    }
}

impl Index<usize> for Counters {
    type Output = [CounterValue];
    fn index(&self, counter: usize) -> &[CounterValue] {
        &self.cells[self.arrays[counter].clone()]
    }
}

impl IndexMut<usize> for Counters {
    fn index_mut(&mut self, counter: usize) -> &mut [CounterValue] {
        &mut self.cells[self.arrays[counter].clone()]
    }
}
