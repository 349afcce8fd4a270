//! Register arrays. Packets that index beyond an array neither read nor write it, as in BMv2 built with its checks.

/// One array.
#[derive(Debug, Clone)]
pub(crate) struct Register {
    /// One word a cell, or two (low first) if a cell is wider than 64 bits.
    pub(crate) cells: Vec<u64>,
    pub(crate) size: usize,
    pub(crate) width: u32,
}

impl Register {
    pub(crate) fn new(size: usize, width: u32) -> Register {
        let words = if width > 64 { 2 } else { 1 };
        Register { cells: vec![0; size * words], size, width }
    }

    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<u64> {
        self.cells.get(usize::try_from(index).ok()?).copied()
    }

    #[inline]
    pub(crate) fn set(&mut self, index: u64, value: u64) {
        if let Some(cell) = usize::try_from(index).ok().and_then(|i| self.cells.get_mut(i)) {
            *cell = value & u64::MAX >> (64 - self.width.min(64));
        }
    }

    /// A cell of any width; `None` beyond the array.
    pub(crate) fn get_wide(&self, index: u64) -> Option<u128> {
        let index = usize::try_from(index).ok().filter(|&i| i < self.size)?;
        Some(if self.width > 64 {
            u128::from(self.cells[2 * index]) | u128::from(self.cells[2 * index + 1]) << 64
        } else {
            u128::from(self.cells[index])
        })
    }

    /// Sets a cell of any width, cut to it; nothing happens beyond the array.
    pub(crate) fn set_wide(&mut self, index: u64, value: u128) {
        let Some(at) = usize::try_from(index).ok().filter(|&i| i < self.size) else { return };
        let value = value & crate::key::ones(self.width);
        if self.width > 64 {
            self.cells[2 * at] = value as u64;
            self.cells[2 * at + 1] = (value >> 64) as u64;
        } else {
            self.cells[at] = value as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_cut_to_the_cells_width_and_one_beyond_the_array_is_ignored() {
        let mut register = Register::new(2, 12);
        register.set(1, 0x1fff);
        register.set(2, 7);
        assert_eq!((register.get(1), register.get(2)), (Some(0xfff), None));
    }

    #[test]
    fn cells_wider_than_a_word_keep_their_high_half() {
        let mut register = Register::new(2, 100);
        register.set_wide(1, u128::MAX);
        assert_eq!(register.get_wide(1), Some((1 << 100) - 1));
        assert_eq!(register.get_wide(0), Some(0));
    }
}
