//! Shared by the property tests of one switch and of a fabric: random packets with their expected outcome
//! (`packets.rs`), random settings of ports (`settings.rs`), and the number of cases. Not a test, and not derived from
//! the P4 program: it was written from docs/models/ and the section "Packet classes" of types.p4.
//!
//! `EEON_PROGRAM` names another compiled program to test in place of the committed one; `p4src/tests/mutants.py` sets it.
//! `PROPTEST_CASES` sets the number of cases of every property.

#![allow(dead_code)] // Each test crate uses its part.

pub mod packets;
pub mod settings;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// Returns `cases` unless the environment overrides it. A case that failed once is tried first from then on, from
/// `regressions`; failures of a mutant are neither stored nor shrunk.
pub fn config(cases: u32, regressions: &'static str) -> ProptestConfig {
    let default = ProptestConfig::default();
    let is_other_program = std::env::var_os("EEON_PROGRAM").is_some();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases },
        failure_persistence: if is_other_program {
            None
        } else {
            Some(Box::new(FileFailurePersistence::Direct(regressions)))
        },
        max_shrink_iters: if is_other_program { 0 } else { 4096 },
        ..default
    }
}
