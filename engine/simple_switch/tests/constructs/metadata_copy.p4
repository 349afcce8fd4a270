// A struct of metadata is copied whole: the copy keeps what it was when the original changes.
#include "frame.h"

header byte_t { bit<8> in_port; bit<8> later; }
struct headers_t { byte_t b; }
NO_METADATA

PARSER {
    state start { packet.extract(hdr.b); transition accept; }
}

INGRESS {
    apply {
        standard_metadata_t before = standard_metadata;
        standard_metadata.ingress_port = 77;
        standard_metadata.egress_spec = 1;
        hdr.b.in_port = (bit<8>) before.ingress_port;
        hdr.b.later = (bit<8>) standard_metadata.ingress_port;
        log_msg("before {}", { before });
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
