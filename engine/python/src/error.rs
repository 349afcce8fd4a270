//! The error type of this crate, and its conversion to Python exceptions.
//!
//! The classes are those of `eeon_engine.exceptions`; the messages come from the inner crates.

use std::fmt::Display;

use bm::RuntimeError;
use pyo3::prelude::*;
use simple_switch::{MirroringError, PreError};

use crate::bmv2_code;

/// Imports the classes, and lists their names for [`check_classes`].
macro_rules! raised {
    ($($class:ident),* $(,)?) => {
        mod raised {
            #![allow(missing_docs)] // import_exception! cannot attach any; exceptions.py has them.
            $(pyo3::import_exception!(eeon_engine.exceptions, $class);)*
        }

        /// Every class that this crate raises.
        pub(crate) const CLASSES: &[&str] = &[$(stringify!($class)),*];
    };
}

raised! {
    ClockError, ConfigError, DuplicateError, FullError, ImmutableError, InUseError, InvalidValueError,
    NoSuchHandleError, NoSuchObjectError, OutOfRangeError, ProgramError,
}

/// Fails if `eeon_engine.exceptions` lacks one of [`CLASSES`], so that the import of the extension fails, and not the
/// report of a later error.
pub(crate) fn check_classes(py: Python<'_>) -> PyResult<()> {
    let module = py.import("eeon_engine.exceptions")?;
    CLASSES.iter().try_for_each(|name| module.getattr(*name).map(drop))
}

/// An error of the engine or of this crate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Load(#[from] bm::LoadError),
    #[error("{0}")]
    Runtime(#[from] RuntimeError),
    #[error("{0}")]
    Pre(#[from] PreError),
    #[error("{0}")]
    Mirroring(#[from] MirroringError),
    #[error("{0}")]
    Config(String),
    #[error("{0}")]
    Clock(String),
    #[error("{0}")]
    NoSuchObject(String),
    #[error("{0}")]
    Value(String),
    #[error("the switch runs no program; load one first")]
    NoProgram,
}

impl Error {
    pub(crate) fn config(error: impl Display) -> Self {
        Error::Config(error.to_string())
    }

    pub(crate) fn value(error: impl Display) -> Self {
        Error::Value(error.to_string())
    }
}

impl From<simple_switch::ConfigError> for Error {
    fn from(error: simple_switch::ConfigError) -> Self {
        Error::config(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        let text = error.to_string();
        match error {
            Error::Load(_) => raised::ProgramError::new_err(text),
            Error::Runtime(error) => runtime(&error, text),
            Error::Pre(error) => {
                let refusal = (text, bmv2_code::of_pre(&error));
                match error {
                    PreError::Full(_) => raised::FullError::new_err(refusal),
                    PreError::NoGroup(_) | PreError::NoNode(_) => raised::NoSuchHandleError::new_err(refusal),
                    _ => raised::InvalidValueError::new_err(refusal),
                }
            }
            Error::Mirroring(error) => {
                let refusal = (text, bmv2_code::of_mirroring(&error));
                match error {
                    MirroringError::NotFound(_) => raised::NoSuchHandleError::new_err(refusal),
                    MirroringError::IdRange(_) => raised::InvalidValueError::new_err(refusal),
                }
            }
            Error::Value(_) => raised::InvalidValueError::new_err(text),
            Error::Config(_) | Error::NoProgram => raised::ConfigError::new_err(text),
            Error::Clock(_) => raised::ClockError::new_err(text),
            Error::NoSuchObject(_) => raised::NoSuchObjectError::new_err(text),
        }
    }
}

fn runtime(error: &RuntimeError, text: String) -> PyErr {
    let refusal = (text, bmv2_code::of_runtime(error));
    match error {
        RuntimeError::NoSuchObject { .. } => raised::NoSuchObjectError::new_err(refusal),
        RuntimeError::Full { .. } => raised::FullError::new_err(refusal),
        RuntimeError::DuplicateEntry { .. } | RuntimeError::DuplicateId { .. } => {
            raised::DuplicateError::new_err(refusal)
        }
        RuntimeError::BadHandle { .. }
        | RuntimeError::ExpiredHandle { .. }
        | RuntimeError::NoSuchId { .. } => raised::NoSuchHandleError::new_err(refusal),
        RuntimeError::Immutable { .. } | RuntimeError::ConstDefault { .. } => {
            raised::ImmutableError::new_err(refusal)
        }
        RuntimeError::InUse { .. } | RuntimeError::AlreadyInGroup { .. } => {
            raised::InUseError::new_err(refusal)
        }
        RuntimeError::IndexOutOfRange { .. } => raised::OutOfRangeError::new_err(refusal),
        _ => raised::InvalidValueError::new_err(refusal),
    }
}
