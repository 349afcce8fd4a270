//! Register arrays, all in one sequence of words. A packet that indexes beyond an array neither reads nor writes it, as in BMv2
//! built with its checks.
//!
//! Arrays of the same size are interleaved: cells with the same index are adjacent. A program usually stores the state of a
//! port or a flow in many arrays under one index, so a packet finds it in a few cache lines of one page.

use crate::number::{word_mask, words};
use crate::program::RegisterInfo;

/// One array: the location and width of its cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array {
    /// First word of the first cell.
    pub(crate) first: usize,
    /// Number of words from one cell to the next.
    pub(crate) stride: usize,
    /// Number of words in a cell, low word first.
    pub(crate) words: usize,
    pub(crate) size: usize,
    pub(crate) width: u32,
}

impl Array {
    /// Returns the first word of a cell; `None` if the index is beyond the array.
    #[inline]
    fn at(&self, index: u64) -> Option<usize> {
        (index < self.size as u64).then(|| self.first + index as usize * self.stride)
    }
}

/// Returns the location of each array of a program, and the total number of words.
pub(crate) fn register_places(infos: &[RegisterInfo]) -> (Vec<Array>, usize) {
    let cell_words = |info: &RegisterInfo| words(info.bitwidth) as usize;
    let mut arrays: Vec<Array> = infos
        .iter()
        .map(|info| {
            let (size, width) = (info.size, info.bitwidth);
            Array { first: 0, stride: 0, words: cell_words(info), size, width }
        })
        .collect();
    let mut end = 0;
    for at in 0..arrays.len() {
        if arrays[at].stride > 0 {
            continue;
        }
        let size = arrays[at].size;
        let mut stride = 0;
        for array in arrays[at..].iter_mut().filter(|array| array.size == size) {
            array.first = end + stride;
            stride += array.words;
        }
        arrays[at..].iter_mut().filter(|array| array.size == size).for_each(|array| array.stride = stride);
        end += size * stride;
    }
    (arrays, end)
}

/// All register arrays of a switch.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    pub(crate) words: Vec<u64>,
    arrays: Vec<Array>,
}

impl Registers {
    pub(crate) fn new(infos: &[RegisterInfo]) -> Registers {
        let (arrays, words) = register_places(infos);
        Registers { words: vec![0; words], arrays }
    }

    /// Zeroes all arrays.
    pub(crate) fn reset_all(&mut self) {
        self.words.fill(0);
    }

    pub(crate) fn array(&self, register: u32) -> Array {
        self.arrays[register as usize]
    }

    /// Returns the low words of an array's cells; none for an unknown array.
    pub(crate) fn cells(&self, register: usize) -> impl Iterator<Item = u64> + '_ {
        let array = self.arrays.get(register);
        let cell = |array: &Array, index: usize| self.words[array.first + index * array.stride];
        array.into_iter().flat_map(move |array| (0..array.size).map(move |index| cell(array, index)))
    }

    /// Zeroes an array.
    pub(crate) fn reset(&mut self, register: u32) {
        let array = self.array(register);
        (0..array.size as u64).for_each(|index| self.set_cell(register, index, &[]));
    }

    /// Returns the low word of a cell; `None` if the index is beyond the array or the array is unknown.
    #[inline]
    pub(crate) fn get(&self, register: u32, index: u64) -> Option<u64> {
        let at = self.arrays.get(register as usize)?.at(index)?;
        self.words.get(at).copied()
    }

    /// Sets a cell of at most 64 bits to the value, cut to its width; does nothing if the index is beyond the array.
    #[inline]
    pub(crate) fn set(&mut self, register: u32, index: u64, value: u64) {
        let array = self.array(register);
        if let Some(at) = array.at(index) {
            self.words[at] = value & u64::MAX >> (64 - array.width.min(64));
        }
    }

    /// Returns the words of a cell; `None` if the index is beyond the array.
    pub(crate) fn cell(&self, register: u32, index: u64) -> Option<&[u64]> {
        let array = self.array(register);
        array.at(index).map(|at| &self.words[at..at + array.words])
    }

    /// Sets a cell to the value, cut to its width; does nothing if the index is beyond the array.
    pub(crate) fn set_cell(&mut self, register: u32, index: u64, value: &[u64]) {
        let array = self.array(register);
        let Some(at) = array.at(index) else { return };
        for (of, cell) in self.words[at..at + array.words].iter_mut().enumerate() {
            *cell = value.get(of).copied().unwrap_or(0) & word_mask(array.width, of);
        }
    }

    /// Returns the value of a cell, or the low 128 bits of a wider one; `None` if the index is beyond the array.
    pub(crate) fn get_wide(&self, register: u32, index: u64) -> Option<u128> {
        let cell = self.cell(register, index)?;
        Some(u128::from(cell[0]) | u128::from(cell.get(1).copied().unwrap_or(0)) << 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(shapes: &[(usize, u32)]) -> Registers {
        let info = |&(size, bitwidth)| RegisterInfo { name: String::new(), id: 0, size, bitwidth };
        Registers::new(&shapes.iter().map(info).collect::<Vec<_>>())
    }

    #[test]
    fn no_two_cells_share_a_word_and_a_reset_leaves_other_arrays_alone() {
        let shapes = [(4, 8), (3, 130), (4, 64), (3, 1), (4, 100), (0, 8)];
        let mut registers = registers(&shapes);
        let indices = |register: usize| 0..shapes[register].0 as u64;
        let value = |register: usize, index: u64| [(register as u64 + index) & 1, register as u64, 0];
        for register in 0..shapes.len() {
            indices(register).for_each(|i| registers.set_cell(register as u32, i, &value(register, i)));
        }
        let holds = |registers: &Registers, register: usize| {
            indices(register).all(|i| {
                let cell = registers.cell(register as u32, i).unwrap();
                cell[..1] == value(register, i)[..1] && cell.len() == words(shapes[register].1) as usize
            })
        };
        assert!((0..shapes.len()).all(|register| holds(&registers, register)));
        assert_eq!(registers.words.len(), 4 * (1 + 1 + 2) + 3 * (3 + 1));
        registers.reset(2);
        assert!(registers.cells(2).all(|word| word == 0));
        assert!([0, 1, 3, 4].into_iter().all(|register| holds(&registers, register)));
    }
}
