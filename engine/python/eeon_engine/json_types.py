"""What crosses between Rust and Python as JSON or as dictionaries.

Made by `make reference` of the Rust types: do not edit. ARCHITECTURE.md says how a type is changed.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict, final


@final
class PoissonReport(TypedDict):
    """`poisson`."""

    name: str
    """Name."""

    kind: Literal["poisson"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    frames: int
    """Number of frames sent."""


@final
class ClassCounts(TypedDict):
    """Marks and drops of a NIC's queue for the packets of one class."""

    marked: int
    """Marked with CE."""

    early_dropped: int
    """Dropped by the AQM."""

    tail_dropped: int
    """Dropped because they did not fit."""


@final
class CoflowReport(TypedDict):
    """One coflow."""

    name: str
    """Name."""

    at_ps: int
    """Start time of its transfers."""

    completion_ps: int | None
    """Time from the start to the arrival of the last byte of the last transfer."""

    bytes: int
    """Bytes of all its transfers."""

    failed: int
    """Number of failed transfers, which are not repeated."""


ConnectionKind: TypeAlias = Literal["persistent", "new"]
"""The use of connections in a description."""


@final
class Conservation(TypedDict):
    """Packet counts of the whole fabric. Packets that entered have left, were lost, or are still inside."""

    sent: int
    """Offered to NICs by hosts."""

    packet_outs: int
    """Given to switches by the controller."""

    copies: int
    """Made inside switches: clones, and replicas beyond the first."""

    delivered: int
    """Arrived at their destination host."""

    misdelivered: int
    """Arrived at another host."""

    packet_ins: int
    """Sent to the controller."""

    nic_drops: int
    """Did not fit a NIC's queue, or were dropped by its AQM."""

    switch_drops: int
    """Dropped by switches."""

    link_drops: int
    """Lost on links that were down."""

    queued: int
    """Waiting in NICs, on links, or inside switches."""


@final
class CostSpec(TypedDict):
    """Costs of a job's tasks, in cycles of a worker's clock."""

    map_cycles_per_byte: NotRequired[float]
    """Map, per byte of its input."""

    merge_cycles: NotRequired[float]
    """Last merge of a reducer."""

    reduce_cycles_per_byte: NotRequired[float]
    """Reducer, per byte of its input."""

    reduce_start_cycles: NotRequired[float]
    """Final sort of a reducer."""

    sort_cycles_per_byte: NotRequired[float]
    """Map, per byte of its output."""

    startup_cycles: NotRequired[float]
    """Start of a task's JVM."""

    wrapup_cycles: NotRequired[float]
    """End of a map."""


@final
class Count(TypedDict):
    """Packets and bytes."""

    packets: int
    """Packets."""

    bytes: int
    """Their bytes, without FCS."""


@final
class DcqcnReport(TypedDict):
    """DCQCN at a host, as receiver and as sender."""

    marked: int
    """Packets that arrived with CE."""

    cnps_sent: int
    """Notifications sent for them."""

    cnps: int
    """Notifications that arrived."""

    malformed: int
    """Of these, ones that were malformed, or about a flow that another host sends."""

    without_limiter: int
    """Of these, ones for a flow without a limiter, when the NIC had the maximum number of limiters."""

    max_limiters: int
    """Maximum number of flows limited at a time."""


@final
class DcqcnSettings(TypedDict):
    """Settings of DCQCN at a sender, with the values that Zhu et al. (SIGCOMM 2015) deployed, as far as published."""

    active_bps: NotRequired[int]
    """Increase of the target per cycle of additive increase. Default 40 Mb/s."""

    alpha_timer_ps: NotRequired[int]
    """K: time without a notification after which the estimate of congestion decays. Default 55 us."""

    cycle_bytes: NotRequired[int]
    """B: bytes of a cycle. Default 10 MB."""

    fast_cycles: NotRequired[int]
    """F: cycles until the target rises. Default 5."""

    gain_shift: NotRequired[int]
    """g is 2^-n. Default 8."""

    hyper_bps: NotRequired[int]
    """
    Increase per cycle of hyper increase, times the number of these cycles so far. Not published; default 400 Mb/s,
    ten times `active_bps` as in QCN.
    """

    min_bps: NotRequired[int]
    """The minimum rate. Default 5 Mb/s."""

    timer_ps: NotRequired[int]
    """T: time of a cycle. Default 55 us."""


@final
class DelayedAckSpec(TypedDict):
    """When in-order data is acknowledged (RFC 9293, 3.8.6.3; RFC 5681, 4.2)."""

    segments: int
    """The number of segments that makes an ACK due at once; at least 1. The RFCs specify 2."""

    timer_ps: int
    """The maximum delay of an ACK; at most 500 ms in the RFCs."""


@final
class Distribution(TypedDict):
    """Distribution of durations. The quantiles are accurate to 0.2 %, the other values are exact."""

    count: int
    """Number of durations."""

    mean_ps: int
    """Mean, rounded down."""

    min_ps: int
    """Minimum."""

    p50_ps: int
    """Median."""

    p99_ps: int
    """99th percentile."""

    p999_ps: int
    """99.9th percentile."""

    max_ps: int
    """Maximum."""


@final
class DscpPriority(TypedDict):
    """The priority of a DSCP."""

    dscp: int
    """0 to 63."""

    priority: int
    """0 to 7; the highest leaves first."""


Ect: TypeAlias = Literal["data_only", "ns2", "linux"]
"""Which packets of a DCTCP endpoint are ECN-capable, once ECN has been negotiated. RFC 8257, 3.6 leaves the choice open; stacks differ."""


@final
class EeeAccount(TypedDict):
    """Counts of an EEE state machine."""

    wakes: int
    """Wakes."""

    lpi_ps: int
    """Time in low-power idle, over finished sleeps."""


@final
class FaultSpec(TypedDict):
    """A link that fails, or a node that fails with all its links."""

    node: str
    """A switch or a host."""

    at_ps: int
    """When the link goes down."""

    port: NotRequired[int | None]
    """The port whose link fails; every link of the node when absent."""

    until_ps: NotRequired[int | None]
    """When it comes back up; never when absent."""


@final
class FaultyLinkReport(TypedDict):
    """One direction of a link with a fault in the spec."""

    node: str
    """The node that sends."""

    port: int
    """The port by which it sends."""

    peer: str
    """The node at the other end."""

    down_ps: int
    """Time for which the link was down."""

    lost: dict[str, int]
    """Packets lost on it, by class as sent; packets that switches generated are `control`. Classes without losses are left out."""


@final
class FlowReport(TypedDict):
    """One TCP flow."""

    source: str
    """The sending host."""

    destination: str
    """The receiving host."""

    bytes: int
    """Bytes to be sent."""

    start_ps: int
    """When the connection is opened."""

    received_bytes: int
    """Bytes that arrived in order."""

    completion_ps: int | None
    """Time from the start until the last byte and the FIN had arrived; absent when they have not."""

    goodput_bps: int | None
    """Bytes over completion time."""

    data_segments: int
    """Segments with payload sent, including retransmissions."""

    retransmitted_segments: int
    """Segments retransmitted, without SYNs."""

    fast_recoveries: int
    """Losses detected by duplicate ACKs."""

    timeouts: int
    """Expirations of the sender's retransmission timer, including those of SYNs."""

    mark_reductions: int
    """Window reductions for ECN marks."""

    given_up: bool
    """Whether an end has given up, because the other did not respond."""


@final
class FlowRow(TypedDict):
    """One flow of `flows`."""

    source: str
    """The sending host."""

    destination: str
    """The receiving host."""

    bytes: int
    """Payload bytes."""

    at_ps: int
    """Start time."""

    measured: bool
    """Whether it begins between warm-up and cool-down."""

    completion_ps: int | None
    """Time from the start to the arrival of the last byte; absent before it, and for a failed flow."""

    ideal_ps: int | None
    """Minimum time on its path; absent before it begins."""


@final
class FrameFlowSpec(TypedDict):
    """Frames from one host to another."""

    source: str
    """The sending host."""

    destination: str
    """The receiving host."""

    load: float
    """Mean load as a fraction of the source's link rate, above 0 and at most 1."""

    frame_bytes: int
    """Frame size in bytes without FCS, 62 to 9014."""


@final
class Lognormal(TypedDict):
    sigma: float
    """Standard deviation of the logarithm."""


@final
class LognormalGaps(TypedDict):
    """Lognormal gaps: flows arrive in bursts."""

    lognormal: Lognormal


Gaps: TypeAlias = Literal["poisson"] | Literal["fixed"] | LognormalGaps
"""Distribution of the gaps between the flows of a host."""


@final
class HostDelaySpec(TypedDict):
    """Delay of a segment in a host's TCP, driver and buses: the same for each segment, without a limit of segments per second."""

    rx_ps: NotRequired[int]
    """From the frame's arrival to the connection. Default 0."""

    tx_ps: NotRequired[int]
    """From the connection to the NIC's queue. Default 0; not with a scheduler."""


