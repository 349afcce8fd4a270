// truncate in ingress and in egress: what leaves is cut, but no copy is, nor what comes back for another round.
#include "frame.h"

enum bit<8> where_t { NOWHERE = 0, FIRST = 1, LAST = 2, BOTH = 3 }
enum bit<8> then_t { SEND = 0, REPLICATE = 1, COPY_FIRST = 2, COPY_LAST = 3, AGAIN = 4, ROUND = 5 }

header request_t { where_t where; then_t then; bit<16> length; bit<16> second; }
header report_t { bit<8> instance_type; bit<8> length; }
struct headers_t { request_t request; report_t report; }
struct metadata_t { @field_list(1) bit<1> unused; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        if (standard_metadata.instance_type == 0) {
            if (hdr.request.then == then_t.REPLICATE) { standard_metadata.mcast_grp = 7; }
            if (hdr.request.then == then_t.COPY_FIRST) { clone(CloneType.I2E, 5); }
            if (hdr.request.then == then_t.AGAIN) { resubmit_preserving_field_list(1); }
            if (hdr.request.where == where_t.FIRST || hdr.request.where == where_t.BOTH) {
                truncate((bit<32>)hdr.request.length);
            }
        }
    }
}

EGRESS {
    apply {
        hdr.report.setValid();
        hdr.report.instance_type = (bit<8>)standard_metadata.instance_type;
        hdr.report.length = (bit<8>)standard_metadata.packet_length;
        if (standard_metadata.instance_type == 0) {
            if (hdr.request.where == where_t.LAST) { truncate((bit<32>)hdr.request.length); }
            if (hdr.request.where == where_t.BOTH) { truncate((bit<32>)hdr.request.second); }
            if (hdr.request.then == then_t.COPY_LAST) { clone(CloneType.E2E, 5); }
            if (hdr.request.then == then_t.ROUND) {
                recirculate_preserving_field_list(1);
                hdr.request.where = where_t.NOWHERE;
                hdr.request.then = then_t.SEND;
            }
        }
    }
}

NO_CHECKSUMS
EMIT_ALL
SWITCH
