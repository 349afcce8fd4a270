//! Register arrays, all in one run of words. Packets that index beyond an array neither read nor write it, as in BMv2
//! built with its checks.

use crate::number::{word_mask, words};
use crate::program::RegisterInfo;

/// One array: where its cells are and how wide they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array {
    /// First word.
    pub(crate) first: usize,
    /// Words: as many a cell as its width needs, low word first.
    pub(crate) words: usize,
    pub(crate) size: usize,
    pub(crate) width: u32,
}

/// Where each array of a program is.
pub(crate) fn arrays(infos: &[RegisterInfo]) -> Vec<Array> {
    let mut first = 0;
    let place = |info: &RegisterInfo| {
        let words = info.size * words(info.bitwidth) as usize;
        let array = Array { first, words, size: info.size, width: info.bitwidth };
        first += words;
        array
    };
    infos.iter().map(place).collect()
}

/// All register arrays of a switch.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    pub(crate) words: Vec<u64>,
    arrays: Vec<Array>,
}

impl Registers {
    pub(crate) fn new(infos: &[RegisterInfo]) -> Registers {
        let arrays = arrays(infos);
        Registers { words: vec![0; arrays.iter().map(|a| a.words).sum()], arrays }
    }

    pub(crate) fn array(&self, register: u32) -> Array {
        self.arrays[register as usize]
    }

    /// The words of an array; none if there is no such array.
    #[inline]
    pub(crate) fn cells(&self, register: usize) -> &[u64] {
        self.arrays.get(register).map_or(&[], |a| &self.words[a.first..a.first + a.words])
    }

    pub(crate) fn cells_mut(&mut self, register: u32) -> &mut [u64] {
        let array = self.arrays[register as usize];
        &mut self.words[array.first..array.first + array.words]
    }

    /// A cell of at most 64 bits; `None` beyond the array.
    #[inline]
    pub(crate) fn get(&self, register: u32, index: u64) -> Option<u64> {
        self.cells(register as usize).get(usize::try_from(index).ok()?).copied()
    }

    /// Sets a cell of at most 64 bits, cut to its width; nothing happens beyond the array.
    #[inline]
    pub(crate) fn set(&mut self, register: u32, index: u64, value: u64) {
        let width = self.arrays[register as usize].width.min(64);
        if let Some(cell) = usize::try_from(index).ok().and_then(|i| self.cells_mut(register).get_mut(i)) {
            *cell = value & u64::MAX >> (64 - width);
        }
    }

    /// The words of a cell; `None` beyond the array.
    pub(crate) fn cell(&self, register: u32, index: u64) -> Option<&[u64]> {
        let array = self.array(register);
        let index = usize::try_from(index).ok().filter(|&i| i < array.size)?;
        self.cells(register as usize).chunks_exact(words(array.width) as usize).nth(index)
    }

    /// Sets a cell, cut to its width; nothing happens beyond the array.
    pub(crate) fn set_cell(&mut self, register: u32, index: u64, value: &[u64]) {
        let array = self.array(register);
        let words = words(array.width) as usize;
        let Some(at) = usize::try_from(index).ok().filter(|&i| i < array.size) else { return };
        for (of, cell) in self.cells_mut(register)[at * words..(at + 1) * words].iter_mut().enumerate() {
            *cell = value.get(of).copied().unwrap_or(0) & word_mask(array.width, of);
        }
    }

    /// A cell of up to 128 bits, the low 128 bits of a wider one; `None` beyond the array.
    pub(crate) fn get_wide(&self, register: u32, index: u64) -> Option<u128> {
        let cell = self.cell(register, index)?;
        Some(u128::from(cell[0]) | u128::from(cell.get(1).copied().unwrap_or(0)) << 64)
    }

    /// Sets a cell of up to 128 bits, cut to it; nothing happens beyond the array.
    pub(crate) fn set_wide(&mut self, register: u32, index: u64, value: u128) {
        self.set_cell(register, index, &[value as u64, (value >> 64) as u64]);
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
    fn a_write_is_cut_to_the_cells_width_and_one_beyond_the_array_is_ignored() {
        let mut registers = registers(&[(2, 12), (2, 12)]);
        registers.set(0, 1, 0x1fff);
        registers.set(0, 2, 7);
        assert_eq!((registers.get(0, 1), registers.get(0, 2)), (Some(0xfff), None));
        assert_eq!(registers.cells(1), [0, 0]);
    }

    #[test]
    fn cells_wider_than_a_word_keep_their_high_half() {
        let mut registers = registers(&[(1, 8), (2, 100)]);
        registers.set_wide(1, 1, u128::MAX);
        assert_eq!(registers.get_wide(1, 1), Some((1 << 100) - 1));
        assert_eq!(registers.get_wide(1, 0), Some(0));
        assert_eq!(registers.get(0, 0), Some(0));
    }
}
