//! Whole fabrics that run the compiled P4 program. One program: each further one would link the engine again.

#[path = "../common/mod.rs"]
mod common;
mod dcqcn;
mod eee_theory;
mod fabric;
mod faults;
mod flows;
mod hold_exhaustive;
mod hold_nic_and_p4;
mod hops;
mod lossless;
mod nic_aqm;
mod properties;
mod qcn;
mod quanta;
mod repeat;
mod scheduler;
mod slowdown;
mod untrusted;
mod workload;
