// random: within its bounds, the bounds included; a range of one value has one result.
#include "frame.h"

header request_t { bit<16> low; bit<16> high; }
header result_t { bit<8> within; bit<16> kept; }
struct headers_t { request_t request; result_t result; }
struct metadata_t { bit<16> drawn; bit<64> wide; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        random(meta.drawn, hdr.request.low, hdr.request.high);
        random(meta.wide, 64w0xfffffffffffffff0, 64w0xffffffffffffffff);
        hdr.result.setValid();
        if (meta.drawn >= hdr.request.low && meta.drawn <= hdr.request.high && meta.wide >= 64w0xfffffffffffffff0) {
            hdr.result.within = 1;
        } else {
            hdr.result.within = 0;
        }
        hdr.result.kept = 0;
        if (hdr.request.low == hdr.request.high) { hdr.result.kept = meta.drawn; }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
