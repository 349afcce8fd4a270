//! The switches and fabrics that the benches measure: those of the crates' own tests.

#![allow(missing_docs)] // Shared with tests, which document what is not plain.

#[path = "../netsim/tests/common/mod.rs"]
pub mod common;
#[path = "../simple_switch/tests/support/full.rs"]
pub mod full;
