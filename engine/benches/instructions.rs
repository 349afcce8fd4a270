//! Four small cases for `engine/instructions.py`, which counts the instructions of a P4 pass with valgrind.
//!
//!     cargo bench -p benches --bench instructions -- CASE
//!
//! prints `passes`, the case's name and its number of P4 passes. [`counted`] runs what is counted. Without a case it
//! runs all of them.

#![allow(missing_docs, clippy::print_stdout)] // A program of its own, whose output is its result.

// Benches in their own right, with modules of the same files.
#[allow(dead_code)]
mod leaf_spine;
#[allow(dead_code)]
mod p4_passes;
#[allow(dead_code)]
mod shuffle;

use std::hint::black_box;

use leaf_spine::Replay;
use p4_passes::OneSwitch;
use shuffle::Case;

const CASES: [&str; 4] = ["one switch", "replay", "shuffle", "coalescing"];

/// Packets of one switch, ahead of the count and in it.
const PACKETS: [u64; 2] = [1_000, 20_000];
/// Frames of the replay.
const FRAMES: usize = 15_000;
/// Shares of the transfers of the shuffles of 160 hosts.
const SHARE: f64 = 0.006;
const COALESCING_SHARE: f64 = 0.004;

/// Runs what valgrind counts, by this function's name. It is not a tail call, which would leave it early.
#[inline(never)]
fn counted(run: impl FnOnce() -> u64) -> u64 {
    black_box(run())
}

fn passes(case: &str) -> u64 {
    let shuffle = |name, share| {
        let case = Case::of(name);
        let mut fabric = case.fabric();
        counted(|| case.play(&mut fabric, share))
    };
    match case {
        "one switch" => {
            let mut one = OneSwitch::new(64);
            let [ahead, packets] = PACKETS;
            (0..ahead).for_each(|_| one.pass());
            let passes = counted(|| {
                (0..packets).for_each(|_| one.pass());
                packets
            });
            one.check();
            passes
        }
        "replay" => {
            let replay = Replay::new(false, FRAMES);
            let mut fabric = replay.fabric();
            counted(|| replay.run(&mut fabric))
        }
        "shuffle" => shuffle("shuffle-160", SHARE),
        "coalescing" => shuffle("shuffle-160-coalescing", COALESCING_SHARE),
        other => panic!("{other} is none of {CASES:?}"),
    }
}

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let all = CASES.map(str::to_owned);
    for case in if given.is_empty() { &all[..] } else { &given } {
        println!("passes\t{case}\t{}", passes(case));
    }
}
