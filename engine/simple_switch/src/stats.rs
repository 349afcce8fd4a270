//! Packet counts. Every packet that leaves the switch is counted here.
//!
//! Conservation holds at any time: `received + copies == sent + dropped + in flight`, see [`SwitchStats::is_balanced`].

use serde::{Serialize, Serializer};

/// Defines an enum whose values have names in reports.
macro_rules! named {
    ($(#[$of_enum:meta])* $enum:ident { $($(#[$of_value:meta])* $value:ident $name:literal,)* }) => {
        $(#[$of_enum])*
        pub enum $enum {
            $($(#[$of_value])* $value,)*
        }

        impl $enum {
            /// Every value, in the order of their numbers.
            pub const ALL: [$enum; [$($name),*].len()] = [$($enum::$value),*];

            /// Returns the name in filters and reports.
            pub const fn name(self) -> &'static str {
                [$($name),*][self as usize]
            }
        }
    };
}
pub(crate) use named;

named! {
/// Why a packet was dropped. Each drop has exactly one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
DropCause {
    /// The ingress pipeline chose the drop port.
    Ingress "ingress",
    /// The egress pipeline chose the drop port.
    Egress "egress",
    /// The queue's limit of packets or bytes was reached.
    QueueFull "queue_full",
    /// The packet came from, or was sent to, a port without a link.
    NoSuchPort "no_such_port",
    /// `priority` names a queue that the port does not have.
    PriorityOutOfRange "priority_out_of_range",
    /// The multicast group does not exist or has no ports.
    NoReplicas "no_replicas",
    /// The packet recirculated more often than [`crate::SwitchConfig::recirculation_limit`].
    RecirculationLimit "recirculation_limit",
    /// The packet was resubmitted or cloned from clone to clone more often than [`crate::INSTANT_LIMIT`], or more
    /// than [`crate::INSTANT_COPIES`] copies of copies were made at once.
    InstantLimit "instant_limit",
    /// The program failed on this packet: an assertion, a division by zero, an endless loop. BMv2 aborts here.
    ProgramFault "program_fault",
    /// The frame is longer than [`crate::MAX_FRAME_BYTES`].
    FrameTooLong "frame_too_long",
    /// The switch already holds [`crate::MAX_PACKETS`] packets, or [`crate::MAX_STORED_BYTES`].
    NoBuffer "no_buffer",
    /// The packet was inside the switch when another program was loaded.
    ProgramChanged "program_changed",
}
}

/// By name.
impl Serialize for DropCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Dropped packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropCause::ALL.len()]);

/// By the cause's name.
impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(cause, count)| (cause.name(), count)))
    }
}

impl Drops {
    /// Returns the number of packets dropped for this cause.
    pub const fn get(&self, cause: DropCause) -> u64 {
        self.0[cause as usize]
    }

    /// Returns the number of packets dropped for any cause.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns every cause with its count, zeros included, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (DropCause, u64)> + '_ {
        DropCause::ALL.into_iter().map(|cause| (cause, self.get(cause)))
    }

    pub(crate) fn count(&mut self, cause: DropCause) {
        self.0[cause as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &Drops) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
    }
}

/// Counts of one port since the switch was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PortStats {
    /// Frames that came in on this port.
    pub rx_packets: u64,
    /// Their bytes, without FCS.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Their bytes, without FCS.
    pub tx_bytes: u64,
    /// Frames sent after one that was first queued later, at the same priority.
    pub reordered: u64,
    /// Maximum number of packets that waited at a time, over all priorities.
    pub max_queue_packets: u64,
    /// Maximum number of bytes that waited at a time, over all priorities.
    pub max_queue_bytes: u64,
    /// Drops by cause. Drops in ingress and of copies are counted at the port of arrival, drops at a queue or in egress
    /// at the port of departure.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub drops: Drops,
}

/// Counts of the whole switch since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchStats {
    /// Frames received on all ports.
    pub received: u64,
    /// Packets made inside: clones, and replicas beyond the first.
    pub copies: u64,
    /// Frames returned by `poll_transmit`, or waiting for it.
    pub sent: u64,
    /// Packets inside the switch: queued, or in the recirculation loop.
    pub in_flight: u64,
    /// Packets recirculated.
    pub recirculated: u64,
    /// Packets resubmitted.
    pub resubmitted: u64,
    /// Clones requested in a session that does not exist. Nothing was made or lost; BMv2 reports nothing.
    pub clone_sessions_missing: u64,
    /// Unread digests that were displaced by later ones.
    pub digests_lost: u64,
    /// Unread log messages that were displaced by later ones.
    pub log_messages_lost: u64,
    /// Parser errors. The packet continues with `parser_error` set, as in BMv2.
    pub parser_errors: u64,
    /// Runs of parser and ingress: one per received, resubmitted or recirculated packet, and one per timer that expired.
    pub p4_passes: u64,
    /// Drops on all ports by cause.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub drops: Drops,
}

impl SwitchStats {
    /// Returns whether every packet is accounted for.
    pub fn is_balanced(&self) -> bool {
        self.received + self.copies == self.sent + self.drops.total() + self.in_flight
    }
}
