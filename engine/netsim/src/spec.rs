//! What a fabric is made of, as data.
//!
//! A spec is JSON. Times are picoseconds, rates bits per second, sizes bytes; what is unknown or out of range
//! is refused with its place and value. A complete example, which is also the list of every field:
//!
//! ```
//! let spec = netsim::FabricSpec::from_json(br#"{
//!   "seed": 1,
//!   "tick_ps": 1000,
//!   "cpu_port": 510,
//!   "drop_port": 511,
//!   "gate_register": "gate_open_at",
//!   "recirculation_delay_ps": 1000000,
//!   "switches": [{"name": "leaf1", "device_id": 1, "clock_start": 0}],
//!   "hosts": [
//!     {"name": "h1", "mac": "02:00:00:00:01:01", "ipv4": "10.0.1.1", "ipv6": "fd00:0:0:1::1"},
//!     {"name": "h2", "mac": "02:00:00:00:01:02", "ipv4": "10.0.1.2", "ipv6": null,
//!      "gateway_mac": "02:01:00:00:00:01", "nic": {"eee": null, "buffer_bytes": 1000000}}
//!   ],
//!   "links": [
//!     {"a": {"node": "leaf1", "port": 1, "eee": {"stall_ps": 0}}, "b": {"node": "h1", "port": 0},
//!      "rate_bps": 1000000000, "delay_ps": 500000, "overhead_bytes": 24},
//!     {"a": {"node": "leaf1", "port": 2, "eee": null}, "b": {"node": "h2", "port": 0},
//!      "rate_bps": 1000000000, "delay_ps": 500000}
//!   ],
//!   "phy": [{"rate_bps": 1000000000, "watts": 0.5, "lpi_fraction": 0.1, "sleep_ps": 182000000, "wake_ps": 16500000}],
//!   "nic": {"eee": {"stall_ps": 0, "hold_ps": 12000000, "trigger_packets": 10, "trigger_bytes": 0},
//!           "buffer_bytes": null},
//!   "nic_classes": {"dscp": [{"dscp": 26, "priority": 3}], "default_priority": 0, "pausable": [3]},
//!   "queue_samples": {"period_ps": 10000000, "max": 512},
//!   "scheduler": {"kind": "fca", "order": "total", "work_conserving": true, "preempt": false, "mice_bytes": 0,
//!                 "floor_bps": 100000, "floor_reserve_ppm": 10000, "capacity_ppm": 950000,
//!                 "report_delay_ps": 0, "decide_delay_ps": 0, "enforce_delay_ps": 0},
//!   "faults": [{"node": "leaf1", "port": 2, "at_ps": 5000000000, "until_ps": 20000000000}]
//! }"#)?;
//! assert_eq!(spec.hosts.len(), 2);
//! # Ok::<(), netsim::SpecError>(())
//! ```
//!
//! * A switch port's EEE *mode* is what the controller writes into the table `port_eee`; `eee` at a link's end
//!   tells that transmitter's PHY the same thing, so that its energy can be told: `null` never sleeps, otherwise
//!   it sleeps after `stall_ps` without transmission. At a host's end `eee` must be absent: its NIC decides.
//! * `host_delay` is absent, or `{"tx_ps": 0, "rx_ps": 0}`: what hosts with TCP take for a segment.
//! * `nic` is for all hosts, a host's own `nic` replaces it whole. `buffer_bytes: null` is without limit;
//!   `buffer_packets` is in place of it, `held_outside` beside it. With `fair` flows take turns. `aqm` is absent, or one of
//!   `{"mode": "mark_threshold", ...}`, `{"mode": "red", ...}`, `{"mode": "codel", ...}` with the fields of [`NicAqm`].
//! * `nic_classes` is absent, or gives all NICs queues by DSCP; those in `pausable` obey pause frames (`docs/models/pfc.md`).
//! * `quanta` is absent, or lets queues of switch ports share their links by weight: `[{"priority": 1, "bytes": 6000}]`.
//! * `scheduler` is absent, or gives flows of applications their rates: `docs/models/flow_chasing.md`.
//! * `faults` is absent, or says which links fail when: that at `port` of a `node`, or without `port` every link of the node.
//!   `until_ps: null` is until the end. Not with a `scheduler`.
//! * `phy` says power and timings by link rate. A transmitter without an entry has no energy account, and EEE
//!   at that rate is refused.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use crate::mac::Mac;
use crate::reaction::{DcqcnSettings, QcnSettings};

