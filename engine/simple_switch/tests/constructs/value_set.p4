// Parser value sets: of one field, and of fields of several widths side by side.
#include "frame.h"

header request_t { bit<12> a; bit<4> b; bit<16> c; }
header report_t { bit<8> state; }
struct headers_t { report_t report; request_t request; }
struct metadata_t { bit<8> state; }
struct both_t { bit<12> a; bit<4> b; bit<16> c; }

PARSER {
    value_set<bit<12>>(4) single;
    value_set<both_t>(4) several;

    state start {
        packet.extract(hdr.request);
        transition select(hdr.request.a) {
            single: in_single;
            default: second;
        }
    }
    state second {
        transition select(hdr.request.a, hdr.request.b, hdr.request.c) {
            several: in_several;
            default: accept;
        }
    }
    state in_single { meta.state = 1; transition accept; }
    state in_several { meta.state = 2; transition accept; }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        hdr.report.setValid();
        hdr.report.state = meta.state;
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
