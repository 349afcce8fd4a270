//! The results of a run, as data: the same run gives the same bytes.
//!
//! Times are in picoseconds, sizes in bytes without FCS, energies in joules. Lists are in the order of the spec.

pub(crate) mod measures;
pub(crate) mod queue_depth;

use std::collections::BTreeMap;

use serde::Serialize;
use workload::report::{ApplicationReport, Distribution};
use workload::slowdown::SlowdownReport;

pub use self::measures::{ClassCounts, Count};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The spec's seed.
    pub seed: u64,
    /// Elapsed virtual time.
    pub elapsed_ps: u64,
    /// Whether no event was left, link changes apart.
    pub idle: bool,
    /// Events handled.
    pub events: u64,
    /// P4 passes of all switches.
    pub p4_passes: u64,
    /// Packet counts of the whole fabric.
    pub conservation: Conservation,
    /// By class as sent; every class is included.
    pub classes: BTreeMap<&'static str, ClassReport>,
    /// Latency of all classes together; absent when nothing was delivered.
    pub latency: Option<Distribution>,
    /// Marks and drops of all NICs' queues, by class as sent; every class is included.
    pub nic_queues: BTreeMap<&'static str, ClassCounts>,
    /// The hosts.
    pub hosts: Vec<HostReport>,
    /// TCP flows, in the order in which they were started; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowReport>,
    /// Applications and their transfers; left out when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReport>,
    /// The switches.
    pub switches: Vec<SwitchReport>,
    /// Energy of the transmitters whose power the spec gives.
    pub energy: EnergyReport,
    /// Queue depth over time at the switches.
    pub queue_depth: QueueDepthReport,
    /// Both directions of each link with a fault in the spec; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultyLinkReport>,
    /// Queues that have received pauses, at switches and NICs, in the order of the links; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PausedQueueReport>,
}

/// A queue that has received pauses, at the sending end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PausedQueueReport {
    /// The node that received the pauses.
    pub node: String,
    /// The port by which it sends.
    pub port: u16,
    /// The node that sent the pauses.
    pub peer: String,
    /// The port by which the peer sent them.
    pub peer_port: u16,
    /// The paused priority.
    pub priority: u8,
    /// Pauses with a time above 0, obeyed or not, including those that extended another.
    pub pauses: u64,
    /// Time for which the queue was paused.
    pub paused_ps: u64,
    /// Maximum time for which it was paused without a gap.
    pub longest_ps: u64,
}

/// One direction of a link with a fault in the spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultyLinkReport {
    /// The node that sends.
    pub node: String,
    /// The port by which it sends.
    pub port: u16,
    /// The node at the other end.
    pub peer: String,
    /// Time for which the link was down.
    pub down_ps: u64,
    /// Packets lost on it, by class as sent; packets that switches generated are `control`. Classes without losses are left out.
    pub lost: BTreeMap<&'static str, u64>,
}

/// Packet counts of the whole fabric. Packets that entered have left, were lost, or are still inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conservation {
    /// Offered to NICs by hosts.
    pub sent: u64,
    /// Given to switches by the controller.
    pub packet_outs: u64,
    /// Made inside switches: clones, and replicas beyond the first.
    pub copies: u64,
    /// Arrived at their destination host.
    pub delivered: u64,
    /// Arrived at another host.
    pub misdelivered: u64,
    /// Sent to the controller.
    pub packet_ins: u64,
    /// Did not fit a NIC's queue, or were dropped by its AQM.
    pub nic_drops: u64,
    /// Dropped by switches.
    pub switch_drops: u64,
    /// Lost on links that were down.
    pub link_drops: u64,
    /// Waiting in NICs, on links, or inside switches.
    pub queued: u64,
}

impl Conservation {
    /// Returns whether the counts add up.
    pub fn holds(&self) -> bool {
        self.sent + self.packet_outs + self.copies
            == self.delivered
                + self.misdelivered
                + self.packet_ins
                + self.nic_drops
                + self.switch_drops
                + self.link_drops
                + self.queued
    }
}

/// Packets have appeared or vanished: the simulator is wrong, and every number of this run may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "packets are not conserved: {0:?}; switches whose own counts do not add up: {1:?}; please report this as a bug"
)]
pub struct ConservationError(
    /// The counts.
    pub Box<Conservation>,
    /// Switches whose own counts do not add up.
    pub Vec<String>,
);

/// One class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassReport {
    /// Offered to NICs by hosts.
    pub sent: Count,
    /// Arrived at their destination hosts.
    pub delivered: Count,
    /// Of these, packets with CE set.
    pub delivered_ce: u64,
    /// Time from the offer to the NIC to the arrival of the last bit; absent when nothing was delivered.
    pub latency: Option<Distribution>,
}

