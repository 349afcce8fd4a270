//! Calculations: the fields and headers that a hash or checksum covers, and its algorithm.

use super::algorithm::Algorithm;
use super::field::Field;
use super::layout::{FieldDef, Layout};
use super::op::{Pc, Slot};

/// One input of a calculation.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// A field; omitted if its header is not valid.
    Field { field: Field, valid: Slot },
    /// Fields of one header that form whole bytes together, laid out over the packet's slots: see [`join_fields`].
    Fields { layout: Layout, valid: Slot },
    /// A variable-length field: index of its store.
    Variable { store: u32, valid: Slot },
    /// A constant of `width` bits.
    Constant { value: Vec<u64>, width: u32 },
    /// A whole header; omitted if it is not valid.
    Header { header: u32, valid: Slot },
}

/// A calculation.
#[derive(Debug, Clone)]
pub(crate) struct Calculation {
    pub(crate) algorithm: Algorithm,
    pub(crate) inputs: Vec<Input>,
    /// Whether the calculation also covers the payload.
    pub(crate) payload: bool,
}

/// A call of `modify_field_with_hash_based_offset`: `base + hash % size`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashCall {
    pub(crate) calculation: u32,
    pub(crate) d: Slot,
    pub(crate) base: Slot,
    pub(crate) size: Slot,
}

/// Joins runs of fields of one header into layouts, if they begin and end at whole bytes regardless of which headers are valid.
pub(crate) fn join_fields(inputs: Vec<Input>) -> Vec<Input> {
    let mut joined = Vec::new();
    let mut run: Vec<Input> = Vec::new();
    let mut aligned = true;
    let flush = |run: &mut Vec<Input>, joined: &mut Vec<Input>, aligned: &mut bool| {
        let mut valid_slot = None;
        let mut fields = Vec::new();
        for input in run.iter() {
            if let Input::Field { field, valid } = input {
                valid_slot = Some(*valid);
                let (width, off) = (field.width(), field.slot);
                fields.push(FieldDef { name: String::new(), width, signed: false, off, variable: false });
            }
        }
        let whole = fields.iter().map(|f| f.width).sum::<u32>() % 8 == 0;
        match valid_slot {
            Some(valid) if *aligned && whole => {
                run.clear();
                joined.push(Input::Fields { layout: Layout::new(&fields), valid });
            }
            _ => joined.append(run),
        }
        *aligned &= whole;
    };
    for input in inputs {
        let of = |input: &Input| match input {
            Input::Field { valid, .. } => Some(*valid),
            _ => None,
        };
        if run.last().map(of) != Some(of(&input)) {
            flush(&mut run, &mut joined, &mut aligned);
        }
        match input {
            Input::Field { .. } => run.push(input),
            Input::Constant { width, .. } => {
                aligned &= width % 8 == 0;
                joined.push(input);
            }
            other => joined.push(other),
        }
    }
    flush(&mut run, &mut joined, &mut aligned);
    joined
}

/// A checksum that the program verifies after parsing, or updates before deparsing.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    pub(crate) target: Field,
    /// Validity of the target's header.
    pub(crate) valid: Slot,
    pub(crate) calculation: u32,
    pub(crate) update: bool,
    pub(crate) verify: bool,
    /// Instructions that write the condition to the program's condition slot.
    pub(crate) condition: Option<Pc>,
}
