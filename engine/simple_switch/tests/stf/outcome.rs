//! The outcome of one program.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Pass,
    /// With the first difference.
    Fail(String),
    /// `bm` does not run such programs; with its reason.
    Refused(String),
    /// With p4c's first error.
    DoesNotCompile(String),
    /// The script uses something that this runner lacks.
    Skipped(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Pass => write!(f, "pass"),
            Outcome::Fail(difference) => write!(f, "FAIL: {difference}"),
            Outcome::Refused(reason) => write!(f, "refused at load: {reason}"),
            Outcome::DoesNotCompile(line) => write!(f, "does not compile: {line}"),
            Outcome::Skipped(command) => write!(f, "skipped: {command}"),
        }
    }
}

/// One line of counts.
pub fn summary(outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    format!(
        "{}: {} pass, {} fail, {} refused at load, {} do not compile, {} skipped",
        outcomes.len(),
        count(|outcome| matches!(outcome, Outcome::Pass)),
        count(|outcome| matches!(outcome, Outcome::Fail(_))),
        count(|outcome| matches!(outcome, Outcome::Refused(_))),
        count(|outcome| matches!(outcome, Outcome::DoesNotCompile(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_))),
    )
}
