//! Enters native code, and is called back by it. The only unsafe code of the crate.
//!
//! What makes it sound: the code was made by `translate` and `layout` for one program, and is entered only with slots,
//! registers and counters of that program's sizes, which is checked at each entry. Slots and offsets in the code come from
//! the loader, which keeps them inside these arrays; an index that comes from a packet is compared with the array's
//! length in the code. Packet bytes are read after a comparison with what is left of the packet.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::{offset_of, transmute};

use cranelift_jit::JITModule;
use cranelift_module::FuncId;

use crate::counter::CounterValue;
use crate::error::Fault;
use crate::execute::{branch, look_up, seldom, Context, Found, Trap};
use crate::phv::Phv;
use crate::program::Program;
use crate::target::Target;

/// What an entry returns.
pub(super) mod status {
    /// The end was reached.
    pub(crate) const DONE: i64 = 0;
    /// A callback has left the reason in [`super::Calls`].
    pub(crate) const TRAPPED: i64 = 1;
    /// [`crate::Fault::StepLimit`].
    pub(crate) const STEP_LIMIT: i64 = 2;
    /// [`crate::Fault::Division`].
    pub(crate) const DIVISION: i64 = 3;
    /// A parser error: this, plus its code shifted by [`CODE_SHIFT`].
    pub(crate) const PARSER_ERROR: i64 = 4;
    /// Bits below a parser error's code.
    pub(crate) const CODE_SHIFT: u32 = 8;
}

/// What [`Frame::apply`] returns for a table without an action.
pub(super) const NO_ACTION: u64 = u32::MAX as u64;

/// A callback: the frame, and an index of the program's.
type Callback = unsafe extern "C" fn(*mut Frame, u32) -> u64;

/// From a frame, slots and a number of steps to a status.
type EntryCode = unsafe extern "C" fn(*mut Frame, *mut u64, u32) -> i64;

/// From slots, variable-length fields and a place to the number of bytes written there.
type WriterCode = unsafe extern "C" fn(*const u64, *const u8, *mut u8) -> usize;

/// What the code finds at the pointer that it is given, by offset.
#[repr(C)]
pub(super) struct Frame {
    registers: *mut u64,
    packet: *const u8,
    packet_length: usize,
    cursor: usize,
    counters: *mut CounterValue,
    /// What counters of bytes add.
    ingress_length: u64,
    /// The parameters of the action that `apply` has found last.
    data: *const u64,
    /// Runs the instruction of this index alone; not 0 when it trapped.
    single: Callback,
    /// Looks the table of this index up: twice the action's place in the table, plus 1 for a hit; or [`NO_ACTION`].
    apply: Callback,
    /// The case of the select of this index that fits.
    select: Callback,
    /// A [`Calls`] of the callbacks' target type.
    calls: *mut c_void,
}

/// Offsets in [`Frame`].
pub(super) mod offset {
    use super::{offset_of, Frame};
    pub(crate) const REGISTERS: i32 = offset_of!(Frame, registers) as i32;
    pub(crate) const PACKET: i32 = offset_of!(Frame, packet) as i32;
    pub(crate) const PACKET_LENGTH: i32 = offset_of!(Frame, packet_length) as i32;
    pub(crate) const CURSOR: i32 = offset_of!(Frame, cursor) as i32;
    pub(crate) const COUNTERS: i32 = offset_of!(Frame, counters) as i32;
    pub(crate) const INGRESS_LENGTH: i32 = offset_of!(Frame, ingress_length) as i32;
    pub(crate) const DATA: i32 = offset_of!(Frame, data) as i32;
    pub(crate) const SINGLE: i32 = offset_of!(Frame, single) as i32;
    pub(crate) const APPLY: i32 = offset_of!(Frame, apply) as i32;
    pub(crate) const SELECT: i32 = offset_of!(Frame, select) as i32;
}

/// What the callbacks work on.
struct Calls<'c, 'p, T> {
    context: &'c mut Context<'p, T>,
    phv: &'c mut Phv,
    trap: Option<Trap>,
}

/// # Safety
/// `frame` is the one that [`Entry::run`] made with this `T`, and no other reference to what its `calls` points to is alive.
unsafe fn calls<'a, 'c, 'p, T>(frame: *mut Frame) -> &'a mut Calls<'c, 'p, T> {
    // SAFETY: `run` has put a `Calls<T>` there that outlives the code's run, and uses it only afterwards.
    unsafe { &mut *(*frame).calls.cast::<Calls<'c, 'p, T>>() }
}

unsafe extern "C" fn call_single<T: Target>(frame: *mut Frame, pc: u32) -> u64 {
    // SAFETY: native code passes on the frame that it was given, and waits for the answer.
    let calls = unsafe { calls::<T>(frame) };
    // SAFETY: as above; the frame itself is behind another pointer than `calls`.
    let cursor = unsafe { &mut (*frame).cursor };
    calls.context.cursor = *cursor;
    let ran = seldom(calls.context, calls.phv, calls.context.program.ops[pc as usize]);
    *cursor = calls.context.cursor;
    match ran {
        Ok(()) => 0,
        Err(trap) => {
            calls.trap = Some(trap);
            1
        }
    }
}

