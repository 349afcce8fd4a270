//! The description of a fabric, as data.
//!
//! A spec is JSON. Times are in picoseconds, rates in bits per second, sizes in bytes. Unknown keys and values out of
//! range are refused with their place and value. An example with most fields:
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
//! * The controller sets a switch port's EEE *mode* in the table `port_eee`. `eee` at a link's end gives that transmitter's PHY
//!   the same setting, for its energy account: `null` never sleeps, otherwise it sleeps after `stall_ps` without transmission. At
//!   a host's end `eee` must be absent: its NIC decides.
//! * `host_delay` is absent, or `{"tx_ps": 0, "rx_ps": 0}`: the delays of a segment in hosts with TCP.
//! * `nic` applies to all hosts; a host's own `nic` replaces it completely. `buffer_bytes: null` is no limit; `buffer_packets`
//!   replaces it, `held_outside` qualifies it. With `fair`, flows take turns. `aqm` is absent, or one of `{"mode":
//!   "mark_threshold", ...}`, `{"mode": "red", ...}`, `{"mode": "codel", ...}` with the fields of [`NicAqm`].
//! * `nic_classes` is absent, or gives all NICs queues by DSCP; those in `pausable` obey pause frames (`docs/models/pfc.md`).
//! * `quanta` is absent, or lets queues of switch ports share their links by weight: `[{"priority": 1, "bytes": 6000}]`.
//! * `scheduler` is absent, or assigns rates to the flows of applications: `docs/models/flow_chasing.md`.
//! * `faults` is absent, or lists links that fail: the link at `port` of a `node`, or without `port` every link of the node.
//!   `until_ps: null` means until the end. It excludes a `scheduler`.
//! * `phy` has power and timings by link rate. A transmitter without an entry has no energy account, and EEE at that rate is
//!   refused.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::{NonZeroU32, NonZeroU64};

use schedule::{fca::Volume, Name};
use serde::Deserialize;
use units::Duration;

use crate::mac::Mac;
use crate::reaction::{DcqcnSettings, QcnSettings};

/// A fabric. See the module for the format.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FabricSpec {
    /// Seed of everything random: the programs' `random()`, and RED in NICs.
    pub seed: u64,
    /// Length of a switch's timestamp tick. Default 1 ns; BMv2's is 1 us.
    #[serde(default = "default::<1_000, u64>")]
    pub tick_ps: u64,
    /// Port of packet-ins and packet-outs. Default 510.
    #[serde(default = "default::<510, u16>")]
    pub cpu_port: u16,
    /// Port that drops packets. Default 511.
    #[serde(default = "default::<511, u16>")]
    pub drop_port: u16,
    /// Register with the tick before which a port sends nothing. Without one, the program holds packets by
    /// recirculation.
    pub gate_register: Option<String>,
    /// Register with the tick before which a queue sends nothing, by port << 3 | priority. Without one, the program
    /// holds the packets of paused queues by recirculation.
    pub class_gate_register: Option<String>,
    /// Register with the tick at which the program runs for a queue without a packet, by port << 3 | priority. Without one, switches have no timers.
    pub timer_register: Option<String>,
    /// Time from a recirculated packet's egress to its next ingress. Default 1 us.
    #[serde(default = "default::<1_000_000, u64>")]
    pub recirculation_delay_ps: u64,
    /// Maximum number of packets that wait in each queue of a switch port. No limit when absent, because the E-EON
    /// program enforces a limit in bytes itself. BMv2's is 64.
    pub queue_limit_packets: Option<usize>,
    /// Queues of each switch port, 1 to 8; the highest priority is served first, unless it has a quantum. Default 1, as in BMv2.
    #[serde(default = "default::<1, usize>")]
    pub priorities: usize,
    /// Queues of each switch port that share its link in deficit-weighted round robin. The others are strict: those with a
    /// priority above the highest of these are served before them, the rest after them. Default: all are strict, as in BMv2.
    #[serde(default)]
    pub quanta: Vec<QueueQuantum>,
    /// The switches.
    pub switches: Vec<SwitchSpec>,
    /// The hosts; each has exactly one link.
    pub hosts: Vec<HostSpec>,
    /// The links.
    pub links: Vec<LinkSpec>,
    /// Power and timings of PHYs by link rate.
    #[serde(default)]
    pub phy: Vec<PhySpec>,
    /// The NIC of every host without a NIC of its own.
    #[serde(default)]
    pub nic: NicSpec,
    /// Queues of every NIC by priority, and which of them obey pause frames. When absent, NICs have one queue and obey none.
    pub nic_classes: Option<NicClassesSpec>,
    /// Delays of a segment in every host's TCP.
    #[serde(default)]
    pub host_delay: HostDelaySpec,
    /// How queue depth is sampled.
    #[serde(default)]
    pub queue_samples: QueueSamplesSpec,
    /// The scheduler that assigns rates to the flows of applications; none when absent.
    pub scheduler: Option<SchedulerSpec>,
    /// Links that fail, and when; none when absent.
    #[serde(default)]
    pub faults: Vec<FaultSpec>,
}

