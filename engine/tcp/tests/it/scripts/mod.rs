//! Scripted exchanges: one endpoint under test, and a peer whose segments the test defines. Each test names the section
//! that it checks; numbers are written out.

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
