//! What a fabric takes at most.

use units::Time;

/// The latest time of a run and of its frames: 26 days. A frame's tag has 61 bits for the time at which it was sent.
pub const LATEST: Time = Time::from_ps(u64::MAX >> 3);

/// Maximum number of frames fed and not yet sent. A caller that wants to feed more runs first.
pub const MAX_PENDING: usize = 1 << 20;

/// Maximum number of packet-ins of one switch that wait to be taken; later ones are lost and counted.
pub const MAX_PACKET_INS: usize = 4096;

/// Maximum number of frames that have arrived at hosts and wait to be taken by who listens; later ones are not kept, and counted.
pub const MAX_HEARD: usize = 1 << 16;

/// Maximum length of a frame, in bytes without FCS.
pub const MAX_FRAME_BYTES: usize = simple_switch::MAX_FRAME_BYTES;

/// Maximum number of TCP connections that are open at a time.
pub(crate) const MAX_CONNECTIONS: u32 = 1 << 20;

/// Maximum number of flows of a run.
pub const MAX_FLOWS: usize = MAX_CONNECTIONS as usize;

/// Maximum time in a spec: 1000 s. With it, no sum of times within a run leaves 64 bits of picoseconds.
pub(crate) const MAX_SPEC_TIME_PS: u64 = 1_000_000_000_000_000;

/// Maximum number of limiters of one NIC.
pub const MAX_LIMITERS: usize = 1024;

/// Maximum number of frame buffers that are kept for reuse.
pub(crate) const MAX_SPARE_BUFFERS: usize = 4096;
