//! The limits of a fabric.

use units::Time;

/// The latest time of a run and of its frames: 26 days. A frame's tag has 61 bits for its sending time.
pub const LATEST: Time = Time::from_ps(u64::MAX >> 3);

/// Maximum number of frames fed and not yet sent. To feed more, a caller runs the fabric first.
pub const MAX_PENDING: usize = 1 << 20;

/// Maximum number of packet-ins of one switch that wait to be taken; later ones are lost and counted.
pub const MAX_PACKET_INS: usize = 4096;

/// Maximum number of frames that have arrived at hosts and wait for a listener; later ones are lost and counted.
pub const MAX_HEARD: usize = 1 << 16;

/// Maximum length of a frame, in bytes without FCS.
pub const MAX_FRAME_BYTES: usize = simple_switch::MAX_FRAME_BYTES;

/// Maximum number of TCP connections open at a time.
pub(crate) const MAX_CONNECTIONS: u32 = 1 << 20;

/// Maximum number of flows of a run.
pub const MAX_FLOWS: usize = MAX_CONNECTIONS as usize;

/// Maximum time in a spec: 1000 s. With it, no sum of times within a run exceeds 64 bits of picoseconds.
pub(crate) const MAX_SPEC_TIME_PS: u64 = 1_000_000_000_000_000;

/// Maximum number of limiters of one NIC.
pub const MAX_LIMITERS: usize = 1024;

/// Maximum number of frame buffers that are kept for reuse.
pub(crate) const MAX_SPARE_BUFFERS: usize = 4096;