/// A fabric. See the module for the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FabricSpec {
    /// Seed of everything random: the programs' `random()`.
    pub seed: u64,
    /// Length of a switch's timestamp tick. Default 1 ns; BMv2's is 1 us.
    #[serde(default = "default_tick_ps")]
    pub tick_ps: u64,
    /// Port of packet-ins and packet-outs. Default 510.
    #[serde(default = "default_cpu_port")]
    pub cpu_port: u16,
    /// Port that drops. Default 511.
    #[serde(default = "default_drop_port")]
    pub drop_port: u16,
    /// Register with the tick before which a port sends nothing; without one, the program holds packets by
    /// recirculation.
    #[serde(default)]
    pub gate_register: Option<String>,
    /// Register with the tick before which a queue sends nothing, by port << 3 | priority; without one, the program holds
    /// the packets of paused queues by recirculation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_gate_register: Option<String>,
    /// Register with the tick at which the program runs for a queue without a packet, by port << 3 | priority; without one the switch has no timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_register: Option<String>,
    /// Time that a recirculated packet takes to its next ingress. Default 1 us.
    #[serde(default = "default_recirculation_delay_ps")]
    pub recirculation_delay_ps: u64,
    /// Most packets that wait at a switch's port; without limit when absent, because the E-EON program enforces a limit in
    /// bytes itself. BMv2's is 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit_packets: Option<usize>,
    /// Queues of each switch port, 1 to 8; the highest number is served first, unless it has a quantum. Default 1, as BMv2's.
    #[serde(default = "default_priorities")]
    pub priorities: usize,
    /// Queues of each switch port that share its link in deficit-weighted round robin. The others are strict: served before these where
    /// their priority is above the highest of these, and after them otherwise. Default: all are strict, as BMv2's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quanta: Vec<QueueQuantum>,
    /// The switches.
    pub switches: Vec<SwitchSpec>,
    /// The hosts; each has exactly one link.
    pub hosts: Vec<HostSpec>,
    /// The links.
    pub links: Vec<LinkSpec>,
    /// Power and timings of PHYs by rate.
    #[serde(default)]
    pub phy: Vec<PhySpec>,
    /// The NIC of every host that has none of its own.
    #[serde(default)]
    pub nic: NicSpec,
    /// Queues of every NIC by priority, and which of them obey pause frames; one queue, and none is obeyed, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic_classes: Option<NicClassesSpec>,
    /// What the TCP of every host takes for a segment.
    #[serde(default, skip_serializing_if = "HostDelaySpec::is_zero")]
    pub host_delay: HostDelaySpec,
    /// How queue depth is sampled.
    #[serde(default)]
    pub queue_samples: QueueSamplesSpec,
    /// The scheduler that gives flows of applications their rates; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerSpec>,
    /// Links that fail, and when; none when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
}

/// A link that fails, or a node that fails with all its links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// A switch or a host.
    pub node: String,
    /// Its port whose link fails; every link of the node when absent.
    #[serde(default)]
    pub port: Option<u16>,
    /// When the link goes down.
    pub at_ps: u64,
    /// When it comes back; never when absent.
    #[serde(default)]
    pub until_ps: Option<u64>,
}

/// The quantum of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct QueueQuantum {
    /// Its priority.
    pub priority: usize,
    /// What it may send at each of its turns, in bytes of frames.
    pub bytes: NonZeroU32,
}

/// Which scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SchedulerKind {
    /// Max-min among all flows.
    Fair,
    /// Flow chasing.
    Fca,
    /// Smallest effective bottleneck first, with MADD.
    Sebf,
    /// Transfers in order of their longest flow, with MADD.
    Scf,
    /// Least attained service in ten queues.
    Dclas,
}

/// What orders transfers in flow chasing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SchedulerOrder {
    /// All that has been announced.
    #[default]
    Total,
    /// What is left.
    Remaining,
}