/// A link that fails, or a node that fails with all its links.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// A switch or a host.
    pub node: String,
    /// The port whose link fails; every link of the node when absent.
    pub port: Option<u16>,
    /// When the link goes down.
    pub at_ps: u64,
    /// When it comes back up; never when absent.
    pub until_ps: Option<u64>,
}

/// The quantum of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct QueueQuantum {
    /// Its priority.
    pub priority: usize,
    /// Bytes of frames that it may send at each of its turns.
    pub bytes: NonZeroU32,
}

/// A scheduler of applications' flows, with the delays of its reports and decisions. It knows the transfers that have
/// their own connection; a flow is the larger direction of one, and is limited at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SchedulerSpec {
    /// The kind.
    pub kind: Name,
    /// The order of transfers. Flow chasing only.
    #[serde(default)]
    pub order: Volume,
    /// Whether flows take the rate that no transfer needs. Flow chasing only. Default true.
    #[serde(default = "default_true")]
    pub work_conserving: bool,
    /// Whether smaller transfers take rate from larger ones. Flow chasing only. Default false.
    #[serde(default)]
    pub preempt: bool,
    /// A flow with fewer bytes is not announced and has no limiter. Default 0.
    #[serde(default)]
    pub mice_bytes: u64,
    /// Minimum rate of each flow in bits per second, as far as the reserve suffices. Default 100000.
    #[serde(default = "default::<100_000, u64>")]
    pub floor_bps: u64,
    /// Part of each link that is reserved for this minimum, in millionths. Default 10000.
    #[serde(default = "default::<10_000, u32>")]
    pub floor_reserve_ppm: u32,
    /// Part of each link that the scheduler assigns, in millionths; the rest is for ACKs and other traffic. Default 950000.
    #[serde(default = "default::<950_000, u32>")]
    pub capacity_ppm: u32,
    /// Delay from a flow's beginning or end until the scheduler knows of it. Default 0.
    #[serde(default)]
    pub report_delay_ps: u64,
    /// Delay from then until the decision. Default 0.
    #[serde(default)]
    pub decide_delay_ps: u64,
    /// Delay from the decision until the senders' limiters have the rates. Default 0.
    #[serde(default)]
    pub enforce_delay_ps: u64,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Name, unique among all nodes.
    pub name: String,
    /// P4Runtime's device id.
    pub device_id: u64,
    /// The clock's value at the start, in ticks. Default 0.
    #[serde(default)]
    pub clock_start: u64,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Name, unique among all nodes.
    pub name: String,
    /// MAC address, unique among all hosts.
    pub mac: Mac,
    /// MAC address to which its frames are sent: the router at the other end of its link. When absent, the receiver's
    /// own, as in one layer-2 network.
    pub gateway_mac: Option<Mac>,
    /// IPv4 address; without one, arriving IPv4 packets are misdelivered.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address; without one, arriving IPv6 packets are misdelivered.
    pub ipv6: Option<Ipv6Addr>,
    /// Its own NIC, if it differs from the others.
    pub nic: Option<NicSpec>,
}

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// One end.
    pub a: EndSpec,
    /// The other end.
    pub b: EndSpec,
    /// Rate of each direction.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay_ps: u64,
    /// Bytes added to each frame on the wire. Default 24: preamble 8, FCS 4, inter-frame gap 12.
    #[serde(default = "default::<24, u64>")]
    pub overhead_bytes: u64,
}

