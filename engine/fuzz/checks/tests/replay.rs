//! Simple fuzzing in every test run, without a fuzzer: each target runs its committed corpus, every input that once
//! found a fault, and some thousands of mutated inputs from a fixed seed.

#![allow(unsafe_code)] // A global allocator, whose trait is unsafe; it only counts and forwards. See `bounded`.

#[path = "support/bounded.rs"]
mod bounded;

use std::fs;
use std::path::Path;

use fuzz_checks::programs::sources;
use fuzz_checks::{Target, TARGETS};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Maximum number of replayed inputs of a corpus, spread over it, and of mutated inputs. Inputs that load a program or
/// create a switch take milliseconds each.
const REPLAYED: usize = 250;
const MUTATIONS: usize = 600;

fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("there is such a target")
}

/// Returns the inputs of a corpus, as `server_fuzz/corpora.py` packs them: each with its length before it.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../corpora/{name}.corpus"));
    let file = fs::read(file).expect("the corpus is there");
    let (mut rest, mut inputs) = (&file[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk() {
        let (input, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        inputs.push(input.to_vec());
        rest = after;
    }
    assert!(rest.is_empty(), "the corpus breaks off");
    inputs
}

/// Returns inputs for each program: its JSON, or its number and any bytes.
fn of_programs(name: &str) -> Vec<Vec<u8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0xca11);
    let mut any = |number: usize| {
        let mut bytes = vec![number as u8; 3001];
        random.fill_bytes(&mut bytes[1..]);
        bytes
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
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed);
    let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
    for _ in 0..mutations {
        let mut input = corpus[below(corpus.len())].clone();
        mutate(&mut input, &corpus[below(corpus.len())], &mut below);
        (target.run)(&input);
    }
}

/// Changes an input in one to four places: changes, inserts, removes or repeats bytes, or inserts a piece of `other`.
/// `below` returns a random number below its argument. libFuzzer, guided by coverage, finds more.
fn mutate(input: &mut Vec<u8>, other: &[u8], below: &mut impl FnMut(usize) -> usize) {
    for _ in 0..=below(4) {
        let at = below(input.len() + 1);
        let end = input.len().min(at + 1 + below(8));
        match below(6) {
            0 => input.insert(at, below(256) as u8),
            1 => drop(input.drain(at..end)),
            2 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            3 if !other.is_empty() => {
                let from = below(other.len());
                input.splice(at..at, other[from..other.len().min(from + 16)].iter().copied());
            }
            kind => {
                let Some(byte) = input.get_mut(at) else { continue };
                let values = [0, 1, 0x7f, 0x80, 0xff, below(256) as u8];
                *byte = if kind == 4 { *byte ^ 1 << below(8) } else { values[below(6)] };
            }
        }
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
