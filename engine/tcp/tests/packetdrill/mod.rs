//! Plays packetdrill scripts (the language in which the authors of Linux's TCP write its tests) against our endpoints.
//!
//! `PACKETDRILL=folder cargo test --test it packetdrill -- --ignored --nocapture` plays every script below a folder and prints
//! a table. The folder is a checkout of github.com/google/packetdrill, or Linux's `tools/testing/selftests/net/packetdrill`. A script
//! that differs must be listed in `differences.txt` with the reason, and a listed script must differ.

#![allow(clippy::print_stdout)] // Prints the table of public scripts.

mod ours;
mod parse;
mod play;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use play::Outcome;

fn outcome(text: &str) -> Outcome {
    match parse::script(text) {
        Ok(script) => play::play(&script),
        Err(reason) => Outcome::DoesNotApply(reason),
    }
}

/// Plays the scripts of `runner.txt`, which says what its lines mean.
#[test]
fn a_script_differs_where_it_is_wrong_and_names_what_our_endpoints_do_not_have() {
    for one in include_str!("runner.txt").split("\n[").skip(1) {
        let (_, one) = one.split_once("]\n").expect("a name");
        let (script, outcomes) = one.split_once("outcomes\n").expect("outcomes");
        for line in outcomes.lines().filter(|line| !line.is_empty()) {
            let (expected, change) = line.split_once(": ").unwrap_or((line, " =>"));
            let (said, instead) = change.split_once(" =>").expect("a change");
            let instead = instead.strip_prefix(' ').unwrap_or_default();
            let [said, instead] = [said, instead].map(|text| text.replace("\\n", "\n"));
            assert!(script.contains(&said), "{said}");
            let seen = match outcome(&script.replacen(&said, &instead, 1)) {
                Outcome::Passes { compared, passed_over } => format!("passes {compared}, {passed_over}"),
                Outcome::Differs(at, what) => format!("line {at}: {what}"),
                Outcome::DoesNotApply(reason) => reason,
            };
            assert!(seen.contains(expected), "{line}: {seen}");
        }
    }
}

/// Plays the scripts in `tests/scripts`: a line `[situation_and_outcome]` begins one, and its lines count from there.
#[test]
fn scripts_of_ours_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut found = Vec::new();
    scripts(&folder, &mut found);
    let mut failed = Vec::new();
    assert!(!found.is_empty(), "{}", folder.display());
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a script");
        let (head, named) = text.split_once("\n[").expect("a script with a name");
        assert!(!head.contains("--endpoint="), "{}: a script has no name", path.display());
        for (name, script) in named.split("\n[").map(|one| one.split_once("]\n").expect("a name")) {
            assert!(script.contains("--endpoint="), "{name}: would be played as one of Linux's");
            match outcome(script) {
                Outcome::Passes { .. } => {}
                other => failed.push(format!("{} of {}: {other:?}", name, path.display())),
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.map(|entry| entry.expect("a folder's entry").path()) {
        if entry.is_dir() {
            scripts(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "pkt") {
            found.push(entry);
        }
    }
}

/// Returns the ends of the paths of scripts that differ, each with the reason.
fn differences() -> Vec<(&'static str, &'static str)> {
    let mut reason = "";
    let mut all = Vec::new();
    for line in include_str!("differences.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("    ") {
            Some(end) => all.push((end, reason)),
            None => reason = line,
        }
    }
    all
}

#[test]
#[ignore = "needs PACKETDRILL=folder of scripts"]
fn public_scripts() {
    let folder =
        PathBuf::from(std::env::var_os("PACKETDRILL").expect("PACKETDRILL names a folder of scripts"));
    let mut found = Vec::new();
    scripts(&folder, &mut found);
    found.sort();
    let differences = differences();
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut unexpected = Vec::new();
    for path in &found {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a script")).into_owned();
        let (kind, note) = match outcome(&text) {
            Outcome::Passes { compared, passed_over } => {
                ("passes", format!("{compared} statements compared, {passed_over} not"))
            }
            Outcome::Differs(line, what) => ("differs", format!("line {line}: {what}")),
            Outcome::DoesNotApply(reason) => ("does not apply", reason),
        };
        let known = differences.iter().find(|(end, _)| path.ends_with(end));
        if (kind == "differs") != known.is_some() {
            unexpected.push(format!("{name} {kind}, {note}; known: {known:?}"));
        }
        let note = known.map_or(note.clone(), |(_, reason)| format!("{reason} ({note})"));
        *counts.entry(kind).or_default() += 1;
        println!("| `{name}` | {kind} | {note} |");
    }
    println!("{counts:?}");
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}
