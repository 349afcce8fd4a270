//! Headers: their types and instances, stacks and unions of them, and where their words are in a packet's slots.

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
    /// Index of the variable-length field, and what follows it.
    pub(crate) variable: Option<(usize, Layout)>,
    /// Longest header in bytes, of a type with a variable-length field.
    pub(crate) max_bytes: u32,
    /// A type whose fixed part is not whole bytes (metadata) cannot be extracted or deparsed.
    pub(crate) whole_bytes: bool,
    /// Field names to indices.
    pub(crate) index: HashMap<String, usize>,
}

impl HeaderType {
    /// Returns the number of bytes without the variable-length field.
    pub(crate) fn fixed_bytes(&self) -> u32 {
        self.before.bytes + self.variable.as_ref().map_or(0, |(_, after)| after.bytes)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&FieldDef> {
        self.index.get(name).map(|&at| &self.fields[at])
    }
}

/// Where a variable-length field's bytes are in the packet's arena, and where its length (in bytes) is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VlStore {
    pub(crate) start: usize,
    pub(crate) capacity: usize,
    pub(crate) length: Slot,
}

/// A header instance.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) type_id: u32,
    /// First word.
    pub(crate) base: Slot,
    pub(crate) valid: Slot,
    /// What conditions read as its validity, where a parser sets that as if it were a field.
    pub(crate) shown: Option<Slot>,
    pub(crate) metadata: bool,
    /// Index into the program's variable-length stores.
    pub(crate) vl: Option<u32>,
    /// The union that it is a member of.
    pub(crate) union: Option<u32>,
}

/// A header stack; its elements have consecutive ids.
#[derive(Debug, Clone)]
pub(crate) struct Stack {
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

/// A type of header union: its members' names and header types.
#[derive(Debug, Clone)]
pub(crate) struct UnionType {
    pub(crate) name: String,
    pub(crate) members: Vec<(String, u32)>,
}

/// A stack of header unions; its elements have consecutive ids.
#[derive(Debug, Clone)]
pub(crate) struct UnionStack {
    pub(crate) type_id: u32,
    pub(crate) first: u32,
    pub(crate) size: u32,
    /// Slot of the index that the next extraction fills.
    pub(crate) next: Slot,
}
