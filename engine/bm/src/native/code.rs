//! The memory of native code, and the functions in it. One of the two modules with unsafe code; the other is `run::enter`.
//!
//! Why it is sound: `translate` and `layout` generate the code for one program, and each call checks that slots, registers and
//! counters have that program's sizes. Slots and offsets in the code come from the loader, which keeps them inside these
//! arrays. The code compares an index that comes from a packet with the array's length, and the length of a read with the rest
//! of the packet.

#![allow(unsafe_code)]

use std::mem::transmute;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;

use super::frame::Frame;
use crate::program::Program;
use crate::tables::{counter_places, register_places};

/// Takes a frame, slots and a number of steps; returns a status.
type EntryCode = unsafe extern "C" fn(*mut Frame, *mut u64, u32) -> i64;

/// Takes slots, variable-length fields and an output pointer; returns the number of bytes written there.
type WriterCode = unsafe extern "C" fn(*const u64, *const u8, *mut u8) -> usize;

/// The memory that holds native code.
pub(super) struct Code(Option<JITModule>);

// SAFETY: the module is not changed once its functions are finalised: the code is read-only memory, and `Drop` has exclusive
// access.
unsafe impl Send for Code {}
// SAFETY: as above; a shared `Code` gives access to nothing.
unsafe impl Sync for Code {}

impl Code {
    /// Takes ownership of a module whose functions are finalised.
    pub(super) fn new(module: JITModule) -> Code {
        Code(Some(module))
    }

    fn address(&self, id: FuncId) -> *const u8 {
        self.0.as_ref().map_or(std::ptr::null(), |module| module.get_finalized_function(id))
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: entries and writers are private to `Native`, which owns this value and is being dropped.
            unsafe { module.free_memory() };
        }
    }
}

/// Code that runs instructions from a start to the end.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    code: EntryCode,
    slots: usize,
    register_words: usize,
    counter_cells: usize,
}

impl Entry {
    /// Creates an entry for the function `id`, which `translate` generated for `program`.
    pub(super) fn new(code: &Code, id: FuncId, program: &Program) -> Entry {
        Entry {
            // SAFETY: the function was declared with these parameters and this result, in C's calling convention.
            code: unsafe { transmute::<*const u8, EntryCode>(code.address(id)) },
            slots: program.slots(),
            register_words: register_places(program.register_arrays()).1,
            counter_cells: counter_places(program.counter_arrays()).last().map_or(0, |last| last.end),
        }
    }

    /// Returns whether arrays of these lengths belong to the program of the code.
    #[inline]
    pub(crate) fn fits(&self, slots: usize, register_words: usize, counter_cells: usize) -> bool {
        slots == self.slots && register_words == self.register_words && counter_cells == self.counter_cells
    }

    /// Runs the code, and returns a status.
    ///
    /// # Safety
    /// [`Entry::fits`] has accepted the lengths of the slots and of the frame's registers and counters. The frame's packet is
    /// as long as the frame states, and the cursor is inside it. The callbacks match the target of `calls`. While the code
    /// runs, only the code and the callbacks that it waits for access all of these.
    #[inline]
    pub(crate) unsafe fn run(&self, frame: *mut Frame, slots: *mut u64, steps: u32) -> i64 {
        // SAFETY: the caller guarantees it.
        unsafe { (self.code)(frame, slots, steps) }
    }
}

/// Code that writes headers and fields as bytes.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    code: WriterCode,
    /// Maximum number of bytes that it writes, including the spare bytes that it may overwrite after the output.
    room: usize,
    slots: usize,
    variable_bytes: usize,
}

impl Writer {
    /// Creates a writer for the function `id`, which `layout` generated for `program` and which writes at most `bytes`.
    pub(super) fn new(code: &Code, id: FuncId, bytes: usize, program: &Program) -> Writer {
        Writer {
            // SAFETY: the function was declared with these parameters and this result, in C's calling convention.
            code: unsafe { transmute::<*const u8, WriterCode>(code.address(id)) },
            room: bytes + super::layout::SPARE,
            slots: program.slots(),
            variable_bytes: program.packet.vl_bytes,
        }
    }

    /// Appends the bytes of a packet with these slots and variable-length fields to `out`.
    #[inline]
    pub(crate) fn append(&self, slots: &[u64], variable: &[u8], out: &mut Vec<u8>) {
        assert!(
            slots.len() == self.slots && variable.len() == self.variable_bytes,
            "a packet of another program"
        );
        out.reserve(self.room);
        let length = out.len();
        // SAFETY: the code reads slots and variable-length fields of this program's packets, and writes at most `room` bytes,
        // which are reserved after `length`; it returns the number of valid bytes.
        unsafe {
            let written = (self.code)(slots.as_ptr(), variable.as_ptr(), out.as_mut_ptr().add(length));
            out.set_len(length + written);
        }
    }
}
