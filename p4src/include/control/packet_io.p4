// The controller's port. A packet-out leaves unchanged through the port that it names: no route, no TTL. It is queued,
// marked and counted like any other packet. A packet-in leaves through CPU_PORT and is not queued.

#ifndef EEON_PACKET_IO_P4_
#define EEON_PACKET_IO_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "occupancy.p4"

// A packet-out is neither malformed nor consumed: it is the controller's.
control packet_out_decap(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @hidden
    action decap() {
        meta.verdict = verdict_t.FORWARDED;
        // A queue behind a port that is not a data port would never drain.
        if (hdr.packet_out.egress_port >= COPY_PORT) {
            meta.verdict = verdict_t.NO_ROUTE;
        }
        // It has not passed the table that enables priorities; the entries of the queue tables decide alone.
        meta.has_priorities = 1;
        LEAVES_BY(meta, hdr.packet_out.egress_port)
        standard_metadata.egress_spec = hdr.packet_out.egress_port;
        meta.queued_bytes = meta.queued_bytes - (byte_count_t)(bit<32>)PACKET_OUT_BYTES;
        hdr.packet_out.setInvalid();
    }

    apply {
        decap();
    }
}

control packet_in_encap(inout headers_t hdr, in standard_metadata_t standard_metadata) {
    @hidden
    action encap() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard_metadata.ingress_port;
        hdr.packet_in._pad = 0;
    }

    apply {
        encap();
    }
}

#endif // EEON_PACKET_IO_P4_
