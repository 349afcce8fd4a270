//! A second, simple implementation of the runtime interface: lists that are searched, and numbers as bytes. It
//! determines whether a call is refused, which handle it returns, and what is read back, but not the text of errors.

mod arrays;
mod replication;
mod tables;

use std::sync::Arc;

use simple_switch::Switch;

use crate::calls::Op;
use arrays::Arrays;
use replication::Replication;
use tables::Tables;

/// Why a part of the model has not made a call.
pub(crate) enum No {
    /// The call is refused.
    Refused,
    /// The call is another part's.
    Elsewhere,
}

/// The handle that a call returns, if any.
pub(crate) type Answer = Result<Option<u64>, No>;

/// All state that calls change.
pub(crate) struct Model {
    tables: Tables,
    arrays: Arrays,
    replication: Replication,
}

impl Model {
    /// Creates the model of a new switch.
    pub(crate) fn new(switch: &Switch) -> Self {
        let program = Arc::clone(switch.program());
        Self {
            tables: Tables::new(Arc::clone(&program), switch.state()),
            arrays: Arrays::new(program),
            replication: Replication::default(),
        }
    }

    /// Makes a call.
    pub(crate) fn make(&mut self, op: &Op) -> Answer {
        if let Op::ResetState = op {
            self.tables.reset();
            self.arrays.reset();
            return Ok(None);
        }
        let mut answer = self.tables.make(op);
        if let Err(No::Elsewhere) = answer {
            answer = self.arrays.make(op);
        }
        if let Err(No::Elsewhere) = answer {
            answer = self.replication.make(op);
        }
        assert!(!matches!(answer, Err(No::Elsewhere)), "{op:?} is in no part of the model");
        answer
    }

    /// Compares the state that calls change often.
    pub(crate) fn check(&self, switch: &Switch) {
        self.tables.check(switch.state());
        self.replication.check(switch);
    }

    /// Compares everything.
    pub(crate) fn check_all(&self, switch: &Switch) {
        self.check(switch);
        self.arrays.check(switch.state());
    }
}

/// Returns the position of `name` among `items`.
fn place<T>(items: &[T], name: &str, of: impl Fn(&T) -> &str) -> Result<usize, No> {
    items.iter().position(|item| of(item) == name).ok_or(No::Refused)
}

/// Returns a big-endian number padded to the bytes of its width. Refuses an empty number and one that does not fit.
fn padded(number: &[u8], width: u32) -> Result<Vec<u8>, No> {
    let significant = &number[number.iter().take_while(|byte| **byte == 0).count()..];
    let bits = significant.first().map_or(0, |first| significant.len() as u32 * 8 - first.leading_zeros());
    if number.is_empty() || bits > width {
        return Err(No::Refused);
    }
    let count = width.div_ceil(8) as usize;
    Ok([&vec![0; count - significant.len()][..], significant].concat())
}

/// Returns the bitwise AND.
fn masked(value: &[u8], mask: &[u8]) -> Vec<u8> {
    value.iter().zip(mask).map(|(value, mask)| value & mask).collect()
}
