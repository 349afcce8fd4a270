// Types and the numbers that other programs need: ports, packet classes, verdicts, EEE states.
//
// This is their only home. compile.py reads this file and sizes.p4 and writes compiled/constants.json, from which the
// controller, the engine's tests and the PTF tests take them.

#ifndef EEON_TYPES_P4_
#define EEON_TYPES_P4_

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<128> ipv6_addr_t;
typedef bit<9> port_id_t;

// Ticks of the target's timestamps since the switch started. BMv2: 1 us. The engine: an option of the switch.
typedef bit<48> tick_t;

// Frame bytes as the switch sees them: from the Ethernet header to the end of the payload, without the FCS.
typedef bit<32> byte_count_t;
typedef bit<32> packet_count_t;
typedef bit<32> ticket_t;

// A probability, all of whose bits are fractional, and the time of a byte on the wire, in ticks.
typedef bit<48> probability_t;
typedef bit<48> wire_time_t;

// Fractional bits: of that time; of the depth that RED compares with its thresholds, averaged or not; and of the distance
// between that depth and the lower threshold.
const bit<8> WIRE_TIME_BITS = 24;
const bit<8> RED_DEPTH_BITS = 32;
const bit<8> RED_RAMP_BITS = 8;

// 0 to 7; the highest is served first. A port has a queue for each: port << 3 | priority.
typedef bit<3> priority_t;
typedef bit<12> queue_id_t;

// The packets of a turn leave in the order of their tickets. A turn is a queue; above those, the pause frames of a port
// (PAUSE_TURNS + port) and the CNMs that leave by it (CNM_TURNS + port). Targets may send these before the queues' packets.
typedef bit<13> turn_id_t;
const turn_id_t PAUSE_TURNS = 4096;
@noWarn("unused") // without QCN
const turn_id_t CNM_TURNS = 4608;

// Data ports are 0 .. COPY_PORT - 1. COPY_PORT is internal, for frames that the switch makes.
const port_id_t COPY_PORT = 509;
const port_id_t CPU_PORT = 510;
// BMv2's default for --drop-port. For other programs; the P4 way to drop is mark_to_drop.
@noWarn("unused")
const port_id_t DROP_PORT = 511;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86DD;
const bit<16> ETHERTYPE_VLAN = 0x8100; // IEEE 802.1Q, C-tag
const bit<16> ETHERTYPE_QINQ = 0x88A8; // IEEE 802.1ad, S-tag
const bit<16> ETHERTYPE_MAC_CONTROL = 0x8808; // IEEE 802.3 clause 31
const bit<16> MAC_CONTROL_PFC = 0x0101;       // its opcode of priority flow control, annex 31D
const mac_addr_t MAC_CONTROL_ADDRESS = 0x0180C2000001;
@noWarn("unused") // without QCN
const bit<16> ETHERTYPE_CNM = 0x22E7; // IEEE 802.1Q-2022 clause 33: congestion notification messages

// For frames that the switch makes: the clone session of the copy, the queue in which they leave, the length of a pause frame.
const bit<32> COPY_SESSION = 1;
const priority_t CONTROL_PRIORITY = 7;
const byte_count_t PAUSE_FRAME_BYTES = 60;

const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

const bit<16> ETHERNET_BYTES = 14;
const bit<16> VLAN_BYTES = 4;
const bit<16> IPV6_BYTES = 40;
const bit<16> TCP_MIN_BYTES = 20;
const bit<16> UDP_BYTES = 8;
const bit<16> PACKET_OUT_BYTES = 2;

// A CNM with its Ethernet header, without the carried bytes of the sampled frame.
@noWarn("unused") // without QCN
const byte_count_t CNM_BYTES = 38;

// RFC 3168 section 5, figure 1.
enum bit<2> ecn_t {
    NOT_ECT = 0,
    ECT_1 = 1,
    ECT_0 = 2,
    CE = 3
}

