//! The switch: probe and small programs, and the compiled P4 program. One program: each further one would link the
//! engine again.

#[path = "../support/counting.rs"]
mod counting;
mod eeon;
#[path = "../support/full.rs"]
mod full;
mod hold_exhaustive;
mod journey;
mod memory;
mod priorities;
mod properties;
mod queues;
mod snapped;
#[path = "../stf/mod.rs"]
mod stf;
#[path = "../support/mod.rs"]
mod support;
mod v1model;
mod waiting;
