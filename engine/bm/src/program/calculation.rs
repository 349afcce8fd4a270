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
pub(crate) fn join_fields(inputs: &[Input]) -> Vec<Input> {
    let field_of = |input: &Input| match input {
        Input::Field { field, valid } => Some((*field, *valid)),
        _ => None,
    };
    let valid_of = |input: &Input| field_of(input).map(|(_, valid)| valid);
    let mut joined = Vec::new();
    let mut aligned = true;
    for run in inputs.chunk_by(|a, b| valid_of(a) == valid_of(b)) {
        let Some(valid) = valid_of(&run[0]) else {
            let whole = |input: &Input| !matches!(input, Input::Constant { width, .. } if width % 8 != 0);
            aligned &= run.iter().all(whole);
            joined.extend_from_slice(run);
            continue;
        };
        let definition = |(field, _): (Field, Slot)| {
            let (width, off) = (field.width(), field.slot);
            FieldDef { name: String::new(), width, signed: false, off, variable: false }
        };
        let fields: Vec<FieldDef> = run.iter().filter_map(field_of).map(definition).collect();
        let whole = fields.iter().map(|f| f.width).sum::<u32>() % 8 == 0;
        if aligned && whole {
            joined.push(Input::Fields { layout: Layout::new(&fields), valid });
        } else {
            joined.extend_from_slice(run);
        }
        aligned &= whole;
    }
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
