//! Expressions of the program and bounds on their values. `compile` generates their instructions.
//!
//! BMv2 computes with integers of any size and cuts a value when it is stored. The engine has the same semantics, but computes
//! in one word, or in as many words as needed: [`Range`] bounds every subexpression at load, and `compile` chooses the
//! width from it. The loader refuses a program if an exact value (of a comparison, a right shift, a division, a saturation)
//! could exceed `compile`'s limit.

use crate::number::{bits, negated, parse_hex};
pub(crate) use crate::program::Binary;
use crate::program::Slot;

/// An integer constant as sign and magnitude, so that it can hold every unsigned 128-bit value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Int {
    pub(crate) negative: bool,
    pub(crate) magnitude: u128,
}

impl Int {
    pub(crate) fn new(value: u128) -> Int {
        Int { negative: false, magnitude: value }
    }

    /// Returns the two's complement in 128 bits.
    pub(crate) fn bits(self) -> u128 {
        if self.negative {
            self.magnitude.wrapping_neg()
        } else {
            self.magnitude
        }
    }
}

/// Bounds of a value, in bits: it is below `2^pos`, and at least `-2^(neg-1)`, or at least 0 if `neg` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) neg: u32,
    pub(crate) pos: u32,
}

/// The representation of a value that fits one word: whether the top bit is a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    U64,
    I64,
}

impl Range {
    pub(crate) fn unsigned(bits: u32) -> Range {
        Range { neg: 0, pos: bits }
    }

    pub(crate) fn signed(bits: u32) -> Range {
        Range { neg: bits, pos: bits.saturating_sub(1) }
    }

    fn of(value: Int) -> Range {
        let bits = 128 - value.magnitude.leading_zeros();
        if value.negative {
            // -2^(n-1) needs n bits: -1 -> 1, -2 -> 2, -3 -> 3, -4 -> 3.
            let exact = value.magnitude.is_power_of_two();
            Range { neg: if exact { bits } else { bits + 1 }, pos: 0 }
        } else {
            Range { neg: 0, pos: bits }
        }
    }

    /// Returns the width in bits of a two's complement number that can hold every value of the range.
    pub(crate) fn signed_bits(self) -> u32 {
        self.neg.max(self.pos.saturating_add(1))
    }

    /// Returns the bounds of the values that are in either range.
    pub(crate) fn union(self, other: Range) -> Range {
        Range { neg: self.neg.max(other.neg), pos: self.pos.max(other.pos) }
    }

    /// Returns the representation in one word that can hold every value of the range, if there is one.
    pub(crate) fn representation(self) -> Option<Representation> {
        match (self.neg, self.pos) {
            (0, 0..=64) => Some(Representation::U64),
            (n, p) if n <= 64 && p <= 63 => Some(Representation::I64),
            _ => None,
        }
    }

    /// Returns a representation in one word in which values of both ranges can be compared, if there is one.
    pub(crate) fn common_representation(self, other: Range) -> Option<Representation> {
        self.union(other).representation()
    }
}

/// Comparisons. `>` and `<=` are compiled with swapped operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Ge,
}

/// The header that an expression refers to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HeaderRef {
    /// A header instance.
    Fixed(u32),
    /// An element of a stack by index.
    At(u32, Box<Expr>),
    /// The element of a stack that was filled last.
    Last(u32),
    /// A member, by its place in the union's type, of a header union that is determined at run time.
    Member(UnionRef, u32),
}

/// The header union that an expression refers to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UnionRef {
    /// A union instance.
    Fixed(u32),
    /// An element of a stack of unions by index.
    At(u32, Box<Expr>),
    /// The element of a stack of unions that was filled last.
    Last(u32),
}

