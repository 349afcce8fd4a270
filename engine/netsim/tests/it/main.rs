//! Whole fabrics that run the compiled P4 program. One program: each further one would link the engine again.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../simple_switch/tests/support/counting.rs"]
mod counting;
mod dcqcn;
mod eee_theory;
mod fabric;
mod faults;
mod flows;
mod hold_exhaustive;
mod hops;
mod lossless;
mod memory;
mod nic_aqm;
mod properties;
mod qcn;
mod quanta;
mod repeat;
mod scheduler;
mod slowdown;
mod workload;

// By this name the sources that are shared with `simple_switch` find `eeon`.
use common as support;
