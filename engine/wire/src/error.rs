//! Why bytes are not the header they were taken for.

/// The bytes cannot be viewed as the header named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Fewer bytes than the header takes.
    #[error("{header}: {have} bytes are there, the header takes {need}")]
    Truncated {
        /// The header.
        header: &'static str,
        /// Bytes the header takes.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// A field holds a value the header cannot have.
    #[error("{header}: {field} is {value}, it must be {expected}")]
    Field {
        /// The header.
        header: &'static str,
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u32,
        /// What it may hold.
        expected: &'static str,
    },
}

/// Returns `Ok` when `data` has at least `need` bytes.
#[inline]
pub(crate) fn need(header: &'static str, data: &[u8], need: usize) -> Result<(), Error> {
    if data.len() < need {
        return Err(Error::Truncated { header, need, have: data.len() });
    }
    Ok(())
}