@final
class HyStartSpec(TypedDict):
    """The rise of the round-trip time between two rounds that HyStart++ takes for a queue: an eighth, within these bounds."""

    min_rtt_thresh_ps: int
    """MIN_RTT_THRESH; 4 ms in RFC 9406, 4.3, for Internet paths: where a round trip takes 100 us, no queue is so long."""

    max_rtt_thresh_ps: int
    """MAX_RTT_THRESH; 16 ms in RFC 9406, 4.3."""


@final
class JobReport(TypedDict):
    """One MapReduce job."""

    name: str
    """Name."""

    arrival_ps: int
    """Time of submission."""

    runtime_ps: int | None
    """Time from submission to the end of its last task."""

    maps: int
    """Number of map tasks."""

    reducers: int
    """Number of reduce tasks."""

    local_maps: int
    """Number of map tasks that ran on a worker with their split."""

    first_map_start_ps: int | None
    """Time at which its first map task was assigned to a worker."""

    last_map_end_ps: int | None
    """Time at which its last map task ended."""

    first_fetch_start_ps: int | None
    """Start of the first fetch over the network; absent if there was none."""

    last_fetch_end_ps: int | None
    """Time at which the last reducer had received everything."""

    map_share: float | None
    """Fraction of the runtime until the last map task ended. The three shares add up to 1."""

    shuffle_share: float | None
    """Fraction of the runtime from then until the last reducer had received everything."""

    reduce_share: float | None
    """The rest of the runtime."""

    map_task_ps: int
    """Sum of the durations of all map tasks."""

    fetch_task_ps: int
    """Sum over all reduce tasks of the time from their start until they had received everything."""

    reduce_task_ps: int
    """Sum over all reduce tasks of the time from then to their end."""

    reducer_shuffle_ps: Distribution | None
    """
    For the reducers that fetched over the network: time from a reducer's first fetch to the arrival of its last
    byte, the transfer completion time of Ren and Wang 2016.
    """

    shuffle_network_bytes: int
    """Bytes of map output that reducers fetched over the network."""

    refetches: int
    """Number of failed transfers that were repeated."""


@final
class JobSpec(TypedDict):
    """One job. Its bytes are divided equally among its tasks."""

    name: str
    """Name."""

    maps: int
    """Number of map tasks."""

    reducers: int
    """Number of reduce tasks."""

    input_bytes: int
    """Bytes that its maps read."""

    shuffle_bytes: int
    """Bytes that its maps write and its reducers fetch."""

    output_bytes: int
    """Bytes that its reducers write."""

    arrival_ps: NotRequired[int]
    """Time of submission. Default 0."""

    cost: NotRequired[CostSpec]
    """Costs of its tasks."""


@final
class ArrivedStep(TypedDict):
    """It arrived."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["arrived"]
    port: int
    """Port."""

    frame: str
    """The frame."""


@final
class CopiedStep(TypedDict):
    """A copy of it was made."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["copied"]
    to: int
    """The copy."""


@final
class NotCopiedStep(TypedDict):
    """No copy could be made."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["not_copied"]
    cause: str
    """Why."""


@final
class CloneStep(TypedDict):
    """It is a clone."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["clone"]
    session: int
    """Session."""

    egress: bool
    """Whether it was made after egress; otherwise after ingress."""


@final
class NoCloneSessionStep(TypedDict):
    """A clone was requested in a session that does not exist."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["no_clone_session"]
    session: int
    """Session."""


@final
class ReplicaStep(TypedDict):
    """It is a replica of a multicast group."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["replica"]
    group: int
    """Group."""

    rid: int
    """Replication id."""

    port: int
    """Port to which it goes."""


@final
class ResubmittedStep(TypedDict):
    """It runs through ingress again at the same instant."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["resubmitted"]


@final
class QueuedStep(TypedDict):
    """It entered a queue."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["queued"]
    port: int
    """Port."""

    priority: int
    """Priority of the queue."""

    packets_ahead: int
    """Packets ahead of it in that queue."""

    bytes_ahead: int
    """Bytes waiting in all queues of the port, this packet excluded."""

    gate_opens_ps: int | None
    """Time at which the port's gate opens: not after now if it is open, none if it never opens."""

    pause_ends_ps: int
    """Time at which the pause of the queue ends (priority flow control): not after now if there is none."""

    wire_free_ps: int
    """Time at which the wire becomes free."""


@final
class DequeuedStep(TypedDict):
    """It left the queue."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["dequeued"]
    port: int
    """Port."""


@final
class RecirculatedStep(TypedDict):
    """It was recirculated."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["recirculated"]
    back_at_ps: int
    """Time at which it reaches ingress."""


@final
class DroppedStep(TypedDict):
    """It was lost."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["dropped"]
    port: int
    """Port at which the drop is counted."""

    cause: str
    """Why."""


@final
class SentStep(TypedDict):
    """It left."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["sent"]
    port: int
    """Port."""

    wire_time_ps: int
    """Time for which the wire is busy with it."""

    frame: str
    """The frame."""


@final
class Lateness(TypedDict):
    """Delay of frames after their times, in nanoseconds."""

    p50_ns: int
    """Median."""

    p99_ns: int
    """99th percentile."""

    max_ns: int
    """Maximum."""

    late: int
    """Number of frames sent later than the given limit."""


@final
class LayerEnergy(TypedDict):
    """Energy and time of several transmitters."""

    transmitters: int
    """Number of transmitters."""

    used_joules: float
    """Energy used."""

    legacy_joules: float
    """Energy without EEE."""

    ideal_joules: float
    """Energy if they slept and woke in no time."""

    transmitting_share: float
    """Share of their time with something on the wire."""

    active_share: float
    """Share of their time awake, including transmission."""

    sleep_share: float
    """Share of their time in transition to sleep."""

    lpi_share: float
    """Share of their time in low-power idle."""

    wake_share: float
    """Share of their time waking up."""

    wakes: int
    """Number of wakes."""

    violations: int
    """Transmissions that started before the PHY could be awake. If it is not 0, the sender is wrong."""


@final
class ListedFlow(TypedDict):
    """One listed flow."""

    source: str
    """The sending host."""

    destination: str
    """The receiving host."""

    bytes: int
    """Payload bytes."""

    at_ps: int
    """Start time."""


@final
class LiveCounts(TypedDict):
    """Frames lost or repaired outside the switch, by cause, and other counts of its loop."""

    rx_overruns: int
    """Frames that the kernel dropped because the switch did not fetch them in time."""

    rx_truncated: int
    """Frames longer than the receive buffer, or captured incompletely."""

    rx_malformed: int
    """Frames or messages that are not Ethernet frames of a known port; files of frames that end in damage."""

    rx_gso_refused: int
    """GSO super-frames that could not be segmented."""

    rx_gso_segmented: int
    """GSO super-frames that were segmented (not lost)."""

    rx_checksums_completed: int
    """Frames whose checksum was left to a NIC and has been completed (not lost)."""

    tx_full: int
    """Frames refused by the kernel, the peer or the file because their buffer was full."""

    tx_down: int
    """Frames for an interface that was down or gone, or for a socket without a peer."""

    tx_refused: int
    """Frames that the kernel refused for another reason, such as the interface's MTU."""

    tx_no_port: int
    """Frames for a port without an interface or file."""

    rx_no_program: int
    """Frames that arrived while no program was loaded."""

    packets_in_lost: int
    """Packets for the controller that were dropped because they were not fetched in time."""

    clock_held_back_us: int
    """
    Microseconds by which the switch's clock was held back, because its own work exceeded the computer's capacity: a
    program that recirculates packets without end.
    """

    events_lost: int
    """Messages that were dropped because they were not read in time."""


@final
class LocalitySpec(TypedDict):
    """Placement of splits."""

    replicas: int
    """Number of workers that hold each split."""

    racks: NotRequired[list[list[str]]]
    """
    Hosts by rack, at least one in each. A map with a remote split then prefers a worker of its own rack that holds
    the split. Default none: it reads from the first worker that holds it.
    """


@final
class MaskedMatch(TypedDict):
    """The value under the mask."""

    value: int
    """Value."""

    mask: int
    """Mask."""


@final
class RangeMatch(TypedDict):
    """A range."""

    first: int
    """First value."""

    last: int
    """Last value."""


NamedMatch: TypeAlias = MaskedMatch | RangeMatch
"""The match of an entry on one key field."""


@final
class NamedValue(TypedDict):
    """A value of the packet, with its name in the JSON."""

    name: str
    """Name within its header, action or key."""

    width: int
    """Width in bits."""

    value: int
    """Value."""


@final
class MarkThresholdAqm(TypedDict):
    """Marks ECT packets that find more bytes than a threshold; drops nothing early."""

    mode: Literal["mark_threshold"]
    threshold_bytes: int
    """Threshold for ECT(0), in queued bytes."""

    l4s_threshold_bytes: int
    """Threshold for ECT(1), in queued bytes."""

    at_dequeue: bool
    """Whether the bytes left behind count, not the bytes found."""


@final
class NicClassesSpec(TypedDict):
    """Queues of NICs: the queue of each frame, and the queues that a pause frame stops."""

    default_priority: NotRequired[int]
    """The priority of all other frames, 0 to 7. Default 0."""

    dscp: NotRequired[list[DscpPriority]]
    """The priority of each listed DSCP."""

    pausable: NotRequired[list[int]]
    """Priorities that pause frames from the switch stop."""


