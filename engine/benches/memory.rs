//! Peak resident memory of a switch with all tables full, and of the twin of 160 hosts before traffic.
//!
//! Each case runs in its own process, which reports its peak: allocations, native code, stacks and the machine code of
//! the bench itself. Each prints one line: `memory`, the name, bytes, the limit. Only Linux reports the peak; elsewhere
//! nothing is measured.

#![allow(missing_docs, clippy::print_stdout)] // A program of its own, whose output is its result.

use std::hint::black_box;
use std::process::Command;

use benches::common::{self, peak_resident_bytes, LeafSpine};
use benches::full;

/// Name and limit in bytes.
const CASES: [(&str, u64); 2] =
    [("switch, every port, full tables", 100_000_000), ("leaf-spine-160 before traffic", 500_000_000)];

fn run(case: &str) {
    if case == CASES[0].0 {
        black_box(full::switch(&common::program()));
    } else {
        let size = LeafSpine { leaves: 4, hosts_per_leaf: 40, spines: 2, ..LeafSpine::default() };
        black_box(size.marking(30_000));
    }
    if let Some(bytes) = peak_resident_bytes() {
        println!("{bytes}");
    }
}

fn main() {
    if let Ok(case) = std::env::var("EEON_MEMORY_CASE") {
        return run(&case);
    }
    let this = std::env::current_exe().expect("a process knows its program");
    for (case, limit) in CASES {
        let child = Command::new(&this).env("EEON_MEMORY_CASE", case).output().expect("it runs again");
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success(), "{case}: {}", String::from_utf8_lossy(&child.stderr));
        match text.trim() {
            "" => println!("{case}: not measured on this system"),
            bytes => println!("memory\t{case}\t{bytes}\t{limit}"),
        }
    }
}
