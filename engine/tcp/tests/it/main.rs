//! TCP: transfers over a channel, its theory, random input, and packetdrill's scripts.

mod allocation;
mod channel;
mod controllers;
#[path = "../../../simple_switch/tests/support/counting.rs"]
mod counting;
mod input;
#[path = "../packetdrill/mod.rs"]
mod packetdrill;
mod sweep;
mod theory;
mod transfers;