@final
class NicDcqcnSpec(TypedDict):
    """DCQCN at a NIC, as receiver and sender. Data without an ECN codepoint leaves as ECT(0)."""

    cnp_dscp: NotRequired[int]
    """DSCP of the notifications, so that switches can serve them first. Default 48 (CS6)."""

    cnp_interval_ps: NotRequired[int]
    """Minimum time between two notifications about a flow that this NIC receives. Default 50 us."""

    reaction: NotRequired[DcqcnSettings]
    """The reaction point of each flow that this NIC sends."""


@final
class NicEeeSpec(TypedDict):
    """EEE and coalescing of a NIC."""

    hold_ps: NotRequired[int]
    """Holding timer; 0, the default, is standard EEE."""

    stall_ps: NotRequired[int]
    """Idle time before sleeping. Default 0."""

    trigger_bytes: NotRequired[int]
    """Number of held bytes that ends the hold. Default 0: no such trigger."""

    trigger_packets: NotRequired[int]
    """Number of held frames that ends the hold. Default 0: no such trigger."""


Pattern: TypeAlias = Literal["all_to_all", "permutation", "between_racks", "to_one_rack"]
"""The choice of receivers."""


@final
class PauseAccount(TypedDict):
    """What happened to the MAC control frames that arrived at a NIC."""

    obeyed: int
    """Pauses that were obeyed, including ends of pauses."""

    ignored: int
    """Frames without effect: malformed, with another opcode, or for queues that may not be paused here."""


@final
class PausedQueueReport(TypedDict):
    """A queue that has received pauses, at the sending end of a link."""

    node: str
    """The node that received the pauses."""

    port: int
    """The port by which it sends."""

    peer: str
    """The node that sent the pauses."""

    peer_port: int
    """The port by which the peer sent them."""

    priority: int
    """The paused priority."""

    pauses: int
    """Pauses with a time above 0, obeyed or not, including those that extended another."""

    paused_ps: int
    """Time for which the queue was paused."""

    longest_ps: int
    """Maximum time for which it was paused without a gap."""


@final
class PhyEeeSpec(TypedDict):
    """A PHY that sleeps."""

    stall_ps: NotRequired[int]
    """Idle time before it sleeps. Default 0."""


@final
class PhySpec(TypedDict):
    """Power and timings of the PHYs of one rate."""

    rate_bps: int
    """The link rate."""

    watts: float
    """Power of one port when it is not in low-power idle."""

    sleep_ps: int
    """Ts, the time to go to sleep."""

    wake_ps: int
    """Tw, the time to wake."""

    lpi_fraction: NotRequired[float]
    """Power in low-power idle as a fraction of `watts`. Default 0.1."""


@final
class PortReport(TypedDict):
    """One port of a switch."""

    port: int
    """Number."""

    peer: str
    """The node at the other end."""

    received: Count
    """Frames and bytes received."""

    sent: Count
    """Frames and bytes sent."""

    drops: dict[str, int]
    """Drops counted at this port, by cause."""

    reordered: int
    """Frames sent after one that was queued later."""

    max_queue_packets: int
    """Maximum number of packets in the port's queues, including one that leaves at the same instant."""

    max_queue_bytes: int
    """Maximum number of bytes in the port's queues, likewise."""


@final
class PortStats(TypedDict):
    """Counts of one port since the switch was made."""

    rx_packets: int
    """Frames that came in on this port."""

    rx_bytes: int
    """Their bytes, without FCS."""

    tx_packets: int
    """Frames sent."""

    tx_bytes: int
    """Their bytes, without FCS."""

    reordered: int
    """Frames sent after one that was first queued later, at the same priority."""

    max_queue_packets: int
    """Maximum number of packets that waited at a time, over all priorities."""

    max_queue_bytes: int
    """Maximum number of bytes that waited at a time, over all priorities."""

    drops: dict[str, int]
    """
    Drops by cause. Drops in ingress and of copies are counted at the port of arrival, drops at a queue or in egress
    at the port of departure.
    """


Protect: TypeAlias = Literal["ect", "ece", "ack_syn"]
"""Which packets are never dropped early."""


@final
class QcnReport(TypedDict):
    """Congestion notification messages at a NIC."""

    messages: int
    """Messages that arrived."""

    malformed: int
    """Of these, malformed ones."""

    unknown_flow: int
    """Of these, ones for a flow that another host sends."""

    without_effect: int
    """Of these, ones with feedback 0."""

    without_limiter: int
    """Of these, ones for a flow without a limiter, when the NIC had the maximum number of limiters."""

    max_limiters: int
    """Maximum number of flows limited at a time."""


QcnScope: TypeAlias = Literal["flow", "pair", "host"]
"""The flows of a host that share a reaction point, and are slowed down together."""


@final
class QcnSettings(TypedDict):
    """Settings of QCN at a sender, with the defaults of IEEE8021-CN-MIB."""

    active_bps: NotRequired[int]
    """`rpgAiRate`: increase of the target per cycle of active increase. Default 5 Mb/s."""

    cycle_bytes: NotRequired[int]
    """`rpgByteReset`: bytes of a cycle. Default 150000."""

    extra_fast_recovery: NotRequired[bool]
    """Whether further cuts within the first cycle of bytes keep the target of the first cut. Default true."""

    fast_cycles: NotRequired[int]
    """`rpgThreshold`: cycles until the target rises. Default 5."""

    gain_shift: NotRequired[int]
    """`rpgGd`: feedback f cuts the rate by f / 2^n of it. Default 7."""

    halved_cycles: NotRequired[bool]
    """Whether cycles after fast recovery are half as long (Alizadeh et al., Allerton 2008). Default true."""

    hyper_bps: NotRequired[int]
    """`rpgHaiRate`: increase per cycle of hyper-active increase, times the number of these cycles so far. Default 50 Mb/s."""

    min_bps: NotRequired[int]
    """`rpgMinRate`: the minimum rate. Default 5 Mb/s."""

    min_decrease_percent: NotRequired[int]
    """`rpgMinDecFac`: minimum that one cut leaves of the rate, in percent. Default 50."""

    scope: NotRequired[QcnScope]
    """The flows of a host that share a reaction point. Default flow."""

    timer_ps: NotRequired[int]
    """`rpgTimeReset`: time of a cycle. Default 15 ms."""


@final
class QueueQuantum(TypedDict):
    """The quantum of a queue."""

    priority: int
    """Its priority."""

    bytes: int
    """Bytes of frames that it may send at each of its turns."""


@final
class QueueSamples(TypedDict):
    """Depth of one queue over time."""

    switch: str
    """The switch."""

    port: int
    """The port."""

    max_bytes: list[int]
    """Maximum number of bytes waiting in each period; zeros at the end are left out."""


@final
class QueueSamplesSpec(TypedDict):
    """How queue depth over time is sampled."""

    period_ps: int
    """Length of the first periods; it doubles as often as needed. Default 10 us."""

    max: int
    """Maximum number of finished samples per queue: even, at most 65536. Default 512."""


SchedulerKind: TypeAlias = Literal["fair", "fca", "sebf", "scf", "dclas"]
"""The kind of scheduler."""


SchedulerOrder: TypeAlias = Literal["total", "remaining"]
"""The volume that orders transfers in flow chasing."""


@final
class SchedulerReport(TypedDict):
    """Counts of a scheduler of flows."""

    flows: int
    """Flows reported to it."""

    mice: int
    """Transfers too small to be announced."""

    left_out: int
    """Transfers over connections that others also use, which are not reported to it."""

    without_path: int
    """Transfers for whose data the switches have no path."""

    refused: int
    """Reports that it refused."""

    decisions: int
    """Number of decisions."""

    rates: int
    """Rates sent to hosts."""

    late: int
    """Rates that arrived after their flow's end."""

    without_limiter: int
    """Rates for flows whose NIC had no limiter left."""


@final
class SchedulerSpec(TypedDict):
    """
    A scheduler of applications' flows, with the delays of its reports and decisions. It knows the transfers that have
    their own connection; a flow is the larger direction of one, and is limited at its sender.
    """

    kind: SchedulerKind
    """The kind."""

    capacity_ppm: NotRequired[int]
    """Part of each link that the scheduler assigns, in millionths; the rest is for ACKs and other traffic. Default 950000."""

    decide_delay_ps: NotRequired[int]
    """Delay from then until the decision. Default 0."""

    enforce_delay_ps: NotRequired[int]
    """Delay from the decision until the senders' limiters have the rates. Default 0."""

    floor_bps: NotRequired[int]
    """Minimum rate of each flow in bits per second, as far as the reserve suffices. Default 100000."""

    floor_reserve_ppm: NotRequired[int]
    """Part of each link that is reserved for this minimum, in millionths. Default 10000."""

    mice_bytes: NotRequired[int]
    """A flow with fewer bytes is not announced and has no limiter. Default 0."""

    order: NotRequired[SchedulerOrder]
    """The order of transfers. Flow chasing only."""

    preempt: NotRequired[bool]
    """Whether smaller transfers take rate from larger ones. Flow chasing only. Default false."""

    report_delay_ps: NotRequired[int]
    """Delay from a flow's beginning or end until the scheduler knows of it. Default 0."""

    work_conserving: NotRequired[bool]
    """Whether flows take the rate that no transfer needs. Flow chasing only. Default true."""


