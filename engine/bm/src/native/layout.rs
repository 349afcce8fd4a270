//! Native code that moves headers from bytes to slots and back. It must agree with the two loops of [`Layout`].

use cranelift_codegen::ir::{types, InstBuilder, MemFlags, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;

use super::translate::{load_slot, store_slot};
use crate::program::{Calculation, Deparser, Input, Layout, Piece, Program, Slot, VlStore};

/// Bytes after the output that may be overwritten, because whole words are stored.
pub(super) const SPARE: usize = 8;

/// One part of a writer's output.
pub(super) struct Part {
    /// The part is omitted if this slot is 0.
    valid: Option<Slot>,
    content: Content,
}

enum Content {
    /// Fields laid out over the slots from `base`.
    Fields { base: Slot, layout: Layout },
    /// A variable-length field.
    Variable(VlStore),
    /// The bytes of a number.
    Constant(Vec<u8>),
}

impl Part {
    /// Returns the maximum length of the part in bytes.
    pub(super) fn bytes(&self) -> usize {
        match &self.content {
            Content::Fields { layout, .. } => layout.bytes as usize,
            Content::Variable(store) => store.capacity,
            Content::Constant(bytes) => bytes.len(),
        }
    }
}

/// Returns the parts of a whole header.
fn header_parts(program: &Program, header: u32) -> Vec<Part> {
    let h = program.header(header);
    let ty = program.header_type(h.type_id);
    let part = |content| Part { valid: Some(h.valid), content };
    let fields = |layout: &Layout| part(Content::Fields { base: h.base, layout: layout.clone() });
    let mut parts = vec![fields(&ty.before)];
    if let (Some(vl), Some((_, after))) = (h.vl, &ty.variable) {
        parts.push(part(Content::Variable(program.vl_store(vl))));
        parts.push(fields(after));
    }
    parts
}

/// Returns the parts that a deparser writes.
pub(super) fn deparsed(program: &Program, deparser: &Deparser) -> Vec<Part> {
    deparser.headers.iter().flat_map(|&header| header_parts(program, header)).collect()
}

/// Returns the parts that a calculation covers; `None` if it does not consist of whole bytes.
pub(super) fn covered(program: &Program, calculation: &Calculation) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for input in &calculation.inputs {
        let (valid, content) = match input {
            Input::Fields { layout, valid } => {
                (Some(*valid), Content::Fields { base: 0, layout: layout.clone() })
            }
            Input::Variable { store, valid } => (Some(*valid), Content::Variable(program.vl_store(*store))),
            Input::Constant { value, width } if width % 8 == 0 => {
                (None, Content::Constant(crate::number::to_bytes(value, *width)))
            }
            Input::Header { header, .. } => {
                parts.extend(header_parts(program, *header));
                continue;
            }
            // A single field that was not joined to others does not begin or end at a byte.
            Input::Field { .. } | Input::Constant { .. } => return None,
        };
        parts.push(Part { valid, content });
    }
    Some(parts)
}

fn unaligned() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// Returns the low `width` bits; `width` is 1 to 64. The code generator drops a mask of 64 bits, and shifts by none below.
pub(super) fn low_bits(b: &mut FunctionBuilder<'_>, value: Value, width: u8) -> Value {
    b.ins().band_imm(value, (u64::MAX >> (64 - width)) as i64)
}

/// Moves the `layout.bytes` bytes at `data` into the slots from `base`.
pub(super) fn extract(b: &mut FunctionBuilder<'_>, layout: &Layout, base: Slot, slots: Value, data: Value) {
    for chunk in &layout.chunks {
        let (at, length) = (chunk.byte, u32::from(chunk.bytes));
        // The chunk's bytes are the low ones of `word`, shifted up by `surplus` bits.
        let (word, surplus) = if layout.bytes >= 8 {
            // Load a whole word from within the header, so that nothing beyond the packet is read.
            let from = at.min(layout.bytes - 8);
            let word = b.ins().load(types::I64, unaligned(), data, from as i32);
            (b.ins().bswap(word), 8 * (from + 8 - (at + length)))
        } else {
            let byte = |b: &mut FunctionBuilder<'_>, at: u32| {
                b.ins().uload8(types::I64, unaligned(), data, at as i32)
            };
            let mut word = byte(b, at);
            for next in at + 1..at + length {
                let low = byte(b, next);
                let high = b.ins().ishl_imm(word, 8);
                word = b.ins().bor(high, low);
            }
            (word, 0)
        };
        for p in &chunk.pieces {
            let bits = b.ins().ushr_imm(word, i64::from(u32::from(p.word_shift) + surplus));
            let bits = low_bits(b, bits, p.width);
            let bits = b.ins().ishl_imm(bits, i64::from(p.slot_shift));
            let slot = base + p.off;
            let value = if p.first {
                bits
            } else {
                let before = load_slot(b, slots, slot);
                b.ins().bor(before, bits)
            };
            let value = sign_extended(b, value, p);
            store_slot(b, slots, slot, value);
        }
    }
}

