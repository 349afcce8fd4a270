//! Calls native code, and receives its callbacks. One of the two modules with unsafe code; the other one, `native::code`, holds
//! the code and explains why it is sound.

#![allow(unsafe_code)]

use super::cold::execute_cold;
use super::context::{Context, Trap};
use super::externs::Externs;
use super::look_up::{branch, look_up, Found};
use super::phv::Phv;
use crate::error::Fault;
use crate::native::{status, Entry, Frame, NO_ACTION};

/// The data of the callbacks.
struct Calls<'c, 'p, T> {
    context: &'c mut Context<'p, T>,
    phv: &'c mut Phv,
    trap: Option<Trap>,
}

/// Returns the data of a run's callbacks.
///
/// # Safety
/// [`enter`] has created `frame` with this `T`, and no other reference to the target of its `calls` is alive.
unsafe fn calls<'a, 'c, 'p, T>(frame: *mut Frame) -> &'a mut Calls<'c, 'p, T> {
    // SAFETY: `enter` has put a `Calls<T>` there that outlives the code's run, and does not use it before the code returns.
    unsafe { &mut *(*frame).calls.cast::<Calls<'c, 'p, T>>() }
}

unsafe extern "C" fn call_single<T: Externs>(frame: *mut Frame, pc: u32) -> u64 {
    // SAFETY: native code passes on the frame that it got, and waits for the callback to return.
    let calls = unsafe { calls::<T>(frame) };
    // SAFETY: as above; the frame itself is not part of `calls`.
    let cursor = unsafe { &mut (*frame).cursor };
    calls.context.cursor = *cursor;
    let ran = execute_cold(calls.context, calls.phv, calls.context.program.code.ops[pc as usize]);
    *cursor = calls.context.cursor;
    match ran {
        Ok(()) => 0,
        Err(trap) => {
            calls.trap = Some(trap);
            1
        }
    }
}

unsafe extern "C" fn call_apply<T: Externs>(frame: *mut Frame, table: u32) -> u64 {
    // SAFETY: native code passes on the frame that it got, and waits for the callback to return.
    let calls = unsafe { calls::<T>(frame) };
    match look_up(calls.context, calls.phv, table) {
        Some(Found { local, is_hit, data }) => {
            // SAFETY: the frame is not part of `calls`.
            unsafe { (*frame).data = data.as_ptr() };
            2 * local as u64 + u64::from(is_hit)
        }
        None => NO_ACTION,
    }
}

unsafe extern "C" fn call_select<T: Externs>(frame: *mut Frame, select: u32) -> u64 {
    // SAFETY: native code passes on the frame that it got, and waits for the callback to return.
    let calls = unsafe { calls::<T>(frame) };
    let select = &calls.context.program.select(select);
    branch(calls.context, calls.phv, select) as u64
}

/// Runs native code from the start of `entry` to the end.
#[inline]
pub(super) fn enter<T: Externs>(
    entry: &Entry,
    context: &mut Context<'_, T>,
    phv: &mut Phv,
) -> Result<(), Trap> {
    assert!(
        entry.fits(phv.slots.len(), context.cells.registers.words.len(), context.cells.counters.cells.len()),
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
    // SAFETY: the arrays have the sizes for which the code was compiled, and neither a callback nor the code resizes them.
    // While the code runs, only the code and the callbacks that it waits for access them.
    let status = unsafe { entry.run(&raw mut frame, slots, steps) };
    calls.context.cursor = frame.cursor;
    match status {
        status::DONE => Ok(()),
        status::TRAPPED => Err(calls.trap.unwrap_or(Trap::Fault(Fault::StepLimit))),
        status::STEP_LIMIT => Err(Fault::StepLimit.into()),
        status::DIVISION => Err(Fault::Division.into()),
        parser_error => Err(Trap::ParserError((parser_error >> status::CODE_SHIFT) as u32)),
    }
}
