//! TCP: scripted exchanges, transfers over a channel, and its theory.

#[path = "../common/channel.rs"]
mod channel;
#[path = "../common/mod.rs"]
mod common;
mod controllers;
mod scripts;
mod sweep;
mod theory;
mod transfers;