fn sign_extended(b: &mut FunctionBuilder<'_>, value: Value, p: &Piece) -> Value {
    if p.sign == 0 || p.sign == 64 {
        return value;
    }
    let unused = i64::from(64 - p.sign);
    let up = b.ins().ishl_imm(value, unused);
    b.ins().sshr_imm(up, unused)
}

/// Builds a function of (slots, variable-length fields, output) that writes the parts one after another and returns the number
/// of bytes.
pub(super) fn write_parts(
    program: &Program,
    parts: &[Part],
    config: TargetFrontendConfig,
    mut b: FunctionBuilder<'_>,
) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let (slots, variable, out) =
        (b.block_params(entry)[0], b.block_params(entry)[1], b.block_params(entry)[2]);
    let mut at = out;
    for part in parts {
        let after = part.valid.map(|valid| {
            let (write, after) = (b.create_block(), b.create_block());
            b.append_block_param(after, types::I64);
            let valid = super::translate::value_of(&mut b, program, slots, valid);
            b.ins().brif(valid, write, &[], after, &[at.into()]);
            b.switch_to_block(write);
            after
        });
        let bytes = match &part.content {
            Content::Fields { base, layout } => {
                for chunk in &layout.chunks {
                    let mut word = None;
                    for p in &chunk.pieces {
                        let slot = load_slot(&mut b, slots, base + p.off);
                        let bits = b.ins().ushr_imm(slot, i64::from(p.slot_shift));
                        let bits = low_bits(&mut b, bits, p.width);
                        let bits = b.ins().ishl_imm(bits, i64::from(p.word_shift));
                        word = Some(word.map_or(bits, |word| b.ins().bor(word, bits)));
                    }
                    if let Some(word) = word {
                        store_word(&mut b, word, chunk.bytes, at, chunk.byte as i32);
                    }
                }
                b.ins().iconst(types::I64, i64::from(layout.bytes))
            }
            Content::Variable(store) => {
                let length = load_slot(&mut b, slots, store.length);
                let max_length = b.ins().iconst(types::I64, store.capacity as i64);
                let length = b.ins().umin(length, max_length);
                let (copy, after) = (b.create_block(), b.create_block());
                b.ins().brif(length, copy, &[], after, &[]);
                b.switch_to_block(copy);
                let from = b.ins().iadd_imm(variable, store.start as i64);
                b.call_memcpy(config, at, from, length);
                b.ins().jump(after, &[]);
                b.switch_to_block(after);
                length
            }
            Content::Constant(bytes) => {
                for (offset, &byte) in (0..).zip(bytes) {
                    let value = b.ins().iconst(types::I8, i64::from(byte));
                    b.ins().store(unaligned(), value, at, offset);
                }
                b.ins().iconst(types::I64, bytes.len() as i64)
            }
        };
        let end = b.ins().iadd(at, bytes);
        at = match after {
            Some(after) => {
                b.ins().jump(after, &[end.into()]);
                b.switch_to_block(after);
                b.block_params(after)[0]
            }
            None => end,
        };
    }
    let length = b.ins().isub(at, out);
    b.ins().return_(&[length]);
    b.seal_all_blocks();
    b.finalize();
}

/// Stores the low `bytes` bytes, most significant first, and overwrites the bytes after them.
fn store_word(b: &mut FunctionBuilder<'_>, word: Value, bytes: u8, at: Value, offset: i32) {
    let up = b.ins().ishl_imm(word, 64 - 8 * i64::from(bytes));
    let swapped = b.ins().bswap(up);
    b.ins().store(unaligned(), swapped, at, offset);
}
