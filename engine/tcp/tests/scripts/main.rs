//! Scripted exchanges: one endpoint under test, a peer that says exactly what the situation needs. Each test names the section
//! that it is about; numbers are written out.

#[path = "../common/mod.rs"]
mod common;

mod accecn;
mod acknowledging;
mod closing;
mod cubic;
mod dctcp;
mod dsack;
mod ecn;
mod handshake;
mod hystart;
mod input;
mod nic;
mod rack;
mod recovery;
mod spurious;
mod timers;
mod window;
