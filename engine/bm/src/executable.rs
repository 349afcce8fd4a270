//! A program that is ready to run: what was loaded, and the native code that is made of it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::native::Native;
use crate::program::Program;

/// A loaded program with its native code, shared by all switches that run it.
#[derive(Debug)]
pub struct Executable {
    program: Program,
    /// Made with the first [`crate::State`]; `None` where there can be none.
    native: OnceLock<Option<Native>>,
}

impl Executable {
    /// Makes the executable, which every [`crate::State`] of the program shares.
    pub fn new(program: Program) -> Arc<Executable> {
        Arc::new(Executable { program, native: OnceLock::new() })
    }

    /// Makes the native code, if that has not happened yet.
    pub(crate) fn compile(&self) {
        self.native.get_or_init(|| Native::compile(&self.program));
    }

    /// Returns the native code, if there is some.
    #[inline]
    pub(crate) fn native(&self) -> Option<&Native> {
        self.native.get()?.as_ref()
    }
}

impl Deref for Executable {
    type Target = Program;
    #[inline]
    fn deref(&self) -> &Program {
        &self.program
    }
}
