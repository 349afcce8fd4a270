//! A program that is ready to run: the loaded program and its native code.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::native::Native;
use crate::program::Program;

/// A loaded program with its native code, shared by all switches that run it.
#[derive(Debug)]
pub struct Executable {
    program: Program,
    /// Compiled with the first [`crate::State`]; `None` if the machine has no code generator.
    native: OnceLock<Option<Native>>,
}

impl Executable {
    /// Creates the executable, which all [`crate::State`]s of the program share.
    pub fn new(program: Program) -> Arc<Executable> {
        Arc::new(Executable { program, native: OnceLock::new() })
    }

    /// Compiles the native code, unless that has already happened.
    pub(crate) fn compile(&self) {
        self.native.get_or_init(|| Native::compile(&self.program));
    }

    /// Returns the native code, if it exists.
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
