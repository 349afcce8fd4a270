//! The transitions of parse states. Extraction itself consists of instructions: see `op` and `run`.

use crate::program::{KeyPlan, Pc};

/// What the key must be in a case.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// Under a mask, it equals a value; both are packed as the key is.
    Value { value: Vec<u64>, mask: Vec<u64> },
    /// It is in a parser value set, under the mask if there is one.
    Vset { vset: u32, mask: Option<Vec<u64>> },
}

/// One case of a select.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) test: Test,
    pub(crate) to: Pc,
}

/// The transition of a parse state: the key, the cases in order, and the default target.
#[derive(Debug, Clone)]
pub(crate) struct Select {
    pub(crate) key: KeyPlan,
    pub(crate) cases: Vec<Case>,
    /// Cases as (value, mask), for a one-word key without value sets: used instead of `cases`.
    pub(crate) narrow: Option<Vec<(u64, u64)>>,
    pub(crate) default: Pc,
}

impl Select {
    /// Returns the target of the case with this index; one past the last is the default.
    #[inline]
    pub(crate) fn target(&self, case: usize) -> Pc {
        self.cases.get(case).map_or(self.default, |case| case.to)
    }
}
