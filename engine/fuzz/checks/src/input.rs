//! Reading an input from its front: numbers and byte strings, zeros after its end.

use arbitrary::{Arbitrary, Unstructured};

/// The rest of an input.
pub(crate) struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Returns the rest without consuming it.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0.peek_bytes(self.0.len()).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub(crate) fn u16(&mut self) -> u16 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub(crate) fn u64(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// Returns `count` bytes, or as many as remain.
    pub(crate) fn bytes(&mut self, count: usize) -> &'a [u8] {
        self.0.bytes(count.min(self.0.len())).unwrap_or_default()
    }

    /// Returns a value, or `None` if the input is too short.
    pub(crate) fn value<T: Arbitrary<'a>>(&mut self) -> Option<T> {
        self.0.arbitrary().ok()
    }
}
