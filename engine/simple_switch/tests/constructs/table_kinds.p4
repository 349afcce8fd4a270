// Tables: exact, lpm, ternary, range and optional keys, priorities, const entries, hit and miss, switch on the action.
#include "frame.h"

header request_t { bit<16> a; bit<8> b; }
header result_t { bit<8> exact; bit<8> prefix; bit<8> masked; bit<8> between; bit<8> perhaps; bit<8> constant; bit<8> chosen; }
struct headers_t { request_t request; result_t result; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    action exact_hit(bit<8> value) { hdr.result.exact = value; }
    action exact_miss(bit<8> value) { hdr.result.exact = value; }
    action prefix_hit(bit<8> value) { hdr.result.prefix = value; }
    action masked_hit(bit<8> value) { hdr.result.masked = value; }
    action between_hit(bit<8> value) { hdr.result.between = value; }
    action perhaps_hit(bit<8> value) { hdr.result.perhaps = value; }
    action constant_hit(bit<8> value) { hdr.result.constant = value; }

    table exact_table {
        key = { hdr.request.a: exact; hdr.request.b: exact; }
        actions = { exact_hit; exact_miss; }
        default_action = exact_miss(0xee);
    }
    table prefix_table {
        key = { hdr.request.a: lpm; hdr.request.b: exact; }
        actions = { prefix_hit; NoAction; }
        default_action = NoAction;
    }
    table masked_table {
        key = { hdr.request.a: ternary; hdr.request.b: lpm; }
        actions = { masked_hit; NoAction; }
        default_action = NoAction;
    }
    table between_table {
        key = { hdr.request.a: range; hdr.request.b: exact; }
        actions = { between_hit; NoAction; }
        default_action = NoAction;
    }
    table perhaps_table {
        key = { hdr.request.a: optional; hdr.request.b: optional; }
        actions = { perhaps_hit; NoAction; }
        default_action = NoAction;
    }
    table constant_table {
        key = { hdr.request.a: ternary; hdr.request.b: range; }
        actions = { constant_hit; NoAction; }
        default_action = constant_hit(0xff);
        const entries = {
            (0x1200 &&& 0xff00, 1..4): constant_hit(1);
            (0x1234, _): constant_hit(2);
            (_, 5..9): constant_hit(3);
        }
    }

    apply {
        standard_metadata.egress_spec = 1;
        hdr.result.setValid();
        switch (exact_table.apply().action_run) {
            exact_hit: { hdr.result.chosen = 1; }
            exact_miss: { hdr.result.chosen = 2; }
        }
        if (prefix_table.apply().hit) { hdr.result.chosen = hdr.result.chosen | 0x10; }
        if (masked_table.apply().miss) { hdr.result.chosen = hdr.result.chosen | 0x20; }
        between_table.apply();
        perhaps_table.apply();
        constant_table.apply();
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
