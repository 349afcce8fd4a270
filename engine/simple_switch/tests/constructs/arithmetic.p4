// Saturating and signed arithmetic of several widths, shifts, and what is cut when it is stored.
#include "frame.h"

header request_t { bit<8> a; bit<8> b; bit<8> by; }
header result_t { bit<8> usum; bit<8> udifference; int<8> ssum; int<8> sdifference; bit<8> product; int<8> negated; bit<8> left;
                  bit<8> right; int<8> sright; bit<16> joined; int<16> extended; bit<4> high; bit<4> low; bit<8> flags;
                  bit<3> narrow; bit<5> rest; bit<72> wide; }
struct headers_t { request_t request; result_t result; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        bit<8> a = hdr.request.a;
        bit<8> b = hdr.request.b;
        int<8> sa = (int<8>)a;
        int<8> sb = (int<8>)b;
        hdr.result.setValid();
        hdr.result.usum = a |+| b;
        hdr.result.udifference = a |-| b;
        hdr.result.ssum = sa |+| sb;
        hdr.result.sdifference = sa |-| sb;
        hdr.result.product = a * b;
        hdr.result.negated = -sa;
        hdr.result.left = a << hdr.request.by;
        hdr.result.right = a >> hdr.request.by;
        hdr.result.sright = sa >> hdr.request.by;
        hdr.result.joined = a ++ b;
        hdr.result.extended = (int<16>)sa;
        hdr.result.high = a[7:4];
        hdr.result.low = b[3:0];
        hdr.result.flags = (bit<8>)(bit<1>)(a < b) | (bit<8>)(bit<1>)(sa < sb) << 1 | (bit<8>)(bit<1>)(sa <= 0) << 2
            | (bit<8>)(bit<1>)(a >= b && sa != sb) << 3;
        hdr.result.narrow = (bit<3>)a |+| (bit<3>)b;
        hdr.result.wide = (bit<72>)(int<72>)(sa) |-| (bit<72>)b;
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
