//! Cold operations, which have no instruction of their own: header unions, comparison of variable-length fields, values
//! wider than 128 bits. [`super::Op::Cold`] points at one of these; operands are slots, as in `op`.

use super::op::Slot;

/// One operation. `d` is the destination; a union or header is given by a slot with its id unless it is fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColdOp {
    /// `d` = id of the element of a stack of unions; faults beyond its size.
    UnionAt {
        d: Slot,
        stack: u32,
        idx: Slot,
    },
    /// `d` = id of the element filled last; faults (in a parser: StackOutOfBounds) when the stack is empty.
    UnionLast {
        d: Slot,
        stack: u32,
    },
    /// `d` = id of the header that is this member of the union.
    UnionMember {
        d: Slot,
        union: Slot,
        member: u32,
    },
    /// `d` = whether some member is valid.
    UnionValid {
        d: Slot,
        union: Slot,
    },
    /// `d` = whether the same member is valid in both, and equal.
    UnionEq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// Makes the other members of the header's union invalid: stands after its extraction.
    UnionOnly {
        header: u32,
    },
    AssignUnion {
        d: Slot,
        s: Slot,
    },
    AssignUnionStack {
        d: u32,
        s: u32,
    },
    ShiftUnionStack {
        stack: u32,
        n: Slot,
        push: bool,
    },
    /// Extracts a member of the next element. With `len` (a slot with bits) and `max` (bytes) it is of variable length.
    ExtractUnionStack {
        stack: u32,
        member: u32,
        len: Option<Slot>,
        max: u32,
    },
    /// Arithmetic beyond 128 bits.
    Wide(Wide),
    /// A cell into `words` words at `d`; beyond the array they stay.
    RegisterRead {
        d: Slot,
        words: u32,
        r: u32,
        idx: Slot,
    },
    RegisterWrite {
        r: u32,
        words: u32,
        idx: Slot,
        a: Slot,
    },
    /// `w` bits ahead of the cursor, from `bit` on, into the words they take.
    Lookahead {
        d: Slot,
        w: u32,
        bit: u32,
    },
    /// `d` = whether the variable-length fields of two headers are equal.
    VarbitEq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
}

/// What to compute. `w` is in [`Wide`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The source has `w` bits, in as many words as these take, and is signed or not.
    Extend {
        signed: bool,
    },
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Not,
    /// The shift count `b` is a single slot.
    Shl,
    /// Arithmetic.
    Shr,
    /// The quotient to `d`, the remainder to the words behind it.
    Div,
    /// Cuts to `w` bits.
    Cut,
    /// Two's complement of `w` bits.
    TwoComp,
    /// Saturates to `w` bits signed.
    Sat,
    /// Saturates to `w` bits unsigned.
    USat,
    /// Comparisons write 0 or 1 to the single slot `d`.
    Eq,
    Lt,
}

/// One operation on values of `words` words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(crate) operation: Operation,
    pub(crate) words: u32,
    pub(crate) w: u32,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}
