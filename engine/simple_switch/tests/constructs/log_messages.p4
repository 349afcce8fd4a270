// log_msg: places, values of any sign and width, braces that are none.
#include "frame.h"

header request_t { bit<8> a; int<8> b; }
header wide_t { bit<200> c; int<136> d; }
struct headers_t { request_t request; wide_t wide; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.request);
        transition select(hdr.request.a) {
            9: wide;
            default: accept;
        }
    }
    state wide { packet.extract(hdr.wide); transition accept; }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        log_msg("plain");
        log_msg("a is {} and b is {}", { hdr.request.a, hdr.request.b });
        log_msg("named {value} here", { hdr.request.a });
        log_msg("valid {}", { hdr.request.isValid() });
        if (hdr.wide.isValid()) { log_msg("c is {} and d is {}", { hdr.wide.c, hdr.wide.d }); }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
