//! Bounds on the contents of one switch, so that no program and no sender can exhaust the machine.

/// Maximum length of a frame in bytes. A longer frame is dropped and counted, also if headers have grown it.
pub const MAX_FRAME_BYTES: usize = 65_535;

/// Maximum number of packets inside one switch at a time; further ones are dropped and counted, so that a program that
/// copies without end cannot exhaust the machine.
pub const MAX_PACKETS: usize = 1 << 20;

/// Maximum total bytes of the frames inside one switch. A packet that would exceed it is dropped and counted:
/// [`MAX_PACKETS`] frames of maximum length would be 64 GiB.
pub const MAX_STORED_BYTES: usize = 1 << 30;

/// Maximum number of times that a packet may be resubmitted, or cloned from clone to clone, since it arrived or last
/// recirculated. These happen at one instant, so without a limit a program could keep a switch busy forever.
pub const INSTANT_LIMIT: u16 = 128;

/// Maximum number of copies of copies at one instant for one packet. [`INSTANT_LIMIT`] bounds the depth of a tree of
/// clones; a session with a group of two doubles their number at each step.
pub const INSTANT_COPIES: u64 = 1 << 16;
