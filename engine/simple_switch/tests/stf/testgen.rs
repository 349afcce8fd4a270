//! `p4testgen` as an oracle: it walks the paths of a program symbolically, and says for each what must come out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::outcome::Outcome;
use super::samples::{self, is_error};

const GENERATOR: &str = "p4testgen";
/// Some programs have endless paths: what p4testgen has written after these seconds is run.
const PATIENCE: &str = "60";

/// It takes no other argument without these.
const TARGET: [&str; 4] = ["--target", "bmv2", "--arch", "v1model"];

/// Programs of which cases do not come out as the generator says, and why: what BMv2 1.15.5 does with them.
const NOT_ON_BMV2: [(&str, &str); 13] = [
    ("eeon", "egress reads what ingress wrote into a register, where the generator reads 0: BMv2 sends a copy more"),
    ("control-hs-index-test1", BEYOND_THE_STACK),
    ("control-hs-index-test2", BEYOND_THE_STACK),
    ("control-hs-index-test3", BEYOND_THE_STACK),
    ("control-hs-index-test5", BEYOND_THE_STACK),
    ("issue2726-bmv2", BEYOND_THE_STACK),
    ("runtime-index-bmv2", BEYOND_THE_STACK),
    ("init-entries-bmv2", "entries for a table with entries of its own, which BMv2 refuses to change"),
    ("control-hs-index-test6", KEY_BY_INDEX),
    ("issue3374", KEY_BY_INDEX),
    ("extract_for_header_union", "p4c's output names a header type that it does not have: BMv2 refuses it"),
    ("issue1607-bmv2", "p4c's output copies a header from a field 'last' that there is not: BMv2 stops"),
    ("proliferation1", "an expression with more intermediate values than the engine's limit; BMv2 has none"),
];
const BEYOND_THE_STACK: &str = "an index beyond the stack, where BMv2 stops";
const KEY_BY_INDEX: &str =
    "a key with an index found at run time, at which BMv2 stops when it loads the program";

/// Why cases of a program do not come out, where that is known.
pub fn known_reason(program: &str) -> Option<&'static str> {
    NOT_ON_BMV2.iter().find(|(name, _)| *name == program).map(|(_, reason)| *reason)
}

/// Returns whether that is why a case did not come out. What our program does otherwise nothing excuses.
pub fn is_known(program: &str, outcome: &Outcome) -> bool {
    match (program, outcome) {
        ("eeon", Outcome::Fail(difference)) => difference.contains("also sent"),
        ("eeon", _) => false,
        _ => known_reason(program).is_some(),
    }
}

/// The version of p4testgen, if there is such a program.
pub fn version() -> Option<String> {
    let mut command = Command::new(GENERATOR);
    command.args(TARGET);
    samples::version(command)
}

/// Copies the folder of a program's sources without the lines of `@action_restriction`, and returns the copied program.
/// p4testgen reads such a restriction after it has freed its words, and ends with SIGSEGV.
pub fn copy_without_restrictions(program: &Path, copy: &Path) -> std::io::Result<PathBuf> {
    copy_folder(program.parent().expect("a file has a folder"), copy)?;
    Ok(copy.join(program.file_name().expect("a file has a name")))
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let copied = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_folder(&path, &copied)?;
        } else if path.extension() == Some(OsStr::new("p4")) {
            let source = std::fs::read_to_string(&path)?;
            let kept = source.lines().filter(|line| !line.trim_start().starts_with("@action_restriction("));
            std::fs::write(copied, kept.collect::<Vec<_>>().join("\n") + "\n")?;
        }
    }
    Ok(())
}

/// The scripts of a program, in the order of their numbers, and why they end, if the generator said so.
pub fn generate(
    program: &Path,
    cases: u32,
    seed: u32,
    scratch: &Path,
) -> std::io::Result<(Vec<PathBuf>, Option<String>)> {
    if scratch.exists() {
        std::fs::remove_dir_all(scratch)?; // Cases of an earlier run would be judged again.
    }
    std::fs::create_dir_all(scratch)?;
    let output = Command::new("timeout")
        .args(["--kill-after=5", PATIENCE, GENERATOR])
        .args(TARGET)
        .args(["--std", "p4-16", "--test-backend", "STF"])
        .args(["--max-tests", &cases.to_string(), "--seed", &seed.to_string()])
        .arg("--out-dir")
        .arg(scratch)
        .arg(program.file_name().expect("a file has a name"))
        .current_dir(program.parent().expect("a file has a folder"))
        .stdout(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let stopped = match output.status.code() {
        Some(0) => None,
        Some(124 | 137) => Some(format!("not ready after {PATIENCE} s")),
        _ => Some(said.lines().find(is_error).unwrap_or("p4testgen says nothing").to_owned()),
    };
    let mut scripts = samples::files(scratch, "stf")?;
    scripts.sort_by_key(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        stem.rsplit('_').next().and_then(|number| number.parse::<u32>().ok())
    });
    Ok((scripts, stopped))
}
