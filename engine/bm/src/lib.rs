//! Any BMv2 JSON program: load, check, execute.
//!
//! [`Program::from_json`] turns what `p4c-bm2-ss` emits into dense tables of instructions and says by name
//! what it cannot run; after that nothing in a packet's way is looked up by name, allocated, locked or
//! refused. [`State`] is one switch's mutable state and speaks BMv2's runtime interface (`mt_add_entry`,
//! `register_write`, ...). [`Phv`] is the scratch of one packet.
//!
//! This crate is not a switch: ports, queues, clones and clocks belong to the caller, which gets told
//! about them through [`Target`]. It reads no clock, file or random source of its own.
//!
//! A packet's way is `phv.reset` → [`State::parse`] → [`State::verify_checksums`] → [`State::run`] (ingress) →
//! … [`State::run`] (egress) → [`State::update_checksums`] → [`State::deparse`].
#![deny(unsafe_code)] // Re-allowed in `native::call` only.

mod action_profile;
mod ageing;
mod calculation;
mod checksum;
mod compile;
mod counter;
mod default_entry;
mod error;
mod execute;
mod expression;
mod header;
mod json;
mod key;
mod limits;
mod liveness;
mod load;
mod match_table;
mod match_unit;
mod meter;
mod native;
mod number;
mod observe;
mod op;
mod parser;
mod phv;
mod program;
mod rare;
mod register;
mod runtime;
mod saved_phv;
mod state;
mod target;
pub mod trace;
mod wide;

pub use calculation::CrcParameters;
pub use counter::CounterValue;
pub use error::{Fault, LoadError, RuntimeError};
pub use limits::Limits;
pub use liveness::Kept;
pub use load::JSON_VERSION;
pub use meter::MeterRate;
pub use phv::{Field, Phv};
pub use program::{
    ActionId, ActionInfo, ActionProfileInfo, CounterInfo, DeparserId, EnumInfo, FieldList, FieldListInfo,
    LearnListInfo, MatchType, MeterInfo, ParamInfo, ParseVsetInfo, ParserId, PipelineId, Program,
    RegisterInfo, TableInfo, TableKeyInfo, TableType,
};
pub use saved_phv::SavedPhv;
pub use state::{
    ActionData, EntryHandle, GroupHandle, GroupInfo, MatchKeyParam, MemberHandle, MemberInfo, MtAction,
    MtDefault, MtEntry, State,
};
pub use target::{LogMessage, LogValue, Target};
