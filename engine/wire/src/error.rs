//! Errors of the checked views.

/// The bytes cannot be viewed as the named header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data are shorter than the header.
    #[error("{header}: {have} bytes are there, the header takes {need}")]
    Truncated {
        /// The header.
        header: &'static str,
        /// The length of the header in bytes.
        need: usize,
        /// The length of the data in bytes.
        have: usize,
    },
    /// A field has a value that is invalid in this header.
    #[error("{header}: {field} is {value}, it must be {expected}")]
    Field {
        /// The header.
        header: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// The valid values.
        expected: &'static str,
    },
}

/// Returns `Ok` if `data` has at least `need` bytes.
#[inline]
pub(crate) fn need(header: &'static str, data: &[u8], need: usize) -> Result<(), Error> {
    if data.len() < need {
        return Err(Error::Truncated { header, need, have: data.len() });
    }
    Ok(())
}
