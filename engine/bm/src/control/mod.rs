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
use std::fmt::Display;

use crate::error::{clip, Refusal, RuntimeError, NO_CODE};

pub use client::{ActionChoice, ActionSet, ClientAction, ClientGroup, Share};
pub use entry::{
    ActionData, DefaultEntry, Entry, EntryHandle, GroupHandle, GroupInfo, MatchKeyParam, MemberHandle,
    MemberInfo, MtAction,
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
    let code = match kind {
        "table" => "INVALID_TABLE_NAME",
        "action profile" => "INVALID_ACTION_PROFILE_NAME",
        "counter" => "INVALID_COUNTER_NAME",
        "meter" => "INVALID_METER_NAME",
        "register" => "INVALID_REGISTER_NAME",
        "calculation" => "INVALID_CALCULATION_NAME",
        "parser value set" => "INVALID_PARSE_VSET_NAME",
        _ => NO_CODE,
    };
    let text = format!("no {kind} named '{}'{hint}", clip(name));
    Err(RuntimeError::new(Refusal::NoSuchObject, code, text))
}

/// Returns the error of a call for another type of object.
fn wrong_type(object: impl Display, reason: impl Display) -> RuntimeError {
    RuntimeError::new(Refusal::InvalidValue, "WRONG_TABLE_TYPE", format!("{object}: {reason}"))
}

/// Returns the error of a name that no action of a table or action profile has.
fn no_action(object: impl Display, action: &str, actions: &[&str]) -> RuntimeError {
    let text = format!("{object} has no action '{}'; it has {}", clip(action), actions.join(", "));
    RuntimeError::new(Refusal::InvalidValue, "INVALID_ACTION_NAME", text)
}

/// Returns the error of a table or action profile that holds as many entries or members as it can.
fn full(object: impl Display, limit: usize) -> RuntimeError {
    let text = format!("{object} is full: it holds {limit} entries");
    RuntimeError::new(Refusal::Full, "TABLE_FULL", text)
}

/// Returns the error of a group that would be used without members.
fn empty_group(object: impl Display, reason: impl Display) -> RuntimeError {
    RuntimeError::new(Refusal::InvalidValue, "EMPTY_GRP", format!("{object}: {reason}"))
}
