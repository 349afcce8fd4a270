// Fields wider than 128 bits where they are not computed with: table keys of each kind, action data, const entries,
// a select, a lookahead, a hash.
#include "frame.h"

header request_t { bit<200> a; bit<136> b; }
header result_t { bit<8> exact; bit<8> prefix; bit<8> masked; bit<8> between; bit<8> constant; bit<8> state; bit<200> data;
                  bit<16> hash; }
struct headers_t { request_t request; result_t result; }
struct metadata_t { bit<8> state; }

PARSER {
    state start {
        transition select(packet.lookahead<bit<200>>()) {
            0x11111111111111111111111111111111111111111111111111 : one;
            0x22000000000000000000000000000000000000000000000000 &&&
                0xff000000000000000000000000000000000000000000000000 : two;
            default: request;
        }
    }
    state one { meta.state = 1; transition request; }
    state two { meta.state = 2; transition request; }
    state request { packet.extract(hdr.request); transition accept; }
}

INGRESS {
    action exact_hit(bit<200> data) { hdr.result.exact = 1; hdr.result.data = data; }
    action prefix_hit(bit<8> value) { hdr.result.prefix = value; }
    action masked_hit(bit<8> value) { hdr.result.masked = value; }
    action between_hit(bit<8> value) { hdr.result.between = value; }
    action constant_hit(bit<8> value) { hdr.result.constant = value; }

    table exact_table {
        key = { hdr.request.a: exact; hdr.request.b: exact; }
        actions = { exact_hit; NoAction; }
        default_action = NoAction;
    }
    table prefix_table {
        key = { hdr.request.a: lpm; }
        actions = { prefix_hit; NoAction; }
        default_action = NoAction;
    }
    table masked_table {
        key = { hdr.request.a: ternary; hdr.request.b: optional; }
        actions = { masked_hit; NoAction; }
        default_action = NoAction;
    }
    table between_table {
        key = { hdr.request.a: range; }
        actions = { between_hit; NoAction; }
        default_action = NoAction;
    }
    table constant_table {
        key = { hdr.request.a: ternary; }
        actions = { constant_hit; NoAction; }
        default_action = NoAction;
        const entries = {
            0x11111111111111111111111111111111111111111111111111: constant_hit(7);
            0x11000000000000000000000000000000000000000000000000 &&&
                0xff000000000000000000000000000000000000000000000000: constant_hit(8);
        }
    }

    apply {
        standard_metadata.egress_spec = 1;
        hdr.result.setValid();
        hdr.result.state = meta.state;
        exact_table.apply();
        prefix_table.apply();
        masked_table.apply();
        between_table.apply();
        constant_table.apply();
        hash(hdr.result.hash, HashAlgorithm.crc16, 16w0, { hdr.request.a, 168w5 }, 32w65536);
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