// The class of a packet for congestion control. The first match counts, from the top: SYN_ACK and SYN, FIN_RST, DATA, ACK_ECE
// and ACK. OTHER is everything but complete TCP: UDP, ICMP, fragments, IPv6 with extension headers, TCP without flags.
// CONTROL is traffic between switches and link ends, never TCP.
enum bit<3> packet_class_t {
    DATA = 0,    // TCP with payload
    ACK = 1,     // no payload, ECE = 0
    ACK_ECE = 2, // no payload, ECE = 1
    SYN = 3,
    SYN_ACK = 4,
    FIN_RST = 5,
    OTHER = 6,
    CONTROL = 7  // MAC control: pause frames; and CNMs
}

// The fate of a packet. Each received packet is counted under exactly one of these, or is still queued.
// Verdicts up to MARKED are for queued packets, which are counted when they leave. Metadata starts with FORWARDED.
enum bit<4> verdict_t {
    FORWARDED = 0,
    MARKED = 1, // forwarded, and this switch set CE
    EARLY_DROPPED = 2,
    TAIL_DROPPED = 3,
    NO_ROUTE = 4,
    TTL_EXPIRED = 5,
    TO_CPU = 6,
    MALFORMED = 7,
    CONSUMED = 8, // meant for the switch itself
    NOT_ADMITTED = 9, // not addressed to this router
    MARTIAN = 10
}

// The purpose of a copy, or the frame that it has become (control/copies.p4, control/qcn.p4). A packet that could make both is
// copied once, for the pause; the next packet of its queue is sampled for the CNM.
enum bit<3> copy_t {
    NONE = 0,
    PAUSE = 1,
    MADE_PAUSE = 2,
    CNM = 3,
    MADE_CNM = 4
}

// The packets that RED and CoDel never drop early (they are still marked when they are ECN-capable).
enum bit<2> protect_t {
    ECT = 0,    // ECT packets only, because they are marked instead; what switches do today
    ECE = 1,    // also TCP packets with ECE set: SYN, SYN-ACK and the ACKs that carry an echo
    ACK_SYN = 2 // also every pure ACK, SYN and SYN-ACK
}

// The effect of a congestion signal on a packet.
enum bit<2> signal_t {
    DROP = 0,
    MARK = 1,
    CARRIED = 2, // it has CE already
    SPARE = 3    // protected: it gets none
}

// A port under CoDel (control/codel.p4).
enum bit<8> codel_state_t {
    BELOW = 0,    // the last packet met the target
    ABOVE = 1,    // it did not, but not yet for an interval
    DROPPING = 2, // the next signal is scheduled
    DROPPED = 3   // a signal was given, and the next packet schedules the next one
}

enum bit<8> eee_state_t {
    ACTIVE = 0, // awake, or asleep with nothing queued: no gate
    HOLD = 1,   // packets are held; a timer runs and a trigger is armed
    WAKE = 2    // the time of waking is settled
}

// BMv2's value of standard_metadata.instance_type for a recirculated packet (PKT_INSTANCE_TYPE_RECIRC).
const bit<32> INSTANCE_TYPE_RECIRCULATED = 4;

// A run without a packet, when the time in a cell of the register `pause_timer` has come. The engine only; BMv2 has no timers.
const bit<32> INSTANCE_TYPE_TIMER = 7;

// Ticks and tickets wrap. `a` is before `b` when the way from b to a is at least half of the circle, so a comparison is
// right while the two are less than half a circle apart: 2^47 ticks are 39 hours of nanoseconds, 4.4 years of
// microseconds. That is enough to compare a queued packet with its gate and its turn.
// Macros, because p4c copies the arguments of a function into temporaries on every call.
#define TICK_BEFORE(a, b) ((a) - (b) >= (48w1 << 47))
#define TICKET_BEFORE(a, b) ((a) - (b) >= (32w1 << 31))

// A port may have been idle for days, so half a circle cannot tell a past end of its transmission from a future one.
// No queue and no sleep lasts 2^40 ticks (18 minutes of nanoseconds): a value further ahead is long past.
const bit<48> TICKS_AHEAD_LIMIT = 0x10000000000;
#define TICK_TO_COME(at, now) ((at) - (now) - 1 < TICKS_AHEAD_LIMIT)

// 0 stands for "none". The clock shows 0 once in 2^48 ticks; a time that would be 0 becomes one tick later.
#define GATE_AT(tick) ((tick) == 0 ? 48w1 : (tick))

#endif // EEON_TYPES_P4_
