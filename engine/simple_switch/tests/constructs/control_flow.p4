// exit, return, loops, and registers read, changed and written in one action.
#include "frame.h"

header request_t { bit<8> op; bit<8> count; }
header result_t { bit<8> steps; bit<16> sum; }
struct headers_t { request_t request; result_t result; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    register<bit<32>>(2) totals;
    action leave() { hdr.result.steps = 0xe0; exit; }
    action add_all() {
        bit<32> total;
        totals.read(total, 1);
        for (bit<8> i = 1; i <= hdr.request.count; i = i + 1) {
            hdr.result.sum = hdr.result.sum + (bit<16>)i;
            if (i == 9) { break; }
            if (i[0:0] == 0) { continue; }
            total = total + 1;
        }
        totals.write(1, total);
    }
    apply {
        standard_metadata.egress_spec = 1;
        hdr.result.setValid();
        if (hdr.request.op == 1) { leave(); }
        if (hdr.request.op == 2) { return; }
        add_all();
        hdr.result.steps = 1;
    }
}

EGRESS { apply { if (hdr.result.steps != 0xe0) { hdr.result.steps = hdr.result.steps + 1; } } }
NO_CHECKSUMS
EMIT_ALL
SWITCH