/// One host.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostReport {
    /// Name.
    pub name: String,
    /// Frames offered to the NIC.
    pub offered: u64,
    /// Frames that did not fit the NIC's queue, or that its AQM dropped.
    pub nic_drops: u64,
    /// Frames and bytes that left the NIC.
    pub sent: Count,
    /// Frames and bytes that arrived for this host.
    pub received: Count,
    /// Frames that arrived for another host.
    pub misdelivered: u64,
    /// Maximum number of bytes that waited in the NIC.
    pub max_queue_bytes: u64,
    /// The NIC's own account of its EEE; absent when EEE is off.
    pub eee: Option<EeeAccount>,
    /// Pause frames from its switch; absent when NICs have no classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PauseAccount>,
    /// QCN of the NIC; absent when off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qcn: Option<QcnReport>,
    /// DCQCN of the host; absent when off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dcqcn: Option<DcqcnReport>,
}

/// What happened to the MAC control frames that arrived at a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PauseAccount {
    /// Pauses that were obeyed, including ends of pauses.
    pub obeyed: u64,
    /// Frames without effect: malformed, with another opcode, or for queues that may not be paused here.
    pub ignored: u64,
}

/// Congestion notification messages at a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QcnReport {
    /// Messages that arrived.
    pub messages: u64,
    /// Of these, malformed ones.
    pub malformed: u64,
    /// Of these, ones for a flow that another host sends.
    pub unknown_flow: u64,
    /// Of these, ones with feedback 0.
    pub without_effect: u64,
    /// Of these, ones for a flow without a limiter, when the NIC had the maximum number of limiters.
    pub without_limiter: u64,
    /// Maximum number of flows limited at a time.
    pub max_limiters: u64,
}

/// DCQCN at a host, as receiver and as sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DcqcnReport {
    /// Packets that arrived with CE.
    pub marked: u64,
    /// Notifications sent for them.
    pub cnps_sent: u64,
    /// Notifications that arrived.
    pub cnps: u64,
    /// Of these, ones that were malformed, or about a flow that another host sends.
    pub malformed: u64,
    /// Of these, ones for a flow without a limiter, when the NIC had the maximum number of limiters.
    pub without_limiter: u64,
    /// Maximum number of flows limited at a time.
    pub max_limiters: u64,
}

/// One TCP flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowReport {
    /// The sending host.
    pub source: String,
    /// The receiving host.
    pub destination: String,
    /// Bytes to be sent.
    pub bytes: u64,
    /// When the connection is opened.
    pub start_ps: u64,
    /// Bytes that arrived in order.
    pub received_bytes: u64,
    /// Time from the start until the last byte and the FIN had arrived; absent when they have not.
    pub completion_ps: Option<u64>,
    /// Bytes over completion time.
    pub goodput_bps: Option<u64>,
    /// Segments with payload sent, including retransmissions.
    pub data_segments: u64,
    /// Segments retransmitted, without SYNs.
    pub retransmitted_segments: u64,
    /// Losses detected by duplicate ACKs.
    pub fast_recoveries: u64,
    /// Expirations of the sender's retransmission timer, including those of SYNs.
    pub timeouts: u64,
    /// Window reductions for ECN marks.
    pub mark_reductions: u64,
    /// Whether an end has given up, because the other did not respond.
    pub given_up: bool,
}

/// Applications, and the measurements of all their transfers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadReport {
    /// Whether every application in the foreground has finished.
    pub finished: bool,
    /// When the last of them finished.
    pub finished_ps: Option<u64>,
    /// The applications, in the order of the description.
    pub applications: Vec<ApplicationReport>,
    /// Transfers of all applications.
    pub flows: TransfersReport,
    /// Time with at least one transfer in progress.
    pub busy_ps: u64,
    /// Counts of the scheduler of flows; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerReport>,
}

/// Counts of a scheduler of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerReport {
    /// Flows reported to it.
    pub flows: u64,
    /// Transfers too small to be announced.
    pub mice: u64,
    /// Transfers over connections that others also use, which are not reported to it.
    pub left_out: u64,
    /// Transfers for whose data the switches have no path.
    pub without_path: u64,
    /// Reports that it refused.
    pub refused: u64,
    /// Number of decisions.
    pub decisions: u64,
    /// Rates sent to hosts.
    pub rates: u64,
    /// Rates that arrived after their flow's end.
    pub late: u64,
    /// Rates for flows whose NIC had no limiter left.
    pub without_limiter: u64,
}

/// Transfers: requests with their responses. A completion time lasts from the beginning, including a handshake that is
/// waited for, until the last byte has arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransfersReport {
    /// Transfers begun.
    pub started: u64,
    /// Transfers finished.
    pub finished: u64,
    /// Transfers failed, because a connection was given up.
    pub given_up: u64,
    /// Maximum number of connections open at a time, including those of the list of flows.
    pub most_connections: u64,
    /// Payload that arrived in order, at both ends of all connections.
    pub bytes_received: u64,
    /// Completion times of finished transfers.
    pub completion_ps: Option<Distribution>,
    /// Completion times of finished transfers of at most 1 MB, which the papers call short.
    pub completion_small_ps: Option<Distribution>,
    /// By bytes in the larger direction.
    pub by_size: Vec<SizeReport>,
    /// Completion time over the minimum time that the path allows, for transfers with their own connection.
    pub slowdown: SlowdownReport,
    /// The same by size.
    pub slowdown_by_size: Vec<SlowdownReport>,
    /// Segments with payload sent by both ends, including retransmissions.
    pub data_segments: u64,
    /// Segments retransmitted, without SYNs.
    pub retransmitted_segments: u64,
    /// Recoveries started by duplicate ACKs.
    pub fast_recoveries: u64,
    /// Expirations of retransmission timers, including those of SYNs.
    pub timeouts: u64,
    /// Of these, ones before the connection was established.
    pub syn_timeouts: u64,
    /// Window reductions for ECN marks.
    pub mark_reductions: u64,
}

