//! The instructions to which a program is compiled. One flat list holds parsers, actions, conditions and pipelines.
//!
//! Operands are slots: indices into [`crate::Phv`]'s flat array, which holds constants, action parameters and temporaries
//! beside the header fields. So "field = const", "field = field op field" and "compare and branch" are one instruction each, of
//! 16 bytes.

/// Index into the packet's slot array.
pub(crate) type Slot = u32;
/// Index into the instruction list.
pub(crate) type Pc = u32;

/// One instruction. `d` is the destination, `a` and `b` are sources, `w` is the width to which the result is cut (1..=64), `to`
/// is a branch target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Mov {
        w: u8,
        d: Slot,
        a: Slot,
    },
    Add {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Sub {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Mul {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    And {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Or {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Xor {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Not {
        w: u8,
        d: Slot,
        a: Slot,
    },
    /// Shift counts of 64 and more give 0.
    Shl {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Shr {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// Arithmetic shift; counts of 64 and more give the sign.
    Sar {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Div {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Mod {
        w: u8,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// Two's complement of `w` bits, kept sign-extended to 64.
    TwoComp {
        w: u8,
        d: Slot,
        a: Slot,
    },
    Sat {
        w: u8,
        d: Slot,
        a: Slot,
    },
    USatSigned {
        w: u8,
        d: Slot,
        a: Slot,
    },
    USat {
        w: u8,
        d: Slot,
        a: Slot,
    },
    Eq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Ne {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    LtU {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    LtS {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// `d = a` if `c` is not zero.
    MovIf {
        d: Slot,
        c: Slot,
        a: Slot,
    },

    Jmp {
        to: Pc,
    },
    Jz {
        a: Slot,
        to: Pc,
    },
    Jnz {
        a: Slot,
        to: Pc,
    },
    JEq {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    JNe {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    JLtU {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    JGeU {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    JLtS {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    JGeS {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    /// Counts one step, at the target of every backward jump.
    Step,

    /// `d` = id of header `idx` of the stack; faults beyond its size.
    StackAt {
        d: Slot,
        stack: u32,
        idx: Slot,
    },
    /// `d` = id of the element of the stack filled last; faults if the stack is empty (in a parser: StackOutOfBounds).
    StackLast {
        d: Slot,
        stack: u32,
    },
    /// `d` = word `off` of the header whose id is in `h`.
    Load {
        d: Slot,
        h: Slot,
        off: u32,
    },
    /// Word `off` of the header whose id is in `h` = `a`, which already has the field's width.
    Store {
        h: Slot,
        off: u32,
        a: Slot,
    },
    /// `d` = validity of the header whose id is in `h`.
    IsValid {
        d: Slot,
        h: Slot,
    },
    /// `d` = whether both headers are valid and all their fields are equal.
    HeaderEq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    AddHeader {
        h: Slot,
    },
    RemoveHeader {
        h: Slot,
    },
    AssignHeader {
        d: Slot,
        s: Slot,
    },
    AssignStack {
        d: u32,
        s: u32,
    },
    Push {
        stack: u32,
        n: Slot,
    },
    Pop {
        stack: u32,
        n: Slot,
    },
    /// Copies a variable-length field: indices of [`crate::program::VlStore`].
    AssignVl {
        d: u32,
        s: u32,
    },

    RegisterRead {
        w: u8,
        d: Slot,
        r: u32,
        idx: Slot,
    },
    RegisterWrite {
        r: u32,
        idx: Slot,
        a: Slot,
    },
    Count {
        c: u32,
        idx: Slot,
    },
    ExecuteMeter {
        w: u8,
        d: Slot,
        m: u32,
        idx: Slot,
    },
    /// Index into the program's hash calls.
    Hash {
        call: u32,
    },
    Rng {
        w: u8,
        d: Slot,
        lo: Slot,
        hi: Slot,
    },
    /// Slot and width of `egress_spec`, and the slot of `mcast_grp` (or a scratch slot).
    MarkToDrop {
        w: u8,
        egress_spec: Slot,
        mcast_grp: Slot,
    },
    CloneIngress {
        session: Slot,
        list: Slot,
    },
    CloneEgress {
        session: Slot,
        list: Slot,
    },
    Resubmit {
        list: Slot,
    },
    Recirculate {
        list: Slot,
    },
    Digest {
        receiver: Slot,
        list: Slot,
    },
    Truncate {
        a: Slot,
    },
    /// Index into the program's log calls.
    Log {
        call: u32,
    },
    Assert {
        a: Slot,
        id: u32,
    },
    /// Ends the pipeline after the current action.
    Exit,
    /// Ends an action: continues with the node after its table.
    Ret,
    /// Ends an inlined action: ends the pipeline if the action has called `exit`.
    EndInline,
    /// Looks up a table and runs the action found.
    Apply {
        table: u32,
    },
    /// Ends the pipeline, parser or condition.
    Halt,

    /// Extracts a fixed-size header.
    Extract {
        header: u32,
    },
    /// Extracts a header whose variable-length field has the length in bits in `len`; `max` is the maximum length of the header
    /// in bytes (0: the program sets no limit).
    ExtractVl {
        header: u32,
        len: Slot,
        max: u32,
    },
    ExtractStack {
        stack: u32,
    },
    ExtractStackVl {
        stack: u32,
        len: Slot,
        max: u32,
    },
    /// Reads at most 64 bits after the cursor.
    Lookahead {
        w: u8,
        d: Slot,
        bit: u32,
    },
    /// Raises the parser error with the code in `error` if `a` is zero.
    Verify {
        a: Slot,
        error: Slot,
    },
    /// Moves the cursor by the number of bits in `a`.
    Advance {
        a: Slot,
    },
    /// Index into the program's parser selects.
    Select {
        select: u32,
    },
    /// Index into the program's cold operations.
    Cold {
        at: u32,
    },
}

impl Op {
    /// Returns the branch target of an instruction, if it contains one.
    pub(crate) fn target_mut(&mut self) -> Option<&mut Pc> {
        match self {
            Op::Jmp { to }
            | Op::Jz { to, .. }
            | Op::Jnz { to, .. }
            | Op::JEq { to, .. }
            | Op::JNe { to, .. }
            | Op::JLtU { to, .. }
            | Op::JGeU { to, .. }
            | Op::JLtS { to, .. }
            | Op::JGeS { to, .. } => Some(to),
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

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn an_instruction_is_sixteen_bytes() {
        assert_eq!(std::mem::size_of::<Op>(), 16);
    }
}
