//! Cold operations, which have no instruction of their own: header unions, comparison of variable-length fields, values wider
//! than a word. [`super::Op::Cold`] refers to one of these; operands are slots, as in `op`.

use super::op::{Binary, Slot};

/// One operation. `d` is the destination; a slot holds the id of a union or header, unless that is fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColdOp {
    /// `d` = id of the header that is this member of the union.
    UnionMember { d: Slot, union: Slot, member: u32 },
    /// `d` = whether any member is valid.
    UnionValid { d: Slot, union: Slot },
    /// `d` = whether the same member is valid in both, with equal values.
    UnionEq { d: Slot, a: Slot, b: Slot },
    /// Copies the header union whose id is in `s` over the one whose id is in `d`.
    AssignUnion { d: Slot, s: Slot },
    /// Extracts a header. With `len`, its variable-length field has the length in bits in this slot, and `max` is the maximum
    /// length of the header in bytes (0: the program sets no limit). A member of a union invalidates the other members.
    Extract { to: Extracted, len: Option<Slot>, max: u32 },
    /// Arithmetic on values wider than a word.
    Wide(Wide),
    /// Copies a cell into the `words` words at `d`, which do not change if the index is beyond the array.
    RegisterRead { d: Slot, words: u32, r: u32, idx: Slot },
    /// Sets a cell to the `words` words at `a`; does nothing if the index is beyond the array.
    RegisterWrite { r: u32, words: u32, idx: Slot, a: Slot },
    /// Copies the `w` bits that start `bit` bits after the cursor into the words at `d`.
    Lookahead { d: Slot, w: u32, bit: u32 },
    /// `d` = whether the variable-length fields of two headers are equal.
    VarbitEq { d: Slot, a: Slot, b: Slot },
}

/// The target of an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extracted {
    Header(u32),
    /// The next element of a stack.
    Stack(u32),
    /// A member (second index) of the next element of a stack of unions.
    UnionStack(u32, u32),
}

/// The kind of computation. `w` is in [`Wide`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Extends a source of `w` bits, signed or not, which has as few words as `w` needs.
    Extend { signed: bool },
    /// The count of a shift is a single slot, and a right shift is arithmetic. A division or remainder writes the quotient to
    /// `d`, and the remainder to the words after it.
    Binary(Binary),
    /// All bits inverted.
    Not,
    /// Two's complement of `w` bits.
    TwoComp,
    /// Saturates to signed values of `w` bits.
    Sat,
    /// Saturates to unsigned values of `w` bits.
    USat,
    /// Comparisons write 0 or 1 to the single slot `d`.
    Eq,
    /// As `Eq`.
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
