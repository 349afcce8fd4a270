// Clones from ingress and from egress, with and without a field list, to a port and to a multicast group.
#include "frame.h"

enum bit<8> op_t { NONE = 0, PLAIN_I2E = 1, LIST_I2E = 2, PLAIN_E2E = 3, LIST_E2E = 4 }

header request_t { op_t op; bit<8> drop; bit<16> session; }
header report_t { bit<8> passes; bit<8> instance_type; bit<8> kept; bit<8> lost; bit<8> rid; }
struct headers_t { report_t report; request_t request; }
struct metadata_t { @field_list(1) bit<8> kept; bit<8> lost; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        meta.kept = 0x11;
        meta.lost = 0x22;
        if (hdr.request.op == op_t.PLAIN_I2E) {
            clone(CloneType.I2E, (bit<32>)hdr.request.session);
        } else if (hdr.request.op == op_t.LIST_I2E) {
            clone_preserving_field_list(CloneType.I2E, (bit<32>)hdr.request.session, 1);
            // The list is read at the end of ingress; the clone's headers are those of the packet as it arrived.
            meta.kept = 0x33;
            hdr.request.session = 0xffff;
        }
        if (hdr.request.drop == 1) { mark_to_drop(standard_metadata); }
    }
}

EGRESS {
    apply {
        if (!hdr.report.isValid()) {
            hdr.report.setValid();
            hdr.report.passes = 0;
        }
        hdr.report.passes = hdr.report.passes + 1;
        hdr.report.instance_type = (bit<8>)standard_metadata.instance_type;
        hdr.report.kept = meta.kept;
        hdr.report.lost = meta.lost;
        hdr.report.rid = (bit<8>)standard_metadata.egress_rid;
        if (standard_metadata.instance_type == 0) {
            if (hdr.request.op == op_t.PLAIN_E2E) {
                clone(CloneType.E2E, (bit<32>)hdr.request.session);
            } else if (hdr.request.op == op_t.LIST_E2E) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)hdr.request.session, 1);
                meta.kept = 0x44;
                hdr.request.session = 0xeeee;
            }
            if (hdr.request.drop == 2) { mark_to_drop(standard_metadata); }
        }
    }
}
NO_CHECKSUMS
EMIT_ALL
SWITCH
