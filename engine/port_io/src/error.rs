//! Errors of ports, for the user who started the switch.

use std::fmt::Display;
use std::path::Path;

/// The reason why a port cannot be opened, why its input is invalid, or why the loop cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IoError(pub(crate) String);

impl IoError {
    /// Returns an error of another type with the place or the step in front of it.
    pub(crate) fn at<E: Display>(place: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self(format!("{place}: {error}"))
    }

    pub(crate) fn file<E: Display>(path: &Path, port: u16) -> impl FnOnce(E) -> Self {
        Self::at(format!("file '{}' (port {port})", path.display()))
    }

    /// Returns the error of a port number that the interface `name` has.
    pub fn port_taken(port: u16, name: &str) -> Self {
        Self(format!(
            "port {port}: is attached already, to '{name}'; remove it first or choose another number"
        ))
    }
}
