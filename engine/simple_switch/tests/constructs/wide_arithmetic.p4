// Values wider than 128 bits: arithmetic, comparison, shifts, division, saturation, signs, registers.
#include "frame.h"

header request_t { bit<8> op; bit<320> a; bit<320> b; bit<8> by; }
header result_t { bit<320> value; bit<8> flags; }
struct headers_t { request_t request; result_t result; }
NO_METADATA

PARSER {
    state start { packet.extract(hdr.request); transition accept; }
}

INGRESS {
    register<bit<320>>(4) cells;

    apply {
        standard_metadata.egress_spec = 1;
        bit<320> a = hdr.request.a;
        bit<320> b = hdr.request.b;
        hdr.result.setValid();
        if (hdr.request.op == 1) {
            hdr.result.value = a + b;
        } else if (hdr.request.op == 2) {
            hdr.result.value = a - b;
        } else if (hdr.request.op == 3) {
            hdr.result.value = (a & b) | (~a ^ b);
        } else if (hdr.request.op == 4) {
            hdr.result.value = a << hdr.request.by;
        } else if (hdr.request.op == 5) {
            hdr.result.value = a >> hdr.request.by;
        } else if (hdr.request.op == 6) {
            hdr.result.value = (bit<320>)((int<320>)a >> hdr.request.by);
        } else if (hdr.request.op == 7) {
            hdr.result.value = a |+| b;
        } else if (hdr.request.op == 8) {
            hdr.result.value = a |-| b;
        } else if (hdr.request.op == 9) {
            hdr.result.value = (bit<320>)((int<320>)a |+| (int<320>)b);
        } else if (hdr.request.op == 10) {
            hdr.result.value = a * b;
        } else if (hdr.request.op == 11) {
            hdr.result.value = (bit<320>)a[300:100];
        } else if (hdr.request.op == 12) {
            hdr.result.value = a[159:0] ++ b[159:0];
        } else if (hdr.request.op == 13) {
            cells.write((bit<32>)hdr.request.by, a);
            cells.read(hdr.result.value, 3);
        } else if (hdr.request.op == 14) {
            hdr.result.value = a > b ? a : 0x123456789abcdef0123456789abcdef0123456789abcdef0;
        } else if (hdr.request.op == 15) {
            hdr.result.value = a;
            hdr.result.value[199:130] = b[69:0];
        }
        if (a == b) { hdr.result.flags = hdr.result.flags | 1; }
        if (a < b) { hdr.result.flags = hdr.result.flags | 2; }
        if ((int<320>)a < (int<320>)b) { hdr.result.flags = hdr.result.flags | 4; }
        if (a == 0x8000000000000000000000000000000000000000000000000000000000000000000000000000000) {
            hdr.result.flags = hdr.result.flags | 8;
        }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
