//! p4c's own STF programs for v1model, compiled with the p4c on this machine and run on this switch.
//!
//! An STF script says what goes in, what must come out, and which entries are there. p4c's sources are not in this
//! repository: `P4C_TESTDATA` names their `testdata` folder, and `make stf` runs this. What was measured, and what is
//! refused and why, is in `docs/CONFORMANCE.md`.
//!
//! The semantics are those of p4c's `backends/bmv2/bmv2stf.py`, but stricter: a control command that is refused fails the
//! program, where `simple_switch_CLI` prints a message and goes on; and `check_counter`, which bmv2stf.py ignores, is
//! checked; and so is that no packet is lost to a fault of the program, or without account.
#![allow(clippy::print_stdout)] // The outcomes are the result.

mod cli;
mod constructs;
mod outcome;
mod run;
mod samples;
mod script;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use outcome::{summary, Outcome};
use samples::{Compiled, Sample, GROUPS};

fn judge(sample: &Sample, scratch: &Path) -> Outcome {
    let json = match samples::compile(sample, scratch) {
        Compiled::Json(json) => json,
        Compiled::Error(line) => return Outcome::DoesNotCompile(line),
    };
    let text = match std::fs::read_to_string(&sample.script) {
        Ok(text) => text,
        Err(error) => return Outcome::Fail(format!("{}: {error}", sample.script.display())),
    };
    let run = || run::judge(&json, &text);
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome::Fail(format!("the engine panicked: {}", said.unwrap_or_default()))
    })
}

/// Outcomes in the order of the samples. Compiling takes nearly all the time, so every processor takes a part.
fn judge_all(samples: &[Sample], scratch: &Path) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(vec![None; samples.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(sample) = samples.get(at) else { return };
                let outcome = judge(sample, scratch);
                outcomes.lock().expect("no judge panics")[at] = Some(outcome);
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no judge panics");
    outcomes.into_iter().map(|outcome| outcome.expect("every sample was judged")).collect()
}

#[test]
#[ignore = "needs P4C_TESTDATA, a folder, and p4c-bm2-ss: run make stf"]
fn every_v1model_program_of_p4c_that_loads_does_what_its_stf_script_expects() {
    let Some(testdata) = std::env::var_os("P4C_TESTDATA") else {
        println!("skipped: all STF programs, because P4C_TESTDATA is not set (to p4c's folder testdata)");
        return;
    };
    let Some(version) = samples::compiler_version() else {
        println!("skipped: all STF programs, because p4c-bm2-ss is not on PATH");
        return;
    };
    println!("compiler: {version}");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stf");
    let mut all = Vec::new();
    for group in &GROUPS {
        if group.is_p4_14 && !samples::reads_p4_14() {
            println!("\nskipped: {}: this p4c-bm2-ss was built without P4_14", group.name);
            continue;
        }
        let (samples, left_out) = match samples::find(Path::new(&testdata), group) {
            Ok(found) => found,
            Err(error) => {
                println!(
                    "\nskipped: {}: {}/{}: {error}",
                    group.name,
                    Path::new(&testdata).display(),
                    group.scripts
                );
                continue;
            }
        };
        let scratch = scratch.join(group.name);
        std::fs::create_dir_all(&scratch).expect("the target folder can be written");
        println!("\n{}: {} programs; {left_out}", group.name, samples.len());
        let outcomes = judge_all(&samples, &scratch);
        for (sample, outcome) in samples.iter().zip(&outcomes) {
            println!("  {:<45} {outcome}", sample.name);
        }
        println!("{}: {}", group.name, summary(&outcomes));
        all.extend(outcomes);
    }
    println!("\nall: {}", summary(&all));
    assert!(all.contains(&Outcome::Pass), "nothing passed; is P4C_TESTDATA right?");
    assert!(!all.iter().any(|outcome| matches!(outcome, Outcome::Fail(_))), "see the lines that say FAIL");
}
