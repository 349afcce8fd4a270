//! The errors of a workload's description, each with place, value and reason.

/// The reason why a workload is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// The text is not the expected JSON.
    #[error("workload{place}: {reason}")]
    Json {
        /// Position in the workload, such as ` applications[2]`; empty for the whole.
        place: String,
        /// The parser's reason, with line and column within that position.
        reason: String,
    },
    /// A value is out of range or contradicts another.
    #[error("workload {place}: {value}: {reason}")]
    Value {
        /// Path of the value.
        place: String,
        /// The value.
        value: String,
        /// What is wrong with it, and the permitted values.
        reason: String,
    },
}

impl WorkloadError {
    /// Returns the error for an invalid value. Long values are truncated.
    pub fn value(
        place: impl Into<String>,
        value: impl std::fmt::Display,
        reason: impl Into<String>,
    ) -> WorkloadError {
        let value = value.to_string();
        let cut = value.chars().count() > 60;
        let mut value: String = value.chars().take(60).collect();
        if cut {
            value.push('…');
        }
        WorkloadError::Value { place: place.into(), value, reason: reason.into() }
    }
}
