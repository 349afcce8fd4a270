// Counters. The bytes are BMv2's: the frame as it arrived on this pass (for a packet-out with its two-byte header).

#ifndef EEON_COUNTERS_P4_
#define EEON_COUNTERS_P4_

#include "../metadata.p4"
#include "../sizes.p4"

@brief("Frames received; each is counted once.")
@description("Packets, and bytes without the FCS. Index: ingress port << 3 | packet class.")
@name("received")
counter<bit<12>>(RECEIVED_CELLS, CounterType.packets_and_bytes) received;

@brief("The outcome of each packet. The port is the egress port for queue verdicts (0 to 3), and the ingress port for the others.")
@description("Packets, and bytes without the FCS. Index: port << 7 | packet class << 4 | verdict.")
@name("verdicts")
counter<bit<16>>(VERDICT_CELLS, CounterType.packets_and_bytes) verdicts;

// Part of the action that classifies a packet (control/classify.p4).
action count_received(in metadata_t meta, in port_id_t ingress_port) {
    received.count(ingress_port ++ (bit<3>)meta.packet_class);
}

// FORWARDED, MARKED, or CoDel's EARLY_DROPPED: part of the departure action (control/hold.p4).
action count_departure(in metadata_t meta) {
    verdicts.count(meta.egress_port ++ (bit<3>)meta.packet_class ++ (bit<4>)meta.verdict);
}

// The other verdicts, at the end of ingress.
control count_not_queued(in metadata_t meta, in standard_metadata_t standard_metadata) {
    @hidden
    action count() {
        port_id_t port = standard_metadata.ingress_port;
        if (meta.verdict == verdict_t.EARLY_DROPPED || meta.verdict == verdict_t.TAIL_DROPPED) {
            port = meta.egress_port;
        }
        verdicts.count(port ++ (bit<3>)meta.packet_class ++ (bit<4>)meta.verdict);
    }

    apply {
        count();
    }
}

#endif // EEON_COUNTERS_P4_
