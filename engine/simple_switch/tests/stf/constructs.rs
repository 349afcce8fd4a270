//! The programs of `tests/constructs`, one per construct, and the probe program, with scripts that BMv2 has confirmed.

use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::{run, samples};

/// Returns the scripts of `tests/constructs`; beside each is its program.
pub fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    let scripts = samples::files(&folder, "script").expect("the folder can be read");
    assert!(scripts.len() > 10, "the constructs are there");
    scripts
}

#[test]
fn every_construct_does_what_its_script_expects() {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/p4/probe.script");
    let mut wrong = Vec::new();
    for script in scripts().into_iter().chain([probe]) {
        let json = std::fs::read(script.with_extension("json")).expect("each script has a program");
        let text = std::fs::read_to_string(&script).expect("a script is text");
        let outcome = run::judge(&json, &text);
        if outcome != Outcome::Pass {
            wrong.push(format!("{}: {outcome}", script.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