/// One end of a link: a node's port, and the PHY of its transmitter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EndSpec {
    /// A switch or a host.
    pub node: String,
    /// Port; always 0 for a host.
    pub port: u16,
    /// EEE of a switch's transmitter; it never sleeps when absent.
    pub eee: Option<PhyEeeSpec>,
}

/// A PHY that sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhyEeeSpec {
    /// Idle time before it sleeps. Default 0.
    pub stall_ps: u64,
}

/// Power and timings of the PHYs of one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhySpec {
    /// The link rate.
    pub rate_bps: u64,
    /// Power of one port when it is not in low-power idle.
    pub watts: f64,
    /// Power in low-power idle as a fraction of `watts`. Default 0.1.
    #[serde(default = "default_lpi_fraction")]
    pub lpi_fraction: f64,
    /// Ts, the time to go to sleep.
    #[serde(rename = "sleep_ps")]
    pub sleep: Duration,
    /// Tw, the time to wake.
    #[serde(rename = "wake_ps")]
    pub wake: Duration,
}

/// A NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NicSpec {
    /// EEE with the timings of `phy`; off when absent.
    pub eee: Option<NicEeeSpec>,
    /// Maximum number of waiting bytes; no limit when absent.
    pub buffer_bytes: Option<u64>,
    /// Maximum number of waiting frames, in place of `buffer_bytes`.
    pub buffer_packets: Option<u64>,
    /// Whether frames that arrive while the link is not awake are outside `buffer_bytes`. Default false.
    pub held_outside: bool,
    /// Whether flows take turns by bytes, in each of the queues; excludes an `aqm`. Default false: a FIFO.
    pub fair: bool,
    /// The AQM; none when absent.
    pub aqm: Option<NicAqm>,
    /// QCN: reaction points for the flows that switches' messages name; none when absent.
    pub qcn: Option<QcnSettings>,
    /// DCQCN: reaction points for the flows that receivers' notifications name, and notifications about packets that
    /// arrive with CE; none when absent.
    pub dcqcn: Option<NicDcqcnSpec>,
}

/// DCQCN at a NIC, as receiver and sender. Data without an ECN codepoint leaves as ECT(0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NicDcqcnSpec {
    /// The reaction point of each flow that this NIC sends.
    pub reaction: DcqcnSettings,
    /// Minimum time between two notifications about a flow that this NIC receives. Default 50 us.
    pub cnp_interval_ps: u64,
    /// DSCP of the notifications, so that switches can serve them first. Default 48 (CS6).
    pub cnp_dscp: u8,
}

impl Default for NicDcqcnSpec {
    fn default() -> Self {
        Self { reaction: DcqcnSettings::default(), cnp_interval_ps: 50_000_000, cnp_dscp: 48 }
    }
}

/// Queues of NICs: the queue of each frame, and the queues that a pause frame stops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NicClassesSpec {
    /// The priority of each listed DSCP.
    pub dscp: Vec<DscpPriority>,
    /// The priority of all other frames, 0 to 7. Default 0.
    pub default_priority: u8,
    /// Priorities that pause frames from the switch stop.
    pub pausable: Vec<u8>,
}

