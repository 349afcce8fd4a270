//! Native code for instructions that always continue with the next one: arithmetic, registers, extraction. The interpreter runs
//! cold ones. `translate` handles the branches between them.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{types, AliasRegion, InstBuilder, MemFlags, Value};

use super::frame::{offset, status};
use super::layout;
use super::translate::{frame_flags, Translation};
use crate::program::{Binary, Op, Pc, Slot, Unary};
use crate::tables::CounterValue;

/// Returns the flags for accesses to the registers' memory.
fn register_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Table))
}

/// The cells of an array, with positions in bytes.
struct Cells {
    first: usize,
    stride: usize,
    count: usize,
}

impl Translation<'_> {
    /// Translates an instruction that always continues with the next one.
    pub(super) fn straight(&mut self, op: Op, at: Pc) {
        match op {
            Op::Mov { w, d, a } => {
                let value = self.get(a);
                self.set_cut(d, value, w);
            }
            Op::Unary { op, w, d, a } => self.unary(op, w, d, a),
            Op::Binary { op, w, d, a, b } => self.binary(op, w, d, a, b),
            Op::Sar { w, d, a, b } => {
                let (value, by, max) = (self.get(a), self.get(b), self.number(63));
                let by = self.b.ins().umin(by, max);
                let value = self.b.ins().sshr(value, by);
                self.set_cut(d, value, w);
            }
            Op::Compare { op, d, a, b } => {
                let holds = self.compare(op, a, b);
                let value = self.b.ins().uextend(types::I64, holds);
                self.set(d, value);
            }
            Op::Step => self.take_step(status::STEP_LIMIT),
            Op::RegisterRead { w, d, r, idx } => self.register(r, idx, |t, cell| {
                let value = t.b.ins().load(types::I64, register_flags(), cell, 0);
                t.set_cut(d, value, w);
            }),
            Op::RegisterWrite { r, idx, a } => {
                let width = self.program.register_array(r).bitwidth.min(64) as u8;
                self.register(r, idx, |t, cell| {
                    let value = t.get(a);
                    let value = layout::low_bits(&mut t.b, value, width);
                    t.b.ins().store(register_flags(), value, cell, 0);
                });
            }
            Op::Count { c, idx } => self.count(c, idx),
            Op::Extract { header } => self.extract(header),
            Op::Verify { a, error } if self.program.constant(error).is_some() => {
                let code = self.program.constant(error).unwrap_or_default() as u32;
                let holds = self.get(a);
                let fails = self.b.ins().icmp_imm(IntCC::Equal, holds, 0);
                self.end_if(fails, Self::parser_error(code));
            }
            Op::IsValid { d, h } => match self.program.constant_header(h) {
                Some(header) => {
                    let valid = self.get(self.program.header(header).valid);
                    self.set(d, valid);
                }
                None => self.single(at),
            },
            _ => self.single(at),
        }
    }

    /// Makes the interpreter run one instruction.
    fn single(&mut self, at: Pc) {
        let trapped = self.call(offset::SINGLE, at);
        let next = self.b.create_block();
        self.b.ins().brif(trapped, self.trapped, &[], next, &[]);
        self.b.switch_to_block(next);
    }

    fn unary(&mut self, op: Unary, w: u8, d: Slot, a: Slot) {
        let value = self.get(a);
        let (unused, ones) = (64 - i64::from(w), self.number(u64::MAX >> (64 - w)));
        let value = match op {
            Unary::Not => {
                let value = self.b.ins().bnot(value);
                self.b.ins().band(value, ones)
            }
            Unary::TwoComp => {
                let value = self.b.ins().ishl_imm(value, unused);
                self.b.ins().sshr_imm(value, unused)
            }
            Unary::Sat => {
                let limit = i64::MAX >> unused;
                let (max, min) = (self.number(limit as u64), self.number(!limit as u64));
                let value = self.b.ins().smin(value, max);
                self.b.ins().smax(value, min)
            }
            Unary::USatSigned => {
                let zero = self.number(0);
                let value = self.b.ins().smax(value, zero);
                self.b.ins().umin(value, ones)
            }
            Unary::USat => self.b.ins().umin(value, ones),
        };
        self.set(d, value);
    }

    fn binary(&mut self, op: Binary, w: u8, d: Slot, a: Slot, b: Slot) {
        let known = self.program.constant(b);
        let (a, b) = (self.get(a), self.get(b));
        if matches!(op, Binary::Div | Binary::Mod) {
            let by_zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
            self.end_if(by_zero, status::DIVISION);
        }
        let ins = self.b.ins();
        let value = match op {
            Binary::Add => ins.iadd(a, b),
            Binary::Sub => ins.isub(a, b),
            Binary::Mul => ins.imul(a, b),
            Binary::Div => ins.udiv(a, b),
            Binary::Mod => ins.urem(a, b),
            Binary::And => ins.band(a, b),
            Binary::Or => ins.bor(a, b),
            Binary::Xor => ins.bxor(a, b),
            Binary::Shl => ins.ishl(a, b),
            Binary::Shr => ins.ushr(a, b),
        };
        let value = match (op, known) {
            (Binary::Shl | Binary::Shr, None) => {
                let (fits, zero) = (self.b.ins().icmp_imm(IntCC::UnsignedLessThan, b, 64), self.number(0));
                self.b.ins().select(fits, value, zero)
            }
            (Binary::Shl | Binary::Shr, Some(64..)) => self.number(0),
            _ => value,
        };
        self.set_cut(d, value, w);
    }

    /// Applies `access` to a register's cell.
    fn register(&mut self, r: u32, idx: Slot, access: impl FnOnce(&mut Self, Value)) {
        let array = crate::tables::register_places(self.program.register_arrays()).0[r as usize];
        let cells = Cells { first: 8 * array.first, stride: 8 * array.stride, count: array.size };
        self.cell(offset::REGISTERS, cells, idx, access);
    }

    /// Counts the packet in a counter's cell.
    fn count(&mut self, c: u32, idx: Slot) {
        let array = crate::tables::counter_places(self.program.counter_arrays())[c as usize].clone();
        let size = size_of::<CounterValue>();
        let cells = Cells { first: size * array.start, stride: size, count: array.len() };
        self.cell(offset::COUNTERS, cells, idx, |t, cell| {
            let length = t.frame_word(types::I64, offset::INGRESS_LENGTH);
            let bytes = offset_of!(CounterValue, bytes) as i32;
            let counted = t.b.ins().load(types::I64, register_flags(), cell, bytes);
            let counted = t.b.ins().iadd(counted, length);
            t.b.ins().store(register_flags(), counted, cell, bytes);
            let packets = offset_of!(CounterValue, packets) as i32;
            let counted = t.b.ins().load(types::I64, register_flags(), cell, packets);
            let counted = t.b.ins().iadd_imm(counted, 1);
            t.b.ins().store(register_flags(), counted, cell, packets);
        });
    }

    /// Applies `access` to the address of a cell in the frame's array at `offset`; does nothing if the index is beyond the
    /// array.
    fn cell(&mut self, offset: i32, cells: Cells, idx: Slot, access: impl FnOnce(&mut Self, Value)) {
        let index = self.get(idx);
        let inside = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, index, cells.count as i64);
        let (at_cell, next) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(inside, at_cell, &[], next, &[]);
        self.b.switch_to_block(at_cell);
        let base = self.frame_word(types::I64, offset);
        let bytes = self.b.ins().imul_imm(index, cells.stride as i64);
        let cell = self.b.ins().iadd(base, bytes);
        let cell = self.b.ins().iadd_imm(cell, cells.first as i64);
        access(self, cell);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    fn extract(&mut self, header: u32) {
        let program = self.program;
        let h = program.header(header);
        let layout = &program.header_type(h.type_id).before;
        let cursor = self.frame_word(types::I64, offset::CURSOR);
        let length = self.frame_word(types::I64, offset::PACKET_LENGTH);
        let left = self.b.ins().isub(length, cursor);
        let too_short = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, left, i64::from(layout.bytes));
        self.end_if(too_short, Self::parser_error(program.code.core_errors.packet_too_short));
        let packet = self.frame_word(types::I64, offset::PACKET);
        let data = self.b.ins().iadd(packet, cursor);
        layout::extract(&mut self.b, layout, h.base, self.slots, data);
        let one = self.number(1);
        self.set(h.valid, one);
        let after = self.b.ins().iadd_imm(cursor, i64::from(layout.bytes));
        self.b.ins().store(frame_flags(), after, self.frame, offset::CURSOR);
    }
}
