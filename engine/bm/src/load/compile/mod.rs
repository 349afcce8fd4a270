//! Compiles expressions into instructions, in one word or in several according to the ranges of `expression`.
//!
//! The low n bits of a sum, product, mask or left shift depend only on the low n bits of its operands. A value that is cut to n
//! <= 64 bits is therefore computed in wrapping 64-bit arithmetic, regardless of its full width. Only an operation that depends
//! on the whole value needs it exactly. A value that fits no [`Representation`] is computed in as many words as it needs, which
//! is slower.

pub(crate) mod expression;
mod wide;

use std::collections::HashMap;

use crate::error::LoadError;
use crate::number::{word_mask, words};
use crate::program::{ColdOp, Comparison, Op, Operation, Pc, Slot, Unary, Wide};
use expression::{Binary, Bool, Compare, Expr, HeaderRef, Range, Representation, UnionRef};

/// Number of slots for the temporaries of one primitive or condition.
pub(crate) const TEMP_SLOTS: u32 = 4096;

/// Maximum number of words of an intermediate value: the product of two of p4c's widest values.
const MAX_WORDS: u32 = 130;

type Result<T> = std::result::Result<T, LoadError>;

/// The result of a [`Compiler`]: instructions, the constructs that they refer to, and constants with the slot of the first.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) ops: Vec<Op>,
    pub(crate) cold_ops: Vec<ColdOp>,
    pub(crate) const_base: Slot,
    pub(crate) constants: Vec<u64>,
}

/// The target of a branch: known, or patched later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Label(u32);

/// Collects instructions, constants and temporaries.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    ops: Vec<Op>,
    cold_ops: Vec<ColdOp>,
    labels: Vec<Option<Pc>>,
    temp_base: Slot,
    temp_next: u32,
    const_base: Slot,
    constants: Vec<u64>,
    known: HashMap<Vec<u64>, Slot>,
    max_ops: usize,
}

impl Compiler {
    /// Creates a compiler. `temp_base` is the first slot after headers and action parameters.
    pub(crate) fn new(temp_base: Slot, max_ops: usize) -> Compiler {
        let const_base = temp_base + TEMP_SLOTS;
        Compiler { temp_base, const_base, max_ops, ..Compiler::default() }
    }

    /// Patches the branches, and returns the result.
    pub(crate) fn finish(mut self) -> Result<Compiled> {
        for (at, op) in self.ops.iter_mut().enumerate() {
            let Some(to) = op.target_mut() else { continue };
            *to = self.labels[*to as usize]
                .ok_or_else(|| LoadError::unplaced(format!("branch at {at} has no target")))?;
        }
        let Compiler { ops, cold_ops, const_base, constants, .. } = self;
        Ok(Compiled { ops, cold_ops, const_base, constants })
    }

    pub(crate) fn pc(&self) -> Pc {
        self.ops.len() as Pc
    }

    pub(crate) fn emit(&mut self, op: Op) -> Result<()> {
        if self.ops.len() >= self.max_ops {
            let reason = format!("the program needs more than {} instructions, the limit", self.max_ops);
            return Err(LoadError::unplaced(reason));
        }
        self.ops.push(op);
        Ok(())
    }

