//! What a run has shown, as data: the same run gives the same bytes.
//!
//! Times are picoseconds, sizes bytes without FCS, energies joules. Lists are in the order of the spec.

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
    /// Virtual time that has passed.
    pub elapsed_ps: u64,
    /// Whether nothing was left to happen.
    pub idle: bool,
    /// Events handled.
    pub events: u64,
    /// P4 passes of all switches.
    pub p4_passes: u64,
    /// Where every packet went.
    pub conservation: Conservation,
    /// By class as sent, every class named.
    pub classes: BTreeMap<&'static str, ClassReport>,
    /// Latency of all classes together; absent when nothing was delivered.
    pub latency: Option<LatencyReport>,
    /// What all NICs' queues did, by class as sent, every class named.
    pub nic_queues: BTreeMap<&'static str, ClassCounts>,
    /// The hosts.
    pub hosts: Vec<HostReport>,
    /// TCP flows, in the order in which they were given; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowReport>,
    /// Applications and their transfers; left out when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReport>,
    /// The switches.
    pub switches: Vec<SwitchReport>,
    /// Energy of the transmitters whose power the spec tells.
    pub energy: EnergyReport,
    /// Queue depth over time at the switches.
    pub queue_depth: QueueDepthReport,
    /// Both directions of each link of which the spec has a fault; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultyLinkReport>,
    /// Queues for which pauses have come, at switches and at NICs, in the order of the links; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PausedQueueReport>,
}

/// A queue for which pauses have come, at the sending end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PausedQueueReport {
    /// The node that was to pause.
    pub node: String,
    /// The port by which it sends.
    pub port: u16,
    /// The node that sent the pauses.
    pub peer: String,
    /// The port by which that sent them.
    pub peer_port: u16,
    /// The priority that was to pause.
    pub priority: u8,
    /// Pauses with a time above 0, obeyed or not, also those that went on with one before.
    pub pauses: u64,
    /// How long the queue was paused.
    pub paused_ps: u64,
    /// How long it was paused at most without a gap.
    pub longest_ps: u64,
}

/// One direction of a link that was to fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultyLinkReport {
    /// The node that sends.
    pub node: String,
    /// The port by which it sends.
    pub port: u16,
    /// The node at the other end.
    pub peer: String,
    /// How long the link was down.
    pub down_ps: u64,
    /// Packets lost for it, by class as sent; those that switches made are `control`. Classes that lost none are left out.
    pub lost: BTreeMap<&'static str, u64>,
}

/// Packet counts of the whole fabric. Packets that came in went out, were lost, or are still inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conservation {
    /// Offered to NICs by hosts.
    pub sent: u64,
    /// Given to switches by the controller.
    pub packet_outs: u64,
    /// Made inside switches: clones, and replicas beyond the first.
    pub copies: u64,
    /// Arrived at the host that it was for.
    pub delivered: u64,
    /// Arrived at another host.
    pub misdelivered: u64,
    /// Sent to the controller.
    pub packet_ins: u64,
    /// Did not fit a NIC's queue.
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

/// Packets appeared or vanished: the simulator is wrong, and so may be every number of this run.
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
    /// Arrived at the hosts that they were for.
    pub delivered: Count,
    /// Of these, packets with CE set.
    pub delivered_ce: u64,
    /// From the offer to the NIC to the arrival of the last bit; absent when nothing was delivered.
    pub latency: Option<LatencyReport>,
}

/// A distribution of latencies. The quantiles are within 0.2 %, the rest is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyReport {
    /// Mean, rounded down.
    pub mean_ps: u64,
    /// Smallest.
    pub min_ps: u64,
    /// Median.
    pub p50_ps: u64,
    /// 99th percentile.
    pub p99_ps: u64,
    /// 99.9th percentile.
    pub p999_ps: u64,
    /// Largest.
    pub max_ps: u64,
}

