//! CRC parameters set by the control plane.

use crate::program::Crc;

/// The CRC parameters that a switch's control plane has set, by calculation; `None` if it has set none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crcs(Vec<Option<Crc>>);

impl Crcs {
    pub(crate) fn get(&self, calculation: u32) -> Option<&Crc> {
        self.0.get(calculation as usize)?.as_ref()
    }

    pub(crate) fn set(&mut self, calculation: usize, crc: Crc) {
        if self.0.len() <= calculation {
            self.0.resize(calculation + 1, None);
        }
        self.0[calculation] = Some(crc);
    }
}