    /// Emits a construct that has no instruction of its own.
    pub(crate) fn emit_cold(&mut self, op: ColdOp) -> Result<()> {
        let at = self.cold_ops.len() as u32;
        self.emit(Op::Cold { at })?;
        self.cold_ops.push(op);
        Ok(())
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds the label to the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.pc());
    }

    pub(crate) fn target(&self, label: Label) -> Option<Pc> {
        self.labels[label.0 as usize]
    }

    pub(crate) fn jump(&mut self, label: Label) -> Result<()> {
        self.emit(Op::Jmp { to: label.0 })
    }

    /// Frees the temporaries of the previous primitive.
    pub(crate) fn release_temps(&mut self) {
        self.temp_next = 0;
    }

    pub(crate) fn temp(&mut self, words: u32) -> Result<Slot> {
        if self.temp_next + words > TEMP_SLOTS {
            let reason =
                format!("the expression needs more than {TEMP_SLOTS} intermediate values, the limit");
            return Err(LoadError::unplaced(reason));
        }
        let slot = self.temp_base + self.temp_next;
        self.temp_next += words;
        Ok(slot)
    }

    pub(crate) fn constant(&mut self, value: u64) -> Slot {
        self.constants_in_a_row(vec![value])
    }

    /// Returns the first of consecutive slots with these constants.
    fn constants_in_a_row(&mut self, words: Vec<u64>) -> Slot {
        let next = self.const_base + self.constants.len() as u32;
        *self.known.entry(words).or_insert_with_key(|words| {
            self.constants.extend_from_slice(words);
            next
        })
    }

    /// Stores `expr` in a location of `width` bits at `dst` (several slots if wider than 64).
    pub(crate) fn store(&mut self, dst: Slot, width: u32, signed: bool, expr: &Expr) -> Result<()> {
        if width > 64 {
            let n = words(width);
            let a = self.wide_value(expr, n)?;
            if !signed {
                return self.copy(dst, width, a);
            }
            let operation = Operation::TwoComp;
            return self.emit_cold(ColdOp::Wide(Wide { operation, words: n, w: width, d: dst, a, b: 0 }));
        }
        if signed {
            let a = self.low64(expr, width)?;
            return self.emit(Op::Unary { op: Unary::TwoComp, w: width as u8, d: dst, a });
        }
        self.low64_into(expr, width, Some(dst)).map(|_| ())
    }

    /// Emits a copy of the low `width` bits, word by word, which is native code.
    fn copy(&mut self, d: Slot, width: u32, a: Slot) -> Result<()> {
        let width_of = |at: u32| (width - 64 * at).min(64) as u8;
        (0..words(width)).try_for_each(|at| self.emit(Op::Mov { w: width_of(at), d: d + at, a: a + at }))
    }

    /// Returns the exact value of an expression that must fit into 64 bits.
    pub(crate) fn exact64(&mut self, expr: &Expr, what: &str) -> Result<Slot> {
        match expr.range().representation() {
            Some(_) => self.low64(expr, 64),
            None => {
                let reason = format!("{what} may need more than 64 bits ({})", bits(expr.range()));
                Err(LoadError::unplaced(reason))
            }
        }
    }

    /// Returns a slot whose low `n <= 64` bits are those of `expr`; the higher bits are undefined.
    pub(crate) fn low64(&mut self, expr: &Expr, n: u32) -> Result<Slot> {
        self.low64_into(expr, n, None)
    }

    /// Compiles as `low64` does. With a destination, stores the value there, cut to exactly `n` bits.
    fn low64_into(&mut self, expr: &Expr, n: u32, dst: Option<Slot>) -> Result<Slot> {
        debug_assert!((1..=64).contains(&n));
        let w = if dst.is_some() { n as u8 } else { 64 };
        match expr {
            Expr::Const(value) => {
                let a = self.constant(value.bits() as u64 & word_mask(n, 0));
                self.moved(a, w, dst)
            }
            Expr::WideConst(value, _) => {
                let a = self.constant(value[0] & word_mask(n, 0));
                self.moved(a, w, dst)
            }
            Expr::Slot { slot, .. } => self.moved(*slot, w, dst),
            Expr::Field { header, off, .. } => {
                let loaded = self.load(header, *off, 1)?;
                self.moved(loaded, w, dst)
            }
            Expr::Binary(op, left, right) => self.low64_binary(*op, left, right, n, dst),
            Expr::Not(a) => {
                let a = self.low64(a, n)?;
                let d = self.destination(dst)?;
                self.emit(Op::Unary { op: Unary::Not, w, d, a })?;
                Ok(d)
            }
            Expr::TwoComp(a, width) if *width <= 64 => {
                if n <= *width {
                    return self.low64_into(a, n, dst);
                }
                let a = self.low64(a, *width)?;
                let cut = self.computed(|d| Op::Unary { op: Unary::TwoComp, w: *width as u8, d, a })?;
                self.moved(cut, w, dst)
            }
            Expr::Sat(a, width) | Expr::USat(a, width) if *width <= 64 => {
                let unsigned = matches!(expr, Expr::USat(..));
                let Some(repr) = a.range().representation() else { return self.low_of_wide(expr, w, dst) };
                let a = self.low64(a, 64)?;
                let (op, width) = match (unsigned, repr) {
                    (true, Representation::U64) => (Unary::USat, *width),
                    (true, Representation::I64) => (Unary::USatSigned, *width),
                    // The largest signed value has a bit less, or is 0.
                    (false, Representation::U64) if *width == 1 => {
                        let zero = self.constant(0);
                        return self.moved(zero, w, dst);
                    }
                    (false, Representation::U64) => (Unary::USat, *width - 1),
                    (false, Representation::I64) => (Unary::Sat, *width),
                };
                let saturated = self.computed(|d| Op::Unary { op, w: width as u8, d, a })?;
                self.moved(saturated, w, dst)
            }
            // Wider than a word: the low bits are those of the operand, or of the saturated operand.
            Expr::TwoComp(a, _) => self.low64_into(a, n, dst),
            Expr::Sat(..) | Expr::USat(..) => self.low_of_wide(expr, w, dst),
            Expr::Cond(c, a, b) => {
                let d = self.temp(1)?;
                let (other, end) = (self.label(), self.label());
                self.branch(c, other, false)?;
                let a = self.low64(a, n)?;
                self.emit(Op::Mov { w: 64, d, a })?;
                self.jump(end)?;
                self.place(other);
                let b = self.low64(b, n)?;
                self.emit(Op::Mov { w: 64, d, a: b })?;
                self.place(end);
                self.moved(d, w, dst)
            }
            Expr::FromBool(condition) => {
                let a = self.boolean(condition)?;
                self.moved(a, w, dst)
            }
        }
    }

    fn low64_binary(
        &mut self,
        op: Binary,
        left: &Expr,
        right: &Expr,
        n: u32,
        dst: Option<Slot>,
    ) -> Result<Slot> {
        let w = if dst.is_some() { n as u8 } else { 64 };
        let (a, b, signed) = match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor => {
                if let Some((value, ones)) = low_bits(op, left, right, n) {
                    let dst = if ones < n { Some(self.destination(dst)?) } else { dst };
                    return self.low64_into(value, ones.min(n), dst);
                }
                (self.low64(left, n)?, self.low64(right, n)?, false)
            }
            Binary::Shl => (self.low64(left, n)?, self.shift_count(right)?, false),
            Binary::Shr => {
                let range = left.range();
                // Bits above 64 of the operand are not needed if the shift leaves them above n.
                let needed = match right {
                    Expr::Const(by) if range.neg == 0 && range.pos > 64 => {
                        by.magnitude.saturating_add(n.into()).try_into().unwrap_or(u32::MAX)
                    }
                    _ => u32::MAX,
                };
                match range.representation() {
                    _ if needed <= 64 => (self.low64(left, needed)?, self.shift_count(right)?, false),
                    Some(repr) => {
                        (self.low64(left, 64)?, self.shift_count(right)?, repr == Representation::I64)
                    }
                    None => {
                        let r = self.wide_shift_right_of(left, right)?;
                        return self.moved(r, w, dst);
                    }
                }
            }
            Binary::Div | Binary::Mod => {
                let Some(repr) = left.range().common_representation(right.range()) else {
                    let r = self.wide_quotient(op, left, right)?;
                    return self.moved(r, w, dst);
                };
                let (a, b) = (self.low64(left, 64)?, self.low64(right, 64)?);
                if repr == Representation::I64 {
                    self.refuse_negative(a)?;
                    self.refuse_negative(b)?;
                }
                (a, b, false)
            }
        };
        let d = self.destination(dst)?;
        self.emit(if signed { Op::Sar { w, d, a, b } } else { Op::Binary { op, w, d, a, b } })?;
        Ok(d)
    }

    /// Returns a shift count as one slot. A count that may exceed 64 bits saturates; other negative counts are refused or fault.
    fn shift_count(&mut self, count: &Expr) -> Result<Slot> {
        if let Expr::Const(c) = count {
            if c.negative {
                return Err(LoadError::unplaced("shift by a negative constant"));
            }
            return Ok(self.constant(u64::try_from(c.magnitude).unwrap_or(u64::MAX)));
        }
        if count.range().pos > 64 || count.range().neg > 128 {
            // The count saturates at a number of bits that no value has.
            let count = Expr::USat(Box::new(count.clone()), 64);
            return self.low64(&count, 64);
        }
        let slot = self.exact64(count, "a shift count")?;
        if count.range().neg > 0 {
            self.refuse_negative(slot)?;
        }
        Ok(slot)
    }

    /// Emits a fault for a negative signed value at run time, as a division by the constant 0.
    fn refuse_negative(&mut self, value: Slot) -> Result<()> {
        let fine = self.label();
        let zero = self.constant(0);
        self.emit(Op::JumpIf { op: Comparison::GeS, a: value, b: zero, to: fine.0 })?;
        self.computed(|d| Op::Binary { op: Binary::Div, w: 64, d, a: zero, b: zero })?;
        self.place(fine);
        Ok(())
    }

    fn destination(&mut self, dst: Option<Slot>) -> Result<Slot> {
        dst.map_or_else(|| self.temp(1), Ok)
    }

    fn moved(&mut self, a: Slot, w: u8, dst: Option<Slot>) -> Result<Slot> {
        match dst {
            Some(d) => {
                self.emit(Op::Mov { w, d, a })?;
                Ok(d)
            }
            None => Ok(a),
        }
    }

    /// Emits an instruction that writes one word, and returns its new destination.
    fn computed(&mut self, op: impl FnOnce(Slot) -> Op) -> Result<Slot> {
        let d = self.temp(1)?;
        self.emit(op(d))?;
        Ok(d)
    }

    /// Emits an operation as [`Compiler::computed`] does.
    fn computed_cold(&mut self, op: impl FnOnce(Slot) -> ColdOp) -> Result<Slot> {
        let d = self.temp(1)?;
        self.emit_cold(op(d))?;
        Ok(d)
    }

    /// Loads words of a header that is determined at run time, from offset `off`, and returns the first slot.
    pub(crate) fn load(&mut self, header: &HeaderRef, off: u32, words: u32) -> Result<Slot> {
        let h = self.header(header)?;
        let d = self.temp(words)?;
        (0..words).try_for_each(|word| self.emit(Op::Load { d: d + word, h, off: off + word }))?;
        Ok(d)
    }

    /// Returns a slot with the id of the header.
    pub(crate) fn header(&mut self, header: &HeaderRef) -> Result<Slot> {
        match header {
            HeaderRef::Fixed(id) => Ok(self.constant(u64::from(*id))),
            HeaderRef::At(stack, index) => {
                let idx = self.exact64(index, "a stack index")?;
                self.computed(|d| Op::StackAt { d, stack: *stack, idx })
            }
            HeaderRef::Last(stack) => self.computed(|d| Op::StackLast { d, stack: *stack }),
            HeaderRef::Member(union, member) => {
                let union = self.union(union)?;
                self.computed_cold(|d| ColdOp::UnionMember { d, union, member: *member })
            }
        }
    }

    /// Returns a slot with the id of the header union.
    pub(crate) fn union(&mut self, union: &UnionRef) -> Result<Slot> {
        match union {
            UnionRef::Fixed(id) => Ok(self.constant(u64::from(*id))),
            UnionRef::At(stack, index) => {
                let idx = self.exact64(index, "a stack index")?;
                self.computed(|d| Op::StackAt { d, stack: *stack, idx })
            }
            UnionRef::Last(stack) => self.computed(|d| Op::StackLast { d, stack: *stack }),
        }
    }

    /// Emits a branch to `label` if the condition is `when`; otherwise execution falls through.
    pub(crate) fn branch(&mut self, condition: &Bool, label: Label, when: bool) -> Result<()> {
        let to = label.0;
        match condition {
            Bool::Const(value) => {
                if *value == when {
                    self.jump(label)?;
                }
                Ok(())
            }
            Bool::Not(inner) => self.branch(inner, label, !when),
            Bool::And(a, b) | Bool::Or(a, b) => {
                let is_and = matches!(condition, Bool::And(..));
                if is_and == when {
                    // Both must hold (or both fail) to branch: the first one that does not skips the branch.
                    let skip = self.label();
                    self.branch(a, skip, !when)?;
                    self.branch(b, label, when)?;
                    self.place(skip);
                    Ok(())
                } else {
                    self.branch(a, label, when)?;
                    self.branch(b, label, when)
                }
            }
            _ => {
                if let Bool::Compare(op, left, right) = condition {
                    if let Some(repr) = left.range().common_representation(right.range()) {
                        let (a, b) = (self.low64(left, 64)?, self.low64(right, 64)?);
                        let op = comparison(if when { *op } else { negate(*op) }, repr);
                        return self.emit(Op::JumpIf { op, a, b, to });
                    }
                }
                let (a, b) = (self.boolean(condition)?, self.constant(0));
                let op = if when { Comparison::Ne } else { Comparison::Eq };
                self.emit(Op::JumpIf { op, a, b, to })
            }
        }
    }

    /// Returns the condition as 0 or 1.
    pub(crate) fn boolean(&mut self, condition: &Bool) -> Result<Slot> {
        match condition {
            Bool::Const(value) => Ok(self.constant(u64::from(*value))),
            Bool::NonZero(expr) => {
                if expr.range() == Range::unsigned(1) {
                    return self.low64(expr, 64);
                }
                let zero = Expr::Const(expression::Int::new(0));
                self.boolean_compare(Compare::Ne, expr, &zero)
            }
            Bool::Compare(op, left, right) => self.boolean_compare(*op, left, right),
            Bool::Not(inner) => {
                let (a, b) = (self.boolean(inner)?, self.constant(0));
                self.computed(|d| Op::Compare { op: Comparison::Eq, d, a, b })
            }
            Bool::And(a, b) | Bool::Or(a, b) => {
                let op = if matches!(condition, Bool::And(..)) { Binary::And } else { Binary::Or };
                let (a, b) = (self.boolean(a)?, self.boolean(b)?);
                self.computed(|d| Op::Binary { op, w: 64, d, a, b })
            }
            Bool::Same(a, b) => {
                let (a, b) = (self.boolean(a)?, self.boolean(b)?);
                self.computed(|d| Op::Compare { op: Comparison::Eq, d, a, b })
            }
            Bool::Valid(header) => {
                let h = self.header(header)?;
                self.computed(|d| Op::IsValid { d, h })
            }
            Bool::HeaderEq(a, b) => {
                let (a, b) = (self.header(a)?, self.header(b)?);
                self.computed(|d| Op::HeaderEq { d, a, b })
            }
            Bool::VarbitEq(a, b) => {
                let (a, b) = (self.header(a)?, self.header(b)?);
                self.computed_cold(|d| ColdOp::VarbitEq { d, a, b })
            }
            Bool::UnionValid(union) => {
                let union = self.union(union)?;
                self.computed_cold(|d| ColdOp::UnionValid { d, union })
            }
            Bool::UnionEq(a, b) => {
                let (a, b) = (self.union(a)?, self.union(b)?);
                self.computed_cold(|d| ColdOp::UnionEq { d, a, b })
            }
        }
    }

    fn boolean_compare(&mut self, op: Compare, left: &Expr, right: &Expr) -> Result<Slot> {
        let range = left.range().union(right.range());
        if let Some(repr) = range.representation() {
            let (a, b) = (self.low64(left, 64)?, self.low64(right, 64)?);
            return self.computed(|d| Op::Compare { op: comparison(op, repr), d, a, b });
        }
        let equality = matches!(op, Compare::Eq | Compare::Ne);
        let operation = if equality { Operation::Eq } else { Operation::Lt };
        // Only an order needs a sign bit.
        let n = words_for(range)?.min(if equality && range.neg == 0 { words(range.pos) } else { u32::MAX });
        let (a, b) = (self.wide_value(left, n)?, self.wide_value(right, n)?);
        let holds = self.computed_cold(|d| ColdOp::Wide(Wide { operation, words: n, w: 0, d, a, b }))?;
        if matches!(op, Compare::Eq | Compare::Lt) {
            return Ok(holds);
        }
        let zero = self.constant(0);
        self.computed(|d| Op::Compare { op: Comparison::Eq, d, a: holds, b: zero })
    }
}