/// One host.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostReport {
    /// Name.
    pub name: String,
    /// Frames offered to the NIC.
    pub offered: u64,
    /// Frames that did not fit the NIC's queue or that its AQM dropped.
    pub nic_drops: u64,
    /// Frames and bytes that left the NIC.
    pub sent: Count,
    /// Frames and bytes that arrived and were for this host.
    pub received: Count,
    /// Frames that arrived and were not.
    pub misdelivered: u64,
    /// Maximum number of bytes that waited in the NIC.
    pub max_queue_bytes: u64,
    /// The NIC's own account of its EEE: absent when off.
    pub eee: Option<EeeAccount>,
    /// Pause frames of its switch: absent where NICs have no classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PauseAccount>,
    /// QCN of the NIC: absent when off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qcn: Option<QcnReport>,
    /// DCQCN of the host: absent when off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dcqcn: Option<DcqcnReport>,
}

/// What became of the frames of MAC control that came to a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PauseAccount {
    /// Pauses that were obeyed, and ends of pauses.
    pub obeyed: u64,
    /// Frames that moved nothing: malformed, of another opcode, for queues that are not paused here.
    pub ignored: u64,
}

/// What congestion notification messages have done at a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QcnReport {
    /// Messages that have arrived.
    pub messages: u64,
    /// Of them: not well-formed.
    pub malformed: u64,
    /// Of them: for a flow that another host sends.
    pub unknown_flow: u64,
    /// Of them: with feedback 0.
    pub without_effect: u64,
    /// Of them: for a flow without limiter, when there were as many as a NIC has.
    pub without_limiter: u64,
    /// Maximum number of flows that were limited at a time.
    pub max_limiters: u64,
}

/// What DCQCN has done at a host, as receiver and as sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DcqcnReport {
    /// Packets that have arrived with CE.
    pub marked: u64,
    /// Notifications sent for them.
    pub cnps_sent: u64,
    /// Notifications that have arrived.
    pub cnps: u64,
    /// Of them: not well-formed, or about a flow that another host sends.
    pub malformed: u64,
    /// Of them: for a flow without limiter, when there were as many as a NIC has.
    pub without_limiter: u64,
    /// Maximum number of flows that were limited at a time.
    pub max_limiters: u64,
}

/// One TCP flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowReport {
    /// The host that sends.
    pub source: String,
    /// The host that receives.
    pub destination: String,
    /// Bytes to be sent.
    pub bytes: u64,
    /// When the connection was opened.
    pub start_ps: u64,
    /// Bytes that have arrived in order.
    pub received_bytes: u64,
    /// From the start until the last byte and the FIN had arrived; absent when they have not.
    pub completion_ps: Option<u64>,
    /// Bytes over completion time.
    pub goodput_bps: Option<u64>,
    /// Segments with payload sent, retransmissions included.
    pub data_segments: u64,
    /// Segments sent again, SYNs not counted.
    pub retransmitted_segments: u64,
    /// Losses found by duplicate ACKs.
    pub fast_recoveries: u64,
    /// Expirations of the sender's retransmission timer, SYNs' included.
    pub timeouts: u64,
    /// Windows reduced for ECN marks.
    pub mark_reductions: u64,
    /// An end has given up, because the other did not answer.
    pub given_up: bool,
}

/// Applications, and what their transfers have shown together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadReport {
    /// Whether every application in the foreground has finished.
    pub finished: bool,
    /// When the last of them did.
    pub finished_ps: Option<u64>,
    /// One by one, in the order of the description.
    pub applications: Vec<ApplicationReport>,
    /// Transfers of all applications.
    pub flows: TransfersReport,
    /// Time with at least one transfer that had begun and not ended.
    pub busy_ps: u64,
    /// What the scheduler of flows did; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerReport>,
}

/// What a scheduler of flows did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerReport {
    /// Flows that it was told of.
    pub flows: u64,
    /// Transfers too small to be announced.
    pub mice: u64,
    /// Transfers over connections that others use, too, which it is not told of.
    pub left_out: u64,
    /// Transfers for whose data the switches have no path.
    pub without_path: u64,
    /// Reports that it did not take.
    pub refused: u64,
    /// How often it decided.
    pub decisions: u64,
    /// Rates that it sent to hosts.
    pub rates: u64,
    /// Rates that arrived after their flow's end.
    pub late: u64,
    /// Rates for flows whose NIC had no limiter left.
    pub without_limiter: u64,
}

