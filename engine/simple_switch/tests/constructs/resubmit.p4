// resubmit: the packet comes back as it arrived, with the metadata of a field list.
#include "frame.h"

header request_t { bit<8> times; bit<8> drop; }
header report_t { bit<8> instance_type; bit<8> round; bit<8> lost; bit<8> ingress_port; bit<8> length; }
struct headers_t { report_t report; request_t request; }
struct metadata_t { @field_list(1) bit<8> round; bit<8> lost; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        hdr.report.setValid();
        hdr.report.instance_type = (bit<8>)standard_metadata.instance_type;
        hdr.report.round = meta.round;
        hdr.report.lost = meta.lost;
        hdr.report.ingress_port = (bit<8>)standard_metadata.ingress_port;
        hdr.report.length = (bit<8>)standard_metadata.packet_length;
        if (meta.round < hdr.request.times) {
            resubmit_preserving_field_list(1);
            // The list is read at the end of ingress. Headers and other metadata are lost, and what else was decided.
            meta.round = meta.round + 1;
            meta.lost = 0xff;
            hdr.request.times = 0xee;
            standard_metadata.egress_spec = 2;
            if (hdr.request.drop == 1) { mark_to_drop(standard_metadata); }
        }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
