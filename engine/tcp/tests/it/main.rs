//! TCP: transfers over a channel, its theory, random input, and exchanges too long for `tests/scripts`.

mod channel;
mod common;
mod controllers;
mod cubic;
mod hystart;
mod input;
mod sweep;
mod theory;
mod transfers;
mod window;
