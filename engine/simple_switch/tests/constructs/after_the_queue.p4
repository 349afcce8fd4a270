// What egress looks at of what ingress left in metadata: keys of tables of each kind, a register's index, a hash's input, a
// condition. Each field is read in one place only, so that a switch which forgets one is seen.
#include "frame.h"

header request_t { bit<8> exact; bit<8> prefix; bit<8> masked; bit<8> index; bit<16> hashed; bit<8> asked; }
header report_t { bit<8> exact; bit<8> prefix; bit<8> masked; bit<8> before; bit<16> hash; bit<8> asked; }
struct headers_t { report_t report; request_t request; }
struct metadata_t { bit<8> exact; bit<8> prefix; bit<8> masked; bit<8> index; bit<16> hashed; bit<8> asked; bit<8> unused; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        meta.exact = hdr.request.exact;
        meta.prefix = hdr.request.prefix;
        meta.masked = hdr.request.masked;
        meta.index = hdr.request.index;
        meta.hashed = hdr.request.hashed;
        meta.asked = hdr.request.asked;
        meta.unused = 0x55;
        hdr.request.setInvalid();
    }
}

EGRESS {
    register<bit<8>>(4) seen;
    action exactly(bit<8> value) { hdr.report.exact = value; }
    action by_prefix(bit<8> value) { hdr.report.prefix = value; }
    action by_mask(bit<8> value) { hdr.report.masked = value; }
    table exact_table {
        key = { meta.exact : exact; }
        actions = { exactly; }
        default_action = exactly(0xee);
        const entries = { 1 : exactly(0x11); 2 : exactly(0x12); }
    }
    table prefix_table {
        key = { meta.prefix : lpm; }
        actions = { by_prefix; }
        default_action = by_prefix(0xee);
        const entries = { 0x80 &&& 0x80 : by_prefix(0x21); 0xc0 &&& 0xc0 : by_prefix(0x22); }
    }
    table mask_table {
        key = { meta.masked : ternary; }
        actions = { by_mask; }
        default_action = by_mask(0xee);
        const entries = { 0x01 &&& 0x0f : by_mask(0x31); 0x10 &&& 0xf0 : by_mask(0x32); }
    }
    apply {
        hdr.report.setValid();
        exact_table.apply();
        prefix_table.apply();
        mask_table.apply();
        seen.read(hdr.report.before, (bit<32>)meta.index);
        seen.write((bit<32>)meta.index, 0x77);
        hash(hdr.report.hash, HashAlgorithm.crc16, 16w0, { meta.hashed }, 17w0x10000);
        if (meta.asked == 7) { hdr.report.asked = 0x41; } else { hdr.report.asked = 0x42; }
    }
}
NO_CHECKSUMS
EMIT_ALL
SWITCH
