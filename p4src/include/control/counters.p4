// Counters. The bytes are BMv2's: the frame as it came in on this pass (a packet-out with its two bytes of header).

#ifndef EEON_COUNTERS_P4_
#define EEON_COUNTERS_P4_

#include "../metadata.p4"
#include "../sizes.p4"

// Index: ingress port << 3 | packet class.
@name("received")
counter<bit<12>>(RECEIVED_CELLS, CounterType.packets_and_bytes) received;

// Index: port << 6 | packet class << 3 | verdict. The port is the egress port for the verdicts of a queue (FORWARDED,
// MARKED, EARLY_DROPPED, TAIL_DROPPED), the ingress port for the others.
@name("verdicts")
counter<bit<15>>(VERDICT_CELLS, CounterType.packets_and_bytes) verdicts;

// All but FORWARDED and MARKED, at the end of ingress.
control count_ingress_verdict(in metadata_t meta, in standard_metadata_t standard_metadata) {
    apply {
        if (meta.verdict == verdict_t.EARLY_DROPPED || meta.verdict == verdict_t.TAIL_DROPPED) {
            verdicts.count(meta.egress_port ++ (bit<3>)meta.packet_class ++ (bit<3>)meta.verdict);
        } else {
            verdicts.count(standard_metadata.ingress_port ++ (bit<3>)meta.packet_class ++ (bit<3>)meta.verdict);
        }
    }
}

// FORWARDED or MARKED, when the packet leaves its queue.
control count_egress_verdict(in metadata_t meta) {
    apply {
        verdicts.count(meta.egress_port ++ (bit<3>)meta.packet_class ++ 2w0 ++ meta.marked);
    }
}

#endif // EEON_COUNTERS_P4_
