//! p4c's own STF programs for v1model, compiled with the p4c on this machine and run on this switch.
//!
//! An STF script has the input packets, the expected packets and the entries. p4c's sources are not in this repository:
//! `P4C_TESTDATA` names their `testdata` folder, and `make stf` runs this. `docs/develop/conformance.md` has the
//! results, and the refused programs with reasons.
//!
//! The semantics are those of p4c's `backends/bmv2/bmv2stf.py`, but stricter. A refused control command fails the
//! program, where `simple_switch_CLI` prints a message and continues. `check_counter`, which bmv2stf.py ignores, is
//! checked; so is that no packet is lost to a fault of the program, or without account.
#![allow(clippy::print_stdout)] // The outcomes are the result.

mod cli;
pub mod constructs;
mod outcome;
mod run;
mod samples;
pub mod script;
mod testgen;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use outcome::{summary, Outcome};
use samples::{Sample, GROUPS};

fn judge(sample: &Sample, scratch: &Path) -> Outcome {
    let compiled = samples::compile(&sample.program, sample.options, scratch);
    compiled.map_or_else(Outcome::DoesNotCompile, |json| judge_script(&json, &sample.script))
}

fn judge_script(json: &[u8], script: &Path) -> Outcome {
    let text = match std::fs::read_to_string(script) {
        Ok(text) => text,
        Err(error) => return Outcome::Fail(format!("{}: {error}", script.display())),
    };
    let run = || run::judge(json, &text);
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome::Fail(format!("the engine panicked: {}", said.unwrap_or_default()))
    })
}

/// Returns the results of `judge` in order. Compiling takes nearly all of the time, so all processors share it.
fn on_every_processor<T: Sync, R: Send>(all: &[T], judge: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let judged = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = all.get(at) else { return };
                let outcome = judge(one);
                judged.lock().expect("no judge panics").push((at, outcome));
            });
        }
    });
    let mut judged = judged.into_inner().expect("no judge panics");
    judged.sort_by_key(|(at, _)| *at);
    judged.into_iter().map(|(_, outcome)| outcome).collect()
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
        let outcomes = on_every_processor(&samples, |sample| judge(sample, &scratch));
        for (sample, outcome) in samples.iter().zip(&outcomes) {
            println!("  {:<45} {outcome}", sample.name);
        }
        println!("{}: programs: {}", group.name, summary(&outcomes));
        all.extend(outcomes);
    }
    println!("\nall programs: {}", summary(&all));
    assert!(all.contains(&Outcome::Pass), "nothing passed; is P4C_TESTDATA right?");
    assert!(!all.iter().any(|outcome| matches!(outcome, Outcome::Fail(_))), "see the lines that say FAIL");
}

/// The outcome of each script of p4testgen for one program, and why scripts are missing or fewer than requested.
type Generated = (Vec<(PathBuf, Outcome)>, Option<String>);

fn judge_generated(program: &Path, cases: u32, seed: u32, scratch: &Path) -> Result<Generated, String> {
    let json = samples::compile(program, &[], scratch).map_err(|line| format!("does not compile: {line}"))?;
    let folder = scratch.join(program.file_stem().expect("a file has a name"));
    let generated = testgen::generate(program, cases, seed, &folder);
    let (scripts, stopped) = generated.map_err(|error| format!("p4testgen cannot run: {error}"))?;
    let judged = scripts.into_iter().map(|script| {
        let outcome = judge_script(&json, &script);
        (script, outcome)
    });
    Ok((judged.collect(), stopped))
}

/// Returns a number from the environment, or the default.
fn number(variable: &str, usual: u32) -> u32 {
    match std::env::var(variable) {
        Ok(text) if !text.is_empty() => {
            text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}"))
        }
        _ => usual,
    }
}

#[test]
#[ignore = "needs p4testgen and p4c-bm2-ss: run make testgen"]
fn generated_cases_of_our_program_and_of_p4cs_samples_come_out_as_p4testgen_says() {
    let (Some(compiler), Some(generator)) = (samples::compiler_version(), testgen::version()) else {
        println!("skipped: all generated cases, because p4c-bm2-ss or p4testgen is not on PATH");
        return;
    };
    println!("compiler: {compiler}\ngenerator: {generator}");
    let (cases, seed) = (number("CASES", 10), number("SEED", 1));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("testgen");
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/eeon.p4");
    let mut programs = vec![testgen::copy_without_restrictions(&ours, &scratch.join("sources"))
        .expect("the target folder can be written")];
    match std::env::var_os("P4C_TESTDATA") {
        Some(testdata) => programs.extend(
            samples::v1model_programs(Path::new(&testdata)).expect("P4C_TESTDATA is p4c's folder testdata"),
        ),
        None => {
            println!("skipped: p4c's samples, because P4C_TESTDATA is not set (to p4c's folder testdata)");
        }
    }
    let judged = on_every_processor(&programs, |program| {
        judge_generated(program, cases, seed, &scratch).unwrap_or_else(|reason| (Vec::new(), Some(reason)))
    });
    let ours = &judged[0].0;
    assert!(ours.iter().any(|(_, outcome)| *outcome == Outcome::Pass), "no case of our program passed");
    let (mut all, mut unknown) = (Vec::new(), Vec::new());
    for (program, (outcomes, stopped)) in programs.iter().zip(judged) {
        let passed = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Pass).count();
        let name = program.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let known = testgen::known_reason(&name);
        let stopped = stopped.map_or_else(String::new, |reason| format!("; generator: {reason}"));
        let why = known.map_or_else(String::new, |reason| format!("; known: {reason}"));
        println!("  {name:<45} {passed} of {} pass{stopped}{why}", outcomes.len());
        for (script, outcome) in outcomes {
            if matches!(outcome, Outcome::Fail(_) | Outcome::Refused(_))
                && !testgen::is_known(&name, &outcome)
            {
                println!("    {}: {outcome}", script.display());
                unknown.push(script);
            }
            all.push(outcome);
        }
    }
    println!("\nall cases: {}", summary(&all));
    assert!(all.contains(&Outcome::Pass), "nothing passed");
    assert!(unknown.is_empty(), "of {} cases no reason is known why they do not come out", unknown.len());
}
