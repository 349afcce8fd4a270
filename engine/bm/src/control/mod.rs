//! The runtime interface: how a control plane reads and writes a [`State`](crate::State), with the names of BMv2's
//! `RuntimeInterface`.
//!
//! Values come and go as big-endian bytes. Coming in, leading zeros are free and the number must fit its width; going out,
//! they are padded to whole bytes of the width. A call that is refused changes nothing.
//!
//! It knows names and handles; a packet's way knows neither.

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

/// Maximum number of names that a "no such object" error lists.
const HINT_NAMES: usize = 12;

/// Returns a dense id by name, or an error that lists what there is.
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
