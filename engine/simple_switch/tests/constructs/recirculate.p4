// recirculate: the packet comes back as it would have left, with the metadata of a field list.
#include "frame.h"

header request_t { bit<8> times; bit<8> drop; }
header report_t { bit<8> instance_type; bit<8> round; bit<8> lost; bit<8> ingress_port; bit<8> length; }
struct headers_t { request_t request; report_t report; }
struct metadata_t { @field_list(1) bit<8> round; bit<8> lost; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS { apply { standard_metadata.egress_spec = 1; } }

EGRESS {
    apply {
        // In front of those of the rounds before, which have become payload.
        hdr.report.setValid();
        hdr.report.instance_type = (bit<8>)standard_metadata.instance_type;
        hdr.report.round = meta.round;
        hdr.report.lost = meta.lost;
        hdr.report.ingress_port = (bit<8>)standard_metadata.ingress_port;
        hdr.report.length = (bit<8>)standard_metadata.packet_length;
        if (hdr.request.times != 0) {
            recirculate_preserving_field_list(1);
            hdr.request.times = hdr.request.times - 1;
            meta.round = meta.round + 1;
            meta.lost = 0xff;
        }
        if (hdr.request.drop != 0) { mark_to_drop(standard_metadata); }
    }
}

NO_CHECKSUMS
EMIT_ALL
SWITCH
