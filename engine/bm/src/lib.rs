//! Loads, checks and executes any BMv2 JSON program.
//!
//! [`Program::from_json`] translates the output of `p4c-bm2-ss` into dense tables of instructions, and names every construct
//! that it cannot run. After loading, the packet path looks up no name, allocates nothing, takes no lock and refuses nothing.
//! [`State`] is the mutable state of one switch and implements BMv2's runtime interface (`mt_add_entry`, `register_write`,
//! ...). [`Phv`] is the scratch memory of one packet.
//!
//! This crate is not a switch: ports, queues, clones and clocks belong to the caller, which implements [`Externs`]. The crate
//! reads no clock, file or random source.
//!
//! The packet path is `phv.reset` → [`State::parse`] → [`State::verify_checksums`] → [`State::run`] (ingress) →
//! … [`State::run`] (egress) → [`State::update_checksums`] → [`State::deparse`].
#![deny(unsafe_code)] // Re-allowed in `native::code` and `run::enter` only.

mod control;
mod error;
mod executable;
mod load;
mod native;
mod number;
mod program;
mod run;
mod state;
mod tables;

pub use control::{
    ActionChoice, ActionData, ActionSet, ClientAction, ClientGroup, DefaultEntry, Entry, EntryHandle,
    GroupHandle, GroupInfo, MatchKeyParam, MemberHandle, MemberInfo, MtAction, Share,
};
pub use error::{Fault, LoadError, Refusal, RuntimeError, NO_CODE};
pub use executable::Executable;
pub use load::{Limits, JSON_VERSION};
pub use program::{
    ActionId, ActionInfo, ActionProfileInfo, CounterInfo, CrcParameters, DeparserId, Field, FieldList,
    FieldListInfo, Kept, LogValue, MatchType, MeterInfo, ParamInfo, ParseVsetInfo, ParserId, PipelineId,
    Program, RegisterInfo, Request, TableInfo, TableKeyInfo, TableType,
};
pub use run::{trace, Detached, Externs, LogMessage, Phv, SavedPhv};
pub use state::State;
pub use tables::{CounterValue, MeterRate};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
