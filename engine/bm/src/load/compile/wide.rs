//! Expressions with values of more than one word. A value has as many words as its range needs, in two's complement.

use super::expression::{Binary, Expr, Representation};
use super::{words_for, Compiler, Result};
use crate::error::LoadError;
use crate::number::words;
use crate::program::{ColdOp, Operation, Slot, Wide};

impl Compiler {
    fn wide_operation(&mut self, operation: Operation, n: u32, w: u32, a: Slot, b: Slot) -> Result<Slot> {
        let d = self.temp(n)?;
        self.emit_cold(ColdOp::Wide(Wide { operation, words: n, w, d, a, b }))?;
        Ok(d)
    }

    /// Extends a value of `width` bits to at least `n` words.
    fn extended(&mut self, a: Slot, width: u32, signed: bool, n: u32) -> Result<Slot> {
        if n <= words(width) {
            return Ok(a);
        }
        self.wide_operation(Operation::Extend { signed }, n, width, a, 0)
    }

    /// Computes a value in as many words as it needs, and returns its low word, moved to `dst` if given.
    pub(super) fn low_of_wide(&mut self, expr: &Expr, w: u8, dst: Option<Slot>) -> Result<Slot> {
        let a = self.wide_whole(expr, 1)?;
        self.moved(a, w, dst)
    }

    /// Returns slots whose first `n` hold the low words of `expr`.
    pub(super) fn wide_value(&mut self, expr: &Expr, n: u32) -> Result<Slot> {
        match expr.range().representation() {
            Some(repr) => {
                let a = self.low64(expr, 64)?;
                self.extended(a, 64, repr == Representation::I64, n)
            }
            None => self.wide_whole(expr, n),
        }
    }

    /// Compiles as [`Compiler::wide_value`] does, for an operation that is itself too wide, whether its result is wide or not.
    pub(super) fn wide_whole(&mut self, expr: &Expr, n: u32) -> Result<Slot> {
        match expr {
            Expr::Const(value) => {
                let low = value.bits();
                self.wide_constant(&[low as u64, (low >> 64) as u64], value.negative, n)
            }
            Expr::WideConst(value, range) => self.wide_constant(value, range.neg > 0, n),
            Expr::Slot { slot, width, signed } => self.extended(*slot, *width, *signed, n),
            Expr::Field { header, off, width, signed } => {
                let loaded = self.load(header, *off, words(*width))?;
                self.extended(loaded, *width, *signed, n)
            }
            Expr::Binary(Binary::Shr, left, right) => {
                let shifted = self.wide_shift_right_of(left, right)?;
                self.extended(shifted, 64 * words_for(left.range())?, true, n)
            }
            Expr::Binary(op @ (Binary::Div | Binary::Mod), left, right) => {
                let result = self.wide_quotient(*op, left, right)?;
                self.extended(result, 64 * words_for(left.range().union(right.range()))?, true, n)
            }
            Expr::Binary(Binary::Shl, left, right) => {
                let a = self.wide_value(left, n)?;
                let b = self.shift_count(right)?;
                self.wide_operation(Operation::Binary(Binary::Shl), n, 0, a, b)
            }
            Expr::Binary(op, left, right) => {
                let (a, b) = (self.wide_value(left, n)?, self.wide_value(right, n)?);
                self.wide_operation(Operation::Binary(*op), n, 0, a, b)
            }
            Expr::Not(a) => {
                let a = self.wide_value(a, n)?;
                self.wide_operation(Operation::Not, n, 0, a, 0)
            }
            Expr::TwoComp(a, width) => {
                let enough = n.max(words(*width));
                let a = self.wide_value(a, enough)?;
                self.wide_operation(Operation::TwoComp, enough, *width, a, 0)
            }
            Expr::Sat(a, width) | Expr::USat(a, width) => {
                let exact = words_for(a.range())?;
                let operation = if matches!(expr, Expr::Sat(..)) { Operation::Sat } else { Operation::USat };
                let a = self.wide_value(a, exact)?;
                let saturated = self.wide_operation(operation, exact, *width, a, 0)?;
                self.extended(saturated, 64 * exact, true, n)
            }
            Expr::Cond(c, a, b) => {
                let d = self.temp(n)?;
                let (other, end) = (self.label(), self.label());
                self.branch(c, other, false)?;
                let a = self.wide_value(a, n)?;
                self.copy(d, 64 * n, a)?;
                self.jump(end)?;
                self.place(other);
                let b = self.wide_value(b, n)?;
                self.copy(d, 64 * n, b)?;
                self.place(end);
                Ok(d)
            }
            Expr::FromBool(_) => Err(LoadError::unplaced("internal: a narrow value has no representation")),
        }
    }

    fn wide_constant(&mut self, value: &[u64], negative: bool, n: u32) -> Result<Slot> {
        let fill = if negative { u64::MAX } else { 0 };
        let words = (0..n as usize).map(|at| value.get(at).copied().unwrap_or(fill));
        Ok(self.constants_in_a_row(words.collect()))
    }

    /// Compiles a right shift in as many words as the left operand needs.
    pub(super) fn wide_shift_right_of(&mut self, left: &Expr, right: &Expr) -> Result<Slot> {
        let n = words_for(left.range())?;
        let a = self.wide_value(left, n)?;
        let b = self.shift_count(right)?;
        self.wide_operation(Operation::Binary(Binary::Shr), n, 0, a, b)
    }

    /// Compiles a quotient or a remainder in as many words as the operands need.
    pub(super) fn wide_quotient(&mut self, op: Binary, left: &Expr, right: &Expr) -> Result<Slot> {
        let n = words_for(left.range().union(right.range()))?;
        let (a, b) = (self.wide_value(left, n)?, self.wide_value(right, n)?);
        let d = self.temp(2 * n)?;
        self.emit_cold(ColdOp::Wide(Wide { operation: Operation::Binary(op), words: n, w: 0, d, a, b }))?;
        Ok(if op == Binary::Div { d } else { d + n })
    }
}