/// Returns the operand of `x & 0xff` of which only low bits matter, and their number: if no more are needed the mask is free.
fn low_bits<'e>(op: Binary, left: &'e Expr, right: &'e Expr, n: u32) -> Option<(&'e Expr, u32)> {
    [(left, right), (right, left)].into_iter().filter(|_| op == Binary::And).find_map(|(value, other)| {
        let Expr::Const(c) = other else { return None };
        let (low, ones) = (c.magnitude as u64 & word_mask(n, 0), (c.magnitude as u64).trailing_ones());
        let is_mask = ones >= n || low == word_mask(ones, 0) && ones > 0;
        (is_mask && !c.negative).then_some((value, ones))
    })
}

fn comparison(op: Compare, repr: Representation) -> Comparison {
    match (op, repr) {
        (Compare::Eq, _) => Comparison::Eq,
        (Compare::Ne, _) => Comparison::Ne,
        (Compare::Lt, Representation::U64) => Comparison::LtU,
        (Compare::Ge, Representation::U64) => Comparison::GeU,
        (Compare::Lt, Representation::I64) => Comparison::LtS,
        (Compare::Ge, Representation::I64) => Comparison::GeS,
    }
}

fn negate(op: Compare) -> Compare {
    match op {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Lt => Compare::Ge,
        Compare::Ge => Compare::Lt,
    }
}

fn bits(range: Range) -> String {
    if range.neg == 0 {
        format!("up to {} bits unsigned", range.pos)
    } else {
        format!("up to {} bits signed", range.neg.max(range.pos + 1))
    }
}

/// Returns the number of words that can hold every value of a range in two's complement.
fn words_for(range: Range) -> Result<u32> {
    let words = range.signed_bits().div_ceil(64);
    if words > MAX_WORDS {
        let reason = format!(
            "an intermediate value of {}; {} bits signed is the maximum",
            bits(range),
            64 * MAX_WORDS
        );
        return Err(LoadError::unplaced(reason));
    }
    Ok(words)
}
