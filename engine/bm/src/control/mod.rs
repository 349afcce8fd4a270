//! The runtime interface, by which a control plane reads and writes a [`State`](crate::State), with the names of BMv2's
//! `RuntimeInterface`.
//!
//! Values are big-endian bytes. Inputs may have any number of leading zeros, and must fit their width; outputs are padded to
//! whole bytes of the width. A refused call changes nothing.
//!
//! This module knows names and handles; packet processing knows neither.

mod ageing;
mod cells;
mod client;
mod direct;
mod entry;
mod pack;
mod profile;
mod table;
mod undo;

use std::collections::HashMap;

use crate::error::{clip, RuntimeError};

pub use client::{
    ActionChoice, ActionSet, ClientAction, ClientDefault, ClientEntry, ClientGroup, ClientMember, Share,
    Shown,
};
pub use entry::{
    ActionData, EntryHandle, GroupHandle, GroupInfo, MatchKeyParam, MemberHandle, MemberInfo, MtAction,
    MtDefault, MtEntry,
};

type Result<T> = std::result::Result<T, RuntimeError>;

/// Maximum number of names in a "no such object" error.
const HINT_NAMES: usize = 12;

/// Returns a dense id by name, or an error that lists the existing names.
fn find(kind: &'static str, names: &HashMap<String, u32>, name: &str) -> Result<usize> {
    if let Some(&id) = names.get(name) {
        return Ok(id as usize);
    }
    let mut known: Vec<&str> = names.keys().map(String::as_str).collect();
    known.sort_unstable();
    let hint = match known.len() {
        0 => format!("; the program has no {kind}"),
        1..=HINT_NAMES => format!("; there is {}", known.join(", ")),
        count => format!("; there are {count} others"),
    };
    Err(RuntimeError::NoSuchObject { kind, name: clip(name), hint })
}