@final
class SelectKey(TypedDict):
    """A part of the key of a branch."""

    name: str | None
    """The field; `None` for a lookahead or the field of a stack."""

    width: int | None
    """Its width in bits."""

    value: int
    """Value."""


@final
class SizeReport(TypedDict):
    """Transfers of one size class."""

    up_to_bytes: int | None
    """Maximum size of the class; the last has none."""

    count: int
    """Number of finished transfers."""

    completion_ps: Distribution | None
    """Their completion times."""

    goodput_bps_mean: int | None
    """Mean of bytes over completion time."""


@final
class SizesByPoints(TypedDict):
    """
    A cumulative distribution: sizes in bytes, and the fraction of flows with at most that size. Both are
    non-decreasing, and the last fraction is 1. Between two points the size is linear in the fraction.
    """

    points: list[list[float]]


@final
class Exponential(TypedDict):
    mean_bytes: float
    """Mean."""


@final
class ExponentialSizes(TypedDict):
    """Exponential sizes."""

    exponential: Exponential


@final
class Lognormal1(TypedDict):
    mean_bytes: float
    """Mean."""

    sigma: float
    """Standard deviation of the logarithm."""


@final
class LognormalSizes(TypedDict):
    """Lognormal sizes."""

    lognormal: Lognormal1


@final
class Pareto(TypedDict):
    mean_bytes: float
    """Mean."""

    shape: float
    """Exponent of the tail, above 1."""


@final
class ParetoSizes(TypedDict):
    """Pareto sizes."""

    pareto: Pareto


SizesSpec: TypeAlias = SizesByPoints | ExponentialSizes | LognormalSizes | ParetoSizes
"""Distribution of flow sizes."""


@final
class SlowdownReport(TypedDict):
    """Slowdowns of one size class, or of all. The quantiles are accurate to 0.2 %."""

    up_to_bytes: int | None
    """Upper bound of the class; absent for the last class and for all classes together."""

    count: int
    """Number of transfers."""

    mean: float | None
    """Mean."""

    min: float | None
    """Minimum."""

    p50: float | None
    """Median."""

    p95: float | None
    """95th percentile."""

    p99: float | None
    """99th percentile."""

    p999: float | None
    """99.9th percentile."""


Message: TypeAlias = int


@final
class StepSpec(TypedDict):
    """One step: every rank computes, then sends its messages; the step ends when all have arrived."""

    messages: list[list[Message]]
    """Messages as sending rank, receiving rank, bytes."""

    compute_ps: NotRequired[int]
    """Computing time of each rank. Default 0."""


@final
class SwitchReport(TypedDict):
    """One switch."""

    name: str
    """Name."""

    received: int
    """Frames received on all ports."""

    copies: int
    """Packets made inside."""

    sent: int
    """Frames sent on all ports."""

    in_flight: int
    """Packets inside now."""

    drops: dict[str, int]
    """Packets dropped, by cause; causes that did not occur are left out."""

    p4_passes: int
    """Runs of parser and ingress."""

    recirculated: int
    """Packets recirculated."""

    packet_outs: int
    """Packets from the controller."""

    packet_ins: int
    """Packets to the controller."""

    packet_ins_lost: int
    """Of these, ones lost because too many waited to be taken."""

    ports: list[PortReport]
    """Ports with links."""


@final
class SwitchSpec(TypedDict):
    """A switch."""

    name: str
    """Name, unique among all nodes."""

    device_id: int
    """P4Runtime's device id."""

    clock_start: NotRequired[int]
    """The clock's value at the start, in ticks. Default 0."""


@final
class SwitchStats(TypedDict):
    """Counts of the whole switch since it was made."""

    received: int
    """Frames received on all ports."""

    copies: int
    """Packets made inside: clones, and replicas beyond the first."""

    sent: int
    """Frames returned by `poll_transmit`, or waiting for it."""

    in_flight: int
    """Packets inside the switch: queued, or in the recirculation loop."""

    recirculated: int
    """Packets recirculated."""

    resubmitted: int
    """Packets resubmitted."""

    clone_sessions_missing: int
    """Clones requested in a session that does not exist. Nothing was made or lost; BMv2 reports nothing."""

    digests_lost: int
    """Unread digests that were displaced by later ones."""

    log_messages_lost: int
    """Unread log messages that were displaced by later ones."""

    parser_errors: int
    """Parser errors. The packet continues with `parser_error` set, as in BMv2."""

    p4_passes: int
    """Runs of parser and ingress: one per received, resubmitted or recirculated packet, and one per timer that expired."""

    drops: dict[str, int]
    """Drops on all ports by cause."""


@final
class TableHit(TypedDict):
    """The entry that a packet hit."""

    handle: int
    """Its handle."""

    key: list[NamedMatch]
    """Its match on each key field."""

    prefix_length: int | None
    """Prefix length, in an lpm table."""

    priority: int | None
    """Priority (the lowest number wins), in a ternary or range table."""


@final
class TcpSpec(TypedDict):
    """Settings of TCP. Every one has a default; in JSON, `algorithm` determines that of `ecn`."""

    accecn: NotRequired[bool]
    """
    Offer and accept AccECN (RFC 9768), which counts marked packets in every ACK. Needs `ecn`; with a peer that
    lacks AccECN, classic ECN is used. Default off.
    """

    algorithm: NotRequired[str | None]
    """Congestion control algorithm: `newreno` (the default), `ecn` (NewReno that reacts to marks), `dctcp`, `cubic` or `vegas`."""

    clock_granularity_ps: NotRequired[int]
    """Granularity G of the clock in RFC 6298, 2.2. Default 1 us."""

    cwr_growth: NotRequired[bool]
    """
    After a reduction for a mark, the window may grow with the next ACK without ECE, as in ns-2. If false, it grows
    only after all data in flight at the reduction is acknowledged, as in Linux (its CWR state). Default true.
    """

    dctcp_ect: NotRequired[Ect]
    """Which packets of a DCTCP endpoint are ECN-capable. Default: as in ns-2. Other algorithms follow RFC 3168."""

    dctcp_gain: NotRequired[float]
    """DCTCP's estimation gain g, in (0, 1]. Default 1/16 (RFC 8257, 4.2)."""

    dctcp_initial_alpha: NotRequired[float]
    """DCTCP's initial alpha, in [0, 1]. Default 1 (RFC 8257, 4.2)."""

    delayed_ack: NotRequired[DelayedAckSpec | None]
    """Delay ACKs. Default every second segment or 40 ms, Linux's minimum; `None` acknowledges each segment at once."""

    dsack: NotRequired[bool]
    """
    With SACK, report duplicate data (D-SACK, RFC 2883), and undo a reduction if duplicates are reported for all its
    retransmissions (RFC 3708, RFC 4015); with `rack`, such reports widen the reordering window (RFC 8985, 6.2). Default off.
    """

    ecn: NotRequired[bool | None]
    """Offer and accept ECN (RFC 3168). Default off, except with `ecn` and `dctcp`. DCTCP requires it."""

    ect_retransmissions: NotRequired[bool]
    """With ECN, retransmitted data is also ECN-capable, as in ns-2's FullTcp and contrary to RFC 3168, 6.1.5. Default off."""

    fin: NotRequired[bool]
    """
    Closing sends a FIN. Default true. If false, a closed connection ends without notice to its peer once all
    written data is acknowledged, like connections in simulations that are never closed.
    """

    frto: NotRequired[bool]
    """
    Detect spurious timeouts from the next ACKs. After one, sending continues with new data and the window is
    restored (F-RTO, RFC 5682, with RFC 4015). Default off.
    """

    hystart: NotRequired[HyStartSpec | None]
    """
    End the first slow start when round-trip times rise (HyStart++, RFC 9406). Not allowed with Vegas, whose slow
    start does that itself. Default off (`None`). RFC 9406, 4.2 uses it with a `slow_start_limit` of 8 segments.
    """

    initial_rto_ps: NotRequired[int]
    """RTO before the first measurement. Default 1 s (RFC 6298, 2.1)."""

    initial_window_segments: NotRequired[int]
    """Initial window in segments. Default 10 (RFC 6928); ns-2 starts with 2."""

    l4s: NotRequired[bool]
    """A DCTCP endpoint sends ECT(1), the identifier of L4S (RFC 9331, 2), so that switches apply their L4S threshold. Default off: ECT(0)."""

    limited_transmit: NotRequired[bool]
    """Send new data on the first two duplicate ACKs (RFC 3042). Default on."""

    max_ack_delay_ps: NotRequired[int | None]
    """
    The peer's maximum delay for the ACK of a single segment, which a tail loss probe allows for (RFC 8985, 7.2).
    Default `min_rto`, as in Linux.
    """

    max_rto_ps: NotRequired[int]
    """Maximum RTO. Default 60 s (RFC 6298, 2.5)."""

    min_rto_ps: NotRequired[int]
    """Minimum RTO. Default 200 ms, as in ns-2 and Linux; RFC 6298, 2.4 specifies 1 s."""

    min_window_segments: NotRequired[int]
    """
    An ECN mark never reduces the congestion window below this number of segments. Default 2, as for ssthresh (RFC 5681, equation 4)
    and in Linux; with 1, classic ECN can reach the case of RFC 3168, 6.1.2 in which only a timer sends, as in ns-2.
    """

    mss: NotRequired[int]
    """Maximum number of payload bytes in a segment without options, 88 to 65 435. Default 1460: Ethernet and IPv4."""

    prr: NotRequired[bool]
    """In recovery with SACK, send in proportion to the data delivered (RFC 9937). Default off: RFC 6675 halves the window at once."""

    quick_acks: NotRequired[int]
    """
    Number of segments acknowledged at once, regardless of `delayed_ack`, at the start and after lost or duplicate
    data: at these times the sender waits for ACKs to open its window. Default 0; Linux 16.
    """

    rack: NotRequired[bool]
    """With SACK, detect losses by time and probe for a lost tail (RACK-TLP, RFC 8985). Default off: detection by counting (RFC 6675)."""

    receive_buffer_bytes: NotRequired[int | None]
    """
    Receive buffer: the maximum window announced. Default unlimited (`None`): 1 GiB less 16 KiB. Above 65 535 bytes the
    window is scaled.
    """

    restart_after_idle: NotRequired[bool]
    """Restart from the initial window after an idle time longer than the RTO (RFC 5681, 4.1). Default on."""

    rto_slop_ps: NotRequired[int]
    """Time added to every RTO after the back-off (FreeBSD's `rexmit_slop`, `TCPT_RANGESET` of its tcp_timer.h). Default 0."""

    sack: NotRequired[bool]
    """Offer and accept SACK (RFC 2018; recovery by RFC 6675). Default on; without it, recovery follows RFC 6582."""

    slow_start_limit: NotRequired[int | None]
    """
    Maximum number of segments by which slow start grows with one ACK. Default 2 (RFC 3465, 2.3); `None` means no
    limit (Linux; RFC 9438, 4.10). If there is a limit, it is 1 after a timeout.
    """

    syn_lost_rto_ps: NotRequired[int]
    """Minimum initial RTO for data after a lost SYN without a measurement. Default 3 s (RFC 6298, 5.7)."""

    syn_retries: NotRequired[int]
    """Maximum number of SYN or SYN-ACK retransmissions. Default 6, as in Linux."""

    time_wait_ps: NotRequired[int]
    """Duration of TIME-WAIT. Default 60 s, as in Linux; RFC 9293, 3.4.2 specifies 4 minutes."""

    timestamps_ps: NotRequired[int | None]
    """Offer and accept timestamps (RFC 7323), with this clock tick. Default off, which saves 12 bytes per header."""

    tsq_ps: NotRequired[int | None]
    """
    Limits a connection's data in its host's NIC to the bytes that leave within this time at its pacing rate, but at
    least two segments: the rule of Linux's TCP small queues (1 ms there). Default off (`None`). If set, the caller
    reports departures with `Connection::left_nic`.
    """


