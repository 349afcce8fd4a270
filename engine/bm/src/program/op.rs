//! The instructions to which a program is compiled. One flat list holds parsers, actions, conditions and pipelines.
//!
//! Operands are slots: indices into [`crate::Phv`]'s flat array, which holds constants, action parameters and temporaries
//! beside the header fields. So "field = const", "field = field op field" and "compare and branch" are one instruction each, of
//! 16 bytes.

/// Index into the packet's slot array.
pub(crate) type Slot = u32;
/// Index into the instruction list.
pub(crate) type Pc = u32;

/// Operations on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    /// Counts beyond the number of bits shift out all of them.
    Shl,
    Shr,
}

impl Binary {
    /// Returns the result on unsigned words, before it is cut to its width; `None` for a division by zero.
    #[inline(always)]
    pub(crate) fn of_words(self, a: u64, b: u64) -> Option<u64> {
        Some(match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div => a.checked_div(b)?,
            Binary::Mod => a.checked_rem(b)?,
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Shl | Binary::Shr if b >= 64 => 0,
            Binary::Shl => a << b,
            Binary::Shr => a >> b,
        })
    }
}

/// Operations on a word that depend on the width `w` of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    /// Two's complement of `w` bits, kept sign-extended to 64.
    TwoComp,
    /// Saturates a signed value to signed values.
    Sat,
    /// Saturates a signed value to unsigned values.
    USatSigned,
    /// Saturates an unsigned value to unsigned values.
    USat,
}

impl Unary {
    #[inline(always)]
    pub(crate) fn of_word(self, a: u64, w: u8) -> u64 {
        let (unused, ones) = (64 - w, u64::MAX >> (64 - w));
        match self {
            Unary::Not => !a & ones,
            Unary::TwoComp => ((a << unused) as i64 >> unused) as u64,
            Unary::Sat => (a as i64).clamp(i64::MIN >> unused, i64::MAX >> unused) as u64,
            Unary::USatSigned => ((a as i64).max(0) as u64).min(ones),
            Unary::USat => a.min(ones),
        }
    }
}

/// Comparisons of words, unsigned or signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Eq,
    Ne,
    LtU,
    GeU,
    LtS,
    GeS,
}

impl Comparison {
    #[inline(always)]
    pub(crate) fn holds(self, a: u64, b: u64) -> bool {
        match self {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::LtU => a < b,
            Comparison::GeU => a >= b,
            Comparison::LtS => (a as i64) < b as i64,
            Comparison::GeS => a as i64 >= b as i64,
        }
    }
}

/// A primitive that requests an operation of the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Clones the packet after ingress. Arguments: session, and the field list to keep (0: none).
    CloneIngress,
    /// Clones the packet after egress. Arguments likewise.
    CloneEgress,
    /// Runs ingress again. Argument: the field list to keep.
    Resubmit,
    /// Sends the packet to ingress again after egress. Argument: the field list to keep.
    Recirculate,
    /// Sends a digest. Arguments: receiver, and the id of the learn list.
    Digest,
    /// Keeps at most this many bytes of the packet when it is deparsed.
    Truncate,
}

impl Request {
    /// Returns the name in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Request::CloneIngress => "clone_ingress_pkt_to_egress",
            Request::CloneEgress => "clone_egress_pkt_to_egress",
            Request::Resubmit => "resubmit",
            Request::Recirculate => "recirculate",
            Request::Digest => "generate_digest",
            Request::Truncate => "truncate",
        }
    }

    /// Returns the request with a name in the JSON.
    pub(crate) fn named(name: &str) -> Option<Request> {
        use Request::*;
        let all = [CloneIngress, CloneEgress, Resubmit, Recirculate, Digest, Truncate];
        all.into_iter().find(|request| request.name() == name)
    }

    /// Returns the arguments, of which some requests have one.
    pub fn arguments<T>(self, pair: &[T; 2]) -> &[T] {
        match self {
            Request::CloneIngress | Request::CloneEgress | Request::Digest => pair,
            Request::Resubmit | Request::Recirculate | Request::Truncate => &pair[..1],
        }
    }
}

