// Multicast groups: replicas with their replication ids, and what is left of a packet whose group has nobody.
#include "frame.h"

header request_t { bit<16> group; bit<8> skip; }
header report_t { bit<8> port; bit<16> rid; bit<8> instance_type; bit<8> kept; }
struct headers_t { report_t report; request_t request; }
struct metadata_t { bit<8> kept; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        standard_metadata.mcast_grp = hdr.request.group;
        meta.kept = 0x11;
    }
}

EGRESS {
    apply {
        hdr.report.setValid();
        hdr.report.port = (bit<8>)standard_metadata.egress_port;
        hdr.report.rid = standard_metadata.egress_rid;
        hdr.report.instance_type = (bit<8>)standard_metadata.instance_type;
        hdr.report.kept = meta.kept;
        // Of a replica only.
        meta.kept = 0x22;
        if (standard_metadata.egress_port == (bit<9>)hdr.request.skip) { mark_to_drop(standard_metadata); }
    }
}
NO_CHECKSUMS
EMIT_ALL
SWITCH
