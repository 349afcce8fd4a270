//! Bounds on what is inside one switch, so that no program and no sender can exhaust the machine.

/// Longest frame, in bytes. A longer one is dropped and counted, also when headers have grown it.
pub const MAX_FRAME_BYTES: usize = 65_535;

/// Maximum number of packets inside one switch at a time. More are dropped and counted: a program that copies without
/// end must not exhaust the machine.
pub const MAX_PACKETS: usize = 1 << 20;

/// Maximum number of bytes that the frames inside one switch have together. Packets that would exceed it are dropped
/// and counted: as many of the longest frames as there may be packets would be 64 GiB.
pub const MAX_STORED_BYTES: usize = 1 << 30;

/// How often a packet may be resubmitted or cloned from clone to clone since it arrived or last recirculated.
/// These happen at one instant, so without a limit a program could keep a switch busy for ever.
pub const INSTANT_LIMIT: u16 = 128;

/// How many copies of copies may be made at one instant for one packet. [`INSTANT_LIMIT`] bounds how deep a tree of
/// clones is; a session with a group of two doubles them at each step.
pub const INSTANT_COPIES: u64 = 1 << 16;