/// One instruction. `d` is the destination, `a` and `b` are sources, `w` is the width to which the result is cut (1..=64), `to`
/// is a branch target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `d` = `a`.
    Mov { w: u8, d: Slot, a: Slot },
    /// `d` = `op` `a`.
    Unary { op: Unary, w: u8, d: Slot, a: Slot },
    /// `d` = `a` `op` `b`.
    Binary { op: Binary, w: u8, d: Slot, a: Slot, b: Slot },
    /// Arithmetic shift; counts of 64 and more give the sign.
    Sar { w: u8, d: Slot, a: Slot, b: Slot },
    /// `d` = whether the comparison holds.
    Compare { op: Comparison, d: Slot, a: Slot, b: Slot },

    /// Continues at `to`.
    Jmp { to: Pc },
    /// Continues at `to` if the comparison holds.
    JumpIf { op: Comparison, a: Slot, b: Slot, to: Pc },
    /// Counts one step, at the target of every backward jump.
    Step,

    /// `d` = id of element `idx` of the stack; faults beyond its size.
    StackAt { d: Slot, stack: u32, idx: Slot },
    /// `d` = id of the element of the stack filled last; faults if the stack is empty (in a parser: StackOutOfBounds).
    StackLast { d: Slot, stack: u32 },
    /// `d` = word `off` of the header whose id is in `h`.
    Load { d: Slot, h: Slot, off: u32 },
    /// Word `off` of the header whose id is in `h` = `a`, which already has the field's width.
    Store { h: Slot, off: u32, a: Slot },
    /// `d` = validity of the header whose id is in `h`.
    IsValid { d: Slot, h: Slot },
    /// `d` = whether both headers are valid and all their fields are equal.
    HeaderEq { d: Slot, a: Slot, b: Slot },
    /// Makes the header whose id is in `h` valid, with zero fields.
    AddHeader { h: Slot },
    /// Makes the header whose id is in `h` invalid.
    RemoveHeader { h: Slot },
    /// Copies the header whose id is in `s` over the one whose id is in `d`.
    AssignHeader { d: Slot, s: Slot },
    /// Copies a stack.
    AssignStack { d: u32, s: u32 },
    /// `push_front` or `pop_front`.
    ShiftStack { push: bool, stack: u32, n: Slot },
    /// Copies a variable-length field: indices of [`crate::program::VlStore`].
    AssignVl { d: u32, s: u32 },

    /// `d` = the cell, unless `idx` is beyond the array.
    RegisterRead { w: u8, d: Slot, r: u32, idx: Slot },
    /// The cell = `a`, unless `idx` is beyond the array.
    RegisterWrite { r: u32, idx: Slot, a: Slot },
    /// Counts the packet in a cell of an indirect counter.
    Count { c: u32, idx: Slot },
    /// `d` = the colour that a cell of an indirect meter gives the packet.
    ExecuteMeter { w: u8, d: Slot, m: u32, idx: Slot },
    /// Index into the program's hash calls.
    Hash { call: u32 },
    /// `d` = a random number from `lo` to `hi`.
    Rng { w: u8, d: Slot, lo: Slot, hi: Slot },
    /// Slot and width of `egress_spec`, and the slot of `mcast_grp` (or a scratch slot).
    MarkToDrop { w: u8, egress_spec: Slot, mcast_grp: Slot },
    /// Requests an operation of the switch; `b` is `a` if it has one argument.
    Request { request: Request, a: Slot, b: Slot },
    /// Index into the program's log calls.
    Log { call: u32 },
    /// Faults if `a` is zero.
    Assert { a: Slot, id: u32 },
    /// Ends the pipeline after the current action.
    Exit,
    /// Ends an action: continues with the node after its table.
    Ret,
    /// Ends an inlined action: ends the pipeline if the action has called `exit`.
    EndInline,
    /// Looks up a table and runs the action found.
    Apply { table: u32 },
    /// Ends the pipeline, parser or condition.
    Halt,

    /// Extracts a fixed-size header that is in no stack or union.
    Extract { header: u32 },
    /// Reads at most 64 bits after the cursor.
    Lookahead { w: u8, d: Slot, bit: u32 },
    /// Raises the parser error with the code in `error` if `a` is zero.
    Verify { a: Slot, error: Slot },
    /// Moves the cursor by the number of bits in `a`.
    Advance { a: Slot },
    /// Index into the program's parser selects.
    Select { select: u32 },
    /// Index into the program's cold operations.
    Cold { at: u32 },
}

impl Op {
    /// Returns the branch target of an instruction, if it contains one.
    pub(crate) fn target_mut(&mut self) -> Option<&mut Pc> {
        match self {
            Op::Jmp { to } | Op::JumpIf { to, .. } => Some(to),
            _ => None,
        }
    }
}

/// One `log_msg` call.
#[derive(Debug)]
pub(crate) struct LogCall {
    /// The text in front of each value and behind the last.
    pub(crate) texts: Vec<String>,
    /// Its values, as positions in slots.
    pub(crate) values: Vec<LogValue>,
}

/// The position of a value of a `log_msg` in [`LogMessage::words`], low word first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogValue {
    /// Its first word.
    pub first: usize,
    /// Its number of words.
    pub count: usize,
    /// Whether it is in two's complement.
    pub signed: bool,
}

const _: () = assert!(std::mem::size_of::<Op>() == 16, "many are kept");