@final
class StateEvent(TypedDict):
    """A parse state begins."""

    event: Literal["state"]
    parser: str
    """Parser."""

    state: int
    """State of that parser, in the order of the JSON."""


@final
class ExtractEvent(TypedDict):
    """A header was extracted."""

    event: Literal["extract"]
    header: str
    """Header instance."""

    offset: int
    """Its position in the packet, in bytes."""

    bytes: int
    """Its length in bytes."""

    fields: list[NamedValue]
    """Its fields; for a variable-length field, its length in bytes."""


@final
class SelectEvent(TypedDict):
    """The parser branches on a key."""

    event: Literal["select"]
    key: list[SelectKey]
    """The key's parts."""


@final
class ConditionEvent(TypedDict):
    """A conditional was decided."""

    event: Literal["condition"]
    pipeline: str
    """Pipeline."""

    conditional: int
    """Conditional of that pipeline, in the order of the JSON."""

    holds: bool
    """Whether it holds."""


@final
class TableEvent(TypedDict):
    """A table was looked up."""

    event: Literal["table"]
    table: str
    """Table."""

    key: list[NamedValue]
    """The packet's values of the key fields."""

    hit: TableHit | None
    """The entry; `None` for a miss."""

    profile: str | None
    """Action profile, if the table has one."""

    group: int | None
    """Group of the action profile."""

    members: int | None
    """Number of members that the selector may choose."""

    hash: int | None
    """The hash that the selector computed for the packet."""

    member: int | None
    """Member of the action profile."""


@final
class ActionEvent(TypedDict):
    """An action begins."""

    event: Literal["action"]
    action: str
    """Action."""

    action_index: int
    """Its index in the JSON's list."""

    params: list[NamedValue]
    """Its parameters."""


@final
class StatementEvent(TypedDict):
    """A primitive of an action begins."""

    event: Literal["statement"]
    action_index: int
    """Action: its index in the JSON's list."""

    primitive: int
    """Primitive of that action, in the order of the JSON."""


@final
class BranchEvent(TypedDict):
    """The statement's condition was decided."""

    event: Literal["branch"]
    holds: bool
    """Whether it holds."""


@final
class SetEvent(TypedDict):
    """A value changed."""

    event: Literal["set"]
    field: str
    """The changed part, such as `ipv4.ttl` or `ipv4.$valid$`."""

    width: int
    """Width in bits; 0 for a field of variable length, whose value is its length in bytes."""

    old: int
    """The old value."""

    new: int
    """The new value."""


@final
class RegisterReadEvent(TypedDict):
    """A register cell was read."""

    event: Literal["register_read"]
    register: str
    """Array."""

    index: int
    """Cell."""

    value: int | None
    """The value; `None` if the index is beyond the array, where nothing is read."""


@final
class RegisterWriteEvent(TypedDict):
    """A register cell was written."""

    event: Literal["register_write"]
    register: str
    """Array."""

    index: int
    """Cell."""

    old: int | None
    """The old value; `None` if the index is beyond the array, where nothing is written."""

    new: int | None
    """The new value; `None` likewise."""


@final
class CountEvent(TypedDict):
    """A cell of an indirect counter counted the packet."""

    event: Literal["count"]
    counter: str
    """Array."""

    index: int
    """Cell."""

    packets: int | None
    """Its new number of packets; `None` if the index is beyond the array."""

    bytes: int | None
    """Its new number of bytes; `None` likewise."""


@final
class MeterEvent(TypedDict):
    """An indirect meter coloured the packet."""

    event: Literal["meter"]
    meter: str
    """Array."""

    index: int
    """Cell."""

    colour: int | None
    """The colour; `None` if the index is beyond the array."""


@final
class HashEvent(TypedDict):
    """A hash was computed: `base + hash % size`."""

    event: Literal["hash"]
    result: int
    """The result."""

    base: int
    """The value that is added."""

    size: int
    """Modulus."""


@final
class RandomEvent(TypedDict):
    """A random number was drawn."""

    event: Literal["random"]
    low: int
    """Minimum."""

    high: int
    """Maximum."""

    drawn: int
    """The number drawn."""


@final
class RequestEvent(TypedDict):
    """A primitive that requests an operation of the switch, with its arguments in order."""

    event: Literal["request"]
    primitive: str
    """Its name in the JSON: `mark_to_drop`, `clone_ingress_pkt_to_egress`, `recirculate`, ..."""

    arguments: list[int]
    """Arguments."""


@final
class ExitEvent(TypedDict):
    """The pipeline ends after this action."""

    event: Literal["exit"]


@final
class ChecksumEvent(TypedDict):
    """A checksum was verified or updated."""

    event: Literal["checksum"]
    checksum: int
    """Checksum, in the order of the JSON."""

    update: bool
    """Whether it was updated; otherwise it was verified."""

    computed: int | None
    """The computed value; `None` if the condition does not hold, or the header to be verified is not valid."""

    found: int
    """The value in its field."""


TraceEvent: TypeAlias = (
    StateEvent
    | ExtractEvent
    | SelectEvent
    | ConditionEvent
    | TableEvent
    | ActionEvent
    | StatementEvent
    | BranchEvent
    | SetEvent
    | RegisterReadEvent
    | RegisterWriteEvent
    | CountEvent
    | MeterEvent
    | HashEvent
    | RandomEvent
    | RequestEvent
    | ExitEvent
    | ChecksumEvent
)
"""
One event, with the program's names; `event` is its kind. Indices into the JSON's lists (`state`, `conditional`,
`action_index`, `primitive`) identify the place in the source.
"""


@final
class TrafficCount(TypedDict):
    """A number of packets."""

    packets: int
    """Number of packets."""


@final
class TrafficLatency(TypedDict):
    """Latencies in picoseconds, as in the twin's report; percentiles by nearest rank."""

    mean_ps: int
    """Arithmetic mean."""

    p50_ps: int
    """Median."""

    p99_ps: int
    """99th percentile."""


@final
class TransferSpec(TypedDict):
    """One transfer: a connection that its source opens."""

    source: str
    """The sending host."""

    destination: str
    """The receiving host."""

    bytes: int
    """Payload bytes."""