/// Transfers of one size class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeReport {
    /// Maximum size of the class; the last has none.
    pub up_to_bytes: Option<u64>,
    /// Number of finished transfers.
    pub count: u64,
    /// Their completion times.
    pub completion_ps: Option<Distribution>,
    /// Mean of bytes over completion time.
    pub goodput_bps_mean: Option<u64>,
}

/// Counts of an EEE state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EeeAccount {
    /// Wakes.
    pub wakes: u64,
    /// Time in low-power idle, over finished sleeps.
    pub lpi_ps: u64,
}

/// One switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchReport {
    /// Name.
    pub name: String,
    /// Frames received on all ports.
    pub received: u64,
    /// Packets made inside.
    pub copies: u64,
    /// Frames sent on all ports.
    pub sent: u64,
    /// Packets inside now.
    pub in_flight: u64,
    /// Packets dropped, by cause; causes that did not occur are left out.
    pub drops: BTreeMap<&'static str, u64>,
    /// Runs of parser and ingress.
    pub p4_passes: u64,
    /// Packets recirculated.
    pub recirculated: u64,
    /// Packets from the controller.
    pub packet_outs: u64,
    /// Packets to the controller.
    pub packet_ins: u64,
    /// Of these, ones lost because too many waited to be taken.
    pub packet_ins_lost: u64,
    /// Ports with links.
    pub ports: Vec<PortReport>,
}

/// One port of a switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PortReport {
    /// Number.
    pub port: u16,
    /// The node at the other end.
    pub peer: String,
    /// Frames and bytes received.
    pub received: Count,
    /// Frames and bytes sent.
    pub sent: Count,
    /// Drops counted at this port, by cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Frames sent after one that was queued later.
    pub reordered: u64,
    /// Maximum number of packets in the port's queues, including one that leaves at the same instant.
    pub max_queue_packets: u64,
    /// Maximum number of bytes in the port's queues, likewise.
    pub max_queue_bytes: u64,
}

/// Energy of the fabric's transmitters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnergyReport {
    /// All transmitters together.
    pub total: LayerEnergy,
    /// By layer: `host_nic`, `leaf_to_host`, `leaf_to_spine`, `spine_to_leaf`, `leaf_to_leaf`, `spine_to_spine`; layers
    /// without transmitters are left out.
    pub layers: BTreeMap<&'static str, LayerEnergy>,
    /// The transmitters.
    pub transmitters: Vec<TransmitterReport>,
}

/// Energy and time of several transmitters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerEnergy {
    /// Number of transmitters.
    pub transmitters: u64,
    /// Energy used.
    pub used_joules: f64,
    /// Energy without EEE.
    pub legacy_joules: f64,
    /// Energy if they slept and woke in no time.
    pub ideal_joules: f64,
    /// Share of their time with something on the wire.
    pub transmitting_share: f64,
    /// Share of their time awake, including transmission.
    pub active_share: f64,
    /// Share of their time in transition to sleep.
    pub sleep_share: f64,
    /// Share of their time in low-power idle.
    pub lpi_share: f64,
    /// Share of their time waking up.
    pub wake_share: f64,
    /// Number of wakes.
    pub wakes: u64,
    /// Transmissions that started before the PHY could be awake. If it is not 0, the sender is wrong.
    pub violations: u64,
}

/// One transmitter. The four times add up to `elapsed_ps` exactly.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransmitterReport {
    /// The node.
    pub node: String,
    /// Its port.
    pub port: u16,
    /// The node at the other end.
    pub peer: String,
    /// Its layer.
    pub layer: &'static str,
    /// Whether EEE is on.
    pub eee: bool,
    /// Time with something on the wire.
    pub transmitting_ps: u64,
    /// Time awake, including transmission.
    pub active_ps: u64,
    /// Time in transition to sleep.
    pub sleep_ps: u64,
    /// Time in low-power idle.
    pub lpi_ps: u64,
    /// Time waking up.
    pub wake_ps: u64,
    /// Number of wakes.
    pub wakes: u64,
    /// See [`LayerEnergy::violations`].
    pub violations: u64,
    /// Energy used.
    pub used_joules: f64,
}

/// Queue depth over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueDepthReport {
    /// Length of a period; the first starts with the run.
    pub period_ps: u64,
    /// Queues that were not always empty.
    pub queues: Vec<QueueSamples>,
}

/// Depth of one queue over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueSamples {
    /// The switch.
    pub switch: String,
    /// The port.
    pub port: u16,
    /// Maximum number of bytes waiting in each period; zeros at the end are left out.
    pub max_bytes: Vec<u64>,
}
