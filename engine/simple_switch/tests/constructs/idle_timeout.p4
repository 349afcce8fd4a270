// Idle time-outs of entries: a table that has them. What a sweep tells of is for the engine only.
#include "frame.h"

header request_t { bit<8> key; bit<8> found; }
struct headers_t { request_t request; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    action found(bit<8> value) { hdr.request.found = value; }
    table ages {
        key = { hdr.request.key: exact; }
        actions = { found; NoAction; }
        support_timeout = true;
        default_action = NoAction();
    }
    table stays {
        key = { hdr.request.key: exact; }
        actions = { found; NoAction; }
        default_action = NoAction();
    }
    apply {
        standard_metadata.egress_spec = 1;
        if (!ages.apply().hit) { stays.apply(); }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
