//! BMv2's error codes: the values of its Thrift interface's `TableOperationErrorCode`, `McOperationErrorCode` and so on.

use bm::RuntimeError;
use simple_switch::{MirroringError, PreError};

/// The code for errors without a code in BMv2.
pub(crate) const OTHER: &str = "ERROR";

/// Returns the error code of a call on tables, action profiles, counters, meters, registers or value sets.
pub(crate) fn of_runtime(error: &RuntimeError) -> &'static str {
    match error {
        RuntimeError::NoSuchObject { kind, .. } => match *kind {
            "table" => "INVALID_TABLE_NAME",
            "action profile" => "INVALID_ACTION_PROFILE_NAME",
            "counter" => "INVALID_COUNTER_NAME",
            "meter" => "INVALID_METER_NAME",
            "register" => "INVALID_REGISTER_NAME",
            "calculation" => "INVALID_CALCULATION_NAME",
            "parser value set" => "INVALID_PARSE_VSET_NAME",
            _ => OTHER,
        },
        RuntimeError::WrongType { .. } => "WRONG_TABLE_TYPE",
        RuntimeError::WrongCalculation { .. } => "WRONG_TYPE_CALCULATION",
        RuntimeError::BadMatchKey { .. } => "BAD_MATCH_KEY",
        RuntimeError::BadActionData { .. } => "BAD_ACTION_DATA",
        RuntimeError::InvalidActionName { .. } => "INVALID_ACTION_NAME",
        RuntimeError::Full { .. } => "TABLE_FULL",
        RuntimeError::DuplicateEntry { .. } => "DUPLICATE_ENTRY",
        RuntimeError::BadHandle { kind: "member", .. } => "INVALID_MBR_HANDLE",
        RuntimeError::BadHandle { kind: "group", .. } => "INVALID_GRP_HANDLE",
        RuntimeError::BadHandle { .. } => "INVALID_HANDLE",
        RuntimeError::ExpiredHandle { .. } => "EXPIRED_HANDLE",
        RuntimeError::CountersDisabled { .. } => "COUNTERS_DISABLED",
        RuntimeError::MetersDisabled { .. } => "METERS_DISABLED",
        RuntimeError::NoTableKey { .. } => "NO_TABLE_KEY",
        RuntimeError::NoSelector { .. } => "NO_ACTION_PROFILE_SELECTION",
        RuntimeError::EmptyGroup { .. } => "EMPTY_GRP",
        RuntimeError::AlreadyInGroup { .. } => "MBR_ALREADY_IN_GRP",
        RuntimeError::NotInGroup { .. } => "MBR_NOT_IN_GRP",
        RuntimeError::InUse { kind: "group", .. } => "GRP_STILL_USED",
        RuntimeError::InUse { .. } => "MBR_STILL_USED",
        RuntimeError::ConstDefault { part: "entry", .. } => "DEFAULT_ENTRY_IS_CONST",
        RuntimeError::ConstDefault { .. } => "DEFAULT_ACTION_IS_CONST",
        RuntimeError::Immutable { .. } => "IMMUTABLE_TABLE_ENTRIES",
        RuntimeError::IndexOutOfRange { .. } => "INVALID_INDEX",
        RuntimeError::RateCount { .. } => "BAD_RATES_LIST",
        RuntimeError::BadRates { .. } => "INVALID_INFO_RATE_VALUE",
        _ => OTHER,
    }
}

/// Returns the error code of a call on multicast groups.
pub(crate) fn of_pre(error: &PreError) -> &'static str {
    match error {
        PreError::Full(_) => "TABLE_FULL",
        PreError::GroupZero => "INVALID_MGID",
        PreError::NoGroup(_) => "INVALID_MGRP_HANDLE",
        PreError::NoNode(_) => "INVALID_L1_HANDLE",
        _ => OTHER,
    }
}

/// Returns the error code of a call on clone sessions.
pub(crate) fn of_mirroring(error: &MirroringError) -> &'static str {
    match error {
        MirroringError::NotFound(_) => "SESSION_NOT_FOUND",
        MirroringError::IdRange(_) => OTHER,
    }
}
