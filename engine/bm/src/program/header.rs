//! Headers: types, instances, stacks and unions, and the location of their words in a packet's slots.

use std::collections::HashMap;

use super::layout::{FieldDef, Layout};
use super::op::Slot;

/// A header type.
#[derive(Debug, Clone)]
pub(crate) struct HeaderType {
    pub(crate) name: String,
    pub(crate) fields: Vec<FieldDef>,
    pub(crate) words: u32,
    pub(crate) before: Layout,
    /// Index of the variable-length field, and the layout of the fields after it.
    pub(crate) variable: Option<(usize, Layout)>,
    /// Maximum length of a header in bytes, for a type with a variable-length field.
    pub(crate) max_bytes: u32,
    /// Whether the fixed part consists of whole bytes; otherwise (metadata) it cannot be extracted or deparsed.
    pub(crate) whole_bytes: bool,
    /// Field names to indices.
    pub(crate) index: HashMap<String, usize>,
}

impl HeaderType {
    /// Returns the length in bytes without the variable-length field.
    pub(crate) fn fixed_bytes(&self) -> u32 {
        self.before.bytes + self.variable.as_ref().map_or(0, |(_, after)| after.bytes)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&FieldDef> {
        self.index.get(name).map(|&at| &self.fields[at])
    }
}

/// The location of a variable-length field's bytes in the packet's arena, and the slot of its length in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VlStore {
    pub(crate) start: usize,
    pub(crate) capacity: usize,
    pub(crate) length: Slot,
}

/// A header instance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) type_id: u32,
    /// The slot of its first word.
    pub(crate) base: Slot,
    pub(crate) valid: Slot,
    /// The slot that conditions read as its validity, if a parser writes its validity like a field.
    pub(crate) shown: Option<Slot>,
    pub(crate) metadata: bool,
    /// Index into the program's variable-length stores.
    pub(crate) vl: Option<u32>,
    /// The union that contains it.
    pub(crate) union: Option<u32>,
}

/// A stack of headers or of header unions. Its elements have consecutive ids.
#[derive(Debug, Clone)]
pub(crate) struct Stack {
    pub(crate) of_unions: bool,
    pub(crate) type_id: u32,
    pub(crate) first: u32,
    pub(crate) size: u32,
    /// Slot of the index that the next extraction fills.
    pub(crate) next: Slot,
}

/// A header union: at most one of its members is valid.
#[derive(Debug, Clone)]
pub(crate) struct Union {
    pub(crate) type_id: u32,
    /// Header ids in the order of the type.
    pub(crate) members: Vec<u32>,
}

/// A type of header union: the names and header types of its members.
#[derive(Debug, Clone)]
pub(crate) struct UnionType {
    pub(crate) name: String,
    pub(crate) members: Vec<(String, u32)>,
}