/// The priority of a DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DscpPriority {
    /// 0 to 63.
    pub dscp: u8,
    /// 0 to 7; the highest leaves first.
    pub priority: u8,
}

/// Delay of a segment in a host's TCP, driver and buses: the same for each segment, without a limit of segments per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct HostDelaySpec {
    /// From the connection to the NIC's queue. Default 0; not with a scheduler.
    pub tx_ps: u64,
    /// From the frame's arrival to the connection. Default 0.
    pub rx_ps: u64,
}

/// EEE and coalescing of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NicEeeSpec {
    /// Idle time before sleeping. Default 0.
    pub stall_ps: u64,
    /// Holding timer; 0, the default, is standard EEE.
    pub hold_ps: u64,
    /// Number of held frames that ends the hold. Default 0: no such trigger.
    pub trigger_packets: u32,
    /// Number of held bytes that ends the hold. Default 0: no such trigger.
    pub trigger_bytes: u32,
}

/// Which packets are never dropped early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "snake_case", deny_unknown_fields)]
pub enum NicAqm {
    /// Marks ECT packets that find more bytes than a threshold; drops nothing early.
    MarkThreshold {
        /// Threshold for ECT(0), in queued bytes.
        threshold_bytes: u32,
        /// Threshold for ECT(1), in queued bytes.
        l4s_threshold_bytes: u32,
        /// Whether the bytes left behind count, not the bytes found.
        at_dequeue: bool,
    },
    /// Random Early Detection.
    Red {
        /// Queue depth from which a packet gets a signal with a probability.
        min_threshold: u32,
        /// Queue depth from which every packet gets a signal.
        max_threshold: u32,
        /// max_probability * 2^48 / (max - min); with `by_size` this times 2^8 / mean packet size in bytes, which is at least 2^8.
        probability_slope: u64,
        /// Whether thresholds are in packets, not bytes.
        in_packets: bool,
        /// The newest depth has weight 2^-n in the average.
        average_shift: u8,
        /// Whether ECT packets are marked, not dropped.
        ecn: bool,
        /// Which packets are protected.
        protect: Protect,
        /// Time in which the average halves while the NIC is idle; null: it does not.
        half_life_ps: Option<NonZeroU64>,
        /// Whether a packet's probability is proportional to its size.
        by_size: bool,
    },
    /// CoDel (RFC 8289).
    Codel {
        /// Target delay.
        target_ps: u64,
        /// Interval: how long the sojourn time must stay above the target delay.
        interval_ps: u64,
        /// A queue with no more bytes left behind than this is never too long.
        mtu_bytes: u32,
        /// Whether ECT packets are marked, not dropped.
        ecn: bool,
        /// Which packets are protected.
        protect: Protect,
    },
}

/// How queue depth over time is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct QueueSamplesSpec {
    /// Length of the first periods; it doubles as often as needed. Default 10 us.
    pub period_ps: u64,
    /// Maximum number of finished samples per queue: even, at most 65536. Default 512.
    pub max: usize,
}

impl Default for QueueSamplesSpec {
    fn default() -> Self {
        Self { period_ps: 10_000_000, max: 512 }
    }
}

/// Returns a number, for the fields that have it as their default.
fn default<const NUMBER: u32, T: TryFrom<u32>>() -> T {
    T::try_from(NUMBER).unwrap_or_else(|_| unreachable!("{NUMBER} is a value of its field's type"))
}

const fn default_true() -> bool {
    true
}

const fn default_lpi_fraction() -> f64 {
    0.1
}

impl FabricSpec {
    /// Parses a spec. Consistency among its parts is checked when a fabric is built from it.
    pub fn from_json(json: &[u8]) -> Result<Self, SpecError> {
        serde_json::from_slice(json).map_err(|error| SpecError(error.to_string()))
    }
}

/// An error in a spec: its place, the value, why it is not permitted, and what would be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fabric spec: {0}")]
pub struct SpecError(pub(crate) String);
