//! The fuzz targets, and the conditions that they check. `CONTRIBUTING.md` describes the targets.
//!
//! A target is a function of bytes that returns, or panics if a condition fails. libFuzzer calls it through
//! `engine/fuzz/fuzz_targets`, and `tests/replay.rs` calls it with the committed corpus. It reads no clock, file or
//! random source: the same bytes give the same run.

#![forbid(unsafe_code)]

mod calls;
mod contents;
mod edits;
mod eeon;
mod frame;
mod input;
mod load;
mod pcap;
mod peer;
pub mod programs;
mod runtime_api;
mod runtime_interface;
mod traffic;
mod wire;
mod workload;

pub use crate::frame::frame;
pub use crate::load::{edited_program, load};
pub use crate::pcap::pcap;
pub use crate::peer::peer;
pub use crate::runtime_api::runtime_api;
pub use crate::wire::wire;
pub use crate::workload::workload;

/// A target by name.
pub struct Target {
    /// Name of the libFuzzer binary, and of the folder of its corpus.
    pub name: &'static str,
    /// Runs an input.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 8] = [
    Target { name: "frame", run: frame },
    Target { name: "load", run: load },
    Target { name: "edited_program", run: edited_program },
    Target { name: "runtime_api", run: runtime_api },
    Target { name: "wire", run: wire },
    Target { name: "pcap", run: pcap },
    Target { name: "peer", run: peer },
    Target { name: "workload", run: workload },
];
