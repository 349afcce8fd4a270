//! Simple fuzzing in every test run, without a fuzzer: each target runs its committed corpus, every input that once
//! found a fault, and some thousands of mutated inputs from a fixed seed.

#![allow(unsafe_code)] // A global allocator, whose trait is unsafe; it only counts and forwards. See `bounded`.

#[path = "support/bounded.rs"]
mod bounded;

use std::fs;
use std::path::Path;

use fuzz_checks::mutation::{mutate, Draws};
use fuzz_checks::programs::sources;
use fuzz_checks::{corpora, Target, TARGETS};

/// Maximum number of replayed inputs of a corpus, spread over it, and of mutated inputs. Inputs that load a program or
/// create a switch take milliseconds each.
const REPLAYED: usize = 250;
const MUTATIONS: usize = 600;

fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("there is such a target")
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../corpora/{name}.corpus"));
    corpora::unpack(&fs::read(file).expect("the corpus is there")).expect("the corpus is whole")
}

/// Returns inputs for each program: its JSON, or its number and any bytes.
fn of_programs(name: &str) -> Vec<Vec<u8>> {
    let mut draws = Draws::new(0xca11);
    let mut any = |number: usize| {
        let bytes = (0..3000).map(|_| draws.below(256) as u8);
        [number as u8].into_iter().chain(bytes).collect::<Vec<u8>>()
    };
    match name {
        "load" => sources().iter().map(|s| s.json.clone()).filter(|json| json.len() < 100_000).collect(),
        "frame" | "edited_program" | "runtime_api" => {
            (0..16 * sources().len()).map(|at| any(at % sources().len())).collect()
        }
        _ => Vec::new(),
    }
}

/// Runs the committed inputs of a target, those made from the programs, and mutated ones.
fn replay(name: &str, mutations: usize) {
    let (target, mut corpus) = (target(name), corpus(name));
    assert!(!corpus.is_empty());
    corpus.extend(of_programs(name));
    corpus.iter().step_by(corpus.len().div_ceil(REPLAYED)).for_each(|input| (target.run)(input));
    let mut draws = Draws::new(0x5eed);
    for _ in 0..mutations {
        let mut input = corpus[draws.below(corpus.len())].clone();
        mutate(&mut input, &corpus[draws.below(corpus.len())], &mut draws);
        (target.run)(&input);
    }
}

#[test]
fn any_bytes_on_any_port_leave_every_switch_in_order() {
    replay("frame", MUTATIONS / 4);
}

#[test]
fn any_json_is_refused_or_runs() {
    replay("load", MUTATIONS);
}

#[test]
fn edited_programs_are_refused_or_run_with_entries() {
    replay("edited_program", MUTATIONS / 4);
}

#[test]
fn any_calls_in_any_order_change_what_they_name_or_nothing() {
    replay("runtime_api", MUTATIONS);
}

#[test]
fn any_bytes_are_seen_as_headers_records_and_messages_or_refused() {
    ["wire", "pcap", "peer"].into_iter().for_each(|name| replay(name, MUTATIONS));
}

#[test]
fn any_description_of_a_workload_is_refused_or_comes_to_its_end() {
    replay("workload", MUTATIONS);
}

#[test]
fn inputs_that_once_found_a_fault_find_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../regressions");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for path in names {
        let of_target = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.split_once('-'));
        let (name, _) = of_target.expect("a file is named for its target: TARGET-what.input");
        (target(name).run)(&fs::read(&path).expect("the file can be read"));
    }
}
