//! What native code and those who enter it have agreed on: where the code finds what it works on, and what it returns.

use std::ffi::c_void;
use std::mem::offset_of;

use crate::tables::CounterValue;

/// What an entry returns.
pub(crate) mod status {
    /// The end was reached.
    pub(crate) const DONE: i64 = 0;
    /// A callback has left the reason with who entered the code.
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
pub(crate) const NO_ACTION: u64 = u32::MAX as u64;

/// A callback: the frame, and an index of the program's.
type Callback = unsafe extern "C" fn(*mut Frame, u32) -> u64;

/// What the code finds at the pointer that it is given, by offset.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) registers: *mut u64,
    pub(crate) packet: *const u8,
    pub(crate) packet_length: usize,
    pub(crate) cursor: usize,
    pub(crate) counters: *mut CounterValue,
    /// What counters of bytes add.
    pub(crate) ingress_length: u64,
    /// The parameters of the action that `apply` has found last.
    pub(crate) data: *const u64,
    /// Runs the instruction of this index alone; not 0 when it trapped.
    pub(crate) single: Callback,
    /// Looks the table of this index up: twice the action's place in the table, plus 1 for a hit; or [`NO_ACTION`].
    pub(crate) apply: Callback,
    /// The case of the select of this index that fits.
    pub(crate) select: Callback,
    /// What the callbacks work on: known to who enters the code.
    pub(crate) calls: *mut c_void,
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
