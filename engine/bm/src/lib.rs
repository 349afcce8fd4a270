//! Any BMv2 JSON program: load, check, execute.