/// A scheduler of applications' flows, and how long what it hears and says is under way. It knows the transfers over
/// connections of their own; a flow is the larger direction of one, and is limited where it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SchedulerSpec {
    /// Which.
    pub kind: SchedulerKind,
    /// Of flow chasing alone.
    #[serde(default)]
    pub order: SchedulerOrder,
    /// Of flow chasing alone: flows take what no transfer needs. Default true.
    #[serde(default = "default_true")]
    pub work_conserving: bool,
    /// Of flow chasing alone: smaller transfers take from larger ones. Default false.
    #[serde(default)]
    pub preempt: bool,
    /// A flow of fewer bytes is not announced and has no limiter. Default 0.
    #[serde(default)]
    pub mice_bytes: u64,
    /// What each flow gets at least, in bits per second, as far as the reserve lasts. Default 100000.
    #[serde(default = "default_floor_bps")]
    pub floor_bps: u64,
    /// What of each link is kept for that, in millionths. Default 10000.
    #[serde(default = "default_floor_reserve_ppm")]
    pub floor_reserve_ppm: u32,
    /// What of each link the scheduler gives out, in millionths; the rest is for ACKs and other traffic. Default 950000.
    #[serde(default = "default_capacity_ppm")]
    pub capacity_ppm: u32,
    /// From a flow's beginning or end until the scheduler knows. Default 0.
    #[serde(default)]
    pub report_delay_ps: u64,
    /// From then until it has decided. Default 0.
    #[serde(default)]
    pub decide_delay_ps: u64,
    /// From then until the senders' limiters have the rates. Default 0.
    #[serde(default)]
    pub enforce_delay_ps: u64,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Name, unlike every other node's.
    pub name: String,
    /// P4Runtime's device id.
    pub device_id: u64,
    /// What its clock shows at the start, in ticks. Default 0.
    #[serde(default)]
    pub clock_start: u64,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Name, unlike every other node's.
    pub name: String,
    /// MAC address, unlike every other host's.
    pub mac: Mac,
    /// Station that its frames go to: the router at the other end of its link. Where absent the receiver itself, as in one
    /// network of layer 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_mac: Option<Mac>,
    /// IPv4 address; without one, IPv4 packets that arrive are misdelivered.
    #[serde(default)]
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address; likewise.
    #[serde(default)]
    pub ipv6: Option<Ipv6Addr>,
    /// Its NIC, if it is not as the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicSpec>,
}

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// One end.
    pub a: EndSpec,
    /// The other end.
    pub b: EndSpec,
    /// Speed of each direction.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay_ps: u64,
    /// Added to each frame for its time on the wire. Default 24: preamble 8, FCS 4, inter-frame gap 12.
    #[serde(default = "default_overhead_bytes")]
    pub overhead_bytes: u64,
}

/// One end of a link: a node's port, and the PHY of its transmitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EndSpec {
    /// A switch or a host.
    pub node: String,
    /// Port; of a host always 0.
    pub port: u16,
    /// When a switch's transmitter sleeps; never when absent.
    #[serde(default)]
    pub eee: Option<PhyEeeSpec>,
}

/// A PHY that sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhyEeeSpec {
    /// Idle time before it does. Default 0.
    #[serde(default)]
    pub stall_ps: u64,
}

/// Power and timings of the PHYs of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhySpec {
    /// The links' rate.
    pub rate_bps: u64,
    /// Power of one port, not in low power idle.
    pub watts: f64,
    /// Power in low power idle as a fraction of that. Default 0.1.
    #[serde(default = "default_lpi_fraction")]
    pub lpi_fraction: f64,
    /// Ts.
    pub sleep_ps: u64,
    /// Tw.
    pub wake_ps: u64,
}

/// A NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NicSpec {
    /// EEE, with the timings of `phy`; off when absent.
    #[serde(default)]
    pub eee: Option<NicEeeSpec>,
    /// Maximum number of waiting bytes; without limit when absent.
    #[serde(default)]
    pub buffer_bytes: Option<u64>,
    /// Maximum number of waiting frames, in place of `buffer_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_packets: Option<u64>,
    /// What comes while the link is not awake waits beside `buffer_bytes`. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_outside: bool,
    /// Flows take turns by bytes, in each of the queues; no `aqm` beside it. Default false: a FIFO.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fair: bool,
    /// What happens before the queue is full; nothing when absent.
    #[serde(default)]
    pub aqm: Option<NicAqm>,
    /// QCN: reaction points for flows that switches send messages about; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qcn: Option<QcnSettings>,
    /// DCQCN: reaction points for flows that receivers send notifications about, and such notifications for what arrives with CE;
    /// none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dcqcn: Option<NicDcqcnSpec>,
}

/// DCQCN at a NIC, in both of its parts. Data that leaves without ECN codepoint gets ECT(0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NicDcqcnSpec {
    /// The reaction point of each flow that this NIC sends.
    pub reaction: DcqcnSettings,
    /// Least time between two notifications about a flow that this NIC receives. Default 50 us.
    pub cnp_interval_ps: u64,
    /// DSCP of the notifications, by which switches may serve them first. Default 48 (CS6).
    pub cnp_dscp: u8,
}

impl Default for NicDcqcnSpec {
    fn default() -> Self {
        Self { reaction: DcqcnSettings::default(), cnp_interval_ps: 50_000_000, cnp_dscp: 48 }
    }
}

/// Queues of NICs: which frames wait where, and which of them a pause frame stops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NicClassesSpec {
    /// The priority of each DSCP that is named.
    #[serde(default)]
    pub dscp: Vec<DscpPriority>,
    /// That of all other frames, 0 to 7. Default 0.
    #[serde(default)]
    pub default_priority: u8,
    /// Priorities that pause frames of the switch stop.
    #[serde(default)]
    pub pausable: Vec<u8>,
}

/// The priority of a DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DscpPriority {
    /// 0 to 63.
    pub dscp: u8,
    /// 0 to 7; the highest leaves first.
    pub priority: u8,
}

