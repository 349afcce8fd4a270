//! Zero-copy views of the headers that the fabric carries.