/// Transfers: requests with their answers. A completion lasts from the beginning, a handshake that is waited for included, until the last byte
/// has arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransfersReport {
    /// Begun.
    pub started: u64,
    /// Finished.
    pub finished: u64,
    /// Failed, because a connection was given up.
    pub given_up: u64,
    /// Maximum number of connections that were open at a time, those of the list of flows included.
    pub most_connections: u64,
    /// Payload that has arrived in order, at both ends of all connections.
    pub bytes_received: u64,
    /// Completions of those that finished.
    pub completion_ps: Option<Distribution>,
    /// Completions of those of at most 1 MB: what the papers call short.
    pub completion_small_ps: Option<Distribution>,
    /// By bytes of the larger direction.
    pub by_size: Vec<SizeReport>,
    /// Of those with a connection of their own: completion over the least time that the path allows.
    pub slowdown: SlowdownReport,
    /// The same by size.
    pub slowdown_by_size: Vec<SlowdownReport>,
    /// Segments with payload sent, by both ends, those sent again included.
    pub data_segments: u64,
    /// Segments sent again; SYNs not.
    pub retransmitted_segments: u64,
    /// Recoveries begun by duplicate ACKs.
    pub fast_recoveries: u64,
    /// Expirations of retransmission timers, SYNs' included.
    pub timeouts: u64,
    /// Of these, before the connection was established.
    pub syn_timeouts: u64,
    /// Windows reduced for ECN marks.
    pub mark_reductions: u64,
}

/// Transfers of a class of size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeReport {
    /// Largest size of the class; the last has none.
    pub up_to_bytes: Option<u64>,
    /// How many finished.
    pub count: u64,
    /// Their completions.
    pub completion_ps: Option<Distribution>,
    /// Mean of bytes over completion.
    pub goodput_bps_mean: Option<u64>,
}

/// What an EEE state machine counts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EeeAccount {
    /// Wakes.
    pub wakes: u64,
    /// Time in low power idle, over finished sleeps.
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
    /// Packets sent round again.
    pub recirculated: u64,
    /// Packets given by the controller.
    pub packet_outs: u64,
    /// Packets sent to the controller.
    pub packet_ins: u64,
    /// Of these, lost because too many waited to be taken.
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
    /// Drops attributed to this port, by cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Frames sent after one that was queued later.
    pub reordered: u64,
    /// Maximum number of packets in the queue, one that leaves in the same instant included.
    pub max_queue_packets: u64,
    /// Maximum number of bytes in the queue, likewise.
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
    /// One by one.
    pub transmitters: Vec<TransmitterReport>,
}

/// Energy and time of several transmitters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerEnergy {
    /// How many.
    pub transmitters: u64,
    /// Energy used.
    pub used_joules: f64,
    /// Without EEE.
    pub legacy_joules: f64,
    /// With sleep and wake in no time.
    pub ideal_joules: f64,
    /// Share of their time with something on the wire.
    pub transmitting_share: f64,
    /// Share of their time awake, transmitting included.
    pub active_share: f64,
    /// Share of their time going to sleep.
    pub sleep_share: f64,
    /// Share of their time in low power idle.
    pub lpi_share: f64,
    /// Share of their time waking up.
    pub wake_share: f64,
    /// Times they were woken.
    pub wakes: u64,
    /// Transmissions that started before the PHY could be awake; not 0 means that what controls it is wrong.
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
    /// Whether it sleeps at all.
    pub eee: bool,
    /// Time with something on the wire.
    pub transmitting_ps: u64,
    /// Time awake, transmitting included.
    pub active_ps: u64,
    /// Time going to sleep.
    pub sleep_ps: u64,
    /// Time in low power idle.
    pub lpi_ps: u64,
    /// Time waking up.
    pub wake_ps: u64,
    /// Times it was woken.
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
    /// Queues that were ever not empty.
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
    /// Maximum number of bytes that waited in each period; zeros at the end are left out.
    pub max_bytes: Vec<u64>,
}
