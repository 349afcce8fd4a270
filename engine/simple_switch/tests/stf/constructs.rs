//! The programs of `tests/constructs`, one per construct, and the probe program, with scripts that BMv2 has confirmed.

use std::path::Path;

use super::outcome::Outcome;
use super::run;

#[test]
fn every_construct_does_what_its_script_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .expect("the constructs are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "script"))
        .collect();
    scripts.sort();
    assert!(scripts.len() > 10, "the constructs are there");
    scripts.push(folder.with_file_name("p4/probe.script"));
    let mut wrong = Vec::new();
    for script in scripts {
        let json = std::fs::read(script.with_extension("json")).expect("each script has a program");
        let text = std::fs::read_to_string(&script).expect("a script is text");
        let outcome = run::judge(&json, &text);
        if outcome != Outcome::Pass {
            wrong.push(format!("{}: {outcome}", script.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
