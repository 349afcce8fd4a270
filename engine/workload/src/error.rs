//! What a workload refuses, always with place, value and reason.

/// Why a workload cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// The text is not the JSON that is expected.
    #[error("workload{place}: {reason}")]
    Json {
        /// Where in the workload, such as ` applications[2]`; empty for the whole.
        place: String,
        /// The reader's reason, with line and column within that place.
        reason: String,
    },
    /// A value is out of range or contradicts another.
    #[error("workload {place}: {value}: {reason}")]
    Value {
        /// Path of the value.
        place: String,
        /// What it is.
        value: String,
        /// What is wrong with it, and what is possible.
        reason: String,
    },
}

impl WorkloadError {
    /// Makes the error of a wrong value. Long values are cut.
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