/// An integer expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Const(Int),
    /// A constant that needs more than 128 bits, in two's complement, low word first, with its bounds.
    WideConst(Vec<u64>, Range),
    /// A field, parameter or other location with a fixed slot.
    Slot {
        slot: Slot,
        width: u32,
        signed: bool,
    },
    /// A field of a header that is determined at run time: word offset, width, sign.
    Field {
        header: HeaderRef,
        off: u32,
        width: u32,
        signed: bool,
    },
    Binary(Binary, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    TwoComp(Box<Expr>, u32),
    Sat(Box<Expr>, u32),
    USat(Box<Expr>, u32),
    Cond(Box<Bool>, Box<Expr>, Box<Expr>),
    FromBool(Box<Bool>),
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bool {
    Const(bool),
    Compare(Compare, Expr, Expr),
    And(Box<Bool>, Box<Bool>),
    Or(Box<Bool>, Box<Bool>),
    Not(Box<Bool>),
    /// Whether two conditions are equal.
    Same(Box<Bool>, Box<Bool>),
    /// Whether the integer is not zero.
    NonZero(Expr),
    Valid(HeaderRef),
    HeaderEq(HeaderRef, HeaderRef),
    /// Whether the variable-length fields of two headers are equal.
    VarbitEq(HeaderRef, HeaderRef),
    /// Whether any member of the union is valid.
    UnionValid(UnionRef),
    UnionEq(UnionRef, UnionRef),
}

impl Expr {
    /// Parses BMv2's `hexstr`: hexadecimal digits, optionally after `-` and `0x`.
    pub(crate) fn constant(text: &str) -> Result<Expr, String> {
        let (negative, mut magnitude) = parse_hex(text)?;
        let bits = bits(&magnitude);
        if bits < 128 || (bits == 128 && !negative) {
            let high = u128::from(magnitude.get(1).copied().unwrap_or(0));
            let magnitude = u128::from(magnitude[0]) | high << 64;
            return Ok(Expr::Const(Int { negative, magnitude }));
        }
        if !negative {
            return Ok(Expr::WideConst(magnitude, Range::unsigned(bits)));
        }
        magnitude.push(0);
        Ok(Expr::WideConst(negated(&magnitude), Range { neg: bits + 1, pos: 0 }))
    }

    /// Returns the bounds of the expression's value.
    pub(crate) fn range(&self) -> Range {
        match self {
            Expr::Const(value) => Range::of(*value),
            Expr::WideConst(_, range) => *range,
            Expr::Slot { width, signed, .. } | Expr::Field { width, signed, .. } => {
                if *signed {
                    Range::signed(*width)
                } else {
                    Range::unsigned(*width)
                }
            }
            Expr::Binary(op, a, b) => binary_range(*op, a.range(), b.range(), b),
            Expr::Not(a) => {
                let a = a.range();
                Range { neg: a.pos.saturating_add(1), pos: a.neg.saturating_sub(1) }
            }
            Expr::TwoComp(a, w) => {
                let a = a.range();
                if a.neg <= *w && a.pos < *w {
                    a
                } else {
                    Range::signed(*w)
                }
            }
            Expr::Sat(a, w) => {
                let a = a.range();
                Range { neg: a.neg.min(*w), pos: a.pos.min(w.saturating_sub(1)) }
            }
            Expr::USat(a, w) => Range::unsigned(a.range().pos.min(*w)),
            Expr::Cond(_, a, b) => a.range().union(b.range()),
            Expr::FromBool(_) => Range::unsigned(1),
        }
    }
}

fn binary_range(op: Binary, a: Range, b: Range, right: &Expr) -> Range {
    let negative = a.neg > 0 || b.neg > 0;
    match op {
        Binary::Add => Range {
            pos: a.pos.max(b.pos).saturating_add(1),
            neg: if negative { a.neg.max(b.neg).saturating_add(1) } else { 0 },
        },
        Binary::Sub => Range {
            pos: if b.neg == 0 { a.pos } else { a.pos.max(b.neg).saturating_add(1) },
            neg: match (a.neg, b.pos) {
                (n, 0) => n,
                (0, p) => p.saturating_add(1),
                (n, p) => n.max(p.saturating_add(1)).saturating_add(1),
            },
        },
        Binary::Mul if !negative => Range::unsigned(a.pos.saturating_add(b.pos)),
        Binary::Mul => {
            let bits = a.signed_bits().saturating_add(b.signed_bits());
            Range { neg: bits, pos: bits }
        }
        Binary::Div => a,
        Binary::Mod => Range::unsigned(a.pos.min(b.pos)),
        Binary::And if a.neg == 0 && b.neg == 0 => Range::unsigned(a.pos.min(b.pos)),
        Binary::And if a.neg == 0 => a,
        Binary::And if b.neg == 0 => b,
        Binary::And | Binary::Or | Binary::Xor => {
            if negative {
                Range::signed(a.signed_bits().max(b.signed_bits()))
            } else {
                Range::unsigned(a.pos.max(b.pos))
            }
        }
        Binary::Shl => {
            let max_shift = match right {
                Expr::Const(c) if !c.negative => u32::try_from(c.magnitude).unwrap_or(u32::MAX / 2),
                _ if b.pos < 16 => (1 << b.pos) - 1,
                _ => u32::MAX / 2,
            };
            Range {
                pos: if a.pos == 0 { 0 } else { a.pos.saturating_add(max_shift) },
                neg: if a.neg == 0 { 0 } else { a.neg.saturating_add(max_shift) },
            }
        }
        Binary::Shr => match right {
            Expr::Const(c) if !c.negative => {
                let by = u32::try_from(c.magnitude).unwrap_or(u32::MAX);
                Range {
                    pos: a.pos.saturating_sub(by),
                    neg: if a.neg == 0 { 0 } else { a.neg.saturating_sub(by).max(1) },
                }
            }
            _ => a,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_constants_have_the_bits_of_twos_complement() {
        let bits = |text| Expr::constant(text).unwrap().range().neg;
        assert_eq!([bits("-0x1"), bits("-0x2"), bits("-0x3"), bits("-0x4"), bits("-0x80")], [1, 2, 3, 3, 8]);
    }

    #[test]
    fn constants_wider_than_128_bits_are_words() {
        let constant = |text: &str| Expr::constant(text).unwrap();
        let all = "0x".to_owned() + &"f".repeat(32);
        assert_eq!(constant(&all), Expr::Const(Int::new(u128::MAX)));
        let wider = Expr::WideConst(vec![u64::MAX, u64::MAX, 0xf], Range::unsigned(132));
        assert_eq!(constant(&(all.clone() + "f")), wider);
        let negative = Expr::WideConst(vec![0, 0, u64::MAX, u64::MAX], Range { neg: 130, pos: 0 });
        assert_eq!(constant(&("-0x1".to_owned() + &"0".repeat(32))), negative);
        assert!(Expr::constant("0xzz").unwrap_err().contains("not a hexadecimal"));
    }
}