@final
class TransfersReport(TypedDict):
    """
    Transfers: requests with their responses. A completion time lasts from the beginning, including a handshake that is
    waited for, until the last byte has arrived.
    """

    started: int
    """Transfers begun."""

    finished: int
    """Transfers finished."""

    given_up: int
    """Transfers failed, because a connection was given up."""

    most_connections: int
    """Maximum number of connections open at a time, including those of the list of flows."""

    bytes_received: int
    """Payload that arrived in order, at both ends of all connections."""

    completion_ps: Distribution | None
    """Completion times of finished transfers."""

    completion_small_ps: Distribution | None
    """Completion times of finished transfers of at most 1 MB, which the papers call short."""

    by_size: list[SizeReport]
    """By bytes in the larger direction."""

    slowdown: SlowdownReport
    """Completion time over the minimum time that the path allows, for transfers with their own connection."""

    slowdown_by_size: list[SlowdownReport]
    """The same by size."""

    data_segments: int
    """Segments with payload sent by both ends, including retransmissions."""

    retransmitted_segments: int
    """Segments retransmitted, without SYNs."""

    fast_recoveries: int
    """Recoveries started by duplicate ACKs."""

    timeouts: int
    """Expirations of retransmission timers, including those of SYNs."""

    syn_timeouts: int
    """Of these, ones before the connection was established."""

    mark_reductions: int
    """Window reductions for ECN marks."""


@final
class TransmitterReport(TypedDict):
    """One transmitter. The four times add up to `elapsed_ps` exactly."""

    node: str
    """The node."""

    port: int
    """Its port."""

    peer: str
    """The node at the other end."""

    layer: str
    """Its layer."""

    eee: bool
    """Whether EEE is on."""

    transmitting_ps: int
    """Time with something on the wire."""

    active_ps: int
    """Time awake, including transmission."""

    sleep_ps: int
    """Time in transition to sleep."""

    lpi_ps: int
    """Time in low-power idle."""

    wake_ps: int
    """Time waking up."""

    wakes: int
    """Number of wakes."""

    violations: int
    """See [`LayerEnergy::violations`]."""

    used_joules: float
    """Energy used."""


