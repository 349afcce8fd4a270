//! The one error of this crate, and the Python exception that each kind becomes.
//!
//! The classes are those of `eeon_engine.exceptions`; messages are the inner crates' own.

use bm::RuntimeError;
use pyo3::PyErr;
use simple_switch::{MirroringError, PreError};

mod raised {
    #![allow(missing_docs)] // import_exception! leaves no place for them; they stand in exceptions.py.
    pyo3::import_exception!(eeon_engine.exceptions, ClockError);
    pyo3::import_exception!(eeon_engine.exceptions, ConfigError);
    pyo3::import_exception!(eeon_engine.exceptions, DuplicateError);
    pyo3::import_exception!(eeon_engine.exceptions, FullError);
    pyo3::import_exception!(eeon_engine.exceptions, ImmutableError);
    pyo3::import_exception!(eeon_engine.exceptions, InUseError);
    pyo3::import_exception!(eeon_engine.exceptions, InvalidValueError);
    pyo3::import_exception!(eeon_engine.exceptions, NoSuchHandleError);
    pyo3::import_exception!(eeon_engine.exceptions, NoSuchObjectError);
    pyo3::import_exception!(eeon_engine.exceptions, OutOfRangeError);
    pyo3::import_exception!(eeon_engine.exceptions, ProgramError);
}

/// Anything that the engine refuses.
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

impl From<simple_switch::ConfigError> for Error {
    fn from(error: simple_switch::ConfigError) -> Self {
        Error::Config(error.to_string())
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        let text = error.to_string();
        match error {
            Error::Load(_) => raised::ProgramError::new_err(text),
            Error::Runtime(error) => runtime(&error, text),
            Error::Pre(PreError::Full(_)) => raised::FullError::new_err(text),
            Error::Pre(PreError::NoGroup(_) | PreError::NoNode(_))
            | Error::Mirroring(MirroringError::NotFound(_)) => raised::NoSuchHandleError::new_err(text),
            Error::Pre(_) | Error::Mirroring(_) | Error::Value(_) => raised::InvalidValueError::new_err(text),
            Error::Config(_) | Error::NoProgram => raised::ConfigError::new_err(text),
            Error::Clock(_) => raised::ClockError::new_err(text),
            Error::NoSuchObject(_) => raised::NoSuchObjectError::new_err(text),
        }
    }
}

fn runtime(error: &RuntimeError, text: String) -> PyErr {
    match error {
        RuntimeError::NoSuchObject { .. } => raised::NoSuchObjectError::new_err(text),
        RuntimeError::Full { .. } => raised::FullError::new_err(text),
        RuntimeError::DuplicateEntry { .. } => raised::DuplicateError::new_err(text),
        RuntimeError::BadHandle { .. } => raised::NoSuchHandleError::new_err(text),
        RuntimeError::Immutable { .. } => raised::ImmutableError::new_err(text),
        RuntimeError::InUse { .. } => raised::InUseError::new_err(text),
        RuntimeError::IndexOutOfRange { .. } => raised::OutOfRangeError::new_err(text),
        _ => raised::InvalidValueError::new_err(text),
    }
}
