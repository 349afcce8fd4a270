//! Clone sessions: the destinations of the copies that `clone()` makes. BMv2 calls them mirroring sessions.

/// BMv2 keeps session ids in 15 bits.
pub(crate) const MAX_SESSION_ID: u16 = 0x7fff;

/// One session. If both are set, a clone goes to the port and to every member of the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirroringSession {
    /// Port to which a copy goes.
    pub egress_port: Option<u16>,
    /// Multicast group of which each replica gets a copy.
    pub mgid: Option<u16>,
    /// The value of v1model's `priority` in the copies. BMv2's sessions do not set it: 0.
    pub class_of_service: u8,
    /// Maximum number of bytes of a copy that leave; 0: no limit. BMv2's sessions have no limit.
    pub packet_length_bytes: u32,
}
