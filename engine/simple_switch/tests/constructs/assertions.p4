// assert and assume that hold. One that does not stops BMv2; the engine drops the packet, which tests/it/v1model.rs sees.
#include "frame.h"

header request_t { bit<8> a; bit<8> b; }
struct headers_t { request_t request; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        assert(hdr.request.isValid());
        if (hdr.request.a != 0) {
            assert(hdr.request.a < hdr.request.b);
            hdr.request.a = hdr.request.a + 1;
            assume(hdr.request.a <= hdr.request.b);
        } else {
            assume(hdr.request.b == 0);
            hdr.request.b = 0xff;
        }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
