//! TCP: scripted exchanges, transfers over a channel, and its theory.

mod channel;
mod common;
mod controllers;
mod scripts;
mod sweep;
mod theory;
mod transfers;
