//! The memory of native code, and the functions in it. One of the two places with unsafe code; the other enters it: `run::enter`.
//!
//! What makes it sound: the code was made by `translate` and `layout` for one program, and is entered only with slots,
//! registers and counters of that program's sizes, which is checked at each entry. Slots and offsets in the code come from
//! the loader, which keeps them inside these arrays; an index that comes from a packet is compared with the array's
//! length in the code. Packet bytes are read after a comparison with what is left of the packet.

#![allow(unsafe_code)]

use std::mem::transmute;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;

use super::frame::Frame;
use crate::program::Program;
use crate::tables::{counter_places, register_places};

/// From a frame, slots and a number of steps to a status.
type EntryCode = unsafe extern "C" fn(*mut Frame, *mut u64, u32) -> i64;

/// From slots, variable-length fields and a place to the number of bytes written there.
type WriterCode = unsafe extern "C" fn(*const u64, *const u8, *mut u8) -> usize;

/// The memory that native code lies in.
pub(super) struct Code(Option<JITModule>);

// SAFETY: the module is not touched any more once its functions are finalised: the code is read-only memory, and
// `Drop` has it to itself.
unsafe impl Send for Code {}
// SAFETY: as above; nothing can be reached through a shared `Code`.
unsafe impl Sync for Code {}

impl Code {
    /// Takes a module whose functions are finalised.
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
            // SAFETY: entries and writers are private to `Native`, which owns this and is gone.
            unsafe { module.free_memory() };
        }
    }
}

/// Code that runs instructions from some start to the end.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    code: EntryCode,
    slots: usize,
    register_words: usize,
    counter_cells: usize,
}

impl Entry {
    /// Creates an entry for the function `id`, which `translate` made for `program`.
    pub(super) fn new(code: &Code, id: FuncId, program: &Program) -> Entry {
        Entry {
            // SAFETY: the function was declared with these parameters and this result, in C's calling convention.
            code: unsafe { transmute::<*const u8, EntryCode>(code.address(id)) },
            slots: program.slots(),
            register_words: register_places(program.register_arrays()).1,
            counter_cells: counter_places(program.counter_arrays()).last().map_or(0, |last| last.end),
        }
    }

    /// Returns whether arrays of these lengths are of the program that the code was made for.
    #[inline]
    pub(crate) fn fits(&self, slots: usize, register_words: usize, counter_cells: usize) -> bool {
        slots == self.slots && register_words == self.register_words && counter_cells == self.counter_cells
    }

    /// Runs it; returns a status.
    ///
    /// # Safety
    /// Slots, and the registers and counters of the frame, are arrays of the lengths that [`Entry::fits`] has been asked for.
    /// The frame's packet is as long as the frame says, with the cursor inside. The callbacks are for what `calls` points
    /// to. While the code runs all of these are reached only by it, and by the callbacks that it waits for.
    #[inline]
    pub(crate) unsafe fn run(&self, frame: *mut Frame, slots: *mut u64, steps: u32) -> i64 {
        // SAFETY: as the caller promises.
        unsafe { (self.code)(frame, slots, steps) }
    }
}

/// Code that writes headers and fields as bytes.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    code: WriterCode,
    /// Maximum number of bytes that it writes, and those that it writes over behind them.
    room: usize,
    slots: usize,
    variable_bytes: usize,
}

impl Writer {
    /// Creates a writer for the function `id`, which `layout` made for `program` and which writes at most `bytes`.
    pub(super) fn new(code: &Code, id: FuncId, bytes: usize, program: &Program) -> Writer {
        Writer {
            // SAFETY: the function was declared with these parameters and this result, in C's calling convention.
            code: unsafe { transmute::<*const u8, WriterCode>(code.address(id)) },
            room: bytes + super::layout::SPARE,
            slots: program.slots(),
            variable_bytes: program.vl_bytes(),
        }
    }

    /// Appends the bytes that a packet with these slots and variable-length fields has to `out`.
    #[inline]
    pub(crate) fn append(&self, slots: &[u64], variable: &[u8], out: &mut Vec<u8>) {
        assert!(
            slots.len() == self.slots && variable.len() == self.variable_bytes,
            "a packet of another program"
        );
        out.reserve(self.room);
        let length = out.len();
        // SAFETY: the code reads slots and variable-length fields of this program's packets, and writes at most `room` bytes, for which there is
        // room behind `length`; it returns how many of them count.
        unsafe {
            let written = (self.code)(slots.as_ptr(), variable.as_ptr(), out.as_mut_ptr().add(length));
            out.set_len(length + written);
        }
    }
}
