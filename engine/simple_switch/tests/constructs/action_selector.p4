// An action profile and an action selector, whose groups are chosen from by a hash of the packet.
#include "frame.h"

header request_t { bit<8> key; bit<32> flow; }
header result_t { bit<8> direct; bit<8> selected; }
struct headers_t { request_t request; result_t result; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    action set_direct(bit<8> value) { hdr.result.direct = value; }
    action set_selected(bit<8> value) { hdr.result.selected = value; }
    table profiled {
        key = { hdr.request.key: exact; }
        actions = { set_direct; NoAction; }
        implementation = action_profile(8);
    }
    table selecting {
        key = { hdr.request.key: exact; hdr.request.flow: selector; }
        actions = { set_selected; NoAction; }
        implementation = action_selector(HashAlgorithm.crc16, 8, 16);
    }
    apply {
        standard_metadata.egress_spec = 1;
        hdr.result.setValid();
        profiled.apply();
        selecting.apply();
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