@final
class MapReduceReport(TypedDict):
    """`mapreduce`."""

    name: str
    """Name."""

    kind: Literal["mapreduce"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    jobs: list[JobReport]
    """Its jobs, in the order of the description."""


@final
class CoflowsReport(TypedDict):
    """`coflows`."""

    name: str
    """Name."""

    kind: Literal["coflows"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    coflows: list[CoflowReport]
    """In the order of the description."""


@final
class FlowsReport(TypedDict):
    """`flows`. Flows that begin during warm-up or cool-down are not measured."""

    name: str
    """Name."""

    kind: Literal["flows"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    flows: int
    """Number of flows in the whole run."""

    load: float
    """Payload of all flows, as a fraction of the senders' link rates."""

    measured: int
    """Number of measured flows."""

    unfinished: int
    """Of the measured flows, those that have neither completed nor failed."""

    failed: int
    """Of the measured flows, those that failed."""

    completion_ps: Distribution | None
    """Time from a flow's start to the arrival of its last byte."""

    slowdown: SlowdownReport
    """Completion time divided by the minimum time on the flow's path."""

    slowdown_by_size: list[SlowdownReport]
    """Slowdown by size."""

    rows: NotRequired[list[FlowRow] | None]
    """Every flow, in order of start, if `rows` is set."""


@final
class IncastReport(TypedDict):
    """`incast`."""

    name: str
    """Name."""

    kind: Literal["incast"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    rounds_ps: Distribution | None
    """Time from the requests of a round to the last response, for rounds without failure."""

    failed: int
    """Number of failed responses."""


@final
class RpcReport(TypedDict):
    """`rpc`."""

    name: str
    """Name."""

    kind: Literal["rpc"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    response_ps: Distribution | None
    """Time from a call to the last byte of its response."""

    failed: int
    """Calls that failed, or were not made because too many were open."""


@final
class ScatterGatherReport(TypedDict):
    """`scatter_gather`."""

    name: str
    """Name."""

    kind: Literal["scatter_gather"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    query_ps: Distribution | None
    """Time from a query to the last byte of its answer."""

    failed: int
    """Queries with a failed part, or not made because too many were open."""


@final
class PhasesReport(TypedDict):
    """`phases`."""

    name: str
    """Name."""

    kind: Literal["phases"]
    """Kind: `mapreduce`, `coflows`, ..."""

    background: bool
    """Whether the run ends without waiting for it."""

    finished_ps: int | None
    """Time at which it finished, if it has."""

    dscp: NotRequired[int]
    """DSCP of its packets; absent if 0."""

    step_ps: Distribution | None
    """Duration of each step: from the previous step's end until all ranks have computed and all messages have arrived."""

    waited_ps: int
    """Sum over all steps of the time from the end of the last rank's computation to the end of the step."""

    resent: int
    """Messages sent again after their connection failed."""


ApplicationReport: TypeAlias = (
    MapReduceReport
    | CoflowsReport
    | FlowsReport
    | IncastReport
    | RpcReport
    | ScatterGatherReport
    | PhasesReport
    | PoissonReport
)
"""The report of one application."""


@final
class ClassReport(TypedDict):
    """One class."""

    sent: Count
    """Offered to NICs by hosts."""

    delivered: Count
    """Arrived at their destination hosts."""

    delivered_ce: int
    """Of these, packets with CE set."""

    latency: Distribution | None
    """Time from the offer to the NIC to the arrival of the last bit; absent when nothing was delivered."""


@final
class CoflowSpec(TypedDict):
    """One coflow. It is complete when its last transfer is."""

    name: str
    """Name."""

    transfers: list[TransferSpec]
    """Its transfers."""

    at_ps: NotRequired[int]
    """When all its transfers begin. Default 0."""


@final
class CoflowsSpec(TypedDict):
    """Coflows: transfers that begin together. All times count from the start of the run."""

    kind: Literal["coflows"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    coflows: list[CoflowSpec]
    """The coflows."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    start_jitter_ps: NotRequired[int]
    """
    Upper bound of a random delay of each transfer's start, drawn uniformly for each transfer. Not available for
    kinds that draw the start times of their transfers. Default 0.
    """

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""


@final
class DrawnSpec(TypedDict):
    """Flows with random sizes at random times."""

    racks: list[list[str]]
    """Hosts by rack."""

    pattern: Pattern
    """The choice of receivers."""

    sizes: SizesSpec
    """Distribution of flow sizes."""

    load: float
    """Payload rate at which each sending host starts flows, as a fraction of its link's rate: above 0 and at most 1."""

    duration_ps: int
    """Length of the time in which flows begin."""

    gaps: NotRequired[Gaps]
    """Distribution of the gaps between the flows of a host. Default `poisson`."""

    to_rack: NotRequired[int]
    """Number of the receiving rack of `to_one_rack`. Default 0."""


@final
class EndSpec(TypedDict):
    """One end of a link: a node's port, and the PHY of its transmitter."""

    node: str
    """A switch or a host."""

    port: int
    """Port; always 0 for a host."""

    eee: NotRequired[PhyEeeSpec | None]
    """EEE of a switch's transmitter; it never sleeps when absent."""


@final
class EnergyReport(TypedDict):
    """Energy of the fabric's transmitters."""

    total: LayerEnergy
    """All transmitters together."""

    layers: dict[str, LayerEnergy]
    """
    By layer: `host_nic`, `leaf_to_host`, `leaf_to_spine`, `spine_to_leaf`, `leaf_to_leaf`, `spine_to_spine`; layers
    without transmitters are left out.
    """

    transmitters: list[TransmitterReport]
    """The transmitters."""


@final
class FlowsSpec(TypedDict):
    """Flows that are drawn or listed."""

    kind: Literal["flows"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    cool_down_ps: NotRequired[int]
    """Flows that begin within this time before the end are not measured. Default 0."""

    drawn: NotRequired[DrawnSpec | None]
    """Parameters of drawn flows."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    list: NotRequired[list[ListedFlow] | None]
    """The flows, listed individually; either this or `drawn`."""

    rows: NotRequired[bool]
    """Whether the report has a row per flow. Default no."""

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""

    warm_up_ps: NotRequired[int]
    """Flows that begin before this time are not measured. Default 0."""


@final
class HostReport(TypedDict):
    """One host."""

    name: str
    """Name."""

    offered: int
    """Frames offered to the NIC."""

    nic_drops: int
    """Frames that did not fit the NIC's queue, or that its AQM dropped."""

    sent: Count
    """Frames and bytes that left the NIC."""

    received: Count
    """Frames and bytes that arrived for this host."""

    misdelivered: int
    """Frames that arrived for another host."""

    max_queue_bytes: int
    """Maximum number of bytes that waited in the NIC."""

    eee: EeeAccount | None
    """The NIC's own account of its EEE; absent when EEE is off."""

    dcqcn: NotRequired[DcqcnReport | None]
    """DCQCN of the host; absent when off."""

    pauses: NotRequired[PauseAccount | None]
    """Pause frames from its switch; absent when NICs have no classes."""

    qcn: NotRequired[QcnReport | None]
    """QCN of the NIC; absent when off."""


@final
class IncastSpec(TypedDict):
    """Incast: a client sends a request to many servers at once, and starts the next round when all have answered."""

    kind: Literal["incast"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    client: str
    """The requesting host."""

    servers: list[str]
    """The answering hosts; a host may be listed several times."""

    bytes_per_server: int
    """Payload of one response."""

    rounds: int
    """Number of rounds."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    connection: NotRequired[ConnectionKind]
    """Use of connections. Default `new`."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    request_bytes: NotRequired[int]
    """Payload of one request. Default 280."""

    start_jitter_ps: NotRequired[int]
    """
    Upper bound of a random delay of each transfer's start, drawn uniformly for each transfer. Not available for
    kinds that draw the start times of their transfers. Default 0.
    """

    start_ps: NotRequired[int]
    """Start of the first round. Default 0."""

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""

    think_ps: NotRequired[int]
    """Time from the last response of a round to the next round. Default 0."""


@final
class ParsedStep(TypedDict):
    """It was parsed and its checksums verified."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["parsed"]
    events: list[TraceEvent]
    """What the parser did."""

    error: str
    """The parser's error by its name in the program, or BMv2's number if the program does not list it."""

    checksums_hold: bool
    """Whether every checksum that the program verifies is right."""


@final
class IngressStep(TypedDict):
    """It went through ingress."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["ingress"]
    events: list[TraceEvent]
    """What the pipeline did."""

    values: dict[str, int]
    """All values that are not zero after it."""

    fault: str | None
    """The fault that ended the run, if the program failed."""


@final
class EgressStep(TypedDict):
    """It went through egress."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["egress"]
    events: list[TraceEvent]
    """What the pipeline did."""

    values: dict[str, int]
    """All values that are not zero after it."""

    fault: str | None
    """The fault that ended the run, if the program failed."""


@final
class DeparsedStep(TypedDict):
    """It was deparsed, and its checksums were computed."""

    packet: int
    """The packet: 0 for the first frame, and the next number for each further frame or copy."""

    at_ps: int
    """Time."""

    step: Literal["deparsed"]
    events: list[TraceEvent]
    """Fields that changed."""


JourneyStep: TypeAlias = (
    ArrivedStep
    | ParsedStep
    | IngressStep
    | EgressStep
    | CopiedStep
    | NotCopiedStep
    | CloneStep
    | NoCloneSessionStep
    | ReplicaStep
    | ResubmittedStep
    | QueuedStep
    | DequeuedStep
    | DeparsedStep
    | RecirculatedStep
    | DroppedStep
    | SentStep
)
"""One thing that happened to one packet."""


@final
class LinkSpec(TypedDict):
    """A full-duplex link."""

    a: EndSpec
    """One end."""

    b: EndSpec
    """The other end."""

    rate_bps: int
    """Rate of each direction."""

    delay_ps: int
    """Propagation delay."""

    overhead_bytes: NotRequired[int]
    """Bytes added to each frame on the wire. Default 24: preamble 8, FCS 4, inter-frame gap 12."""


@final
class MapReduceSpec(TypedDict):
    """
    The application's description. Defaults: MRPerf's Terasort and node (`hadoop.job.tcl`, its XML files), Hadoop 1
    where MRPerf specifies nothing.
    """

    kind: Literal["mapreduce"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    cpu_hz: NotRequired[float]
    """Clock rate of a worker's cores."""

    disk_read_bytes_per_second: NotRequired[float]
    """Read rate of a worker's disk."""

    disk_write_bytes_per_second: NotRequired[float]
    """Write rate of a worker's disk."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    heartbeat_ps: NotRequired[int]
    """Time between two heartbeats of a worker."""

    jobs: NotRequired[list[JobSpec]]
    """The jobs, served in order of arrival."""

    locality: NotRequired[LocalitySpec]
    """Placement of splits."""

    map_slots: NotRequired[int]
    """Number of map tasks that a worker runs concurrently."""

    noise_sigma: NotRequired[float]
    """Sigma of the log-normal factor on a task's local work."""

    output_replication: NotRequired[int]
    """Number of workers that hold a copy of the output, including the one that produced it."""

    parallel_fetches: NotRequired[int | None]
    """Maximum number of concurrent fetches of a reducer; `null` means no limit. Default 5."""

    reduce_slots: NotRequired[int]
    """Number of reduce tasks that a worker runs concurrently."""

    request_bytes: NotRequired[int]
    """Payload of the request for a partition or a split; a copy of output has no request."""

    reserved: NotRequired[int]
    """Number of hosts at the start of `workers` that run no tasks (name node, job tracker)."""

    slowstart: NotRequired[float]
    """Fraction of a job's maps that must be known to have ended before its reducers start."""

    tasks_per_heartbeat: NotRequired[int]
    """Maximum number of maps, and of reducers, assigned to a worker per heartbeat."""

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""

    workers: NotRequired[list[str] | None]
    """Hosts, in the order in which `reserved` counts them. Default: all hosts."""


@final
class RedAqm(TypedDict):
    """Random Early Detection."""

    mode: Literal["red"]
    min_threshold: int
    """Queue depth from which a packet gets a signal with a probability."""

    max_threshold: int
    """Queue depth from which every packet gets a signal."""

    probability_slope: int
    """max_probability * 2^48 / (max - min); with `by_size` this times 2^8 / mean packet size in bytes, which is at least 2^8."""

    in_packets: bool
    """Whether thresholds are in packets, not bytes."""

    average_shift: int
    """The newest depth has weight 2^-n in the average."""

    ecn: bool
    """Whether ECT packets are marked, not dropped."""

    protect: Protect
    """Which packets are protected."""

    by_size: bool
    """Whether a packet's probability is proportional to its size."""

    half_life_ps: NotRequired[int | None]
    """Time in which the average halves while the NIC is idle; null: it does not."""


@final
class CodelAqm(TypedDict):
    """CoDel (RFC 8289)."""

    mode: Literal["codel"]
    target_ps: int
    """Target delay."""

    interval_ps: int
    """Interval: how long the sojourn time must stay above the target delay."""

    mtu_bytes: int
    """A queue with no more bytes left behind than this is never too long."""

    ecn: bool
    """Whether ECT packets are marked, not dropped."""

    protect: Protect
    """Which packets are protected."""


NicAqm: TypeAlias = MarkThresholdAqm | RedAqm | CodelAqm
"""Settings of a NIC's AQM, with the names and units of the P4 program's actions; times in picoseconds."""


@final
class NicSpec(TypedDict):
    """A NIC."""

    aqm: NotRequired[NicAqm | None]
    """The AQM; none when absent."""

    buffer_bytes: NotRequired[int | None]
    """Maximum number of waiting bytes; no limit when absent."""

    buffer_packets: NotRequired[int | None]
    """Maximum number of waiting frames, in place of `buffer_bytes`."""

    dcqcn: NotRequired[NicDcqcnSpec | None]
    """
    DCQCN: reaction points for the flows that receivers' notifications name, and notifications about packets that
    arrive with CE; none when absent.
    """

    eee: NotRequired[NicEeeSpec | None]
    """EEE with the timings of `phy`; off when absent."""

    fair: NotRequired[bool]
    """Whether flows take turns by bytes, in each of the queues; excludes an `aqm`. Default false: a FIFO."""

    held_outside: NotRequired[bool]
    """Whether frames that arrive while the link is not awake are outside `buffer_bytes`. Default false."""

    qcn: NotRequired[QcnSettings | None]
    """QCN: reaction points for the flows that switches' messages name; none when absent."""


@final
class PhasesSpec(TypedDict):
    """Ranks that compute, communicate and wait for each other."""

    kind: Literal["phases"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    ranks: list[str]
    """The host of each rank."""

    iterations: int
    """Number of iterations of all steps."""

    steps: list[StepSpec]
    """The steps, in order."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    connection: NotRequired[ConnectionKind]
    """Use of connections. Default `persistent`, one per pair of ranks."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    noise_sigma: NotRequired[float]
    """Sigma of the log-normal factor on a rank's computing time. Default 0."""

    start_jitter_ps: NotRequired[int]
    """
    Upper bound of a random delay of each transfer's start, drawn uniformly for each transfer. Not available for
    kinds that draw the start times of their transfers. Default 0.
    """

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""


@final
class PoissonSpec(TypedDict):
    """UDP frames at exponential gaps, regardless of their fate."""

    kind: Literal["poisson"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    flows: list[FrameFlowSpec]
    """The flows."""

    duration_ps: int
    """Time for which frames are sent."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    start_ps: NotRequired[int]
    """No frame is sent before this time. Default 0."""

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""


@final
class QueueDepthReport(TypedDict):
    """Queue depth over time."""

    period_ps: int
    """Length of a period; the first starts with the run."""

    queues: list[QueueSamples]
    """Queues that were not always empty."""


@final
class RpcSpec(TypedDict):
    """Calls at exponential gaps, regardless of earlier responses."""

    kind: Literal["rpc"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    request_bytes: int
    """Payload of one call."""

    response_bytes: int
    """Payload of its response."""

    mean_interval_ps: int
    """Mean time between two calls of a pair."""

    connection: ConnectionKind
    """Use of connections. Over a persistent one, calls wait for each other, which counts in the response time."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    duration_ps: NotRequired[int | None]
    """Time for which calls are made; optional for background applications only."""

    pairs: NotRequired[list[list[str]] | None]
    """Pairs of client and server; either this or `random_pairs`."""

    random_pairs: NotRequired[int | None]
    """Number of pairs drawn from the hosts."""

    start_ps: NotRequired[int]
    """No call is made before this time. Default 0."""

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""


@final
class ScatterGatherSpec(TypedDict):
    """Scatter and gather over racks, at exponential gaps, regardless of earlier queries."""

    kind: Literal["scatter_gather"]
    """The kind of application."""

    name: str
    """Name, unique among the applications."""

    clients: list[str]
    """The querying hosts."""

    racks: list[list[str]]
    """Hosts by rack. For each query, a rack without the client and a host in it are drawn; that host gathers from all others of the rack."""

    response_bytes: int
    """Payload of each server's response."""

    answer_bytes: int
    """Payload of the answer to the client."""

    mean_interval_ps: int
    """Mean time between two queries of a client."""

    background: NotRequired[bool]
    """Whether a run ends without waiting for it. Default no."""

    dscp: NotRequired[int]
    """DSCP of all packets of its connections, in both directions, 0 to 63; it selects their class in a fabric with classes. Default 0."""

    queries: NotRequired[int | None]
    """Number of queries of each client; optional for background applications only."""

    request_bytes: NotRequired[int]
    """Payload of each request. Default 280."""

    start_jitter_ps: NotRequired[int]
    """
    Upper bound of a random delay of each transfer's start, drawn uniformly for each transfer. Not available for
    kinds that draw the start times of their transfers. Default 0.
    """

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of this application, instead of the common ones."""


@final
class TrafficClass(TypedDict):
    """Packets of one class."""

    sent: TrafficCount
    """Packets that hosts sent."""

    delivered: TrafficCount
    """Packets that arrived at their destination."""

    arrived_marked: int
    """Of those delivered: packets sent without CE that arrived with it."""

    latency: TrafficLatency | None
    """Time from sending to the kernel's arrival time; `None` if nothing was timed."""


@final
class TrafficReport(TypedDict):
    """The report of a replay in real time."""

    classes: dict[str, TrafficClass]
    """By name of the class."""

    foreign: int
    """Frames that arrived at hosts and that no host had sent."""

    misdelivered: int
    """Packets that arrived at a host that does not have their destination address."""

    duplicated: int
    """Packets that arrived more often than they were sent."""

    untimed: int
    """Packets that arrived but have no known latency, because other packets with their identity were lost."""

    lateness: Lateness
    """Lateness of frames."""

    refused: int
    """Frames that the kernel refused to send."""

    overruns: int
    """Frames that arrived at hosts and that the kernel dropped before they were fetched."""

    elapsed_ns: int
    """Time from the first frame to the last one sent or received."""


@final
class WorkloadReport(TypedDict):
    """Applications, and the measurements of all their transfers."""

    finished: bool
    """Whether every application in the foreground has finished."""

    finished_ps: int | None
    """When the last of them finished."""

    applications: list[ApplicationReport]
    """The applications, in the order of the description."""

    flows: TransfersReport
    """Transfers of all applications."""

    busy_ps: int
    """Time with at least one transfer in progress."""

    scheduler: NotRequired[SchedulerReport | None]
    """Counts of the scheduler of flows; absent without one."""


ApplicationSpec: TypeAlias = (
    MapReduceSpec
    | CoflowsSpec
    | FlowsSpec
    | IncastSpec
    | RpcSpec
    | PoissonSpec
    | ScatterGatherSpec
    | PhasesSpec
)
"""One application, of one kind."""


@final
class HostSpec(TypedDict):
    """A host."""

    name: str
    """Name, unique among all nodes."""

    mac: str
    """MAC address, unique among all hosts."""

    gateway_mac: NotRequired[str | None]
    """
    MAC address to which its frames are sent: the router at the other end of its link. When absent, the receiver's
    own, as in one layer-2 network.
    """

    ipv4: NotRequired[str | None]
    """IPv4 address; without one, arriving IPv4 packets are misdelivered."""

    ipv6: NotRequired[str | None]
    """IPv6 address; without one, arriving IPv6 packets are misdelivered."""

    nic: NotRequired[NicSpec | None]
    """Its own NIC, if it differs from the others."""


@final
class Journey(TypedDict):
    """What happened to the followed packets since `follow`, or since the last journey. Times are in picoseconds, frames in hexadecimal."""

    steps: list[JourneyStep]
    """The steps in order of time."""

    is_cut: bool
    """Whether more steps happened than were kept."""

    inside: int
    """Number of followed packets still in the switch."""


@final
class Report(TypedDict):
    """A whole run."""

    seed: int
    """The spec's seed."""

    elapsed_ps: int
    """Elapsed virtual time."""

    idle: bool
    """Whether no event was left, link changes apart."""

    events: int
    """Events handled."""

    p4_passes: int
    """P4 passes of all switches."""

    conservation: Conservation
    """Packet counts of the whole fabric."""

    classes: dict[str, ClassReport]
    """By class as sent; every class is included."""

    latency: Distribution | None
    """Latency of all classes together; absent when nothing was delivered."""

    nic_queues: dict[str, ClassCounts]
    """Marks and drops of all NICs' queues, by class as sent; every class is included."""

    hosts: list[HostReport]
    """The hosts."""

    switches: list[SwitchReport]
    """The switches."""

    energy: EnergyReport
    """Energy of the transmitters whose power the spec gives."""

    queue_depth: QueueDepthReport
    """Queue depth over time at the switches."""

    faults: NotRequired[list[FaultyLinkReport]]
    """Both directions of each link with a fault in the spec; left out when there are none."""

    flows: NotRequired[list[FlowReport]]
    """TCP flows, in the order in which they were started; left out when there are none."""

    pauses: NotRequired[list[PausedQueueReport]]
    """Queues that have received pauses, at switches and NICs, in the order of the links; left out when there are none."""

    workload: NotRequired[WorkloadReport | None]
    """Applications and their transfers; left out when there are none."""


@final
class WorkloadSpec(TypedDict):
    """Applications that run over a fabric, and their settings."""

    seed: int
    """Seed of all random draws."""

    applications: list[ApplicationSpec]
    """The applications."""

    tcp: NotRequired[TcpSpec | None]
    """TCP settings of all applications without their own."""


@final
class FabricSpec(TypedDict):
    """A fabric. See the module for the format."""

    seed: int
    """Seed of everything random: the programs' `random()`, and RED in NICs."""

    switches: list[SwitchSpec]
    """The switches."""

    hosts: list[HostSpec]
    """The hosts; each has exactly one link."""

    links: list[LinkSpec]
    """The links."""

    class_gate_register: NotRequired[str | None]
    """
    Register with the tick before which a queue sends nothing, by port << 3 | priority. Without one, the program
    holds the packets of paused queues by recirculation.
    """

    cpu_port: NotRequired[int]
    """Port of packet-ins and packet-outs. Default 510."""

    drop_port: NotRequired[int]
    """Port that drops packets. Default 511."""

    faults: NotRequired[list[FaultSpec]]
    """Links that fail, and when; none when absent."""

    gate_register: NotRequired[str | None]
    """
    Register with the tick before which a port sends nothing. Without one, the program holds packets by
    recirculation.
    """

    host_delay: NotRequired[HostDelaySpec]
    """Delays of a segment in every host's TCP."""

    nic: NotRequired[NicSpec]
    """The NIC of every host without a NIC of its own."""

    nic_classes: NotRequired[NicClassesSpec | None]
    """Queues of every NIC by priority, and which of them obey pause frames. When absent, NICs have one queue and obey none."""

    phy: NotRequired[list[PhySpec]]
    """Power and timings of PHYs by link rate."""

    priorities: NotRequired[int]
    """Queues of each switch port, 1 to 8; the highest priority is served first, unless it has a quantum. Default 1, as in BMv2."""

    quanta: NotRequired[list[QueueQuantum]]
    """
    Queues of each switch port that share its link in deficit-weighted round robin. The others are strict: those with a
    priority above the highest of these are served before them, the rest after them. Default: all are strict, as in BMv2.
    """

    queue_limit_packets: NotRequired[int | None]
    """
    Maximum number of packets that wait in each queue of a switch port. No limit when absent, because the E-EON
    program enforces a limit in bytes itself. BMv2's is 64.
    """

    queue_samples: NotRequired[QueueSamplesSpec]
    """How queue depth is sampled."""

    recirculation_delay_ps: NotRequired[int]
    """Time from a recirculated packet's egress to its next ingress. Default 1 us."""

    scheduler: NotRequired[SchedulerSpec | None]
    """The scheduler that assigns rates to the flows of applications; none when absent."""

    tick_ps: NotRequired[int]
    """Length of a switch's timestamp tick. Default 1 ns; BMv2's is 1 us."""

    timer_register: NotRequired[str | None]
    """Register with the tick at which the program runs for a queue without a packet, by port << 3 | priority. Without one, switches have no timers."""