unsafe extern "C" fn call_apply<T: Target>(frame: *mut Frame, table: u32) -> u64 {
    // SAFETY: native code passes on the frame that it was given, and waits for the answer.
    let calls = unsafe { calls::<T>(frame) };
    match look_up(calls.context, calls.phv, table) {
        Some(Found { local, is_hit, data }) => {
            // SAFETY: the frame is behind another pointer than `calls`.
            unsafe { (*frame).data = data.as_ptr() };
            2 * local as u64 + u64::from(is_hit)
        }
        None => NO_ACTION,
    }
}

unsafe extern "C" fn call_select<T: Target>(frame: *mut Frame, select: u32) -> u64 {
    // SAFETY: native code passes on the frame that it was given, and waits for the answer.
    let calls = unsafe { calls::<T>(frame) };
    let select = &calls.context.program.selects[select as usize];
    branch(calls.context, calls.phv, select) as u64
}

/// The memory that native code lies in.
pub(super) struct Code(Option<JITModule>);

// SAFETY: the module is not touched any more once its functions are finalised: the code is read-only memory, and
// `Drop` has it to itself.
unsafe impl Send for Code {}
// SAFETY: as above; nothing can be reached through a shared `Code`.
unsafe impl Sync for Code {}

impl Code {
    /// `module` is finalised.
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
    /// `id` is a function that `translate` made for `program`.
    pub(super) fn new(code: &Code, id: FuncId, program: &Program) -> Entry {
        Entry {
            // SAFETY: the function was declared with these parameters and this result, in C's calling convention.
            code: unsafe { transmute::<*const u8, EntryCode>(code.address(id)) },
            slots: program.slots(),
            register_words: crate::register::arrays(&program.register_arrays).1,
            counter_cells: crate::counter::arrays(&program.counter_arrays).last().map_or(0, |last| last.end),
        }
    }

    /// Runs it.
    #[inline]
    pub(crate) fn run<T: Target>(&self, context: &mut Context<'_, T>, phv: &mut Phv) -> Result<(), Trap> {
        assert!(
            phv.slots.len() == self.slots
                && context.cells.registers.words.len() == self.register_words
                && context.cells.counters.cells.len() == self.counter_cells,
            "a packet or a state of another program"
        );
        let steps = context.max_steps;
        let mut calls = Calls { context, phv, trap: None };
        let mut frame = Frame {
            registers: calls.context.cells.registers.words.as_mut_ptr(),
            packet: calls.context.packet.as_ptr(),
            packet_length: calls.context.packet.len(),
            cursor: calls.context.cursor,
            counters: calls.context.cells.counters.cells.as_mut_ptr(),
            ingress_length: calls.phv.ingress_length,
            data: std::ptr::null(),
            single: call_single::<T>,
            apply: call_apply::<T>,
            select: call_select::<T>,
            calls: (&raw mut calls).cast(),
        };
        let slots = calls.phv.slots.as_mut_ptr();
        // SAFETY: the arrays have the sizes that the code was made for, and neither a callback nor the code resizes
        // them; while the code runs they are reached only by it and by the callbacks that it waits for.
        let status = unsafe { (self.code)(&raw mut frame, slots, steps) };
        calls.context.cursor = frame.cursor;
        match status {
            status::DONE => Ok(()),
            status::TRAPPED => Err(calls.trap.unwrap_or(Trap::Fault(Fault::StepLimit))),
            status::STEP_LIMIT => Err(Fault::StepLimit.into()),
            status::DIVISION => Err(Fault::Division.into()),
            parser_error => Err(Trap::ParserError((parser_error >> status::CODE_SHIFT) as u32)),
        }
    }
}

/// Code that writes headers and fields as bytes.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    code: WriterCode,
    /// Most bytes that it writes, and those that it writes over behind them.
    room: usize,
    slots: usize,
    variable_bytes: usize,
}

impl Writer {
    /// `id` is a function that `layout` made for `program`; it writes at most `bytes`.
    pub(super) fn new(code: &Code, id: FuncId, bytes: usize, program: &Program) -> Writer {
        Writer {
            // SAFETY: the function was declared with these parameters and this result, in C's calling convention.
            code: unsafe { transmute::<*const u8, WriterCode>(code.address(id)) },
            room: bytes + super::layout::SPARE,
            slots: program.slots(),
            variable_bytes: program.vl_bytes,
        }
    }

    /// Appends the bytes to `out`.
    #[inline]
    pub(crate) fn append(&self, phv: &Phv, out: &mut Vec<u8>) {
        assert!(
            phv.slots.len() == self.slots && phv.vl.len() == self.variable_bytes,
            "a packet of another program"
        );
        out.reserve(self.room);
        let length = out.len();
        // SAFETY: the code reads slots and variable-length fields of this program's packets, and writes at most `room` bytes, for which there is
        // room behind `length`; it returns how many of them count.
        unsafe {
            let written = (self.code)(phv.slots.as_ptr(), phv.vl.as_ptr(), out.as_mut_ptr().add(length));
            out.set_len(length + written);
        }
    }
}
