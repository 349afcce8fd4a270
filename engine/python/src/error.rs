//! The error type of this crate, and its conversion to Python exceptions.
//!
//! The classes are those of `eeon_engine.exceptions`; the messages come from the inner crates.

use std::fmt::Display;

use bm::{Refusal, RuntimeError, NO_CODE};
use pyo3::PyErr;

/// Imports the classes, and lists their names.
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

/// An error of the engine or of this crate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Load(#[from] bm::LoadError),
    #[error("{0}")]
    Runtime(#[from] RuntimeError),
    #[error("{0}")]
    Config(String),
    #[error("{0}")]
    Clock(String),
    #[error("the switch runs no program; load one first")]
    NoProgram,
}

impl Error {
    pub(crate) fn config(error: impl Display) -> Self {
        Error::Config(error.to_string())
    }

    pub(crate) fn no_such_object(error: impl Display) -> Self {
        RuntimeError::new(Refusal::NoSuchObject, NO_CODE, error.to_string()).into()
    }

    pub(crate) fn value(error: impl Display) -> Self {
        RuntimeError::new(Refusal::InvalidValue, NO_CODE, error.to_string()).into()
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
            Error::Runtime(error) => refused(error.refusal, (text, error.code)),
            Error::Config(_) | Error::NoProgram => raised::ConfigError::new_err(text),
            Error::Clock(_) => raised::ClockError::new_err(text),
        }
    }
}

/// Returns the exception of a refused call, with its text and BMv2's code.
fn refused(refusal: Refusal, arguments: (String, &'static str)) -> PyErr {
    match refusal {
        Refusal::NoSuchObject => raised::NoSuchObjectError::new_err(arguments),
        Refusal::NoSuchHandle => raised::NoSuchHandleError::new_err(arguments),
        Refusal::Duplicate => raised::DuplicateError::new_err(arguments),
        Refusal::Full => raised::FullError::new_err(arguments),
        Refusal::Immutable => raised::ImmutableError::new_err(arguments),
        Refusal::InUse => raised::InUseError::new_err(arguments),
        Refusal::OutOfRange => raised::OutOfRangeError::new_err(arguments),
        Refusal::InvalidValue => raised::InvalidValueError::new_err(arguments),
    }
}
