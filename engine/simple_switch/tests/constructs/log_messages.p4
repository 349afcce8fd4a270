// log_msg: places, values of any sign and width, braces that are none.
#include "frame.h"

header request_t { bit<8> a; int<8> b; }
struct headers_t { request_t request; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        log_msg("plain");
        log_msg("a is {} and b is {}", { hdr.request.a, hdr.request.b });
        log_msg("named {value} here", { hdr.request.a });
        log_msg("valid {}", { hdr.request.isValid() });
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