/// How long a host's TCP, driver and buses take for a segment: a delay, the same for each, and no limit of segments a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostDelaySpec {
    /// From the connection to the NIC's queue. Default 0; not with a scheduler.
    #[serde(default)]
    pub tx_ps: u64,
    /// From the frame's arrival to the connection. Default 0.
    #[serde(default)]
    pub rx_ps: u64,
}

impl HostDelaySpec {
    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// EEE and coalescing of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NicEeeSpec {
    /// Idle time before sleeping. Default 0.
    #[serde(default)]
    pub stall_ps: u64,
    /// Holding time; 0, the default, is standard EEE.
    #[serde(default)]
    pub hold_ps: u64,
    /// Held frames that end the hold. Default 0: no such trigger.
    #[serde(default)]
    pub trigger_packets: u32,
    /// Held bytes that end the hold. Default 0: no such trigger.
    #[serde(default)]
    pub trigger_bytes: u32,
}

/// Which packets are never dropped early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Protect {
    /// ECT packets only.
    #[default]
    Ect,
    /// Also packets with TCP's ECE flag.
    Ece,
    /// Also pure ACKs, SYNs and SYN-ACKs.
    AckSyn,
}

/// Settings of a NIC's AQM, with the names and units of the P4 program's actions; times in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "snake_case", deny_unknown_fields)]
pub enum NicAqm {
    /// ECT packets that find more than this are marked; nothing is dropped early.
    #[cfg_attr(feature = "schema", schemars(title = "MarkThresholdAqm"))]
    MarkThreshold {
        /// Queued bytes.
        threshold_bytes: u32,
        /// The same for ECT(1).
        l4s_threshold_bytes: u32,
        /// Whether what is left behind counts, not what is found.
        at_dequeue: bool,
    },
    /// Random Early Detection.
    #[cfg_attr(feature = "schema", schemars(title = "RedAqm"))]
    Red {
        /// From here on with a probability.
        min_threshold: u32,
        /// From here on always.
        max_threshold: u32,
        /// max_probability * 2^48 / (max - min); with `by_size` that * 2^8 / mean, in bytes, at least 2^8.
        probability_slope: u64,
        /// Whether thresholds are packets, not bytes.
        in_packets: bool,
        /// The newest length has weight 2^-n in the average.
        average_shift: u8,
        /// Whether ECT packets are marked, not dropped.
        ecn: bool,
        /// Which packets are protected.
        protect: Protect,
        /// In this time the average halves while the NIC is idle; null: never.
        half_life_ps: Option<NonZeroU64>,
        /// Whether a packet's probability is in proportion to its size.
        by_size: bool,
    },
    /// RFC 8289.
    #[cfg_attr(feature = "schema", schemars(title = "CodelAqm"))]
    Codel {
        /// Standing delay that is allowed.
        target_ps: u64,
        /// For how long it may be missed.
        interval_ps: u64,
        /// A queue that keeps no more than this is never too long.
        mtu_bytes: u32,
        /// Whether ECT packets are marked, not dropped.
        ecn: bool,
        /// Which packets are protected.
        protect: Protect,
    },
}

/// How queue depth over time is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct QueueSamplesSpec {
    /// First length of a period; it doubles as often as needed. Default 10 us.
    pub period_ps: u64,
    /// Maximum number of finished samples per queue, even, at most 65536. Default 512.
    pub max: usize,
}

impl Default for QueueSamplesSpec {
    fn default() -> Self {
        Self { period_ps: 10_000_000, max: 512 }
    }
}

const fn default_tick_ps() -> u64 {
    1_000
}

const fn default_cpu_port() -> u16 {
    510
}

const fn default_drop_port() -> u16 {
    511
}

const fn default_priorities() -> usize {
    1
}

const fn default_recirculation_delay_ps() -> u64 {
    1_000_000
}

const fn default_overhead_bytes() -> u64 {
    24
}

const fn default_true() -> bool {
    true
}

const fn default_floor_bps() -> u64 {
    100_000
}

const fn default_floor_reserve_ppm() -> u32 {
    10_000
}

const fn default_capacity_ppm() -> u32 {
    950_000
}

const fn default_lpi_fraction() -> f64 {
    0.1
}

impl FabricSpec {
    /// Reads a spec. What the parts say about each other is checked when a fabric is made of it.
    pub fn from_json(json: &[u8]) -> Result<Self, SpecError> {
        serde_json::from_slice(json).map_err(|error| SpecError::Json(error.to_string()))
    }
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// It is not JSON of this shape. The text says what was found where.
    #[error("fabric spec: {0}")]
    Json(String),
    /// A value is not possible.
    #[error("fabric spec: {place}: {value}: {reason}")]
    Value {
        /// Where, as a path into the JSON.
        place: String,
        /// What is there.
        value: String,
        /// Why it is not possible and what would be.
        reason: String,
    },
}
