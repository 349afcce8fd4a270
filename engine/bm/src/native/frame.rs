//! The interface between native code and its caller: the location of the code's data, and its return values.

use std::ffi::c_void;
use std::mem::offset_of;

use crate::tables::CounterValue;

/// Return values of an entry.
pub(crate) mod status {
    /// The code has reached the end.
    pub(crate) const DONE: i64 = 0;
    /// A callback has left the reason with the caller of the code.
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

/// The result of [`Frame::apply`] for a table without an action.
pub(crate) const NO_ACTION: u64 = u32::MAX as u64;

/// A callback with the frame and an index into a list of the program.
type Callback = unsafe extern "C" fn(*mut Frame, u32) -> u64;

/// The data at the pointer that the code gets; the code accesses it by offset.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) registers: *mut u64,
    pub(crate) packet: *const u8,
    pub(crate) packet_length: usize,
    pub(crate) cursor: usize,
    pub(crate) counters: *mut CounterValue,
    /// The amount that byte counters add.
    pub(crate) ingress_length: u64,
    /// The parameters of the action that the last call of `apply` found.
    pub(crate) data: *const u64,
    /// Runs the instruction with this index only; returns a non-zero value if it trapped.
    pub(crate) single: Callback,
    /// Looks up the table with this index. Returns twice the action's place in the table, plus 1 for a hit; or [`NO_ACTION`].
    pub(crate) apply: Callback,
    /// Returns the matching case of the select with this index.
    pub(crate) select: Callback,
    /// The data of the callbacks, whose type only the caller of the code knows.
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
