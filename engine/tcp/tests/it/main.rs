//! TCP: transfers over a channel, its theory, random input, packetdrill's scripts, and exchanges too long for scripts.

mod allocation;
mod channel;
mod common;
mod controllers;
#[path = "../../../simple_switch/tests/support/counting.rs"]
mod counting;
mod cubic;
mod hystart;
mod input;
#[path = "../packetdrill/mod.rs"]
mod packetdrill;
mod sweep;
mod theory;
mod transfers;
mod window;
