//! What became of one program.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    /// With the first difference.
    Fail(String),
    /// `bm` does not run such programs; with what it says about this one.
    Refused(String),
    /// With p4c's first error.
    DoesNotCompile(String),
    /// The script uses what this runner does not have.
    Skipped(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass => write!(f, "pass"),
            Verdict::Fail(difference) => write!(f, "FAIL: {difference}"),
            Verdict::Refused(reason) => write!(f, "refused at load: {reason}"),
            Verdict::DoesNotCompile(line) => write!(f, "does not compile: {line}"),
            Verdict::Skipped(command) => write!(f, "skipped: {command}"),
        }
    }
}

/// One line of counts.
pub fn summary(verdicts: &[Verdict]) -> String {
    let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
    format!(
        "{} programs: {} pass, {} fail, {} refused at load, {} do not compile, {} skipped",
        verdicts.len(),
        count(|verdict| matches!(verdict, Verdict::Pass)),
        count(|verdict| matches!(verdict, Verdict::Fail(_))),
        count(|verdict| matches!(verdict, Verdict::Refused(_))),
        count(|verdict| matches!(verdict, Verdict::DoesNotCompile(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
    )
}
